"""What a live run would learn, on recorded times: live.py's settings are chosen here, without a GPU.

    python -m kernel_policy.rehearse --policy runs/1/policy.pt runs/2/policy.pt --steps 12 -o rehearsal.json

live.py's loop, but what it asks for is answered from the records: a line's recorded time, off by what a
measurement scatters. Writes what the policies gained on the held-out shapes (gain.py), and how many lines
were asked for. Needs torch."""
from __future__ import annotations

import argparse
import json
import random
import time
from pathlib import Path
from typing import Any, Dict, Optional, Sequence, Tuple

import torch

from .gain import gain, held_out, of_policy
from .live import Learners, Live, Wanted

NOISE = 0.015  # a repeat scatters by 2.1%, the root of two of these


class Recorded:
    """In the place of live.Meter; each line has one time, however often it is asked for."""

    def __init__(self, learner: Live, noise: float = NOISE, seed: int = 0):
        self.learner, self.noise, self.seed = learner, noise, seed
        self.told: Dict[Tuple[str, int], float] = {}

    def submit(self, wanted: Sequence[Wanted], effort: Any) -> Dict[Tuple[str, int], str]:
        for pool, place in wanted:
            rng = random.Random("%d %s %d" % (self.seed, pool.problem.text(), place))
            self.told[pool.problem.text(), place] = self.learner.reward(pool, place) + rng.gauss(0.0, self.noise)
        return {(pool.problem.text(), place): "" for pool, place in wanted}

    def wait(self, jobs: Dict[Tuple[str, int], str]) -> Dict[Tuple[str, int], Optional[float]]:
        return {key: self.told[key] for key in jobs}


def rehearse(learning: Learners, meter: Any, steps: int) -> None:
    """As Run.learn: a step's lines are drawn before the last one was learned from."""
    queue = [learning.ask(meter)]
    for step in range(steps):
        if step + 1 < steps:
            queue.append(learning.ask(meter))
        asked = queue.pop(0)
        learning.learn(asked, meter.wait(asked.jobs))


def recorded(learners: Sequence[Live]) -> Dict[str, Any]:
    """What the learners gained on all held-out shapes, by the recorded times."""
    pools, after = held_out(learners[0]), [of_policy(learner) for learner in learners]
    for learner in learners:
        learner.policy.load_state_dict(learner.before)
    return gain(pools, [of_policy(learner) for learner in learners], after)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--policy", type=Path, nargs="+", required=True)
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--problems", type=int, default=8)
    parser.add_argument("--samples", type=int, default=16)
    parser.add_argument("--updates", type=int, default=16)
    parser.add_argument("--rate", type=float, default=5e-4)
    parser.add_argument("--near", type=float, default=1.0)
    parser.add_argument("--noise", type=float, default=NOISE)
    parser.add_argument("--shuffle", type=int, default=0, help="other problems and other noise")
    parser.add_argument("-o", "--output", type=Path, required=True)
    options = parser.parse_args()
    torch.set_num_threads(1)
    learners = [Live(policy, "cpu", options.rate, options.near) for policy in options.policy]
    learning, began = Learners(learners, options.problems, options.updates, options.samples), time.monotonic()
    if options.shuffle:
        random.Random(options.shuffle).shuffle(learning.order)
    meter = Recorded(learners[0], options.noise, options.shuffle)
    rehearse(learning, meter, options.steps)
    seconds = round(time.monotonic() - began)
    found = {**{name: getattr(options, name) for name in ("steps", "problems", "samples", "updates", "rate", "near", "noise", "shuffle")},
             "lines": len(meter.told), "seconds": seconds, "recorded": recorded(learners)}
    options.output.write_text(json.dumps(found) + "\n")
    print(json.dumps(found))


if __name__ == "__main__":
    main()
