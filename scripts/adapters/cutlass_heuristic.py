#!/usr/bin/env python3
"""cutlass_heuristic.py --shape MxNxK | --config FILE [--count 8] [--out DIR] [--jobs N] [--plan]: builds the
CUTLASS kernels that nvidia-matmul-heuristics proposes for each shape into one plugin,
DIR/cutlass-heuristic.so, a baseline family of that name.

The harness races what was proposed for a shape; another shape is unsupported. Where the heuristics propose
fewer than --count (two or three for a small shape), the other tiles that they know of follow, by the time
that they expect. Needs setup.sh heuristics, setup.sh cutlass and nvcc, no GPU. Each kernel type is a source
of its own, built once and kept by content in DIR; DIR/report.tsv says what did not build. The heuristics name
no schedule: tiles of 64 rows are ping-pong, others cooperative. docs/any-kernel.md."""
import argparse
import concurrent.futures
import hashlib
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

from common import cutlass_includes, enter, fail, find_nvcc

TOOL = "heuristics"
HERE = Path(__file__).resolve().parent
TOP = HERE.parent.parent
FAMILY = "cutlass-heuristic"
FLAGS = ["-std=c++17", "-O3", "--expt-relaxed-constexpr", "--expt-extended-lambda", "-DNDEBUG", "-diag-suppress", "177",
         "-Xcompiler", "-fPIC,-fvisibility=hidden"]
SECONDS = 25  # of one type: a first guess
MANY = 512  # proposals: more than there ever are
PRECISION = {"f16": "HSH", "bf16": "TST"}
ELEMENT = {"f16": "cutlass::half_t", "bf16": "cutlass::bfloat16_t"}
# As CUTLASS names them to the heuristics: t is row-major, A is, and C.
LAYOUT = {"nn": "TT_ROW_MAJOR", "tn": "TN_ROW_MAJOR"}
LAYOUT_B = {"nn": "RowMajor", "tn": "ColumnMajor"}


def arguments():
    p = argparse.ArgumentParser(prog="cutlass_heuristic.py", description=__doc__.split("\n\n")[0].split(": ", 1)[1])
    p.add_argument("--shape", action="append", default=[], metavar="MxNxK", help="may be repeated")
    p.add_argument("--config", type=Path, help="a config of cudal2-bench: its shapes")
    p.add_argument("--count", type=int, default=8, help="proposals for each shape and layout (default: 8)")
    p.add_argument("--types", type=int, help="build at most so many kernel types; from 16 on each shape has 8 proposals of them")
    p.add_argument("--layouts", default="nn,tn", help="default: nn,tn")
    p.add_argument("--dtype", default="f16", choices=PRECISION)
    p.add_argument("--gpu", default="H100_SXM", help="for which the heuristics propose (default: H100_SXM)")
    p.add_argument("--out", type=Path, default=Path(FAMILY))
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("--timeout", type=float, default=1800, help="seconds for one type")
    p.add_argument("--cutlass", type=Path, help="a checkout of CUTLASS")
    p.add_argument("--plan", action="store_true", help="say what there is to build, and end")
    return p.parse_args()


def shapes_of(options):
    shapes = [tuple(map(int, s.split("x"))) for s in options.shape]
    if options.config:
        tree = json.loads(options.config.read_text())
        grid = tree.get("grid")
        shapes += [(s["m"], s["n"], s["k"]) if isinstance(s, dict) else tuple(map(int, s.split("x"))) for s in tree.get("shapes", [])]
        shapes += [(m, n, k) for m in grid["m"] for n in grid["n"] for k in grid["k"]] if grid else []
    return list(dict.fromkeys(shapes)) or fail(TOOL, "no shape: --shape MxNxK or --config FILE")


