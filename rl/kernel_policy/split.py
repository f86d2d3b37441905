"""Which shapes are held out: whole shapes, in every layout, accumulate type and mode. Standard library
only."""
from __future__ import annotations

import random
from dataclasses import dataclass
from typing import List, Set

from .records import Pool, Records, Shape

SPLIT_SEED = 41
N_TEST, N_VALIDATION = 100, 40


@dataclass
class Split:
    train: List[Pool]
    validation: List[Pool]
    test: List[Pool]


def is_target(pool: Pool) -> bool:
    """The class of stage 3 and of the headline: the paper's grid, fp32 accumulate, offline."""
    return pool.problem.kind[1:] == ("f32", "offline") and pool.problem.reference_ns > 0


def split(records: Records, n_test: int = N_TEST, n_validation: int = N_VALIDATION) -> Split:
    """The held-out shapes are drawn once, from those that have target problems; the same for every training
    seed."""
    shapes: List[Shape] = sorted({p.problem.shape for p in records.pools if is_target(p)})
    random.Random(SPLIT_SEED).shuffle(shapes)
    test: Set[Shape] = set(shapes[:n_test])
    validation: Set[Shape] = set(shapes[n_test:n_test + n_validation])
    return Split([p for p in records.pools if p.problem.shape not in test | validation],
                 [p for p in records.pools if p.problem.shape in validation],
                 [p for p in records.pools if p.problem.shape in test])
