"""Which shapes are held out: whole shapes, in every layout, accumulate type and mode. Standard library
only."""
from __future__ import annotations

import random
from dataclasses import dataclass
from typing import List, Set

from .records import Pool, Records, Shape

SPLIT_SEED = 41
N_TEST, N_VALIDATION = 100, 40
N_FOLDS = 5


@dataclass
class Split:
    train: List[Pool]
    validation: List[Pool]
    test: List[Pool]


def is_target(pool: Pool) -> bool:
    """The class of stage 3 and of the headline: the paper's grid, fp32 accumulate, offline."""
    return pool.problem.kind[1:] == ("f32", "offline") and pool.problem.reference_ns > 0


def target_shapes(records: Records) -> List[Shape]:
    """Those that have target problems, in the order in which they are held out."""
    shapes: List[Shape] = sorted({p.problem.shape for p in records.pools if is_target(p)})
    random.Random(SPLIT_SEED).shuffle(shapes)
    return shapes


def split(records: Records, fold: int = 0) -> Split:
    """The same for every training seed. Fold 0: 100 shapes are held out. 1 to N_FOLDS: that part of all
    target shapes; each is in one of them. ValueError for another fold."""
    if not 0 <= fold <= N_FOLDS:
        raise ValueError("fold %d: there are %d" % (fold, N_FOLDS))
    shapes = target_shapes(records)
    test: Set[Shape] = set(shapes[fold - 1::N_FOLDS] if fold else shapes[:N_TEST])
    validation: Set[Shape] = set([s for s in shapes if s not in test][:N_VALIDATION])
    return Split([p for p in records.pools if p.problem.shape not in test | validation],
                 [p for p in records.pools if p.problem.shape in validation],
                 [p for p in records.pools if p.problem.shape in test])
