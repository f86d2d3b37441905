"""Trains the policy on recorded measurements: pretraining, then group-relative policy optimisation in two
stages.

    python -m kernel_policy.train --seed 1 --context neighbours --output runs/neighbours-1

Stage 1 imitates: lines are drawn by how near the best they are. Stage 2 draws 16 lines for each problem of
every kind and moves towards those that were faster than their group; stage 3 does so for the grid, fp32,
offline. Shapes of split.py's test set are never seen; the validation set chooses the checkpoint of each
stage. Writes curve.csv, policy.pt and scores.json (what the policy thinks of each line of each test pool)
after each stage. The same command goes on with a run that was stopped (checkpoint.pt), and says so of one
that is complete.
"""
from __future__ import annotations

import argparse
import csv
import heapq
import json
import math
import os
import random
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Tuple

import torch
from torch import Tensor

from .env import RewardTerms, geometric_mean, regrets
from .grpo import advantages, loss
from .model import SIZES, Choices, Policy, Prompt, log_probabilities, repeat, sample, words_along, write_freely
from .prompt import CONTEXTS, N_NUMBERS, Reader
from .records import DATA, Pool, load
from .split import N_FOLDS, Split, is_target, split

BUDGETS = (1, 4, 16, 64)
STOPPED = 75  # exit code: time is over, and the same command goes on
SCATTER = 0.021  # of a repeated measurement: spreads below it are not blown up to one
TOGETHER = 16    # problems that a GPU is asked of at once: one alone leaves it waiting


@dataclass
class Recipe:
    size: str = "small"
    context: str = "neighbours"
    seed: int = 1
    fold: int = 0  # which shapes are held out: split.py
    problems: Tuple[int, int, int] = (32, 8, 8)  # of a step of each stage
    samples: int = 16   # of a problem, stages 2 and 3
    good: int = 4       # lines of a problem that stage 1 imitates
    steps: Tuple[int, int, int] = (200, 100, 60)
    rates: Tuple[float, float, float] = (1e-3, 3e-4, 2e-4)
    temperature: float = 0.03   # stage 1: a line this much (log) behind the best is drawn e times less often
    unguided: float = 0.2       # stage 1: weight of the loss without the pool's help: it learns to write legal lines
    keep_near: float = 0.02     # stages 2 and 3: weight of the divergence from stage 1's policy
    every: int = 50
    terms: RewardTerms = field(default_factory=RewardTerms)


@dataclass
class Place:
    """Where a stage is."""
    number: int
    policy: Policy
    reference: Policy  # what it was when the stage began
    optimizer: torch.optim.Optimizer
    plan: torch.optim.lr_scheduler.LambdaLR
    step: int = 0
    best: float = math.inf
    kept: Optional[Dict[str, Tensor]] = None

    def descend(self, cost: Tensor) -> None:
        """One update of the policy."""
        self.optimizer.zero_grad(set_to_none=True)
        torch.autograd.backward(cost)
        torch.nn.utils.clip_grad_norm_(self.policy.parameters(), 1.0)
        self.optimizer.step()
        self.plan.step()

    def modules(self) -> Dict[str, Any]:
        return {"policy": self.policy, "reference": self.reference, "optimizer": self.optimizer, "plan": self.plan}


@dataclass
class Drawn:
    """A batch of samples: of each problem some lines, as tokens and as places in its pool."""
    pools: Sequence[Pool]
    prompt: Prompt
    choices: Choices
    lines: Tensor
    places: List[List[int]]


class OutOfTime(Exception):
    pass


