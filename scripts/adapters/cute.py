#!/usr/bin/env python3
"""cute.py KERNEL.py:function [--out DIR] [--arch sm_90a] [--layouts nn,tn] [--dtype f16]: compiles a kernel of the CuTe DSL
(nvidia-cutlass-dsl) without a GPU, to a cubin with a manifest for each layout, and a kernel set that lists them.

The function is a @cute.jit f(a, b, c, tn), which launches one kernel. The launch is the harness's, so the file says it in a
dictionary `cudal2`: "grid", "block", and "cluster", "shared_bytes", "constraints" where there are any. What the kernel takes is
three tensors, unless "arguments" lists something else, as a manifest does. docs/any-kernel.md."""
import argparse
import os
import re
from pathlib import Path

from common import enter, fail, load, manifest, word, write_json, write_set

TOOL = "cute"
TYPES = {"f16": "Float16", "bf16": "BFloat16"}


def arguments():
    p = argparse.ArgumentParser(prog="cute.py", description=__doc__.split("\n\n")[0].split(": ", 1)[1])
    p.add_argument("kernel", help="KERNEL.py:function")
    p.add_argument("--out", type=Path, help="directory to write (default: the set's name)")
    p.add_argument("--name", help="of the set (default: cute-FUNCTION)")
    p.add_argument("--arch", default="sm_90a")
    p.add_argument("--layouts", default="nn,tn", help="default: nn,tn")
    p.add_argument("--dtype", default="f16", choices=TYPES)
    return p.parse_args()


def tensor(which, rows, columns):
    """How the DSL hands a row-major tensor over: its address, its sizes, the stride of its rows."""
    return {"struct": [which, {"int32": rows}, {"int32": columns}, {"int64": columns}]}


def compile_one(function, layout, options):
    import cutlass
    import cutlass.cute as cute
    from cutlass.cute.runtime import make_fake_compact_tensor
    element = getattr(cutlass, TYPES[options.dtype])

    def fake():
        sizes = cute.sym_int(), cute.sym_int(divisibility=8)
        return make_fake_compact_tensor(element, sizes, stride_order=(1, 0))

    made = cute.compile(function, fake(), fake(), fake(), layout == "tn", options="--keep-cubin")
    entries = list(made.kernel_info)
    if len(entries) != 1 or not made.__cubin__:
        fail(TOOL, f"the function launches {len(entries)} kernels, and one is expected")
    return made.__cubin__, entries[0]


def main():
    options = arguments()
    os.environ["CUTE_DSL_ARCH"] = options.arch
    enter(TOOL, "cutlass")
    import cutlass
    module, function = load(TOOL, options.kernel)
    told = getattr(module, "cudal2", {})
    if "grid" not in told or "block" not in told:
        fail(TOOL, 'the file needs cudal2 = {"grid": [...], "block": [...]}, the launch')
    name = word(options.name or f"cute-{options.kernel.rpartition(':')[2]}")
    out = options.out or Path(name)
    out.mkdir(parents=True, exist_ok=True)
    cc, kernels = int(re.sub(r"\D", "", options.arch)), []
    for layout in options.layouts.split(","):
        kernel, b = word(f"{name}-{layout}"), ("N", "K") if layout == "tn" else ("K", "N")
        cubin, entry = compile_one(function, layout, options)
        (out / f"{kernel}.cubin").write_bytes(cubin)
        rest = {k: told[k] for k in ("grid", "block", "cluster", "shared_bytes", "workspace_bytes") if k in told}
        rules = [{"rule": "N % 8 == 0 && K % 8 == 0", "why": "rows are compiled as multiples of 16 bytes"}]
        text = f"CuTe DSL {cutlass.__version__}"
        write_json(out / f"{kernel}.json",
                   manifest(kernel, f"{kernel}.cubin", entry, description=text, arch_min=cc, arch_max=cc, dtypes=[options.dtype],
                            accumulate=["f32"], layouts=[layout], problem_constraints=rules + told.get("constraints", []), **rest,
                            arguments=told.get("arguments") or [tensor("a", "M", "K"), tensor("b", *b), tensor("c", "M", "N")]))
        kernels.append((kernel, text))
    write_set(TOOL, out, name, kernels)


if __name__ == "__main__":
    main()
