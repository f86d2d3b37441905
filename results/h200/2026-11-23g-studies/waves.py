#!/usr/bin/env python3
"""waves.py JOURNAL.jsonl.gz...: of tiles of 128x128 with two consumers, alone, walked in bands of 8: by how many such tiles a problem has, medians
over races of the time over that of crosswise turns (PINGPONG 1) with EPILOGUE 1, and in how many races it was."""
import collections
import os
import statistics
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "2026-11-23c-studies"))
from races import races  # noqa: E402

SAME = {"BM": "128", "BN": "128", "CONSUMERS": "2", "STAGES": "6", "CLUSTER_M": "1", "CLUSTER_N": "1", "SPLIT_K": "1", "ACROSS": "0", "RASTER": "8",
        "DOWN": "0", "FETCH": "256", "EVICT": "0", "STREAM": "0", "QUEUE": "0"}
found = collections.defaultdict(list)
for cell, _, timed in races(sys.argv[1:]):
    tiles = -(-cell["m"] // 128) * -(-cell["n"] // 128)
    times = {(p["PINGPONG"], p["EPILOGUE"], p.get("TAIL", "0")): ns for kernel, p, _, ns in timed
             if kernel == "persistent" and all(p.get(key, "0") == value for key, value in SAME.items())}
    for ways, ns in times.items():
        if ("1", "1", "0") in times:
            found[tiles, ways].append(ns / times["1", "1", "0"] - 1)
for (tiles, ways), ratios in sorted(found.items()):
    print("%4d tiles  PINGPONG=%s EPILOGUE=%s TAIL=%s  %+5.1f%%  (%d)" % (tiles, *ways, 100 * statistics.median(ratios), len(ratios)))
