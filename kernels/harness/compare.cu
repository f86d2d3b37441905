/*
 * compare.cu - device_ops.compare, first stage: each block writes one struct comparison (harness/device/device.h has
 * the same layout) and the host adds them in order, so that the sums do not depend on timing. -D DTYPE, -D WIDE: the
 * reference is double.
 */
#include "harness/element.cuh"

#define THREADS 256
#ifndef WIDE
#define WIDE 0
#endif

#if WIDE
typedef double sum_t;
#else
typedef float sum_t;
#endif

struct comparison {
    u64 checked, covered, mismatched, nan_count, first_index;
    double max_abs_error, sum_sq_error, sum_sq_reference;
};

static __device__ void look(comparison &out, u64 index, float value, double expected, double limit)
{
    double difference = fabs((double)value - expected);
    bool checked = limit <= 0 || fabs(expected) < limit;
    bool nan = value != value;
    bool wrong = checked && (nan || (limit > 0 && difference > 0));
    out.checked += checked;
    out.covered += checked && fabs(expected) > 0;
    out.mismatched += wrong;
    out.nan_count += nan;
    if ((wrong || nan) && index < out.first_index)
        out.first_index = index;
    if (!nan) {
        out.max_abs_error = fmax(out.max_abs_error, difference);
        out.sum_sq_error += difference * difference;
        out.sum_sq_reference += expected * expected;
    }
}

static __device__ void merge(comparison &whole, const comparison &part)
{
    whole.checked += part.checked;
    whole.covered += part.covered;
    whole.mismatched += part.mismatched;
    whole.nan_count += part.nan_count;
    whole.first_index = part.first_index < whole.first_index ? part.first_index : whole.first_index;
    whole.max_abs_error = fmax(whole.max_abs_error, part.max_abs_error);
    whole.sum_sq_error += part.sum_sq_error;
    whole.sum_sq_reference += part.sum_sq_reference;
}

extern "C" __global__ void __launch_bounds__(THREADS)
    compare(const element_t *c, const sum_t *reference, u64 count, double limit, comparison *parts)
{
    __shared__ comparison shared[THREADS];
    comparison mine = {0, 0, 0, 0, ~0ull, 0, 0, 0};
    u64 step = (u64)gridDim.x * THREADS;
    for (u64 i = (u64)blockIdx.x * THREADS + threadIdx.x; i < count; i += step)
        look(mine, i, to_float(c[i]), reference[i], limit);
    shared[threadIdx.x] = mine;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            merge(shared[threadIdx.x], shared[threadIdx.x + half]);
        __syncthreads();
    }
    if (threadIdx.x == 0)
        parts[blockIdx.x] = shared[0];
}
