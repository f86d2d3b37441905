"""A Gymnasium environment: choose a kernel's parameters for a problem, get the speedup that was measured as
reward.

    from cudal2_bench.gym import TuningEnv, by_run
    env = TuningEnv({"KC": [64, 128, 256]}, ["256x256x256"], by_run(build, baseline="openblas", device="cpu"))

Relies on gymnasium and numpy (`pip install cudal2-bench[gym]`), on api.py and served.py. Not imported by the
package itself."""
from __future__ import annotations

import math
import os
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import gymnasium
import numpy

from .api import run
from .errors import BenchError, DataError
from .served import Client

Parameters = Mapping[str, int]
# What a measurement gives: the reward, or None where there is no valid time, and what else is known ("why").
Measure = Callable[[str, Parameters], Tuple[Optional[float], Dict[str, Any]]]


class TuningEnv(gymnasium.Env):  # type: ignore[misc]
    """An episode is one problem and `budget` measurements of it.

    An action has one number for each parameter: which of its values. The reward of a step is by how much the
    best log(t_reference / t) of the episode rose (the first step: what it is), so that the sum is the best; a
    configuration without a valid time costs `penalty`. An observation: log2 of M, N, K, the share of the
    budget that is left, the best so far, and the last action."""

    metadata: Dict[str, Any] = {"render_modes": []}

    def __init__(self, space: Mapping[str, Sequence[int]], shapes: Sequence[str], measure: Measure, *, budget: int = 16,
                 penalty: float = 0.1) -> None:
        if not space or not shapes or budget < 1:
            raise ValueError("TuningEnv: a space with a parameter, a shape and a budget of 1 are the least")
        self.space = {name: list(values) for name, values in space.items()}
        self.shapes, self.measure, self.budget, self.penalty = list(shapes), measure, budget, penalty
        counts = [len(values) for values in self.space.values()]
        self.action_space = gymnasium.spaces.MultiDiscrete(counts)
        low, high = [0.0] * 4 + [-20.0] + [-1.0] * len(counts), [24.0] * 3 + [1.0, 20.0] + [float(c - 1) for c in counts]
        self.observation_space = gymnasium.spaces.Box(numpy.array(low, numpy.float32), numpy.array(high, numpy.float32))
        self._shape, self._left, self._best, self._last = self.shapes[0], budget, -math.inf, [-1] * len(counts)

    def reset(self, *, seed: Optional[int] = None, options: Optional[Dict[str, Any]] = None
              ) -> Tuple["numpy.ndarray[Any, Any]", Dict[str, Any]]:
        """Draws a shape, or takes options["shape"]."""
        super().reset(seed=seed)
        self._shape = (options or {}).get("shape") or self.shapes[int(self.np_random.integers(len(self.shapes)))]
        self._left, self._best, self._last = self.budget, -math.inf, [-1] * len(self.space)
        return self._observation(), {"shape": self._shape}

    def step(self, action: Sequence[int]) -> Tuple["numpy.ndarray[Any, Any]", float, bool, bool, Dict[str, Any]]:
        self._last = [int(a) for a in action]
        parameters = {name: values[at] for (name, values), at in zip(self.space.items(), self._last)}
        found, info = self.measure(self._shape, parameters)
        self._left -= 1
        reward = -self.penalty
        if found is not None:
            best = max(self._best, found)
            reward = best - self._best if self._best > -math.inf else best
            self._best = best
        info = {**info, "shape": self._shape, "parameters": parameters, "log_speedup": found}
        return self._observation(), float(reward), self._left == 0, False, info

    def _observation(self) -> "numpy.ndarray[Any, Any]":
        sizes: List[float] = [math.log2(int(side)) for side in self._shape.split("x")]
        best = max(-20.0, min(20.0, self._best)) if self._best > -math.inf else 0.0
        return numpy.array([*sizes, self._left / self.budget, best, *self._last], numpy.float32)


def by_run(candidate: Callable[[Parameters], Union[str, "os.PathLike[str]"]], *, baseline: str, device: Optional[str] = None,
           mode: str = "offline", options: Sequence[str] = ()) -> Measure:
    """Measures by `cudal2-bench run`: `candidate` gives the plugin or manifest of some parameters.

    The reward is log(t_baseline / t) of the fastest layout of each by the headline timing. A candidate that
    cannot be built (it raises OSError, ValueError or a BenchError), is wrong or dies has none, and
    info["why"] says why."""
    def measure(shape: str, parameters: Parameters) -> Tuple[Optional[float], Dict[str, Any]]:
        try:
            result = run(shapes=[shape], mode=mode, device=device, baselines=[baseline], candidates=[candidate(parameters)],
                         options=options)
        except (BenchError, OSError, ValueError) as error:
            return None, {"why": str(error)}
        cell = result.cells[0]
        times: Dict[bool, List[float]] = {True: [], False: []}
        for contender in cell.contenders.values():
            median = contender.median_ns(cell.headline)
            if contender.status == "ok" and median is not None:
                times[contender.is_baseline].append(median)
        if not times[True] or not times[False]:
            return None, {"why": "; ".join("%s: %s" % (c.name, c.reason or c.status) for c in cell.contenders.values()
                                           if c.status != "ok") or cell.reason}
        return math.log(min(times[True]) / min(times[False])), {"why": "", "time_ns": min(times[False])}
    return measure


def by_server(submission: Callable[[Parameters], Mapping[str, Any]], client: Client, **common: Any) -> Measure:
    """Measures by a running `cudal2-bench serve`: `submission` gives the candidate of some parameters, as in
    `lambda p: {"kernel": "multistage", "parameters": dict(p)}`; `common` are members of every submission.

    The reward is the logarithm of Eq. 3's; info has the outcome. What failed has none, and info["why"] says
    why."""
    def measure(shape: str, parameters: Parameters) -> Tuple[Optional[float], Dict[str, Any]]:
        try:
            outcome = client.measure({**common, **submission(parameters), "problem": shape})
        except DataError as error:
            return None, {"why": str(error)}
        value = (outcome["reward"] or {}).get("value") or 0
        return (math.log(value) if value > 0 else None), {"why": outcome.get("error", ""), "outcome": outcome}
    return measure
