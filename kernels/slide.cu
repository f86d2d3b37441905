/*
 * slide.cu - F7: odd sizes whose operands are read about once: a few rows or columns of C and a long K, or a short K.
 * Layout TN, any M, N and K.
 *
 *   cp.async, 16 bytes from aligned addresses --> ring of STAGES lines of rows, each slipped by up to seven elements
 *   --> two chunks a lane, slid into place in registers (slide.cuh) --> mma.sync m16n8k16
 *
 * A row's slip is the same at every step and for rows that are the same modulo eight, so a lane has one. A lane takes
 * EACH successive chunks of a line, eight of k at a time, which feed two products: the order of k is free. What lies
 * past K is zero in the last step. SPLIT_K CTAs of a cluster share K; each adds every SPLIT_K-th row of the tile from
 * all of them, in the order of K. With FILL 1 as many such clusters share a tile as there is room for: each leaves its
 * sums in the workspace, and when all have, every CTA adds its rows of them, in the order of K. They wait for each
 * other there, so all must be running at once, which the manifest sees to. One launch.
 *
 * Parameters: BM, BN, BK, STAGES; WARPS_M, WARPS_N (warps over the tile), SLICES (warps with the same part of the tile
 *   that share the k's of a stage); SPLIT_K, FILL, MIN_BLOCKS;
 *   ALIGNED  1: rows begin at addresses of 16 (K a multiple of 8), so nothing is slid;
 *   STORES   4: C by 4 bytes and by 2 at a row's ends; 16: by 16 from aligned addresses and by 2;
 *   EARLY  1: begins before the launch ahead has ended, and waits for that (common.cuh; of the launch, not here)
 *
 * Sums are fp32. Without clusters (before sm_90) SPLIT_K is 1.
 */
#include "common.cuh"
#include "decode.cuh"
#define FUNNEL(low, high, bits) __funnelshift_r(low, high, bits)
#include "slide.cuh"

#define THREADS (WARPS_M * WARPS_N * SLICES * 32)
#define MT (BM / (16 * WARPS_M))   /* m16 tiles of a warp */
#define NT (BN / (8 * WARPS_N))    /* n8 tiles of a warp */
#define CHUNKS (BK / 8)            /* of a step */
#define LINE (CHUNKS + 1)          /* chunks; odd */
#define ABREAST (THREADS / CHUNKS) /* lines whose chunks are copied at once; a multiple of eight */
#define TAKERS (4 * SLICES)        /* of a line's chunks */
#define EACH (CHUNKS / TAKERS)
#define STAGE_BYTES ((BM + BN) * LINE * 16)
#define SLICE_SUMS (BM * (BN + 4))

struct work {
    const u16 *a, *b;
    u16 *c;
    int m, n, k;
    int shares;     /* CTAs that have some of its K */
    float *left;    /* the tile's sums in the workspace, one cluster's after the other */
    int row0, col0; /* of the tile */
    u32 shared;
    int tid;
    int row, col, slice; /* of the warp: in the tile, and its turn */
    u32 own, behind; /* bytes from the first of eight lines to what the lane takes first, thence to what is behind */
    int slip;
};

/* --- global to shared memory ------------------------------------------------------------------------------ */

/* Chunk `part` of lines `line`, `line` + STRIDE and so on of LINES rows of a matrix of `rows`, from row `first` on, at
 * the step from k0 on. STRIDE is a multiple of eight, so all have one slip. */
template <int LINES, int STRIDE>
DEVICE void copy_chunks(u32 to, const u16 *from, const int2 rows, const struct work &w, int k0, const int2 at)
{
    const int first = rows.x + at.x, ahead = k0 + at.y * 8, slip = slide_slip(first, w.k);
    const u32 total = (u32)rows.y * (u32)w.k, place = slide_from(first, w.k) + ahead;
    const bool wanted = at.y < CHUNKS || slip > 0;
    const u32 line = to + slide_place(at.y, CHUNKS, TAKERS) * 16;
#pragma unroll
    for (int i = 0; i < (LINES + STRIDE - 1) / STRIDE; ++i) {
        const u32 next = place + (u32)(i * STRIDE) * (u32)w.k;
        const u32 bytes = wanted && first + i * STRIDE < rows.y ? slide_bytes(ahead, slip, w.k, next, total) : 0;
        if (LINES % STRIDE == 0 || at.x + i * STRIDE < LINES) {
            copy_async16(line + (at.x + i * STRIDE) * LINE * 16, from + (bytes ? next : 0), bytes);
        }
    }
}

