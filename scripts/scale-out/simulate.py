"""Runs in shards on 1 to 4096 GPUs, simulated: makespan and efficiency, with start-up, slow GPUs and
failures.

    python scripts/scale-out/simulate.py [--check docs/scale-out.md]

Cells take what they took on H200s and H100s (results); the cut knows only what harness/run/plan.c models of
them, as in a real run. Prints the table of docs/scale-out.md; --check fails when the page says something
else.
"""

import argparse
import glob
import gzip
import heapq
import json
import random
import statistics
import sys

GPUS = (1, 8, 64, 512, 4096)
REPEATS = 15
START_SECONDS = 21.0  # of a task, before and after its cells (two H100s, 200 shapes)
SPEED_SD = 0.01  # of a GPU's time
SLOW_SHARE, SLOW_TIMES = 0.005, 1.25  # stragglers
FAILURE_HOURS = 50000.0  # GPU hours to a failure (419 in 54 days of 16384 GPUs: Llama 3)
AGAIN_SECONDS = 120.0  # from a failure to the next start
PAPER_CELL_SECONDS = 156 * 3.6  # 156 hours for 1000 cells (docs/method.md, section 9)
PUBLISHED = 3736  # kernels of the import
LOAD_SECONDS = 1.0  # of a kernel that comes compiled


def lines_of(path):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            line = json.loads(line)
            yield line["kind"], line["data"]


def modelled(config, mode, cell):
    """adaptive_cost of harness/run/plan.c, on a GPU."""
    flops = 2.0 * cell["m"] * cell["n"] * cell["k"]
    size = 2.0 * (cell["m"] * cell["k"] + cell["k"] * cell["n"] + cell["m"] * cell["n"])
    launch = max(flops / 3e14, size / 2e12) + 1e-5
    contenders = (len(config["baselines"]) + len(config["candidates"])) * len(config["layouts"])
    others = 2.0 / config["other_timings_every"] if config["other_timings_every"] else 0.0
    segment = (launch + config["server"]["mean_gap_ms"] * 1e-3) * (1 + others)
    if mode == "offline":
        segment = max(launch, 200e-6) + others * launch
    return contenders * (0.05 + 20 * launch + 1.5 * config["stop"]["min_blocks"] * segment)


def measured(pattern):
    """[(modelled, real seconds)] of every cell in these journals."""
    cells, config = [], None
    for path in sorted(glob.glob(pattern)):
        for kind, data in lines_of(path):
            if kind == "run":
                config = data["config"]
            elif kind == "cell" and data.get("phase_seconds"):
                cells.append((modelled(config, data["mode"], data), sum(data["phase_seconds"].values())))
    return cells


def loads():
    grid = measured("results/h200/grid-*/journal.jsonl.gz") + measured("results/h100/server-f16/journal.jsonl.gz")
    search = measured("results/h200/search/*walk-f32-*.jsonl.gz")
    draw = random.Random(1)
    return {
        "grid, adaptive": grid,
        "grid, paper": [(1.0, PAPER_CELL_SECONDS)] * len(grid),
        "search": [draw.choice(search) for _ in grid],
        "import": [(c, s + LOAD_SECONDS) for c, s in (draw.choice(grid) for _ in range(PUBLISHED))],
    }


def cut(cells, shards):
    """harness/run/shard.c: the sentinel, and for each shard the real seconds of its cells."""
    order = sorted(range(len(cells)), key=lambda i: (-round(cells[i][0] * 1e6), i))
    sentinel = order[len(order) // 2]
    heap = [(0, i) for i in range(shards)]
    parts = [[] for _ in range(shards)]
    for i in order:
        if i != sentinel:
            cost, shard = heapq.heappop(heap)
            parts[shard].append(cells[i][1])
            heapq.heappush(heap, (cost + round(cells[i][0] * 1e6), shard))
    return cells[sentinel][1], parts


def shard_seconds(seconds, draw):
    """One task: its GPU's pace, and what failures cost."""
    pace = draw.lognormvariate(0, SPEED_SD) * (SLOW_TIMES if draw.random() < SLOW_SHARE else 1)
    taken, failures = START_SECONDS + pace * sum(seconds), 0
    while draw.random() < taken / 3600 / FAILURE_HOURS and failures < 100:
        failures += 1
        taken += AGAIN_SECONDS + START_SECONDS + pace * draw.choice(seconds) / 2
    return taken, failures


def simulate(cells, shards, draw):
    sentinel, parts = cut(cells, shards)
    spans, failures = [], 0
    for _ in range(REPEATS):
        tasks = [shard_seconds([sentinel, *part], draw) for part in parts]
        spans.append(max(t for t, _ in tasks))
        failures += sum(f for _, f in tasks)
    return statistics.median(spans), failures / REPEATS


def time_of(seconds):
    return "%.1f h" % (seconds / 3600) if seconds >= 7200 else "%.0f s" % seconds


def table():
    draw = random.Random(7)
    rows = ["| makespan, efficiency | cells | " + " | ".join("%d" % n for n in GPUS) + " |", "|---|---|" + "---|" * len(GPUS)]
    for name, cells in loads().items():
        work = sum(s for _, s in cells)
        row = []
        for n in GPUS:
            span, _ = simulate(cells, n, draw)
            row.append("%s, %.0f%%" % (time_of(span), 100 * work / (n * span)))
        rows.append("| %s | %d | %s |" % (name, len(cells), " | ".join(row)))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--check", metavar="PAGE")
    options = parser.parse_args()
    rows = table()
    print("\n".join(rows))
    if options.check:
        with open(options.check, encoding="utf-8") as file:
            page = file.read().splitlines()
        return int(any(row not in page for row in rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
