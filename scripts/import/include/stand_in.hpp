/*
 * stand_in.hpp - what a torch extension of the form void f(Tensor a, b, b_col_major, c) asks of PyTorch's C++ API,
 * without PyTorch: a Tensor is a pointer with sizes, the current stream is the harness's, and torch::empty gives out
 * memory that is kept from call to call, as PyTorch's allocator does. Written from its documentation; nothing of
 * PyTorch is copied. Relies on the CUDA runtime and on binding.hpp. Included by the headers beside it, which have the
 * names that kernels include, and by ../wrapper.hpp.
 */
#pragma once

#include "../binding.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace cudal2_stand_in
{

/* The call that is under way: its stream, and the memory that torch::empty gave out in the calls before. */
struct Call {
    struct Block {
        void *memory;
        size_t bytes;
    };
    cudaStream_t stream = nullptr;
    std::vector<Block> blocks;
    size_t next = 0;
    const char *missing = ""; /* of the matrix that this layout does not have */
    bool asked = false;       /* for the data of that one */

    void begin()
    {
        next = 0;
    }
    void drop()
    {
        for (auto &block : blocks)
            (void)cudaFree(block.memory);
        blocks.clear();
    }
    void *give(size_t bytes)
    {
        if (next < blocks.size() && blocks[next].bytes >= bytes)
            return blocks[next++].memory;
        void *memory = nullptr;
        if (cudaMalloc(&memory, bytes > 0 ? bytes : 1) != cudaSuccess)
            throw std::runtime_error("torch::empty: no memory for " + std::to_string(bytes) + " bytes");
        blocks.insert(blocks.begin() + static_cast<std::ptrdiff_t>(next++), Block{memory, bytes});
        return memory;
    }
};

inline Call &call()
{
    static Call one; /* a worker has one thread that calls contenders */
    return one;
}

inline void message(std::ostringstream &)
{
}
template <typename First, typename... Rest>
void message(std::ostringstream &out, const First &first, const Rest &...rest)
{
    out << first;
    message(out, rest...);
}

template <typename... Parts> [[noreturn]] void refuse(const char *condition, const Parts &...parts)
{
    std::ostringstream out;
    message(out, parts...);
    throw std::runtime_error(out.str().empty() ? std::string("expected ") + condition : out.str());
}

inline void check(cudaError_t status, const char *what)
{
    if (status != cudaSuccess)
        throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(status));
}

} // namespace cudal2_stand_in

