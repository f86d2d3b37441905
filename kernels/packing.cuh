/*
 * packing.cuh - how persistent.cu with PACK 1 begins: all CTAs put A and B into the workspace as the stages that they
 * will copy (pack.cuh), and meet before the first copy. Rows may begin anywhere; what lies past a matrix's end is zero
 * there.
 *
 * All CTAs must be running at once, which the manifest sees to.
 */
#ifndef CUDAL2_PACKING_CUH
#define CUDAL2_PACKING_CUH

#include "decode.cuh"
#include "pack.cuh"
#define FUNNEL(low, high, bits) __funnelshift_r(low, high, bits)
#include "slide.cuh"
#include "persistent.cuh"

#define ABREAST_CHUNKS 4 /* chunks that a thread has under way */
#define BLOCK_LINES_B (B_BYTES / 128)
#define INVERSE(x) (((1 << 30) + (x)-1) / (x)) /* for divide() */

/* An operand on its way: `chunks` in blocks (tile, step) of `lines` rows of 128 bytes. */
struct bundle {
    const u16 *from;
    uint4 *to;
    int rows, columns; /* of the matrix */
    int chunks;
    int side; /* of a tile, along this operand */
    int lines, inverse_lines, steps, inverse_steps;
    bool down; /* K down the columns */
};

#if LOADS == 16
/* A chunk on its way: what it is made of, and both times 16 bytes. */
struct flight {
    struct pack_pull pull;
    u32 word[8];
};

/* Without a branch, as below. */
DEVICE void load_half(u32 *to, const u16 *from, int wanted)
{
    asm volatile("{.reg .pred p;\n setp.ne.s32 p, %5, 0;\n @p ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];}"
                 : "+r"(to[0]), "+r"(to[1]), "+r"(to[2]), "+r"(to[3])
                 : "l"(from), "r"(wanted));
}

DEVICE void take_off(struct flight &f, const struct bundle &b, u32 begin, int part)
{
    f.pull = pack_pull_of(begin, part, b.columns, (u32)b.rows * (u32)b.columns);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        f.word[i] = 0;
    }
    load_half(f.word, b.from + f.pull.from, f.pull.low);
    load_half(f.word + 4, b.from + f.pull.from + 8, f.pull.high);
}

DEVICE uint4 land(const struct flight &f)
{
    u32 e[4];
    slide_pairs(e, f.word, f.pull.slip);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        e[i] = pack_inside(e[i], i, f.pull.inside);
    }
    return make_uint4(e[0], e[1], e[2], e[3]);
}

/* What the matrix has no whole 16 bytes for: of its last two chunks, by who asks. */
DEVICE void pack_end(const struct bundle &b, u32 begin, int part, uint4 *to)
{
    const struct pack_pull p = pack_pull_of(begin, part, b.columns, (u32)b.rows * (u32)b.columns);
    u32 e[4] = {0, 0, 0, 0};
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        e[i / 2] |= i < p.inside ? (u32)b.from[begin + (u32)part * 8 + i] << (i % 2 * 16) : 0u;
    }
    store_global16(to, make_uint4(e[0], e[1], e[2], e[3]));
}

/* By all warps of all CTAs, each 32 * ABREAST_CHUNKS successive chunks of a row at a time; rows past the matrix's end
 * stay what they were, for they are no row of C. */
DEVICE void pack_operand(const struct bundle &b)
{
    const int lane = (int)threadIdx.x % 32, parts = b.steps * 8, most = 32 * ABREAST_CHUNKS;
    const int spells = (parts + most - 1) / most, warps = (int)(gridDim.x * gridDim.z) * (THREADS / 32);
    const int mine = (int)(blockIdx.z * gridDim.x + blockIdx.x) * (THREADS / 32) + (int)threadIdx.x / 32;
#pragma unroll 1
    for (int spell = mine; spell < b.rows * spells; spell += warps) {
        const int row = spell / spells, first = spell % spells * most + lane;
        const u32 begin = (u32)row * (u32)b.columns;
        struct flight f[ABREAST_CHUNKS];
#pragma unroll
        for (int i = 0; i < ABREAST_CHUNKS; ++i) {
            take_off(f[i], b, begin, first + i * 32);
        }
#pragma unroll
        for (int i = 0; i < ABREAST_CHUNKS; ++i) {
            const int part = first + i * 32;
            uint4 *to = b.to + pack_place_along(row, part, b.side, b.steps);
            if (part < parts && !f[i].pull.lacks) {
                store_global16(to, land(f[i]));
            } else if (part < parts) {
                pack_end(b, begin, part, to);
            }
        }
    }
}
#else
/* A chunk on its way. */
struct flight {
    int at; /* of its first element in the matrix */
    int inside;
    u32 word[5];
};

