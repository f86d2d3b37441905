#!/usr/bin/env python3
"""price-share.py DIR MOST: the share of wall time that checks take, of what price.sh left in DIR (runs.txt
and journals): as it was, and for equal numbers of blocks in each cell, each with a 95% interval (shapes drawn
again). Exit 1: over MOST percent in the mean of the rounds. Called by price.sh."""
import sys

from price_journal import blocks, by_shape, cells, entries, spread


def rounds_of(out):
    """By round, and arm: seconds and cells."""
    rounds = {}
    with open(f"{out}/runs.txt") as file:
        for line in file:
            number, arm, milliseconds = line.split()
            found = cells(entries(f"{out}/{number}-{arm}.journal.jsonl"))
            rounds.setdefault(number, {})[arm] = (int(milliseconds) / 1e3, found)
    return rounds


def more(on, off, keys):
    """Seconds that the run with checks would have measured for longer with the blocks of the other one. In
    server mode a block takes twice what it takes offline, and what is ahead of blocks takes the same whatever
    their number: so each cell by itself."""
    pairs = [(on[key], off[key]) for key in keys if key in off and blocks(on[key]) > 0]
    return sum(a["phase_seconds"]["measure"] * (blocks(b) / blocks(a) - 1) for a, b in pairs)


def seconds(arm, keys):
    """What these cells took."""
    return sum(sum(arm[key]["phase_seconds"].values()) for key in keys if key in arm)


def shares(arms, keys):
    """Of wall time, and for equal blocks, with these cells for all: what belongs to no cell stays."""
    (on, cells_on), (off, cells_off) = arms["on"], arms["off"]
    on += seconds(cells_on, keys) - seconds(cells_on, cells_on)
    off += seconds(cells_off, keys) - seconds(cells_off, cells_off)
    return 1 - off / on, 1 - off / (on + more(cells_on, cells_off, keys))


def mean_shares(rounds, keys):
    return [sum(column) / len(rounds) for column in zip(*(shares(arms, keys) for arms in rounds.values()))]


def percent(value, low_high):
    return f"{value:.1%} ({low_high[0]:.1%} to {low_high[1]:.1%})"


def intervals(rounds):
    """Of both means: the shapes drawn again, in all rounds alike."""
    shapes = by_shape(next(iter(rounds.values()))["on"][1])
    return [spread(shapes, lambda drawn: mean_shares(rounds, sum(drawn, []))[column]) for column in (0, 1)]


def main():
    out, most = sys.argv[1], float(sys.argv[2])
    rounds = rounds_of(out)
    print("| round | cells | with checks, s | blocks | without, s | blocks | share of wall time | for equal blocks |")
    print("|---|---|---|---|---|---|---|---|")
    for number, arms in rounds.items():
        (on, found), (off, others) = arms["on"], arms["off"]
        counts = [sum(map(blocks, arm.values())) for arm in (found, others)]
        share = [percent(*of) for of in zip(shares(arms, list(found)), intervals({number: arms}))]
        print(f"| {number} | {len(found)} | {on:.1f} | {counts[0]} | {off:.1f} | {counts[1]} | {share[0]} | {share[1]} |")
    wall, equal = mean_shares(rounds, list(next(iter(rounds.values()))["on"][1]))
    around = intervals(rounds)
    print(
        f"\nThe checks take {percent(wall, around[0])} of the wall time, {percent(equal, around[1])} for equal blocks; "
        f"at most {most:g}% is wanted. In brackets: 95%, shapes drawn again."
    )
    return 0 if max(wall, equal) <= most / 100 else 1


if __name__ == "__main__":
    sys.exit(main())
