"""Hardware counters of the best recorded line of each shape of the grid, from `cudal2-bench serve`: what a
prompt can say of a neighbour's kernel.

    python -m kernel_policy.counted --program ../build/cudal2-bench --device cuda:0 --minutes 10
    counters.jsonl

One JSON line for each shape: the problem, its line, and METRICS of one launch by name (NVIDIA's ncu, which
the server runs). The same command goes on where the file ends; a shape without counters has the reason in
`unavailable`, and is asked again by the next call. Standard library only."""
from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, List, Sequence

from .records import Pool, Records, load
from .served import Server, submission
from .split import is_target

sys.path.append(str(Path(__file__).resolve().parents[2] / "python"))
from cudal2_bench.served import serving  # noqa: E402

METRICS = ["sm__throughput.avg.pct_of_peak_sustained_elapsed", "sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active",
           "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", "dram__throughput.avg.pct_of_peak_sustained_elapsed",
           "lts__t_sector_hit_rate.pct", "sm__warps_active.avg.pct_of_peak_sustained_active"]
EFFORT = {"half_width": 0.5, "seconds": 0.05}  # its time is not asked for
AT_ONCE = 32  # submissions of a batch: compilers are ahead of the GPU
Outcomes = Callable[[List[Dict[str, Any]]], List[Dict[str, Any]]]


def wanted(records: Records) -> List[Pool]:
    """Of each shape of the class of stage 3 the layout whose best line is the faster one, small problems
    first."""
    best: Dict[Any, Pool] = {}
    for pool in filter(is_target, records.pools):
        shape = pool.problem.shape
        if shape not in best or pool.best < best[shape].best:
            best[shape] = pool
    return sorted(best.values(), key=lambda pool: (pool.best, pool.problem.text()))


def best_line(records: Records, pool: Pool) -> str:
    return records.lines[pool.lines[pool.times.index(pool.best)]]


def row(records: Records, pool: Pool, outcome: Dict[str, Any]) -> Dict[str, Any]:
    told: Dict[str, Any] = {"problem": pool.problem.text(), "line": best_line(records, pool)}
    problems = outcome.get("problems") or [{}]
    counters = problems[0].get("counters") or {}
    if counters.get("metrics"):
        return {**told, "metrics": {name: value["value"] for name, value in counters["metrics"].items()}}
    return {**told, "unavailable": counters.get("unavailable") or outcome.get("error") or outcome["verdict"]}


def counted(lines: Iterable[str]) -> List[str]:
    """Problems that a file has counters of."""
    rows = [json.loads(line) for line in lines]
    return [row["problem"] for row in rows if "metrics" in row]


def gather(records: Records, outcomes: Outcomes, path: Path, minutes: float) -> int:
    """Appends to the file until the time is over or all are there; how many are left."""
    had = set(counted(path.read_text().splitlines())) if path.exists() else set()
    left: Sequence[Pool] = [pool for pool in wanted(records) if pool.problem.text() not in had]
    end = time.monotonic() + 60 * minutes
    with open(path, "a") as file:
        while left and time.monotonic() < end:
            batch, left = left[:AT_ONCE], left[AT_ONCE:]
            jobs = [submission(best_line(records, pool), records.usual, pool.problem, counters=METRICS, **EFFORT) for pool in batch]
            for pool, outcome in zip(batch, outcomes(jobs)):
                file.write(json.dumps(row(records, pool, outcome)) + "\n")
            file.flush()
            print("%d left" % len(left), flush=True)
    return len(left)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--program", required=True)
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--minutes", type=float, default=600.0)
    options = parser.parse_args()
    os.environ["CUDAL2_BENCH"] = options.program
    with serving(options.device, ["--queue", "200", "--quota", "200"]) as url:
        left = gather(load(), Server(url).outcomes, options.file, options.minutes)
    sys.exit(75 if left else 0)


if __name__ == "__main__":
    main()