class Trainer:
    def __init__(self, recipe: Recipe, data: Path = DATA, device: str = "cpu"):
        torch.manual_seed(recipe.seed)
        self.recipe, self.rng = recipe, random.Random(recipe.seed)
        self.device = torch.device(device)
        self.generator = torch.Generator(self.device).manual_seed(recipe.seed)
        self.records = load(data)
        self.split: Split = split(self.records, recipe.fold)
        self.reader = Reader(self.records, self.split.train, recipe.context)
        self.n_words = len(self.reader.vocabulary)
        self.policy = self._new_policy()
        self.watched = [p for p in self.split.validation if is_target(p)]
        self.curve: List[Dict[str, Any]] = []
        self.started, self.measured = time.monotonic(), 0
        self.processor = 0.0  # seconds of earlier calls
        self.deadline = math.inf
        self.checkpoint: Optional[Path] = None
        self.told: Dict[str, Any] = {}

    def _new_policy(self) -> Policy:
        return Policy(SIZES[self.recipe.size], self.n_words, N_NUMBERS, self.reader.n_relations).to(self.device)

    def _prompt(self, pools: Sequence[Pool]) -> Prompt:
        return self.reader.prompt(pools).on(self.device)

    def _choices(self, pools: Sequence[Pool]) -> Choices:
        return self.reader.choices(pools).on(self.device)

    # --- one step of each kind ---

    def imitate(self, pools: Sequence[Pool]) -> Tensor:
        """Minus the log-likelihood of each problem's best lines, weighted by how near the best they are;
        among the pool's lines, and in part among all words."""
        r = self.recipe
        choices = self._choices(pools)
        chosen, weights = (t.to(self.device) for t in self._good(pools))
        lines = choices.lines.gather(1, chosen.unsqueeze(2).expand(-1, -1, choices.lines.shape[2]))
        logits = self._logits(self.policy, self._prompt(pools), lines)
        flat = lines.flatten(0, 1)
        guided = log_probabilities(logits, flat, words_along(choices, lines, self.n_words))
        both = guided + r.unguided * log_probabilities(logits, flat, None)
        return -(both * weights.flatten()).sum() / len(pools)

    def _good(self, pools: Sequence[Pool]) -> Tuple[Tensor, Tensor]:
        """Places in the pool of the best lines of each, and weights that sum to one for each."""
        places, weights = [], []
        for pool in pools:
            best = heapq.nsmallest(self.recipe.good, range(len(pool.times)), key=lambda i: pool.times[i])
            each = [math.exp(-math.log(pool.times[i] / pool.best) / self.recipe.temperature) for i in best]
            short = self.recipe.good - len(best)
            places.append(best + [0] * short)
            weights.append([w / sum(each) for w in each] + [0.0] * short)
        return torch.tensor(places), torch.tensor(weights)

    def draw(self, pools: Sequence[Pool]) -> "Drawn":
        """Samples for each problem, to be measured."""
        prompt, choices = self._prompt(pools), self._choices(pools)
        self.policy.eval()
        lines, places = sample(self.policy, prompt, choices, self.recipe.samples, self.generator)
        self.policy.train()
        return Drawn(pools, prompt, choices, lines, places.tolist())

    def likelihood(self, policy: Policy, drawn: "Drawn") -> Tensor:
        ahead = words_along(drawn.choices, drawn.lines, self.n_words)
        return log_probabilities(self._logits(policy, drawn.prompt, drawn.lines), drawn.lines.flatten(0, 1), ahead)

    def step_loss(self, drawn: "Drawn", rewards: Tensor, reference: Policy, by: Optional[Tensor] = None) -> Tensor:
        """The loss of a group-relative step. `by`: what the samples' likelihood was under the policy that
        drew them; None: this one did, so the ratio is 1 and its clip never acts."""
        self.measured += rewards.numel()
        advantage = advantages(rewards, SCATTER).flatten().to(self.device)
        now = self.likelihood(self.policy, drawn)
        with torch.no_grad():
            before = self.likelihood(reference, drawn)
        return loss(now, now.detach() if by is None else by, advantage, before, self.recipe.keep_near)

    def improve(self, pools: Sequence[Pool], reference: Policy) -> Tuple[Tensor, float]:
        """The loss of a step, and the mean reward of its samples; each batch of samples is used once."""
        drawn = self.draw(pools)
        rewards = torch.tensor(self.rewards(pools, drawn.places))
        return self.step_loss(drawn, rewards, reference), float(rewards.mean())

    def rewards(self, pools: Sequence[Pool], places: Sequence[Sequence[int]]) -> List[List[float]]:
        """Of the lines at some places of each pool: here as they were recorded."""
        return [[self.reward(p, i) for i in row] for p, row in zip(pools, places)]

    def reward(self, pool: Pool, place: int) -> float:
        reference = pool.problem.reference_ns or geometric_mean(pool.times)
        words = len(self.records.lines[pool.lines[place]].split())
        return self.recipe.terms.reward(pool.times[place], reference, words)

    @staticmethod
    def _logits(policy: Policy, prompt: Prompt, lines: Tensor) -> Tensor:
        caches, there = repeat(*policy.read(prompt), lines.shape[1])
        return policy.follow(lines.flatten(0, 1), caches, there)

    # --- what it would measure ---

    def scores(self, pool: Pool) -> Tensor:
        """The log-likelihood of each line of the pool among them; they sum to one."""
        return self._scores_at_once([pool])[0]

    def scores_of(self, pools: Sequence[Pool]) -> List[Tensor]:
        return [scores for some in self.batches(pools) for scores in self._scores_at_once(some)]

    def batches(self, pools: Sequence[Pool]) -> List[Sequence[Pool]]:
        """One by one on a CPU, which gains nothing by more."""
        size = 1 if self.device.type == "cpu" else TOGETHER
        return [pools[at:at + size] for at in range(0, len(pools), size)]

    @torch.no_grad()
    def _scores_at_once(self, pools: Sequence[Pool]) -> List[Tensor]:
        self.policy.eval()
        choices = self._choices(pools)
        logits = self._logits(self.policy, self._prompt(pools), choices.lines)
        ahead = words_along(choices, choices.lines, self.n_words)
        each = log_probabilities(logits, choices.lines.flatten(0, 1), ahead).view(len(pools), -1).cpu()
        return [scores[:len(pool.lines)] for pool, scores in zip(pools, each)]

    def watch(self, stage: int, step: int, loss: float, reward: float) -> float:
        """Adds a row to the curve; returns the figure that chooses a checkpoint."""
        scores = self.scores_of(self.watched)
        found = [regrets(p.times, ordered(s), BUDGETS) for p, s in zip(self.watched, scores)]
        means = [sum(column) / len(found) for column in zip(*found)]
        expected = sum(float((s.exp() * (torch.tensor(p.times) / p.best - 1)).sum())
                       for p, s in zip(self.watched, scores))
        row: Dict[str, Any] = {"stage": stage, "step": step, "seconds": round(time.monotonic() - self.started, 1),
                               "measured": self.measured, "loss": round(loss, 4), "reward": round(reward, 4)}
        row.update({"regret_%d" % b: round(100 * m, 3) for b, m in zip(BUDGETS, means)})
        row["regret_sample"] = round(100 * expected / len(self.watched), 3)
        self.curve.append(row)
        print(json.dumps(row), flush=True)
        return float(means[0] + means[1])

    # --- stages ---

    def _begin(self, number: int) -> Place:
        steps, rate = self.recipe.steps[number - 1], self.recipe.rates[number - 1]
        optimizer = torch.optim.AdamW(self.policy.parameters(), lr=rate, weight_decay=0.01, betas=(0.9, 0.98))
        plan = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min(1, (s + 1) / 30) * max(0.05, 1 - s / max(1, steps)))
        reference = self._new_policy()
        reference.load_state_dict(self.policy.state_dict())
        return Place(number, self.policy, reference.eval(), optimizer, plan)

    def stage(self, number: int, place: Optional[Place] = None) -> None:
        """From the beginning, or from where a run was stopped. OutOfTime with a checkpoint when the time is
        over."""
        r, at = self.recipe, place or self._begin(number)
        steps = r.steps[number - 1]
        pools = [p for p in self.split.train if number < 3 or is_target(p)]
        self.policy.train()
        while at.step < steps:
            if time.monotonic() > self.deadline:
                self.save(at)
                raise OutOfTime()
            at.step += 1
            chosen = self.rng.sample(pools, r.problems[number - 1])
            cost, reward = (self.imitate(chosen), math.nan) if number == 1 else self.improve(chosen, at.reference)
            at.descend(cost)
            if at.step % r.every == 0 or at.step == steps:
                figure = self.watch(number, at.step, cost.item(), reward)
                if figure < at.best:
                    at.best, at.kept = figure, {k: v.clone() for k, v in self.policy.state_dict().items()}
                self.policy.train()
                self.save(at)
        if at.kept is not None:
            self.policy.load_state_dict(at.kept)

    # --- going on ---

    def save(self, at: Place) -> None:
        """Everything that decides the rest of the run, whole or not at all."""
        if self.checkpoint is None:
            return
        made = self.checkpoint.with_suffix(".tmp")
        torch.save({"recipe": asdict(self.recipe), "number": at.number, "step": at.step, "best": at.best, "kept": at.kept,
                    "modules": {name: module.state_dict() for name, module in at.modules().items()},
                    "rng": self.rng.getstate(), "generator": self.generator.get_state(), "curve": self.curve,
                    "measured": self.measured, "seconds": time.monotonic() - self.started,
                    "processor": self.processor + time.process_time(), "told": json.dumps(self.told)}, made)
        os.replace(made, self.checkpoint)

    def load(self) -> Optional[Place]:
        """Where the checkpoint is; None without one. ValueError when it is of another run."""
        if self.checkpoint is None or not self.checkpoint.exists():
            return None
        kept = torch.load(self.checkpoint, map_location=self.device, weights_only=True)
        if kept["recipe"] != asdict(self.recipe):
            raise ValueError("%s is of another run: give another --output, or remove it" % self.checkpoint)
        at = self._begin(kept["number"])
        at.policy.adopt(kept["modules"]["policy"])  # or says why not
        for name, module in at.modules().items():
            module.load_state_dict(kept["modules"][name])
        at.step, at.best, at.kept = kept["step"], kept["best"], kept["kept"]
        version, state, gauss = kept["rng"]
        self.rng.setstate((version, tuple(state), gauss))
        self.generator.set_state(kept["generator"].cpu())
        self.curve, self.measured, self.told = kept["curve"], kept["measured"], json.loads(kept["told"])
        self.started, self.processor = time.monotonic() - kept["seconds"], kept["processor"]
        return at

    def free_writing(self) -> Dict[str, float]:
        """Of lines written with no pool to choose from, for the target problems of the test shapes: how many
        are lines that anybody ever measured, and how many were measured for that problem, and so have a
        reward."""
        self.policy.eval()
        pools = [p for p in self.split.test if is_target(p)][::4]
        known, measured, count = set(self.records.lines), 0, 0
        known_count = 0
        written = [lines for some in self.batches(pools)
                   for lines in write_freely(self.policy, self._prompt(some), self.recipe.samples, self.generator).tolist()]
        for pool, lines in zip(pools, written):
            texts = [self.reader.vocabulary.decode(line) for line in lines]
            here = {self.records.lines[i] for i in pool.lines}
            known_count += sum(t in known for t in texts)
            measured += sum(t in here for t in texts)
            count += len(texts)
        return {"known": round(known_count / count, 3), "measured_here": round(measured / count, 3)}

    def test_scores(self, last: bool) -> List[Dict[str, Any]]:
        """For each test pool, the log-likelihood of each of its lines; before the last stage, and of a fold,
        of target pools alone."""
        every = last and not self.recipe.fold
        pools = [pool for pool in self.split.test if every or is_target(pool)]
        return [{"problem": pool.problem.text(), "scores": [round(float(s), 2) for s in scores]}
                for pool, scores in zip(pools, self.scores_of(pools))]


