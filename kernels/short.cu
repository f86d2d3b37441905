/*
 * short.cu - F8: a short K, so that writing C is most of the work. Layout TN, any M, N and K up to 256.
 *
 *   the tile's rows of A and B, as they lie in memory --> cp.async, 16 bytes --> shared memory
 *   --> four elements a lane, slid into place in registers (short.cuh) --> mma.sync m16n8k16
 *   --> C's tile in shared memory --> C, by 16 bytes from aligned addresses, and by lanes' 2 bytes at its rows' ends
 *
 * All of K is there at once: one wait for memory, no ring. Many small CTAs share a multiprocessor, so that some wait
 * while others store. Loops are not unrolled over K: the code is short, for it comes from afar the first time. A lane
 * takes four successive k: the order of k is free. One launch, no workspace, the same order of summation every time.
 *
 * Parameters: BM, BN (a warp has 32 x 32 of them);
 *   EARLY  1: begins before the launch ahead has ended, and waits for that (common.cuh; of the launch, not here)
 *
 * Sums are fp32.
 */
#include "common.cuh"
#define FUNNEL(low, high, bits) __funnelshift_r(low, high, bits)
#include "short.cuh"

#define WARPS_N (BN / 32)
#define THREADS (BM / 32 * WARPS_N * 32)
#define PITCH_C (BN + 8) /* elements between rows of C's tile, which begin up to seven late */

struct work {
    const u16 *a, *b;
    u16 *c;
    int m, n, k;
    int row0, col0; /* of the tile */
    u32 shared_a, shared_b;
    int tid;
};

/* `lines` whole rows of a matrix of `height`, from row `first` on. */
DEVICE void copy_rows(u32 to, const u16 *matrix, int first, int2 lines_height, const struct work &w)
{
    const u16 *from = matrix + (i64)first * w.k;
    const int wanted = lines_height.x * w.k, there = short_there((i64)(lines_height.y - first) * w.k, wanted);
#pragma unroll 1
    for (int u = w.tid * 8; u < wanted; u += THREADS * 8) {
        const u32 bytes = short_bytes(there, u);
        copy_async16(to + u * 2, from + (bytes ? u : 0), bytes);
    }
}

/* A lane's four elements from the word at `word` on; element `at` of the block, or one as odd, begins there. Of them
 * `there` belong to the row. */
DEVICE void load_four(u32 (&r)[2], u32 word, int at, int there)
{
    const u32 words[3] = {load_shared4(word), load_shared4(word + 4), load_shared4(word + 8)};
    short_four(r, words, at, there);
}

/* The warp's 32 x 32 from `row` and `column` of the tile on. Lines eight apart are whole words apart, and so are steps
 * of K: where a lane's elements begin within a word is the same for all. */
DEVICE void multiply(float (&acc)[2][4][4], const struct work &w, int row, int column)
{
    const int g = w.tid % 32 / 4, t = w.tid % 4, eight = 16 * w.k;
    const int at_a = (row + g) * w.k + 4 * t, at_b = (column + g) * w.k + 4 * t;
    u32 from_a = w.shared_a + at_a / 2 * 4, from_b = w.shared_b + at_b / 2 * 4;
#pragma unroll 1
    for (int there = w.k - 4 * t; there + 4 * t > 0; there -= 16) {
        u32 right[4][2];
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            load_four(right[j], from_b + j * eight, at_b, there);
        }
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            u32 upper[2], lower[2];
            load_four(upper, from_a + 2 * i * eight, at_a, there);
            load_four(lower, from_a + (2 * i + 1) * eight, at_a, there);
            const u32 left[4] = {upper[0], lower[0], upper[1], lower[1]};
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                mma_wide(acc[i][j], left, right[j][0], right[j][1]);
            }
        }
        from_a += 32;
        from_b += 32;
    }
}

DEVICE void store_shared2(u32 address, u32 v)
{
    asm volatile("st.shared.u16 [%0], %1;" : : "r"(address), "h"((u16)v) : "memory");
}

DEVICE u32 load_shared2(u32 address)
{
    u16 v;
    asm volatile("ld.shared.u16 %0, [%1];" : "=h"(v) : "r"(address) : "memory");
    return v;
}

