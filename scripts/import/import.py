#!/usr/bin/env python3
"""import.py DIR [--out OUT] [--name NAME] [--arch sm_90a] [--jobs N] [--limit N] [--shard I/N] [--again]
[--padding outside]:
builds torch extensions of the form void f(torch::Tensor a, b, b_col_major, c), one file M_N_K.cu for each
shape, into one plugin: OUT/NAME.so.

The sources are not changed. Each becomes OUT/<hash>.so with a log and a .json (state, reason, seconds); the
hash is of the source, the stand-in, the flags and the compiler, so that a second call builds what is new, and
OUT can be carried to a machine with a GPU. OUT/report.tsv has a line for each file. Needs nvcc and gcc, no
GPU and no PyTorch. README.md says how it is made.

OUT/NAME.tsv and NAME.so are those of the kernels that OUT has of DIR, from the first one on and after each: a
call may be ended at any time. TERM (exit 75) and INT (130) wait for the compilers that run, a second one ends
them.

--padding outside compiles nothing: of the kernels that OUT has it lists those whose tiles do not divide their shape,
each for the shape padded to whole tiles, as their authors time them: without copies. It wants a NAME of its
own.

--real-torch compiles and links with a real libtorch (LIBTORCH=, else python3's torch) what the stand-in has not built into OUT.

Several tasks share the work as `cudal2-bench run` does: --shard I/N, else CUDAL2_SHARD or what the scheduler
says. Each builds its files into the same OUT, whose index has those of all, and leaves
OUT/report.shard-I-of-N.tsv; --shard none then builds what lost tasks have left."""
import argparse
import collections
import concurrent.futures
import fcntl
import hashlib
import json
import os
import re
import shlex
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
CUDA_12 = HERE / "cuda12.hpp"
TOP = HERE.parent.parent
sys.path[:0] = [str(HERE), str(HERE.parent / "adapters")]
sys.path.insert(0, str(TOP / "python" / "cudal2_bench"))
import real_torch  # noqa: E402
import shards  # noqa: E402
from compilers import Compilers, Ended  # noqa: E402
from common import cutlass_includes, find_nvcc  # noqa: E402
TENSOR = r"(?:const\s+)?(?:torch|at)::Tensor\s*&?\s*\w+\s*"
ENTRY = re.compile(r"\bvoid\s+(\w+)\s*\(\s*" + r",\s*".join([TENSOR] * 4) + r"\)\s*\{")
BEFORE_13 = re.compile(r"\bcuda(MemAdvise|MemPrefetchAsync)\s*\(")  # what cuda12.hpp stands in for
ABI = re.compile(r"^\s*#\s*define\s+(_GLIBCXX_USE_CXX11_ABI)\s+([01])\b", re.M)  # nvcc has included the library before
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
FLAGS = ["-O3", "-std=c++17", "-U__CUDA_NO_HALF_OPERATORS__", "-U__CUDA_NO_HALF_CONVERSIONS__",
         "-U__CUDA_NO_HALF2_OPERATORS__", "-U__CUDA_NO_BFLOAT16_CONVERSIONS__", "--expt-relaxed-constexpr",
         "--expt-extended-lambda", "--use_fast_math", "-diag-suppress", "177"]  # those that the published sets are built with
MANY, SLOW, QUICK = 170.0, 60.0, 30.0  # seconds of a file with several collective kernels of CUTLASS, with one, with none: a guess
REAL = 40.0  # more with libtorch's headers


