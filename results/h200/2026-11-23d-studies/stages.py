#!/usr/bin/env python3
"""stages.py JOURNAL.jsonl.gz...: what 64 more of a CTA's K take, in the races of a search: of each tile, layout and way of sharing K the
fastest configuration at K and at the next K of the same M and N, the difference by the stages a CTA has more; ns, medians over the
problems and how many, by tile, layout, SPLIT_K, REDUCE and CTAs. Only those within 1.3 of their race's fastest count."""
import collections
import gzip
import json
import statistics
import sys

times = collections.defaultdict(dict)
for path in sys.argv[1:]:
    for line in gzip.open(path, "rt"):
        record = json.loads(line)
        if record["kind"] != "cell":
            continue
        cell = record["data"]
        for contender in cell["contenders"]:
            tuning = contender.get("tuning", {})
            if contender["name"] not in ("cudal2-nn", "cudal2-tn") or "race_ns" not in tuning:
                continue
            fastest = min(ns for ns in tuning["race_ns"] if ns)
            for key, ns in zip(tuning["keys"], tuning["race_ns"]):
                if not ns or ns > 1.3 * fastest or not key.startswith("persistent:"):
                    continue
                v = dict(pair.split("=") for pair in key.split(":")[1].split(","))
                if v["CLUSTER_M"] + v["CLUSTER_N"] + v["PARTS"] + v["ACROSS"] + v["PINGPONG"] != "11100":
                    continue
                tiles = -(-cell["m"] // int(v["BM"])) * -(-cell["n"] // int(v["BN"]))
                ctas = tiles * int(v["SPLIT_K"])
                if ctas <= 132:
                    name = (v["BM"] + "x" + v["BN"], contender["name"][-2:], int(v["SPLIT_K"]), v["REDUCE"], ctas)
                    at = times[name, cell["m"], cell["n"]]
                    at[cell["k"]] = min(ns, at.get(cell["k"], ns))

found = collections.defaultdict(list)
for (name, _, _), at in times.items():
    ks = sorted(at)
    for a, b in zip(ks, ks[1:]):
        if b <= 2 * a and a >= 1024:
            found[name].append((at[b] - at[a]) / ((b - a) / 64 / name[2]))
for name, ns in sorted(found.items()):
    if len(ns) > 3:
        print("%-7s %s  SPLIT_K %-2d REDUCE %s  %3d CTAs  %4.0f ns (%d)" % (*name, statistics.median(ns), len(ns)))
