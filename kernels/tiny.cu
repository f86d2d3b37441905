/*
 * tiny.cu - F1: the latency-lean kernel for problems whose time is a handful of memory round trips.
 *
 * No shared-memory staging and no TMA on the way in: every lane loads its own mma.sync fragments from global memory,
 * 16 bytes at a time. Two freedoms of a matrix product make that possible:
 *   - the order of k is free as long as A and B agree: of 32 consecutive k, lane (g, t) takes 8t .. 8t+7, which
 *     feed two k16 steps (registers 0, 1 and registers 2, 3 of the 16 bytes);
 *   - the order of n inside a tile is free as long as C agrees: column g of n8-tile j stands for n = g * NT + j. So
 *     a lane's NT tiles come from NT adjacent columns of a row-major B (one wide load for each k, packed in pairs
 *     by prmt), and a lane's results are 2 * NT adjacent elements of a row of C (wide stores without a shuffle).
 *
 * K is dealt out in steps of 32 to WARPS warps of CLUSTER_K CTAs; partial sums meet in shared memory, then in the
 * shared memory of the CTA of the cluster that owns the piece. One launch, fixed order of summation.
 *
 * Parameters: BM = 16*MT, BN = 8*NT (16, 32, 64), WARPS, CLUSTER_K (CTAs sharing a tile), DEPTH (k32 steps in
 * flight in a lane's registers), ALIGNED (0: scalar loads and stores, any M, N, K), EARLY (1: begins before the launch
 * ahead has ended, and waits for that: common.cuh; of the launch, not here).
 */
#include "common.cuh"

#define MT (BM / 16)
#define NT (BN / 8)
#define THREADS (WARPS * 32)
#define RUN (2 * NT)           /* adjacent elements of C a lane holds in a row */
#define QUADS (BM * BN / 4)    /* float4 of a tile's partial sums */
#define LANE_QUADS (MT * NT)   /* of which a lane holds this many */
#define UNIT (NT >= 4 ? 2 : 1) /* quads stored together: 16 bytes, or 8 for the narrowest tile */
#define UNITS (QUADS / UNIT)

struct problem {
    const u16 *a, *b;
    u16 *c;
    int m, n, k;
    int row0, col0; /* of the tile */
    int g, t;       /* the lane's place in a fragment */
};

/* Eight consecutive elements of a row, zero from `limit` on. */
DEVICE uint4 load8(const u16 *row, int k, int limit)
{
    uint4 v = make_uint4(0, 0, 0, 0);
#if ALIGNED
    if (k < limit) {
        v = load_global16(row + k);
    }
#else
    u32 e[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        e[i] = k + i < limit ? row[k + i] : 0u;
    }
    v = make_uint4(e[0] | e[1] << 16, e[2] | e[3] << 16, e[4] | e[5] << 16, e[6] | e[7] << 16);
#endif
    return v;
}

/* A k32 step of operands in the lane's registers. */
struct step {
    uint4 a[MT][2];
#if LAYOUT_TN
    uint4 b[NT];
#else
    u32 b[8][NT / 2]; /* row 8t + i of B, NT adjacent columns */
#endif
};

DEVICE void load_a(struct step &s, const struct problem &p, int k)
{
#pragma unroll
    for (int i = 0; i < MT; ++i) {
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            const int row = smaller(p.row0 + i * 16 + h * 8 + p.g, p.m - 1);
            s.a[i][h] = load8(p.a + (i64)row * p.k, k + 8 * p.t, p.k);
        }
    }
}

#if LAYOUT_TN
DEVICE void load_b(struct step &s, const struct problem &p, int k)
{
#pragma unroll
    for (int j = 0; j < NT; ++j) {
        const int col = smaller(p.col0 + p.g * NT + j, p.n - 1);
        s.b[j] = load8(p.b + (i64)col * p.k, k + 8 * p.t, p.k);
    }
}
#else
/* NT adjacent elements of row k of B; columns past the end read as the row's first, and are never stored. */
DEVICE void load_b_row(u32 (&to)[NT / 2], const struct problem &p, int k)
{
    const int col = p.col0 + p.g * NT;
#pragma unroll
    for (int i = 0; i < NT / 2; ++i) {
        to[i] = 0;
    }
    if (k >= p.k) {
        return;
    }
#if ALIGNED
    const u16 *from = p.b + (i64)k * p.n + (col < p.n ? col : 0);
#if BN == 64
    const uint4 v = load_global16(from);
    to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
#elif BN == 32
    const uint2 v = load_global8(from);
    to[0] = v.x, to[1] = v.y;
#else
    to[0] = load_global4(from);
#endif
#else
    const u16 *from = p.b + (i64)k * p.n;
#pragma unroll
    for (int i = 0; i < NT; ++i) {
        const u32 e = col + i < p.n ? from[col + i] : 0u;
        to[i / 2] |= e << (i % 2 * 16);
    }
#endif
}