namespace c10
{

template <typename T> using optional = std::optional<T>;
constexpr auto nullopt = std::nullopt;

/* What sources catch: here every error is a std::runtime_error. */
class Error : public std::runtime_error
{
  public:
    using std::runtime_error::runtime_error;
    const char *what_without_backtrace() const
    {
        return what();
    }
    std::string msg() const
    {
        return what();
    }
};

enum class ScalarType : int8_t {
    Byte,
    Char,
    Short,
    Int,
    Long,
    Half,
    Float,
    Double,
    Bool = 11,
    BFloat16 = 15,
    Undefined = 47
};
enum class DeviceType : int8_t { CPU, CUDA };
enum class Layout : int8_t { Strided };

struct Half {
    uint16_t x;
};
struct BFloat16 {
    uint16_t x;
};

inline const char *toString(ScalarType type)
{
    switch (type) {
    case ScalarType::Half:
        return "Half";
    case ScalarType::BFloat16:
        return "BFloat16";
    case ScalarType::Float:
        return "Float";
    default:
        return "a scalar type";
    }
}
inline std::ostream &operator<<(std::ostream &out, ScalarType type)
{
    return out << toString(type);
}

inline size_t elementSize(ScalarType type)
{
    switch (type) {
    case ScalarType::Byte:
    case ScalarType::Char:
    case ScalarType::Bool:
        return 1;
    case ScalarType::Short:
    case ScalarType::Half:
    case ScalarType::BFloat16:
        return 2;
    case ScalarType::Long:
    case ScalarType::Double:
        return 8;
    default:
        return 4;
    }
}

struct Device {
    DeviceType kind = DeviceType::CUDA;
    int8_t number = 0;
    Device() = default;
    Device(DeviceType type, int8_t index = 0) : kind(type), number(index)
    {
    }
    DeviceType type() const
    {
        return kind;
    }
    int8_t index() const
    {
        return number;
    }
    bool is_cuda() const
    {
        return kind == DeviceType::CUDA;
    }
    bool is_cpu() const
    {
        return kind == DeviceType::CPU;
    }
    bool operator==(const Device &other) const
    {
        return kind == other.kind && number == other.number;
    }
    bool operator!=(const Device &other) const
    {
        return !(*this == other);
    }
};
inline std::ostream &operator<<(std::ostream &out, const Device &device)
{
    return out << (device.is_cuda() ? "cuda:" : "cpu:") << static_cast<int>(device.index());
}

template <typename T> class ArrayRef
{
  public:
    ArrayRef() = default;
    ArrayRef(const T *data, size_t length) : at(data), n(length)
    {
    }
    ArrayRef(const std::vector<T> &v) : at(v.data()), n(v.size())
    {
    }
    ArrayRef(const std::initializer_list<T> &v) : at(v.begin()), n(v.size())
    {
    }
    const T *begin() const
    {
        return at;
    }
    const T *end() const
    {
        return at + n;
    }
    const T *data() const
    {
        return at;
    }
    size_t size() const
    {
        return n;
    }
    bool empty() const
    {
        return n == 0;
    }
    const T &operator[](size_t i) const
    {
        return at[i];
    }
    std::vector<T> vec() const
    {
        return std::vector<T>(begin(), end());
    }
    bool equals(ArrayRef other) const
    {
        return vec() == other.vec();
    }

  private:
    const T *at = nullptr;
    size_t n = 0;
};
template <typename T> bool operator==(const ArrayRef<T> &a, const ArrayRef<T> &b)
{
    return a.equals(b);
}
template <typename T> bool operator!=(const ArrayRef<T> &a, const ArrayRef<T> &b)
{
    return !a.equals(b);
}
template <typename T> std::ostream &operator<<(std::ostream &out, const ArrayRef<T> &list)
{
    for (size_t i = 0; i < list.size(); i++)
        out << (i ? ", " : "[") << list[i];
    return out << "]";
}
using IntArrayRef = ArrayRef<int64_t>;

class TensorOptions
{
  public:
    TensorOptions() = default;
    TensorOptions(ScalarType t) : type(t)
    {
    }
    TensorOptions(Device d) : where(d)
    {
    }
    TensorOptions dtype(ScalarType t) const
    {
        TensorOptions o = *this;
        o.type = t;
        return o;
    }
    TensorOptions device(Device d) const
    {
        TensorOptions o = *this;
        o.where = d;
        return o;
    }
    TensorOptions device(DeviceType d, int8_t index = 0) const
    {
        return device(Device(d, index));
    }
    TensorOptions layout(Layout) const
    {
        return *this;
    }
    TensorOptions requires_grad(bool = true) const
    {
        return *this;
    }
    TensorOptions memory_format(int) const
    {
        return *this;
    }
    ScalarType dtype() const
    {
        return type;
    }
    Device device() const
    {
        return where;
    }

  private:
    ScalarType type = ScalarType::Float;
    Device where;
};
inline std::ostream &operator<<(std::ostream &out, const TensorOptions &options)
{
    return out << "TensorOptions(dtype=" << options.dtype() << ", device=" << options.device() << ")";
}

/* What unsafeGetTensorImpl gives: the tensor itself. */
class TensorImpl
{
  public:
    virtual ~TensorImpl() = default;
    virtual void *mutable_data() const = 0;
    const void *data() const
    {
        return mutable_data();
    }
};

namespace cuda
{

class CUDAStream
{
  public:
    explicit CUDAStream(cudaStream_t s) : is(s)
    {
    }
    cudaStream_t stream() const
    {
        return is;
    }
    operator cudaStream_t() const
    {
        return is;
    }
    void synchronize() const
    {
        cudal2_stand_in::check(cudaStreamSynchronize(is), "cudaStreamSynchronize");
    }

  private:
    cudaStream_t is;
};
inline CUDAStream getCurrentCUDAStream(int = -1)
{
    return CUDAStream(cudal2_stand_in::call().stream);
}
inline CUDAStream getDefaultCUDAStream(int = -1)
{
    return getCurrentCUDAStream();
}
inline int current_device()
{
    int device = 0;
    (void)cudaGetDevice(&device);
    return device;
}
/* There is one device, and it is current. */
struct CUDAGuard {
    explicit CUDAGuard(Device)
    {
    }
    explicit CUDAGuard(int)
    {
    }
};
struct OptionalCUDAGuard {
    OptionalCUDAGuard() = default;
    explicit OptionalCUDAGuard(std::optional<Device>)
    {
    }
};

} // namespace cuda
} // namespace c10

