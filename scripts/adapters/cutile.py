#!/usr/bin/env python3
"""cutile.py KERNEL.py:function [--out DIR] [--arch sm_90] [--layouts nn,tn] [--dtype f16]: compiles a cuTile
kernel (cuda-tile) without a GPU, to a cubin with a manifest for each layout, and a kernel set that lists
them.

The function is a @ct.kernel f(a, b, c, tn). The file says the launch in a dictionary `cudal2`: "grid", and
"constraints" where there are any; the block is the compiler's. docs/any-kernel.md."""
import io
import os
import sys
from pathlib import Path

from common import enter, launch_of, layout_arguments, load_told, write_layouts

TOOL = "cutile"
TYPES = {"f16": "float16", "bf16": "bfloat16"}


def array(which, rows, columns):
    """An array as calling convention cutile_python_v1 hands it over: address, sizes, strides."""
    return [which, {"int32": rows}, {"int32": columns}, {"int32": columns}, {"int32": 1}]


def compile_one(function, entry, layout, options):
    import cuda.tile as ct
    import cuda.tile.compilation as compilation
    matrix = compilation.ArrayConstraint(
        getattr(ct, TYPES[options.dtype]), 2, index_dtype=ct.int32, stride_lower_bound_incl=0, alias_groups=(),
        may_alias_internally=False, stride_constant=(None, 1), stride_divisible_by=(8, 1), shape_divisible_by=(1, 8),
        base_addr_divisible_by=256)
    signature = compilation.KernelSignature([matrix, matrix, matrix, layout == "tn"],
                                            compilation.CallingConvention.cutile_python_v1(), entry)
    out = io.BytesIO()
    compilation.export_kernel(function, [signature], out, gpu_code=options.arch, output_format="cubin")
    return out.getvalue()


def main():
    options = layout_arguments(TOOL, __doc__, "sm_90")
    enter(TOOL, "cuda.tile")
    os.environ["PATH"] = os.pathsep.join([*map(str, Path(sys.prefix).glob("lib/*/site-packages/nvidia/*/bin")), os.environ["PATH"]])
    import cuda.tile as ct
    function, told = load_told(TOOL, options, ("grid",))
    entry = options.kernel.rpartition(":")[2]

    def compiled(layout, b, *_):
        cubin = compile_one(function, entry, layout, options)
        block, cluster = launch_of(cubin, entry)
        return cubin, entry, {"block": block or [128, 1, 1], "cluster": cluster or [1, 1, 1],
                              "arguments": array("a", "M", "K") + array("b", *b) + array("c", "M", "N")}

    write_layouts(TOOL, options, told, f"cuTile {ct.__version__}", compiled)


if __name__ == "__main__":
    main()
