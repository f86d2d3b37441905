"""Rewards from a server: parameter lines of the shipped kernels, submitted to `cudal2-bench serve`
(docs/serve.md).

Standard library only. A group goes in as one batch, so the server compiles ahead of the device; then each is
waited for. What failed has the server's reward (0) and its error text; what the server could not measure has
none.
"""
from __future__ import annotations

import json
import math
import sys
import zlib
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Sequence

sys.path.append(str(Path(__file__).resolve().parents[2] / "python"))
from cudal2_bench.errors import BenchError  # noqa: E402
from cudal2_bench.served import Client  # noqa: E402

from .lines import values_of  # noqa: E402
from .records import Problem  # noqa: E402

Submission = Mapping[str, Any]


def parameters_of(line: str, usual: Dict[str, Dict[str, int]], problem: Problem) -> Dict[str, int]:
    """All parameters of a line as its kernel's manifest names them: the records' `walk` becomes RASTER and
    DOWN."""
    kernel, values = values_of(line, usual)
    walk = values.pop("walk", None)
    if walk is not None:
        rows = -(-problem.m // (values["BM"] * values["CLUSTER_M"]))
        columns = -(-problem.n // (values["BN"] * values["CLUSTER_N"]))
        values["RASTER"], values["DOWN"] = raster_of(walk, rows, columns)
    return values


def raster_of(walk: int, rows: int, columns: int) -> Any:
    """RASTER and DOWN with which persistent.json's WALK comes out so, for so many rows and columns of
    tiles."""
    for raster in (8, 1, 2, 4, 16, 32, 64):
        for down in (0, 1):
            if rows == 1 or columns == 1:
                made = -1 if rows == 1 else 1
            elif down:
                made = columns if raster == 1 else -min(raster, rows)
            else:
                made = -rows if raster == 1 else min(raster, columns)
            if made == walk:
                return raster, down
    raise ValueError("no RASTER and DOWN give a walk of %d over %d x %d tiles" % (walk, rows, columns))


def submission(line: str, usual: Dict[str, Dict[str, int]], problem: Problem, **more: Any) -> Dict[str, Any]:
    """A line of an installed kernel for a problem, with further members of a submission."""
    return {"kernel": line.split()[0], "parameters": parameters_of(line, usual, problem), "problem": "%dx%dx%d" % problem.shape,
            "accumulate": problem.accumulate, "mode": problem.mode, **more}


def stand_in(sent: Submission) -> Dict[str, Any]:
    """For a device that has none of the kernels: a problem of `blocked` that depends on the line."""
    spread = zlib.crc32(json.dumps(sent, sort_keys=True).encode()) % 40
    return {"candidate": "blocked", "problem": "32x32x%d" % (32 + 8 * spread), "half_width": 0.5, "seconds": 0.05, "alpha": 0, "beta": 0,
            "layout": sent["layout"]}


class Server:
    """A running server; `token` as in its --tokens file."""

    def __init__(self, url: str = "http://127.0.0.1:8090", token: Optional[str] = None, patience: float = 3600.0):
        self.client = Client(url, token, patience)

    def rewards(self, problem: Problem, lines: Sequence[str], usual: Dict[str, Dict[str, int]],
                **more: Any) -> List[Optional[float]]:
        """The value of Eq. 3 for each line; None where the server learnt nothing about it."""
        outcomes = self.outcomes([submission(line, usual, problem, **more) for line in lines])
        return [o["reward"] and o["reward"]["value"] for o in outcomes]

    def submit(self, submissions: Sequence[Submission]) -> List[str]:
        """The job of each. RuntimeError with the server's words where one is refused."""
        try:
            jobs = self.client.ask("/v1/jobs", {"jobs": list(submissions)})["jobs"]
        except BenchError as error:
            raise RuntimeError(str(error)) from error
        refused = [job for job in jobs if "id" not in job]
        if refused:
            raise RuntimeError("%s: a submission was refused: %s" % (self.client.url, refused[0].get("error", refused[0])))
        return [job["id"] for job in jobs]

    def wait(self, jobs: Sequence[str]) -> List[Dict[str, Any]]:
        """The outcome of each, when it is there."""
        try:
            return [self.client.outcome(job) for job in jobs]
        except BenchError as error:
            raise RuntimeError(str(error)) from error

    def outcomes(self, submissions: Sequence[Submission]) -> List[Dict[str, Any]]:
        """Submits all and waits for each outcome."""
        return self.wait(self.submit(submissions))


def log_reward(value: Optional[float], penalty: float = -3.0) -> float:
    """The logarithm that training uses, of the server's Eq. 3; `penalty` for what failed."""
    return math.log(value) if value is not None and value > 0 else penalty
