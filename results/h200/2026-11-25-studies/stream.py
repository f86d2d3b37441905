#!/usr/bin/env python3
"""stream.py JOURNAL.jsonl.gz...: what STREAM_K does in the races of searches. First pairs: configurations with it against those that
differ in it alone, in the same race, by STREAM_K and by how full the last wave is; then races: the fastest with it against the fastest
without, on problems of the grid and on others; then, on other sizes with 1 to 1.25 waves and K from 2048 on, two kernels each alone, of
which the set has the first since. Differences in per cent, below 0: less time with it. Without it are what the set or a table has, and no more."""
import collections
import math
import os
import statistics
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "2026-11-23c-studies"))
from races import races

GRID = {64, 128, 256, 512, 1024, 2048, 4096, 8192, 12288, 16384}
SMS = 132
TRIED = {("128", "128", "2", "1"): "128x128 in pairs", ("128", "192", "1", "2"): "128x192 in pairs"}


def waves(cell, values):
    """Waves of tiles, full and in part."""
    height, width = (int(values[a]) * int(values[b]) for a, b in (("BM", "CLUSTER_M"), ("BN", "CLUSTER_N")))
    places = SMS // (int(values["CLUSTER_M"]) * int(values["CLUSTER_N"])) * int(values["MIN_BLOCKS"])
    return math.ceil(cell["m"] / height) * math.ceil(cell["n"] / width) / places


def tell(what, percent):
    if percent:
        print("  %-44s %4d  median %+5.1f%%  mean %+5.1f%%  less in %d  (%+.1f to %+.1f)" % (
            what, len(percent), statistics.median(percent), statistics.mean(percent), sum(p < 0 for p in percent), min(percent), max(percent)))


def main(paths):
    for path in paths:
        print(os.path.basename(path))
        pairs, best = collections.defaultdict(list), collections.defaultdict(list)
        for cell, _, timed in races([path]):
            times = {}
            for kernel, values, _, ns in timed:
                kind = values.pop("STREAM_K", "0")
                times[kernel, tuple(sorted(values.items())), kind] = ns, values
            with_it = [ns for (_, _, kind), (ns, _) in times.items() if kind != "0"]
            without = [ns for (_, _, kind), (ns, _) in times.items() if kind == "0"]
            for (kernel, rest, kind), (ns, values) in times.items():
                was = times.get((kernel, rest, "0"))
                if kind != "0" and was:
                    n = waves(cell, values)
                    pairs[kind, "last wave under half full" if n % 1 < 0.5 else "fuller", "under 4 waves" if n < 4 else "4 and more"].append(
                        100 * (ns / was[0] - 1))
            for (kernel, rest, kind), (ns, values) in times.items():
                name = TRIED.get(tuple(values.get(key) for key in ("BM", "BN", "CLUSTER_M", "CLUSTER_N")))
                if kind == "2" and name and values["PINGPONG"] == "0" and values["CONSUMERS"] == "2" and without and cell["k"] >= 2048 and (
                        not {cell["m"], cell["n"], cell["k"]} <= GRID and 1 < waves(cell, values) <= 1.25):
                    best["%s, 1 to 1.25 waves" % name].append(100 * (ns / min(without) - 1))
            if with_it and without:
                place = "grid" if {cell["m"], cell["n"], cell["k"]} <= GRID else "other sizes"
                best[place].append(100 * (min(with_it) / min(without) - 1))
        for key, percent in sorted(pairs.items()):
            tell("pairs, STREAM_K %s, %s, %s" % key, percent)
        for key, percent in sorted(best.items()):
            tell("races, %s" % key, percent)


if __name__ == "__main__":
    main(sys.argv[1:])
