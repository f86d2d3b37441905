#!/usr/bin/env python3
"""page.py [GRID...]: the figures of results/README.md, in its order, from committed directories; run from the repository's root.

GRIDs are directories of results/h200, by default the four of that page. Where a directory has its journal alone the program makes its
result (CUDAL2_BENCH, default build/cudal2-bench). A lead is cudal2-max over a baseline, t_baseline / t_ours - 1; unless said otherwise
by device time and over cublaslt-autotuning-max. Means are of the shapes' means of ratios; ahead, behind and intervals are of the
trimmed estimate. A shape's class is that of AutoTuning's time: the faster layout's median."""
import csv
import gzip
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = "results/h200"
GRIDS = ("offline-f32", "server-f32", "offline-f16", "server-f16")
BASELINES = ("torch.matmul", "cublas-max", "cublaslt-heuristic-max", "cublaslt-autotuning-max")
TIMINGS = ("device", "event", "wall")
LAYOUTS = ("nn", "tn")
CLASSES = ((0, 5), (5, 10), (10, 30), (30, 100), (100, 1e3), (1e3, 1e9))  # us
DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def result_of(run):
    path = os.path.join(ROOT, run, "result.json.gz")
    if os.path.exists(path):
        with gzip.open(path) as file:
            return json.load(file)
    program = os.environ.get("CUDAL2_BENCH", "build/cudal2-bench")
    with tempfile.TemporaryDirectory() as made:
        subprocess.run([program, "report", os.path.join(ROOT, run), "--format", "result", "--output", made], check=True)
        with open(os.path.join(made, "result.json")) as file:
            return json.load(file)


def table1(run, baseline):
    """Mean lead and wins, as `report` has them: what is fastest of a shape in hindsight is no pair of a result."""
    with open(os.path.join(ROOT, run, "tables", "table1.csv"), newline="") as file:
        row = next(row for row in csv.DictReader(file) if row["baseline"] == baseline)
    mode = "offline" if row["offline_mean"] else "server"
    return float(row[mode + "_mean"]), int(row[mode + "_wins"])


def time_us(cell, name, timing="device", what="median_ns"):
    return cell["contenders"][name]["timings"][timing][what] / 1e3


def autotuning_us(cell):
    return min(time_us(cell, "cublaslt-autotuning-" + layout) for layout in LAYOUTS)


def lead(cell, over="cublaslt-autotuning-max"):
    return next(s for s in cell["speedups"] if (s["candidate"], s["reference"], s["timing"]) == ("cudal2-max", over, "device"))


def shape(cell):
    return "%dx%dx%d" % (cell["m"], cell["n"], cell["k"])


def reading(cell):
    found = lead(cell)
    return "%s %+.1f%% (%+.1f to %+.1f)" % (shape(cell), 100 * found["geomean"], *(100 * x for x in found["ci95"]))


def decoded(series, every):
    """A journal's series (docs/results.md, "The journal"): time by block."""
    if not isinstance(series, dict):
        series = {"values": series, "every": every}
    step, shortest, digits = series["values"].split(":")
    values, number, shift = [], 0, 0
    for digit in digits:
        number |= (DIGITS.index(digit) & 31) << shift
        shift += 5
        if DIGITS.index(digit) < 32:
            values.append((int(shortest) + number) * float(step))
            number = shift = 0
    blocks = series["block"] if "block" in series else [i * series["every"] for i in range(len(values))]
    return dict(zip(blocks, values))


def copies(run):
    """The mean of the cells' means of ratios of a contender's time over its copy's, by each timing."""
    means = {timing: [] for timing in TIMINGS}
    with gzip.open(os.path.join(ROOT, run, "journal.jsonl.gz"), "rt") as file:
        for line in file:
            if '"kind":"cell"' not in line[:40]:
                continue
            cell = json.loads(line)["data"]
            contenders = {c["name"]: c for c in cell["contenders"]}
            for timing in TIMINGS:
                copy, original = (contenders[name].get(timing) for name in ("cudal2-nn+copy", "cudal2-nn"))
                if copy and original:
                    every = 1 if timing == cell["headline"] else cell["others_every"]
                    copy, original = decoded(copy, every), decoded(original, every)
                    means[timing].append(statistics.fmean(original[b] / copy[b] - 1 for b in original if b in copy))
    return ", ".join("%s %+.2f%% (%d cells)" % (t, 100 * statistics.fmean(means[t]), len(means[t])) for t in TIMINGS)


