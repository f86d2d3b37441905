"""The environment made of recorded measurements: ask for a line, get the reward that was measured, or none.

A configuration that was never measured for a problem has no reward: measure() returns None, and regret is
against the best that was measured, not against the best there is. Standard library only.
"""
from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Dict, List, Optional, Sequence

from .records import Pool, Records


@dataclass(frozen=True)
class RewardTerms:
    """The paper's Eq. 3: mean(t_ref / t - alpha * diff) - beta * L, and its logarithmic form, which is used
    here.

    diff is 0 by construction: what is in the records was checked before it was timed, and what is wrong has
    no time. L is the number of words of the line."""
    alpha: float = 0.0
    beta: float = 0.0
    logarithm: bool = True

    def reward(self, time_ns: float, reference_ns: float, words: int, deviation: float = 0.0) -> float:
        ratio = reference_ns / time_ns
        return (math.log(ratio) if self.logarithm else ratio) - self.alpha * deviation - self.beta * words


class OfflineEnvironment:
    """One problem's pool as a thing that can be measured; counts what was asked."""

    def __init__(self, records: Records, pool: Pool, terms: RewardTerms = RewardTerms()):
        self.records, self.pool, self.terms = records, pool, terms
        self.measured: Dict[str, float] = {}
        self.missed = 0
        self._time = {records.lines[i]: t for i, t in zip(pool.lines, pool.times)}
        self._reference = pool.problem.reference_ns or geometric_mean(pool.times)

    def lines(self) -> List[str]:
        """What has a reward here."""
        return list(self._time)

    def measure(self, line: str) -> Optional[float]:
        """The reward; None where nobody measured this line for this problem."""
        time = self._time.get(line)
        if time is None:
            self.missed += 1
            return None
        self.measured[line] = time
        return self.terms.reward(time, self._reference, len(line.split()))

    def regret(self) -> float:
        """How much slower the best asked for is than the best of the pool; infinite before the first."""
        return min(self.measured.values(), default=math.inf) / self.pool.best - 1.0


def geometric_mean(values: Sequence[float]) -> float:
    return math.exp(sum(math.log(v) for v in values) / len(values))


def regrets(times: Sequence[float], order: Sequence[int], budgets: Sequence[int]) -> List[float]:
    """Regret of the best of the first b of an order, for each budget b (ascending)."""
    best, out, at = math.inf, [], 0
    for budget in budgets:
        for i in order[at:budget]:
            best = min(best, times[i])
        at = max(at, budget)
        out.append(best / min(times) - 1.0)
    return out
