"""A policy's first lines against two rankers', over shapes that are held out in turn: one in five at a time,
until each was.

    python -m kernel_policy.folds runs/*/scores.json --trees trees.json -o folds.json --shapes folds.csv
    python -m kernel_policy.folds runs/*/scores.json --samples -o folds-samples.json
    python -m kernel_policy.folds large/*/scores.json --trees-of folds.csv -o folds-large.json

The runs are of `train --fold 1` to 5, with the same seeds for each. The rankers are the model's times that
the records hold, and trees that scripts/train-ranker.py --folds fits anew for each fold. folds.csv has 100
log(policy / ranker) of each shape; all intervals follow from it. --trees-of takes from an earlier one how
far the trees are from the model, so that they need not be fitted again. Standard library only.
"""
from __future__ import annotations

import argparse
import collections
import csv
import json
import math
import random
import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from .compare import BUDGETS, REPEATS as DRAWS, Table, average, likeliest, mean_table, sampled
from .records import Pool, Records, Shape, load
from .search import ranker_order
from .split import N_FOLDS, N_TEST, is_target, split, target_shapes

REPEATS = 10000
STUDENT = 2.776  # 95%, of five folds' means
FIRST, FOUR, WIDE = (BUDGETS.index(b) for b in (1, 4, 32))
COMPARED = {"first_against_ranker": ("ranker", FIRST, FIRST), "four_against_rankers_32": ("ranker", FOUR, WIDE),
            "first_against_trees": ("trees", FIRST, FIRST), "four_against_trees_32": ("trees", FOUR, WIDE)}

Run = Mapping[str, Any]                # scores.json
Expected = Mapping[str, List[float]]   # of each problem: what trees expect of each line of its pool
Trees = Mapping[Shape, Tuple[float, float]]  # of each shape: 100 log(trees / ranker), first and best of 4 by best of 32


@dataclass(frozen=True)
class Row:
    """A shape, the fold that held it out, and 100 log(policy / ranker) in the order of COMPARED: the mean of
    its layouts."""
    shape: Shape
    fold: int
    slower: Tuple[float, ...]  # the ranker's, then, if they are compared with, the trees'


@dataclass
class Fold:
    """The target problems that a fold holds out, and regret of each at each budget."""
    number: int
    pools: List[Pool]
    seeds: Dict[int, Table]
    rankers: Dict[str, Table]


def runs_by_fold(runs: Sequence[Run]) -> Dict[int, Dict[int, Run]]:
    """ValueError unless each fold has the same seeds, once, of one kind of policy, to the end."""
    found: Dict[int, Dict[int, Run]] = collections.defaultdict(dict)
    for run in runs:
        if "stage 3" not in run["stages"]:
            raise ValueError("fold %d, seed %d has not ended" % (run["fold"], run["seed"]))
        if run["seed"] in found[run["fold"]]:
            raise ValueError("fold %d, seed %d is there twice" % (run["fold"], run["seed"]))
        found[run["fold"]][run["seed"]] = run
    if sorted(found) != list(range(1, N_FOLDS + 1)) or len({tuple(sorted(of)) for of in found.values()}) != 1:
        raise ValueError("runs of folds 1 to %d are wanted, with the same seeds for each" % N_FOLDS)
    if len({(run["context"], run["size"], run["measured"]) for run in runs}) != 1:
        raise ValueError("the runs are of different policies")
    return found


def orders(scores: Sequence[float], problem: str, samples: bool) -> List[List[int]]:
    """The likeliest line first, or some draws."""
    rng = random.Random(problem)
    return [sampled(scores, rng) for _ in range(DRAWS)] if samples else [likeliest(scores)]


def table_of(pools: Sequence[Pool], run: Run, samples: bool) -> Table:
    scores = run["stages"]["stage 3"]
    if [s["problem"] for s in scores] != [p.problem.text() for p in pools]:
        raise ValueError("fold %d, seed %d: the scores are of other problems" % (run["fold"], run["seed"]))
    return [average(p, orders(s["scores"], s["problem"], samples)) for p, s in zip(pools, scores)]


def by_trees(pool: Pool, expected: Expected) -> List[int]:
    """What they expect to be fastest first."""
    each = expected[pool.problem.text()]
    if len(each) != len(pool.lines):
        raise ValueError("%s: the trees are of another pool" % pool.problem.text())
    return sorted(range(len(each)), key=lambda i: each[i])


def folds_of(records: Records, runs: Sequence[Run], expected: Optional[Expected], samples: bool = False) -> List[Fold]:
    """Without `expected` no trees are compared with."""
    out = []
    for number, of in sorted(runs_by_fold(runs).items()):
        pools = [p for p in split(records, number).test if is_target(p)]
        rankers = {"ranker": [average(p, [ranker_order(p)]) for p in pools]}
        if expected is not None:
            rankers["trees"] = [average(p, [by_trees(p, expected)]) for p in pools]
        out.append(Fold(number, pools, {seed: table_of(pools, run, samples) for seed, run in sorted(of.items())}, rankers))
    return out


def read_trees(path: Path) -> Trees:
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    first, four, trees_first, trees_four = COMPARED
    return {(int(r["m"]), int(r["n"]), int(r["k"])): (float(r[first]) - float(r[trees_first]), float(r[four]) - float(r[trees_four]))
            for r in rows}


