"""Compares ways to spend measurements on the held-out shapes: regret after 1, 4, 16, 64 of them.

    python -m kernel_policy.compare runs/*/scores.json -o compare.json

Regret is (best time found / best time of the pool) - 1, in percent, on problems of shapes that no training
saw. A pool is what was measured for a problem, so the true best may be faster than its best. Standard library
only.
"""
from __future__ import annotations

import argparse
import csv
import json
import math
import random
import statistics
from pathlib import Path
from typing import Any, Callable, Dict, List, Sequence, Tuple

from .env import regrets
from .records import Pool, load
from .search import Neighbours, configurations, evolution_order, random_order, ranker_order, spread_order
from .split import is_target, split

BUDGETS = (1, 4, 8, 16, 32, 64)
REPEATS = 20
CLASSES = [(a, m) for m in ("offline", "server") for a in ("f32", "f16")]

Orders = Callable[[Pool, random.Random], List[int]]
Table = List[List[float]]  # of each problem: regret at each budget, mean over repeats


def class_of(pool: Pool) -> str:
    return "%s %s" % (pool.problem.accumulate, pool.problem.mode)


def average(pool: Pool, orders: Sequence[List[int]]) -> List[float]:
    found = [regrets(pool.times, order, BUDGETS) for order in orders]
    return [100 * sum(column) / len(found) for column in zip(*found)]


def sampled(scores: Sequence[float], rng: random.Random) -> List[int]:
    """Draws without replacement, each time in proportion to what is left (the Gumbel trick)."""
    keys = [s - math.log(-math.log(max(rng.random(), 1e-12))) for s in scores]
    return sorted(range(len(keys)), key=lambda i: -keys[i])


def likeliest(scores: Sequence[float]) -> List[int]:
    return sorted(range(len(scores)), key=lambda i: -scores[i])


def summary(table: Table) -> Dict[str, Any]:
    out: Dict[str, Any] = {"problems": len(table)}
    for at, budget in enumerate(BUDGETS):
        column = sorted(row[at] for row in table)
        out[str(budget)] = {"mean": round(statistics.mean(column), 3), "median": round(statistics.median(column), 3),
                            "p90": round(column[int(0.9 * len(column))], 3)}
    return out


def by_class(pools: Sequence[Pool], table: Table) -> Dict[str, Any]:
    out = {}
    for a, m in CLASSES:
        rows = [row for pool, row in zip(pools, table) if class_of(pool) == "%s %s" % (a, m) and pool.problem.reference_ns]
        if rows:
            out["%s %s" % (a, m)] = summary(rows)
    return out