namespace at
{

using c10::ArrayRef;
using c10::BFloat16;
using c10::Device;
using c10::DeviceType;
using c10::Half;
using c10::IntArrayRef;
using c10::nullopt;
using c10::optional;
using c10::ScalarType;
using c10::TensorOptions;
constexpr ScalarType kByte = ScalarType::Byte, kChar = ScalarType::Char, kShort = ScalarType::Short,
                     kInt = ScalarType::Int, kLong = ScalarType::Long;
constexpr ScalarType kHalf = ScalarType::Half, kFloat = ScalarType::Float, kDouble = ScalarType::Double;
constexpr ScalarType kBFloat16 = ScalarType::BFloat16, kBool = ScalarType::Bool;
constexpr DeviceType kCPU = DeviceType::CPU, kCUDA = DeviceType::CUDA;

class Tensor : public c10::TensorImpl
{
  public:
    Tensor() = default;
    Tensor(void *memory, std::vector<int64_t> lengths, ScalarType t, const char *refused = nullptr)
        : at(memory), lengths(std::move(lengths)), type(t), why(refused)
    {
        int64_t stride = 1;
        steps.resize(this->lengths.size());
        for (size_t i = steps.size(); i-- > 0;) {
            steps[i] = stride;
            stride *= this->lengths[i];
        }
    }
    int64_t dim() const
    {
        return static_cast<int64_t>(lengths.size());
    }
    int64_t ndimension() const
    {
        return dim();
    }
    int64_t size(int64_t i) const
    {
        return lengths.at(index(i));
    }
    int64_t stride(int64_t i) const
    {
        return steps.at(index(i));
    }
    IntArrayRef sizes() const
    {
        return IntArrayRef(lengths);
    }
    IntArrayRef strides() const
    {
        return IntArrayRef(steps);
    }
    int64_t numel() const
    {
        int64_t n = 1;
        for (int64_t length : lengths)
            n *= length;
        return n;
    }
    ScalarType scalar_type() const
    {
        return type;
    }
    ScalarType dtype() const
    {
        return type;
    }
    Device device() const
    {
        return Device();
    }
    int64_t get_device() const
    {
        return 0;
    }
    TensorOptions options() const
    {
        return TensorOptions(type);
    }
    bool is_cuda() const
    {
        return true;
    }
    bool is_cpu() const
    {
        return false;
    }
    bool is_contiguous() const
    {
        return true;
    }
    bool defined() const
    {
        return !lengths.empty();
    }
    Tensor contiguous() const
    {
        return *this;
    }
    /* It stays where it is, and what it is: any other wish is refused. */
    template <typename... Also> Tensor to(Device where, Also...) const
    {
        if (!where.is_cuda())
            cudal2_stand_in::refuse("Tensor::to(CUDA)",
                                    "Tensor::to: this stand-in for torch has no tensors on the host");
        return *this;
    }
    template <typename... Also> Tensor to(DeviceType where, Also... also) const
    {
        return to(Device(where), also...);
    }
    template <typename... Also> Tensor to(ScalarType as, Also...) const
    {
        if (as != type)
            cudal2_stand_in::refuse("Tensor::to", "Tensor::to: this stand-in for torch converts nothing, ", type,
                                    " to ", as);
        return *this;
    }
    Tensor cuda() const
    {
        return *this;
    }
    Tensor cpu() const
    {
        return to(DeviceType::CPU);
    }
    Tensor view(std::vector<int64_t> as) const
    {
        return Tensor(at, std::move(as), type, why);
    }
    size_t element_size() const
    {
        return c10::elementSize(type);
    }
    size_t itemsize() const
    {
        return element_size();
    }
    size_t nbytes() const
    {
        return static_cast<size_t>(numel()) * element_size();
    }
    /* The layout of B that this contender is not given has sizes, and no memory. */
    void *data_ptr() const
    {
        if (!why)
            return at;
        cudal2_stand_in::call().asked = true;
        throw std::domain_error(why);
    }
    const void *const_data_ptr() const
    {
        return data_ptr();
    }
    void *mutable_data_ptr() const
    {
        return data_ptr();
    }
    void *mutable_data() const override
    {
        return data_ptr();
    }
    c10::TensorImpl *unsafeGetTensorImpl() const
    {
        return const_cast<Tensor *>(this);
    }
    template <typename T> T *data_ptr() const
    {
        return static_cast<T *>(data_ptr());
    }
    template <typename T> T *mutable_data_ptr() const
    {
        return data_ptr<T>();
    }
    template <typename T> const T *const_data_ptr() const
    {
        return data_ptr<T>();
    }
    template <typename T> T *data() const
    {
        return data_ptr<T>();
    }
    Tensor &zero_()
    {
        cudal2_stand_in::check(cudaMemsetAsync(data_ptr(), 0, nbytes(), cudal2_stand_in::call().stream), "zero_");
        return *this;
    }
    Tensor &copy_(const Tensor &from)
    {
        cudal2_stand_in::check(cudaMemcpyAsync(data_ptr(), from.data_ptr(), nbytes(), cudaMemcpyDeviceToDevice,
                                               cudal2_stand_in::call().stream),
                               "copy_");
        return *this;
    }

