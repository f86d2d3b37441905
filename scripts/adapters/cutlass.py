#!/usr/bin/env python3
"""cutlass.py FILE.cu [--out FILE.so] [--arch sm_90a] [--cutlass DIR]: builds a CUTLASS 3.x or 4.x source into
a plugin; the headers come from PyPI's nvidia-cutlass (setup.sh cutlass) or a checkout. Needs nvcc and no GPU.

The source includes cutlass_plugin.hpp, which makes the hooks of any GemmUniversalAdapter, or it is a plugin
of its own (docs/abi.md); examples/cutlass/gemm.cu is one to copy."""
import argparse
import re
import subprocess
import time
from pathlib import Path

from common import cutlass_includes, fail, find_nvcc

HERE = Path(__file__).resolve().parent
TOP = HERE.parent.parent
FLAGS = ["-std=c++17", "-O3", "--expt-relaxed-constexpr", "--expt-extended-lambda", "-DNDEBUG", "-diag-suppress", "177",
         "-shared", "-Xcompiler", "-fPIC,-fvisibility=hidden"]


def main():
    p = argparse.ArgumentParser(prog="cutlass.py", description=__doc__.split("\n\n")[0].split(": ", 1)[1])
    p.add_argument("source", type=Path)
    p.add_argument("--out", type=Path, help="default: the source's name with .so, here")
    p.add_argument("--arch", default="sm_90a")
    p.add_argument("--cutlass", type=Path, help="a checkout of CUTLASS")
    options = p.parse_args()
    if options.out and options.out.is_dir():
        p.error(f"--out {options.out} is a directory; wanted the plugin's file, {options.out / options.source.stem}.so")
    if not options.source.is_file():
        fail("cutlass", f"{options.source}: no such file")
    nvcc = find_nvcc("cutlass")[0]
    includes = [x for i in [HERE, TOP / "harness", *cutlass_includes("cutlass", options.cutlass)] for x in ("-I", str(i))]
    out, arch = options.out or Path(options.source.stem + ".so"), options.arch.removeprefix("sm_")
    start = time.monotonic()
    made = subprocess.run([nvcc, *FLAGS, "-gencode", f"arch=compute_{arch},code=sm_{arch}", f"-DCUDAL2_CC={re.sub(r'[^0-9]', '', arch)}",
                           *includes, str(options.source), "-Xlinker", f"--version-script={TOP}/harness/abi/plugin.map", "-o", str(out)])
    if made.returncode:
        fail("cutlass", f"{options.source} does not compile")
    if b"\0cudal2_plugin\0" not in out.read_bytes():
        out.unlink()
        fail("cutlass", f"{options.source} is no plugin: end it with CUDAL2_PLUGIN (examples/cutlass/gemm.cu)")
    print(f"{out}: {time.monotonic() - start:.0f} s; cudal2-bench verify {out.resolve()}")


if __name__ == "__main__":
    main()