/* Two neighbours of a row of C's tile. */
DEVICE void leave_pair(u32 at, float low, float high, bool even)
{
    const u32 v = pack2(low, high);
    if (even) {
        store_shared4(at, v);
    } else {
        store_shared2(at, v);
        store_shared2(at + 2, v >> 16);
    }
}

/* A lane's rows are the same modulo eight, and so is how late they begin. */
DEVICE void leave_sums(const float (&acc)[2][4][4], const struct work &w, int row, int column)
{
    const int g = w.tid % 32 / 4, t = w.tid % 4;
    const u32 to = w.shared_a + ((row + g) * PITCH_C + short_shift(g, w.n) + column + t * 2) * 2;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const u32 at = to + (i * 16 * PITCH_C + j * 8) * 2;
            leave_pair(at, acc[i][j][0], acc[i][j][1], w.n % 2 == 0);
            leave_pair(at + 8 * PITCH_C * 2, acc[i][j][2], acc[i][j][3], w.n % 2 == 0);
        }
    }
}

/* C by 16 bytes from aligned addresses. All of a lane's rows begin equally late: they are multiples of eight apart. */
DEVICE void store_wholes(const struct work &w, u16 *tile, int columns, int rows)
{
    const int row0 = w.tid / (BN / 8), shift = short_shift(row0, w.n);
    const int begin = short_begin(w.tid % (BN / 8), shift);
    u32 from = w.shared_a + (row0 * PITCH_C + begin + shift) * 2;
    u16 *to = tile + (i64)row0 * w.n + begin;
    rows = begin + 8 <= columns ? rows : 0;
#pragma unroll 1
    for (int row = row0; row < rows; row += BM / 4) {
        store_global16(to, load_shared16(from));
        to += BM / 4 * w.n;
        from += BM / 4 * PITCH_C * 2;
    }
}

/* The ends of C's rows, 16 places a row, so that an end is one store of a sector and not one each of 8, 4 and 2 bytes. */
DEVICE void store_ends(const struct work &w, u16 *tile, int columns, int rows)
{
    const int lanes = THREADS < 128 ? THREADS / 8 : 16, step = THREADS / lanes; /* of rows: whole eights */
    const int row0 = (int)((u32)w.tid / lanes), shift = short_shift(row0, w.n);
#pragma unroll 1
    for (int place = (int)((u32)w.tid % lanes); place < 16; place += lanes) {
        const int column = short_end(place, shift, columns);
        u32 from = w.shared_a + (row0 * PITCH_C + column + shift) * 2;
        u16 *to = tile + (i64)row0 * w.n + column;
#pragma unroll 1
        for (int row = row0; row < (column < 0 ? 0 : rows); row += step) {
            store_global2(to, load_shared2(from));
            to += step * w.n;
            from += step * PITCH_C * 2;
        }
    }
}

DEVICE void store_tile(const struct work &w)
{
    const int columns = smaller(BN, w.n - w.col0), rows = smaller(BM, w.m - w.row0);
    u16 *tile = w.c + (i64)w.row0 * w.n + w.col0;
    store_wholes(w, tile, columns, rows);
    if (w.n % 8 != 0) {
        store_ends(w, tile, columns, rows);
    }
}

extern "C" __global__ void __launch_bounds__(THREADS) gemm(const u16 *a, const u16 *b, u16 *c, int m, int n, int k)
{
    extern __shared__ __align__(128) unsigned char smem[];
    const int tid = (int)threadIdx.x, warp = tid / 32, row = warp / WARPS_N * 32, column = warp % WARPS_N * 32;
    const u32 shared = shared_address(smem);
    const struct work w = {a, b, c, m, n, k, (int)blockIdx.y * BM, (int)blockIdx.x * BN, shared, shared + BM * k * 2, tid};
    float acc[2][4][4] = {};
    await_grid_ahead();
    copy_rows(w.shared_a, a, w.row0, make_int2(BM, m), w);
    copy_rows(w.shared_b, b, w.col0, make_int2(BN, n), w);
    copy_async_commit();
    copy_async_wait<0>();
    __syncthreads();
    multiply(acc, w, row, column);
    __syncthreads(); /* C's tile lies over the operands */
    leave_sums(acc, w, row, column);
    __syncthreads();
    store_tile(w);
}