def summary(result, candidate="cudal2-max", part="speedups"):
    return {(s["timing"], s["reference"]): s for s in result["summary"][part] if s["candidate"] == candidate}


def of_run(run, result, cells):
    with open(os.path.join(ROOT, run, "run.log")) as file:
        seconds = [int(x) for x in re.findall(r"exit \d+ after (\d+) s", file.read())]
    devices = [env["device"]["uuid"][4:12] for env in result["env"]]
    counts = {d: sum(devices[c["env"]] == d for c in cells) for d in devices}
    print("  commit %s, %d of %d converged, %s = %d s, cells by GPU: %s" % (
        result["run"]["build"]["commit"][:7], sum(c["converged"] for c in cells), len(cells), " + ".join(map(str, seconds)),
        sum(seconds), ", ".join("%s %d" % x for x in counts.items())))
    table = summary(result)
    for name in BASELINES:
        print("  %-24s %s" % (name, " / ".join("%+.1f%%" % (100 * table[timing, name]["mean"]) for timing in TIMINGS)))
    print("  geometric, over AutoTuning: %s" % " / ".join(
        "%+.1f%%" % (100 * table[timing, BASELINES[-1]]["geomean"]) for timing in TIMINGS))


def by_interval(cells):
    behind = [c for c in cells if lead(c)["ci95"][1] < 0]
    print("  ahead %d, by interval %d; behind %d, by interval %d%s; under 0.97x %d" % (
        sum(lead(c)["geomean"] > 0 for c in cells), sum(lead(c)["ci95"][0] > 0 for c in cells),
        sum(lead(c)["geomean"] < 0 for c in cells), len(behind), "".join("; " + reading(c) for c in behind),
        sum(lead(c)["geomean"] < -0.03 for c in cells)))
    print("  furthest behind: %s" % "; ".join(reading(c) for c in sorted(cells, key=lambda c: lead(c)["geomean"])[:4]))


def by_class(cells):
    print("  median shape %+.1f%%" % (100 * statistics.median(lead(c)["geomean"] for c in cells)))
    for low, high in CLASSES:
        part = [c for c in cells if low <= autotuning_us(c) < high]
        print("  %6g us on: %4d shapes, %+6.1f%%, %d ahead, %d behind, by interval %d" % (
            low, len(part), 100 * statistics.fmean(lead(c)["mean_of_ratios"] for c in part), sum(lead(c)["geomean"] > 0 for c in part),
            sum(lead(c)["geomean"] < 0 for c in part), sum(lead(c)["ci95"][1] < 0 for c in part)))


def host(cells):
    """Where AutoTuning takes under 8 us: event time less device time, medians of the NN layouts."""
    short = [c for c in cells if autotuning_us(c) < 8]
    adds = [statistics.median(time_us(c, name, "event") - time_us(c, name) for c in short)
            for name in ("cublaslt-autotuning-nn", "cudal2-nn")]
    samples = [c["contenders"]["cudal2-nn"]["timings"]["event"]["n"] for c in cells]
    print("  host and events add to %d problems of AutoTuning's under 8 us: %.1f us to AutoTuning, %.1f to ours" % (len(short), *adds))
    print("  samples of an event time: %d (median); %d of %d cells have two to four; an empty graph takes %.2f us (median)" % (
        statistics.median(samples), sum(2 <= n <= 4 for n in samples), len(cells),
        statistics.median(c["null_graph"]["median_ns"] / 1e3 for c in cells)))


def equal_path(result):
    for layout in LAYOUTS:
        table = summary(result, "cudal2-" + layout, "equal_path")
        print("  equal path %s: %s" % (layout, ", ".join("%s %+.1f%%" % (t, 100 * table[t, "cublaslt-autotuning-" + layout]["mean"])
                                                         for t in ("event", "wall"))))


def baselines(run, cells):
    mean, wins = table1(run, "fastest-baseline")
    torch = sum(lead(c, "torch.matmul")["geomean"] < lead(c)["geomean"] for c in cells)
    loses = sum(time_us(c, "cublaslt-heuristic-" + layout) / time_us(c, "cublaslt-autotuning-" + layout) < 0.99
                for c in cells for layout in LAYOUTS)
    print("  over the fastest baseline %+.1f%%, %d ahead; torch.matmul faster than AutoTuning on %d; AutoTuning over 1%% slower "
          "than the heuristic in %d of %d layouts" % (100 * mean, wins, torch, loses, 2 * len(cells)))


