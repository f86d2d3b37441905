"""dense.py: NVIDIA's dense GEMM for Hopper in the CuTe DSL (TMA, wgmma), with its tiles as configurations, as
scripts/adapters/cute.py takes it. Its code is read from a checkout of github.com/NVIDIA/cutlass, which
CUTLASS names; nothing of it is here. B is row-major K x N (layout nn) or N rows of K elements (tn)."""
import os
import sys
import types
from pathlib import Path

import cutlass
import cutlass.cute as cute

FOUND = sorted(Path(os.environ.get("CUTLASS", "cutlass")).glob("examples/python/CuTeDSL/**/hopper/**/dense_gemm.py"))
if not FOUND:
    sys.exit("dense.py: CUTLASS names no checkout of github.com/NVIDIA/cutlass with examples/python/CuTeDSL")
for absent in ("torch", "cutlass.torch"):  # which only its own test of itself needs
    sys.modules.setdefault(absent, types.ModuleType(absent))
sys.path.insert(0, str(FOUND[0].parent))
import dense_gemm  # noqa: E402


@cute.jit
def gemm(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor, tn: cutlass.Constexpr, tile_m: cutlass.Constexpr, tile_n: cutlass.Constexpr):
    def batch(t, turned):  # of one matrix: N x K of a row-major B, too
        rows, columns = (1, 0) if turned else (0, 1)
        return cute.make_tensor(t.iterator, cute.make_layout((t.shape[rows], t.shape[columns], 1),
                                                             stride=(t.stride[rows], t.stride[columns], 0)))

    kernel = dense_gemm.HopperWgmmaGemmKernel(cutlass.Float32, (tile_m, tile_n), (1, 1))
    kernel(batch(a, False), batch(b, not tn), batch(c, False), [])  # no stream: the harness launches


def launch(layout, tile_m, tile_n):
    """As the kernel's own host code has it: a map of each matrix, then the sizes that it counts tiles by."""
    two = tile_m > 64 and tile_n > 128  # warpgroups

    def operand(which, box, swizzle, rows, columns):
        return [{"tensor_map": which, "box": box, "swizzle": swizzle}, {"struct": [{"int32": rows}, {"int32": columns}]}]

    return {"grid": [f"ceildiv(M, {tile_m})", f"ceildiv(N, {tile_n})", 1], "block": [256 if two else 128, 1, 1], "shared_bytes": 227 * 1024,
            "arguments": [*operand("a", [64, tile_m], 128, "M", "K"), *operand("b", [64, tile_n if layout == "tn" else 64], 128, "N", "K"),
                          *operand("c", [32, 128 if two else 64], 64, "M", "N"), {"int8": 0}]}


cudal2 = {"launch": launch, "configs": [{"tile_m": m, "tile_n": n} for m, n in [(128, 256), (128, 128), (128, 64), (64, 256), (64, 128), (64, 64)]]}
