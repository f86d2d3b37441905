"""Goes on with a trained policy on rewards of `cudal2-bench serve`: each line of a group is measured on the
GPU.

    python -m kernel_policy.live --policy runs/large/policy.pt --program ../build/cudal2-bench --device cuda:0
    \\
        --minutes 5 --output runs/live

A step draws problems of the grid, 16 lines for each from the lines that were ever recorded for it, and
submits all of them at once; then it moves towards those that were faster than their group, as stage 3 does.
Afterwards lines for held-out problems are measured in one batch: the policy's first one before and after, the
ranker's first and the best recorded. Writes live.json. Needs torch."""
from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import sys
import time
from pathlib import Path
from typing import Any, Callable, Dict, List, Sequence, Tuple

import torch

from .env import RewardTerms
from .records import Pool
from .served import Server, log_reward, submission
from .split import is_target
from .train import Recipe, Trainer, ordered

sys.path.append(str(Path(__file__).resolve().parents[2] / "python"))
from cudal2_bench.served import serving  # noqa: E402

PENALTY = -1.5  # log reward of a line without a valid time
EFFORT = {"half_width": 0.01, "seconds": 0.3, "alpha": 0, "beta": 0, "share": True}  # one baseline for a group
Outcomes = Callable[[List[Dict[str, Any]]], List[Dict[str, Any]]]


class Live(Trainer):
    """A trainer whose rewards are measured: `outcomes` submits a batch and waits."""

    def __init__(self, policy: Path, outcomes: Outcomes, device: str = "cpu", problems: int = 4):
        kept = torch.load(policy, map_location=device, weights_only=True)
        recipe = Recipe(**{**kept["recipe"], "terms": RewardTerms(**kept["recipe"]["terms"]), "problems": (32, 8, problems)})
        super().__init__(recipe, device=device)
        self.policy.adopt(kept["state"])
        self.outcomes = outcomes
        self.jobs, self.failed, self.device_seconds = 0, 0, 0.0

    def measure(self, wanted: Sequence[Tuple[Pool, int]]) -> List[float]:
        """Log rewards of lines, by their places in pools; the same line of a problem is one job."""
        once = list(dict.fromkeys((pool.problem.text(), place) for pool, place in wanted))
        pools = {pool.problem.text(): pool for pool, _ in wanted}
        found = self.outcomes([self._submission(pools[text], place) for text, place in once])
        self.jobs += len(once)
        self.failed += sum(outcome["verdict"] != "ok" for outcome in found)
        self.device_seconds += sum(outcome.get("measuring_seconds") or 0.0 for outcome in found)
        rewards = {key: log_reward(outcome["reward"] and outcome["reward"]["value"], PENALTY) for key, outcome in zip(once, found)}
        return [rewards[pool.problem.text(), place] for pool, place in wanted]

    def _submission(self, pool: Pool, place: int) -> Dict[str, Any]:
        return submission(self.records.lines[pool.lines[place]], self.records.usual, pool.problem, **EFFORT)

    def rewards(self, pools: Sequence[Pool], places: Sequence[Sequence[int]]) -> List[List[float]]:
        flat = self.measure([(pool, place) for pool, row in zip(pools, places) for place in row])
        return [flat[i * len(row):(i + 1) * len(row)] for i, row in enumerate(places)]

    def learn(self, minutes: float, steps: int) -> List[Dict[str, Any]]:
        """Steps until the time or their number is over; what each gave."""
        pools = [p for p in self.split.train if is_target(p)]
        place, rows, end = self._begin(3), [], time.monotonic() + 60 * minutes
        while len(rows) < steps and time.monotonic() < end:
            self.policy.train()
            cost, reward = self.improve(self.rng.sample(pools, self.recipe.problems[2]), place.reference)
            place.descend(cost)
            rows.append({"step": len(rows) + 1, "reward": round(reward, 4), "jobs": self.jobs, "failed": self.failed,
                         "seconds": round(time.monotonic() - self.started, 1)})
            print(json.dumps(rows[-1]), flush=True)
        return rows

    def first(self, pools: Sequence[Pool]) -> List[int]:
        return [ordered(self.scores(pool))[0] for pool in pools]

    def held_out(self, count: int) -> List[Pool]:
        """Test problems of the grid, one layout of each shape, evenly spread over their sizes."""
        pools = {p.problem.shape: p for p in self.split.test if is_target(p)}
        by_size = sorted(pools.values(), key=lambda p: math.prod(p.problem.shape))
        return by_size[::max(1, len(by_size) // count)][:count]

    def compare(self, pools: Sequence[Pool], choices: Dict[str, List[int]]) -> Dict[str, Any]:
        """The log rewards of each way of choosing a line, all measured in one batch."""
        names = list(choices)
        flat = self.measure([(pool, choices[name][i]) for name in names for i, pool in enumerate(pools)])
        found = {name: flat[i * len(pools):(i + 1) * len(pools)] for i, name in enumerate(names)}
        return {name: {"mean": round(statistics.fmean(values), 4), "each": [round(v, 4) for v in values]} for name, values in found.items()}


def least(values: Sequence[float]) -> int:
    return min(range(len(values)), key=lambda i: values[i])


def run(live: Live, minutes: float, steps: int, count: int) -> Dict[str, Any]:
    pools = live.held_out(count)
    before, began = live.first(pools), time.monotonic()
    rows = live.learn(minutes, steps)
    learnt, jobs = time.monotonic() - began, live.jobs
    choices = {"policy before": before, "policy after": live.first(pools), "ranker": [least(p.predicted) for p in pools],
               "best recorded": [least(p.times) for p in pools]}
    found = live.compare(pools, choices)
    return {"parameters": live.policy.n_parameters(), "context": live.recipe.context, "seed": live.recipe.seed, "steps": rows,
            "seconds": round(learnt, 1), "jobs": jobs, "failed": live.failed, "device_seconds": round(live.device_seconds, 1),
            "jobs_an_hour": round(3600 * jobs / max(learnt, 1e-9)), "problems": [p.problem.text() for p in pools], "held_out": found}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--policy", type=Path, required=True, help="policy.pt of kernel_policy.train")
    parser.add_argument("--program", required=True)
    parser.add_argument("--device", default="cuda:0", help="of the server; default: %(default)s")
    parser.add_argument("--torch-device", default="cpu", help="of the policy: the GPU is the server's; default: %(default)s")
    parser.add_argument("--problems", type=int, default=4, help="of a step; default: %(default)s")
    parser.add_argument("--steps", type=int, default=60, help="at most; default: %(default)s")
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--held-out", type=int, default=25, help="problems to compare on; default: %(default)s")
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    os.environ["CUDAL2_BENCH"] = options.program
    options.output.mkdir(parents=True, exist_ok=True)
    with serving(options.device, ["--queue", "2000", "--quota", "2000"]) as url:
        live = Live(options.policy, Server(url).outcomes, options.torch_device, options.problems)
        found = run(live, options.minutes, options.steps, options.held_out)
    (options.output / "live.json").write_text(json.dumps(found, indent=1) + "\n")
    print(json.dumps({name: row["mean"] for name, row in found["held_out"].items()}))


if __name__ == "__main__":
    main()
