#!/usr/bin/env python3
"""steps.py JOURNAL.jsonl.gz [UP_TO_NS]: how often which device time was read from idle, in ticks of 32 ns: of an empty graph, of our kernels and of
all others. Blocks' values as the journal has them (docs/results.md)."""
import collections
import gzip
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "2026-11-24-studies"))
from without import times_of


def main():
    up_to = float(sys.argv[2]) if len(sys.argv) > 2 else 5000
    counts = [collections.Counter() for _ in range(3)]
    for line in gzip.open(sys.argv[1], "rt"):
        record = json.loads(line)
        if record["kind"] != "cell":
            continue
        cell = record["data"]
        found = [(0, cell["null_graph"])] if isinstance(cell.get("null_graph"), str) else []
        found += [(1 if c["name"].startswith("cudal2") else 2, c["device"]) for c in cell["contenders"] if "device" in c]
        for which, series in found:
            counts[which].update(round(t / 32) * 32 for t in times_of(series) if t < up_to)
    print("     ns   empty    ours  others")
    for t in sorted(set().union(*counts)):
        print("%7d %7d %7d %7d" % (t, *(c[t] for c in counts)))


if __name__ == "__main__":
    main()
