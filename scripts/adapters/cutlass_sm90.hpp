/*
 * cutlass_sm90.hpp - CUTLASS's collective builder for Hopper, as one type of few parameters: 16-bit matrices, A and C
 * row-major, fp32 sums. Relies on cutlass_plugin.hpp; included by the sources that cutlass_heuristic.py writes.
 */
#pragma once

#include "cutlass_plugin.hpp"

#include "cutlass/epilogue/collective/collective_builder.hpp"
#include "cutlass/gemm/collective/collective_builder.hpp"
#include "cutlass/gemm/kernel/gemm_universal.hpp"

namespace cudal2
{

struct Cooperative {
    using Kernel = cutlass::gemm::KernelTmaWarpSpecializedCooperative;
    using Store = cutlass::epilogue::TmaWarpSpecializedCooperative;
};
struct Pingpong {
    using Kernel = cutlass::gemm::KernelTmaWarpSpecializedPingpong;
    using Store = cutlass::epilogue::TmaWarpSpecialized;
};

/* Tile and Cluster: cute::Shape; Schedule: one of the above; Scheduler: how tiles are dealt out. */
template <typename Element, typename LayoutB, typename Tile, typename Cluster, typename Schedule, typename Scheduler>
struct Sm90 {
    using Rows = cutlass::layout::RowMajor;
    static constexpr int aligned = 8; /* elements: 16 bytes */
    using Epilogue = typename cutlass::epilogue::collective::CollectiveBuilder<
        cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Tile, Cluster,
        cutlass::epilogue::collective::EpilogueTileAuto, float, float, Element, Rows, aligned, Element, Rows, aligned,
        typename Schedule::Store>::CollectiveOp;
    using Stages =
        cutlass::gemm::collective::StageCountAutoCarveout<static_cast<int>(sizeof(typename Epilogue::SharedStorage))>;
    using Mainloop = typename cutlass::gemm::collective::CollectiveBuilder<
        cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Element, Rows, aligned, Element, LayoutB, aligned, float,
        Tile, Cluster, Stages, typename Schedule::Kernel>::CollectiveOp;
    using Gemm = cutlass::gemm::device::GemmUniversalAdapter<
        cutlass::gemm::kernel::GemmUniversal<cute::Shape<int, int, int, int>, Mainloop, Epilogue, Scheduler>>;
};

} // namespace cudal2
