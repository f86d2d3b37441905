#!/usr/bin/env python3
"""since.py [-p NAME] BEFORE.json.gz NOW.json.gz LOG...: what came of searches between two grids. Of the problems of each search's log, of none of them, and by
AutoTuning's time in BEFORE: mean speedup of cudal2-max over cublaslt-autotuning-max in either (device time), medians of NOW's times over
BEFORE's, and of a search the mean of its finals' ratios and AutoTuning's time there over NOW's. With -p also the problems whose winner in NOW has
a parameter NAME that is not 0, and the layouts: how many take less than in BEFORE, ours and AutoTuning's medians over those."""
import getopt
import gzip
import json
import os
import re
import statistics
import sys

UNITS = {"µs": 1e3, "ms": 1e6}


def cells(path):
    found = {}
    for cell in json.load(gzip.open(path, "rt"))["cells"]:
        best = [min(x["timings"]["device"]["median_ns"] for name, x in cell["contenders"].items()
                    if name in (family + "-nn", family + "-tn") and x["status"] == "ok") for family in ("cublaslt-autotuning", "cudal2")]
        speedup = next(s for s in cell["speedups"] if (s["candidate"], s["reference"], s["timing"]) ==
                       ("cudal2-max", "cublaslt-autotuning-max", "device"))
        found[cell["m"], cell["n"], cell["k"]] = (*best, speedup["geomean"], {
            name: (x["timings"]["device"]["median_ns"], x.get("attributes", {}).get("parameters", ""))
            for name, x in cell["contenders"].items() if x["status"] == "ok"})
    return found


def finals(path):
    pattern = re.compile(r"f16-f\d+-(\d+)x(\d+)x(\d+)\s.*? ([\d.]+) (µs|ms) vs \S+ ([\d.]+) (µs|ms)")
    found = (pattern.search(line) for line in open(path))
    return {tuple(map(int, m.group(1, 2, 3))): (float(m[6]) * UNITS[m[7]], float(m[4]) * UNITS[m[5]]) for m in found if m}


options, paths = getopt.getopt(sys.argv[1:], "p:")
before, now = cells(paths[0]), cells(paths[1])
searches = {os.path.basename(path): finals(path) for path in paths[2:]}


def show(name, keys, search=None):
    keys = [k for k in keys if k in before and k in now]
    mean = [100 * statistics.fmean(grid[k][2] for k in keys) for grid in (before, now)]
    times = [statistics.median(now[k][i] / before[k][i] for k in keys) for i in (0, 1)]
    print("%-16s %4d  before %6.2f%%  now %6.2f%%  AutoTuning %.4f  ours %.4f" % (name, len(keys), *mean, *times), end="")
    if search:
        print("  search %6.2f%%, AutoTuning %.4f" % (100 * statistics.fmean(search[k][0] / search[k][1] - 1 for k in keys),
                                                     statistics.median(search[k][0] / now[k][0] for k in keys)), end="")
    print()


for name, search in searches.items():
    show(name, search, search)
show("in no search", [k for k in before if not any(k in s for s in searches.values())])
for low, high in ((0, 5e3), (5e3, 1e4), (1e4, 3e4), (3e4, 1e5), (1e5, 1e12)):
    show("%g us on" % (low / 1e3), [k for k in before if low <= before[k][0] < high])
for _, name in options:
    has = {(k, layout) for k, cell in now.items() for layout in ("nn", "tn")
           if re.search(name + "=[^0]", cell[3].get("cudal2-" + layout, (0, ""))[1])}
    show(name + " wins", [k for k, layout in has if now[k][3]["cudal2-" + layout][0] == now[k][1]])
    times = {family: [now[k][3][family + layout][0] / before[k][3][family + layout][0] for k, layout in has] for family in ("cudal2-", "cublaslt-autotuning-")}
    print("%s: %d layouts, less in %d, ours %.4f, AutoTuning %.4f" % (
        name, len(has), sum(x < 1 for x in times["cudal2-"]), *(statistics.median(x) for x in times.values())))
