#!/usr/bin/env python3
"""yardstick.py RESULT.json.gz [TB_A_SECOND]: what a launch from idle would take on an H200 if nothing but this were short, beside what ours take, by class of
AutoTuning's time: an empty graph (the result's own), 0.9 us for one pass, and the longest of 790 TFLOP/s, bytes at 5.5 TB/s (up to 40 MB) or
4.3, and for the best tile and sharing of K what a multiprocessor takes in (150 GB/s) and multiplies (1.71 GHz), with 0.45 us where two to
eight CTAs of a cluster meet (112 find places) and 1.3 where two to sixteen do through the workspace. The figures are docs/kernels.md's; stores
behind the last product are counted only as far as the 0.9 us have them; with TB_A_SECOND, C takes as long as that at least."""
import gzip
import json
import math
import os
import statistics
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "2026-11-23d-studies"))
from classes import cells

MEAN = statistics.fmean
WRITTEN = float(sys.argv[2]) * 1e6 if len(sys.argv) > 2 else math.inf
TILES = [(m, n) for m in (64, 128, 192, 256) for n in (16, 32, 64, 96, 128, 192, 256) if m * n <= 32768]
SHARES = [(1, 0.0, 0)] + [(s, 0.45, 112) for s in (2, 3, 4, 6, 8)] + [(s, 1.3, 132) for s in (2, 4, 8, 16)]


def bounds(m, n, k):
    size = 2 * (m * k + k * n + m * n)
    return max(2 * m * n * k / 790e6, size / (4.3e6 if size > 40e6 else 5.5e6), 2 * m * n / WRITTEN)


def core(m, n, k):
    """The best over tiles and sharing; no launch is under bounds()."""
    best, least = math.inf, bounds(m, n, k)
    for tm, tn in TILES:
        tiles = -(-m // tm) * -(-n // tn)
        for shares, meeting, places in SHARES:
            if shares > 1 and (tiles * shares > places or shares * 64 > k):
                continue
            stages = -(-tiles * shares // 132) * -(-k // 64 // shares)
            intake, products = stages * 128 * (tm + tn) / 150e3, stages * 64 * tm * tn / 2048 / 1.71e3
            best = min(best, max(least, intake, products) + meeting)
    return best


found = cells(sys.argv[1])
empty = statistics.median(c["null_graph"]["median_ns"] for c in json.load(gzip.open(sys.argv[1], "rt"))["cells"]) / 1e3
yard = {key: empty + 0.9 + core(*key) for key in found}
print("an empty graph: %.2f us" % empty)
for low, high in ((0, 5), (5, 10), (10, 30), (30, 100), (100, 1e3), (1e3, 1e9), (0, 1e9)):
    keys = [key for key in found if low <= found[key][0] < high]
    print("%5g-%-5g us %4d  lead %+5.1f%%  the yardstick's %+5.1f%%  ours over it, median %5.2f us" % (
        low, high, len(keys), 100 * MEAN(found[key][2] for key in keys), 100 * MEAN(found[key][0] / yard[key] - 1 for key in keys),
        statistics.median(found[key][1] - yard[key] for key in keys)))
