#!/usr/bin/env python3
"""intake.py [JOURNAL.jsonl.gz...] < intake.txt: ns that a stage takes, from idle/in a row: kernels whole, without products, of the same
lines for all, without copies, of lines of their own; and in the journals' races, of the same kernel and problems (TN; `-`: not there)."""
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "2026-11-23c-studies"))
from races import races  # noqa: E402

PLAIN = {"ACROSS": "0", "PINGPONG": "0", "PARTS": "1", "MIN_BLOCKS": "1", "ABREAST": "1", "PEEK": "0"}
NAMED = ("BM", "BN", "CONSUMERS", "STAGES", "CLUSTER_M", "CLUSTER_N", "SPLIT_K", "REDUCE")
LABEL = re.compile(r"(\d+)x(\d+)-c(\d)-s(\d)-(\d)(\d)-k(\d)r(\d)-(\d)")

raced = {}
for cell, layout, timed in races(sys.argv[1:]):
    for kernel, values, _, ns in timed:
        if layout == "tn" and kernel == "persistent" and all(values.get(name, plain) == plain for name, plain in PLAIN.items()):
            at = (tuple(values[name] for name in NAMED), cell["m"], cell["n"], cell["k"])
            raced[at] = min(ns, raced.get(at, ns))

measured = {}
for line in sys.stdin:
    found = re.match(r"(\S+) +(\d+)x(\d+)x(\d+) held (\d+).* row (\d+)", line)
    if found:
        *kernel, mode = LABEL.fullmatch(found[1]).groups()
        m, n, k, idle, row = map(int, found.groups()[1:])
        measured[tuple(kernel), m, n, int(mode), k] = idle, row


def stage(kernel, m, n, mode):
    each = (8, 16) if mode == 4 else (16, 32)  # stages of a CTA
    few, many = (measured.get((kernel, m, n, mode, 64 * e * int(kernel[6]))) for e in each)
    return "%3.0f/%-4.0f" % tuple((b - a) / (each[1] - each[0]) for a, b in zip(few, many)) if few and many else "   -    "


for kernel, m, n in dict.fromkeys(key[:3] for key in measured):
    few, many = (raced.get((kernel, m, n, 64 * e * int(kernel[6]))) for e in (16, 32))
    ctas = m // int(kernel[0]) * (n // int(kernel[1])) * int(kernel[6])
    print("%-64s %4d x %-5d %4d CTAs  %s  races %s" % (" ".join("%s=%s" % pair for pair in zip(NAMED, kernel)), m, n, ctas, "  ".join(
        stage(kernel, m, n, mode) for mode in range(5)), "%.0f" % ((many - few) / 16) if few and many else "-"))