def unconverged(cells):
    left = [c for c in cells if not c["converged"]]
    long = [c["worst_half_width"] for c in left if autotuning_us(c) >= 1e3]
    print("  not converged: %d, %d of them over 1 ms, half-widths %.1f%% (median) up to %.1f%%; the others up to %.1f%%; widest by "
          "a pair with -max: %d" % (len(left), len(long), 100 * statistics.median(long), 100 * max(long),
                        100 * max((c["worst_half_width"] for c in left if autotuning_us(c) < 1e3), default=0),
                        sum("-max" in c["worst_pair"] for c in left)))


def two_speeds(cells):
    found = {(shape(c), layout): time_us(c, "cudal2-" + layout, what="p95_ns") / time_us(c, "cudal2-" + layout) - 1
             for c in cells for layout in LAYOUTS if time_us(c, "cudal2-" + layout) < 200}
    slow = sorted(((x, *key) for key, x in found.items() if x > 0.12), reverse=True)
    print("  two speeds (95th percentile of the blocks over 12%% above the median, under 200 us): %d%s" % (
        len(slow), "".join("; %s %s %.0f%%" % (s, layout.upper(), 100 * x) for x, s, layout in slow)))


def checks(run, result, cells):
    copy = next(a for a in result["summary"]["aa"] if a["timing"] == "device")
    print("  A/A %+.3f%%, %d of %d intervals exclude 0; means of ratios: %s" % (
        100 * copy["mean_log_ratio"], copy["excludes_one"], copy["n"], copies(run)))
    early = [sum(bool(c["contenders"]["cudal2-" + layout].get("early")) for c in cells) for layout in LAYOUTS]
    others = sum(bool(x.get("early")) for c in cells for name, x in c["contenders"].items() if not name.startswith("cudal2"))
    watched = result["summary"]["activity"]
    print("  launched early: %d and %d cells (NN, TN), baselines %d; watched: %d launches in %d cells, %d refuted, "
          "%.2f of the device time" % (
              *early, others, watched["launches"], result["run"]["activity"]["cells"], watched["refuted"], watched["ratio"]["median"]))


def differ(first, second):
    """By how much two runs of the same kernels and table differ, in points."""
    a, b = ({shape(c): lead(c)["geomean"] for c in result_of(run)["cells"] if c["status"] == "ok"} for run in (first, second))
    apart = sorted(100 * abs(a[s] - b[s]) for s in a if s in b)
    print("%s and %s: %d shapes, %.2f points apart in the median, %.2f at the 90th percentile" % (
        first, second, len(apart), statistics.median(apart), apart[int(0.9 * len(apart))]))


def elsewhere():
    print("\nbefore launches began early, over AutoTuning")
    for run in ("2026-11-22-offline-f16", "2026-11-22c-offline-f32"):
        print("  %s %+.1f%%" % (run, 100 * table1(run, "cublaslt-autotuning-max")[0]))
    print("\nbetween runs")
    for pair in (("2026-11-22e-offline-f32", "2026-11-22f-offline-f32"), ("2026-11-24b-server-f32", "2026-11-24d-server-f32"),
                 ("2026-11-24e-offline-f16", "2026-11-24g-offline-f16"), ("2026-11-24e-server-f16", "2026-11-24f-server-f16")):
        differ(*pair)
    cells = result_of("2026-11-22g-server-f32")["cells"]
    print("  2026-11-22g-server-f32, two GPUs of a host: %+.1f%%, an empty graph takes %.2f us" % (
        100 * statistics.fmean(lead(c)["mean_of_ratios"] for c in cells),
        statistics.median(c["null_graph"]["median_ns"] / 1e3 for c in cells)))
    print("\n16384x16384x16384, fp32, from idle")
    for run in ("2026-11-23g-server-f32", "2026-11-24b-server-f32", "2026-11-24d-server-f32", "2026-11-24d-power-f32"):
        print("  %s %s" % (run, next(reading(c) for c in result_of(run)["cells"] if shape(c) == "16384x16384x16384")))


def main(runs):
    for run in runs or GRIDS:
        result = result_of(run)
        cells = [c for c in result["cells"] if c["status"] == "ok"]
        print("\n" + run)
        of_run(run, result, cells)
        by_interval(cells)
        by_class(cells)
        host(cells)
        equal_path(result)
        baselines(run, cells)
        unconverged(cells)
        two_speeds(cells)
        checks(run, result, cells)
    if not runs:
        elsewhere()


if __name__ == "__main__":
    main(sys.argv[1:])