/* The same of a step behind which each row has eight elements more: whole chunks, of the rows that there are. */
template <int LINES, int STRIDE>
DEVICE void copy_whole(u32 to, const u16 *from, const int2 rows, const struct work &w, int k0, const int2 at)
{
    const int first = rows.x + at.x;
    const int there = at.y < CHUNKS || slide_slip(first, w.k) > 0 ? smaller(rows.y - first, LINES - at.x) : 0;
    const u16 *next = from + slide_from(first, w.k) + (k0 + at.y * 8);
    const u32 line = to + slide_place(at.y, CHUNKS, TAKERS) * 16 + at.x * LINE * 16;
#pragma unroll
    for (int i = 0; i < (LINES + STRIDE - 1) / STRIDE; ++i) {
        if (i * STRIDE < there) {
            copy_async16(line + i * STRIDE * LINE * 16, next + (i64)i * STRIDE * w.k, 16);
        }
    }
}

/* A chunk a thread, and the one more that a line has. */
template <int LINES> DEVICE void copy_lines(u32 to, const u16 *from, const int2 rows, const struct work &w, int k0)
{
    const int2 own = make_int2(w.tid / CHUNKS, w.tid % CHUNKS), more = make_int2(w.tid, CHUNKS);
    if (k0 + BK + 8 <= w.k) {
        copy_whole<LINES, ABREAST>(to, from, rows, w, k0, own);
        if (!ALIGNED) {
            copy_whole<LINES, THREADS>(to, from, rows, w, k0, more);
        }
    } else {
        copy_chunks<LINES, ABREAST>(to, from, rows, w, k0, own);
        if (!ALIGNED) {
            copy_chunks<LINES, THREADS>(to, from, rows, w, k0, more);
        }
    }
}

DEVICE void copy_stage(const struct work &w, int stage, int k0)
{
    const u32 to = w.shared + stage * STAGE_BYTES;
    copy_lines<BM>(to, w.a, make_int2(w.row0, w.m), w, k0);
    copy_lines<BN>(to + BM * LINE * 16, w.b, make_int2(w.col0, w.n), w, k0);
}

/* --- products --------------------------------------------------------------------------------------------- */

/* Chunk i of a lane's in the line at `at`; the last is the one behind. */
DEVICE uint4 load_chunk(const struct work &w, u32 at, int i)
{
    return load_shared16(at + (i < EACH ? i * TAKERS * 16 : w.behind));
}

