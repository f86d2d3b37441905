#!/usr/bin/env python3
"""figures-check.py [--write]: every figure of README.md, results/README.md and the pages below that comes
from a measurement.

Reads committed files under results/ alone. A block of a page between `<!-- figures: NAME -->` and `<!-- end
-->` is what the function of that name gives; without --write a block that differs is told, and the exit
status is 1. So a figure is changed by changing data or this script, never by hand. Part of scripts/lint.sh;
run it with --write after `make results`. CUDAL2_BENCH names the program (default build/cudal2-bench); exit
69: it is not there.

A lead is cudal2-max over a baseline, t_baseline / t_ours - 1, over cublaslt-autotuning-max by device time
unless it says otherwise. Means are of the shapes' means of ratios (the paper's); ahead, behind and intervals
are of the trimmed estimate. A shape's class is that of AutoTuning's time, the faster layout's median."""
import collections
import csv
import difflib
import functools
import glob
import gzip
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "figures"))
import learned  # noqa: E402
from learned import table  # noqa: E402

ROOT = "results/h200"
ALONE = "grid-f32"
ALONE_RUNS = (ALONE, "../h100/alone-f32", "../h100/fifth-offline-f32")  # the last two of 200 shapes, on two hosts
SCALE = (("offline", "one-offline"), ("offline", "two-offline"), ("server", "one-server"), ("server", "two-server"),
         ("older, offline", "off1"), ("older, offline", "off4"), ("older, server", "srv1"), ("older, server", "srv4"))
GRIDS = (ALONE, "grid-f32-server", "grid-f16", "../h100/server-f16")  # launches alone
ROW = "offline-f32"  # launches that may overlap
BASELINES = ("torch.matmul", "cublas-max", "cublaslt-heuristic-max", "cublaslt-autotuning-max")
TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
with open(os.path.join(TOP, "configs", "config.schema.json")) as schema:
    TIMINGS = tuple(json.load(schema)["$defs"]["timing"]["enum"])
LAYOUTS = ("nn", "tn")
CLASSES = ((0, 5, "under 5 us"), (5, 10, "5 to 10 us"), (10, 30, "10 to 30 us"), (30, 100, "30 to 100 us"),
           (100, 1e3, "0.1 to 1 ms"), (1e3, 1e9, "over 1 ms"))
PAGES = ("README.md", "results/README.md", "docs/scale-out.md", "docs/method.md", "docs/trust.md", "docs/rl.md", "docs/lab/rl-details.md")
PROGRAM = os.environ.get("CUDAL2_BENCH", "build/cudal2-bench")


def report(*arguments):
    environment = {k: v for k, v in os.environ.items() if k != "COLUMNS"}
    return subprocess.run([PROGRAM, "report", *arguments], check=True, capture_output=True, text=True, env=environment).stdout


@functools.lru_cache(maxsize=None)
def result_of(run):
    with tempfile.TemporaryDirectory() as made:
        report(os.path.join(ROOT, run), "--format", "result", "--output", made)
        with open(os.path.join(made, "result.json")) as file:
            return json.load(file)


def cells_of(run):
    return [c for c in result_of(run)["cells"] if c["status"] == "ok"]


@functools.lru_cache(maxsize=None)
def older_runs():
    """Leads of runs that left the tree: results/h200/between-runs."""
    runs = collections.defaultdict(dict)
    with gzip.open(os.path.join(ROOT, "between-runs", "leads.csv.gz"), "rt") as file:
        for row in csv.DictReader(file):
            runs[row["run"]][row["shape"]] = {k: float(row[k]) for k in row if k not in ("run", "shape") and row[k]}
    return runs


def time_us(cell, name, timing="device", what="median_ns"):
    return cell["contenders"][name]["timings"][timing][what] / 1e3


def autotuning_us(cell):
    return min(time_us(cell, "cublaslt-autotuning-" + layout) for layout in LAYOUTS)


def lead(cell, over="cublaslt-autotuning-max"):
    return next(s for s in cell["speedups"] if (s["candidate"], s["reference"]) == ("cudal2-max", over))