def without_policy(pools: Sequence[Pool]) -> Dict[str, Table]:
    records = load()
    all_values, near = configurations(records), Neighbours(split(records).train)
    rng = random.Random(7)
    return {
        "random": [average(p, [random_order(p, rng) for _ in range(5 * REPEATS)]) for p in pools],
        "evolution": [average(p, [evolution_order(p, all_values, rng) for _ in range(REPEATS // 2)]) for p in pools],
        "ranker": [average(p, [ranker_order(p)]) for p in pools],
        "ranker, spread": [average(p, [spread_order(p, all_values)]) for p in pools],
        "neighbour table": [average(p, [near.order(p)]) for p in pools],
    }


def of_run(pools: Sequence[Pool], scores: Sequence[Dict[str, Any]]) -> Tuple[Table, Table]:
    """The policy's likeliest lines first, and its samples (without replacement)."""
    rng = random.Random(7)
    if [s["problem"] for s in scores] != [p.problem.text() for p in pools]:
        raise ValueError("the scores are of other problems than the test set's: train again")
    return ([average(p, [likeliest(s["scores"])]) for p, s in zip(pools, scores)],
            [average(p, [sampled(s["scores"], rng) for _ in range(REPEATS)]) for p, s in zip(pools, scores)])


def difference(pools: Sequence[Pool], a: Table, b: Table, a_at: int, b_at: int, repeats: int = 2000) -> Dict[str, float]:
    """How much slower a's best is than b's in percent, geometric mean over problems; 95% by drawing
    shapes."""
    shapes: Dict[Any, List[float]] = {}
    for pool, x, y in zip(pools, a, b):
        shapes.setdefault(pool.problem.shape, []).append(math.log((1 + x[a_at] / 100) / (1 + y[b_at] / 100)))
    means, rng = [statistics.mean(v) for v in shapes.values()], random.Random(7)
    drawn = sorted(statistics.mean(rng.choices(means, k=len(means))) for _ in range(repeats))
    low, high = drawn[int(0.025 * repeats)], drawn[int(0.975 * repeats)]
    return {name: round(100 * math.expm1(v), 3) for name, v in
            (("mean", statistics.mean(means)), ("low", low), ("high", high))}


def by_drawing(values: Sequence[float], digits: int, repeats: int = 2000) -> List[float]:
    """The mean, and 95% by drawing the values."""
    rng = random.Random(7)
    drawn = sorted(statistics.fmean(rng.choices(values, k=len(values))) for _ in range(repeats))
    return [round(v, digits) for v in (statistics.fmean(values), drawn[int(0.025 * repeats)], drawn[int(0.975 * repeats)])]


def mean_scores(runs: Sequence[Sequence[Dict[str, Any]]]) -> List[Dict[str, Any]]:
    """Of each problem, the mean log-likelihood of each line over runs that differ in the seed alone."""
    return [{"problem": of[0]["problem"], "scores": [sum(s) / len(s) for s in zip(*(o["scores"] for o in of))]}
            for of in zip(*runs)]


def only_targets(pools: Sequence[Pool], table: Table) -> Table:
    return [row for pool, row in zip(pools, table) if is_target(pool)]


def mean_table(tables: Sequence[Table]) -> Table:
    return [[sum(cells) / len(cells) for cells in zip(*rows)] for rows in zip(*tables)]


def compare(paths: Sequence[Path]) -> Dict[str, Any]:
    pools = split(load()).test
    others = without_policy(pools)
    out: Dict[str, Any] = {"budgets": BUDGETS, "test_shapes": len({p.problem.shape for p in pools}), "pool_sizes": {},
                           "methods": {name: by_class(pools, table) for name, table in others.items()}, "runs": [],
                           "policies": {}, "against_ranker": {}}
    for a, m in CLASSES:
        sizes = [len(p.lines) for p in pools if class_of(p) == "%s %s" % (a, m) and p.problem.reference_ns]
        out["pool_sizes"]["%s %s" % (a, m)] = {"median": statistics.median(sizes),
                                               "over_64": sum(s > 64 for s in sizes), "problems": len(sizes)}
    tables: Dict[str, List[Table]] = {}
    together: Dict[Tuple[str, str], List[List[Dict[str, Any]]]] = {}
    targets, ranker = [p for p in pools if is_target(p)], only_targets(pools, others["ranker"])
    for path in sorted(paths):
        run = json.loads(path.read_text())
        out["runs"].append({k: run[k] for k in ("context", "seed", "size", "parameters", "seconds", "processor_seconds", "measured",
                                                "free_writing")})
        for stage, scores in run["stages"].items():
            wanted = pools if stage == "stage 3" else targets
            together.setdefault((run["context"], stage), []).append(scores)
            for kind, table in zip(("likeliest", "sampled"), of_run(wanted, scores)):
                tables.setdefault("%s, %s, %s" % (run["context"], stage, kind), []).append(table)
    for (context, stage), runs in together.items():
        wanted = pools if stage == "stage 3" else targets
        tables["%s, %s, seeds together" % (context, stage)] = [of_run(wanted, mean_scores(runs))[0]]
    for name, each in sorted(tables.items()):
        wanted = pools if "stage 3" in name else targets
        seeds = [by_class(wanted, table)["f32 offline"] for table in each]
        out["policies"][name] = {"seeds": len(each), **by_class(wanted, mean_table(each)),
                                 "means_of_seeds": {str(b): [s[str(b)]["mean"] for s in seeds] for b in BUDGETS}}
        mine = only_targets(wanted, mean_table(each))
        out["against_ranker"][name] = {
            "first_against_first": difference(targets, mine, ranker, 0, 0),
            "best_of_4_against_best_of_4": difference(targets, mine, ranker, 1, 1),
            "best_of_4_against_best_of_32": difference(targets, mine, ranker, 1, 4)}
    return out


def join_curves(scores: Sequence[Path], output: Path) -> None:
    """The curve.csv beside each of the scores, with context and seed in front."""
    with output.open("w", newline="") as file:
        writer = None
        for path in sorted(scores):
            run = json.loads(path.read_text())
            with path.with_name("curve.csv").open(newline="") as rows:
                for row in csv.DictReader(rows):
                    whole = {"context": run["context"], "seed": run["seed"], **row}
                    if writer is None:
                        writer = csv.DictWriter(file, whole.keys(), lineterminator="\n")
                        writer.writeheader()
                    writer.writerow(whole)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scores", type=Path, nargs="*")
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--curves", type=Path, help="also joins the runs' curve.csv into this file")
    options = parser.parse_args()
    found = compare(options.scores)
    if options.curves:
        join_curves(options.scores, options.curves)
    options.output.write_text(json.dumps(found, indent=1) + "\n")
    for name, table in {**found["methods"], **found["policies"]}.items():
        cells = table["f32 offline"]
        print("%-40s %s" % (name, "  ".join("%s: %.2f / %.2f" % (b, cells[str(b)]["mean"], cells[str(b)]["median"])
                                            for b in BUDGETS)))


if __name__ == "__main__":
    main()