/* A lane's eight elements from its chunk i on; `kept` is the chunk behind that, and the one ahead of it where i > 0. */
DEVICE void load_pairs(u32 (&r)[4], uint4 &kept, const struct work &w, u32 at, int i)
{
    const uint4 low = !ALIGNED && i > 0 ? kept : load_chunk(w, at, i), high = ALIGNED ? low : load_chunk(w, at, i + 1);
    const u32 chunks[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
    kept = high;
    slide_pairs(r, chunks, ALIGNED ? 0 : w.slip);
}

DEVICE void multiply_stage(float (&acc)[MT][NT][4], const struct work &w, int stage)
{
    const u32 a = w.shared + stage * STAGE_BYTES + w.row * LINE * 16 + w.own, b = a + (BM - w.row + w.col) * LINE * 16;
    uint4 kept_a[MT][2], kept_b[NT];
#pragma unroll
    for (int at = 0; at < EACH; ++at) {
        u32 right[NT][4];
#pragma unroll
        for (int j = 0; j < NT; ++j) {
            load_pairs(right[j], kept_b[j], w, b + j * 8 * LINE * 16, at);
        }
#pragma unroll
        for (int i = 0; i < MT; ++i) {
            u32 low[4], high[4];
            load_pairs(low, kept_a[i][0], w, a + i * 16 * LINE * 16, at);
            load_pairs(high, kept_a[i][1], w, a + (i * 16 + 8) * LINE * 16, at);
            const u32 first[4] = {low[0], high[0], low[1], high[1]}, second[4] = {low[2], high[2], low[3], high[3]};
#pragma unroll
            for (int j = 0; j < NT; ++j) {
                mma_wide(acc[i][j], first, right[j][0], right[j][1]);
                mma_wide(acc[i][j], second, right[j][2], right[j][3]);
            }
        }
    }
}

/* In the last step `left` elements of K are left: what a line's chunk has behind its row's end becomes zero. */
DEVICE void end_lines(const struct work &w, int stage, int left)
{
#pragma unroll 1
    for (int line = w.tid; line < BM + BN; line += THREADS) {
        const int end = slide_slip(line, w.k) + left;
        const u32 to = w.shared + stage * STAGE_BYTES + (line * LINE + slide_place(end / 8, CHUNKS, TAKERS)) * 16;
#pragma unroll 1
        for (int i = end % 8; i % 8 != 0; ++i) {
            asm volatile("st.shared.u16 [%0], %1;" ::"r"(to + i * 2), "h"((u16)0) : "memory");
        }
    }
    __syncthreads();
}

/* The first stages are asked for in the same loop: code comes from afar the first time. */
DEVICE void run_share(float (&acc)[MT][NT][4], const struct work &w, int begin, int end)
{
    int stage = 0, next = 0;
#pragma unroll 1
    for (int step = begin - (STAGES - 1); step < end; ++step) {
        copy_async_wait<STAGES - 2>();
        __syncthreads(); /* the stage is there, and everybody has read the one that is filled next */
        if (step + STAGES - 1 < end) {
            copy_stage(w, next, (step + STAGES - 1) * BK);
        }
        copy_async_commit();
        next = next + 1 == STAGES ? 0 : next + 1;
        if (step >= begin) {
            if (!ALIGNED && w.k - step * BK < BK) {
                end_lines(w, stage, w.k - step * BK);
            }
            multiply_stage(acc, w, stage);
            stage = stage + 1 == STAGES ? 0 : stage + 1;
        }
    }
    copy_async_wait<0>();
}

/* --- sums and C ------------------------------------------------------------------------------------------- */

DEVICE void leave_sums(const float (&acc)[MT][NT][4], const struct work &w)
{
#pragma unroll
    for (int i = 0; i < MT; ++i) {
#pragma unroll
        for (int j = 0; j < NT; ++j) {
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                const int row = w.row + i * 16 + slide_row_of(w.tid % 32, e);
                const int col = w.col + j * 8 + slide_col_of(w.tid % 32, e);
                const u32 at = w.shared + (w.slice * SLICE_SUMS + slide_sum_at(row, col, BN)) * 4;
                asm volatile("st.shared.f32 [%0], %1;" ::"r"(at), "f"(acc[i][j][e]) : "memory");
            }
        }
    }
}

DEVICE void add(float4 &to, float4 v)
{
    to.x += v.x, to.y += v.y, to.z += v.z, to.w += v.w;
}

/* Four sums of the CTA's, of a row from `col` on, to where they are taken from: `at` in shared memory, or the
 * workspace. */
DEVICE void leave(const struct work &w, int row, int col, u32 at, float4 sum)
{
#if FILL
    store_global((float4 *)(w.left + ((i64)(blockIdx.z / SPLIT_K) * BM + row) * BN + col), sum);
#else
    store_shared16f(at, sum);
#endif
}

/* The slices' sums of the tile into the first one's place. */
DEVICE void add_slices(const struct work &w)
{
    for (int u = w.tid; u < BM * BN / 4; u += THREADS) {
        const int row = u / (BN / 4), col = u % (BN / 4) * 4;
        const u32 at = w.shared + slide_sum_at(row, col, BN) * 4;
        float4 sum = load_shared16f(at);
#pragma unroll
        for (int s = 1; s < SLICES; ++s) {
            add(sum, load_shared16f(at + s * SLICE_SUMS * 4));
        }
        if (SPLIT_K > 1) {
            store_shared16f(at, sum);
        } else {
            leave(w, row, col, at, sum);
        }
    }
}

