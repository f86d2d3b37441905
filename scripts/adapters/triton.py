#!/usr/bin/env python3
"""triton.py KERNEL.py:function [--out DIR] [--arch sm_90a] [--layouts nn,tn] [--dtype f16]: compiles a Triton
kernel ahead of time, without a GPU, to cubins with manifests; each autotune configuration is one of them, and
a kernel set lists all.

Parameters are told by their names, as in Triton's tutorials: a_ptr b_ptr c_ptr (or a_desc ...: tensor
descriptors), M N K, stride_am stride_ak ... stride_cn, LAYOUT_TN, ACC_F32 (--accumulate). What that does not
tell stands in the file, in a dictionary `cudal2`: "grid" (needed), "boxes" of descriptors, "arguments",
"constants", "constraints", "workspace_bytes". docs/any-kernel.md."""
import argparse
import os
import re
import sys
from pathlib import Path

from common import accumulate_argument, check_sums, enter, fail, load, manifest, word, write_json, write_set

TOOL = "triton"
TYPES = {"f16": "fp16", "bf16": "bf16", "f32": "fp32"}
SWIZZLES = [0, 32, 64, 128]
STRIDES = {"am": ("K", "K"), "ak": (1, 1), "bk": ("N", 1), "bn": (1, "K"), "cm": ("N", "N"), "cn": (1, 1)}  # nn, tn


def arguments():
    p = argparse.ArgumentParser(prog="triton.py", description=__doc__.split("\n\n")[0].split(": ", 1)[1])
    p.add_argument("kernel", help="KERNEL.py:function")
    p.add_argument("--out", type=Path, help="directory to write (default: the set's name)")
    p.add_argument("--name", help="of the set (default: triton-FUNCTION)")
    p.add_argument("--arch", default="sm_90a", help="default: sm_90a")
    p.add_argument("--layouts", default="nn,tn", help="default: nn,tn")
    p.add_argument("--dtype", default="f16", choices=TYPES)
    accumulate_argument(p)
    p.add_argument("--variants", type=int, default=10**6, help="configurations at most, the first")
    p.add_argument("--no-hints", action="store_true", help="sizes need not be multiples of 16")
    return p.parse_args()


def operand(name):
    found = re.fullmatch(r"([abc])(_ptr|_desc)?", name, re.I)
    return found.group(1).lower() if found else None


class Parameter:
    """One parameter of the kernel: how Triton types it, and what the manifest gives for it."""

    def __init__(self, name, layout, options, told, constants):
        self.name, self.hint, self.constant = name, False, None
        tn = layout == "tn"
        stride = STRIDES.get(name[7:]) if name.startswith("stride_") else None
        if name in constants:
            self.constant, self.type = constants[name], "constexpr"
        elif name in told.get("arguments", {}):
            self.type, self.given = told["arguments"][name]
        elif name == "LAYOUT_TN":
            self.constant, self.type = int(tn), "constexpr"
        elif name == "ACC_F32":
            self.constant, self.type = int(options.accumulate == "f32"), "constexpr"
        elif operand(name) and name in told.get("boxes", {}):
            box = told["boxes"][name]
            box = box[layout] if isinstance(box, dict) else box
            sizes = [int(eval(str(e), {}, dict(constants))) for e in box]
            self.type, self.given = f"tensordesc<{TYPES[options.dtype]}{sizes}>", operand(name)
        elif operand(name):
            self.type, self.given, self.hint = f"*{TYPES[options.dtype]}", operand(name), True
        elif name in ("M", "N", "K"):
            self.type, self.given, self.hint = "i32", name.lower(), not options.no_hints
        elif stride and stride[tn] == 1:
            self.constant, self.type = 1, "constexpr"
        elif stride:
            self.type, self.given, self.hint = "i32", {"int32": stride[tn]}, not options.no_hints
        else:
            fail(TOOL, f'parameter "{name}" is none that is known: say in cudal2["arguments"] or cudal2["constants"] what it is')


def rows_and_columns(which, layout):
    return {"a": ("M", "K"), "b": ("N", "K") if layout == "tn" else ("K", "N"), "c": ("M", "N")}[which]


def expand(parameters, meta, layout):
    """What the kernel takes: a descriptor is a map, two sizes and two strides."""
    maps = iter(meta or [])
    for p in parameters:
        if p.constant is not None:
            continue
        if not p.type.startswith("tensordesc"):
            yield p.given
            continue
        m, (rows, columns) = next(maps), rows_and_columns(p.given, layout)
        yield {"tensor_map": p.given, "box": m["block_size"][::-1], "swizzle": SWIZZLES[m["swizzle"]], "fetch": 128}
        yield from ({"int32": rows}, {"int32": columns}, {"int64": columns}, {"int64": 1})


