"""What the policy is told of a problem: numbers, kind, retrieved lines; and pools as tensors. Needs torch."""
from __future__ import annotations

import heapq
import math
from pathlib import Path
from typing import Dict, List, Optional, Sequence, Tuple

import torch
from torch import Tensor

from . import counters
from .lines import Vocabulary
from .model import N_RELATIONS, Choices, Prompt
from .records import Pool, Problem, Records
from .search import Neighbours

CONTEXTS = ("none", "neighbours", "neighbours+counters", "neighbours+ranker", "neighbours+ranker+counters")
N_NEIGHBOURS, LINES_OF_EACH, N_RANKED = 4, 2, 4
TRUST = 0.06  # with the ranker: a line that it expects this much (log) slower starts e times less likely
WORDS = 16
SM_COUNT = 132
TILES = [(64, 32), (64, 64), (128, 64), (64, 128), (128, 128), (128, 192), (128, 256), (256, 128), (192, 128), (176, 128)]
KINDS = (("nn", "tn"), ("f16", "f32"), ("offline", "server"))


def numbers_of(p: Problem) -> List[float]:
    """Sizes on several scales, and how full the last wave of some tiles is."""
    out: List[float] = []
    for side in p.shape:
        log = math.log2(side)
        out += [(log - 10) / 4] + [f(log * w) for w in (0.4, 0.8, 1.6, 3.1) for f in (math.sin, math.cos)]
    out += [(math.log2(p.m * p.n) - 20) / 8, (math.log2(p.m * p.n * p.k) - 30) / 12]
    for bm, bn in TILES:
        waves = -(-p.m // bm) * -(-p.n // bn) / SM_COUNT
        out += [math.log2(waves) / 6, waves / math.ceil(waves)]
    return out


N_NUMBERS = len(numbers_of(Problem(64, 64, 64, "nn", "f32", "offline")))

Retrieved = Tuple[List[int], List[float], int]  # words, relations, source


class Reader:
    """Problems and pools as tensors; remembers what it made. Neighbours come from the training shapes
    alone, and so do counters, which a context may name: of a problem's own lines nothing is known."""

    def __init__(self, records: Records, train: Sequence[Pool], context: str, counted: Path = counters.DATA):
        """ValueError where the context names counters and there is no such file."""
        self.vocabulary = Vocabulary(records.lines)
        parts = context.split("+")
        self.near, self.ranked = parts[0] == "neighbours", "ranker" in parts
        self.counters: Optional[counters.Counters] = counters.read(records, counted) if "counters" in parts else None
        self.n_relations = N_RELATIONS + (self.counters.width if self.counters else 0)
        self._texts = records.lines
        self._tokens = [self.vocabulary.encode(line) for line in records.lines]
        self._neighbours = Neighbours(train)
        self._told: Dict[int, Tuple[List[float], List[int], List[Retrieved]]] = {}
        self._pools: Dict[int, Tensor] = {}

    def _near(self, pool: Pool) -> List[Retrieved]:
        found: List[Retrieved] = []
        for other in self._neighbours.of(pool.problem, N_NEIGHBOURS):
            away = [math.log2(a / b) / 2 for a, b in zip(other.problem.shape, pool.problem.shape)]
            for i in heapq.nsmallest(LINES_OF_EACH, range(len(other.lines)), key=lambda i: other.times[i]):
                more = self.counters.of(other.problem, self._texts[other.lines[i]]) if self.counters else []
                found.append((self._tokens[other.lines[i]], away + [10 * (other.times[i] / other.best - 1), 0.0] + more, 1))
        return found

    def _ranked(self, pool: Pool) -> List[Retrieved]:
        first = heapq.nsmallest(N_RANKED, range(len(pool.lines)), key=lambda i: pool.predicted[i])
        best = min(pool.predicted)
        return [(self._tokens[pool.lines[i]], [0.0, 0.0, 0.0, 10 * (pool.predicted[i] / best - 1), place / N_RANKED], 2)
                for place, i in enumerate(first)]

    def _tell(self, pool: Pool) -> Tuple[List[float], List[int], List[Retrieved]]:
        if id(pool) not in self._told:
            retrieved = self._near(pool) if self.near else []
            if self.ranked:
                retrieved += self._ranked(pool)
            kind = [names.index(name) for names, name in zip(KINDS, pool.problem.kind)]
            self._told[id(pool)] = (numbers_of(pool.problem), kind, retrieved)
        return self._told[id(pool)]

    def prompt(self, pools: Sequence[Pool]) -> Prompt:
        told = [self._tell(p) for p in pools]
        most = max(len(t[2]) for t in told)
        words = torch.zeros(len(pools), most, WORDS, dtype=torch.long)
        relations, source = torch.zeros(len(pools), most, self.n_relations), torch.zeros(len(pools), most, dtype=torch.long)
        for row, (_, _, retrieved) in enumerate(told):
            for at, (tokens, relation, kind) in enumerate(retrieved):
                words[row, at, :len(tokens)] = torch.tensor(tokens)
                relations[row, at, :len(relation)] = torch.tensor(relation)
                source[row, at] = kind
        return Prompt(torch.tensor([t[0] for t in told]), torch.tensor([t[1] for t in told]), words, relations, source)

    def forget(self) -> None:
        """What was made is made again."""
        self._told.clear()
        self._pools.clear()

    def lines(self, pool: Pool) -> Tensor:
        """The pool's lines as tokens: lines x length."""
        if id(pool) not in self._pools:
            tokens = [self._tokens[i] for i in pool.lines]
            made = torch.zeros(len(tokens), max(map(len, tokens)), dtype=torch.short)
            for row, line in enumerate(tokens):
                made[row, :len(line)] = torch.tensor(line)
            self._pools[id(pool)] = made
        return self._pools[id(pool)].long()

    def weights(self, pool: Pool) -> List[float]:
        """How likely each line is to begin with: all alike, or as the tuner's model ranks them."""
        if not self.ranked:
            return [1.0] * len(pool.lines)
        best = min(pool.predicted)
        return [max(1e-6, (best / p) ** (1 / TRUST)) for p in pool.predicted]

    def choices(self, pools: Sequence[Pool]) -> Choices:
        each = [self.lines(p) for p in pools]
        made = torch.zeros(len(each), max(t.shape[0] for t in each), max(t.shape[1] for t in each), dtype=torch.long)
        weights = torch.zeros(made.shape[:2])
        for row, (pool, tokens) in enumerate(zip(pools, each)):
            made[row, :tokens.shape[0], :tokens.shape[1]] = tokens
            weights[row, :tokens.shape[0]] = torch.tensor(self.weights(pool))
        return Choices(made, weights)
