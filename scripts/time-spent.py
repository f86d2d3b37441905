#!/usr/bin/env python3
"""Says where the time of a run went, from its journal.

    scripts/time-spent.py JOURNAL...
    scripts/time-spent.py --against ONE SEVERAL

For each journal (.gz too): the run's parts and what each worker did in them (time_spent of its last line),
what the start of a worker took, the phases of its cells, the parts of measuring, GPU time in contenders'
launches, the longest cells, and by the time of a cell's fastest launch what a block's milliseconds go to, and
how many launches a group captures (primers too), with the milliseconds that the GPU takes for them once.
Cells are given by worker where several measured. --against: of one plan on one GPU and on several, what keeps
them from being as many times as fast, in seconds of the run on several.
"""
import collections
import gzip
import json
import statistics
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent / "figures"))
from journal_series import times_ns  # noqa: E402


def read(path):
    """The lines of a journal as (kind, data)."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as file:
        for line in file:
            entry = json.loads(line)
            yield entry["kind"], entry.get("data", entry)


def listed(seconds):
    """Names with their seconds, in their order; those of less than 0.05 s are left out."""
    return ", ".join(f"{name} {value:.1f}" for name, value in seconds.items() if value >= 0.05)


def added(cells, key):
    """The sum over cells of an object of seconds."""
    total = collections.Counter()
    for cell in cells:
        total.update(cell.get(key, {}))
    return total


def say_cells(name, cells):
    """Phases, parts and busy time of some cells."""
    phases = added(cells, "phase_seconds")
    whole = sum(phases.values())
    busy = sum(cell.get("busy_seconds", 0) for cell in cells)
    blocks = sum(len(cell.get("order", "").split()) for cell in cells)
    print(f"  {name}: {len(cells)} cells, {blocks} blocks, {whole:.1f} s: {listed(phases)}")
    print(f"    measuring: {listed(added(cells, 'part_seconds'))}; GPU in contenders' launches: {busy:.1f}")
    races = [c["tuning"] for cell in cells for c in cell.get("contenders", []) if "seconds" in (c.get("tuning") or {})]
    print(f"    {len(races)} races of {sum(race['raced'] for race in races)} variants: {sum(r['seconds'] for r in races):.1f} s, "
          f"GPU in their launches: {sum(r['busy_seconds'] for r in races):.1f}")


def say_longest(cells):
    """The cells that took longest."""
    taken = [(sum(cell["phase_seconds"].values()), cell) for cell in cells]
    longest = sorted(taken, key=lambda pair: -pair[0])[:3]
    print("  longest:", ", ".join(f"{c['mode']} {c['m']}x{c['n']}x{c['k']} {s:.1f} s" for s, c in longest))


CLASSES = [("under 5 us", 5), ("5 to 20 us", 20), ("20 to 80 us", 80), ("80 to 200 us", 200), ("0.2 to 1.6 ms", 1600),
           ("over 1.6 ms", float("inf"))]  # as the blocks of measure/block.c and cells of configs/grid.json differ


def fastest_us(cell):
    """The shortest headline time of a cell's contenders; 0 where nobody was timed."""
    shortest = []
    for contender in cell.get("contenders", []):
        series = contender.get(cell.get("headline", "device"))
        text = series.get("values", "") if isinstance(series, dict) else series
        if text:
            step, least, _ = text.split(":")
            shortest.append(float(step) * int(least) * 1e-3)
    return min(shortest, default=0)


def captured(cell):
    """Launches in the graphs of a group, primers too, and ms that the GPU takes for them; 0: no graphs."""
    usual, launches, took = cell.get("usual", {}), 0, 0
    for contender in cell.get("contenders", []):
        if cell.get("headline") == "device" and contender.get("device"):
            own = sum(contender.get(name, usual.get(name, 0)) for name in ("launches", "primers"))
            launches += own
            took += 1e-6 * own * statistics.median(times_ns(contender["device"]))
    return launches, took