def scratch(metadata, kind, grid, before):
    """A hidden argument: (what the kernel gets, bytes of workspace, as an expression)."""
    size = getattr(metadata, f"{kind}_scratch_size", 0) * metadata.num_ctas
    if size == 0:
        return "null", before
    return {"workspace": before}, f"({before}) + {size}*" + "*".join(f"({g})" for g in grid)


def describe(made, parameters, told, layout, constants):
    meta = made.metadata
    if getattr(meta, "launch_cooperative_grid", False):
        fail(TOOL, "the kernel wants a cooperative launch, which graphs of launches cannot give")
    grid = told["grid"]
    threads = re.search(r"\.reqntid (\d+)", made.asm["ptx"])
    given = list(expand(parameters, getattr(meta, "tensordesc_meta", None), layout))
    bytes_needed = str(told.get("workspace_bytes", "0"))
    for kind in ("global", "profile"):
        argument, bytes_needed = scratch(meta, kind, grid, bytes_needed)
        given.append(argument)
    rules = [{"rule": f"{e} % 16 == 0", "why": "compiled for multiples of 16 (--no-hints)"}
             for e in sorted({p.given.upper() if isinstance(p.given, str) else p.given["int32"] for p in parameters
                              if p.constant is None and p.hint and p.type == "i32"})]
    terms = {k: int(v) for k, v in constants.items() if isinstance(v, (bool, int)) and k not in ("LAYOUT_TN", "ACC_F32")}
    return {"terms": terms, "problem_constraints": rules + told.get("constraints", []), "grid": grid,
            "block": [int(threads.group(1)) if threads else 32 * meta.num_warps, 1, 1],
            "cluster": [meta.num_ctas, 1, 1], "shared_bytes": meta.shared, "workspace_bytes": bytes_needed,
            "early": int(getattr(meta, "launch_pdl", False)), "arguments": given}


def compile_one(jit, config, layout, options, told):
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    constants = {**told.get("constants", {}), **(config.kwargs if config else {})}
    parameters = [Parameter(name, layout, options, told, constants) for name in jit.arg_names]
    source = ASTSource(fn=jit, constexprs={p.name: p.constant for p in parameters if p.constant is not None},
                       signature={p.name: p.type for p in parameters},
                       attrs={(i,): [["tt.divisibility", 16]] for i, p in enumerate(parameters) if p.hint})
    knobs = {k: getattr(config, k) for k in ("num_warps", "num_stages", "num_ctas", "maxnreg")
             if getattr(config, k, None) is not None}
    cc = int(re.sub(r"\D", "", options.arch))
    made = triton.compile(source, target=GPUTarget("cuda", cc, 32), options=knobs)
    text = ", ".join(f"{k}={v}" for k, v in {**constants, **knobs}.items())
    return made, describe(made, parameters, told, layout, constants), text


def main():
    options = arguments()
    check_sums(TOOL, options)
    enter(TOOL, "triton")
    os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")
    import triton
    module, function = load(TOOL, options.kernel)
    told = getattr(module, "cudal2", {})
    if "grid" not in told:
        fail(TOOL, 'the file needs cudal2 = {"grid": ["ceildiv(M, BLOCK_M) * ceildiv(N, BLOCK_N)", 1, 1]}, the launch')
    configs = list(getattr(function, "configs", None) or [None])[:options.variants]
    jit = function
    while not isinstance(jit, triton.runtime.jit.JITFunction):  # autotune and heuristics wrap it
        jit = jit.fn
    name = word(options.name or f"triton-{jit.__name__}")
    out = options.out or Path(name)
    out.mkdir(parents=True, exist_ok=True)
    cc, kernels = int(re.sub(r"\D", "", options.arch)), []
    for layout in options.layouts.split(","):
        for i, config in enumerate(configs):
            kernel = word(f"{name}-{layout}-{i}")
            try:
                made, rest, text = compile_one(jit, config, layout, options, told)
            except Exception as e:  # the compiler's own; the others go on
                print(f"{kernel}: left out: {type(e).__name__}: {str(e).strip().splitlines()[-1:]}", file=sys.stderr)
                continue
            (out / f"{kernel}.cubin").write_bytes(made.asm["cubin"])
            text = f"Triton {triton.__version__}: {text}"
            write_json(out / f"{kernel}.json",
                       manifest(kernel, f"{kernel}.cubin", made.metadata.name, description=text, arch_min=cc, arch_max=cc,
                                dtypes=[options.dtype], accumulate=[options.accumulate], layouts=[layout], **rest))
            kernels.append((kernel, text))
    write_set(TOOL, out, name, kernels)


if __name__ == "__main__":
    main()
