#!/usr/bin/env python3
"""since.py [-p NAME] BEFORE.json.gz NOW.json.gz LOG...: what came of searches between two grids. Of the problems of each search's log,
of none of them, and by AutoTuning's time in BEFORE: mean speedup of cudal2-max over cublaslt-autotuning-max in either (device time),
medians of NOW's times over BEFORE's, and of a search the mean of its finals' ratios and AutoTuning's time there over NOW's. With -p also
the problems whose winner in NOW has a parameter NAME that is not 0, and the layouts: how many take less than in BEFORE, ours and
AutoTuning's medians over those."""
import getopt
import os
import re
import statistics
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "2026-11-23d-studies"))
from classes import cells, finals  # noqa: E402

options, paths = getopt.getopt(sys.argv[1:], "p:")
before, now = cells(paths[0]), cells(paths[1])
searches = {os.path.basename(path): finals([path]) for path in paths[2:]}


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
for low, high in ((0, 5), (5, 10), (10, 30), (30, 100), (100, 1e9)):
    show("%g us on" % low, [k for k in before if low <= before[k][0] < high])
for _, name in options:
    has = {(k, layout) for k, cell in now.items() for layout in ("nn", "tn")
           if re.search(name + "=[^0]", cell[4].get("cudal2-" + layout, (0, ""))[1])}
    show(name + " wins", [k for k, layout in has if now[k][4]["cudal2-" + layout][0] == now[k][1]])
    times = {family: [now[k][4][family + layout][0] / before[k][4][family + layout][0] for k, layout in has]
             for family in ("cudal2-", "cublaslt-autotuning-")}
    print("%s: %d layouts, less in %d, ours %.4f, AutoTuning %.4f" % (
        name, len(has), sum(x < 1 for x in times["cudal2-"]), *(statistics.median(x) for x in times.values())))
