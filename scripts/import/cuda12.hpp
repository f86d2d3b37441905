/*
 * cuda12.hpp - calls of the CUDA runtime as they were before version 13, which took a device as a number: kernels of
 * that time compile unchanged. import.py includes it before a source that makes such a call, and only then: other
 * objects do not depend on it.
 */
#pragma once

#include <cuda_runtime.h>

#if CUDART_VERSION >= 13000

namespace cudal2_cuda12
{
inline cudaMemLocation location(int device)
{
    cudaMemLocation where{};
    where.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
    where.id = device == cudaCpuDeviceId ? 0 : device;
    return where;
}
} // namespace cudal2_cuda12

inline cudaError_t cudaMemAdvise(const void *memory, size_t bytes, cudaMemoryAdvise advice, int device)
{
    return cudaMemAdvise(memory, bytes, advice, cudal2_cuda12::location(device));
}
inline cudaError_t cudaMemPrefetchAsync(const void *memory, size_t bytes, int device, cudaStream_t stream = nullptr)
{
    return cudaMemPrefetchAsync(memory, bytes, cudal2_cuda12::location(device), 0u, stream);
}

#endif