DEVICE void load_b(struct step &s, const struct problem &p, int k)
{
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        load_b_row(s.b[i], p, k + 8 * p.t + i);
    }
}
#endif

/* The B fragment register `r` (k pair 2r, 2r+1 of the lane's eight) of n8-tile j. */
DEVICE u32 fragment_b(const struct step &s, int j, int r)
{
#if LAYOUT_TN
    return r == 0 ? s.b[j].x : r == 1 ? s.b[j].y : r == 2 ? s.b[j].z : s.b[j].w;
#else
    return __byte_perm(s.b[2 * r][j / 2], s.b[2 * r + 1][j / 2], j % 2 ? 0x7632 : 0x5410);
#endif
}

DEVICE void multiply(float (&acc)[MT][NT][4], const struct step &s)
{
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#pragma unroll
        for (int i = 0; i < MT; ++i) {
            const uint4 lo = s.a[i][0], hi = s.a[i][1];
            const u32 first[4] = {lo.x, hi.x, lo.y, hi.y}, second[4] = {lo.z, hi.z, lo.w, hi.w};
#pragma unroll
            for (int j = 0; j < NT; ++j) {
                mma_wide(acc[i][j], half ? second : first, fragment_b(s, j, 2 * half), fragment_b(s, j, 2 * half + 1));
            }
        }
    }
}

/* Quad q of row half h of m16-tile i: four adjacent elements of C, from place 4q of the lane's run. */
DEVICE float4 quad(const float (&acc)[MT][NT][4], int i, int h, int q)
{
    float v[4];
#pragma unroll
    for (int e = 0; e < 4; ++e) {
        const int place = 4 * q + e;
        v[e] = acc[i][place % NT][2 * h + place / NT];
    }
    return make_float4(v[0], v[1], v[2], v[3]);
}

DEVICE void add(float4 &to, float4 v)
{
    to.x += v.x, to.y += v.y, to.z += v.z, to.w += v.w;
}

/* Stores unit u (numbered as in the partial sums: quad of the lane, then lane) into C. */
DEVICE void store_unit(const struct problem &p, int u, const float4 (&v)[UNIT])
{
    const int lane = u % 32, q = u / 32 * UNIT; /* q: quad of the lane, (i, h, quad of the run) */
    const int row = p.row0 + q / (NT / 2) * 8 + lane / 4;
    const int col = p.col0 + lane % 4 * RUN + q % (NT / 2) * 4;
    if (row >= p.m || col >= p.n) {
        return;
    }
    u16 *to = p.c + (i64)row * p.n + col;
#if ALIGNED
#if BN >= 32
    store_global16(
        to, make_uint4(pack2(v[0].x, v[0].y), pack2(v[0].z, v[0].w), pack2(v[1].x, v[1].y), pack2(v[1].z, v[1].w)));
#else
    store_global8(to, make_uint2(pack2(v[0].x, v[0].y), pack2(v[0].z, v[0].w)));
#endif
#else
#pragma unroll
    for (int i = 0; i < UNIT; ++i) {
        const float e[4] = {v[i].x, v[i].y, v[i].z, v[i].w};
#pragma unroll
        for (int x = 0; x < 4; ++x) {
            if (col + 4 * i + x < p.n) {
                to[4 * i + x] = pack1(e[x]);
            }
        }
    }
#endif
}

/* Partial sums of a warp: unit u of piece x lies at ((u / 32 * UNIT + x) * 32 + u % 32) float4. */
DEVICE u32 unit_address(u32 base, int u, int x)
{
    return base + (u32)(((u / 32 * UNIT + x) * 32 + u % 32) * 16);
}

/* Sums unit u over `count` tiles of partial sums that lie `stride` bytes apart. */
template <int COUNT> DEVICE void sum_unit(float4 (&v)[UNIT], u32 base, int u, u32 stride)
{
#pragma unroll
    for (int x = 0; x < UNIT; ++x) {
        float4 part[COUNT];
#pragma unroll
        for (int w = 0; w < COUNT; ++w) {
            part[w] = load_shared16f(unit_address(base, u, x) + w * stride);
        }
        v[x] = part[0];
#pragma unroll
        for (int w = 1; w < COUNT; ++w) {
            add(v[x], part[w]);
        }
    }
}