def shape(cell):
    return "%dx%dx%d" % (cell["m"], cell["n"], cell["k"])


def percent(x, digits=1):
    return "%+.*f%%" % (digits, 100 * x)


def summary(run, timing, reference, candidate="cudal2-max", part="speedups"):
    return next(s for s in result_of(run)["summary"][part]
                if (s["candidate"], s["timing"], s["reference"]) == (candidate, timing, reference))


def named(run):
    return run[3:] if run.startswith("../") else "h200/" + run


def title(run):
    first = result_of(run)["cells"][0]
    mode, accumulate = first["mode"], first["accumulate"]
    return "%s, %s" % ({"f16": "fp16", "f32": "fp32"}[accumulate], mode)


def strongest_baseline(cell):
    """The lead over the strongest baseline: chosen on one half of the blocks, scored on the other."""
    return lead(cell, "strongest")


# ---- the blocks ----

def headline():
    """What `report` prints of launches alone, rows left out."""
    told = report(os.path.join(ROOT, ALONE)).splitlines()
    start = next(i for i, line in enumerate(told) if line.startswith("timing ") and "against" in line)
    rows = told[start:start + 2]
    for line in told[start + 2:]:
        if not line.strip():
            break
        words = line.split()
        by_device = words[0].startswith("device")
        baselines = BASELINES + ("strongest",) if by_device else ("cublaslt-autotuning-max",)
        if len(words) > 2 and words[2] in baselines:
            rows.append(line)
    return ["```"] + [line.rstrip() for line in rows] + ["```"]


def geometric(leads):
    return math.exp(statistics.fmean(math.log1p(s["geomean"]) for s in leads)) - 1


def class_row(name, cells):
    worst = min(cells, key=lambda c: lead(c)["geomean"])
    leads = [lead(c) for c in cells]
    return (name, len(cells), percent(geometric(leads)), sum(s["geomean"] > 0 for s in leads),
            sum(s["ci95"][1] < 0 for s in leads), "%s (%s)" % (percent(lead(worst)["geomean"]), shape(worst)))


CLASS_HEADS = ("shapes", "geometric mean", "ahead", "clearly behind", "worst")


def alone():
    """Launches alone, by the time that AutoTuning takes."""
    cells = cells_of(ALONE)
    parts = [(name, [c for c in cells if low <= autotuning_us(c) < high]) for low, high, name in CLASSES]
    rows = [class_row(name, part) for name, part in parts if part] + [class_row("all", cells)]
    ours = sum(min(time_us(c, "cudal2-" + layout) for layout in LAYOUTS) for c in cells)
    rows.append(("all, by the sum of times", len(cells), percent(sum(map(autotuning_us, cells)) / ours - 1), "", "", ""))
    return table(("AutoTuning takes",) + CLASS_HEADS, rows)


def alone_again():
    """Over the strongest baseline: all shapes on H200s, and a fifth of them in two runs on two hosts with
    H100s."""
    rows = []
    for run in ALONE_RUNS:
        leads = [strongest_baseline(c) for c in cells_of(run)]
        rows.append(("`%s`" % named(run), len(leads), percent(geometric(leads)),
                     percent(statistics.median(s["geomean"] for s in leads)), sum(s["geomean"] > 0 for s in leads),
                     percent(min(s["geomean"] for s in leads)), *(percent(summary(run, timing, "strongest")["geomean"])
                                                                  for timing in ("event", "wall"))))
    return table(("run", "shapes", "geometric mean", "median", "ahead", "worst", "by event", "by wall"), rows)


def unseen():
    """Problems that nobody searched, by class."""
    rows = []
    for run, name in (("../h100/judged-race", "H100, raced"), ("../h100/judged-zero", "H100, first choice"),
                      ("unseen-race", "H200, raced"), ("unseen-zero", "H200, first choice")):
        cells = cells_of(run)
        for label in dict.fromkeys(c["label"] for c in cells):
            rows.append((name, *class_row(label, [c for c in cells if c["label"] == label])))
        rows.append((name, *class_row("all of this run", cells)))
    return table(("choice", "class") + CLASS_HEADS, rows)


