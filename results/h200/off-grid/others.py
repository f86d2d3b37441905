#!/usr/bin/env python3
"""others.py LOG...: the leads over cuBLASLt-AutoTuning's faster layout that the finals of a search told in
its log, on problems of the grid and on other sizes: median, geometric mean, how many ahead. The search had of
our kernels what the set and, on the grid, a table has, beside STREAM_K."""
import math
import re
import statistics
import sys

GRID = {64, 128, 256, 512, 1024, 2048, 4096, 8192, 12288, 16384}
LINE = re.compile(r"-(\d+)x(\d+)x(\d+)  cudal2-\S+ .* vs \S+ .*  ([+-][\d.]+)%")
for path in sys.argv[1:]:
    leads = {True: [], False: []}
    for line in open(path, errors="replace"):
        found = LINE.search(line)
        if found:
            leads[{int(n) for n in found.groups()[:3]} <= GRID].append(float(found.group(4)))
    for grid, name in ((True, "grid"), (False, "other sizes")):
        percent = leads[grid]
        if percent:
            geometric = 100 * (math.exp(statistics.mean(math.log1p(p / 100) for p in percent)) - 1)
            print("%s  %-11s %3d  median %+.1f%%  geometric %+.1f%%  ahead %d" % (
                path.split("/")[-1], name, len(percent), statistics.median(percent), geometric, sum(p > 0 for p in percent)))