#if SPLIT_K > 1
/* The CTA's rows over all shares of the cluster, in their order, into their place here, which nobody else reads. */
DEVICE void add_shares(const struct work &w, int rank)
{
    for (int u = w.tid; u < BM / SPLIT_K * BN / 4; u += THREADS) {
        const int row = u / (BN / 4) * SPLIT_K + rank, col = u % (BN / 4) * 4;
        const u32 at = w.shared + slide_sum_at(row, col, BN) * 4;
        float4 part[SPLIT_K];
#pragma unroll
        for (int r = 0; r < SPLIT_K; ++r) {
            asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
                         : "=f"(part[r].x), "=f"(part[r].y), "=f"(part[r].z), "=f"(part[r].w)
                         : "r"(cluster_address(at, r))
                         : "memory");
        }
#pragma unroll
        for (int r = 1; r < SPLIT_K; ++r) {
            add(part[0], part[r]);
        }
        leave(w, row, col, at, part[0]);
    }
}
#endif

#if FILL
#define MAX_TILES 1024 /* the manifest refuses more */
#define GENERATION 65536

/* Of a tile: CTAs that have left their sums in this launch, and how often all have, times GENERATION. */
__device__ u32 arrivals[MAX_TILES];

/* By all threads: returns when all CTAs of the tile have left their sums. */
DEVICE void meet(u32 *count, u32 shares)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        fence_gpu();
        const u32 before = atomicAdd(count, 1u);
        if (before % GENERATION == shares - 1) {
            add_release(count, GENERATION - shares);
        } else {
            u32 now;
            do {
                now = load_acquire4(count);
            } while (now % GENERATION != shares && now / GENERATION == before / GENERATION);
        }
        fence_gpu();
    }
    __syncthreads();
}

/* The rows that the CTA stores, over all clusters in the order of K, into their place here. */
DEVICE void add_parts(const struct work &w, int share)
{
    const int mine = slide_rows_of(share, w.shares, BM), parts = w.shares / SPLIT_K;
    for (int u = w.tid; u < mine * (BN / 4); u += THREADS) {
        const int row = u / (BN / 4) * w.shares + share, col = u % (BN / 4) * 4;
        const float4 *from = (const float4 *)(w.left + row * BN + col);
        float4 sum = make_float4(0.f, 0.f, 0.f, 0.f);
#pragma unroll 1
        for (int first = 0; first < parts; first += 8) {
            float4 some[8]; /* all asked for before the first is added */
#pragma unroll
            for (int i = 0; i < 8; ++i) {
                some[i] = make_float4(0.f, 0.f, 0.f, 0.f);
                load_if(first + i < parts, from + (i64)(first + i) * (BM * BN / 4), some[i]);
            }
#pragma unroll
            for (int i = 0; i < 8; ++i) {
                add(sum, some[i]);
            }
        }
        store_shared16f(w.shared + slide_sum_at(row, col, BN) * 4, sum);
    }
    __syncthreads();
}
#endif

DEVICE float load_sum(const struct work &w, int row, int col)
{
    float v;
    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(v) : "r"(w.shared + slide_sum_at(row, col, BN) * 4) : "memory");
    return v;
}

/* Columns `col` and the next of a row of the tile, which begins at `to`. */
DEVICE void store_pair(const struct work &w, u16 *to, int row, int col)
{
    const int columns = smaller(BN, w.n - w.col0);
    const bool first = col >= 0 && col < columns, second = col + 1 < columns;
    const float low = first ? load_sum(w, row, col) : 0.f, high = second ? load_sum(w, row, col + 1) : 0.f;
    if (first && second) {
        store_global4(to + col, pack2(low, high));
    } else if (first) {
        to[col] = pack1(low);
    } else if (second) {
        to[col + 1] = pack1(high);
    }
}

#if STORES == 16
/* Eight sums as four pairs, from `shift` floats behind the address of 16 bytes on. */
DEVICE uint4 load_eight(u32 at, int shift)
{
    const float4 x = load_shared16f(at), y = load_shared16f(at + 16), z = load_shared16f(at + 32);
    const float all[12] = {x.x, x.y, x.z, x.w, y.x, y.y, y.z, y.w, z.x, z.y, z.z, z.w};
    float by_two[9], v[8];
#pragma unroll
    for (int i = 0; i < 9; ++i) {
        by_two[i] = shift & 2 ? all[i + 2] : all[i];
    }
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        v[i] = shift & 1 ? by_two[i + 1] : by_two[i];
    }
    return make_uint4(pack2(v[0], v[1]), pack2(v[2], v[3]), pack2(v[4], v[5]), pack2(v[6], v[7]));
}

