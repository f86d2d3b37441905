"""Compares ways to choose kernels on the held-out shapes at equal GPU-seconds: what compare.py does at equal
numbers of measurements.

    python -m kernel_policy.equal_time runs/*/scores.json --overhead overhead.json -o gpu-seconds.json

A shape's budget is shared by its two layouts. Each begins with the seconds that the method thinks (on a core,
while the GPU waits; evolution thinks ahead of each measurement), then what a cell costs before its first
measurement, then one measurement after the other. Before the first of them is over, the method's first line
counts, unmeasured. Prices are those of a race of `tune` (price.py) and of a reward of `serve`. Training is
free, or paid by so many shapes: the seconds of its processor or GPU, and its measurements by the same price.
Standard library only."""
from __future__ import annotations

import argparse
import collections
import json
import math
import random
import statistics
from dataclasses import replace
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Tuple

from .compare import REPEATS, by_drawing, likeliest, sampled
from .price import Price, fitted, price_of
from .records import Pool, load
from .search import Neighbours, configurations, evolution_order, random_order, ranker_order, spread_order
from .split import is_target, split

RESULTS = Path(__file__).resolve().parents[2] / "results"
LAYOUTS = 2
PAID_BY = (100, 1000)  # shapes: those held out, and the whole grid
KEPT = {("small", "none"): ("likeliest",), ("small", "neighbours"): ("likeliest",), ("small", "neighbours+ranker"): ("likeliest", "sampled"),
        ("large", "neighbours+ranker"): ("likeliest",)}  # rows of a policy
PAID = ("neighbours+ranker", "likeliest")  # those that are also shown with their training paid
BUDGETS = {"tune": (0.05, 0.1, 0.2, 0.5, 1.0, 4.0), "serve": (0.2, 1.0, 4.0, 16.0, 64.0, 256.0)}

Order = List[int]
Orders = Dict[str, List[List[Order]]]  # of a method: for each problem, the orders of its repeats
Row = List[Optional[float]]  # regret in percent at each budget; None: it has not even chosen


def regret_in(pool: Pool, order: Order, price: Price, budgets: Sequence[float], spent: float) -> Row:
    """Regret in percent of the best measured within each budget, of which `spent` is gone before."""
    best, at, clock, out = math.inf, 0, spent + price.start(pool.problem.shape), []  # type: float, int, float, Row
    for budget in budgets:
        while at < len(order) and clock + price.measurement(pool.times[order[at]]) <= budget:
            clock += price.measurement(pool.times[order[at]])
            best, at = min(best, pool.times[order[at]]), at + 1
        chosen = best if at else pool.times[order[0]]
        out.append(100 * (chosen / pool.best - 1) if spent <= budget else None)
    return out


def mean_row(rows: Sequence[Row]) -> Row:
    return [None if None in column else statistics.fmean(v for v in column if v is not None) for column in zip(*rows)]


def table_of(pools: Sequence[Pool], orders: Sequence[Sequence[Order]], price: Price, budgets: Sequence[float],
             spent: float) -> Dict[Tuple[int, int, int], Row]:
    """Of each shape: the mean over layouts and repeats. A budget is a shape's, `spent` a layout's."""
    each = [b / LAYOUTS for b in budgets]
    found: Dict[Tuple[int, int, int], List[Row]] = collections.defaultdict(list)
    for pool, of in zip(pools, orders):
        found[pool.problem.shape].append(mean_row([regret_in(pool, order, price, each, spent) for order in of]))
    return {shape: mean_row(rows) for shape, rows in found.items()}


def summary(table: Dict[Tuple[int, int, int], Row]) -> List[Optional[List[float]]]:
    out: List[Optional[List[float]]] = []
    for column in zip(*table.values()):
        out.append(None if None in column else by_drawing([v for v in column if v is not None], 2))
    return out


