"""What a run and a comparison found, as dataclasses. Made by api.py from the program's JSON
(docs/results.md).

Times are in nanoseconds, speedups are t_reference / t_candidate - 1. `raw` has the JSON with everything
else."""
from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, Optional, Tuple, Union

from .errors import Unavailable

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class Timing:
    """One contender in one cell by one timing: "device", "device-row", "event" or "wall"."""

    name: str
    n: int
    median_ns: float
    mean_ns: float
    p95_ns: float


@dataclass(frozen=True)
class Contender:
    """One contender of a cell. `status` is "ok" or what happened to it, `reason` says why."""

    name: str
    status: str
    layout: str
    is_baseline: bool
    reason: str
    timings: Mapping[str, Timing]
    tflops: Optional[float]
    raw: Mapping[str, Any] = field(repr=False, compare=False)

    def median_ns(self, timing: Optional[str] = None) -> Optional[float]:
        """The median by a timing, or by the first that there is; None where it was not timed."""
        found = self.timings.get(timing) if timing else next(iter(self.timings.values()), None)
        return found.median_ns if found else None


@dataclass(frozen=True)
class Speedup:
    """A candidate over a reference in a cell; `low` and `high` are the 95% interval of `estimate`."""

    candidate: str
    reference: str
    timing: str
    estimate: float
    low: Optional[float]
    high: Optional[float]
    mean_of_ratios: Optional[float]


@dataclass(frozen=True)
class Cell:
    """One problem in one mode."""

    key: str
    mode: str
    m: int
    n: int
    k: int
    dtype: str
    accumulate: str
    status: str
    reason: str
    headline: str
    converged: bool
    contenders: Mapping[str, Contender]
    speedups: Tuple[Speedup, ...]
    raw: Mapping[str, Any] = field(repr=False, compare=False)

    def speedup(self, candidate: str, reference: str, timing: Optional[str] = None) -> Optional[Speedup]:
        """One of the cell's speedups, by its headline timing unless another is named."""
        wanted = (candidate, reference, timing or self.headline)
        return next((s for s in self.speedups if (s.candidate, s.reference, s.timing) == wanted), None)


@dataclass(frozen=True)
class Result:
    """A run. Its repr leaves out the cells, of which there may be a thousand."""

    cells: Tuple[Cell, ...] = field(repr=False)
    complete: bool
    commit: str
    device: str
    path: Optional[str]
    raw: Mapping[str, Any] = field(repr=False, compare=False)

    def rows(self) -> Iterator[Dict[str, Any]]:
        """One row for each cell, contender and timing."""
        for cell in self.cells:
            for contender in cell.contenders.values():
                for timing in contender.timings.values():
                    yield {"cell": cell.key, "mode": cell.mode, "m": cell.m, "n": cell.n, "k": cell.k,
                           "dtype": cell.dtype, "accumulate": cell.accumulate, "converged": cell.converged,
                           "contender": contender.name, "is_baseline": contender.is_baseline,
                           "status": contender.status, "timing": timing.name, "samples": timing.n,
                           "median_ns": timing.median_ns, "mean_ns": timing.mean_ns, "p95_ns": timing.p95_ns}

    def to_pandas(self) -> "pandas.DataFrame":
        """rows() as a table; Unavailable says how to get pandas."""
        try:
            import pandas
        except ImportError as error:
            raise Unavailable("no table without pandas (%s): pip install pandas" % error) from None

        return pandas.DataFrame(list(self.rows()))

    def to_parquet(self, output: "Union[str, os.PathLike[str]]") -> int:
        """Every time as Parquet, with the columns of `report --format shapes`; returns the rows. Needs
        pyarrow."""
        from . import parquet

        if self.path is not None and os.path.exists(self.path):
            return parquet.write([self.path], output)
        with tempfile.TemporaryDirectory() as made:
            kept = os.path.join(made, "result.json")
            with open(kept, "w") as file:
                json.dump(self.raw, file)
            return parquet.write([kept], output)


@dataclass(frozen=True)
class Change:
    """One row of a comparison."""

    verdict: str
    cell: str
    candidate: str
    reference: str
    change: Optional[float]
    raw: Mapping[str, Any] = field(repr=False, compare=False)


@dataclass(frozen=True)
class Comparison:
    """What `compare` says of two runs; `code` is its exit code (0: no regression)."""

    outcome: str
    code: int
    counts: Mapping[str, int]
    changes: Tuple[Change, ...]
    raw: Mapping[str, Any] = field(repr=False, compare=False)


def _timings(tree: Mapping[str, Any]) -> Dict[str, Timing]:
    return {name: Timing(name, int(t["n"]), float(t["median_ns"]), float(t.get("mean_ns") or t["median_ns"]),
                         float(t.get("p95_ns") or t["median_ns"]))
            for name, t in tree.items() if isinstance(t, dict) and t.get("median_ns") is not None}


def _contender(name: str, tree: Mapping[str, Any]) -> Contender:
    return Contender(name, tree.get("status", ""), tree.get("layout", ""), tree.get("role", "baseline") == "baseline",
                     tree.get("reason", ""), _timings(tree.get("timings", {})), tree.get("tflops"), tree)


def _speedup(tree: Mapping[str, Any]) -> Speedup:
    low, high = (tree.get("ci95") or [None, None])[:2]
    return Speedup(tree["candidate"], tree["reference"], tree["timing"], tree["geomean"], low, high,
                   tree.get("mean_of_ratios"))


def _cell(tree: Mapping[str, Any]) -> Cell:
    return Cell(tree["key"], tree["mode"], tree["m"], tree["n"], tree["k"], tree["dtype"], tree["accumulate"],
                tree["status"], tree.get("reason", ""), tree.get("headline", ""), bool(tree.get("converged")),
                {name: _contender(name, c) for name, c in tree.get("contenders", {}).items()},
                tuple(_speedup(s) for s in tree.get("speedups", []) if s.get("geomean") is not None), tree)


def result_of(tree: Mapping[str, Any], path: Optional[str] = None) -> Result:
    """A Result from the JSON of result.json."""
    run = tree.get("run", {})
    devices: List[Mapping[str, Any]] = tree.get("env", [])
    return Result(tuple(_cell(c) for c in tree.get("cells", [])), bool(run.get("complete")),
                  run.get("build", {}).get("commit", ""), devices[0]["device"].get("name", "") if devices else "", path,
                  tree)


def comparison_of(tree: Mapping[str, Any]) -> Comparison:
    """A Comparison from the JSON of `compare --format json`."""
    rows = tree["rows"]
    return Comparison(tree["outcome"], int(tree["exit_code"]), tree["counts"],
                      tuple(Change(r["verdict"], r.get("key", ""), r.get("candidate", ""), r.get("reference", ""),
                                   r.get("change"), r) for r in rows), tree)
