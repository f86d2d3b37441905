/*
 * cutlass_plugin.hpp - a plugin of any CUTLASS 3.x or 4.x GemmUniversalAdapter: its hooks, and a list of variants that
 * the harness races. Include it, name your types, and end with CUDAL2_PLUGIN (examples/cutlass/gemm.cu). Relies on
 * CUTLASS's headers; built by scripts/adapters/cutlass.py.
 */
#pragma once

#include "abi/contender.h"

#include "cutlass/cutlass.h"
#include "cutlass/gemm/device/gemm_universal_adapter.h"
#include "cutlass/kernel_hardware_info.h"
#include "cutlass/util/packed_stride.hpp"

#include <cstdio>
#include <cstring>
#include <new>
#include <vector>

namespace cudal2
{

/* One way to do a problem. The hooks are those of abi/contender.h. */
struct Variant {
    const char *key;
    bool (*takes)(const cudal2_setup *setup);
    int (*setup)(const cudal2_setup *setup, void **state, char *why);
};

struct State {
    const char *key = nullptr;
    size_t workspace_bytes = 0;
    virtual ~State() = default;
    virtual int launch(size_t set, char *why) = 0;
};

inline int fail(char *why, const char *call, cutlass::Status status)
{
    std::snprintf(why, CUDAL2_WHY, "%s: %s", call, cutlassGetStatusString(status));
    return status == cutlass::Status::kErrorNotSupported || status == cutlass::Status::kErrorMisalignedOperand
               ? CUDAL2_UNSUPPORTED
               : CUDAL2_LIBRARY_ERROR;
}

template <typename Gemm> typename Gemm::Arguments arguments(const cudal2_setup *setup, const cudal2_operands &o)
{
    using Kernel = typename Gemm::GemmKernel;
    const int m = static_cast<int>(setup->problem.m), n = static_cast<int>(setup->problem.n),
              k = static_cast<int>(setup->problem.k);
    cutlass::KernelHardwareInfo hardware;
    hardware.device_id = setup->device_ordinal;
    hardware.sm_count = cutlass::KernelHardwareInfo::query_device_multiprocessor_count(setup->device_ordinal);
    const auto c = cutlass::make_cute_packed_stride(typename Kernel::StrideC{}, cute::make_shape(m, n, 1));
    const auto d = cutlass::make_cute_packed_stride(typename Kernel::StrideD{}, cute::make_shape(m, n, 1));
    typename Gemm::Arguments a{
        cutlass::gemm::GemmUniversalMode::kGemm,
        {m, n, k, 1},
        {static_cast<const typename Gemm::ElementA *>(o.a),
         cutlass::make_cute_packed_stride(typename Kernel::StrideA{}, cute::make_shape(m, k, 1)),
         static_cast<const typename Gemm::ElementB *>(o.b),
         cutlass::make_cute_packed_stride(typename Kernel::StrideB{}, cute::make_shape(n, k, 1))},
        {{}, static_cast<const typename Gemm::ElementC *>(o.c), c, static_cast<typename Gemm::ElementD *>(o.c), d},
        hardware};
    a.epilogue.thread.alpha = 1.0f;
    a.epilogue.thread.beta = 0.0f;
    return a;
}

template <typename Gemm> struct StateOf final : State {
    std::vector<Gemm> gemms; /* one for each set: its tensor maps are made once */
    std::vector<typename Gemm::Arguments> all;
    void *workspace = nullptr;
    cudaStream_t stream = nullptr;

    int prepare(const cudal2_setup *setup, char *why)
    {
        workspace = setup->workspace;
        stream = static_cast<cudaStream_t>(setup->stream);
        gemms.resize(setup->n_sets);
        for (size_t i = 0; i < setup->n_sets; i++) {
            all.push_back(arguments<Gemm>(setup, setup->sets[i]));
            if (auto s = Gemm::can_implement(all[i]); s != cutlass::Status::kSuccess)
                return fail(why, "can_implement", s);
            workspace_bytes = Gemm::get_workspace_size(all[i]);
            if (workspace_bytes > setup->workspace_bytes) {
                std::snprintf(why, CUDAL2_WHY, "needs a workspace of %zu bytes, the run gives %zu", workspace_bytes,
                              setup->workspace_bytes);
                return CUDAL2_UNSUPPORTED;
            }
            if (auto s = gemms[i].initialize(all[i], workspace, stream); s != cutlass::Status::kSuccess)
                return fail(why, "initialize", s);
        }
        return CUDAL2_OK;
    }

    /* What lies in the workspace does not survive from one launch to the next: a kernel that has one begins anew. */
    int launch(size_t set, char *why) override
    {
        auto s = workspace_bytes > 0 ? gemms[set].initialize(all[set], workspace, stream) : cutlass::Status::kSuccess;
        if (s == cutlass::Status::kSuccess)
            s = gemms[set].run(stream);
        return s == cutlass::Status::kSuccess ? CUDAL2_OK : fail(why, "run", s);
    }
};

template <typename Gemm> bool takes(const cudal2_setup *setup)
{
    const auto a = arguments<Gemm>(setup, setup->sets[0]);
    return Gemm::can_implement(a) == cutlass::Status::kSuccess && Gemm::get_workspace_size(a) <= setup->workspace_bytes;
}

template <typename Gemm> int set_up(const cudal2_setup *setup, void **state, char *why)
{
    auto *s = new StateOf<Gemm>;
    const int status = s->prepare(setup, why);
    if (status == CUDAL2_OK)
        *state = s;
    else
        delete s;
    return status;
}

/* No exception leaves a hook. */
template <typename Call> int guarded(char *why, const Call &call) noexcept
{
    try {
        return call();
    } catch (const std::exception &e) {
        std::snprintf(why, CUDAL2_WHY, "%.200s", e.what());
    } catch (...) {
        std::snprintf(why, CUDAL2_WHY, "it throws what is no std::exception");
    }
    return CUDAL2_LIBRARY_ERROR;
}

template <const auto &variants>
int list(const cudal2_setup *setup, cudal2_variant *out, size_t capacity, char *why) noexcept
{
    return guarded(why, [&] {
        size_t n = 0;
        for (const Variant &v : variants)
            if (n < capacity && v.takes(setup))
                std::snprintf(out[n++].key, sizeof out->key, "%s", v.key);
        if (n == 0)
            std::snprintf(why, CUDAL2_WHY, "CUTLASS can implement none of the variants for this problem");
        return n > 0 ? static_cast<int>(n) : -CUDAL2_UNSUPPORTED;
    });
}

template <const auto &variants> int setup(const cudal2_setup *setup, void **state, char *why) noexcept
{
    return guarded(why, [&] {
        int status = CUDAL2_BAD_VARIANT;
        std::snprintf(why, CUDAL2_WHY, "no variant \"%.100s\"", setup->variant ? setup->variant : "");
        for (const Variant &v : variants) {
            if (setup->variant && std::strcmp(setup->variant, v.key) != 0)
                continue;
            status = v.setup(setup, state, why);
            if (status == CUDAL2_OK)
                static_cast<State *>(*state)->key = v.key;
            if (status != CUDAL2_UNSUPPORTED || setup->variant)
                return status;
        }
        return status;
    });
}

inline int launch(void *state, size_t set, char *why) noexcept
{
    return guarded(why, [&] { return static_cast<State *>(state)->launch(set, why); });
}

inline void teardown(void *state) noexcept
{
    delete static_cast<State *>(state);
}

inline int describe(void *state, char *out, size_t capacity) noexcept
{
    const auto *s = static_cast<State *>(state);
    const int n = std::snprintf(out, capacity, "{\"accumulates\":\"f32\",\"variant\":\"%s\",\"workspace_bytes\":%zu}",
                                s->key, s->workspace_bytes);
    return n > 0 && static_cast<size_t>(n) < capacity ? CUDAL2_OK : CUDAL2_LIBRARY_ERROR;
}

template <const auto &variants> constexpr cudal2_contender contender(const char *name, cudal2_layout layout, int cc)
{
    cudal2_contender c{};
    c.name = name;
    c.devices = CUDAL2_ON_CUDA;
    c.dtypes = CUDAL2_BIT(CUDAL2_F16);
    c.accumulates = CUDAL2_BIT(CUDAL2_ACC_F32);
    c.layout = layout;
    c.min_cc = c.max_cc = cc;
    c.list_variants = list<variants>;
    c.setup = setup<variants>;
    c.launch = launch;
    c.teardown = teardown;
    c.describe = describe;
    return c;
}

} // namespace cudal2

#define CUDAL2_VARIANT(key, ...)                                                                                       \
    {                                                                                                                  \
        key, ::cudal2::takes<__VA_ARGS__>, ::cudal2::set_up<__VA_ARGS__>                                               \
    }

/* `nn` and `tn`: static arrays of Variant. CUDAL2_CC is the architecture that cutlass.py builds for. */
#define CUDAL2_PLUGIN(family, nn, tn)                                                                                  \
    static const cudal2_contender cudal2_contenders[] = {::cudal2::contender<nn>(family "-nn", CUDAL2_NN, CUDAL2_CC),  \
                                                         ::cudal2::contender<tn>(family "-tn", CUDAL2_TN, CUDAL2_CC)}; \
    extern "C" {                                                                                                       \
    const uint32_t cudal2_plugin_abi = CUDAL2_ABI;                                                                     \
    const struct cudal2_plugin *cudal2_plugin(void)                                                                    \
    {                                                                                                                  \
        static const struct cudal2_plugin plugin = {family, cudal2_contenders, 2, nullptr, nullptr};                   \
        return &plugin;                                                                                                \
    }                                                                                                                  \
    }