def arguments():
    p = argparse.ArgumentParser(prog="import.py", description=__doc__.split("\n\n")[0].split(": ", 1)[1])
    p.add_argument("dir", type=Path)
    p.add_argument("--out", type=Path, help="default: imported/NAME")
    p.add_argument("--name", help="family of the contenders (default: the directory's name)")
    p.add_argument("--arch", default="sm_90a")
    p.add_argument("--dtype", choices=["f16", "bf16"], default="f16", help="of A, B and C (default: f16)")
    p.add_argument("--accumulate", choices=["f16", "f32"], help="billed as (default: f16 where the name says F16F16F16F16)")
    p.add_argument("--cutlass", type=Path, help="a checkout of CUTLASS, or its headers (default: setup.sh cutlass)")
    p.add_argument("--include", type=Path, action="append", default=[], help="headers that the files want besides; may be repeated")
    p.add_argument("--real-torch", action="store_true",
                   help="a real libtorch in place of the stand-in: LIBTORCH=DIR, else python3's torch, else the distribution's")
    p.add_argument("--shared-cudart", action="store_true",
                   help="link the CUDA runtime dynamically: objects of a fraction of the size, for the way to a GPU that has libcudart")
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("--limit", type=int, help="files at most, spread over the directory")
    p.add_argument("--order", type=Path, help="a file with names of files, one a line: those first, in that order")
    p.add_argument("--padding", choices=["inside", "outside"], default="inside",
                   help="outside: those that need padding, for their padded shapes, without copies (default: inside the time)")
    p.add_argument("--shard", help="I/N: the I-th of N parts of like cost, or none (default: what the scheduler says)")
    p.add_argument("--timeout", type=float, default=1800, help="seconds for one file")
    p.add_argument("--again", action="store_true", help="build again what did not build")
    p.add_argument("--plan", action="store_true", help="say what there is to do, and end")
    return p.parse_args()


def headers(options, files):
    """Of CUTLASS; none where no file asks for them."""
    asked = any(re.search(r"#include\s*[<\"](cute|cutlass)/", f.read_text(errors="replace")) for f in files)
    return [str(i) for i in cutlass_includes("import", options.cutlass, asked)]


def wrapped():
    """The calls of the CUDA runtime that wrapper.hpp stands in for."""
    return re.findall(r"^WRAPPED\(cudaError_t, (\w+)", (HERE / "wrapper.hpp").read_text(), re.M)


class Build:
    """What all files share."""

    def __init__(self, options, files):
        self.options, self.compilers = options, Compilers()
        self.nvcc, version = find_nvcc("import")
        self.torch = real_torch.find() if options.real_torch else None
        self.plain = None  # the stand-in's: what it has built into OUT need not be built again
        self.includes = headers(options, files)
        arch = options.arch.removeprefix("sm_")
        self.flags = [*FLAGS, "-gencode", f"arch=compute_{arch},code=sm_{arch}", "-shared", "-Xcompiler",
                      "-fPIC,-fvisibility=hidden", "-Xlinker", f"--version-script={HERE}/import.map"]
        self.flags += ["-Xlinker", "-s", "-cudart", "shared" if options.shared_cudart else "static"]
        self.flags += ["-DCUDAL2_IMPORT_BF16"] if options.dtype == "bf16" else []
        for name in wrapped():
            self.flags += ["-Xlinker", f"--wrap={name}"]
        self.base = hashlib.sha256()
        other = HERE / ("include" if self.torch else "real")  # what these files cannot see
        for path in sorted(p for p in HERE.rglob("*") if p.suffix in (".h", ".hpp", ".map") and other not in p.parents and p != CUDA_12):
            self.base.update(path.read_bytes())
        self.base.update(" ".join(self.flags).replace(str(HERE), "").encode() + version.encode())
        if self.torch:
            self.base.update(self.torch.identity.encode())
            self.flags = [f for f in self.flags if not f.startswith("-std=")] + [self.torch.standard, *self.torch.flags]
        for include in self.includes[:1]:
            self.base.update((Path(include) / "cutlass/version.h").read_bytes())
        for path in (p for include in options.include for p in sorted(include.rglob("*.h*"))):
            self.base.update(path.read_bytes())
        self.includes += [str(i.resolve()) for i in options.include]
        self.locks = collections.defaultdict(threading.Lock)  # of keys: files may be alike

    def key(self, text):
        digest = self.base.copy()
        digest.update(text.encode())
        if BEFORE_13.search(text):
            digest.update(CUDA_12.read_bytes())
        digest.update(" ".join(self.abi(text)).encode())
        return digest.hexdigest()[:32] + ("-torch" if self.torch else "")

    def abi(self, text):
        """The one that the source defines, as PyTorch's own builds define it for all of it."""
        found = not self.torch and ABI.search(text)
        return [f"-D{found.group(1)}={found.group(2)}"] if found else []

    def refusal(self, text):
        """Why a source cannot be built with the libtorch at hand, before anything is compiled; or None."""
        found = self.torch and ABI.search(text)
        if not found or found.group(2) == self.torch.abi:
            return None
        return f"it defines {found.group(1)} {found.group(2)}, and libtorch {self.torch.version} has {self.torch.abi}: build it without --real-torch"

    def command(self, generated, out, entry, text):
        libraries = ["-lcublas", "-lcublasLt"] if "cublas" in text.lower() else []
        driver = ["-lcuda", "-L" + str(Path(self.nvcc).resolve().parent.parent / "lib64/stubs")] if "cuTensorMap" in text else []
        own = HERE / ("real" if self.torch else "include")
        includes = [x for i in [str(HERE), str(own), *self.includes] for x in ("-I", i)]
        if self.torch:
            libraries += self.torch.libraries
        return [self.nvcc, *self.flags, *self.abi(text), *includes, f"-DCUDAL2_ENTRY={entry}", str(generated), "-o", str(out), *libraries, *driver]


