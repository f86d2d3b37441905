"""common.py: what the adapters share: the tool's own virtual environment, a kernel file's function, manifests
and the kernel set that lists them. Standard library alone; read by scripts/adapters/*.py."""
import argparse
import ast
import importlib.util
import itertools
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import traceback
from pathlib import Path

SET_MOST = 32  # kernels of a set


def fail(tool, text):
    sys.exit(f"{tool}: {text}")


def environment(tool):
    """The virtual environment that setup.sh made for the tool."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(os.environ.get("CUDAL2_ADAPTERS") or f"{cache}/cudal2-bench/adapters") / tool


def enter(tool, module):
    """Runs this script again in the tool's environment, unless the module is here. The adapter's own
    directory is left out of the path: triton.py is no triton."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [p for p in sys.path if os.path.abspath(p or ".") != here]
    try:
        if importlib.util.find_spec(module) is not None:
            return
    except ModuleNotFoundError:  # of what it is in
        pass
    python = environment(tool) / "bin" / "python"
    if python.exists() and os.environ.get("CUDAL2_ADAPTER") != tool:
        os.environ["CUDAL2_ADAPTER"] = tool  # once
        os.execv(python, [str(python), *sys.argv])
    print(f"{tool}: {module} is not installed: run scripts/adapters/setup.sh {tool}", file=sys.stderr)
    sys.exit(69)


def cutlass_includes(tool, given=None, needed=True):
    """Where CUTLASS's headers are: a checkout, or what setup.sh cutlass installed. [] where they need not
    be."""
    for root in [given] if given else sorted(environment("cutlass").glob("lib/*/site-packages/cutlass_library/source")):
        if (root / "include/cutlass/cutlass.h").exists():
            return [root / "include", root / "tools/util/include"]
    if not needed:
        return []
    print(f"{tool}: no CUTLASS headers: run scripts/adapters/setup.sh cutlass, or give --cutlass DIR", file=sys.stderr)
    sys.exit(69)


def find_nvcc(tool):
    """nvcc, and what it says of its version."""
    home = os.environ.get("CUDA_HOME")
    for nvcc in ([f"{home}/bin/nvcc"] if home else []) + ["nvcc", "/usr/local/cuda/bin/nvcc"]:
        try:
            version = subprocess.run([nvcc, "--version"], capture_output=True, text=True, check=True).stdout
            return shutil.which(nvcc) or nvcc, version
        except (OSError, subprocess.CalledProcessError):
            continue
    print(f"{tool}: no nvcc (CUDA_HOME names the toolkit)", file=sys.stderr)
    sys.exit(69)


def load(tool, spec):
    """"KERNEL.py:function" -> the module and the function."""
    path, _, name = spec.rpartition(":")
    if not path:
        fail(tool, f'"{spec}": expected KERNEL.py:function')
    if not os.path.isfile(path):
        fail(tool, f'{path}: no such file (expected KERNEL.py:function)')
    found = importlib.util.spec_from_file_location(Path(path).stem, path)
    module = importlib.util.module_from_spec(found)
    sys.path.insert(0, str(Path(path).resolve().parent))
    try:
        found.loader.exec_module(module)
    except ModuleNotFoundError as error:
        fail(tool, f"{path} imports {error.name}, which is not in {sys.prefix}: is it a kernel of {tool}?")
    except SyntaxError as error:
        fail(tool, f"{path}:{error.lineno}: {error.msg}")
    except Exception as error:  # whatever a file's own lines raise
        lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == found.origin]
        fail(tool, f"{path}:{lines[-1] if lines else 0}: {type(error).__name__}: {error}")
    if not hasattr(module, name):
        has = [f.name for f in ast.parse(Path(path).read_text()).body if isinstance(f, ast.FunctionDef)]
        fail(tool, f'{path} has no "{name}"; it has {", ".join(has) or "no functions"}')
    return module, getattr(module, name)


def launch_of(cubin, entry):
    """The block and the cluster that a cubin was compiled for, from its section .nv.info.<entry>; None where
    it says none."""
    headers, = struct.unpack_from("<Q", cubin, 40)
    count, names = struct.unpack_from("<HH", cubin, 60)

    def section(i):
        return struct.unpack_from("<IIQQQQ", cubin, headers + 64 * i)

    strings, found = section(names)[4], {}
    for _, _, _, _, at, size in (s for s in map(section, range(count))
                                 if cubin[strings + s[0]:].startswith(b".nv.info." + entry.encode() + b"\0")):
        end = at + size
        while at < end:
            form, which, short = struct.unpack_from("<BBH", cubin, at)
            if form == 4 and which in (0x10, 0x3d):
                found[which] = list(struct.unpack_from("<III", cubin, at + 4))
            at += 4 + (short if form == 4 else 0)
    return found.get(0x10), found.get(0x3d)


