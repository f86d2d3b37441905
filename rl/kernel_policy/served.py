"""Rewards from a server: parameter lines of the shipped kernels, submitted to `cudal2-bench serve` (docs/serve.md).

Standard library only. A group goes in as one batch, so the server compiles ahead of the device; then each is waited for.
What failed has the server's reward (0) and its error text; what the server could not measure has none.
"""
from __future__ import annotations

import json
import math
import time
import urllib.error
import urllib.request
from typing import Any, Dict, List, Mapping, Optional, Sequence

from .lines import values_of
from .records import Problem

WAIT_SECONDS = 60
Submission = Mapping[str, Any]


def parameters_of(line: str, usual: Dict[str, Dict[str, int]], problem: Problem) -> Dict[str, int]:
    """All parameters of a line as its kernel's manifest names them: the records' `walk` becomes RASTER and DOWN."""
    kernel, values = values_of(line, usual)
    walk = values.pop("walk", None)
    if walk is not None:
        rows = -(-problem.m // (values["BM"] * values["CLUSTER_M"]))
        columns = -(-problem.n // (values["BN"] * values["CLUSTER_N"]))
        values["RASTER"], values["DOWN"] = raster_of(walk, rows, columns)
    return values


def raster_of(walk: int, rows: int, columns: int) -> Any:
    """RASTER and DOWN with which persistent.json's WALK comes out so, for so many rows and columns of tiles."""
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


class Server:
    """A running server; `token` as in its --tokens file."""

    def __init__(self, url: str = "http://127.0.0.1:8090", token: Optional[str] = None, patience: float = 3600.0):
        self.url, self.token, self.patience = url.rstrip("/"), token, patience

    def rewards(self, problem: Problem, lines: Sequence[str], usual: Dict[str, Dict[str, int]],
                **more: Any) -> List[Optional[float]]:
        """The value of Eq. 3 for each line; None where the server learnt nothing about it."""
        common = {"problem": "%dx%dx%d" % problem.shape, "accumulate": problem.accumulate, "mode": problem.mode, **more}
        outcomes = self.outcomes([{"kernel": line.split()[0], "parameters": parameters_of(line, usual, problem), **common}
                                  for line in lines])
        return [o["reward"] and o["reward"]["value"] for o in outcomes]

    def outcomes(self, submissions: Sequence[Submission]) -> List[Dict[str, Any]]:
        """Submits all and waits for each outcome. RuntimeError with the server's words where one is refused."""
        jobs = self._ask("/v1/jobs", {"jobs": list(submissions)})["jobs"]
        refused = [job for job in jobs if "id" not in job]
        if refused:
            raise RuntimeError("%s: a submission was refused: %s" % (self.url, refused[0].get("error", refused[0])))
        return [self._wait(job["id"]) for job in jobs]

    def _wait(self, name: str) -> Dict[str, Any]:
        until = time.monotonic() + self.patience
        while time.monotonic() < until:
            found = self._ask("/v1/jobs/%s?wait=%d" % (name, WAIT_SECONDS))
            if found["state"] == "done":
                return found
        raise RuntimeError("%s: job %s was not done after %d s" % (self.url, name, self.patience))

    def _ask(self, path: str, body: Optional[Mapping[str, Any]] = None) -> Dict[str, Any]:
        headers = {"Content-Type": "application/json"} if body is not None else {}
        if self.token:
            headers["Authorization"] = "Bearer " + self.token
        request = urllib.request.Request(self.url + path, None if body is None else json.dumps(body).encode(), headers)
        try:
            with urllib.request.urlopen(request, timeout=WAIT_SECONDS + 30) as answer:
                found: Dict[str, Any] = json.load(answer)
                return found
        except urllib.error.HTTPError as error:
            raise RuntimeError("%s%s: %d: %s" % (self.url, path, error.code, error.read(2000).decode("utf-8", "replace"))) from error


def log_reward(value: Optional[float], penalty: float = -3.0) -> float:
    """The logarithm that training uses, of the server's Eq. 3; `penalty` for what failed."""
    return math.log(value) if value is not None and value > 0 else penalty
