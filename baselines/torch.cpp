/*
 * torch.cpp - baselines: torch.matmul through libtorch's C++ (at::matmul_out, no Python), on CUDA and on the CPU, and
 * on CUDA the same without reductions in half precision (torch.matmul-full).
 *
 * Tensors over the operands are made in setup; launch is one at::matmul_out into C. B is row-major. torch accumulates
 * in fp32 whatever the cell is billed as, unless told otherwise: declared by CUDAL2_ACC_WIDER and said in describe.
 * Every entry point is noexcept and catches everything, since an exception must not leave C++.
 */
#include "abi/contender.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/zeros.h>
#include <c10/core/InferenceMode.h>
#include <torch/version.h>

#ifdef TORCH_HAS_CUDA
#include <c10/cuda/CUDAStream.h>
#endif

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace
{

struct Operands {
    at::Tensor a, b, c;
};

/* Makes torch work on the harness's stream. The current stream is a property of the thread, so a launch only compares:
 * nobody who calls torch.matmul in a loop pays for a stream guard in each call. */
class Stream
{
  public:
    Stream(void *stream, c10::Device device);
    void use() const;
    void leave() const;
    void wait() const;

  private:
#ifdef TORCH_HAS_CUDA
    std::optional<c10::cuda::CUDAStream> stream_;
#endif
};

#ifdef TORCH_HAS_CUDA
Stream::Stream(void *stream, c10::Device device)
{
    if (device.is_cuda())
        stream_ = c10::cuda::getStreamFromExternal(static_cast<cudaStream_t>(stream), device.index());
}

void Stream::use() const
{
    if (stream_ && c10::cuda::getCurrentCUDAStream(stream_->device_index()) != *stream_)
        c10::cuda::setCurrentCUDAStream(*stream_);
}

void Stream::leave() const
{
    if (stream_)
        c10::cuda::setCurrentCUDAStream(c10::cuda::getDefaultCUDAStream(stream_->device_index()));
}

void Stream::wait() const
{
    if (stream_)
        stream_->synchronize();
}
#else
Stream::Stream(void *, c10::Device)
{
}

void Stream::use() const
{
}

void Stream::leave() const
{
}

void Stream::wait() const
{
}
#endif

struct Gemm {
    std::vector<Operands> sets;
    Stream stream;
    double alpha, beta;
    bool scaled; /* else C is no input, and what it holds may be NaN */
    bool cuda;
    bool full; /* partial sums are added in fp32, whatever the process allows */
};

/* The device of this process; said by probe, which comes before any setup. */
uint32_t device_bits_in_use = CUDAL2_ON_CPU;

/* First line of what torch says, without its stack trace. */
void say(char *why, const char *what)
{
    snprintf(why, CUDAL2_WHY, "at::matmul_out: %.*s", static_cast<int>(std::min<size_t>(strcspn(what, "\n"), 220)),
             what);
}

/* Runs `body`; an exception becomes a status and a reason. */
template <typename Body> int guarded(char *why, Body body) noexcept
{
    try {
        return body();
    } catch (const c10::Error &error) {
        say(why, error.what_without_backtrace());
        return CUDAL2_LIBRARY_ERROR;
    } catch (const std::bad_alloc &) {
        snprintf(why, CUDAL2_WHY, "out of host memory");
        return CUDAL2_NO_MEMORY;
    } catch (const std::exception &error) {
        say(why, error.what());
        return CUDAL2_LIBRARY_ERROR;
    } catch (...) {
        snprintf(why, CUDAL2_WHY, "an exception that is no std::exception");
        return CUDAL2_LIBRARY_ERROR;
    }
}

at::ScalarType scalar_type(enum cudal2_dtype dtype)
{
    return dtype == CUDAL2_F16 ? at::kHalf : dtype == CUDAL2_BF16 ? at::kBFloat16 : at::kFloat;
}

/* Row-major, `stride` elements from row to row. */
at::Tensor tensor_over(const void *data, const int64_t (&size)[2], int64_t stride, const at::TensorOptions &options)
{
    return at::for_blob(const_cast<void *>(data), {size[0], size[1]})
        .strides({stride, 1})
        .options(options)
        .target_device(options.device())
        .make_tensor();
}

/* The setting was a bool before it became an enum whose first value allows everything. */
[[maybe_unused]] bool allows_reduction(bool setting)
{
    return setting;
}

template <typename Option> [[maybe_unused]] bool allows_reduction(Option setting)
{
    return static_cast<int>(setting) == 0;
}

/* A setting of the process, so that whoever launches sees to it: what torch came with, or no reductions in half. */
void choose_reduction(bool full)
{
    static const bool usual = allows_reduction(at::globalContext().allowFP16ReductionCuBLAS());
    static bool allowed = usual;
    bool wanted = usual && !full;
    if (wanted == allowed)
        return;
    at::globalContext().setAllowFP16ReductionCuBLAS(wanted);
#if TORCH_VERSION_MAJOR >= 2
    at::globalContext().setAllowBF16ReductionCuBLAS(wanted);
#endif
    allowed = wanted;
}

void multiply(Gemm &g, size_t set)
{
    c10::InferenceMode inference;
    if (g.cuda)
        choose_reduction(g.full);
    g.stream.use();
    Operands &o = g.sets[set];
    if (g.scaled)
        at::addmm_out(o.c, o.c, o.a, o.b, g.beta, g.alpha);
    else
        at::matmul_out(o.c, o.a, o.b);
}

std::unique_ptr<Gemm> make_gemm(const struct cudal2_setup &setup, bool full)
{
    c10::InferenceMode inference;
    const struct cudal2_problem &p = setup.problem;
    bool cuda = (device_bits_in_use & CUDAL2_ON_CUDA) != 0;
    c10::Device device =
        cuda ? c10::Device(c10::kCUDA, static_cast<c10::DeviceIndex>(setup.device_ordinal)) : c10::Device(c10::kCPU);
    at::TensorOptions options = at::TensorOptions().dtype(scalar_type(p.dtype)).device(device);
    if (cuda)
        at::empty({1}, options); /* starts torch's CUDA side */
    else
        at::set_num_threads(setup.threads > 0 ? setup.threads : 1);
    std::unique_ptr<Gemm> g(
        new Gemm{{}, Stream(setup.stream, device), p.alpha, p.beta, p.alpha != 1 || p.beta != 0, cuda, full});
    for (size_t i = 0; i < setup.n_sets; i++)
        g->sets.push_back({tensor_over(setup.sets[i].a, {p.m, p.k}, p.lda, options),
                           tensor_over(setup.sets[i].b, {p.k, p.n}, p.ldb, options),
                           tensor_over(setup.sets[i].c, {p.m, p.n}, p.ldc, options)});
    return g;
}

/* What decides which handles, workspaces and kernels torch takes. */
auto key_of(const struct cudal2_setup &setup, bool full)
{
    const struct cudal2_problem &p = setup.problem;
    return std::make_tuple(p.m, p.n, p.k, p.dtype, p.lda, p.ldb, p.ldc, p.alpha, p.beta, setup.stream, full);
}

/* The first call on a thread and stream makes handles and workspaces and loads kernels, which must not happen under
 * capture. Each group of blocks sets up anew: on a GPU two launches and a wait for the stream, in which the matrices
 * are being filled, would be spent each time. */
void warm_up(Gemm &g, const struct cudal2_setup &setup)
{
    thread_local std::optional<decltype(key_of(setup, true))> warm;
    auto key = key_of(setup, g.full);
    if (g.cuda && warm == key)
        return;
    for (size_t i = 0; i < std::min<size_t>(g.sets.size(), 2); i++)
        multiply(g, i);
    g.stream.wait();
    warm = key;
}

int set_up(const struct cudal2_setup *setup, bool full, void **state, char *why) noexcept
{
    int status = guarded(why, [&] {
        std::unique_ptr<Gemm> g = make_gemm(*setup, full);
        warm_up(*g, *setup);
        *state = g.release();
        return static_cast<int>(CUDAL2_OK);
    });
    /* Older libtorch multiplies no half on the CPU and says "not implemented": a skip, not a fault. */
    bool missing = status == CUDAL2_LIBRARY_ERROR && strstr(why, "not implemented") != nullptr;
    return missing ? static_cast<int>(CUDAL2_UNSUPPORTED) : status;
}

int torch_setup(const struct cudal2_setup *setup, void **state, char *why) noexcept
{
    return set_up(setup, false, state, why);
}

int torch_full_setup(const struct cudal2_setup *setup, void **state, char *why) noexcept
{
    return set_up(setup, true, state, why);
}

int torch_launch(void *state, size_t set, char *why) noexcept
{
    return guarded(why, [&] {
        multiply(*static_cast<Gemm *>(state), set);
        return static_cast<int>(CUDAL2_OK);
    });
}

void torch_teardown(void *state) noexcept
{
    char ignored[CUDAL2_WHY];
    std::unique_ptr<Gemm> g(static_cast<Gemm *>(state));
    guarded(ignored, [&] {
        g->stream.leave();
        return static_cast<int>(CUDAL2_OK);
    });
}

const char *yes_no(bool value)
{
    return value ? "true" : "false";
}

bool allows_bf16_reduction()
{
#if TORCH_VERSION_MAJOR >= 2
    return allows_reduction(at::globalContext().allowBF16ReductionCuBLAS());
#else
    return true; /* it could not be forbidden */
#endif
}

bool accumulates_in_half()
{
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 7)
    return at::globalContext().allowFP16AccumulationCuBLAS();
#else
    return false;
#endif
}