def say_classes(cells):
    """By the fastest launch: how many cells converged, and the parts of a block."""
    low = 0
    for name, high in CLASSES:
        some = [cell for cell in cells if low <= fastest_us(cell) < high]
        blocks = sum(len(cell.get("order", "").split()) for cell in some)
        low = high
        if not blocks:
            continue
        each = {part: 1e3 * seconds / blocks for part, seconds in added(some, "part_seconds").items()}
        whole = 1e3 * added(some, "phase_seconds")["measure"] / blocks
        graphs = [sum(len(c.get("order", "").split()) * captured(c)[i] for c in some) / blocks for i in range(2)]
        print(f"  {name}: {len(some)} cells, {sum(bool(c.get('converged')) for c in some)} converged, {blocks} blocks of "
              f"{whole:.1f} ms: {listed(each)}; {graphs[0]:.0f} launches captured, {graphs[1]:.1f} ms of the GPU")


def say(path):
    """One journal."""
    cells, workers, spent = collections.defaultdict(list), [], None
    for kind, data in read(path):
        if kind == "cell":
            cells[data.get("worker", 0)].append(data)
        elif kind == "env":
            workers.append(data)
        elif kind == "end":
            spent = data.get("time_spent")
    print(path)
    for part in spent["parts"] if spent else []:
        print(f"  {part['part']}: {part['seconds']:.1f} s of {spent['seconds']:.1f} s")
        for worker in part["workers"]:
            print(f"    {worker['device']}: {listed({k: v for k, v in worker.items() if k != 'device'})}")
    for index, env in enumerate(workers):
        start = env.get("start_seconds", {})
        print(f"  worker {index}: {env['device'].get('uuid', '')[:12]}, cores {env.get('cores', 'all')}, start: {listed(start)}")
    for index in sorted(cells):
        say_cells(f"worker {index}", cells[index])
    everything = [cell for some in cells.values() for cell in some]
    if len(cells) > 1:
        say_cells("all", everything)
    say_classes(everything)
    say_longest(everything)


def run_of(path):
    """A journal as (cells, parts by name, seconds)."""
    cells, spent = [], None
    for kind, data in read(path):
        if kind == "cell":
            cells.append(data)
        elif kind == "end":
            spent = data["time_spent"]
    return cells, {part["part"]: part for part in spent["parts"]}, spent["seconds"]


def mean_of(part, state):
    """Seconds of a part's workers in a state, on average."""
    return sum(worker[state] for worker in part["workers"]) / len(part["workers"])


def beyond_share(one, several):
    """What several GPUs spend beyond their share of what one spends: how many they are, how many blocks more
    they measured, and by cause the seconds of the run."""
    (cells, parts, _), (others, spent, _) = one, several
    gpus = len(spent["measure"]["workers"])
    blocks = [sum(len(cell["order"].split()) for cell in some) for some in (cells, others)]
    whole = [sum(sum(cell["phase_seconds"].values()) for cell in some) for some in (cells, others)]
    measure = added(cells, "phase_seconds")["measure"]
    more = measure * (blocks[1] / blocks[0] - 1) / gpus
    watch = parts["watch"]["seconds"], spent["watch"]["seconds"]

    def of(part, state):
        return mean_of(spent[part], state) - mean_of(parts[part], state) / gpus

    causes = {"start of workers": of("measure", "start"), "more blocks": more,
              "cells but for that": (whole[1] - whole[0]) / gpus - more,
              "cells measured by all, and between cells": of("measure", "work") - (whole[1] - whole[0]) / gpus,
              "start of watching": of("watch", "start"), "watching": of("watch", "work")}
    causes["end of watching"] = watch[1] - watch[0] / gpus - causes["start of watching"] - causes["watching"]
    return gpus, blocks[1] - blocks[0], causes


def say_against(first, second):
    """Two journals of one plan."""
    one, several = run_of(first), run_of(second)
    gpus, blocks, causes = beyond_share(one, several)
    beyond = several[2] - one[2] / gpus
    print(f"{gpus} GPUs: {several[2]:.1f} s, one: {one[2]:.1f} s, {one[2] / several[2]:.2f} times as fast; "
          f"{beyond:.1f} s beyond a share of {one[2] / gpus:.1f} s, {blocks:+d} blocks:")
    causes["the rest"] = beyond - sum(causes.values())
    for name, seconds in causes.items():
        print(f"  {seconds:+.2f} s  {name}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--against"]:
        say_against(*sys.argv[2:4])
    else:
        for journal in sys.argv[1:]:
            say(journal)