  private:
    size_t index(int64_t i) const
    {
        return static_cast<size_t>(i < 0 ? i + dim() : i);
    }
    void *at = nullptr;
    std::vector<int64_t> lengths, steps;
    ScalarType type = ScalarType::Undefined;
    const char *why = nullptr;
};

inline std::optional<Device> device_of(const Tensor &t)
{
    return t.device();
}
inline Tensor empty(IntArrayRef lengths, TensorOptions options = {})
{
    size_t bytes = c10::elementSize(options.dtype());
    for (int64_t length : lengths)
        bytes *= static_cast<size_t>(length);
    return Tensor(cudal2_stand_in::call().give(bytes), lengths.vec(), options.dtype());
}
inline Tensor zeros(IntArrayRef lengths, TensorOptions options = {})
{
    return empty(lengths, options).zero_();
}
inline Tensor empty_like(const Tensor &t)
{
    return empty(t.sizes(), t.options());
}
inline Tensor zeros_like(const Tensor &t)
{
    return zeros(t.sizes(), t.options());
}

namespace cuda
{
using c10::cuda::CUDAGuard;
using c10::cuda::CUDAStream;
using c10::cuda::current_device;
using c10::cuda::getCurrentCUDAStream;
using c10::cuda::getDefaultCUDAStream;
using c10::cuda::OptionalCUDAGuard;
inline const cudaDeviceProp *getCurrentDeviceProperties()
{
    static const cudaDeviceProp properties = [] {
        cudaDeviceProp p{};
        cudal2_stand_in::check(cudaGetDeviceProperties(&p, c10::cuda::current_device()), "cudaGetDeviceProperties");
        return p;
    }();
    return &properties;
}
inline const cudaDeviceProp *getDeviceProperties(int64_t)
{
    return getCurrentDeviceProperties();
}
} // namespace cuda
} // namespace at

namespace torch
{
using namespace at;
constexpr auto kFloat16 = at::kHalf;
constexpr auto kFloat32 = at::kFloat;
constexpr auto kFloat64 = at::kDouble;
constexpr auto kInt16 = at::kShort;
constexpr auto kInt32 = at::kInt;
constexpr auto kInt64 = at::kLong;
constexpr auto kInt8 = at::kChar;
constexpr auto kUInt8 = at::kByte;
using Dtype = c10::ScalarType;
inline TensorOptions dtype(ScalarType type)
{
    return TensorOptions(type);
}
inline TensorOptions device(Device where)
{
    return TensorOptions(where);
}
} // namespace torch

namespace cudal2_stand_in
{
#ifdef CUDAL2_IMPORT_BF16
constexpr auto element = c10::ScalarType::BFloat16;
#else
constexpr auto element = c10::ScalarType::Half;
#endif

/* A matrix of `element`; one that this layout does not have throws a std::domain_error when its data is asked for. */
inline at::Tensor tensor(void *memory, int64_t rows, int64_t columns, bool given = true)
{
    return at::Tensor(given ? memory : nullptr, {rows, columns}, element, given ? nullptr : call().missing);
}

/* Calls f; PyTorch's current stream is call().stream. A kernel may throw an error of its own for the matrix that this
 * layout does not have. */
template <typename F> void with_stream(const char *missing, F f)
{
    call().missing = missing;
    call().asked = false;
    try {
        f();
    } catch (...) {
        if (call().asked)
            throw std::domain_error(missing);
        throw;
    }
}
} // namespace cudal2_stand_in

#define TORCH_CHECK(condition, ...)                                                                                    \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            ::cudal2_stand_in::refuse(#condition __VA_OPT__(, ) __VA_ARGS__);                                          \
    } while (0)
#define TORCH_INTERNAL_ASSERT(condition, ...) TORCH_CHECK(condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(condition, ...) TORCH_CHECK(condition __VA_OPT__(, ) __VA_ARGS__)
#define AT_ASSERTM(condition, ...) TORCH_CHECK(condition __VA_OPT__(, ) __VA_ARGS__)
#define AT_ASSERT(condition, ...) TORCH_CHECK(condition __VA_OPT__(, ) __VA_ARGS__)
#define AT_CHECK(condition, ...) TORCH_CHECK(condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_EQ(a, b) TORCH_CHECK((a) == (b))
#define TORCH_CHECK_NE(a, b) TORCH_CHECK((a) != (b))
#define TORCH_CHECK_GE(a, b) TORCH_CHECK((a) >= (b))
#define TORCH_CHECK_GT(a, b) TORCH_CHECK((a) > (b))
#define TORCH_CHECK_LE(a, b) TORCH_CHECK((a) <= (b))
#define TORCH_CHECK_LT(a, b) TORCH_CHECK((a) < (b))
#define C10_CUDA_CHECK(call) ::cudal2_stand_in::check((call), #call)
#define AT_CUDA_CHECK(call) C10_CUDA_CHECK(call)
#define C10_CUDA_KERNEL_LAUNCH_CHECK() C10_CUDA_CHECK(cudaGetLastError())
#define TORCH_LIBRARY(name, variable) PYBIND11_MODULE(name, variable)
