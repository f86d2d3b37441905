#!/usr/bin/env python3
"""best.py JOURNAL.jsonl.gz (ring-*): in the better layout, the best of a race with each of the new ways against the best without, by how
the latter's winner shares K: problems, mean, median, least, in how many it is less; then problem by problem."""
import os
import statistics
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "2026-11-23c-studies"))
from races import races  # noqa: E402

FEW = {"16": 13}  # stages that the space had for tiles so wide; 8 for all others
WAYS = {
    "more stages": lambda v: v["peek"] == 0 and v["deep"] == 1,
    "PEEK 1": lambda v: v["few"] and v["peek"] != 2 and v["deep"] == 1,
    "PEEK 2": lambda v: v["few"] and v["peek"] != 1 and v["deep"] == 1,
    "both": lambda v: v["deep"] == 1,
    "DEEP 2 as well": lambda v: True,
}


def described(kernel, values, text, ns):
    shared = "other" if kernel != "persistent" else "REDUCE " + values["REDUCE"] if values["SPLIT_K"] != "1" else "alone"
    return {"ns": ns, "text": text, "shared": shared, "peek": int(values.get("PEEK", 0)), "deep": int(values.get("DEEP", 1)),
            "few": kernel != "persistent" or int(values["STAGES"]) <= FEW.get(values["BN"], 8)}


problems = {}
for cell, _, timed in races(sys.argv[1:]):
    problems.setdefault((cell["m"], cell["n"], cell["k"]), []).extend(described(*one) for one in timed)
rows = []
for sizes, timed in problems.items():
    old = min((v for v in timed if v["few"] and v["peek"] == 0 and v["deep"] == 1), key=lambda v: v["ns"])
    best = {way: min((v for v in timed if takes(v)), key=lambda v: v["ns"]) for way, takes in WAYS.items()}
    rows.append((sizes, old, best))
for shared in sorted({old["shared"] for _, old, _ in rows}):
    for way in WAYS:
        change = [100 * (best[way]["ns"] / old["ns"] - 1) for _, old, best in rows if old["shared"] == shared]
        print("%-9s %-15s %3d  mean %+.2f%%  median %+.2f%%  least %+.2f%%  less in %d" % (
            shared, way, len(change), statistics.fmean(change), statistics.median(change), min(change), sum(c < 0 for c in change)))
for sizes, old, best in sorted(rows, key=lambda row: row[2]["DEEP 2 as well"]["ns"] / row[1]["ns"]):
    won = best["DEEP 2 as well"]
    print("%dx%dx%d %d -> %d ns %+.1f%%  %s  ->  %s" % (*sizes, old["ns"], won["ns"], 100 * (won["ns"] / old["ns"] - 1), old["text"], won["text"]))
