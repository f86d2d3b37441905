#!/usr/bin/env python3
"""price-scatter.py ON OFF [ON OFF]...: whether checks make times scatter, and where. Each ON and OFF are
journals (.jsonl, .gz too) of one config with verify.honesty on and off. By mode: blocks and scatter, with
checks over without. Offline by how long the fastest takes: blocks right behind a check, against all other
blocks of the cell, and the blocks at the same places of the run without; and what each contender gains
there against all. Server, launches below 20 us, by
how large C is. In brackets: 95%, shapes drawn again. Reads what price.sh leaves."""
import math
import statistics
import sys

from price_journal import blocks, by_shape, cells, checked, entries, logarithms, ratios, spread

LONG = ((0, 20e3), (20e3, 80e3), (80e3, 400e3), (400e3, 1.6e6), (1.6e6, math.inf))
LARGE = ((0, 0.2e6), (0.2e6, 1e6), (1e6, 12.5e6), (12.5e6, math.inf))
SHORT_NS = 20e3


class Pair:
    """One cell, with checks and without."""

    def __init__(self, run, on, off):
        self.arms, self.mode, self.shape = (on, off), on["mode"], (on["m"], on["n"], on["k"])
        self.c_bytes = (4 if on["dtype"] == "f32" else 2) * on["m"] * on["n"]
        self.fastest = min(math.exp(statistics.median(logs)) for logs in logarithms(off).values())
        self.ratios = ratios(on, off)
        self.behind = [behind(cell, [b + 1 for b in checked(run, cell) if b + 1 < blocks(cell)]) for cell in self.arms]


def behind(cell, these):
    """(shift, deviation, gains) of each of these blocks: how far all contenders are from their medians over
    the other blocks; how far from one another, over the median of that of the other blocks; and by contender
    of both layouts how far it is from all."""
    series = logarithms(cell)
    names, logs = [name.removesuffix("-nn").removesuffix("-tn") for name, _ in series], list(series.values())
    others = [b for b in range(1, blocks(cell)) if b not in these]
    if len(logs) < 2 or not others:
        return []
    found = [[row[b] - statistics.median(row[o] for o in others) for row in logs] for b in range(blocks(cell))]
    apart = [statistics.pstdev(of_block) for of_block in found]
    usual = statistics.median(apart[o] for o in others)
    shift = [statistics.mean(of_block) for of_block in found]
    gains = [[(name, x - shift[b]) for name, x in zip(names, found[b])] for b in range(blocks(cell))]
    return [(shift[b], apart[b] / usual, gains[b]) for b in these if usual > 0]


def pairs_of(paths):
    out = []
    for path_on, path_off in zip(paths[::2], paths[1::2]):
        lines = entries(path_on)
        on, off = cells(lines), cells(entries(path_off))
        run = next(entry["data"] for entry in lines if entry["kind"] == "run")
        out += [Pair(run, on[k], off[k]) for k in on if k in off and blocks(on[k]) and logarithms(off[k])]
    return out


def more_blocks(pairs):
    return sum(blocks(p.arms[0]) for p in pairs) / sum(blocks(p.arms[1]) for p in pairs)


def more_scatter(pairs):
    """Each cell counts once."""
    found = [statistics.mean(p.ratios) for p in pairs if p.ratios]
    return math.exp(statistics.mean(found)) if found else math.nan


def around(pairs, estimate, form):
    low, high = spread(by_shape(pairs, lambda pair: pair.shape), lambda drawn: estimate(sum(drawn, [])))
    return f"{estimate(pairs):{form}} ({low:{form}} to {high:{form}})"


def scatter_row(name, pairs):
    counts = [sum(blocks(p.arms[i]) for p in pairs) for i in (0, 1)]
    shares = [around(pairs, estimate, ".2f") for estimate in (more_blocks, more_scatter)]
    print(f"| {name} | {len(pairs)} | {counts[0]} | {counts[1]} | {shares[0]} | {shares[1]} |")


def scatter_table(rows):
    print("| cells | | blocks with checks | without | blocks, times | scatter of pairs, times |\n|---|---|---|---|---|---|")
    for name, pairs in rows:
        if pairs:
            scatter_row(name, pairs)


def mean_behind(arm, column):
    """Of all blocks behind checks, one number: shift in percent, or deviation."""

    def estimate(pairs):
        found = [of[column] for p in pairs for of in p.behind[arm]]
        return (100 if column == 0 else 1) * statistics.mean(found) if found else math.nan

    return estimate


def behind_row(name, pairs):
    figures = [around(pairs, mean_behind(arm, column), ("+.1f", ".1f")[column]) for column in (0, 1) for arm in (0, 1)]
    print(f"| {name} | {sum(len(p.behind[0]) for p in pairs)} | {' | '.join(figures)} |")


def mean_gain(arm, name):
    """In percent."""

    def estimate(pairs):
        found = [x for p in pairs for of in p.behind[arm] for of_name, x in of[2] if of_name == name]
        return 100 * statistics.mean(found) if found else math.nan

    return estimate


def gain_table(pairs):
    print("| contender | time against all, % | without |\n|---|---|---|")
    names = {name for p in pairs for of in p.behind[0] for name, _ in of[2]}
    for name in sorted(names):
        print(f"| {name} | {' | '.join(around(pairs, mean_gain(arm, name), '+.1f') for arm in (0, 1))} |")


def span(low, high, unit):
    return f"from {low / unit:g}" if math.isinf(high) else f"{low / unit:g} to {high / unit:g}"


def main():
    if len(sys.argv) < 3 or len(sys.argv) % 2 == 0:
        sys.exit(__doc__)
    pairs = pairs_of(sys.argv[1:])
    scatter_table([(mode, [p for p in pairs if p.mode == mode]) for mode in ("offline", "server")])
    print("\nOffline, blocks right behind a check (without: the same places):\n")
    print("| fastest, us | blocks | time, % | without | pairs apart, times the others | without |\n|---|---|---|---|---|---|")
    for low, high in LONG:
        found = [p for p in pairs if p.mode == "offline" and low <= p.fastest < high]
        if any(p.behind[0] for p in found):
            behind_row(span(low, high, 1e3), found)
    print("\nThe same blocks by contender, from 400 us to 1.6 ms:\n")
    gain_table([p for p in pairs if p.mode == "offline" and LONG[3][0] <= p.fastest < LONG[3][1]])
    print("\nServer, launches below 20 us, by C in MB:\n")
    short = [p for p in pairs if p.mode == "server" and p.fastest < SHORT_NS]
    scatter_table([(span(low, high, 1e6), [p for p in short if low <= p.c_bytes < high]) for low, high in LARGE])


if __name__ == "__main__":
    main()