def entry_of(text):
    """The one function of the form, or a reason."""
    names = sorted(set(ENTRY.findall(COMMENT.sub("", text))))
    if len(names) == 1:
        return names[0], None
    return None, f"{len(names)} functions of the form f(Tensor a, b, b_col_major, c)" + (": " + ", ".join(names) if names else "")


def reason_in(log):
    lines = [line.strip() for line in log.splitlines()]
    for line in lines:
        if re.search(r"\berror\b|undefined reference|Killed|catastrophic", line):
            return re.sub(r"\S*/", "", line)[:200]
    return lines[-1][:200] if lines else "no message"


def tiles_of(text):
    """BM, BN, BK as the published sets' own scripts read them: the last of each, or nothing is padded."""
    found = {}
    for line in text.split("\n"):
        match = re.search(r"(BM|BN|BK)=Int<(\d+)>", line.strip().replace(" ", ""))
        if match:
            found[match.group(1)] = int(match.group(2))
    return [found[k] for k in ("BM", "BN", "BK")] if len(found) == 3 and min(found.values()) > 0 else [1, 1, 1]


def build_one(build, path):
    """One file: from the cache, or compiled now. The record says what came of it."""
    text = path.read_text(errors="replace")
    kept = build.plain and kept_record(build.plain, path, text)
    if kept and kept["state"] == "ok":
        return kept
    with build.locks[build.key(text)]:
        return kept_record(build, path, text) or build_text(build, path, text)


def good_record(build, key, text):
    """What there is to say of an object that is whole: everything is in its source."""
    return {"key": key, "state": "ok", "reason": None, "seconds": 0.0, "entry": entry_of(text)[0], "tiles": tiles_of(text),
            "torch": build.torch and build.torch.identity, "source": hashlib.sha256(text.encode()).hexdigest()}


def kept_record(build, path, text):
    """What an earlier call has made of a source, or None. An object lies there whole, or not at all: one
    without a record, of a call that was killed, or carried here alone, does as well."""
    key = build.key(text)
    record_path, made = build.options.out / f"{key}.json", build.options.out / f"{key}.so"
    record = json.loads(record_path.read_text()) if record_path.exists() else None
    if made.exists() and (not record or record["state"] != "ok"):
        record = good_record(build, key, text)
        save(record_path, json.dumps({"file": path.name} | record, indent=1) + "\n")
    if not record or (record["state"] == "ok" and not made.exists()) or (record["state"] != "ok" and build.options.again):
        return None
    return record | {"cached": True, "file": path.name}