int torch_describe(void *state, char *out, size_t capacity) noexcept
{
    char why[CUDAL2_WHY];
    return guarded(why, [&] {
        const Gemm &g = *static_cast<Gemm *>(state);
        bool half = g.cuda && accumulates_in_half() && g.sets.at(0).a.scalar_type() == at::kHalf;
        int n = snprintf(out, capacity, "{\"accumulates\":\"%s\"", half ? "f16" : "f32");
        if (g.cuda)
            snprintf(out + n, capacity - n, "%s}", g.full ? ",\"reduced_precision_reduction\":false" : "");
        else
            snprintf(out + n, capacity - n, ",\"threads\":%d}", at::get_num_threads());
        return static_cast<int>(CUDAL2_OK);
    });
}

/* The process's settings that decide how torch multiplies. */
std::string settings()
{
    at::Context &context = at::globalContext();
    char text[512];
    snprintf(text, sizeof text,
             "{\"allow_fp16_reduced_precision_reduction\":%s,\"allow_bf16_reduced_precision_reduction\":%s,"
             "\"allow_fp16_accumulation\":%s,\"allow_tf32\":%s,\"deterministic\":%s}",
             yes_no(allows_reduction(context.allowFP16ReductionCuBLAS())), yes_no(allows_bf16_reduction()),
             yes_no(accumulates_in_half()), yes_no(context.allowTF32CuBLAS()),
             yes_no(context.deterministicAlgorithms()));
    return text;
}

