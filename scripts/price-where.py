#!/usr/bin/env python3
"""price-where.py ON OFF: where the checks of a run go. ON and OFF are journals (.jsonl, .gz too) of one
config with verify.honesty on and off; scripts/price.sh calls this for each round. One line a mode, of the
cells that both have: blocks, how much more the ratios of two contenders scatter from block to block, and
seconds of checks for equal blocks."""
import gzip
import itertools
import json
import math
import statistics
import sys

DIGITS = {c: i for i, c in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")}


def times(text):
    """The times of a series as the journal writes them (harness/record/series_text.h)."""
    step, shortest, digits = text.split(":")
    out, value, shift = [], 0, 0
    for digit in digits:
        value |= (DIGITS[digit] & 31) << shift
        shift += 5
        if DIGITS[digit] < 32:
            out.append(math.log((value + float(shortest)) * float(step)))
            value = shift = 0
    return out


def cells(path):
    """Cells by what they are of."""
    with gzip.open(path, "rt") if path.endswith(".gz") else open(path) as file:
        data = (entry["data"] for entry in map(json.loads, file) if entry["kind"] == "cell")
        return {(c["mode"], c["m"], c["n"], c["k"], c["accumulate"]): c for c in data}


def scatters(cell):
    """Of each pair of contenders, with the variants that ran: the standard deviation of the logarithm of its
    ratio."""
    headline = cell["headline"]
    series = {
        (c["name"], (c.get("tuning") or {}).get("variant")): times(c[headline])
        for c in cell["contenders"]
        if headline in c
    }
    pairs = itertools.combinations(sorted(series, key=str), 2)
    return {
        (a, b): statistics.stdev(x - y for x, y in zip(series[a], series[b]))
        for a, b in pairs
        if len(series[a]) == len(series[b]) > 7
    }


TRIALS = ("fresh", "restore", "between", "replay")


def trials(on):
    """What the checks between blocks did, in seconds: what is of no trial is how the device's state is looked
    at."""
    spent = {name: sum(cell.get("part_seconds", {}).get(name, 0) for cell in on) for name in TRIALS}
    spent["rest"] = sum(cell["phase_seconds"].get("other", 0) for cell in on) - sum(spent.values())
    return ", ".join(f"{name} {seconds:.2f}" for name, seconds in spent.items())


def compare(on, off):
    """Of one mode: blocks, ratios of scatters, seconds of checks between blocks and of the rest for equal
    blocks."""
    blocks, ratios, between, beside, base = [0, 0], [], 0, 0, 0
    for a, b in zip(on, off):
        n = [sum(a["group_blocks"]), sum(b["group_blocks"])]
        blocks = [x + y for x, y in zip(blocks, n)]
        wide, narrow = scatters(a), scatters(b)
        ratios += [math.log((wide[p] + 1e-5) / (narrow[p] + 1e-5)) for p in wide.keys() & narrow.keys()]
        between += a["phase_seconds"].get("other", 0)
        beside += a["phase_seconds"]["measure"] * n[1] / n[0] - b["phase_seconds"]["measure"]
        base += sum(b["phase_seconds"].values())
    scatter = math.exp(statistics.mean(ratios)) if ratios else math.nan
    return blocks, scatter, between, beside, base


def main():
    """Prints the table."""
    on, off = map(cells, sys.argv[1:3])
    print("| mode | cells | blocks with checks | without | scatter of pairs, times | between blocks, s | beside timing, s | share |")
    print("|---|---|---|---|---|---|---|---|")
    modes = sorted({key[0] for key in on})
    for mode in modes:
        keys = [key for key in on if key[0] == mode and key in off]
        blocks, scatter, between, beside, base = compare([on[k] for k in keys], [off[k] for k in keys])
        extra = between + beside
        print(
            f"| {mode} | {len(keys)} | {blocks[0]} | {blocks[1]} | {scatter:.2f} | {between:.1f} | {beside:.1f} "
            f"| {extra / (base + extra):.1%} |"
        )
    print("\nBetween blocks, s:\n")
    for mode in modes:
        print(f"* {mode}: {trials([on[k] for k in on if k[0] == mode])}")


if __name__ == "__main__":
    main()
