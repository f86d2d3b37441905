/*
 * nvidia.h - what the cuBLAS and cuBLASLt plugins share: which library is really mapped, how its failures read, and
 * alpha and beta as it wants them.
 */
#ifndef CUDAL2_BASELINES_NVIDIA_H
#define CUDAL2_BASELINES_NVIDIA_H

#include "abi/contender.h"

/* Two wheels, or a wheel and a toolkit, may each bring a libcublas.so.N: the first one mapped serves everybody by its
 * name. CUDAL2_OK when at most one libcublas and one libcublasLt are mapped and both come from one directory;
 * otherwise CUDAL2_LIBRARY_ERROR with both paths in `why`. */
int nvidia_check_mapped(char *why);

/* Real path of the object that holds `symbol`, escaped for a JSON string; "" when unknown. */
void nvidia_mapped_path(const void *symbol, char *out, size_t capacity);

/* alpha or beta in the scale type that a compute type demands: 16F takes half, 32F float, and the other way round is
 * INVALID_VALUE. Exact for what a problem's may be: multiples of 1/8 up to 4. */
union nvidia_scalar {
    uint16_t half;
    float single;
};
union nvidia_scalar nvidia_scalar(double value, enum cudal2_accumulate accumulate);

/* "call: status text" into why; returns CUDAL2_LIBRARY_ERROR. */
int nvidia_failed(char *why, const char *call, const char *status);

#endif