UNSEEN = (("../h100/judged-race", "H100, raced at the first call"), ("../h100/judged-zero", "H100, first choice, no race"),
          ("unseen-race", "H200, older program, raced"), ("unseen-zero", "H200, older program, first choice"))


def unseen_all():
    """The same, a row for each way to choose."""
    return table(("how the kernel is chosen",) + CLASS_HEADS, [class_row(name, cells_of(run)) for run, name in UNSEEN])


def time_spent(name):
    """Of a run in results/h200: its seconds, GPUs, and of a GPU in the mean those before the first cell and
    in cells."""
    opener = gzip.open(os.path.join(ROOT, name + ".jsonl.gz"), "rt")
    with opener as file:
        end = [json.loads(line) for line in file if '"kind":"end"' in line][-1]["data"]
    spent = end["time_spent"]
    measure, *watch = spent["parts"]
    workers = measure["workers"]
    return (spent["seconds"], len(workers), statistics.fmean(w["start"] for w in workers),
            statistics.fmean(w["work"] for w in workers), sum(part["seconds"] for part in watch), end["cells"])


def scale():
    """One host's GPUs, from cold caches; every row a run of its own, the older ones of another sitting."""
    rows, first = [], {}
    for mode, name in SCALE:
        seconds, gpus, start, work, watch, cells = time_spent("scale/" + name)
        first.setdefault(mode, seconds)
        rows.append(("%s, %d shapes" % (mode, cells), gpus, "%.1f s" % seconds, "%.2f" % (first[mode] / seconds), "%.1f s" % start,
                     "%.1f s" % work, "%.1f s" % watch))
    seconds, gpus, start, work, watch, cells = time_spent(ALONE + "/journal")
    rows.append(("offline, %d shapes" % cells, gpus, "%.1f s" % seconds, "-", "%.1f s" % start, "%.1f s" % work, "%.1f s" % watch))
    return table(("run", "GPUs", "whole", "times as fast as the first", "before the first cell", "in cells, each GPU",
                  "watching launches"), rows)


def against():
    """Every search of NVIDIA's algorithms, over the shapes that were reached."""
    rows = []
    for name in ("torch.matmul", "torch.matmul-full", "cublas-max", "cublas-autotune-max", "cublaslt-heuristic-max",
                 "cublaslt-autotuning-max", "cublaslt-exhaustive-max", "strongest"):
        over = summary("strongest", "device", name)
        rows.append((name, over["n"], percent(over["geomean"]), percent(over["median"]), over["wins"]))
    return table(("over", "shapes", "geometric mean", "median", "ahead"), rows)


def fastest_us(cell):
    """Of all baselines of a cell, by their medians."""
    return min(time_us(cell, name) for name in cell["contenders"] if not name.startswith("cudal2"))


def fp16_against_fp32():
    """The lead with fp16 sums over baselines that may also sum in fp32: those of that sitting's fp32 grid."""
    rows = []
    for what, time_of in (("cublaslt-autotuning", autotuning_us), ("any baseline", fastest_us)):
        narrow, wide = ({shape(c): c for c in cells_of(run)} for run in ("grid-f16", "grid-f32"))
        both = [s for s in narrow if s in wide]
        for sums, leads in (("fp16", [time_of(narrow[s]) for s in both]),
                            ("fp16 or fp32", [min(time_of(narrow[s]), time_of(wide[s])) for s in both])):
            ratios = {s: t / min(time_us(narrow[s], "cudal2-" + x) for x in LAYOUTS) for s, t in zip(both, leads)}
            worst = min(ratios, key=ratios.get)
            rows.append((what, sums, len(both), percent(statistics.geometric_mean(ratios.values()) - 1),
                         sum(r > 1 for r in ratios.values()), "%s (%s)" % (percent(ratios[worst] - 1), worst)))
    return table(("the fastest of", "sums in", "shapes", "geometric mean", "ahead", "worst"), rows)


