#!/usr/bin/env python3
"""begin.py OLD.jsonl.gz NEW.jsonl.gz: our times from idle in NEW against OLD where both ran the same configuration, by how K is shared: mean of the
differences over that of the faster cuBLAS, mean in ns, and cuBLAS's own (the same shapes, one run after the other on one GPU)."""
import gzip
import json
import math
import os
import statistics
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "2026-11-24-studies"))
from without import times_of

MEAN = statistics.fmean


def cells(path):
    found = {}
    for line in gzip.open(path, "rt"):
        record = json.loads(line)
        if record["kind"] == "cell":
            cell = record["data"]
            found[cell["m"], cell["n"], cell["k"]] = {
                c["name"]: (MEAN(times_of(c["device"])), c["attributes"].get("parameters", "")) for c in cell["contenders"] if "device" in c}
    return found


def kind(text):
    values = dict(pair.split("=") for pair in text.split(","))
    if "STAGES" not in values:
        return "tiny"
    if values["SPLIT_K"] != "1":
        return "K shared in clusters" if values["REDUCE"] == "1" else "K shared, workspace"
    if values["CLUSTER_M"] + values["CLUSTER_N"] != "11":
        return "clusters that share operands"
    return "alone, BM*BN %s" % ("up to 4096" if int(values["BM"]) * int(values["BN"]) <= 4096 else
                                "up to 8192" if int(values["BM"]) * int(values["BN"]) <= 8192 else "above")


def main():
    old, new = cells(sys.argv[1]), cells(sys.argv[2])
    rows = {}
    for key in old.keys() & new.keys():
        base = [min(t for name, (t, _) in run[key].items() if name.startswith("cublas")) for run in (old, new)]
        for name in ("cudal2-nn", "cudal2-tn"):
            if name in old[key] and name in new[key] and old[key][name][1] == new[key][name][1]:
                before, after = old[key][name][0], new[key][name][0]
                row = (math.log(after / before * base[0] / base[1]), after - before, base[1] - base[0])
                for group in ("all", kind(old[key][name][1])):
                    rows.setdefault(group, []).append(row)
    for group in sorted(rows):
        part = rows[group]
        print("%-30s %3d  over cuBLAS %+5.2f%%  %+4.0f ns (cuBLAS %+4.0f)  less in %d" % (
            group, len(part), 100 * MEAN(r[0] for r in part), MEAN(r[1] for r in part), MEAN(r[2] for r in part), sum(r[1] < 0 for r in part)))


if __name__ == "__main__":
    main()
