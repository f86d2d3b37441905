"""Whether a policy got better: its lines for the held-out shapes before and after, by recorded times.

    python -m kernel_policy.gain --before runs/1/policy.pt runs/2/policy.pt --after live-1.pt live-2.pt -o
    gain.json

Of each target problem of the 100 shapes that nothing learned from: how much slower than the best of its pool
a sampled line is (exactly, from the likelihood of each), the likeliest line, the best of the likeliest four
and of four samples; in 100 log. The policies are seeds: after minus before is their mean, 95% by drawing
shapes, and each seed's own is there too. A policy that is merely surer of its lines draws better ones:
--as-sure compares with what it was before, its likelihoods raised to the power that makes it as sure. Needs
torch; live.py and rehearse.py use it."""
from __future__ import annotations

import argparse
import json
import math
import random
import statistics
from pathlib import Path
from typing import Any, Dict, List, Sequence, Tuple

import torch

from .compare import by_drawing, sampled
from .records import Pool
from .split import is_target
from .train import Trainer, ordered, read_policy

KINDS = ("sample", "likeliest", "best_of_likeliest_4", "best_of_4_samples")
DRAWS, REPEATS = 40, 4000

Row = Tuple[float, ...]  # of a problem, in the order of KINDS


def of_pool(pool: Pool, scores: torch.Tensor) -> Row:
    """The same random numbers for each policy, so that where two agree their samples do."""
    slower = [100 * math.log(t / pool.best) for t in pool.times]
    chance, each, rng = scores.double().softmax(dim=0).tolist(), scores.tolist(), random.Random(pool.problem.text())
    drawn = [min(slower[i] for i in sampled(each, rng)[:4]) for _ in range(DRAWS)]
    order = ordered(scores)
    return (sum(c * s for c, s in zip(chance, slower)), slower[order[0]], min(slower[i] for i in order[:4]), statistics.fmean(drawn))


def of_policy(trainer: Trainer) -> List[Row]:
    return [of_pool(pool, trainer.scores(pool)) for pool in held_out(trainer)]


def entropy(scores: Sequence[torch.Tensor]) -> float:
    """Mean over pools of what is left open."""
    each = (s.double().log_softmax(dim=0) for s in scores)
    return statistics.fmean(float(-(s.exp() * s).sum()) for s in each)


def as_sure(scores: Sequence[torch.Tensor], wanted: float) -> List[torch.Tensor]:
    """The same order of lines, with that entropy."""
    low, high = 0.1, 10.0
    for _ in range(40):
        power = math.sqrt(low * high)
        low, high = (power, high) if entropy([s * power for s in scores]) > wanted else (low, power)
    return [s * low for s in scores]


def held_out(trainer: Trainer) -> List[Pool]:
    return [pool for pool in trainer.split.test if is_target(pool)]


def interval(pools: Sequence[Pool], values: Sequence[float]) -> List[float]:
    """Mean over shapes, and 95% by drawing them."""
    shapes: Dict[Any, List[float]] = {}
    for pool, value in zip(pools, values):
        shapes.setdefault(pool.problem.shape, []).append(value)
    return by_drawing([statistics.fmean(v) for v in shapes.values()], 3, REPEATS)


def gain(pools: Sequence[Pool], before: Sequence[List[Row]], after: Sequence[List[Row]]) -> Dict[str, Any]:
    """Of each kind: the means, after - before with 95%, and each seed's difference."""
    out: Dict[str, Any] = {}
    for at, kind in enumerate(KINDS):
        columns = [[[row[at] for row in rows] for rows in side] for side in (before, after)]
        means = [[statistics.fmean(v) for v in zip(*side)] for side in columns]
        seeds = [round(statistics.fmean(b) - statistics.fmean(a), 3) for a, b in zip(*columns)]
        out[kind] = {"before": round(statistics.fmean(means[0]), 3), "after": round(statistics.fmean(means[1]), 3),
                     "after - before": interval(pools, [b - a for a, b in zip(*means)]), "seeds": seeds}
    return out


def scores_of(trainer: Trainer, pools: Sequence[Pool], policy: Path) -> List[torch.Tensor]:
    trainer.policy.adopt(read_policy(policy)[1])
    return trainer.scores_of(pools)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, nargs="+", required=True)
    parser.add_argument("--after", type=Path, nargs="+", required=True, help="in the same order")
    parser.add_argument("--as-sure", action="store_true", help="before as sure of its lines as after")
    parser.add_argument("-o", "--output", type=Path, required=True)
    options = parser.parse_args()
    torch.set_num_threads(1)
    if len(options.before) != len(options.after):
        parser.error("--before and --after: as many policies of each")
    trainer = Trainer(read_policy(options.before[0])[0])
    pools = held_out(trainer)
    before, after = ([scores_of(trainer, pools, path) for path in paths] for paths in (options.before, options.after))
    if options.as_sure:
        before = [as_sure(b, entropy(a)) for b, a in zip(before, after)]
    found = gain(pools, *([[of_pool(pool, s) for pool, s in zip(pools, each)] for each in side] for side in (before, after)))
    options.output.write_text(json.dumps(found, indent=1) + "\n")
    print(json.dumps(found))


if __name__ == "__main__":
    main()
