"""Runs in shards on 1 to 4096 GPUs, simulated: makespan, efficiency, what slow GPUs and failures cost, and
bytes.

    python scripts/scale-out/simulate.py [--check docs/scale-out.md]

Cells take what they took on H200s, tasks start and end in the seconds of committed runs (results);
the cut knows only what harness/run/plan.c models of them, as in a real run. A task that fails goes on after a
while and loses half a cell. Prints the table of docs/scale-out.md; --check fails when the page says
something else.
"""

import argparse
import functools
import glob
import gzip
import heapq
import json
import random
import statistics
import sys

GPUS = (1, 8, 64, 512, 4096)
REPEATS = 30  # at least
GRIDS = ["results/%s/journal.jsonl.gz" % name for name in ("h200/grid-f32", "h200/grid-f32-server", "h200/grid-f16-offline", "h200/grid-f16-server")]
GRID = GRIDS[0]
# Runs whose end says when their first cell began, of the program of 06f518ae.
RUNS = ("h200/scale/one-offline.jsonl.gz", "h200/scale/one-server.jsonl.gz", "h200/scale/two-offline.jsonl.gz",
        "h200/scale/two-server.jsonl.gz", "h200/grid-f32/journal.jsonl.gz", "h200/grid-f32-server/journal.jsonl.gz",
        "h200/grid-f16-offline/journal.jsonl.gz", "h200/grid-f16-server/journal.jsonl.gz")
SPEED_SD = 0.01  # of a GPU's time
SLOW_SHARE, SLOW_TIMES = 0.005, 1.25  # stragglers
FAILURE_HOURS = 50000.0  # GPU hours to a failure (419 in 54 days of 16384 GPUs: Llama 3)
AGAIN_SECONDS = 120.0  # from a failure to the next start
PAPER_CELL_SECONDS = 156 * 3.6  # 156 hours for 1000 cells (docs/method.md, section 9)
PUBLISHED = 3736  # kernels of the import
LOAD_SECONDS = 1.0  # of a kernel that comes compiled
PAPER_CELL_BYTES = 6000  # 275 of each of 14 pairs (the CPU device), and the contenders
PLACE_BYTES = 45  # a cell's key, place and cost in its journal's first line
SENTINEL_BYTES = 400  # of a shard's line in the merged journal


@functools.lru_cache(maxsize=None)
def lines_of(path):
    """[(kind, data, bytes)]"""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        lines = [(json.loads(line), len(line)) for line in file]
    return [(line["kind"], line["data"], size) for line, size in lines]


def spent_of(lines):
    """What the run's end says of its time: (seconds of a GPU outside of cells and of watched launches, those
    of watching a cell's)."""
    end = next((data for kind, data, _ in lines if kind == "end"), {})
    if "time_spent" not in end:
        return None, 0.0
    spent = end["time_spent"]
    measure, watch = ([w["work"] for w in part["workers"]] for part in spent["parts"])
    return spent["seconds"] - statistics.fmean(measure) - statistics.fmean(watch), sum(watch) / end["cells"]


def starts():
    """Seconds that a task takes beside its cells, of each run."""
    return [spent_of(lines_of("results/" + path))[0] for path in RUNS]


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


def measured(*patterns):
    """[(modelled, real seconds, bytes)] of every cell in these journals; watched launches count to their
    cell."""
    cells = []
    found = {pattern: glob.glob(pattern) for pattern in patterns}
    if not all(found.values()):
        sys.exit("simulate: no journal %s" % " ".join(pattern for pattern, paths in found.items() if not paths))
    for path in sorted(sum(found.values(), [])):
        lines = lines_of(path)
        config = lines[0][1]["config"]
        size = sum(size for kind, _, size in lines if kind == "activity") / sum(kind == "cell" for kind, _, _ in lines)
        watch = spent_of(lines)[1]
        cells += [(modelled(config, data["mode"], data), sum(data["phase_seconds"].values()) + watch, own + size)
                  for kind, data, own in lines if kind == "cell" and data.get("phase_seconds")]
    return cells


def head_bytes():
    """Of a shard's journal: (all but cells, what the merged journal has of that)."""
    sizes = {kind: size for kind, _, size in lines_of(GRID)}
    run = next(data for kind, data, _ in lines_of(GRID) if kind == "run")
    plan = len(json.dumps(run["plan"], separators=(",", ":")))
    kept = sizes["sitting"] + sizes["env"]
    return sizes["run"] - plan + kept + sizes["end"], kept