def price():
    """Seconds of the cells of two runs, but for what compiling is in (phase tune)."""
    rows = []
    for name in ("with", "without"):
        with gzip.open(os.path.join(ROOT, "price", name + ".jsonl.gz"), "rt") as file:
            cells = [json.loads(line)["data"] for line in file if '"kind":"cell"' in line]
        blocks = sum(sum(c["group_blocks"]) for c in cells)
        parts = [sum(c["phase_seconds"].get(p, 0) for c in cells) for p in ("measure", "other")]
        checks = sum(c["part_seconds"].get("checks", 0) for c in cells)
        rows.append((name, len(cells), blocks, "%.1f s" % (parts[0] - checks), "%.1f s" % checks, "%.1f s" % parts[1],
                     "%.1f ms" % (1e3 * sum(parts) / blocks)))
    return table(("checks", "cells", "blocks", "blocks took", "checks of timed segments", "checks between blocks",
                  "all, a block"), rows)


def explored():
    """After a search of 56 kernels a layout: the winners' leads, measured anew in blocks."""
    cells = cells_of("explore")
    names = {"few": "few rows", "llm": "language models", "mult64": "multiples of 64", "mult8": "multiples of 8"}
    return table(("class",) + CLASS_HEADS, [class_row(names.get(label, label), [c for c in cells if c["label"] == label])
                                            for label in sorted({c["label"] for c in cells})])


def grids():
    rows = []
    for run in GRIDS:
        over, worst = summary(run, "device", "strongest"), min(cells_of(run), key=lambda c: strongest_baseline(c)["geomean"])
        device = result_of(run)["env"][0]["device"]["name"].split()[1]
        rows.append((title(run), device, percent(over["geomean"]), percent(over["median"]), "%d of %d" % (over["wins"], over["n"]),
                     "%s (%s)" % (percent(strongest_baseline(worst)["geomean"]), shape(worst)),
                     percent(summary(run, "device", BASELINES[-1])["geomean"]), "`results/%s`" % named(run)))
    return table(("accumulate, mode", "GPU", "geometric mean", "median", "ahead", "worst shape", "over AutoTuning alone", "run"), rows)


def runs():
    rows = []
    for run in GRIDS + (ROW,):
        result, cells = result_of(run), cells_of(run)
        log = glob.glob(os.path.join(ROOT, run, "run.log*"))[0]
        with (gzip.open if log.endswith(".gz") else open)(log, "rt", errors="replace") as file:
            text = file.read()
        spent = re.findall(r"where the time went: ([\d.]+) s", text) or re.findall(r"exit \d+ after (\d+) s", text)
        gpus = {result["env"][c["env"]]["device"]["uuid"] for c in cells}
        rows.append((title(run), "`%s`" % named(run), result["run"]["build"]["commit"][:7], len(cells),
                     "%d at %s" % (sum(c["converged"] for c in cells), "2%" if "server" in run else "0.5%"),
                     "%.0f s" % sum(map(float, spent)), "%d %s" % (len(gpus), result["env"][0]["device"]["name"].split()[1])))
    return table(("accumulate, mode", "run", "commit", "shapes measured", "converged", "time", "GPUs"), rows)


def timings_of(run):
    """Those that the run's summary has, in the order of files."""
    taken = {row["timing"] for row in result_of(run)["summary"]["speedups"]}
    return [timing for timing in TIMINGS if timing in taken]


def leads():
    rows = []
    for name in BASELINES:
        rows.append([name] + [" / ".join(percent(summary(run, t, name)["mean"]) for t in timings_of(run)) for run in GRIDS])
    return table(["over"] + [title(run) for run in GRIDS], rows)


