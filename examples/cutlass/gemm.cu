/*
 * gemm.cu - fp16 with fp32 sums by CUTLASS's collective builder for Hopper, in two tiles and both layouts of B, as a plugin that
 * scripts/adapters/cutlass.py builds. Change the list at the end, or the types, to race your own.
 */
#include "cutlass_plugin.hpp"

#include "cutlass/epilogue/collective/collective_builder.hpp"
#include "cutlass/gemm/collective/collective_builder.hpp"
#include "cutlass/gemm/kernel/gemm_universal.hpp"

using Half = cutlass::half_t;
using Rows = cutlass::layout::RowMajor;
using Columns = cutlass::layout::ColumnMajor;
using Cooperative = cutlass::gemm::KernelTmaWarpSpecializedCooperative;
using CooperativeStore = cutlass::epilogue::TmaWarpSpecializedCooperative;
using Pingpong = cutlass::gemm::KernelTmaWarpSpecializedPingpong;
using PingpongStore = cutlass::epilogue::TmaWarpSpecialized;
using Wide = cute::Shape<cute::_128, cute::_256, cute::_64>;
using Small = cute::Shape<cute::_64, cute::_128, cute::_64>;

template <typename LayoutB, typename Tile, typename Cluster, typename Schedule, typename Store> struct Kernel {
    static constexpr int aligned = 8; /* elements: 16 bytes */
    using Epilogue = typename cutlass::epilogue::collective::CollectiveBuilder<
        cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Tile, Cluster, cutlass::epilogue::collective::EpilogueTileAuto,
        float, float, Half, Rows, aligned, Half, Rows, aligned, Store>::CollectiveOp;
    using Mainloop = typename cutlass::gemm::collective::CollectiveBuilder<
        cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Half, Rows, aligned, Half, LayoutB, aligned, float, Tile, Cluster,
        cutlass::gemm::collective::StageCountAutoCarveout<static_cast<int>(sizeof(typename Epilogue::SharedStorage))>,
        Schedule>::CollectiveOp;
    using Gemm = cutlass::gemm::device::GemmUniversalAdapter<
        cutlass::gemm::kernel::GemmUniversal<cute::Shape<int, int, int, int>, Mainloop, Epilogue>>;
};

using Pair = cute::Shape<cute::_2, cute::_1, cute::_1>;
using Single = cute::Shape<cute::_1, cute::_1, cute::_1>;

/* The harness races the variants of a layout on each shape. */
static constexpr cudal2::Variant nn[] = {
    CUDAL2_VARIANT("128x256x64-cooperative-2x1", Kernel<Rows, Wide, Pair, Cooperative, CooperativeStore>::Gemm),
    CUDAL2_VARIANT("64x128x64-pingpong-1x1", Kernel<Rows, Small, Single, Pingpong, PingpongStore>::Gemm),
};
static constexpr cudal2::Variant tn[] = {
    CUDAL2_VARIANT("128x256x64-cooperative-2x1", Kernel<Columns, Wide, Pair, Cooperative, CooperativeStore>::Gemm),
    CUDAL2_VARIANT("64x128x64-pingpong-1x1", Kernel<Columns, Small, Single, Pingpong, PingpongStore>::Gemm),
};

CUDAL2_PLUGIN("cutlass-example", nn, tn)
