#!/usr/bin/env python3
"""classes.py RESULT.json.gz [BEFORE.json.gz [SHIFT_US SEARCH.log...]]: cudal2-max over cublaslt-autotuning-max by device time. First
RESULT's classes by AutoTuning's time there: shapes, mean of the speedups, ahead, behind by their interval, under 0.97x. Then, on
the same problems, by AutoTuning's time in BEFORE: mean of the ratios of medians in RESULT, in BEFORE and in the searches' finals with
SHIFT_US off both times, and by how much both sides' times differ from BEFORE's and AutoTuning's in the search from RESULT's."""
import gzip
import json
import re
import statistics
import sys

MEAN = statistics.fmean
UNITS = {"µs": 1.0, "ms": 1e3}


def cells(path):
    """By problem: AutoTuning's time and ours in us, of the faster layout each, the speedup, its interval, and by contender's name its time in us
    and the kernel's parameters."""
    found = {}
    for cell in json.load(gzip.open(path, "rt"))["cells"]:
        each = {name: (x["timings"]["device"]["median_ns"] / 1e3, x.get("attributes", {}).get("parameters", ""))
                for name, x in cell["contenders"].items() if x["status"] == "ok"}
        best = [min(each[name][0] for name in (family + "-nn", family + "-tn") if name in each) for family in ("cublaslt-autotuning", "cudal2")]
        speedup = next(s for s in cell["speedups"] if (s["candidate"], s["reference"], s["timing"]) ==
                       ("cudal2-max", "cublaslt-autotuning-max", "device"))
        found[cell["m"], cell["n"], cell["k"]] = (*best, speedup["geomean"], speedup["ci95"], each)
    return found


def finals(paths):
    """By problem of the searches' logs: AutoTuning's time and ours in us."""
    pattern = re.compile(r"f16-f\d+-(\d+)x(\d+)x(\d+)\s+\S+ ([\d.]+) (µs|ms) vs \S+ ([\d.]+) (µs|ms)")
    found = (pattern.search(line) for path in paths for line in open(path))
    return {tuple(map(int, m.group(1, 2, 3))): (float(m[6]) * UNITS[m[7]], float(m[4]) * UNITS[m[5]]) for m in found if m}


def main():
    now = cells(sys.argv[1])
    for low, high in ((0, 5), (5, 10), (10, 30), (30, 100), (100, 1e3), (1e3, 1e9), (0, 1e9)):
        part = [c for c in now.values() if low <= c[0] < high]
        if part:
            print("%5g-%-5g us %4d  %+6.1f%%  ahead %4d  behind %2d  under 0.97x %2d" % (
                low, high, len(part), 100 * MEAN(c[2] for c in part), sum(c[2] > 0 for c in part), sum(c[3][1] < 0 for c in part),
                sum(c[2] < -0.03 for c in part)))
    before = cells(sys.argv[2]) if len(sys.argv) > 2 else {}
    search, shift = (finals(sys.argv[4:]), float(sys.argv[3])) if len(sys.argv) > 4 else ({}, 0.0)
    for low, high in ((0, 5), (5, 7), (7, 10), (10, 20), (20, 30), (30, 100), (100, 1e3), (1e3, 1e9), (0, 1e9)):
        keys = [k for k in before if k in now and low <= before[k][0] < high and (not search or k in search)]
        if not keys:
            continue
        print("%5g-%-5g us %4d  %+6.2f%% (before %+6.2f%%)  ours %+5.2f%% AutoTuning %+5.2f%%" % (
            low, high, len(keys), 100 * MEAN(now[k][0] / now[k][1] - 1 for k in keys), 100 * MEAN(before[k][0] / before[k][1] - 1 for k in keys),
            100 * MEAN(now[k][1] / before[k][1] - 1 for k in keys), 100 * MEAN(now[k][0] / before[k][0] - 1 for k in keys)), end="")
        if search:
            print("  search %+6.2f%%, AutoTuning %+5.2f%%" % (
                100 * MEAN((search[k][0] - shift) / (search[k][1] - shift) - 1 for k in keys),
                100 * MEAN((search[k][0] - shift) / now[k][0] - 1 for k in keys)), end="")
        print()


if __name__ == "__main__":
    main()