/* Part `part` of a row of the tile, which begins at `to`. */
DEVICE void store_part(const struct work &w, u16 *to, int row, int part)
{
    const struct slide_wide s = slide_wide_of(part, (int)((u64)to >> 1 & 7), smaller(BN, w.n - w.col0));
    if (s.whole) {
        store_global16(to + s.at, load_eight(w.shared + slide_sum_at(row, s.at / 4 * 4, BN) * 4, s.at % 4));
    }
    if (s.first) {
        to[part] = pack1(load_sum(w, row, part));
    }
    if (s.last >= 0) {
        to[s.last] = pack1(load_sum(w, row, s.last));
    }
}

/* Every row of the tile that is the share's. */
DEVICE void store_tile(const struct work &w, int share)
{
    const int parts = BN / 8 > 8 ? BN / 8 : 8, mine = slide_rows_of(share, w.shares, BM);
#pragma unroll 2
    for (int u = w.tid; u < mine * parts; u += THREADS) {
        const int row = u / parts * w.shares + share;
        if (w.row0 + row < w.m) {
            store_part(w, w.c + (i64)(w.row0 + row) * w.n + w.col0, row, u % parts);
        }
    }
}
#else
/* Every row of the tile that is the share's. */
DEVICE void store_tile(const struct work &w, int share)
{
    const int pairs = BN / 2 + 1, mine = slide_rows_of(share, w.shares, BM);
    for (int u = w.tid; u < mine * pairs; u += THREADS) {
        const int row = u / pairs * w.shares + share;
        if (w.row0 + row < w.m) {
            const i64 at = (i64)(w.row0 + row) * w.n + w.col0;
            store_pair(w, w.c + at, row, slide_pair((int)(at & 1), u % pairs));
        }
    }
}
#endif

/* --- the kernel ------------------------------------------------------------------------------------------- */

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    gemm(const u16 *a, const u16 *b, u16 *c, int m, int n, int k, float *workspace)
{
    extern __shared__ __align__(128) unsigned char smem[];
    const int tid = (int)threadIdx.x, warp = tid / 32, over = warp / SLICES, line = slide_line(tid % 32 / 4);
    const int rank = (int)blockIdx.z % SPLIT_K, share = (int)blockIdx.z, steps = (k + BK - 1) / BK;
    const int tile = (int)(blockIdx.y * gridDim.x + blockIdx.x);
    struct work w = {a, b, c, m, n, k};
    w.shares = FILL ? (int)gridDim.z : SPLIT_K;
    w.left = workspace + (i64)tile * (w.shares / SPLIT_K) * BM * BN;
    w.row0 = (int)blockIdx.x * BM, w.col0 = (int)blockIdx.y * BN;
    w.shared = shared_address(smem), w.tid = tid;
    w.row = over / WARPS_N * (BM / WARPS_M), w.col = over % WARPS_N * (BN / WARPS_N), w.slice = warp % SLICES;
    const int taker = w.slice * 4 + tid % 4;
    w.own = (line * LINE + taker) * 16, w.behind = (taker + 1 == TAKERS ? CHUNKS - taker : 1) * 16;
    w.slip = slide_slip(line, k);
    float acc[MT][NT][4] = {};
    await_grid_ahead();
    run_share(acc, w, decode_share(share, w.shares, steps), decode_share(share + 1, w.shares, steps));
    __syncthreads(); /* sums lie over the ring */
    leave_sums(acc, w);
    if (SLICES > 1) {
        __syncthreads();
        add_slices(w);
    }
#if SPLIT_K > 1
    cluster_arrive();
    cluster_wait();
    add_shares(w, rank);
    cluster_arrive(); /* nobody leaves while others read his sums */
#endif
#if FILL
    meet(&arrivals[tile], (u32)w.shares);
#if SPLIT_K > 1
    cluster_wait(); /* nor puts others in their place */
#endif
    add_parts(w, share);
#else
    __syncthreads();
#endif
    store_tile(w, share);
#if SPLIT_K > 1 && !FILL
    cluster_wait();
#endif
}