/* --- versions: the library and the BLAS libraries that came with it --- */

std::string quoted(const char *text)
{
    std::string out = "\"";
    for (const char *at = text; *at; at++) {
        if (*at == '"' || *at == '\\')
            out += '\\';
        out += static_cast<unsigned char>(*at) < ' ' ? ' ' : *at;
    }
    return out + "\"";
}

std::string real_path(const char *path)
{
    std::unique_ptr<char, void (*)(void *)> real(realpath(path, nullptr), free);
    return real ? real.get() : path;
}

/* Which BLAS multiplies on the CPU is decided by the distribution's alternatives, so it is looked up, not assumed. */
int collect_blas(struct dl_phdr_info *info, size_t, void *context)
{
    static const char *const prefixes[] = {"libblas", "libopenblas", "libmkl_rt", "libcublas", "libcudart"};
    const char *slash = strrchr(info->dlpi_name, '/');
    for (const char *prefix : prefixes) {
        if (!slash || strncmp(slash + 1, prefix, strlen(prefix)) != 0)
            continue;
        std::string &list = *static_cast<std::string *>(context);
        list += (list.empty() ? "" : ",") + quoted(real_path(info->dlpi_name).c_str());
    }
    return 0;
}

/* "TORCH_VERSION=1.13.1" in show_config is the library's own; the macro is the header's. */
std::string library_version()
{
    static const char key[] = "TORCH_VERSION=";
    std::string config = at::show_config();
    size_t at = config.find(key);
    if (at == std::string::npos)
        return TORCH_VERSION;
    at += sizeof key - 1;
    return config.substr(at, config.find_first_of(", \n", at) - at);
}