def by_interval():
    rows = []
    for run in GRIDS:
        cells = cells_of(run)
        worst = min(cells, key=lambda c: lead(c)["geomean"])
        low, high = lead(worst)["ci95"]
        rows.append((title(run), sum(lead(c)["ci95"][0] > 0 for c in cells), sum(lead(c)["ci95"][1] < 0 for c in cells),
                     sum(lead(c)["geomean"] < -0.03 for c in cells),
                     "%s: %s (%s to %s)" % (shape(worst), percent(lead(worst)["geomean"]), percent(low), percent(high))))
    return table(("accumulate, mode", "faster", "slower", "slower by over 3%", "the furthest behind, with its interval"), rows)


def by_class():
    rows = []
    for low, high, name in CLASSES:
        row = [name]
        for run in GRIDS:
            part = [c for c in cells_of(run) if low <= autotuning_us(c) < high]
            row.append("none" if not part else "%d: %s, %d behind" % (len(part), percent(statistics.fmean(lead(c)["mean_of_ratios"] for c in part)),
                                              sum(lead(c)["geomean"] < 0 for c in part)))
        rows.append(row)
    return table(["AutoTuning takes"] + [title(run) for run in GRIDS], rows)


def row_of_launches():
    """The lead where launches may overlap, and who is made so."""
    cells = cells_of(ROW)
    early = [sum(bool(c["contenders"]["cudal2-" + layout].get("early")) for c in cells) for layout in LAYOUTS]
    rows = []
    for run, name, told in ((ALONE, "alone", ("-", "-")), (ROW, "in a row", early)):
        over = summary(run, "device", BASELINES[-1])
        rows.append((name, "`%s`" % named(run), percent(over["geomean"]), percent(over["median"]), over["wins"], *told))
    return table(("launches", "run", "geometric mean", "median", "ahead", "cudal2-nn overlaps in", "cudal2-tn"), rows)


def launch_path():
    rows = []
    for run in GRIDS:
        cells = cells_of(run)
        short = [c for c in cells if autotuning_us(c) < 8]
        adds = [statistics.median(time_us(c, name, "event") - time_us(c, name) for c in short)
                for name in ("cublaslt-autotuning-nn", "cudal2-nn")]
        equal = [percent(summary(run, "event", "cublaslt-autotuning-" + layout, "cudal2-" + layout, "equal_path")["mean"]) for layout in LAYOUTS]
        empty = statistics.median(c["null_graph"]["median_ns"] / 1e3 for c in cells)
        rows.append((title(run), percent(summary(run, "event", BASELINES[-1])["mean"]), " and ".join(equal),
                     "%.1f and %.1f us" % tuple(adds), "%.1f us" % empty))
    return table(("accumulate, mode", "event lead", "both as a graph of one (NN and TN)",
                  "host and events add to AutoTuning and to ours, under 8 us", "empty graph"), rows)


def torch():
    rows = []
    for run in GRIDS:
        cells = cells_of(run)
        faster = sum(lead(c, "torch.matmul")["geomean"] < lead(c)["geomean"] for c in cells)
        loses = sum(time_us(c, "cublaslt-heuristic-" + layout) / time_us(c, "cublaslt-autotuning-" + layout) < 0.99
                    for c in cells for layout in LAYOUTS)
        rows.append((title(run), faster, percent(statistics.fmean(strongest_baseline(c)["mean_of_ratios"] for c in cells)),
                     sum(strongest_baseline(c)["geomean"] > 0 for c in cells), "%d of %d" % (loses, 2 * len(cells))))
    return table(("accumulate, mode", "torch.matmul beats AutoTuning on", "lead over the strongest baseline", "wins",
                  "AutoTuning over 1% slower than the heuristic, layouts"), rows)


def open_cells():
    rows = []
    for run in GRIDS:
        left = [c for c in cells_of(run) if not c["converged"]]
        long = [c for c in left if autotuning_us(c) >= 1e3]
        rows.append((title(run), len(left), len(long), "%.1f%%" % (100 * max(c["worst_half_width"] for c in left))))
    return table(("accumulate, mode", "not converged", "of them over 1 ms", "widest half-width"), rows)


