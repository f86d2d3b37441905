/*
 * real_torch.hpp - what wrapper.hpp needs of tensors, with a real libtorch in place of the stand-in: tensors over the
 * harness's matrices, and its stream as PyTorch's current one. Relies on ATen's headers alone, not on
 * torch/extension.h, which costs a minute a file. Included by wrapper.hpp where import.py is told --real-torch.
 */
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/TensorImpl.h>
#ifdef TORCH_HAS_CUDA
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#endif

#include <cuda_runtime.h>

#include <cstdio>
#include <stdexcept>
#include <string>

namespace cudal2_stand_in
{

struct Call {
    cudaStream_t stream = nullptr;

    void begin()
    {
    }
    void drop() /* libtorch's allocator has the memory of torch::empty, and keeps it */
    {
    }
};

inline Call &call()
{
    static Call one; /* a worker has one thread that calls contenders */
    return one;
}

inline void check(cudaError_t status, const char *what)
{
    if (status != cudaSuccess)
        throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(status));
}

inline c10::Device device()
{
#ifdef TORCH_HAS_CUDA
    int ordinal = 0;
    check(cudaGetDevice(&ordinal), "cudaGetDevice");
    return c10::Device(c10::kCUDA, static_cast<c10::DeviceIndex>(ordinal));
#else
    return c10::Device(c10::kCPU);
#endif
}

#ifdef CUDAL2_IMPORT_BF16
using element = c10::BFloat16;
constexpr auto element_type = at::kBFloat16;
#else
using element = c10::Half;
constexpr auto element_type = at::kHalf;
#endif
constexpr const char *no_data = "that doesn't have storage";

/* A matrix of `element`. One that this layout does not have is a tensor with sizes and no storage: to ask for its data
 * throws in libtorch, with the words `no_data`. */
inline at::Tensor tensor(void *memory, int64_t rows, int64_t columns, bool given = true)
{
    const c10::Device where = device();
    if (given)
        return at::for_blob(memory, {rows, columns})
            .options(at::TensorOptions().dtype(element_type).device(where))
            .target_device(where) /* known: libtorch need not ask the driver whose pointer it is */
            .make_tensor();
    const auto key = where.is_cuda() ? c10::DispatchKey::CUDA : c10::DispatchKey::CPU;
    auto none = c10::make_intrusive<c10::TensorImpl, c10::UndefinedTensorImpl>(
        c10::DispatchKeySet(key), caffe2::TypeMeta::Make<element>(), where);
    none->set_sizes_contiguous({rows, columns});
    return at::Tensor(std::move(none));
}

/* Calls f with the harness's stream as the current one. libtorch's errors come without their stack trace. */
template <typename F> void with_stream(const char *missing, F f)
{
    try {
#ifdef TORCH_HAS_CUDA
        const c10::cuda::CUDAStreamGuard guard(c10::cuda::getStreamFromExternal(call().stream, device().index()));
#endif
        f();
    } catch (const c10::Error &e) {
        const std::string what = e.what_without_backtrace();
        if (what.find(no_data) != std::string::npos)
            throw std::domain_error(missing);
        throw std::runtime_error(what.substr(0, what.find('\n')));
    }
}

} // namespace cudal2_stand_in
