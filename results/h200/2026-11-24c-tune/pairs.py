#!/usr/bin/env python3
"""pairs.py JOURNAL.jsonl.gz...: configurations with KEEP (by K, and by whether they have HOLD), then those with TAIL (by tile, by whether they
share K, and by its value), against those that differ in nothing else and have neither, in the same race: difference in per cent. Those
within 1.2 of the race's fastest count."""
import collections
import os
import statistics
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "2026-11-23c-studies"))
from races import races


def by_keep(cell, values, named):
    return cell["k"], "HOLD" if named[1] != "0" else ""


def by_tail(_, values, named):
    return values["BM"] + "x" + values["BN"], "K shared" if values["SPLIT_K"] != "1" else "", "EPILOGUE " + values["EPILOGUE"], named[0]


def compare(paths, names, group):
    found = collections.defaultdict(list)
    for cell, _, timed in races(paths):
        times = {}
        for kernel, values, _, ns in timed:
            if kernel == "persistent":
                rest = dict(values)
                named = tuple(rest.pop(name, "0") for name in names)
                times[tuple(sorted(rest.items())), named] = ns
        for (rest, named), ns in times.items():
            was = times.get((rest, ("0",) * len(names)))
            if named[0] != "0" and was is not None and min(ns, was) <= 1.2 * min(times.values()):
                found[group(cell, dict(rest), named)].append(100 * (ns / was - 1))
    for key, percent in sorted(found.items()):
        print("%s %s  %3d pairs  median %+.1f%%  less in %d" % (names[0], " ".join(map(str, key)), len(percent), statistics.median(percent),
                                                             sum(p < 0 for p in percent)))


if __name__ == "__main__":
    compare(sys.argv[1:], ("KEEP", "HOLD"), by_keep)
    compare(sys.argv[1:], ("TAIL",), by_tail)
