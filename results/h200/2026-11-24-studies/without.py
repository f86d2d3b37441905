#!/usr/bin/env python3
"""without.py PARAMETER JOURNAL.jsonl.gz: what a search's finals would lose without the parameter: by how much the fastest of our finalists that do
not have it exceeds the fastest of all, mean over the problems that have such a one. The fastest of several is flattered, so it is an upper bound."""
import gzip
import json
import statistics
import sys

DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def times_of(series):
    """Times in ns, as harness/result/series_text.h has them."""
    step, low, digits = series.split(":")
    times, value, shift = [], 0, 0
    for digit in map(DIGITS.index, digits):
        value, shift = value | (digit & 31) << shift, shift + 5
        if not digit & 32:
            times.append((float(low) + value) * float(step))
            value = shift = 0
    return times


def main(name, path):
    losses = []
    for line in gzip.open(path, "rt"):
        record = json.loads(line)
        if record["kind"] != "cell":
            continue
        finals = [(statistics.median(times_of(c["device"])), c.get("tuning", {}).get("variant", "")) for c in record["data"]["contenders"]
                  if c["name"].startswith("cudal2") and "copy" not in c["name"] and c.get("device")]
        others = [ns for ns, key in finals if name + "=" not in key or name + "=0" in key]
        if others:
            losses.append(min(others) / min(ns for ns, _ in finals) - 1)
    print("%s: %d problems, %.3f%% lost without it in the mean, anything in %d" % (name, len(losses), 100 * statistics.fmean(losses),
                                                                                    sum(loss > 0 for loss in losses)))


if __name__ == "__main__":
    main(*sys.argv[1:3])
