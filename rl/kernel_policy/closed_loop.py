"""The loop closed on the CPU device: a tiny policy writes lines of the blocked kernel, cudal2-bench races
them, and the rewards train it. No recorded measurement is used.

    python -m kernel_policy.closed_loop --minutes 5 --output closed-loop.json

Several tasks share the measurements (shared.py): the same command in each, with a directory that all of them
see and
--shard I/N or the scheduler's words. Shard 0 learns, and a step then has all training problems.

    python -m kernel_policy.closed_loop --shared DIR --steps 400 --output closed-loop.json

Each step is one cell: a group of lines for one problem, raced together. At the end the policy's first line
for each problem races the kernel as it is shipped, random lines, and the best line that training came across.
"""
from __future__ import annotations

import argparse
import copy
import json
import math
import random
import sys
import time
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Tuple

import torch
from torch import Tensor

from .grpo import advantages, loss
from .harness import CpuHarness, Outcome, all_lines, cpu_problem
from .lines import Vocabulary
from .model import SIZES, Choices, Policy, Prompt, log_probabilities, repeat, sample, words_along
from .prompt import KINDS, N_NUMBERS, numbers_of
from .records import Problem
from .shared import AGAIN, Cell, Shared, TryAgain, follow, on_cpu, resolved

TRAIN = [cpu_problem(128, 128, 128), cpu_problem(256, 256, 256), cpu_problem(384, 192, 256), cpu_problem(96, 512, 384)]
HELD_OUT = [cpu_problem(192, 320, 256), cpu_problem(320, 320, 160)]
SHIPPED = "blocked KC=256 MC=96 NC=2048 OPT=3"
GROUP, EPOCHS, RATE, SCATTER = 12, 3, 2e-3, 0.05
STAY_OPEN = 0.05  # weight of the divergence from the policy before training, which is near uniform


class Learner:
    """The policy, and the space as tokens; every problem has the whole space."""

    def __init__(self, seed: int):
        torch.manual_seed(seed)
        self.generator = torch.Generator().manual_seed(seed)
        self.lines = all_lines()
        self.vocabulary = Vocabulary(self.lines)
        tokens = torch.tensor([self.vocabulary.encode(line) for line in self.lines]).unsqueeze(0)
        self.space = Choices(tokens, torch.ones(tokens.shape[:2]))
        self.policy = Policy(SIZES["tiny"], len(self.vocabulary), N_NUMBERS)
        self.beginning = copy.deepcopy(self.policy)
        self.optimizer = torch.optim.AdamW(self.policy.parameters(), lr=RATE, weight_decay=0.01)

    def prompt(self, problem: Problem) -> Prompt:
        kind = [[names.index(name) for names, name in zip(KINDS, problem.kind)]]
        return Prompt(torch.tensor([numbers_of(problem)]), torch.tensor(kind), torch.zeros(1, 0, 1, dtype=torch.long),
                      torch.zeros(1, 0, 5), torch.zeros(1, 0, dtype=torch.long))

    def likelihood(self, problem: Problem, lines: Tensor, policy: Optional[Policy] = None) -> Tensor:
        writer = policy or self.policy
        caches, there = repeat(*writer.read(self.prompt(problem)), lines.shape[1])
        ahead = words_along(self.space, lines, len(self.vocabulary))
        return log_probabilities(writer.follow(lines[0], caches, there), lines[0], ahead)

    def draw(self, problem: Problem, count: int) -> Tuple[Tensor, List[str]]:
        lines, places = sample(self.policy, self.prompt(problem), self.space, count, self.generator)
        return lines, [self.lines[i] for i in places[0].tolist()]

    def encode(self, lines: Sequence[str]) -> Tensor:
        """As draw() returns them."""
        return self.space.lines[:, [self.lines.index(line) for line in lines]]

    @torch.no_grad()
    def first(self, problem: Problem) -> str:
        return self.lines[int(self.likelihood(problem, self.space.lines).argmax())]

    def learn(self, problem: Problem, lines: Tensor, outcomes: Sequence[Outcome]) -> None:
        advantage = advantages(torch.tensor([[o.reward for o in outcomes]]), SCATTER)[0]
        with torch.no_grad():
            drawn, near = self.likelihood(problem, lines), self.likelihood(problem, lines, self.beginning)
        for _ in range(EPOCHS):
            self.optimizer.zero_grad(set_to_none=True)
            torch.autograd.backward(loss(self.likelihood(problem, lines), drawn, advantage, near, STAY_OPEN))
            torch.nn.utils.clip_grad_norm_(self.policy.parameters(), 1.0)
            self.optimizer.step()


class Alone:
    """One task: each cell is measured at once."""

    def __init__(self, harness: CpuHarness):
        self.harness = harness

    def measure(self, cells: Sequence[Cell], seconds: float) -> List[Tuple[List[str], List[Outcome]]]:
        return [(lines, on_cpu(self.harness)(problem, lines, seconds)) for problem, lines in cells]


