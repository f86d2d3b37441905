#!/usr/bin/env python3
"""price-where.py ON OFF: where the checks of a run go. ON and OFF are journals (.jsonl, .gz too) of one
config with verify.honesty on and off; scripts/price.sh calls this for each round. One line a mode, of the
cells that both have: blocks, how much more the ratios of two contenders scatter from block to block, and
seconds of checks for equal blocks. In brackets: 95%, shapes drawn again."""
import math
import statistics
import sys

from price_journal import blocks, by_shape, cells, entries, ratios, spread


TRIALS = ("fresh", "restore", "between", "replay")


def trials(on):
    """What the checks between blocks did, in seconds: what is of no trial is how the device's state is looked
    at."""
    spent = {name: sum(cell.get("part_seconds", {}).get(name, 0) for cell in on) for name in TRIALS}
    spent["rest"] = sum(cell["phase_seconds"].get("other", 0) for cell in on) - sum(spent.values())
    return ", ".join(f"{name} {seconds:.2f}" for name, seconds in spent.items())


def compare(pairs):
    """Of one mode: blocks, ratios of scatters, seconds of checks between blocks and of the rest for equal
    blocks."""
    counts, scatter, between, beside, base = [0, 0], [], 0, 0, 0
    for on, off, found in pairs:
        n = [blocks(on), blocks(off)]
        counts = [x + y for x, y in zip(counts, n)]
        scatter += found
        between += on["phase_seconds"].get("other", 0)
        beside += on["phase_seconds"]["measure"] * n[1] / n[0] - off["phase_seconds"]["measure"]
        base += sum(off["phase_seconds"].values())
    times = math.exp(statistics.mean(scatter)) if scatter else math.nan
    return counts, times, between, beside, (between + beside) / (base + between + beside)


def row(mode, on, off):
    """Of the table."""
    shapes = [
        [(on[k], off[k], ratios(on[k], off[k])) for k in keys]
        for keys in by_shape(k for k in on if k[0] == mode and k in off)
    ]
    pairs = sum(shapes, [])
    counts, scatter, between, beside, share = compare(pairs)
    times = spread(shapes, lambda drawn: compare(sum(drawn, []))[1])
    shares = spread(shapes, lambda drawn: compare(sum(drawn, []))[4])
    return (
        f"| {mode} | {len(pairs)} | {counts[0]} | {counts[1]} | {scatter:.2f} ({times[0]:.2f} to {times[1]:.2f}) "
        f"| {between:.1f} | {beside:.1f} | {share:.1%} ({shares[0]:.1%} to {shares[1]:.1%}) |"
    )


def main():
    """Prints the table."""
    on, off = (cells(entries(path)) for path in sys.argv[1:3])
    print("| mode | cells | blocks with checks | without | scatter of pairs, times | between blocks, s | beside timing, s | share |")
    print("|---|---|---|---|---|---|---|---|")
    modes = sorted({key[0] for key in on})
    for mode in modes:
        print(row(mode, on, off))
    print("\nBetween blocks, s:\n")
    for mode in modes:
        print(f"* {mode}: {trials([on[k] for k in on if k[0] == mode])}")


if __name__ == "__main__":
    main()