def loads():
    grid = measured(*GRIDS)
    search = measured("results/h200/search/*walk-f32-*.jsonl.gz")
    draw = random.Random(1)
    return {
        "grid, adaptive": grid,
        "grid, paper": [(1.0, PAPER_CELL_SECONDS, PAPER_CELL_BYTES)] * len(grid),
        "search": [draw.choice(search) for _ in grid],
        "import": [(c, s + LOAD_SECONDS, b) for c, s, b in (draw.choice(grid) for _ in range(PUBLISHED))],
    }


def cut(cells, shards):
    """harness/run/shard.c: the sentinel, and for each shard the real seconds of its cells."""
    order = sorted(range(len(cells)), key=lambda i: (-round(cells[i][0] * 1e6), i))
    sentinel = order[len(order) // 2]
    heap = [(0, i) for i in range(shards)]
    parts = [[cells[sentinel][1]] for _ in range(shards)]
    for i in order:
        if i != sentinel:
            cost, shard = heapq.heappop(heap)
            parts[shard].append(cells[i][1])
            heapq.heappush(heap, (cost + round(cells[i][0] * 1e6), shard))
    return cells[sentinel], parts


def one_run(sums, start, draw):
    """Of each task: (seconds as they are, seconds were no GPU slow)."""
    tasks = []
    for seconds in sums:
        pace = draw.gauss(1, SPEED_SD)
        begin = draw.choice(start)
        slow = SLOW_TIMES if draw.random() < SLOW_SHARE else 1
        tasks.append((begin + slow * pace * seconds, begin + pace * seconds))
    return tasks


def with_failure(tasks, parts, start, draw):
    """The makespan when one task fails, any, the likelier the longer it takes."""
    hit = draw.choices(range(len(tasks)), [taken for taken, _ in tasks])[0]
    again = AGAIN_SECONDS + draw.choice(start) + draw.choice(parts[hit]) / 2
    return max(max(taken for taken, _ in tasks), tasks[hit][0] + again)


def simulate(cells, shards, start, draw):
    """{makespan, efficiency, what slow GPUs and one failure add to it in the mean, failures in a run, bytes
    of all journals and of the merged one}"""
    sentinel, parts = cut(cells, shards)
    sums = [sum(part) for part in parts]
    spans, even, failed, hours = [], [], [], 0.0
    for _ in range(max(REPEATS, 8000 // shards)):
        tasks = one_run(sums, start, draw)
        spans.append(max(taken for taken, _ in tasks))
        even.append(max(taken for _, taken in tasks))
        failed.append(with_failure(tasks, parts, start, draw))
        hours += sum(taken for taken, _ in tasks) / 3600
    span, size = statistics.fmean(spans), sum(b + PLACE_BYTES for _, _, b in cells)
    head, kept = head_bytes()
    return {"span": span, "efficiency": sum(s for _, s, _ in cells) / (shards * span), "slow": span / statistics.fmean(even) - 1,
            "failure": statistics.fmean(failed) - span, "failures": hours / len(spans) / FAILURE_HOURS,
            "journals": size + shards * (head + sentinel[2]), "merged": size + head + shards * (kept + SENTINEL_BYTES)}


def time_of(seconds):
    return "%.1f h" % (seconds / 3600) if seconds >= 7200 else "%.0f s" % seconds


def rows_of(head, cells_of):
    """A table with a column for each number of GPUs behind those of head."""
    yield "|%s|%s|" % ("|".join(head), "|".join("%d" % n for n in GPUS))
    yield "|---" * (len(head) + len(GPUS)) + "|"
    for row in cells_of:
        yield "|%s|" % "|".join(row)


def tables():
    draw, start = random.Random(7), starts()
    whole, extra = [], []
    for name, cells in loads().items():
        found = [simulate(cells, n, start, draw) for n in GPUS]
        whole.append([name, "%d" % len(cells), *("%s, %.0f%%" % (time_of(f["span"]), 100 * f["efficiency"]) for f in found)])
        extra.append([name, "%.1f" % (1000 * max(f["failures"] for f in found)), "%.0f MB" % (found[-1]["merged"] / 1e6),
                      *("%.1f%%, %.0f s, %.0f MB" % (100 * f["slow"], f["failure"], f["journals"] / 1e6) for f in found)])
    return [*rows_of(("makespan, efficiency", "cells"), whole), "",
            *rows_of(("slow GPUs add, a failure adds, journals", "failures", "merged, 4096"), extra)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--check", metavar="PAGE")
    options = parser.parse_args()
    rows = tables()
    print("\n".join(rows))
    if options.check:
        with open(options.check, encoding="utf-8") as file:
            page = file.read().splitlines()
        return int(any(row not in page for row in rows if row))
    return 0


if __name__ == "__main__":
    sys.exit(main())
