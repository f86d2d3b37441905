#!/usr/bin/env python3
"""cutile.py KERNEL.py:function [--out DIR] [--arch sm_90] [--layouts nn,tn] [--dtype f16]: compiles a cuTile kernel (cuda-tile)
without a GPU, to a cubin with a manifest for each layout, and a kernel set that lists them.

The function is a @ct.kernel f(a, b, c, tn). The file says the launch in a dictionary `cudal2`: "grid", and "constraints" where
there are any; the block is the compiler's. docs/any-kernel.md."""
import argparse
import io
import os
import re
import sys
from pathlib import Path

from common import enter, fail, launch_of, load, manifest, word, write_json, write_set

TOOL = "cutile"
TYPES = {"f16": "float16", "bf16": "bfloat16"}


def arguments():
    p = argparse.ArgumentParser(prog="cutile.py", description=__doc__.split("\n\n")[0].split(": ", 1)[1])
    p.add_argument("kernel", help="KERNEL.py:function")
    p.add_argument("--out", type=Path, help="directory to write (default: the set's name)")
    p.add_argument("--name", help="of the set (default: cutile-FUNCTION)")
    p.add_argument("--arch", default="sm_90")
    p.add_argument("--layouts", default="nn,tn", help="default: nn,tn")
    p.add_argument("--dtype", default="f16", choices=TYPES)
    return p.parse_args()


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
    options = arguments()
    enter(TOOL, "cuda.tile")
    os.environ["PATH"] = os.pathsep.join([*map(str, Path(sys.prefix).glob("lib/*/site-packages/nvidia/*/bin")), os.environ["PATH"]])
    import cuda.tile as ct
    module, function = load(TOOL, options.kernel)
    told = getattr(module, "cudal2", {})
    if "grid" not in told:
        fail(TOOL, 'the file needs cudal2 = {"grid": [...]}, the launch')
    entry = options.kernel.rpartition(":")[2]
    name = word(options.name or f"cutile-{entry}")
    out = options.out or Path(name)
    out.mkdir(parents=True, exist_ok=True)
    cc, kernels, text = int(re.sub(r"\D", "", options.arch)), [], f"cuTile {ct.__version__}"
    for layout in options.layouts.split(","):
        kernel, b = word(f"{name}-{layout}"), ("N", "K") if layout == "tn" else ("K", "N")
        cubin = compile_one(function, entry, layout, options)
        (out / f"{kernel}.cubin").write_bytes(cubin)
        block, cluster = launch_of(cubin, entry)
        rules = [{"rule": "N % 8 == 0 && K % 8 == 0", "why": "rows are compiled as multiples of 16 bytes"}]
        write_json(out / f"{kernel}.json",
                   manifest(kernel, f"{kernel}.cubin", entry, description=text, arch_min=cc, dtypes=[options.dtype],
                            accumulate=["f32"], layouts=[layout], problem_constraints=rules + told.get("constraints", []),
                            grid=told["grid"], block=block or [128, 1, 1], cluster=cluster or [1, 1, 1],
                            arguments=array("a", "M", "K") + array("b", *b) + array("c", "M", "N")))
        kernels.append((kernel, text))
    write_set(TOOL, out, name, kernels)


if __name__ == "__main__":
    main()
