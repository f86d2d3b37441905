#!/usr/bin/env python3
"""tilelang.py KERNEL.py:function [--out DIR] [--arch sm_90a] [--layouts nn,tn] [--dtype f16]: compiles a
TileLang kernel ahead of time, without a GPU, to cubins with manifests; each configuration is one of them, and
a kernel set lists all.

The function f(M, N, K, tn, dtype, ...) makes a prim_func of A, B and C, for symbols M, N and K; it may stand
under @tilelang.jit. A parameter `sums` is the type of sums (--accumulate). What else it takes comes from
cudal2["configs"] of its file, a list of dictionaries; "constraints" may stand there too. Needs nvcc for what
TileLang writes, which is CUDA. docs/any-kernel.md."""
import inspect
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from common import ALIGNED, accumulate_argument, check_sums, enter, fail, find_nvcc, layout_arguments, load, manifest, word, write_json, write_set

TOOL = "tilelang"
TYPES = {"f16": "float16", "bf16": "bfloat16"}
SUMS = {"f16": "float16", "f32": "float32"}
SWIZZLES, FETCHES = [0, 32, 64, 128], [0, 64, 128, 256]  # by CUtensorMapSwizzle, CUtensorMapL2promotion
SIZES = ["M", "N", "K"]


class Refused(Exception):
    """What a manifest cannot say of the kernel."""


def expression(value):
    """TVM's, as a manifest has them."""
    text = re.sub(r'T\.Cast\("int\d+", (\w+)\)', r"\1", str(value)).replace("//", "/")
    return int(text) if text.isdigit() else re.sub(r"T\.int\d+\((\d+)\)", r"\1", text)


def tensor_map(words, matrices):
    """What the harness is to make of the arguments of cuTensorMapEncodeTiled."""
    kind, _, _, rank, address, *rest = words
    which = matrices.get(str(address))
    if "create_tiled" not in str(kind) or int(rank) != 2 or not which:
        raise Refused(f"a tensor map of {address} has rank {rank}, and a manifest's have 2" if which else f"a tensor map is of {address}")
    rows, columns = which[1:]
    sizes, row_stride, box = [expression(x) for x in rest[:2]], expression(rest[3]), [int(x) for x in rest[4:6]]
    steps, (interleave, swizzle, fetch, fill) = [int(x) for x in rest[6:8]], (int(x) for x in rest[8:12])
    if sizes != [columns, rows] or row_stride != f"{columns} * 2" or steps != [1, 1] or interleave or fill:
        raise Refused(f"its map of {address} has sizes {sizes} and a stride of {row_stride}: a manifest's maps are of a whole matrix")
    return {"tensor_map": which[0], "box": box, "swizzle": SWIZZLES[swizzle], "fetch": FETCHES[fetch]}


def matrices_of(function):
    """{name in the code: (a, b or c, rows, columns)} of the prim_func's parameters."""
    buffers = [function.buffer_map[p] for p in function.params if p in function.buffer_map]
    if len(buffers) != 3 or any(len(b.shape) != 2 for b in buffers):
        raise Refused(f"it takes {len(buffers)} tensors: A, B and C of two dimensions are expected")
    return {b.data.name: (which, *map(str, b.shape)) for which, b in zip("abc", buffers)}


def argument(name, matrices, maps):
    if name in maps:
        return tensor_map(maps[name], matrices)
    if name in matrices:
        return matrices[name][0]
    if name in SIZES:
        return {"int32": name}
    raise Refused(f'the kernel takes "{name}", which is no matrix and no size')


def describe(host, device, matrices):
    """The launch, as TileLang's own host code has it: (entry, members of a manifest)."""
    if len(device.functions) != 1 or len(host.functions) != 1:
        raise Refused(f"it launches {len(device.functions)} kernels, and a manifest has one")
    (entry, kernel), = ((g.name_hint, f) for g, f in device.functions.items())
    (_, caller), = host.functions.items()
    if kernel.attrs.get("use_cooperative_groups"):
        raise Refused("it wants a cooperative launch, which graphs of launches cannot give")
    maps = {str(k.name): list(v) for k, v in caller.attrs.get("tma_descriptor_args", {}).items()}
    extents = {str(k): v for k, v in kernel.attrs["thread_extent"].items()}
    block, grid = ([expression(extents.get(f"{what}.{axis}", 1)) for axis in "xyz"] for what in ("threadIdx", "blockIdx"))
    return entry, {"grid": grid, "block": block, "cluster": [int(x) for x in kernel.attrs.get("cluster_dims", [1, 1, 1])],
                   "shared_bytes": int(kernel.attrs.get("dyn_shared_memory_buf", 0)), "early": int("has_cuda_pdl_sync" in kernel.attrs),
                   "arguments": [argument(p.name, matrices, maps) for p in kernel.params]}


