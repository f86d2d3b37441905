"""What a measurement costs the GPU, fitted to the journals of committed searches.

    python -m kernel_policy.price ../results/h200/search/walk-f32-*.jsonl.gz

A cell of `tune` is one shape: two layouts of our candidate and of the library, each with its variants. Its
journal has the seconds of each phase. The race is a least-squares line over the number of variants that raced
and the sum of their times; operands, setup and verification are one over the arithmetic of the shape. A
cell's weight is what the line says of it, squared and inverted, so that large shapes do not decide alone.
Compilers run ahead on the CPU and are in neither. Standard library only; called by equal_time.py."""
from __future__ import annotations

import argparse
import gzip
import json
import random
import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, Iterator, List, Sequence, Tuple

LAYOUTS = 2  # of a cell

Row = Tuple[float, float, float]  # seconds = constant * first + slope * second


@dataclass(frozen=True)
class Price:
    """Of one measurement: `each` + `launches` * its time; of a problem (a shape in one layout) before the
    first of them: `begin` + `begin_flop` * 2MNK. Seconds."""
    each: float
    launches: float
    begin: float
    begin_flop: float

    def measurement(self, time_ns: float) -> float:
        return self.each + self.launches * time_ns * 1e-9

    def start(self, shape: Tuple[int, int, int]) -> float:
        m, n, k = shape
        return self.begin + self.begin_flop * 2.0 * m * n * k


def cells(path: Path) -> Iterator[Dict[str, Any]]:
    with gzip.open(path, "rt") as lines:
        for line in lines:
            record = json.loads(line)
            if record["kind"] == "cell":
                yield record["data"]


def raced(cell: Dict[str, Any]) -> List[float]:
    """Nanoseconds of each variant of each contender."""
    return [ns for c in cell["contenders"] for ns in (c.get("tuning") or {}).get("race_ns") or [] if ns]


def rows_of(found: Sequence[Dict[str, Any]]) -> Tuple[List[Row], List[Row]]:
    """Of cells that raced: the race's rows, and those of what comes before it, for one layout."""
    race, before = [], []
    for cell in found:
        phases, times = cell["phase_seconds"], raced(cell)
        if not times or not phases.get("tune"):
            continue
        race.append((phases["tune"], float(len(times)), sum(times) * 1e-9))
        ahead = sum(phases.get(name, 0.0) for name in ("operands", "setup", "verify"))
        before.append((ahead / LAYOUTS, 1.0, 2.0 * cell["m"] * cell["n"] * cell["k"]))
    return race, before


def line(rows: Sequence[Row], rounds: int = 5) -> Tuple[float, float]:
    """Least squares without a further constant, each row weighted by 1 / (what the line says)^2."""
    constant, slope = 1.0, 0.0
    for _ in range(rounds):
        aa = ab = bb = ay = by = 0.0
        for y, a, b in rows:
            w = 1.0 / max(constant * a + slope * b, 1e-3) ** 2
            aa, ab, bb, ay, by = aa + w * a * a, ab + w * a * b, bb + w * b * b, ay + w * a * y, by + w * b * y
        whole = aa * bb - ab * ab
        constant, slope = (ay * bb - by * ab) / whole, (by * aa - ay * ab) / whole
    return constant, slope


def fit(race: Sequence[Row], before: Sequence[Row]) -> Price:
    return Price(*line(race), *line(before))


def without_first(path: Path) -> List[Dict[str, Any]]:
    """Not the first cell: it waits for the library and the compilers."""
    return list(cells(path))[1:]


def fitted(paths: Sequence[Path], repeats: int = 200) -> Dict[str, Any]:
    """The price, its 95% by drawing cells, and how far a cell's seconds are from it."""
    race, before = rows_of([cell for path in paths for cell in without_first(path)])
    price, rng, drawn = fit(race, before), random.Random(7), []
    for _ in range(repeats):
        at = rng.choices(range(len(race)), k=len(race))
        drawn.append(fit([race[i] for i in at], [before[i] for i in at]))
    out: Dict[str, Any] = {"cells": len(race), "measurements": int(sum(r[1] for r in race))}
    for name in ("each", "launches", "begin", "begin_flop"):
        values = sorted(getattr(p, name) for p in drawn)
        out[name] = {"value": getattr(price, name), "low": values[int(0.025 * repeats)], "high": values[int(0.975 * repeats)]}
    for name, rows, (a, b) in (("race", race, (price.each, price.launches)), ("begin", before, (price.begin, price.begin_flop))):
        out[name + "_off"] = statistics.median(abs(y / (a * p + b * q) - 1) for y, p, q in rows)
        out[name + "_sum_ratio"] = sum(r[0] for r in rows) / sum(a * p + b * q for _, p, q in rows)
    return out


def price_of(found: Dict[str, Any]) -> Price:
    return Price(*(found[name]["value"] for name in ("each", "launches", "begin", "begin_flop")))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("journals", type=Path, nargs="+")
    print(json.dumps(fitted(parser.parse_args().journals), indent=1))


if __name__ == "__main__":
    main()
