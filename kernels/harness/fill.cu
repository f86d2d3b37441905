/*
 * fill.cu - device_ops.fill: element (i, j) is a function of (seed, i * cols + j) alone, whatever the storage order.
 * harness/device/fill.h has the same for the host. -D DTYPE.
 */
#include "harness/random.cuh"
#include "harness/walk.cuh"

#if DTYPE == 2
#define ELEMENTS 4
typedef u32 bits_t;
#else
#define ELEMENTS 8
typedef u16 bits_t;
#endif

enum { KIND_NORMAL = 0, KIND_BINARY = 1, KIND_POISON = 2 };

static __device__ __forceinline__ float value_of(u64 bits, int kind, u32 threshold)
{
    if (kind == KIND_BINARY)
        return (u32)(bits >> 40) < threshold ? 1.0f : 0.0f;
    return normal_of(bits);
}

/* What to write, and where: `to` is the matrix itself (copies 0), or the first of so many addresses. struct wanted of
 * harness/device/cuda_fill.c has the same layout. */
struct wanted {
    void *to;
    u64 key, rows, cols;
    int column_major, kind;
    u32 threshold, copies;
};

/* 16 bytes. */
union piece {
    bits_t one[ELEMENTS];
    u32 word[4];
    uint4 all;
};

static __device__ __forceinline__ void round_piece(const float value[ELEMENTS], piece &out)
{
#pragma unroll
    for (int i = 0; i < 4; i++)
#if DTYPE == 0
        asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(out.word[i]) : "f"(value[2 * i + 1]), "f"(value[2 * i]));
#elif DTYPE == 1
        asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(out.word[i]) : "f"(value[2 * i + 1]), "f"(value[2 * i]));
#else
        out.word[i] = __float_as_uint(value[i]);
#endif
}

/* The elements from here on; those past the end of the matrix are nobody's. */
template <int KIND> static __device__ __forceinline__ void make(const wanted &w, walk here, piece &out)
{
    float value[ELEMENTS];
    if (KIND == KIND_POISON) {
#pragma unroll
        for (int i = 0; i < 4; i++)
            out.word[i] = DTYPE == 2 ? 0x7fffffffu : 0x7fff7fffu;
        return;
    }
    if (walk_has(&here, ELEMENTS)) {
        u64 counter = w.key + (walk_index(&here) + 1) * GOLDEN, each = here.stride * GOLDEN;
#pragma unroll
        for (int e = 0; e < ELEMENTS; e++)
            value[e] = value_of(mix(counter + e * each), KIND, w.threshold);
    } else {
#pragma unroll
        for (int e = 0; e < ELEMENTS; e++) {
            value[e] = value_of(random_bits(w.key, walk_index(&here)), KIND, w.threshold);
            walk_next(&here);
        }
    }
    round_piece(value, out);
}

/* In one store if they are all there and the address allows it. */
static __device__ __forceinline__ void store(bits_t *memory, u64 at, u64 total, const piece &out)
{
    if (at + ELEMENTS <= total && ((u64)memory & 15) == 0) {
        *(uint4 *)(memory + at) = out.all;
    } else {
#pragma unroll
        for (int e = 0; e < ELEMENTS; e++)
            if (at + e < total)
                memory[at + e] = out.one[e];
    }
}

/* One thread makes 16 bytes at a time; `parts` blocks share the matrix. A line is all of it, or as long as there are
 * rows if column_major. */
template <int KIND> static __device__ __forceinline__ void fill_kind(const wanted &w, u32 part, u32 parts)
{
    u64 total = w.rows * w.cols, step = (u64)parts * blockDim.x * ELEMENTS;
    u64 at = ((u64)part * blockDim.x + threadIdx.x) * ELEMENTS;
    if (at >= total)
        return;
    walk here = walk_from(w.column_major ? w.rows : total, w.column_major ? w.cols : 1, at, step);
    for (; at < total; at += step, walk_step(&here)) {
        piece out;
        make<KIND>(w, here, out);
        if (w.copies == 0)
            store((bits_t *)w.to, at, total, out);
        for (u32 copy = 0; copy < w.copies; copy++)
            store(((bits_t *const *)w.to)[copy], at, total, out);
    }
}

static __device__ __forceinline__ void fill_part(const wanted &w, u32 part, u32 parts)
{
    if (w.kind == KIND_POISON)
        fill_kind<KIND_POISON>(w, part, parts);
    else if (w.kind == KIND_BINARY)
        fill_kind<KIND_BINARY>(w, part, parts);
    else
        fill_kind<KIND_NORMAL>(w, part, parts);
}

extern "C" __global__ void __launch_bounds__(256) fill(wanted w)
{
    fill_part(w, blockIdx.x, gridDim.x);
}

/* `parts` blocks for each of many contents. */
extern "C" __global__ void __launch_bounds__(256) fill_many(const wanted *list, u32 parts)
{
    const wanted w = list[blockIdx.x / parts];
    fill_part(w, blockIdx.x % parts, parts);
}
