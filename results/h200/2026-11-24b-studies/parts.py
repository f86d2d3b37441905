#!/usr/bin/env python3
"""parts.py RESULT.json.gz BEFORE.json.gz: cudal2-max over cublaslt-autotuning-max by device time from idle in RESULT, in brackets on the same shapes in
BEFORE, and how much our and AutoTuning's times (of the faster layout) changed in the median: by what had been searched between the two
(2026-11-24-tune, 2026-11-23h-tune's walks, 2026-11-24b-tune), and by the kernel that won."""
import gzip
import json
import os
import statistics
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "2026-11-23d-studies")]
from begin import kind
from classes import cells

MEAN, MEDIAN = statistics.fmean, statistics.median


def searched(*journals):
    found = set()
    for journal in journals:
        config = json.loads(gzip.open(os.path.join(HERE, "..", journal), "rt").readline())["data"]["config"]
        found |= {(s["m"], s["n"], s["k"]) for s in config["shapes"]}
    return found


def winner(each):
    return kind(min((each[name] for name in ("cudal2-nn", "cudal2-tn") if name in each))[1])


def main():
    now, before = cells(sys.argv[1]), cells(sys.argv[2])
    keep = searched(*("2026-11-24-tune/%s-f32.jsonl.gz" % name for name in ("keep", "keep2", "keep3")))
    walk = searched("2026-11-23h-tune/tailwalk-f32.jsonl.gz") - keep
    small = searched("2026-11-24b-tune/keepsmall-f32.jsonl.gz") - keep - walk
    groups = {"searched with KEEP": keep, "walks with TAIL": walk, "KEEP, small C": small, "no search": set(now) - keep - walk - small}
    for key in now:
        groups.setdefault("won by: " + winner(now[key][4]), set()).add(key)
    for name, keys in groups.items():
        part = [key for key in keys if key in now and key in before]
        if part:
            print("%-38s %4d  %+6.2f%% (%+6.2f%%), %+.2f points of the 1000  ours %+5.2f%%, %+5.0f ns, AutoTuning %+5.2f%%" % (
                name, len(part), 100 * MEAN(now[k][2] for k in part), 100 * MEAN(before[k][2] for k in part),
                sum(now[k][2] - before[k][2] for k in part) / 10, 100 * MEDIAN(now[k][1] / before[k][1] - 1 for k in part),
                1e3 * MEDIAN(now[k][1] - before[k][1] for k in part), 100 * MEDIAN(now[k][0] / before[k][0] - 1 for k in part)))


if __name__ == "__main__":
    main()
