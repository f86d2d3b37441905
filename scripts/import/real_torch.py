"""real_torch.py: the libtorch that import.py --real-torch compiles and links with: LIBTORCH=, else python3's
torch, else the distribution's, as scripts/probe.sh finds it for the baseline torch.matmul."""
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent


@dataclass
class Torch:
    version: str
    build_id: str  # of libtorch_cpu, which dispatch.c compares with what the process has
    standard: str  # -std=c++17
    flags: list  # of the compiler, for nvcc
    libraries: list  # of the linker, for nvcc
    cuda: bool
    abi: str  # its _GLIBCXX_USE_CXX11_ABI

    @property
    def identity(self):
        """What the cache key has of it: the same libtorch in another directory is the same."""
        return f"torch {self.version} {self.build_id} {'CUDA' if self.cuda else 'CPU'} {self.standard}"


def fail(text):
    print(f"import: {text}", file=sys.stderr)
    sys.exit(69)


def for_nvcc(words):
    """-Wl,a,b becomes -Xlinker a -Xlinker b. nvcc puts these ahead of libraries, so that -l between
    --no-as-needed and --as-needed becomes one of them too: nothing refers to libtorch_cuda by name."""
    kept = False
    for word in words:
        if word.startswith("-Wl,"):
            for part in word[4:].split(","):
                kept = part == "--no-as-needed" or (kept and part != "--as-needed")
                yield from ("-Xlinker", part)
        elif kept:
            yield from ("-Xlinker", word)
        else:
            yield word


def build_id(library):
    done = subprocess.run(["readelf", "-n", library], capture_output=True, text=True)
    found = re.search(r"Build ID: ([0-9a-f]{2,40})$", done.stdout, re.M)
    return found.group(1) if found else fail(f"{library} has no build ID (readelf -n): a worker could not tell whether it has the same")


def find():
    with tempfile.TemporaryDirectory() as work:
        made = Path(work) / "probe.mk"
        told = subprocess.run(["sh", HERE.parent / "probe.sh", made], capture_output=True, text=True,
                              env=os.environ | {"TORCH": "", "CC": "gcc"}).stdout
        variables = dict(line.split(" := ", 1) for line in made.read_text().splitlines() if " := " in line)
    if "TORCH_VERSION" not in variables:
        fail((re.findall(r"libtorch +(.*)", told) or ["no libtorch"])[0] if "libtorch" in told else "scripts/probe.sh finds no libtorch")
    flags, libraries = variables["TORCH_CXXFLAGS"].split(), variables["TORCH_LIBS"].split()
    directory = next(word[2:] for word in libraries if word.startswith("-L"))
    standard = next(word for word in flags if word.startswith("-std="))
    cuda = "-DTORCH_HAS_CUDA=1" in flags
    return Torch(variables["TORCH_VERSION"], build_id(f"{directory}/libtorch_cpu.so"), standard,
                 [f for f in flags if f != standard] + ["-DCUDAL2_REAL_TORCH"] + ([] if cuda else ["-DCUDAL2_IMPORT_CPU"]),
                 [*for_nvcc(libraries), "-Xlinker", "-z", "-Xlinker", "defs"], cuda,
                 next(f.rsplit("=", 1)[1] for f in flags if f.startswith("-D_GLIBCXX_USE_CXX11_ABI=")))
