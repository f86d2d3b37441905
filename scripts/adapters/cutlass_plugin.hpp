/*
 * cutlass_plugin.hpp - a plugin of any CUTLASS 3.x or 4.x GemmUniversalAdapter: its hooks, and a list of variants that
 * the harness races. Include it, name your types, and end with CUDAL2_PLUGIN (examples/cutlass/gemm.cu). Relies on
 * CUTLASS's headers; built by scripts/adapters/cutlass.py.
 */
#pragma once

#include "plugin_variants.hpp"

#include "cutlass/cutlass.h"
#include "cutlass/gemm/device/gemm_universal_adapter.h"
#include "cutlass/kernel_hardware_info.h"
#include "cutlass/util/packed_stride.hpp"

#include <cstdio>
#include <vector>

namespace cudal2
{

inline int fail(char *why, const char *call, cutlass::Status status)
{
    std::snprintf(why, CUDAL2_WHY, "%s: %s", call, cutlassGetStatusString(status));
    return status == cutlass::Status::kErrorNotSupported || status == cutlass::Status::kErrorMisalignedOperand
               ? CUDAL2_UNSUPPORTED
               : CUDAL2_LIBRARY_ERROR;
}

/* Only stream-K's scheduler splits K. */
template <typename Scheduler> auto split(Scheduler &s, int n, int) -> decltype(s.splits = n, void())
{
    s.splits = n;
}
template <typename Scheduler> void split(Scheduler &, int, long)
{
}

template <typename Scheduler> void deal_out(Scheduler &s, const Deal &deal)
{
    using Order = decltype(s.raster_order);
    s.max_swizzle_size = deal.swizzle;
    s.raster_order = deal.raster == 'm' ? Order::AlongM : deal.raster == 'n' ? Order::AlongN : Order::Heuristic;
    split(s, deal.splits, 0);
}

template <typename Gemm>
typename Gemm::Arguments arguments(const cudal2_setup *setup, const Deal &deal, const cudal2_operands &o)
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
    deal_out(a.scheduler, deal);
    return a;
}

template <typename Gemm> struct StateOf final : State {
    std::vector<Gemm> gemms; /* one for each set: its tensor maps are made once */
    std::vector<typename Gemm::Arguments> all;
    void *workspace = nullptr;
    cudaStream_t stream = nullptr;

    int prepare(const cudal2_setup *setup, const Deal &deal, char *why)
    {
        workspace = setup->workspace;
        stream = static_cast<cudaStream_t>(setup->stream);
        gemms.resize(setup->n_sets);
        for (size_t i = 0; i < setup->n_sets; i++) {
            all.push_back(arguments<Gemm>(setup, deal, setup->sets[i]));
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

template <typename Gemm> bool takes(const cudal2_setup *setup, const Deal &deal)
{
    const auto a = arguments<Gemm>(setup, deal, setup->sets[0]);
    return Gemm::can_implement(a) == cutlass::Status::kSuccess && Gemm::get_workspace_size(a) <= setup->workspace_bytes;
}

template <typename Gemm> int set_up(const cudal2_setup *setup, const Deal &deal, void **state, char *why)
{
    auto *s = new StateOf<Gemm>;
    const int status = s->prepare(setup, deal, why);
    if (status == CUDAL2_OK)
        *state = s;
    else
        delete s;
    return status;
}

template <typename Gemm> constexpr Ops ops = {takes<Gemm>, set_up<Gemm>};

} // namespace cudal2

/* For any problem that the kernel takes. */
#define CUDAL2_VARIANT(key, ...)                                                                                       \
    {                                                                                                                  \
        key, &::cudal2::ops<__VA_ARGS__>, {}, 0, 0, 0                                                                  \
    }
