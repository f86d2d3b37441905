/*
 * short.cu - F8: a short K, so that writing C is most of the work. Layout TN, any M, N and K up to 256.
 *
 *   the tile's rows of A and B, as they lie in memory --> cp.async, 16 bytes --> shared memory
 *   --> four elements a lane, slid into place in registers (short.cuh) --> mma.sync m16n8k16
 *   --> C's tile in shared memory --> C, by 16 bytes from aligned addresses, and by fewer at its rows' ends
 *
 * All of K is there at once: one wait for memory, no ring. Many small CTAs share a multiprocessor, so that some wait
 * while others store. Loops are not unrolled over K: the code is short, for it comes from afar the first time. A lane
 * takes four successive k: the order of k is free. One launch, no workspace, the same order of summation every time.
 *
 * Parameters: BM, BN (a warp has 32 x 32 of them);
 *   EDGES  2: the ends of C's rows are stored by 2 bytes, with less code; 8: by 8, 4 and 2, with fewer stores;
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
    const i64 left = (i64)(lines_height.y - first) * w.k;
#pragma unroll 1
    for (int u = w.tid * 8; u < lines_height.x * w.k; u += THREADS * 8) {
        const u32 bytes = short_bytes(left, u);
        copy_async16(to + u * 2, from + (bytes ? u : 0), bytes);
    }
}

/* The lane's four elements of line `line` of the block at `base`, from k on. */
DEVICE void load_four(u32 (&r)[2], u32 base, int line, int k, const struct work &w)
{
    const int at = line * w.k + k;
    const u32 word = base + at / 2 * 4;
    const u32 words[3] = {load_shared4(word), load_shared4(word + 4), load_shared4(word + 8)};
    short_four(r, words, at, w.k - k);
}

/* The warp's 32 x 32 from `row` and `column` of the tile on. */
DEVICE void multiply(float (&acc)[2][4][4], const struct work &w, int row, int column)
{
    const int g = w.tid % 32 / 4, t = w.tid % 4;
#pragma unroll 1
    for (int k = 4 * t; k - 4 * t < w.k; k += 16) {
        u32 right[4][2];
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            load_four(right[j], w.shared_b, column + j * 8 + g, k, w);
        }
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            u32 upper[2], lower[2];
            load_four(upper, w.shared_a, row + i * 16 + g, k, w);
            load_four(lower, w.shared_a, row + i * 16 + 8 + g, k, w);
            const u32 left[4] = {upper[0], lower[0], upper[1], lower[1]};
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                mma_wide(acc[i][j], left, right[j][0], right[j][1]);
            }
        }
    }
}

DEVICE void store_shared2(u32 address, u32 v)
{
    asm volatile("st.shared.u16 [%0], %1;" : : "r"(address), "h"((u16)v) : "memory");
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

#if EDGES == 8
/* Of a pair of elements at `to`, those from place `first` to before `last`. */
DEVICE void store_some(u16 *to, u32 v, int first, int last)
{
    if (first <= 0 && last >= 2) {
        store_global4(to, v);
    } else if (first <= 0 && last == 1) {
        to[0] = (u16)v;
    } else if (first == 1 && last >= 2) {
        to[1] = (u16)(v >> 16);
    }
}

/* The same of eight elements at `to`, an address of 16. */
DEVICE void store_edge(u16 *to, uint4 v, int first, int last)
{
    const u32 word[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int i = 0; i < 8; i += 4) {
        if (first <= i && last >= i + 4) {
            store_global8(to + i, make_uint2(word[i / 2], word[i / 2 + 1]));
        } else {
            store_some(to + i, word[i / 2], first - i, last - i);
            store_some(to + i + 2, word[i / 2 + 1], first - i - 2, last - i - 2);
        }
    }
}

#else
/* Of eight elements at `to`, those from place `first` to before `last`. */
DEVICE void store_edge(u16 *to, uint4 v, int first, int last)
{
    const u32 word[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        if (first <= i && i < last) {
            to[i] = (u16)(word[i / 2] >> (i % 2 * 16));
        }
    }
}
#endif

/* C by 16 bytes from aligned addresses, and by fewer at the ends of rows. */
DEVICE void store_tile(const struct work &w)
{
    const int columns = smaller(BN, w.n - w.col0), rows = smaller(BM, w.m - w.row0), parts = BN / 8 + 1;
    u16 *tile = w.c + (i64)w.row0 * w.n + w.col0;
#pragma unroll 1
    for (int u = w.tid; u < rows * parts; u += THREADS) {
        const int row = u / parts, part = u % parts, begin = short_begin(part, short_shift(row, w.n));
        const uint4 v = load_shared16(w.shared_a + (row * PITCH_C + part * 8) * 2);
        u16 *to = tile + (i64)row * w.n + begin;
        if (begin >= 0 && begin + 8 <= columns) {
            store_global16(to, v);
        } else if (begin < columns) {
            store_edge(to, v, -begin, columns - begin);
        }
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