/* Chunk `at` of the packed operand. */
DEVICE void find_chunk(struct flight &f, const struct bundle &b, int at)
{
    int row, step;
    const int block = divide(at / 8, b.lines, b.inverse_lines, row),
              tile = divide(block, b.steps, b.inverse_steps, step);
    const struct pack_chunk along = pack_along(tile, step, row, at % 8, b.side),
                            down = pack_down(tile, step, row, at % 8, b.side);
    const int in = b.down ? down.row : along.row, column = b.down ? down.column : along.column;
    f.inside = at < b.chunks && in < b.rows ? decode_inside(column, b.columns) : 0;
    f.at = f.inside ? in * b.columns + column : 0;
}

/* Without a branch, so that all that a thread asks for is under way at once. */
DEVICE void take_off(struct flight &f, const struct bundle &b)
{
    const int total = b.rows * b.columns;
#pragma unroll
    for (int j = 0; j < 5; ++j) {
        f.word[j] = 0;
        asm volatile("{.reg .pred p;\n setp.ne.u32 p, %2, 0;\n @p ld.global.nc.u32 %0, [%1];}"
                     : "+r"(f.word[j])
                     : "l"(b.from + (f.at & ~1) + 2 * j), "r"(pack_reads(f.at, j, f.inside, total)));
    }
}

DEVICE uint4 land(const struct flight &f, const struct bundle &b)
{
    const int total = b.rows * b.columns, last = f.inside - 1;
    u32 e[4], lacking = 0;
    if (pack_lacks_last(f.at, f.inside, total)) {
        lacking = (u32)b.from[total - 1] << (last % 2 * 16);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) { /* no place that is worked out: registers have none */
        e[i] = pack_pair(f.word, i, f.at & 1, f.inside) | (last / 2 == i ? lacking : 0);
    }
    return make_uint4(e[0], e[1], e[2], e[3]);
}

/* By all threads of all CTAs, each ABREAST_CHUNKS chunks at a time. */
DEVICE void pack_operand(const struct bundle &b)
{
    const int all = (int)(gridDim.x * gridDim.z) * THREADS;
    const int mine = (int)(blockIdx.z * gridDim.x + blockIdx.x) * THREADS + (int)threadIdx.x;
#pragma unroll 1
    for (int first = mine; first < b.chunks; first += ABREAST_CHUNKS * all) {
        struct flight f[ABREAST_CHUNKS];
#pragma unroll
        for (int i = 0; i < ABREAST_CHUNKS; ++i) {
            find_chunk(f[i], b, first + i * all);
        }
#pragma unroll
        for (int i = 0; i < ABREAST_CHUNKS; ++i) {
            take_off(f[i], b);
        }
#pragma unroll
        for (int i = 0; i < ABREAST_CHUNKS; ++i) {
            const uint4 v = land(f[i], b);
            if (first + i * all < b.chunks) {
                store_global16(b.to + first + i * all, v);
            }
        }
    }
}
#endif

/* Ordinary stores before, copies by the copy engine after, whoever makes them. */
DEVICE void copies_see_stores()
{
    asm volatile("fence.proxy.async;" ::: "memory");
}

/* CTAs of this launch that have packed their share, and launches whose CTAs all have. */
__device__ u32 packed_by, rounds;

/* By all threads of all CTAs. The last CTA to arrive sets the count back for the next launch. */
DEVICE void meet_all()
{
    copies_see_stores();
    __syncthreads();
    if (threadIdx.x == 0) {
        const u32 round = load_relaxed4(&rounds);
        fence_gpu();
        if (atomicAdd(&packed_by, 1u) == gridDim.x * gridDim.z - 1) {
            packed_by = 0;
            fence_gpu();
            add_release(&rounds, 1);
        } else {
            while (load_acquire4(&rounds) == round) {
            }
        }
        fence_gpu();
    }
    __syncthreads();
    copies_see_stores();
}

/* A, then B, then what is left of the workspace for others. */
DEVICE void pack_operands(struct work &w, const u16 *a, const u16 *b, int k, int inverse_steps)
{
    const int steps = (k + BK - 1) / BK, tall = (w.m + BM - 1) / BM, wide = (w.n + BN - 1) / BN;
    uint4 *to_a = (uint4 *)w.workspace, *to_b = to_a + tall * steps * (A_BYTES / 16);
    struct bundle of = {a, to_a, w.m, k, (int)(to_b - to_a), BM, BM, INVERSE(BM), steps, inverse_steps, false};
    w.packed_a = (const unsigned char *)to_a, w.packed_b = (const unsigned char *)to_b, w.steps = steps;
    w.workspace = (float4 *)(to_b + wide * steps * (B_BYTES / 16));
    await_end_ahead();
#pragma unroll 1 /* the code once: it comes from afar the first time */
    for (int i = 0; i < 2; ++i) {
        pack_operand(of);
        of.from = b, of.to = to_b, of.rows = LAYOUT_TN ? w.n : k, of.columns = LAYOUT_TN ? k : w.n;
        of.chunks = wide * steps * (B_BYTES / 16), of.side = BN, of.lines = BLOCK_LINES_B;
        of.inverse_lines = INVERSE(BLOCK_LINES_B), of.down = !LAYOUT_TN;
    }
    meet_all();
}

#endif
