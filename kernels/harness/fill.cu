/*
 * fill.cu - device_ops.fill: element (i, j) is a function of (seed, i * cols + j) alone, whatever the storage order.
 * harness/device/fill.h has the same for the host. -D DTYPE.
 */
#include "harness/random.cuh"

#if DTYPE == 2
#define ELEMENTS 4
typedef u32 bits_t;
#else
#define ELEMENTS 8
typedef u16 bits_t;
#endif

enum { KIND_NORMAL = 0, KIND_BINARY = 1, KIND_POISON = 2 };

static __device__ bits_t round_to_dtype(float value)
{
#if DTYPE == 0
    return float_to_f16(value);
#elif DTYPE == 1
    return float_to_bf16(value);
#else
    return __float_as_uint(value);
#endif
}

static __device__ bits_t element(u64 key, u64 index, int kind, u32 threshold)
{
    u64 bits = random_bits(key, index);
    u32 high = (u32)(bits >> 40);
    if (kind == KIND_BINARY)
        return round_to_dtype(high < threshold ? 1.0f : 0.0f);
    float radius = sqrtf(-2.0f * logf((float)(high + 1) * 0x1p-24f));
    return round_to_dtype(radius * cospif(2.0f * ((float)((u32)bits & 0xffffffu) * 0x1p-24f)));
}

/* What to write, and where: `to` is the matrix itself (copies 0), or the first of so many addresses. struct wanted of
 * harness/device/cuda_fill.c has the same layout. */
struct wanted {
    void *to;
    u64 key, rows, cols;
    int column_major, kind;
    u32 threshold, copies;
};

/* The elements from `at` on, in one store if they are all there and the address allows it. */
static __device__ __forceinline__ void store(bits_t *memory, u64 at, u64 total, const bits_t one[ELEMENTS], uint4 all)
{
    if (at + ELEMENTS <= total && ((u64)memory & 15) == 0) {
        *(uint4 *)(memory + at) = all;
    } else {
#pragma unroll
        for (int e = 0; e < ELEMENTS; e++)
            if (at + e < total)
                memory[at + e] = one[e];
    }
}

/* One thread makes 16 bytes at a time; `parts` blocks share the matrix. What is contiguous is cols long, or rows if
 * column_major. */
static __device__ __forceinline__ void fill_part(const wanted &w, u32 part, u32 parts)
{
    u64 rows = w.rows, cols = w.cols, total = rows * cols;
    u64 step = (u64)parts * blockDim.x * ELEMENTS;
    for (u64 at = ((u64)part * blockDim.x + threadIdx.x) * ELEMENTS; at < total; at += step) {
        union {
            bits_t one[ELEMENTS];
            uint4 all;
        } out;
        u64 column = w.column_major ? at / rows : 0, row = w.column_major ? at % rows : 0;
#pragma unroll
        for (int e = 0; e < ELEMENTS; e++) {
            u64 index = w.column_major ? row * cols + column : at + e;
            out.one[e] = w.kind == KIND_POISON ? (bits_t)(DTYPE == 2 ? 0x7fffffffu : 0x7fffu)
                                               : element(w.key, index, w.kind, w.threshold);
            if (++row == rows) {
                row = 0;
                column++;
            }
        }
        if (w.copies == 0)
            store((bits_t *)w.to, at, total, out.one, out.all);
        for (u32 copy = 0; copy < w.copies; copy++)
            store(((bits_t *const *)w.to)[copy], at, total, out.one, out.all);
    }
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
