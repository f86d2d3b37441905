#!/usr/bin/env python3
"""pairs.py JOURNAL.jsonl.gz...: configurations with KEEP against those that differ in KEEP and HOLD alone and have neither, in the same
race, by K and by whether they have HOLD: difference in per cent. Those within 1.2 of the race's fastest count."""
import collections
import os
import statistics
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "2026-11-23c-studies"))
from races import races


def main(paths):
    for path in paths:
        found = collections.defaultdict(list)
        for cell, _, timed in races([path]):
            times = {}
            for kernel, values, _, ns in timed:
                if kernel == "persistent":
                    named = values.pop("KEEP", "0"), values.pop("HOLD", "0")
                    values.pop("HALVES", None)
                    times[tuple(sorted(values.items())), named] = ns
            for (rest, named), ns in times.items():
                was = times.get((rest, ("0", "0")))
                if named[0] != "0" and was is not None and min(ns, was) <= 1.2 * min(times.values()):
                    found[cell["k"], named[1] != "0"].append(100 * (ns / was - 1))
        for (k, holds), percent in sorted(found.items()):
            print("%s  K %3d %s  %3d pairs  median %+.1f%%  less in %d" % (os.path.basename(path), k, "HOLD" if holds else "    ", len(percent),
                                                                       statistics.median(percent), sum(p < 0 for p in percent)))


if __name__ == "__main__":
    main(sys.argv[1:])