int torch_versions(char *out, size_t capacity) noexcept
{
    char why[CUDAL2_WHY];
    return guarded(why, [&] {
        Dl_info info;
        std::string blas;
        dl_iterate_phdr(collect_blas, &blas);
        bool known = dladdr(reinterpret_cast<const void *>(&at::show_config), &info) != 0;
        std::string path = known ? real_path(info.dli_fname) : "";
        std::string text = "{\"torch\":" + quoted(library_version().c_str()) +
                           ",\"built_with\":\"" TORCH_VERSION "\",\"path\":" + quoted(path.c_str()) +
                           ",\"blas_mapped\":[" + blas + "],\"settings\":" + settings() + "}";
        if (text.size() >= capacity)
            return static_cast<int>(CUDAL2_NO_MEMORY);
        memcpy(out, text.c_str(), text.size() + 1);
        return static_cast<int>(CUDAL2_OK);
    });
}

extern struct cudal2_contender contenders[];

/* Whether this libtorch multiplies the type on the CPU, found out by doing it: older ones do not know half there. */
bool multiplies_on_cpu(enum cudal2_dtype dtype)
{
    char ignored[CUDAL2_WHY];
    return guarded(ignored, [&] {
               c10::InferenceMode inference;
               at::Tensor a = at::zeros({2, 2}, scalar_type(dtype)), c = at::empty_like(a);
               at::matmul_out(c, a, a);
               return static_cast<int>(CUDAL2_OK);
           }) == CUDAL2_OK;
}

int torch_probe(uint32_t device_bits, int, char *why) noexcept
{
    return guarded(why, [&] {
        device_bits_in_use = device_bits;
        for (enum cudal2_dtype dtype : {CUDAL2_F16, CUDAL2_BF16})
            if ((device_bits & CUDAL2_ON_CUDA) == 0 && !multiplies_on_cpu(dtype))
                contenders[0].dtypes &= ~CUDAL2_BIT(dtype);
        if ((contenders[0].dtypes & CUDAL2_BIT(CUDAL2_F16)) == 0)
            contenders[0].accumulates = CUDAL2_BIT(CUDAL2_ACC_F32); /* the other one is for f16 alone */
        if ((device_bits & CUDAL2_ON_CUDA) == 0)
            return static_cast<int>(CUDAL2_OK);
#ifdef TORCH_HAS_CUDA
        if (at::globalContext().hasCUDA())
            return static_cast<int>(CUDAL2_OK);
        snprintf(why, CUDAL2_WHY, "this libtorch finds no CUDA at run time");
#else
        snprintf(why, CUDAL2_WHY, "built with a libtorch for the CPU only (LIBTORCH=<one with CUDA> make)");
#endif
        return static_cast<int>(CUDAL2_UNSUPPORTED);
    });
}

struct cudal2_contender make_contender() noexcept
{
    struct cudal2_contender c = {};
    c.name = "torch.matmul";
    c.devices = CUDAL2_ON_CPU | CUDAL2_ON_CUDA;
    c.dtypes = CUDAL2_BIT(CUDAL2_F16) | CUDAL2_BIT(CUDAL2_BF16) | CUDAL2_BIT(CUDAL2_F32);
    c.accumulates = CUDAL2_BIT(CUDAL2_ACC_F16) | CUDAL2_BIT(CUDAL2_ACC_F32);
    c.layout = CUDAL2_NN;
    c.flags = CUDAL2_ACC_WIDER | CUDAL2_STRIDES | CUDAL2_SCALES;
    c.setup = torch_setup;
    c.launch = torch_launch;
    c.teardown = torch_teardown;
    c.describe = torch_describe;
    return c;
}

struct cudal2_contender make_full() noexcept
{
    struct cudal2_contender c = make_contender();
    c.name = "torch.matmul-full";
    c.devices = CUDAL2_ON_CUDA;
    c.dtypes = CUDAL2_BIT(CUDAL2_F16) | CUDAL2_BIT(CUDAL2_BF16);
    c.setup = torch_full_setup;
    return c;
}

/* Not const: probe leaves what this library does here. */
struct cudal2_contender contenders[] = {make_contender(), make_full()};
const struct cudal2_plugin plugin = {"torch", contenders, 2, torch_versions, torch_probe};

} // namespace

extern "C" const uint32_t cudal2_plugin_abi = CUDAL2_ABI;

extern "C" const struct cudal2_plugin *cudal2_plugin(void)
{
    return &plugin;
}
