/*
 * memory.hpp - the memory of padded copies: of the GPU, or of the host where an import is for the CPU (a libtorch
 * without CUDA). Relies on call() and check() of stand_in.hpp or real_torch.hpp. Included by wrapper.hpp.
 */
#pragma once

#include <cuda_runtime.h>

#include <cstdlib>
#include <cstring>
#include <new>

namespace cudal2_stand_in
{
#ifdef CUDAL2_IMPORT_CPU

inline void *take_zeroed(size_t bytes)
{
    void *memory = std::calloc(bytes > 0 ? bytes : 1, 1);
    return memory ? memory : throw std::bad_alloc();
}
inline void drop(void *memory)
{
    std::free(memory);
}
inline void copy_bytes(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t rows)
{
    for (size_t i = 0; i < rows; i++)
        std::memcpy(static_cast<char *>(to) + i * to_pitch, static_cast<const char *>(from) + i * from_pitch, width);
}
inline void check_launches()
{
}
inline void forget_error()
{
}

#else

inline void *take_zeroed(size_t bytes)
{
    void *memory = nullptr;
    check(cudaMalloc(&memory, bytes), "no memory to pad");
    check(cudaMemsetAsync(memory, 0, bytes, call().stream), "to pad");
    return memory;
}
inline void drop(void *memory)
{
    (void)cudaFree(memory);
}
inline void copy_bytes(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t rows)
{
    check(cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, rows, cudaMemcpyDeviceToDevice, call().stream),
          "a padded copy");
}
inline void check_launches()
{
    check(cudaPeekAtLastError(), "after the call");
}
inline void forget_error()
{
    (void)cudaGetLastError();
}

#endif
} // namespace cudal2_stand_in
