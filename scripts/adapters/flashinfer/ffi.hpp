/*
 * ffi.hpp - what a CUDA solution of FlashInfer-Bench asks of TVM's FFI, without it: a TensorView is
 * a pointer with sizes, the environment's stream is the harness's. Written from its documentation; nothing of it
 * is copied. Relies on scripts/import's stand_in.hpp; included by what flashinfer.py writes, and by the headers below
 * tvm/.
 */
#pragma once

#include "stand_in.hpp"

enum DLDeviceType { kDLCPU = 1, kDLCUDA = 2 };
enum DLDataTypeCode { kDLInt = 0, kDLUInt = 1, kDLFloat = 2, kDLBfloat = 4 };
struct DLDevice {
    DLDeviceType device_type;
    int32_t device_id;
};
struct DLDataType {
    uint8_t code, bits;
    uint16_t lanes;
};
inline bool operator==(const DLDataType &a, const DLDataType &b)
{
    return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}
inline bool operator!=(const DLDataType &a, const DLDataType &b)
{
    return !(a == b);
}
struct DLTensor {
    void *data;
    DLDevice device;
    int32_t ndim;
    DLDataType dtype;
    int64_t *shape, *strides;
    uint64_t byte_offset;
};

using TVMFFIStreamHandle = void *;
inline TVMFFIStreamHandle TVMFFIEnvGetStream(int32_t, int32_t)
{
    return cudal2_stand_in::call().stream;
}

namespace tvm
{
namespace ffi
{

using Shape = c10::IntArrayRef;
using ShapeView = c10::IntArrayRef;

class TensorView
{
  public:
    explicit TensorView(const at::Tensor &t) : at(t)
    {
    }
    void *data_ptr() const
    {
        return at.data_ptr();
    }
    int32_t ndim() const
    {
        return static_cast<int32_t>(at.dim());
    }
    int32_t dim() const
    {
        return ndim();
    }
    int64_t size(int64_t i) const
    {
        return at.size(i);
    }
    int64_t stride(int64_t i) const
    {
        return at.stride(i);
    }
    Shape shape() const
    {
        return at.sizes();
    }
    int64_t numel() const
    {
        int64_t n = 1;
        for (int64_t length : at.sizes())
            n *= length;
        return n;
    }
    DLDataType dtype() const
    {
        const bool bf16 = at.scalar_type() == c10::ScalarType::BFloat16;
        return {static_cast<uint8_t>(bf16 ? kDLBfloat : kDLFloat), 16, 1};
    }
    DLDevice device() const
    {
        return {kDLCUDA, 0};
    }
    bool IsContiguous() const
    {
        return true;
    }
    bool is_contiguous() const
    {
        return true;
    }

  private:
    at::Tensor at;
};
using Tensor = TensorView;

} // namespace ffi
} // namespace tvm

namespace cudal2_stand_in
{

/* Throws what was streamed into it. */
struct Thrower {
    std::ostringstream out;
    explicit Thrower(const char *what)
    {
        out << what << ": ";
    }
    [[noreturn]] ~Thrower() noexcept(false)
    {
        throw std::runtime_error(out.str());
    }
    std::ostream &stream()
    {
        return out;
    }
};

} // namespace cudal2_stand_in

#define TVM_FFI_THROW(kind) ::cudal2_stand_in::Thrower(#kind).stream()
#define TVM_FFI_CHECK(condition, kind)                                                                                 \
    if (condition) {                                                                                                   \
    } else                                                                                                             \
        TVM_FFI_THROW(kind)
#define TVM_FFI_ICHECK(condition)                                                                                      \
    if (condition) {                                                                                                   \
    } else                                                                                                             \
        ::cudal2_stand_in::Thrower("expected " #condition).stream()
#define TVM_FFI_ICHECK_EQ(a, b) TVM_FFI_ICHECK((a) == (b))
#define TVM_FFI_ICHECK_NE(a, b) TVM_FFI_ICHECK((a) != (b))
#define TVM_FFI_ICHECK_LT(a, b) TVM_FFI_ICHECK((a) < (b))
#define TVM_FFI_ICHECK_LE(a, b) TVM_FFI_ICHECK((a) <= (b))
#define TVM_FFI_ICHECK_GT(a, b) TVM_FFI_ICHECK((a) > (b))
#define TVM_FFI_ICHECK_GE(a, b) TVM_FFI_ICHECK((a) >= (b))
#define TVM_FFI_DLL_EXPORT_TYPED_FUNC(name, function) static_assert(sizeof(&function) > 0, #name)