def ordered(scores: Tensor) -> List[int]:
    """The likeliest line first."""
    return scores.argsort(descending=True, stable=True).tolist()


def run(recipe: Recipe, output: Path, device: str = "cpu", minutes: float = math.inf) -> bool:
    """Trains, or goes on, and writes what there is after each stage. False when the time is over first."""
    trainer = Trainer(recipe, device=device)
    trainer.deadline = time.monotonic() + 60 * minutes
    output.mkdir(parents=True, exist_ok=True)
    trainer.checkpoint = output / "checkpoint.pt"
    place = trainer.load()
    print("%d parameters; %d problems to learn from" % (trainer.policy.n_parameters(), len(trainer.split.train)))
    if place is None:
        trainer.told = {"context": recipe.context, "seed": recipe.seed, "fold": recipe.fold, "size": recipe.size,
                        "parameters": trainer.policy.n_parameters(), "free_writing": {}, "stages": {}}
        trainer.watch(0, 0, math.nan, math.nan)
    try:
        for number in range(place.number if place else 1, 4):
            finish(trainer, number, place, output)
            place = None
    except OutOfTime:
        return False
    return True


def finish(trainer: Trainer, number: int, place: Optional[Place], output: Path) -> None:
    """One stage to its end, unless it was there already."""
    told, name = trainer.told, "stage %d" % number
    if trainer.recipe.steps[number - 1] == 0 or name in told["stages"]:
        return
    place = place or trainer._begin(number)
    trainer.stage(number, place)
    told["free_writing"][name] = trainer.free_writing()
    told["stages"][name] = trainer.test_scores(number == 3)
    told.update(seconds=round(time.monotonic() - trainer.started), measured=trainer.measured,
                processor_seconds=round(trainer.processor + time.process_time()))
    write(trainer, told, output)
    trainer.save(place)