def two_speeds():
    rows = []
    for run in GRIDS:
        found = [(time_us(c, "cudal2-" + layout, what="p95_ns") / time_us(c, "cudal2-" + layout) - 1, shape(c), layout)
                 for c in cells_of(run) for layout in LAYOUTS if time_us(c, "cudal2-" + layout) < 200]
        slow = sorted((x for x in found if x[0] > 0.12), reverse=True)
        rows.append((title(run), len(slow), "%s %s, %.0f%%" % (slow[0][1], slow[0][2].upper(), 100 * slow[0][0]) if slow else "-"))
    return table(("accumulate, mode", "layouts, of 2000", "the worst"), rows)


def copies():
    rows = []
    for run in GRIDS:
        for timing in timings_of(run):
            copy = next(a for a in result_of(run)["summary"]["aa"] if a["timing"] == timing)
            rows.append((title(run), timing, percent(copy["mean_log_ratio"], 3), percent(copy["sd_log_ratio"], 1)[1:],
                         "%d of %d" % (copy["excludes_one"], copy["n"])))
    return table(("accumulate, mode", "timing", "mean log ratio", "its scatter", "intervals that exclude 0"), rows)


def between_runs():
    old = older_runs()
    pairs = (("offline, fp32, two GPUs of one host at once", old["11-22e-offline-f32"], old["11-22f-offline-f32"]),
             ("offline, fp16, other hosts", old["11-24e-offline-f16"], old["11-24g-offline-f16"]),
             ("server, fp32, two hosts", old["11-24b-server-f32"], old["11-24d-server-f32"]),
             ("server, fp16, other hosts", old["11-24e-server-f16"], old["11-24f-server-f16"]),
             ("offline, fp32, unseen problems, other hosts", old["11-27-judged-race-1"], old["11-27-judged-race-2"]))
    rows = []
    for name, base, new in pairs:
        both = [s for s in base if s in new]
        apart = sorted(100 * abs(base[s]["lead"] - new[s]["lead"]) for s in both)
        inside = sum(base[s]["ci_low"] <= new[s]["lead"] <= base[s]["ci_high"] for s in both)
        rows.append((name, len(both), "%.2f points" % statistics.median(apart), "%.2f" % apart[int(0.9 * len(apart))],
                     "%.0f%%" % (100 * inside / len(both))))
    return table(("two runs", "shapes", "median difference", "90th percentile", "second lead in the first's interval"), rows)


def off_grid():
    """Leads that the finals of a search told in its log, on problems of the grid and on random sizes."""
    sizes = {64, 128, 256, 512, 1024, 2048, 4096, 8192, 12288, 16384}
    line_of = re.compile(r"-(\d+)x(\d+)x(\d+)  cudal2-\S+ .* vs \S+ .*  ([+-][\d.]+)%")
    rows = []
    for mode, name in (("offline", "stream-f32-row.log"), ("server", "stream-f32-idle.log")):
        found = {True: [], False: []}
        with open(os.path.join(ROOT, "off-grid", name), errors="replace") as file:
            for match in filter(None, map(line_of.search, file)):
                found[{int(n) for n in match.groups()[:3]} <= sizes].append(float(match.group(4)))
        for on_grid, what in ((True, "of the grid"), (False, "random sizes")):
            part = found[on_grid]
            geometric = math.exp(statistics.fmean(math.log1p(p / 100) for p in part)) - 1
            rows.append(("fp32, " + mode, what, len(part), percent(geometric), "%+.1f%%" % statistics.median(part), sum(p > 0 for p in part)))
    return table(("accumulate, mode", "problems", "how many", "geometric mean", "median", "ahead"), rows)


COUNTS = re.compile(r"(\d+ of \d+) caught, (?:0 without effect, )?(\d+ of \d+) honest contenders accused, (\d+ of \d+) baselines accused")
RED_TEAM_HEAD = ("cheats caught", "honest contenders accused", "baselines accused")