class Proposal:
    """One configuration: the type that is compiled, and how its tiles are dealt out."""

    def __init__(self, kernel, layout, dtype):
        self.tile = kernel.cta_tile_m, kernel.cta_tile_n, kernel.cta_tile_k
        self.cluster = kernel.cluster_m, kernel.cluster_n
        self.splits, self.swizzle = max(1, kernel.split_k), max(1, kernel.swizzle_factor)
        self.raster = "mn"[kernel.cta_order] if kernel.cta_order in (0, 1) else ""
        self.schedule = "pingpong" if self.tile[0] <= 64 else "cooperative"
        self.type = (layout, dtype, self.tile, self.cluster, self.schedule, self.splits > 1)

    @property
    def key(self):
        return (f"{'x'.join(map(str, self.tile))}-{self.cluster[0]}x{self.cluster[1]}-{self.schedule}"
                f"-{self.raster or 'auto'}{self.swizzle}-k{self.splits}")


def interface(nvmmh, options, flag):
    """The heuristics, and their idea of the GPU."""
    heuristics = nvmmh.NvMatmulHeuristicsInterface(nvmmh.NvMatmulHeuristicsTarget.CUTLASS3, PRECISION[options.dtype],
                                                   flags=nvmmh.NvMatmulHeuristicsFlags[flag])
    gpu = heuristics.createHardwareDescriptor()
    heuristics.setHardwarePredefinedGpu(gpu, nvmmh.NvMatmulHeuristicsNvidiaGpu[options.gpu])
    return heuristics, gpu


def propose(options, shapes):
    """{layout: {shape: [Proposal]}}, each list without doubles: what the heuristics propose, in their order
    (for a small shape two or three that CUTLASS 3 tells apart), then every other tile that they know of, by
    the time that they expect."""
    import nvMatmulHeuristics as nvmmh
    nvmmh.NvMatmulHeuristicsInterface.__del__ = lambda self: None  # its own crashes (0.1.0.27) where a discovery set was loaded
    found = {}
    for layout in options.layouts.split(","):
        order = nvmmh.NvMatmulHeuristicsMatmulLayout[LAYOUT[layout]]
        for flag in ("PERF_MODEL_BASED_AUTO_TUNING", "DISABLE_OPT_PIPELINE"):
            heuristics, gpu = interface(nvmmh, options, flag)
            heuristics.loadInternalDiscoverySet(order, gpu)
            for shape in shapes:
                asked = heuristics.get_with_mnk(*shape, order, MANY, gpu)
                if flag == "DISABLE_OPT_PIPELINE":
                    asked.sort(key=lambda c: c["runtime"])
                known = found.setdefault(layout, {}).setdefault(shape, {})
                for p in (Proposal(c["kernel"], layout, options.dtype) for c in asked):
                    known.setdefault(p.key, p)
    return {layout: {shape: list(known.values()) for shape, known in by_shape.items()} for layout, by_shape in found.items()}


def wanted_types(options, found):
    """The types of each shape's first proposals; with --types so many, chosen so that every shape has as many
    proposals as were asked for, then those that most shapes want first."""
    shapes = [proposals for by_shape in found.values() for proposals in by_shape.values()]
    if options.types is None:
        return sorted({p.type for proposals in shapes for p in proposals[:options.count]})
    worth = {}  # {type: {shape's place: 2 for one of its first proposals, else 1}}
    for i, proposals in enumerate(shapes):
        for rank, p in enumerate(proposals):
            worth.setdefault(p.type, {}).setdefault(i, 2 if rank < options.count else 1)
    has, chosen = [0] * len(shapes), []
    while worth and len(chosen) < options.types:
        gains = {t: sum(w / (1 + has[i]) if has[i] < options.count else (w - 1) / (8 * options.count) for i, w in of.items()) for t, of in worth.items()}
        best = min(gains, key=lambda t: (-gains[t], t))
        for i in worth.pop(best):
            has[i] += 1
        chosen.append(best)
    return chosen