def train(learner: Learner, world: Any, problems: int, seconds: float, most: int, cell_seconds: float
          ) -> Tuple[List[Dict[str, Any]], Dict[str, str]]:
    """Cells of so many problems at a time. The steps, and the best line that each problem's steps came
    across."""
    started = time.monotonic()
    steps: List[Dict[str, Any]] = []
    best: Dict[str, Tuple[float, str]] = {}
    while time.monotonic() - started < seconds and len(steps) < most:
        asked = [TRAIN[(len(steps) + i) % len(TRAIN)] for i in range(problems)]
        drawn = [(problem, learner.draw(problem, GROUP)[1]) for problem in asked]
        for problem, (lines, outcomes) in zip(asked, world.measure(drawn, cell_seconds)):
            learner.learn(problem, learner.encode(lines), outcomes)
            rewards = [o.reward for o in outcomes]
            top = max(range(len(lines)), key=lambda i: rewards[i])
            key = problem.text()
            best[key] = max(best.get(key, (-9.0, "")), (rewards[top], lines[top]))
            steps.append({"problem": key, "seconds": round(time.monotonic() - started, 1),
                          "mean": round(sum(rewards) / len(rewards), 4), "best": round(rewards[top], 4),
                          "distinct": len(set(lines)), "without_time": sum(o.time_ns is None for o in outcomes)})
            print(json.dumps(steps[-1]), flush=True)
    return steps, {key: line for key, (_, line) in best.items()}


def final(learner: Learner, world: Any, best: Dict[str, str], seed: int, cell_seconds: float) -> List[Dict[str, Any]]:
    """One longer cell for each problem: policy's first line, shipped, the best come across, four random
    ones."""
    rng, rows = random.Random(seed), []
    problems = TRAIN + HELD_OUT
    cells = [(p, [learner.first(p), SHIPPED, best.get(p.text(), SHIPPED), *rng.sample(learner.lines, 4)]) for p in problems]
    for problem, (lines, outcomes) in zip(problems, world.measure(cells, cell_seconds)):
        rewards = [round(o.reward, 4) for o in outcomes]
        rows.append({"problem": problem.text(), "held_out": problem in HELD_OUT, "line": lines[0], "policy": rewards[0],
                     "shipped": rewards[1], "best_seen": rewards[2] if problem in TRAIN else None, "random": rewards[3:]})
        print(json.dumps(rows[-1]), flush=True)
    return rows


def third(steps: Sequence[Dict[str, Any]], last: bool) -> float:
    size = max(1, len(steps) // 3)
    part = steps[-size:] if last else steps[:size]
    return round(float(sum(s["mean"] for s in part)) / len(part), 4)


def write(path: Path, summary: Dict[str, Any], rows: Sequence[Dict[str, Any]], steps: Sequence[Dict[str, Any]]) -> None:
    """JSON with a line for each problem and step."""
    final, taken = (",\n".join(json.dumps(row) for row in part) for part in (rows, steps))
    path.write_text('{"summary": %s,\n"final": [\n%s],\n"steps": [\n%s]}\n' % (json.dumps(summary), final, taken))


def learn(options: argparse.Namespace, harness: CpuHarness, world: Any) -> None:
    learner = Learner(options.seed)
    shared = isinstance(world, Shared)
    steps, best = train(learner, world, len(TRAIN) if shared else 1,
                        math.inf if shared else 60 * options.minutes * 0.85, options.steps if shared else sys.maxsize, options.cell_seconds)
    rows = final(learner, world, best, options.seed, 2.5 * options.cell_seconds)
    summary = {"parameters": learner.policy.n_parameters(), "space": len(learner.lines), "cells": harness.runs,
               "compiled": harness.compiled, "reward_first_third": third(steps, False),
               "reward_last_third": third(steps, True)}
    print(json.dumps(summary))
    if options.output:
        write(options.output, summary, rows, steps)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--shared", type=Path, metavar="DIR", help="share the measurements through this directory")
    parser.add_argument("--shard", help="I/N, or none (default: what the scheduler says, with --shared)")
    parser.add_argument("--steps", type=int, default=100, help="with --shared, in place of --minutes")
    parser.add_argument("--cell-seconds", type=float, default=2.0)
    parser.add_argument("--patience", type=float, default=3600.0, help="with --shared: seconds to wait for other tasks")
    options = parser.parse_args()
    if options.shard and not options.shared:
        parser.error("--shard needs --shared DIR")
    shard = resolved(options.shard) if options.shared else None
    if shard and shard.index > 0:
        return follow(options.shared, shard, options.patience)
    torch.set_num_threads(1)
    harness = CpuHarness()
    try:
        world: Any = Shared(options.shared, shard, on_cpu(harness), options.patience) if options.shared else Alone(harness)
        learn(options, harness, world)
        if options.shared:
            world.end()
    except TryAgain as error:
        print(error, file=sys.stderr)
        raise SystemExit(AGAIN) from None
    finally:
        harness.close()


if __name__ == "__main__":
    main()
