#!/usr/bin/env python3
"""before-after.py DIR ROUNDS: the tables of before-after.sh, which calls it. Of each run: seconds, blocks,
cells that converged, and how often the A/A copy's interval excludes 0. Of both programs: where a block's time
goes, seconds of a run with equal numbers of blocks, and by how much GPU times differ (by less than from round
to round, where a change does nothing to them)."""
import json
import math
import statistics
import sys
from pathlib import Path

from price_journal import blocks, cells, entries, times_ns

BY_BLOCK = ("measure", "other")  # phases that grow with a cell's blocks


class Run:
    """A journal and the result beside it."""

    def __init__(self, base):
        lines = entries(f"{base}.journal.jsonl")
        self.cells = cells(lines)
        self.spent = next(line["data"]["time_spent"] for line in lines if line["kind"] == "end")
        self.copies = json.loads(Path(f"{base}.json").read_text())["summary"]["aa"]
        self.blocks = sum(blocks(cell) for cell in self.cells.values())

    def seconds(self):
        return self.spent["seconds"]

    def part(self, name):
        return sum(part["seconds"] for part in self.spent["parts"] if part["part"] == name)

    def converged(self):
        return sum(bool(cell.get("converged")) for cell in self.cells.values())

    def copy(self):
        """Of the headline: mean in percent, and how many intervals exclude 0."""
        headline = next(iter(self.cells.values()))["headline"]
        some = [a for a in self.copies if a["timing"] == headline]
        if not some:
            return "-", "-"
        mean = 100 * math.expm1(some[0]["mean_log_ratio"])
        return f"{mean:+.3f}%", f"{some[0]['excludes_one']} of {some[0]['with_interval']}"

    def each_block_ms(self, part):
        return 1e3 * sum(cell.get("part_seconds", {}).get(part, 0) for cell in self.cells.values()) / self.blocks


def seconds_at(run, other):
    """Of the run, had its cells had as many blocks as the other's."""
    more = 0
    for key, cell in run.cells.items():
        phases = cell["phase_seconds"]
        if key in other.cells:
            more += sum(phases.get(name, 0) for name in BY_BLOCK) * (blocks(other.cells[key]) / blocks(cell) - 1)
    return run.seconds() + more


def times_apart(one, two):
    """The geometric mean of two over one, of the medians of contenders with the same variant, in percent."""
    logs = []
    for key, cell in one.cells.items():
        others = {(c["name"], str((c.get("tuning") or {}).get("variant"))): c for c in two.cells.get(key, {}).get("contenders", [])}
        for c in cell["contenders"]:
            other = others.get((c["name"], str((c.get("tuning") or {}).get("variant"))))
            if other and cell["headline"] in c and cell["headline"] in other:
                medians = [statistics.median(times_ns(x[cell["headline"]])) for x in (c, other)]
                logs.append(math.log(medians[1] / medians[0]))
    return f"{100 * math.expm1(statistics.fmean(logs)):+.2f}% ({len(logs)} times)" if logs else "-"


def say_runs(runs):
    print("| run | seconds | measuring | watching | blocks | converged | A/A, mean | A/A excludes 0 |")
    print("|---|---|---|---|---|---|---|---|")
    for name, run in runs.items():
        mean, excluded = run.copy()
        print(f"| {name} | {run.seconds():.1f} | {run.part('measure'):.1f} | {run.part('watch'):.1f} | {run.blocks} | "
              f"{run.converged()} of {len(run.cells)} | {mean} | {excluded} |")


def say_parts(before, after):
    parts = sorted({name for run in before + after for cell in run.cells.values() for name in cell.get("part_seconds", {})})
    print("\n| ms a block | before | after |\n|---|---|---|")
    for part in parts:
        each = [statistics.fmean(run.each_block_ms(part) for run in side) for side in (before, after)]
        print(f"| {part} | {each[0]:.2f} | {each[1]:.2f} |")


def main():
    base, rounds = Path(sys.argv[1]), range(1, int(sys.argv[2]) + 1)
    runs = {f"{i}-{side}": Run(base / f"{i}-{side}") for i in rounds for side in ("before", "after")}
    before, after = ([runs[f"{i}-{side}"] for i in rounds] for side in ("before", "after"))
    say_runs(runs)
    say_parts(before, after)
    print()
    for i, (one, two) in enumerate(zip(before, after), 1):
        print(f"round {i}: {two.seconds() - one.seconds():+.1f} s, {seconds_at(two, one) - one.seconds():+.1f} s for equal "
              f"blocks; times, after over before: {times_apart(one, two)}")
    for side, some in (("before", before), ("after", after)):
        if len(some) > 1:
            print(f"times, {side}, round 2 over 1: {times_apart(some[0], some[1])}")


main()