def compile_source(text, options):
    from tilelang.env import CUTLASS_INCLUDE_DIR, TILELANG_TEMPLATE_PATH
    nvcc, _ = find_nvcc(TOOL)
    arch = options.arch.removeprefix("sm_")
    with tempfile.TemporaryDirectory() as work:
        source, cubin = Path(work) / "kernel.cu", Path(work) / "kernel.cubin"
        source.write_text(text)
        done = subprocess.run([nvcc, "-cubin", "-O3", "-std=c++20", "-gencode", f"arch=compute_{arch},code=sm_{arch}", "-I", TILELANG_TEMPLATE_PATH,
                               "-I", CUTLASS_INCLUDE_DIR, source, "-o", cubin], capture_output=True, text=True)
        if done.returncode:
            raise Refused(next((line for line in done.stderr.splitlines() if "error" in line), "nvcc fails"))
        return cubin.read_bytes()


def compile_one(function, config, layout, options):
    import tilelang
    import tilelang.language as T
    from tilelang import tvm
    make = getattr(function, "get_tir", function)  # under @tilelang.jit
    target = tvm.target.Target({"kind": "cuda", "arch": options.arch})
    with tvm.transform.PassContext(opt_level=3, config=getattr(function, "pass_configs", None) or {}), target:
        sums = {"sums": SUMS[options.accumulate]} if "sums" in inspect.signature(make).parameters else {}
        made = make(*(T.dynamic(size) for size in SIZES), layout == "tn", TYPES[options.dtype], **sums, **config)
        lowered = tilelang.lower(made, target=target)
    entry, launch = describe(lowered.host_mod, lowered.device_mod, matrices_of(made))
    return compile_source(lowered.kernel_source, options), entry, launch


def main():
    options = layout_arguments(TOOL, __doc__, "sm_90a", accumulate_argument)
    check_sums(TOOL, options)
    enter(TOOL, "tilelang")
    with tempfile.TemporaryDirectory() as cache:
        os.environ["TILELANG_CACHE_DIR"] = cache
        import tilelang
        module, function = load(TOOL, options.kernel)
        told = getattr(module, "cudal2", {})
        name = word(options.name or f"{TOOL}-{options.kernel.rpartition(':')[2]}")
        out, kernels = options.out or Path(name), []
        out.mkdir(parents=True, exist_ok=True)
        cc = int(re.sub(r"\D", "", options.arch))
        for layout in options.layouts.split(","):
            for i, config in enumerate(told.get("configs", [{}])):
                kernel = word(f"{name}-{layout}-{i}")
                try:
                    cubin, entry, launch = compile_one(function, config, layout, options)
                except Exception as e:  # the compiler's own; the others go on
                    why = str(e) if isinstance(e, Refused) else f"{type(e).__name__}: {(str(e).strip().splitlines() or [''])[-1]}"
                    print(f"{kernel}: left out: {why}", file=sys.stderr)
                    continue
                text = f"TileLang {tilelang.__version__}: " + ", ".join(f"{k}={v}" for k, v in config.items())
                (out / f"{kernel}.cubin").write_bytes(cubin)
                write_json(out / f"{kernel}.json",
                           manifest(kernel, f"{kernel}.cubin", entry, description=text, arch_min=cc, arch_max=cc, dtypes=[options.dtype],
                                    accumulate=[options.accumulate], layouts=[layout], problem_constraints=[ALIGNED, *told.get("constraints", [])],
                                    **launch))
                kernels.append((kernel, text))
        write_set(TOOL, out, name, kernels)


if __name__ == "__main__":
    main()