def own_part(path):
    """What this process alone writes, until it becomes `path`: others may be at the same directory, from
    other machines too."""
    return path.with_name(f"{path.stem}.part.{os.uname().nodename}.{os.getpid()}.{threading.get_ident()}{path.suffix}")


def save(path, text):
    """Whole or not at all."""
    part = own_part(path)
    part.write_text(text)
    part.replace(path)


def sweep(out):
    """Parts that a call on this machine has left when it was killed."""
    mine = re.compile(r"\.part\." + re.escape(os.uname().nodename) + r"\.(\d+)\.\d+\.\w+$")
    for path in out.iterdir():
        owner = mine.search(path.name)
        if owner and not Path(f"/proc/{owner.group(1)}").exists():
            path.unlink(missing_ok=True)


def compile_text(build, path, text, key, entry):
    """Makes the object; returns the reason why there is none, or None."""
    made = build.options.out / f"{key}.so"
    generated, part = own_part(made.with_suffix(".cu")), own_part(made)
    before = f'#include "{CUDA_12}"\n' if BEFORE_13.search(text) else ""
    generated.write_text(f'{before}#include "{path.resolve()}"\n#include "{HERE}/wrapper.hpp"\n')
    try:
        status, said = build.compilers.run(build.command(generated, part, entry, text), build.options.timeout)
        if status is None:
            return f"nvcc did not end in {build.options.timeout:.0f} s"
        made.with_suffix(".log").write_text(said)
        if status == 0:
            part.replace(made)
        return reason_in(said) if status else None
    finally:
        part.unlink(missing_ok=True)
        generated.unlink(missing_ok=True)


def build_text(build, path, text):
    key, start = build.key(text), time.monotonic()
    entry, reason = entry_of(text)
    reason = reason or build.refusal(text)
    if not reason:
        reason = compile_text(build, path, text, key, entry)
    record = {"key": key, "state": "failed", "reason": reason} if reason else good_record(build, key, text)
    record |= {"file": path.name, "seconds": round(time.monotonic() - start, 1)}
    save(build.options.out / f"{key}.json", json.dumps(record, indent=1) + "\n")
    return record


def pads_of(path, tiles):
    return [-int(size) % tile for size, tile in zip(path.stem.split("_"), tiles)]


def padded_shape(path, tiles):
    return [int(size) + pad for size, pad in zip(path.stem.split("_"), pads_of(path, tiles))]


def padded_alone(files):
    """Those that are padded, without any whose padded shape is another one's too."""
    whole = {f: tuple(padded_shape(f, tiles_of(f.read_text(errors="replace")))) for f in files}
    taken = collections.Counter(whole.values())
    return [f for f in files if "_".join(map(str, whole[f])) != f.stem and taken[whole[f]] == 1]


def all_files(options):
    if not options.dir.is_dir():
        sys.exit(f"import: {options.dir}: no such directory")
    files = sorted(options.dir.glob("*.cu"))
    return files or sys.exit(f"import: no .cu in {options.dir}")


def listed(options):
    """The files that the index may have."""
    files = [f for f in all_files(options) if re.fullmatch(r"\d+_\d+_\d+", f.stem)]
    return padded_alone(files) if options.padding == "outside" else files


