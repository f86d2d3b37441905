/*
 * element.cuh - one element of a matrix of -D DTYPE, for the harness's own kernels.
 */
#ifndef CUDAL2_HARNESS_ELEMENT_CUH
#define CUDAL2_HARNESS_ELEMENT_CUH

#if DTYPE == 2
typedef float element_t;
#else
typedef u16 element_t;
#endif

static __device__ __forceinline__ float to_float(element_t value)
{
#if DTYPE == 0
    return f16_to_float(value);
#elif DTYPE == 1
    return bf16_to_float(value);
#else
    return value;
#endif
}

#endif