def red_team():
    rows = []
    for gpu, log in (("H100", "../h100/redteam/f7d2e43.txt"), ("H200", "redteam/06f518ae.txt")):
        with open(os.path.join(ROOT, log), errors="replace") as file:
            found = COUNTS.findall(file.read())[-1]
        rows.append(("%s, `results/%s/redteam`" % (gpu, gpu.lower()), *found))
    return table(("red team on a GPU", *RED_TEAM_HEAD), rows)


COUNTS_CPU = re.compile(r"(\d+) of (\d+) caught, (\d+) without effect, (\d+ of \d+) honest contenders accused, "
                        r"(\d+ of \d+) baselines accused")


def red_team_cpu():
    """One line a seed in results/robustness; the worst seed counts."""
    with open(os.path.join(ROOT, "..", "robustness", "redteam-cpu.txt"), errors="replace") as file:
        seeds = COUNTS_CPU.findall(file.read())
    tried = {seed[1] for seed in seeds}
    accused = [{seed[i].split()[2] for seed in seeds} for i in (3, 4)]
    assert len(tried) == 1 and all(len(total) == 1 for total in accused), "seeds of different tables"
    worst = min(seeds, key=lambda seed: int(seed[0]) + int(seed[2]))
    most = [max(int(seed[i].split()[0]) for seed in seeds) for i in (3, 4)]
    return table(("red team on the CPU device", "cheats with a verdict", "without effect", *RED_TEAM_HEAD[1:]),
                 [("`make redteam`, the worst of %d seeds (`results/robustness/redteam-cpu.txt`)" % len(seeds),
                   "%s of %s" % (worst[0], worst[1]), worst[2],
                   *("%d of %s" % (n, total.pop()) for n, total in zip(most, accused)))])


def watched():
    rows = []
    for run in GRIDS:
        seen = result_of(run)["summary"]["activity"]
        rows.append((title(run), seen["launches"], result_of(run)["run"]["activity"]["cells"], seen["refuted"]))
    return table(("accumulate, mode", "launches watched", "in cells", "refuted"), rows)


def power():
    rows = []
    for run in ("11-23g-server-f32", "11-24b-server-f32", "11-24d-server-f32"):
        x = older_runs()[run]["16384x16384x16384"]
        rows.append(("older grid, an H200, `2026-%s`" % run, percent(x["lead"]), "%s to %s" % (percent(x["ci_low"]), percent(x["ci_high"]))))
    for run, name in (("power-server-f32", "minutes after the last, for longer"), ("grid-f32-server", "the grid, four H200s")):
        s = next(lead(c) for c in cells_of(run) if shape(c) == "16384x16384x16384")
        rows.append((name, percent(s["geomean"]), "%s to %s" % tuple(map(percent, s["ci95"]))))
    return table(("16384x16384x16384, fp32, server", "lead", "interval"), rows)


BLOCK = re.compile(r"<!-- figures: (\w+) -->\n(.*?)<!-- end -->", re.S)


def block(name):
    return (globals().get(name) or getattr(learned, name))()


def renew(text):
    return BLOCK.sub(lambda m: "<!-- figures: %s -->\n%s\n<!-- end -->" % (m.group(1), "\n".join(block(m.group(1)))), text)


def main(write):
    if not os.access(PROGRAM, os.X_OK):
        print("figures: no program %s (make builds it)" % PROGRAM, file=sys.stderr)
        return 69
    bad = 0
    for page in PAGES:
        with open(page) as file:
            text = file.read()
        now = renew(text)
        if now != text and write:
            with open(page, "w") as file:
                file.write(now)
            print("figures: %s written" % page)
        elif now != text:
            bad = 1
            print("figures: %s: not what results/ gives (scripts/figures-check.py --write):" % page)
            print("\n".join(list(difflib.unified_diff(text.splitlines(), now.splitlines(), "page", "data", "", "", 0))[2:12]))
    if not bad:
        print("figures: %s say what results/ gives" % ", ".join(PAGES))
    return bad


if __name__ == "__main__":
    os.chdir(TOP)
    sys.exit(main(sys.argv[1:] == ["--write"]))