def said_of(options, found, types):
    """How many shapes have all proposals that were asked for, of these types."""
    counts = [min(options.count, sum(p.type in types for p in proposals)) for by_shape in found.values() for proposals in by_shape.values()]
    others = "" if min(counts) == options.count else f", the others {min(counts)} or more"
    return f"{counts.count(options.count)} of {len(counts)} shapes and layouts have {options.count} proposals of these types{others}"


def source_of(kind):
    layout, dtype, tile, cluster, schedule, split = kind
    shape = [f"cute::Shape<{', '.join(f'cute::_{x}' if x in (1, 2, 4, 8, 16, 32, 64, 128, 256) else f'cute::Int<{x}>' for x in s)}>"
             for s in (tile, (*cluster, 1))]
    scheduler = f"cutlass::gemm::{'StreamK' if split else 'Persistent'}Scheduler"
    return (f'#include "cutlass_sm90.hpp"\nusing Gemm = cudal2::Sm90<{ELEMENT[dtype]}, cutlass::layout::{LAYOUT_B[layout]}, '
            f"{shape[0]}, {shape[1]}, cudal2::{schedule.capitalize()}, {scheduler}>::Gemm;\n")


class Build:
    """What all types share; a type is kept as OUT/<key>.o with its record."""

    def __init__(self, options):
        self.options = options
        self.nvcc, version = find_nvcc(TOOL)
        self.includes = [HERE, TOP / "harness", *cutlass_includes(TOOL, options.cutlass)]
        self.version = re.findall(r"#define CUTLASS_(?:MAJOR|MINOR|PATCH) (\d+)", (self.includes[2] / "cutlass/version.h").read_text())
        headers = [HERE / n for n in ("plugin_variants.hpp", "cutlass_plugin.hpp", "cutlass_sm90.hpp")] + [TOP / "harness/abi/contender.h"]
        self.base = hashlib.sha256(" ".join([*FLAGS, version, *self.version]).encode() + b"".join(h.read_bytes() for h in headers))

    def key(self, kind):
        digest = self.base.copy()
        digest.update(source_of(kind).encode())
        return digest.hexdigest()[:24]

    def include_flags(self):
        return [x for i in self.includes for x in ("-I", str(i))]

    def compile(self, kind):
        """The record of a type: from the cache, or compiled now."""
        out, key = self.options.out, self.key(kind)
        made, kept = out / f"{key}.o", out / f"{key}.json"
        if kept.exists() and (made.exists() or json.loads(kept.read_text())["reason"]):
            return json.loads(kept.read_text())
        source, partial, start = out / f"{key}.cu", out / f"{key}.part.{os.getpid()}.o", time.monotonic()
        source.write_text(source_of(kind) + f"extern const cudal2::Ops ops_{key};\nconst cudal2::Ops ops_{key} = cudal2::ops<Gemm>;\n")
        reason = None
        try:
            done = subprocess.run([self.nvcc, *FLAGS, "-gencode", "arch=compute_90a,code=sm_90a", *self.include_flags(), "-c", str(source),
                                   "-o", str(partial)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=self.options.timeout)
            (out / f"{key}.log").write_text(done.stdout)
            if done.returncode:
                errors = [line for line in done.stdout.splitlines() if "error" in line] or ["no message"]
                reason = re.sub(r"\S*/", "", errors[0])[:200]
        except subprocess.TimeoutExpired:
            reason = f"nvcc did not end in {self.options.timeout:.0f} s"
        if reason is None:
            partial.replace(made)
        partial.unlink(missing_ok=True)
        record = {"type": describe(kind), "key": key, "reason": reason, "seconds": round(time.monotonic() - start, 1)}
        kept.write_text(json.dumps(record) + "\n")
        return record


def describe(kind):
    layout, dtype, tile, cluster, schedule, split = kind
    return f"{layout} {dtype} {'x'.join(map(str, tile))} {cluster[0]}x{cluster[1]} {schedule}{' stream-k' if split else ''}"


def entries(by_shape, good, count):
    """Of the list of variants, in one layout; a shape of which nothing builds has none."""
    for (m, n, k), proposals in by_shape.items():
        for p in [p for p in proposals if p.type in good][:count]:
            raster = f"'{p.raster}'" if p.raster else "0"
            yield f'    {{"{p.key}", &ops_{good[p.type]}, {{{raster}, {p.swizzle}, {p.splits}}}, {m}, {n}, {k}}},\n'


def main_source(options, build, found, good, version):
    told = json.dumps({"cutlass": ".".join(build.version), "heuristics": version, "proposals": options.count, "types": len(good)})
    text = '#include "plugin_variants.hpp"\n' + "".join(f"extern const cudal2::Ops ops_{key};\n" for key in good.values())
    for layout in ("nn", "tn"):
        lines = "".join(entries(found.get(layout, {}), good, options.count))
        none = '    {"none", nullptr, {}, -1, -1, -1},\n'
        text += f"static constexpr cudal2::Variant {layout}[] = {{\n{lines or none}}};\n"
    return text + f"""static int versions(char *out, size_t capacity)
{{
    return std::snprintf(out, capacity, "%s", {json.dumps(told)}) < static_cast<int>(capacity) ? CUDAL2_OK : CUDAL2_LIBRARY_ERROR;
}}
CUDAL2_PLUGIN_OF("{FAMILY}", nn, tn, CUDAL2_{options.dtype.upper()}, versions)
"""


def link(options, build, text, good):
    main, made = options.out / "main.cpp", options.out / f"{FAMILY}.so"
    main.write_text(text)
    compiled = options.out / "main.o"
    subprocess.run([os.environ.get("CXX", "g++"), "-std=c++17", "-O1", "-fPIC", "-fvisibility=hidden", "-DCUDAL2_CC=90", *build.include_flags()[:4],
                    "-c", str(main), "-o", str(compiled)], check=True)
    subprocess.run([build.nvcc, "-shared", str(compiled), *(str(options.out / f"{key}.o") for key in good.values()), "-Xlinker",
                    f"--version-script={TOP}/harness/abi/plugin.map", "-o", str(made)], check=True)
    return made


def build_all(options, build, types):
    """{type: key} of those that build; report.tsv has the others' reasons."""
    good, records, start = {}, [], time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        work = {pool.submit(build.compile, t): t for t in types}
        for i, done in enumerate(concurrent.futures.as_completed(work), 1):
            record = done.result()
            records.append(record)
            if record["reason"] is None:
                good[work[done]] = record["key"]
            left = (time.monotonic() - start) / i * (len(types) - i) / 60
            print(f"[{i}/{len(types)}] {record['type']}: {record['reason'] or 'ok'}; {left:.0f} min left", flush=True)
    (options.out / "report.tsv").write_text("type\tseconds\treason\n" + "".join(
        f"{r['type']}\t{r['seconds']}\t{r['reason'] or ''}\n" for r in sorted(records, key=lambda r: r["type"])))
    return good


def main():
    options = arguments()
    enter(TOOL, "nvMatmulHeuristics")
    from importlib.metadata import version
    shapes = shapes_of(options)
    found = propose(options, shapes)
    types = wanted_types(options, found)
    print(f"{len(shapes)} shapes, {len(types)} kernel types: about {len(types) * SECONDS / options.jobs / 60:.0f} min to compile, "
          f"less for what {options.out} has already\n{said_of(options, found, set(types))}", flush=True)
    if options.plan:
        return
    options.out.mkdir(parents=True, exist_ok=True)
    build = Build(options)
    good = build_all(options, build, types)
    if not good:
        fail(TOOL, f"no type builds: {options.out}/report.tsv says why")
    made = link(options, build, main_source(options, build, found, good, version("nvidia-matmul-heuristics")), good)
    print(f"{said_of(options, found, good)}\n{made}: {len(good)} of {len(types)} types; cudal2-bench run -b {made.resolve()} ...")


if __name__ == "__main__":
    sys.exit(main())