def chosen(options):
    files = all_files(options)
    if options.limit and options.limit < len(files):
        files = [files[i * len(files) // options.limit] for i in range(options.limit)]
    names = options.order.read_text().split() if options.order else []
    rank = {name: i for i, name in enumerate(names)}
    own = (files[i] for i in shards.own(options.shard, [guess(options, f) for f in files]))
    return sorted(own, key=lambda f: rank.get(f.name, len(rank)))


def guess(options, path):
    builders = path.read_text(errors="replace").count("CollectiveBuilder<")  # a kernel has two
    return (MANY if builders > 2 else SLOW if builders else QUICK) + REAL * options.real_torch


def line_of_index(path, record, padding="inside"):
    """"M N K padM padN padK object source": what dispatch.c reads."""
    m, n, k = padded_shape(path, record["tiles"] if padding == "outside" else (1, 1, 1))
    pads = [0, 0, 0] if padding == "outside" else pads_of(path, record["tiles"])
    return f"{m}\t{n}\t{k}\t{pads[0]}\t{pads[1]}\t{pads[2]}\t{record['key']}.so\t{path.name}\n"


def told_of(torch):
    """What dispatch.c is told of libtorch; with one that has no CUDA the kernels are for the CPU device."""
    if not torch:
        return []
    told = [f'-DIMPORT_TORCH="{torch.version}"', f'-DIMPORT_TORCH_ID="{torch.build_id}"']
    return told if torch.cuda else [*told, "-DIMPORT_DEVICES=CUDAL2_ON_CPU"]


def link_plugin(build, name):
    plugin = build.options.out / f"{name}.so"
    part = own_part(plugin)
    options, torch = build.options, build.torch
    accumulate = options.accumulate or ("f16" if "F16F16F16F16" in str(options.dir) else "f32")
    cc = re.sub(r"\D", "", options.arch) if not torch or torch.cuda else 0
    compiler = shlex.split(os.environ.get("CC", "gcc"))  # "ccache gcc" too
    command = [*compiler, "-std=c17", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-fPIC", "-fvisibility=hidden",
               "-shared", f"-I{TOP}/harness", f"-I{HERE}", f'-DIMPORT_NAME="{name}"', f"-DIMPORT_CC={cc}",
               f"-DIMPORT_DTYPE=CUDAL2_{options.dtype.upper()}", f"-DIMPORT_ACCUMULATE=CUDAL2_ACC_{accumulate.upper()}", *told_of(torch), str(HERE / "dispatch.c"), "-ldl", "-o", str(part)]
    subprocess.run(command, check=True, start_new_session=True)  # a Ctrl-C is for this script
    part.replace(plugin)


def show(i, total, record, left):
    state = record["state"] + (" (kept)" if record.get("cached") else "")
    eta = f"; {left / 60:.0f} min left" if left else ""
    print(f"[{i}/{total}] {record['file']}: {state}, {record['seconds']:.0f} s{eta}"
          + (f": {record['reason']}" if record["reason"] else ""), flush=True)


class Index:
    """What dispatch.c reads: every file of DIR that OUT has a kernel for, whoever built it, and the plugin
    that reads it; and the report of this call's files. Written whole, and not by two at a time."""

    def __init__(self, build, name, files):
        options = build.options
        self.build, self.name, self.files, self.records, self.rows = build, name, files, {}, {}
        self.texts = {f: f.read_text(errors="replace") for f in listed(options)}
        self.plugin = False  # this call's
        part = f".shard-{options.shard.index}-of-{options.shard.count}" if options.shard else ""
        self.report = options.out / f"report{part}{'.outside' if options.padding == 'outside' else ''}.tsv"

    def find(self, path):
        for build in filter(None, (self.build.plain, self.build)):
            record = kept_record(build, path, self.texts[path])
            if record and record["state"] == "ok":
                return line_of_index(path, record, build.options.padding)
        return None

    def write(self):
        with (self.build.options.out / f"{self.name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            found = {f: self.find(f) for f in self.texts if f not in self.rows}
            self.rows |= {f: row for f, row in found.items() if row}
            if self.rows and not self.plugin:
                link_plugin(self.build, self.name)
                self.plugin = True
            if self.rows:
                save(self.build.options.out / f"{self.name}.tsv", "".join(self.rows[f] for f in self.texts if f in self.rows))
        save(self.report, "file\tstate\tseconds\treason\n" + "".join(
            f"{f.name}\t{r['state']}\t{r['seconds']}\t{r['reason'] or ''}\n" for f in self.files if (r := self.records.get(f))))

    def add(self, path, record):
        self.records[path] = record
        if not record.get("cached"):
            self.write()


def build_all(build, index, guesses, stop):
    """Fills the index; after a TERM with the files that were begun."""
    files, records, start = index.files, index.records, time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(build.options.jobs) as pool:
        work = {pool.submit(build_one, build, f): f for f in files}
        stop.work = list(work)
        if stop.status:  # since before there was any
            pool.shutdown(wait=False, cancel_futures=True)
        for done in concurrent.futures.as_completed(work):
            if done.cancelled() or isinstance(done.exception(), Ended):
                continue
            path = work[done]
            index.add(path, done.result())
            fresh = sum(guesses[f] for f in records if not records[f].get("cached"))
            rest = sum(guesses[f] for f in files if f not in records)
            show(len(records), len(files), records[path], rest * (time.monotonic() - start) / fresh if fresh else 0)


class Stop:
    """TERM (a preemption, the end of a job's time) or INT: files that nvcc has are finished, the others wait
    for the next call; a second one ends nvcc as well."""

    def __init__(self):
        self.status, self.work, self.compilers = 0, [], []
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self.on_signal)

    def on_signal(self, number, _):
        second, self.status = self.status, 130 if number == signal.SIGINT else 75
        for one in self.work:
            one.cancel()
        if second:
            for one in self.compilers:
                one.end()
        else:
            os.write(2, b"import: ends with the files in hand; a second signal ends them too\n")  # print is not for handlers


def tell_shapeless(index):
    """A file's name is its shape: one that has no such name compiles, and is in no plugin."""
    names = [f.name for f, r in index.records.items() if r["state"] == "ok" and f not in index.texts]
    if names and index.build.options.padding == "inside":
        print(f"import: built but in no plugin, for the name is no shape (M_N_K.cu): {' '.join(sorted(names))}", file=sys.stderr)


def summary(index):
    tell_shapeless(index)
    good = sum(r["state"] == "ok" for r in index.records.values())
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    made = f"{index.build.options.out}/{index.name}.so with {len(index.rows)} kernels, {index.report}" if index.rows else f"{index.report}"
    print(f"{good} of {len(index.files)} built; {used.ru_utime + used.ru_stime:.0f} s of CPU time in this call; {made}")
    return 0 if index.rows or index.build.options.shard else 3


def plan(options, guesses):
    if options.padding == "outside":
        return f"compiles nothing: kernels that {options.out} has"
    minutes = sum(guesses.values()) / options.jobs / 60
    return f"{len(guesses)} files, {options.jobs} at a time: about {minutes:.0f} min to compile, less for what {options.out} has already"


def main():
    options = arguments()
    name = options.name or re.sub(r"[^A-Za-z0-9_.-]", "-", options.dir.resolve().name)
    options.out = options.out or Path("imported") / name
    try:
        options.shard = shards.resolve(options.shard)
    except ValueError as error:
        print(f"import: {error}", file=sys.stderr)
        sys.exit(64)
    if options.shard:
        print(f"shard {options.shard.index} of {options.shard.count}, counted from 0 ({options.shard.source}); --shard none "
              "builds everything", file=sys.stderr)
    options.out.mkdir(parents=True, exist_ok=True)
    files = chosen(options)
    guesses = {f: guess(options, f) for f in files}
    print(plan(options, guesses), flush=True)
    if options.plan:
        return
    stop, build = Stop(), Build(options, files)
    sweep(options.out)
    if build.torch:
        build.plain = build.torch.cuda and Build(argparse.Namespace(**vars(options) | {"real_torch": False}), files)
        print(f"libtorch {build.torch.version}, {'with CUDA' if build.torch.cuda else 'without CUDA: kernels of the CPU device'}", flush=True)
    stop.compilers = [build.compilers]
    index = Index(build, name, files if options.padding == "inside" else [])
    index.write()  # what is kept is of use at once
    build_all(build, index, guesses, stop)
    index.write()
    if stop.status:
        print(f"import: {'interrupted' if stop.status == 130 else 'terminated'} with {len(index.records)} of {len(files)} files looked "
              "at; the same command goes on", file=sys.stderr)
        sys.exit(stop.status)
    sys.exit(summary(index))


if __name__ == "__main__":
    main()
