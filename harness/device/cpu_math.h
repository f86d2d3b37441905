/*
 * cpu_math.h - fills, reference product and comparison on host threads.
 */
#ifndef CUDAL2_DEVICE_CPU_MATH_H
#define CUDAL2_DEVICE_CPU_MATH_H

#include "device/device.h"

/* Splits [0, count) over `threads` threads: work(context, first, last). Falls back to fewer threads when one cannot
 * be started; all work is done on return. */
typedef void (*cpu_range)(void *context, int64_t first, int64_t last);
void cpu_parallel(int threads, int64_t count, cpu_range work, void *context);

/* As device_ops.fill. */
void cpu_fill(int threads, void *memory, const struct fill *fill);

/* A column that cpu_fill has filled, and that nobody is to change. memory NULL: none. */
struct cpu_filled {
    const void *memory;
    struct fill fill;
};

/* Whether it still holds that, at some places that `draw` chooses: who has made half of it another finds himself told
 * 255 times in 256. Under a microsecond. */
bool cpu_fill_holds(const struct cpu_filled *filled, uint64_t draw);

/* reference[m*n] = A*B in fp32, sums in order of k. EXIT_CODE_INTERNAL without memory for the packed operands. */
int cpu_reference(int threads, const struct cudal2_problem *p, enum cudal2_layout layout,
                  const struct cudal2_operands *operands, float *reference, struct error *err);

/* The same with exact products and sums in fp64. */
int cpu_reference_wide(int threads, const struct cudal2_problem *p, enum cudal2_layout layout,
                       const struct cudal2_operands *operands, double *reference, struct error *err);

/* Bytes that either of them takes for packed operands: a slab of both, at most CPU_PACKED_BYTES where k is that of a
 * config (2^20). */
#define CPU_PACKED_BYTES (64ull << 20)
uint64_t cpu_reference_scratch(const struct cudal2_problem *p);

/* As device_ops.compare. */
void cpu_compare(int threads, const struct cudal2_problem *p, const void *c, const struct expectation *expected,
                 struct comparison *out);

/* Adds one comparison of a part to the whole. */
void comparison_add(struct comparison *whole, const struct comparison *part);

#endif