def without_policy(pools: Sequence[Pool]) -> Orders:
    records = load()
    values, near, rng = configurations(records), Neighbours(split(records).train), random.Random(7)
    return {"random": [[random_order(p, rng) for _ in range(5 * REPEATS)] for p in pools],
            "evolution": [[evolution_order(p, values, rng) for _ in range(REPEATS // 2)] for p in pools],
            "ranker": [[ranker_order(p)] for p in pools], "ranker, spread": [[spread_order(p, values)] for p in pools],
            "neighbour table": [[near.order(p)] for p in pools]}


def read_runs(paths: Sequence[Path]) -> Dict[Tuple[str, str], List[Dict[str, Any]]]:
    """Runs by size and context; of each the last stage's scores of target problems."""
    runs: Dict[Tuple[str, str], List[Dict[str, Any]]] = collections.defaultdict(list)
    for path in sorted(paths):
        run = json.loads(path.read_text())
        runs[run["size"], run["context"]].append(run)
    return runs


def scores_of(run: Dict[str, Any], pools: Sequence[Pool]) -> List[Dict[str, Any]]:
    found = {s["problem"]: s for s in run["stages"]["stage 3"]}
    return [found[p.problem.text()] for p in pools]


def policy_orders(runs: Sequence[Dict[str, Any]], pools: Sequence[Pool]) -> Dict[str, List[List[Order]]]:
    """All seeds of a context, as repeats."""
    rng, by_problem = random.Random(7), list(zip(*(scores_of(run, pools) for run in runs)))
    return {"likeliest": [[likeliest(s["scores"]) for s in of] for of in by_problem],
            "sampled": [[sampled(s["scores"], rng) for s in of for _ in range(REPEATS // 2)] for of in by_problem]}


def training(runs: Sequence[Dict[str, Any]], price: Price, records_ns: float) -> float:
    """Seconds of one seed: its processor (or the GPU that it had, with others beside it), and its
    measurements."""
    return statistics.fmean(min(run["seconds"], run["processor_seconds"]) + run["measured"] * price.measurement(records_ns) for run in runs)


def serve_price(live: Dict[str, Any]) -> Dict[str, float]:
    """A reward of `serve` in the mean over live.json's jobs. Its seconds are also those of the comparison,
    whose jobs it did not count: between none and all of its lines, so the price lies between two bounds."""
    most, fewest = live["jobs"] + len(live["problems"]) * len(live["held_out"]), live["jobs"]
    low, high = live["device_seconds"] / most, live["device_seconds"] / fewest
    return {"value": (low + high) / 2, "low": low, "high": high}


class Comparison:
    def __init__(self, prices: Dict[str, Price], overhead: Dict[str, float]):
        self.pools = [p for p in split(load()).test if is_target(p)]
        train = [p for p in split(load()).train if is_target(p)]
        self.records_ns = statistics.fmean(t for p in train for t in p.times)
        self.prices, self.overhead = prices, overhead
        self.rows: Dict[str, Dict[str, Any]] = {name: {} for name in prices}

    def row(self, at: str, name: str, orders: Sequence[Sequence[Order]], spent: float, each: float = 0.0) -> None:
        """`spent`: of a layout before anything else; `each`: on top of a measurement's price."""
        price = replace(self.prices[at], each=self.prices[at].each + each)
        self.rows[at][name] = {"spent": round(LAYOUTS * spent, 4), "regret": summary(table_of(self.pools, orders, price, BUDGETS[at], spent))}

    def searches(self) -> None:
        size = statistics.fmean(len(p.lines) for p in self.pools)
        for name, orders in without_policy(self.pools).items():
            think = self.overhead[name.split(",")[0]]
            for at in self.prices:
                self.row(at, name, orders, *((0.0, think / size) if name == "evolution" else (think, 0.0)))

    def policies(self, runs: Dict[Tuple[str, str], List[Dict[str, Any]]]) -> None:
        for (size, context), of in sorted(runs.items(), reverse=True):
            think = self.overhead["%s, %s" % (size, context)] + (self.overhead["ranker"] if "ranker" in context else 0.0)
            for kind, orders in policy_orders(of, self.pools).items():
                if kind not in KEPT.get((size, context), ()):
                    continue
                for at, price in self.prices.items():
                    words = "policy: %s, %s, %s" % (size, context, kind)
                    self.row(at, words, orders, think)
                    cost = training(of, price, self.records_ns) / LAYOUTS
                    for by in PAID_BY if (context, kind) == PAID else ():
                        self.row(at, "%s, training paid by %d shapes" % (words, by), orders, think + cost / by)


def compare(options: argparse.Namespace) -> Dict[str, Any]:
    race, served = fitted(options.journals), serve_price(json.loads(options.served.read_text()))
    overhead = json.loads(options.overhead.read_text())["seconds"]
    prices = {"tune": price_of(race), "serve": Price(served["value"], 0.0, 0.0, 0.0)}
    found, runs, records = Comparison(prices, overhead), read_runs(options.scores), load()
    found.searches()
    found.policies(runs)
    tune = prices["tune"]
    stock = sum(tune.start(p.problem.shape) + sum(map(tune.measurement, p.times)) for p in records.pools)
    return {"shapes": len({p.problem.shape for p in found.pools}), "price_tune": short(race), "price_serve": short(served),
            "measurement": short({name: p.measurement(found.records_ns) for name, p in prices.items()}), "thinking": overhead,
            "training": {", ".join(key): short({at: training(of, p, found.records_ns) for at, p in prices.items()}) for key, of in runs.items()},
            "records": {"measurements": sum(len(p.lines) for p in records.pools), "tune": round(stock)}, "budgets": BUDGETS, "rows": found.rows}


def short(values: Any) -> Any:
    """Four digits."""
    if isinstance(values, dict):
        return {name: short(value) for name, value in values.items()}
    return float("%.4g" % values) if isinstance(values, float) else values


def compact(found: Dict[str, Any]) -> str:
    """JSON with one line for each member, and for each row."""
    head = "".join(" %s: %s,\n" % (json.dumps(name), json.dumps(value)) for name, value in found.items() if name != "rows")
    rows = ",\n".join("  %s: {\n%s\n  }" % (json.dumps(at), ",\n".join("   %s: %s" % (json.dumps(n), json.dumps(r)) for n, r in of.items()))
                      for at, of in found["rows"].items())
    return '{\n%s "rows": {\n%s\n }\n}\n' % (head, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scores", type=Path, nargs="+")
    parser.add_argument("--journals", type=Path, nargs="+", default=sorted((RESULTS / "h200" / "search").glob("walk-f32-*.jsonl.gz")),
                        help="of searches by `tune` on the records' GPU; default: results/h200/search/walk-f32-*")
    parser.add_argument("--served", type=Path, default=RESULTS / "policy" / "live.json",
                        help="for the price of a reward of `serve`; default: results/policy/live.json")
    parser.add_argument("--overhead", type=Path, required=True, help="of overhead.py")
    parser.add_argument("-o", "--output", type=Path, required=True)
    options = parser.parse_args()
    found = compare(options)
    options.output.write_text(compact(found))
    for at, rows in found["rows"].items():
        for name, row in rows.items():
            print("%-6s %-60s %s" % (at, name, "  ".join("-" if c is None else "%.2f" % c[0] for c in row["regret"])))


if __name__ == "__main__":
    main()
