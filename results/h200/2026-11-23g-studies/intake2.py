#!/usr/bin/env python3
"""intake2.py INTAKE2.txt: ns a stage, the difference of the two K over the difference of stages a CTA has: of trimmed means of launches from
idle (held), and behind it of their least and most (5th and 95th percentile). Label, pitch of the operands, launched without attributes (0) or
with a cluster named, of one where there is none (1)."""
import re
import sys

pattern = re.compile(r"(\S+)\s+pitch (\d+) z (\d+) attr (\d) (\d+)x(\d+)x(\d+) held \d+ \((\d+)-(\d+), trimmed (\d+)\)")
found = {}
for line in open(sys.argv[1]):
    m = pattern.match(line)
    if m:
        label, pitch, z, attr, rows, cols, k, low, high, mean = m.group(1), *map(int, m.groups()[1:])
        pitch = pitch if label[0] == "p" else 0 # of the others it is K
        found.setdefault((label, pitch, z, attr, rows, cols), []).append((k // 64 // (z if "k" in label else 1), mean, low, high))
for (label, pitch, z, attr, rows, cols), both in found.items():
    (s0, *a), (s1, *b) = sorted(both)
    print("%-18s pitch %5d  z %d  attr %d  %4dx%-4d  %2d to %2d stages  %4.0f ns (%.0f, %.0f)" % (
        label, pitch, z, attr, rows, cols, s0, s1, *((y - x) / (s1 - s0) for x, y in zip(a, b))))