def word(text):
    """As names of kernels are written."""
    return re.sub(r"[^A-Za-z0-9_.-]", "-", text)[:47]


def write_json(path, tree):
    path.write_text(json.dumps(tree, indent=1) + "\n")


def manifest(name, source, entry, **rest):
    return {"schema": "cudal2-bench/kernel", "schema_version": 1, "name": name, "source": source, "entry": entry, **rest}


def write_set(tool, out, name, kernels):
    """kernels: (name, description) of each manifest in `out`."""
    if not kernels:
        fail(tool, "no kernel compiled")
    if len(kernels) > SET_MOST:
        fail(tool, f"{len(kernels)} kernels, and a set has {SET_MOST} at most: --variants N takes the first")
    path = out / f"{name}.json"
    write_json(path, {"schema": "cudal2-bench/kernel-set", "schema_version": 1, "name": name,
                      "entries": [{"kernel": k, "description": d} for k, d in kernels]})
    print(f"{path}: {len(kernels)} kernels; cudal2-bench verify {path}")


def cause_of(error):
    """The line of a compiler's message that says what is wrong: the first, without colours; the lines below
    show where."""
    return next((line for line in re.sub(r"\x1b\[[0-9;]*m", "", str(error)).splitlines() if line.strip()), "").strip()


# --- cute.py and cutile.py: one kernel of three matrices, in each layout ---

def accumulate_argument(parser):
    """For the adapters that tell a kernel in what to sum."""
    parser.add_argument("--accumulate", default="f32", choices=["f16", "f32"], help="what the kernel sums in, and is billed as (default: f32)")


def check_sums(tool, options):
    if (options.dtype, options.accumulate) == ("bf16", "f16"):
        fail(tool, "the tensor cores have no fp16 sums of bf16 products")


ALIGNED = {"rule": "N % 8 == 0 && K % 8 == 0", "why": "rows are compiled as multiples of 16 bytes"}


def layout_arguments(tool, doc, arch, more=lambda parser: None):
    p = argparse.ArgumentParser(prog=f"{tool}.py", description=doc.split("\n\n")[0].split(": ", 1)[1])
    p.add_argument("kernel", help="KERNEL.py:function")
    p.add_argument("--out", type=Path, help="directory to write (default: the set's name)")
    p.add_argument("--name", help=f"of the set (default: {tool}-FUNCTION)")
    p.add_argument("--arch", default=arch)
    p.add_argument("--layouts", default="nn,tn", help="default: nn,tn")
    p.add_argument("--dtype", default="f16", choices=["f16", "bf16"])
    more(p)
    return p.parse_args()


def load_told(tool, options, needed):
    """The function, and what its file says of the launch in `cudal2`, which has what is needed, or says it by
    configuration."""
    module, function = load(tool, options.kernel)
    told = getattr(module, "cudal2", {})
    if not all(key in told for key in ("configs", "launch")) and not all(key in told for key in needed):
        members = ", ".join(f'"{key}": [...]' for key in needed)
        fail(tool, f"the file needs cudal2 = {{{members}}}, the launch")
    return function, told


def write_layouts(tool, options, told, text, compile_one):
    """A cubin and a manifest for each layout and configuration, and their set. compile_one(layout, b, launch,
    config) gives the cubin, its entry and the rest of the manifest; `b` is the size of B there, rows and
    columns. What does not compile is left out."""
    name = word(options.name or f"{tool}-{options.kernel.rpartition(':')[2]}")
    out, kernels = options.out or Path(name), []
    out.mkdir(parents=True, exist_ok=True)
    configs = told.get("configs")
    for layout, (i, config) in itertools.product(options.layouts.split(","), enumerate(configs or [{}])):
        kernel = word(f"{name}-{layout}" + (f"-{i}" if configs else ""))
        try:
            launch = told["launch"](layout, **config) if configs else told
            cubin, entry, rest = compile_one(layout, ("N", "K") if layout == "tn" else ("K", "N"), launch, config)
        except Exception as e:  # the compiler's own; the others go on
            print(f"{kernel}: left out: {type(e).__name__}: {cause_of(e)}", file=sys.stderr)
            continue
        (out / f"{kernel}.cubin").write_bytes(cubin)
        described = text + (": " if config else "") + ", ".join(f"{k}={v}" for k, v in config.items())
        write_json(out / f"{kernel}.json",
                   manifest(kernel, f"{kernel}.cubin", entry, description=described, arch_min=int(re.sub(r"\D", "", options.arch)),
                            dtypes=[options.dtype], accumulate=["f32"], layouts=[layout],
                            problem_constraints=[ALIGNED, *launch.get("constraints", [])], grid=launch["grid"], **rest))
        kernels.append((kernel, described))
    write_set(tool, out, name, kernels)