def rows_of(fold: Fold, policy: Table, trees: Optional[Trees] = None) -> List[Row]:
    each: Dict[Shape, List[List[float]]] = collections.defaultdict(list)
    for at, pool in enumerate(fold.pools):
        each[pool.problem.shape].append([
            100 * math.log((1 + policy[at][mine] / 100) / (1 + fold.rankers[who][at][its] / 100))
            for who, mine, its in COMPARED.values() if who in fold.rankers])
    rows = [Row(shape, fold.number, tuple(round(statistics.fmean(column), 2) for column in zip(*of)))
            for shape, of in sorted(each.items())]
    return [Row(r.shape, r.fold, (*r.slower, *(a - b for a, b in zip(r.slower, trees[r.shape])))) for r in rows] if trees else rows


def percent(log: float) -> float:
    return round(100 * math.expm1(log / 100), 3)


def interval(rows: Sequence[Row], at: int, repeats: int) -> Dict[str, float]:
    """By how many percent the policy is slower; 95% by drawing shapes within each fold."""
    folds: Dict[int, List[float]] = collections.defaultdict(list)
    for row in rows:
        folds[row.fold].append(row.slower[at])
    rng, values = random.Random(7), list(folds.values())
    drawn = sorted(sum(sum(rng.choices(of, k=len(of))) for of in values) / len(rows) for _ in range(repeats))
    ends = {"low": drawn[int(0.025 * repeats)], "high": drawn[int(0.975 * repeats)]}
    mean = statistics.fmean(row.slower[at] for row in rows)
    return {"mean": percent(mean), **{name: percent(v) for name, v in ends.items()}}


def between_folds(rows: Sequence[Row], at: int) -> Dict[str, Any]:
    """The folds' means, and the interval that their scatter gives."""
    means = [statistics.fmean(row.slower[at] for row in rows if row.fold == fold) for fold in range(1, N_FOLDS + 1)]
    middle, off = statistics.fmean(means), STUDENT * statistics.stdev(means) / math.sqrt(N_FOLDS)
    return {"folds": [percent(v) for v in means], "folds_low": percent(middle - off), "folds_high": percent(middle + off)}


def compared(rows: Sequence[Row], seen: Sequence[Shape], repeats: int) -> Dict[str, Any]:
    """`seen`: the shapes by which this policy was chosen."""
    others = [row for row in rows if row.shape not in set(seen)]
    return {name: {**interval(rows, at, repeats), **between_folds(rows, at), "ahead": sum(row.slower[at] < 0 for row in rows),
                   "behind": sum(row.slower[at] > 0 for row in rows), "without_the_split": interval(others, at, repeats)}
            for at, name in enumerate(list(COMPARED)[:len(rows[0].slower)])}


def regret(tables: Sequence[Table]) -> Dict[str, Dict[str, float]]:
    """Mean and median over the problems of all folds."""
    rows = [row for table in tables for row in table]
    columns = {str(budget): [row[at] for row in rows] for at, budget in enumerate(BUDGETS)}
    return {budget: {"mean": round(statistics.fmean(of), 3), "median": round(statistics.median(of), 3)} for budget, of in columns.items()}


def summary(folds: Sequence[Fold], rows: Sequence[Row], seen: Sequence[Shape], repeats: int = REPEATS,
            trees: Optional[Trees] = None) -> Dict[str, Any]:
    seeds = sorted(folds[0].seeds)
    each = {seed: [row for fold in folds for row in rows_of(fold, fold.seeds[seed], trees)] for seed in seeds}
    return {"shapes": len(rows), "seeds": seeds, "compared": compared(rows, seen, repeats),
            "of_seeds": {name: [percent(statistics.fmean(row.slower[at] for row in each[seed])) for seed in seeds]
                         for at, name in enumerate(list(COMPARED)[:len(rows[0].slower)])},
            "regret": {"policy": regret([mean_table(list(fold.seeds.values())) for fold in folds]),
                       **{who: regret([fold.rankers[who] for fold in folds]) for who in folds[0].rankers}}}


def write_rows(rows: Sequence[Row], path: Path) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("m", "n", "k", "fold", *list(COMPARED)[:len(rows[0].slower)]))
        writer.writerows((*row.shape, row.fold, *row.slower) for row in rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scores", type=Path, nargs="+")
    parser.add_argument("--trees", type=Path, help="of scripts/train-ranker.py --folds")
    parser.add_argument("--trees-of", type=Path, help="--shapes of an earlier comparison, with trees, of the same folds")
    parser.add_argument("--samples", action="store_true", help="drawn lines in place of the likeliest")
    parser.add_argument("--shapes", type=Path, help="a row for each shape goes here")
    parser.add_argument("-o", "--output", type=Path, required=True)
    options = parser.parse_args()
    records = load()
    runs = [json.loads(path.read_text()) for path in options.scores]
    try:
        folds = folds_of(records, runs, json.loads(options.trees.read_text()) if options.trees else None, options.samples)
    except ValueError as error:
        parser.error(str(error))
    trees = read_trees(options.trees_of) if options.trees_of else None
    rows = [row for fold in folds for row in rows_of(fold, mean_table(list(fold.seeds.values())), trees)]
    found = {**{name: runs[0][name] for name in ("context", "size", "measured")}, "lines": "sampled" if options.samples else "likeliest",
             "processor_seconds": sum(run["processor_seconds"] for run in runs),
             **summary(folds, rows, target_shapes(records)[:N_TEST], trees=trees)}
    if options.shapes:
        write_rows(rows, options.shapes)
    options.output.write_text(json.dumps(found, indent=1) + "\n")
    for name, of in found["compared"].items():
        print("%-26s %+.2f (%+.2f to %+.2f)" % (name, of["mean"], of["low"], of["high"]))


if __name__ == "__main__":
    main()
