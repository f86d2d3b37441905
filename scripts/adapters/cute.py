#!/usr/bin/env python3
"""cute.py KERNEL.py:function [--out DIR] [--arch sm_90a] [--layouts nn,tn] [--dtype f16]: compiles a kernel
of the CuTe DSL (nvidia-cutlass-dsl) without a GPU, to a cubin with a manifest for each layout, and a kernel
set that lists them.

The function is a @cute.jit f(a, b, c, tn), which launches one kernel. The launch is the harness's, so the
file says it in a dictionary `cudal2`: "grid", "block", and "cluster", "shared_bytes", "constraints" where
there are any. What the kernel takes is three tensors, unless "arguments" lists something else, as a manifest
does. With "configs", a list of dictionaries, each is a kernel: the function takes its values behind tn, and
"launch" is a function of the layout and the configuration, which returns the dictionary.
docs/any-kernel.md."""
import os
import re
import tempfile

from common import enter, fail, layout_arguments, load_told, write_layouts

TOOL = "cute"
TYPES = {"f16": "Float16", "bf16": "BFloat16"}


def tensor(which, rows, columns):
    """How the DSL hands a row-major tensor over: its address, its sizes, the stride of its rows."""
    return {"struct": [which, {"int32": rows}, {"int32": columns}, {"int64": columns}]}


def compile_one(function, layout, dtype, config):
    import cutlass
    import cutlass.cute as cute
    from cutlass.cute.runtime import make_fake_compact_tensor
    element = getattr(cutlass, TYPES[dtype])

    def fake():
        sizes = cute.sym_int(), cute.sym_int(divisibility=8)
        return make_fake_compact_tensor(element, sizes, stride_order=(1, 0))

    made = cute.compile(function, fake(), fake(), fake(), layout == "tn", *config.values(), options="--keep-cubin")
    entries = list(made.kernel_info)
    if len(entries) != 1 or not made.__cubin__:
        fail(TOOL, f"the function launches {len(entries)} kernels, and one is expected")
    return made.__cubin__, entries[0]


def main():
    options = layout_arguments(TOOL, __doc__, "sm_90a")
    os.environ["CUTE_DSL_ARCH"] = options.arch
    enter(TOOL, "cutlass")
    with tempfile.TemporaryDirectory() as dumps:
        os.environ["CUTE_DSL_DUMP_DIR"] = dumps  # else the cubins are left where the adapter is called, too
        import cutlass
        function, told = load_told(TOOL, options, ("grid", "block"))

        def compiled(layout, b, launch, config):
            cubin, entry = compile_one(function, layout, options.dtype, config)
            rest = {k: launch[k] for k in ("block", "cluster", "shared_bytes", "workspace_bytes") if k in launch}
            given = launch.get("arguments") or [tensor("a", "M", "K"), tensor("b", *b), tensor("c", "M", "N")]
            return cubin, entry, {"arch_max": int(re.sub(r"\D", "", options.arch)), **rest, "arguments": given}

        write_layouts(TOOL, options, told, f"CuTe DSL {cutlass.__version__}", compiled)


if __name__ == "__main__":
    main()
