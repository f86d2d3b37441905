"""Ways to spend measurements on a problem without a policy: each gives an order in which the pool is
measured.

Orders are lists of positions in the pool, all of it, each once. Standard library only; called by compare.py.
"""
from __future__ import annotations

import collections
import itertools
import math
import random
from typing import Dict, List, Sequence, Set, Tuple

from .lines import difference, values_of
from .records import Pool, Problem, Records

Values = Tuple[str, Dict[str, int]]


def random_order(pool: Pool, rng: random.Random) -> List[int]:
    order = list(range(len(pool.lines)))
    rng.shuffle(order)
    return order


def ranker_order(pool: Pool) -> List[int]:
    """The tuner's model (harness/choice/cudal2/model.c), fastest prediction first."""
    return sorted(range(len(pool.lines)), key=lambda i: pool.predicted[i])


def spread_order(pool: Pool, configurations: Sequence[Values]) -> List[int]:
    """The same order, but what is like an earlier one comes last: `run` chooses so
    (harness/choice/rank.c)."""
    tiles: Dict[Tuple[object, ...], int] = collections.Counter()
    launches: Set[Tuple[object, ...]] = set()
    first: List[int] = []
    rest: List[int] = []
    for i in ranker_order(pool):
        kernel, v = configurations[pool.lines[i]]
        tile = (kernel, v["BM"], v["BN"], v.get("SPLIT_K", v.get("CLUSTER_K", 1)))
        cluster = v.get("CLUSTER_M", 1) * v.get("CLUSTER_N", 1) * v.get("ABREAST", 1)
        launch = (*tile, v.get("STREAM_K", 0), cluster, v.get("QUEUE", 0))
        news = launch not in launches and tiles[tile] < 2
        (first if news else rest).append(i)
        if news:
            launches.add(launch)
            tiles[tile] += 1
    return first + rest


def evolution_order(pool: Pool, configurations: Sequence[Values], rng: random.Random, start: int = 4,
                    parents: int = 4, change: float = 0.15) -> List[int]:
    """Crossover of two of the best so far, some parameters changed; the nearest that is in the pool is
    measured."""
    values = [configurations[i] for i in pool.lines]
    order = random_order(pool, rng)[:start]
    left = [i for i in range(len(values)) if i not in order]
    while left:
        best = sorted(order, key=lambda i: pool.times[i])[:parents]
        child = _child(values[rng.choice(best)], values[rng.choice(best)], values, change, rng)
        rng.shuffle(left)
        chosen = min(left, key=lambda i: difference(child, values[i]))
        left.remove(chosen)
        order.append(chosen)
    return order


def _child(a: Values, b: Values, everyone: Sequence[Values], change: float, rng: random.Random) -> Values:
    mixed = {name: (b[1][name] if a[0] == b[0] and rng.random() < 0.5 else value) for name, value in a[1].items()}
    for name in mixed:
        if rng.random() < change:
            mixed[name] = rng.choice([v[1][name] for v in everyone if v[0] == a[0]])
    return a[0], mixed


def logs(p: Problem) -> Tuple[float, float, float]:
    return math.log2(p.m), math.log2(p.n), math.log2(p.k)


def distance(a: Problem, b: Problem) -> float:
    return sum(abs(x - y) for x, y in zip(logs(a), logs(b)))


class Neighbours:
    """The measured problems of other shapes that are nearest, within one layout, accumulate type and mode."""

    def __init__(self, pools: Sequence[Pool]):
        self._kinds: Dict[Tuple[str, str, str], List[Tuple[float, float, float, Pool]]] = collections.defaultdict(list)
        for pool in pools:
            self._kinds[pool.problem.kind].append((*logs(pool.problem), pool))

    def of(self, problem: Problem, count: int) -> List[Pool]:
        m, n, k = logs(problem)
        near = sorted((abs(m - a) + abs(n - b) + abs(k - c), at) for at, (a, b, c, _) in
                      enumerate(self._kinds[problem.kind]))
        found = (self._kinds[problem.kind][at][3] for _, at in near)
        return list(itertools.islice((p for p in found if p.problem.shape != problem.shape), count))

    def order(self, pool: Pool, count: int = 8) -> List[int]:
        """By how a line did there: the mean regret, nearer ones counting more; a line unknown there is taken
        as 20%."""
        known: Dict[int, List[Tuple[float, float]]] = collections.defaultdict(list)
        for other in self.of(pool.problem, count):
            weight = 1.0 / (0.5 + distance(other.problem, pool.problem))
            for line, time in zip(other.lines, other.times):
                known[line].append((weight, min(time / other.best - 1.0, 0.5)))

        def expected(i: int) -> float:
            found = known.get(pool.lines[i], [])
            return (0.3 * 0.2 + sum(w * r for w, r in found)) / (0.3 + sum(w for w, _ in found))

        return sorted(range(len(pool.lines)), key=lambda i: (expected(i), pool.predicted[i]))


def configurations(records: Records) -> List[Values]:
    return [values_of(line, records.usual) for line in records.lines]
