"""Measurements of a loop, shared by several tasks through a directory that all of them see.

Shard 0 learns. It writes what a step measures, step-000007.json; each task measures its own cells, a cell
whole on one device, and writes step-000007.cell-2.json; shard 0 reads them all. Which task has which cell all
compute alike (cudal2_bench.shards). A task that starts again finds what is measured and goes on. Standard
library only; called by closed_loop.py, and by itself where there is no torch:

    python -m kernel_policy.shared DIR --shard 3/8
"""
from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

sys.path.append(str(Path(__file__).resolve().parents[2] / "python" / "cudal2_bench"))
import shards  # noqa: E402

from .harness import CpuHarness, Outcome  # noqa: E402
from .records import Problem  # noqa: E402

AGAIN = 75
Cell = Tuple[Problem, List[str]]
Measure = Callable[[Problem, Sequence[str], float], List[Outcome]]  # the last: seconds of a cell at most


class TryAgain(Exception):
    """Others have not done their part in time; exit status 75."""


def write(path: Path, tree: Any) -> None:
    """By rename: who reads sees all of it or nothing."""
    part = path.with_name("%s.part.%d" % (path.name, os.getpid()))
    part.write_text(json.dumps(tree) + "\n")
    part.replace(path)


def cost(cell: Cell) -> float:
    problem, lines = cell
    return 1e-9 * problem.m * problem.n * problem.k * len(lines)


class Shared:
    """`shard` None is shard 0 of 1. `patience`: seconds without news of the others."""

    def __init__(self, directory: Path, shard: Optional[shards.Shard], measure: Measure, patience: float = 3600.0):
        self.directory, self.measure_one, self.patience = directory, measure, patience
        self.shard = shard or shards.Shard(0, 1, "")
        self.step = 0
        directory.mkdir(parents=True, exist_ok=True)

    def measure(self, cells: Sequence[Cell], seconds: float) -> List[Tuple[List[str], List[Outcome]]]:
        """Shard 0: one step. Of a step that is there already its own cells count, whatever is asked for
        now."""
        plan = self._file("")
        if not plan.exists():
            write(plan, {"shards": self.shard.count, "seconds": seconds, "cells": [[vars(p), list(lines)] for p, lines in cells]})
        known, seconds = self._read(plan)
        self._do_own(known, seconds)
        self._wait(lambda: not self._missing(known), lambda: self._told(known))
        answers = [json.loads(self._file(".cell-%d" % i).read_text()) for i in range(len(known))]
        self.step += 1
        return [(lines, [Outcome(*o) for o in answer]) for (_, lines), answer in zip(known, answers)]

    def end(self) -> None:
        """Shard 0: the others may go."""
        write(self.directory / "end.json", {"steps": self.step})

    def follow(self) -> int:
        """The other shards: measure until shard 0 ends. How many cells this call measured."""
        measured, end = 0, self.directory / "end.json"
        while True:
            plan = self._file("")
            self._wait(lambda: plan.exists() or end.exists(), lambda: "no step %d of shard 0" % self.step)
            if not plan.exists():
                return measured
            measured += self._do_own(*self._read(plan))
            self.step += 1

    # ---- inside ----

    def _file(self, of: str) -> Path:
        return self.directory / ("step-%06d%s.json" % (self.step, of))

    def _read(self, plan: Path) -> Tuple[List[Cell], float]:
        tree: Dict[str, Any] = json.loads(plan.read_text())
        if tree["shards"] != self.shard.count:
            raise ValueError("%s is of %d shards, this is %s: take the same number, or another directory" % (
                plan, tree["shards"], self.shard))
        return [(Problem(**problem), lines) for problem, lines in tree["cells"]], tree["seconds"]

    def _do_own(self, cells: List[Cell], seconds: float) -> int:
        measured = 0
        for i in shards.own(self.shard, [cost(cell) for cell in cells]):
            answer = self._file(".cell-%d" % i)
            if not answer.exists():
                outcomes = self.measure_one(*cells[i], seconds)
                write(answer, [[o.reward, o.time_ns, o.why] for o in outcomes])
                measured += 1
        return measured

    def _missing(self, cells: List[Cell]) -> List[int]:
        return [i for i in range(len(cells)) if not self._file(".cell-%d" % i).exists()]

    def _told(self, cells: List[Cell]) -> str:
        """As merge names them."""
        missing, costs = set(self._missing(cells)), [cost(cell) for cell in cells]
        late = [i for i in range(self.shard.count)
                if missing & set(shards.own(shards.Shard(i, self.shard.count, ""), costs))]
        return "cells of step %d are missing: --array=%s" % (self.step, ",".join(map(str, late)))

    def _wait(self, there: Callable[[], bool], what: Callable[[], str]) -> None:
        until, pause = time.monotonic() + self.patience, 0.01
        while not there():
            if time.monotonic() > until:
                raise TryAgain("%s: %s (waited %.0f s)" % (self.directory, what(), self.patience))
            time.sleep(pause)
            pause = min(1.0, 1.5 * pause)


def resolved(option: Optional[str]) -> Optional[shards.Shard]:
    """Told on stderr; exit status 64 for what is no shard."""
    try:
        shard = shards.resolve(option)
    except ValueError as error:
        print(error, file=sys.stderr)
        raise SystemExit(64) from None
    if shard:
        print("shard %d of %d, counted from 0 (%s); --shard none measures everything" % (
            shard.index, shard.count, shard.source), file=sys.stderr)
    return shard


def on_cpu(harness: CpuHarness) -> Measure:
    def measure(problem: Problem, lines: Sequence[str], seconds: float) -> List[Outcome]:
        harness.cell_seconds = seconds
        return harness.measure(problem, lines)
    return measure


def follow(directory: Path, shard: shards.Shard, patience: float) -> None:
    """All that a shard but the first does. Exit status 75 where shard 0 is not heard of any more."""
    harness = CpuHarness()
    try:
        measured = Shared(directory, shard, on_cpu(harness), patience).follow()
        print(json.dumps({"shard": str(shard), "cells": measured, "compiled": harness.compiled}))
    except TryAgain as error:
        print(error, file=sys.stderr)
        raise SystemExit(AGAIN) from None
    finally:
        harness.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--shard", help="I/N with I from 1 on (default: what the scheduler says)")
    parser.add_argument("--patience", type=float, default=3600.0, help="seconds to wait for a step")
    options = parser.parse_args()
    shard = resolved(options.shard)
    if shard is None or shard.index == 0:
        parser.error("shard 0 learns: python -m kernel_policy.closed_loop")
    follow(options.directory, shard, options.patience)


if __name__ == "__main__":
    main()