def write(trainer: Trainer, told: Dict[str, Any], output: Path) -> None:
    with open(output / "curve.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, trainer.curve[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(trainer.curve)
    torch.save({"recipe": asdict(trainer.recipe), "state": trainer.policy.state_dict()}, output / "policy.pt")
    (output / "scores.json").write_text(json.dumps(told))


def read_policy(path: Path, device: str = "cpu") -> Tuple[Recipe, Dict[str, Tensor]]:
    """Of a policy.pt, or of what live.py keeps of a policy."""
    kept = torch.load(path, map_location=device, weights_only=True)
    members: Dict[str, Any] = {**kept["recipe"], "terms": RewardTerms(**kept["recipe"]["terms"])}
    return Recipe(**members), kept["state"] if "state" in kept else kept["modules"]["policy"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--size", choices=sorted(SIZES), default="small")
    parser.add_argument("--context", choices=CONTEXTS, default="neighbours")
    parser.add_argument("--steps", default="200,100,60", help="of the three stages; default: %(default)s")
    parser.add_argument("--rates", help="learning rates of the three stages; default: 1e-3,3e-4,2e-4")
    parser.add_argument("--fold", type=int, default=0, choices=range(N_FOLDS + 1),
                        help="the part of all shapes that is held out; 0 (default): the 100 shapes of the pages")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--device", default="cpu", help="of torch: cpu or cuda; default: %(default)s")
    parser.add_argument("--minutes", type=float, default=math.inf, help="stop after this time (exit code 75)")
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    steps = tuple(int(s) for s in options.steps.split(","))
    if len(steps) != 3:
        parser.error("--steps: three numbers are expected, as in 200,100,60")
    recipe = Recipe(size=options.size, context=options.context, seed=options.seed, fold=options.fold, steps=steps)
    if options.rates:
        recipe.rates = tuple(float(r) for r in options.rates.split(","))  # type: ignore[assignment]
        if len(recipe.rates) != 3:
            parser.error("--rates: three numbers are expected, as in 1e-3,3e-4,2e-4")
    try:
        complete = run(recipe, options.output, options.device, options.minutes)
    except ValueError as error:
        parser.error(str(error))
    print("complete: %s" % options.output if complete else "stopped; the same command goes on")
    sys.exit(0 if complete else STOPPED)


if __name__ == "__main__":
    main()