DEVICE void spill_partials(const float (&acc)[MT][NT][4], u32 base, int lane)
{
#pragma unroll
    for (int i = 0; i < MT; ++i) {
#pragma unroll
        for (int h = 0; h < 2; ++h) {
#pragma unroll
            for (int q = 0; q < NT / 2; ++q) {
                store_shared16f(base + (u32)((((i * 2 + h) * (NT / 2) + q) * 32 + lane) * 16), quad(acc, i, h, q));
            }
        }
    }
}

#if WARPS == 1 && CLUSTER_K == 1
DEVICE void finish(const struct problem &p, const float (&acc)[MT][NT][4], u32 shared)
{
    (void)shared;
#pragma unroll
    for (int i = 0; i < LANE_QUADS / UNIT; ++i) {
        float4 v[UNIT];
#pragma unroll
        for (int x = 0; x < UNIT; ++x) {
            const int q = i * UNIT + x;
            v[x] = quad(acc, q / NT, q / (NT / 2) % 2, q % (NT / 2));
        }
        store_unit(p, i * 32 + (int)threadIdx.x, v);
    }
}
#else
/* Shared memory: WARPS tiles of partial sums; with a cluster, then a tile's worth of pieces received. */
DEVICE void finish(const struct problem &p, const float (&acc)[MT][NT][4], u32 shared)
{
    const int tid = (int)threadIdx.x;
    spill_partials(acc, shared + tid / 32 * (QUADS * 16), tid % 32);
    __syncthreads();
#if CLUSTER_K > 1
    /* Unit u belongs to CTA u / OWNED; a piece from CTA r lands in slot r of its owner. */
    const int owned = UNITS / CLUSTER_K;
    const u32 inbox = shared + WARPS * QUADS * 16;
    const u32 slot = inbox + cluster_rank() * (owned * UNIT * 16);
    cluster_wait();
    for (int u = tid; u < UNITS; u += THREADS) {
        float4 v[UNIT];
        sum_unit<WARPS>(v, shared, u, QUADS * 16);
#pragma unroll
        for (int x = 0; x < UNIT; ++x) {
            store_cluster16f(cluster_address(slot + (u32)((x * owned + u % owned) * 16), u / owned), v[x]);
        }
    }
    cluster_arrive();
    cluster_wait();
    for (int u = tid; u < owned; u += THREADS) {
        float4 v[UNIT];
#pragma unroll
        for (int x = 0; x < UNIT; ++x) {
            v[x] = make_float4(0.f, 0.f, 0.f, 0.f);
#pragma unroll
            for (int r = 0; r < CLUSTER_K; ++r) {
                add(v[x], load_shared16f(inbox + (u32)(((r * UNIT + x) * owned + u) * 16)));
            }
        }
        store_unit(p, (int)cluster_rank() * owned + u, v);
    }
#else
    for (int u = tid; u < UNITS; u += THREADS) {
        float4 v[UNIT];
        sum_unit<WARPS>(v, shared, u, QUADS * 16);
        store_unit(p, u, v);
    }
#endif
}
#endif

extern "C" __global__ void __launch_bounds__(THREADS) gemm(const u16 *a, const u16 *b, u16 *c, int m, int n, int k)
{
    extern __shared__ __align__(16) unsigned char smem[];
    const int lane = (int)threadIdx.x % 32;
    const struct problem p = {a, b, c, m, n, k, (int)blockIdx.y * BM, (int)blockIdx.x * BN, lane / 4, lane % 4};
    const int slices = WARPS * CLUSTER_K, slice = (int)blockIdx.z * WARPS + (int)threadIdx.x / 32;
    struct step s[DEPTH];
    float acc[MT][NT][4] = {};
#if CLUSTER_K > 1
    cluster_arrive_relaxed(); /* its wait, before the first remote store, proves that every CTA has started */
#endif
    await_grid_ahead();
#pragma unroll
    for (int d = 0; d < DEPTH; ++d) {
        load_a(s[d], p, (slice + d * slices) * 32);
        load_b(s[d], p, (slice + d * slices) * 32);
    }
    for (int at = slice * 32; at < k; at += DEPTH * slices * 32) {
#pragma unroll
        for (int d = 0; d < DEPTH; ++d) {
            multiply(acc, s[d]);
            const int next = at + (DEPTH + d) * slices * 32;
            load_a(s[d], p, next);
            load_b(s[d], p, next);
        }
    }
    finish(p, acc, shared_address(smem));
}
