"""Stage 3 on rewards of `cudal2-bench serve`: each line of a group is measured on the GPU.

    python -m kernel_policy.live --policy runs/*/policy.pt --program ../build/cudal2-bench --output runs/live

A step takes problems of the grid that were not asked for yet, draws 16 lines for each from the lines that
were ever recorded for it, the policies in turn, and has them measured in the problem's layout alone. Every
policy learns from all that is known, each line counting by its probability: towards those that are faster
than their group, and not far from where it began. The queue is never empty: while one step is measured the
next one waits, compiled. Afterwards lines for held-out problems are measured in one batch: four samples of
each policy before and after, four of the ranker's, and the best recorded; gain.py has all held-out shapes by
recorded times. The same command goes on where it was stopped; --seconds is for each call. Writes steps.csv
and stage3.json. On the CPU device every line stands for a small problem of the plugin `blocked`: that tests
the loop and nothing else. Needs torch."""
from __future__ import annotations

import argparse
import collections
import csv
import json
import math
import os
import random
import signal
import statistics
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Deque, Dict, List, Optional, Sequence, Tuple

import torch
from torch import Tensor

from .compare import by_drawing, sampled
from .grpo import ABSENT, whole_loss
from .model import Choices, Policy, log_probabilities, words_along
from .records import Pool, Records
from .served import Server, log_reward, stand_in, submission
from .split import is_target
from .train import SCATTER, Trainer, read_policy

sys.path.append(str(Path(__file__).resolve().parents[2] / "python"))
from cudal2_bench.served import serving  # noqa: E402

PENALTY = -1.5  # log reward of a line without a valid time
LEARNING = {"half_width": 0.02, "seconds": 0.2, "alpha": 0, "beta": 0, "share": True}  # a repeat of the records scatters as much
COMPARING = {**LEARNING, "half_width": 0.005, "seconds": 0.4}
BATCH_GROUPS = 10  # problems of an update
FIRST = 4         # samples of each policy for a held-out problem
BATCH = 200       # submissions of one request
SAVE_EVERY = 15   # seconds
COLUMNS = ("step", "seconds", "problems", "reward", "spread", "jobs", "failed", "together", "device_seconds")

Wanted = Tuple[Pool, int]  # a line by its place in a problem's pool


class Meter:
    """Submits lines, and counts what they cost. `server` has submit() and wait()."""

    def __init__(self, server: Any, records: Records, cpu: bool = False):
        self.server, self.records, self.cpu = server, records, cpu
        self.seen: Dict[str, float] = {}  # ids that were waited for, and the device's seconds of each
        self.failed, self.together = 0, 0.0
        self.spent: Dict[str, float] = collections.defaultdict(float)

    def submission(self, wanted: Wanted, effort: Dict[str, Any]) -> Dict[str, Any]:
        pool, place = wanted
        sent = submission(self.records.lines[pool.lines[place]], self.records.usual, pool.problem, layout=pool.problem.layout, **effort)
        return stand_in(sent) if self.cpu else sent

    def submit(self, wanted: Sequence[Wanted], effort: Dict[str, Any]) -> Dict[Tuple[str, int], str]:
        """The job of each line, once for each; those of one kernel after each other, so that its worker stays
        warm."""
        once = {(pool.problem.text(), place): (pool, place) for pool, place in wanted}
        keys = sorted(once, key=lambda key: (self.records.lines[once[key][0].lines[key[1]]].split()[0], key[0]))
        ids = [job for at in range(0, len(keys), BATCH)
               for job in self.server.submit([self.submission(once[key], effort) for key in keys[at:at + BATCH]])]
        return dict(zip(keys, ids))

    def wait(self, jobs: Dict[Tuple[str, int], str]) -> Dict[Tuple[str, int], Optional[float]]:
        """Log rewards; None where the server learnt nothing."""
        return {key: self._take(job) for key, job in jobs.items()}

    def _take(self, job: str) -> Optional[float]:
        outcome = self.server.wait([job])[0]
        if job not in self.seen:
            self.seen[job] = outcome.get("measuring_seconds") or 0.0
            self.failed += outcome["verdict"] != "ok"
            self.together += 1 / outcome.get("together", 1)
            for name, value in outcome.get("spent", {}).items():
                self.spent[name] += value if isinstance(value, (int, float)) else 0.0
        return log_reward(outcome["reward"]["value"], PENALTY) if outcome["reward"] else None

    @property
    def jobs(self) -> int:
        return len(self.seen)

    @property
    def device_seconds(self) -> float:
        return sum(self.seen.values())


@dataclass
class Group:
    """A problem's lines that were measured, by their places in its pool."""
    pool: Pool
    places: List[int]
    rewards: List[float]


@dataclass
class Asked:
    """A step's problems, with all that any learner wants to know of each."""
    pools: Sequence[Pool]
    places: List[List[int]]
    jobs: Dict[Tuple[str, int], str]


class Live(Trainer):
    """A policy that learns from measured lines, whoever asked for them."""

    def __init__(self, policy: Path, device: str = "cpu", rate: float = 5e-4, near: float = 1.0):
        recipe, state = read_policy(policy, device)
        recipe.keep_near, recipe.rates = near, (*recipe.rates[:2], rate)
        super().__init__(recipe, device=device)
        self.policy.adopt(state)
        self.before = {name: tensor.clone() for name, tensor in self.policy.state_dict().items()}
        self.place = self._begin(3)  # before anything was learned: the reference
        self.place.plan = torch.optim.lr_scheduler.LambdaLR(self.place.optimizer, lambda s: min(1.0, (s + 1) / 10))

    def samples(self, pools: Sequence[Pool], count: int) -> List[List[int]]:
        self.recipe.samples = count
        return self.draw(pools).places

    def _likelihoods(self, policy: Policy, groups: Sequence[Group], choices: Choices, places: Tensor, there: Tensor) -> Tensor:
        lines = choices.lines.gather(1, places.unsqueeze(2).expand(-1, -1, choices.lines.shape[2]))
        logits = self._logits(policy, self._prompt([g.pool for g in groups]), lines)
        found = log_probabilities(logits, lines.flatten(0, 1), words_along(choices, lines, self.n_words))
        return found.view(places.shape).masked_fill(~there, ABSENT)

    def update(self, groups: Sequence[Group]) -> None:
        """One step towards the faster lines of some groups."""
        most = max(len(g.places) for g in groups)
        there = torch.tensor([[i < len(g.places) for i in range(most)] for g in groups], device=self.device)
        places = torch.tensor([g.places + [0] * (most - len(g.places)) for g in groups], device=self.device)
        rewards = torch.tensor([g.rewards + [0.0] * (most - len(g.places)) for g in groups], device=self.device)
        choices = self._choices([g.pool for g in groups])
        self.policy.train()
        now = self._likelihoods(self.policy, groups, choices, places, there)
        with torch.no_grad():
            near = self._likelihoods(self.place.reference, groups, choices, places, there)
        self.place.descend(whole_loss(now, near, rewards, SCATTER, self.recipe.keep_near))
        self.place.step += 1

    def samples_of(self, pools: Sequence[Pool], before: bool = False) -> List[List[int]]:
        """Four samples of each problem, now or before anything was learned live; the same random numbers for
        both, so that they differ where the policy does."""
        now = {name: tensor.clone() for name, tensor in self.policy.state_dict().items()}
        self.policy.load_state_dict(self.before if before else now)
        chosen = [sampled(self.scores(pool).tolist(), random.Random("%d %s" % (self.recipe.seed, pool.problem.text())))[:FIRST] for pool in pools]
        self.policy.load_state_dict(now)
        return chosen

    def held_out(self, count: int) -> List[Pool]:
        """Test problems of the grid, one layout of each shape, evenly spread over their sizes."""
        pools = {p.problem.shape: p for p in self.split.test if is_target(p)}
        by_size = sorted(pools.values(), key=lambda p: math.prod(p.problem.shape))
        return by_size[::max(1, len(by_size) // max(1, count))][:count]


class Learners:
    """Learners of different seeds that share what is measured: a step's problems and samples are theirs
    together."""

    def __init__(self, learners: List[Live], problems: int, updates: int, samples: int = 16):
        self.learners, self.problems, self.updates, self.n_samples = learners, problems, updates, samples
        targets = [p for p in learners[0].split.train if is_target(p)]
        self.order = random.Random("live").sample(targets, len(targets))  # no problem twice
        self.drawn, self.step = 0, 0
        self.known: List[Group] = []

    def ask(self, meter: "Meter") -> Asked:
        pools = self.order[self.drawn * self.problems:(self.drawn + 1) * self.problems]
        self.drawn += 1
        each = [learner.samples(pools, share) for learner, share in zip(self.learners, shares(self.n_samples, len(self.learners)))]
        places = [sorted({i for row in of for i in row}) for of in zip(*each)]
        return Asked(pools, places, meter.submit([(p, i) for p, row in zip(pools, places) for i in row], LEARNING))

    def learn(self, asked: Asked, found: Dict[Tuple[str, int], Optional[float]]) -> Tuple[float, float]:
        """Updates on the new groups and on earlier ones; mean and spread of the rewards. What has no reward
        is left out."""
        groups = []
        for pool, places in zip(asked.pools, asked.places):
            known = [(i, v) for i, v in ((i, found[pool.problem.text(), i]) for i in places) if v is not None]
            if len(known) > 1:
                groups.append(Group(pool, [i for i, _ in known], [v for _, v in known]))
        self.known += groups
        self.step += 1
        for at in range(self.updates if self.known else 0):
            batch = random.Random("%d %d" % (self.step, at)).sample(self.known, min(BATCH_GROUPS, len(self.known)))
            for learner in self.learners:
                learner.update(batch)
        means = [statistics.fmean(g.rewards) for g in groups] or [0.0]
        return statistics.fmean(means), statistics.fmean([statistics.stdev(g.rewards) for g in groups] or [0.0])

    def keep(self, directory: Path) -> None:
        """Everything that decides the rest: each learner in a file of its own, which gain.py reads too."""
        known = [[g.pool.problem.text(), g.places, g.rewards] for g in self.known]
        for learner in self.learners:
            made = directory / ("live-%d.tmp" % learner.recipe.seed)
            torch.save({"recipe": asdict(learner.recipe), "step": self.step, "updates": learner.place.step, "known": json.dumps(known),
                        "generator": learner.generator.get_state(), "of": [self.problems, self.updates, self.n_samples],
                        "modules": {name: module.state_dict() for name, module in learner.place.modules().items()}}, made)
            os.replace(made, made.with_suffix(".pt"))

    def resume(self, directory: Path) -> None:
        """ValueError where a checkpoint is of another run."""
        by_text = {p.problem.text(): p for p in self.order}
        for learner in self.learners:
            path = directory / ("live-%d.pt" % learner.recipe.seed)
            if not path.exists():
                continue
            kept = torch.load(path, map_location=learner.device, weights_only=True)
            same = {**kept["recipe"], "samples": 0} == {**asdict(learner.recipe), "samples": 0}
            if not same or kept["of"] != [self.problems, self.updates, self.n_samples]:
                raise ValueError("%s is of another run: give another --output, or remove it" % path)
            for name, module in learner.place.modules().items():
                module.load_state_dict(kept["modules"][name])
            learner.generator.set_state(kept["generator"].cpu())
            learner.place.step, self.drawn, self.step = kept["updates"], kept["step"], kept["step"]
            self.known = [Group(by_text[text], places, rewards) for text, places, rewards in json.loads(kept["known"])]


def shares(total: int, count: int) -> List[int]:
    """Of a number, as even as can be."""
    return [total // count + (at < total % count) for at in range(count)]


class Run:
    """The loop, its clock and its files. `seconds` counts from `began`."""

    def __init__(self, learning: Learners, meter: Meter, output: Path, held_out: int):
        self.learning, self.meter, self.output = learning, meter, output
        self.pools = learning.learners[0].held_out(held_out)
        self.saved = self.began = time.monotonic()
        self.ready, self.lines, self.asked = 0.0, 0, 0  # when learning began; jobs afterwards, and of the last step
        self.rows: List[Dict[str, Any]] = []
        learning.resume(output)
        if (output / "steps.csv").exists():
            with (output / "steps.csv").open(newline="") as file:
                self.rows = [row for row in csv.DictReader(file) if int(row["step"]) <= learning.step]
        self.before = (float(self.rows[-1]["seconds"]), int(self.rows[-1]["jobs"]), float(self.rows[-1]["device_seconds"])) \
            if self.rows else (0.0, 0, 0.0)

    def elapsed(self) -> float:
        return time.monotonic() - self.began

    def save(self) -> None:
        self.learning.keep(self.output)
        with (self.output / "steps.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(self.rows)
        self.saved = time.monotonic()

    def room(self, waiting: int, seconds: float) -> bool:
        """Whether a further step, which asks for as much as the last one, leaves the time to compare."""
        each = (self.elapsed() - self.ready) / max(1, self.meter.jobs)  # 0 in the beginning
        return self.elapsed() + 1.3 * each * (waiting + self.asked + self.lines) < seconds

    def learn(self, seconds: float, steps: int) -> None:
        """The next step's lines are drawn and wait, compiled, while one is measured."""
        self.lines = len(self.wanted(self.choices()))
        self.ready = self.elapsed()
        queue: Deque[Asked] = collections.deque()
        while True:
            while len(queue) < 2 and self.learning.drawn < steps and self.room(sum(len(a.jobs) for a in queue), seconds):
                queue.append(self.learning.ask(self.meter))
                self.asked = len(queue[-1].jobs)
            if not queue:
                break
            asked = queue.popleft()
            self._note(asked, *self.learning.learn(asked, self.meter.wait(asked.jobs)))
            if time.monotonic() - self.saved > SAVE_EVERY:
                self.save()
        self.save()

    def _note(self, asked: Asked, reward: float, spread: float) -> None:
        m = self.meter
        values = (self.learning.step, round(self.before[0] + self.elapsed(), 1), len(asked.pools), round(reward, 4), round(spread, 4),
                  self.before[1] + m.jobs, m.failed, round(m.jobs / max(1e-9, m.together), 2), round(self.before[2] + m.device_seconds, 1))
        self.rows.append(dict(zip(COLUMNS, values)))
        print(json.dumps(self.rows[-1]), flush=True)

    def choices(self) -> Dict[str, List[List[int]]]:
        """Of each way to choose: lines of each held-out problem, the first one first."""
        found = {"ranker": [least(p.predicted, FIRST) for p in self.pools], "best recorded": [least(p.times, 1) for p in self.pools]}
        for learner in self.learning.learners:
            for word, before in (("before", True), ("after", False)):
                found["%s, seed %d" % (word, learner.recipe.seed)] = learner.samples_of(self.pools, before)
        return found

    def wanted(self, chosen: Dict[str, List[List[int]]]) -> List[Wanted]:
        once = {(p.problem.text(), i): (p, i) for of in chosen.values() for p, places in zip(self.pools, of) for i in places}
        return list(once.values())

    def compare(self) -> Dict[str, Any]:
        """Regret in percent of the first line and of the best of four, against the best that was measured
        here."""
        chosen = self.choices()
        found = self.meter.wait(self.meter.submit(self.wanted(chosen), COMPARING))
        known = {key: PENALTY if value is None else value for key, value in found.items()}
        out: Dict[str, Any] = {}
        best = [max(v for key, v in known.items() if key[0] == p.problem.text()) for p in self.pools]
        for name, of in chosen.items():
            values = [[known[p.problem.text(), i] for i in places] for p, places in zip(self.pools, of)]
            out[name] = {"first": [regret(b, v[0]) for b, v in zip(best, values)], "best_of_4": [regret(b, max(v)) for b, v in zip(best, values)]}
        return {"problems": [p.problem.text() for p in self.pools], "lines": len(known), "best": [round(b, 4) for b in best], "each": out}


def regret(best: float, value: float) -> float:
    return round(100 * math.expm1(best - value), 2)


def least(values: Sequence[float], count: int) -> List[int]:
    return sorted(range(len(values)), key=lambda i: values[i])[:count]


def summary(each: Dict[str, Dict[str, List[float]]]) -> Dict[str, Any]:
    """Regret of each way over the problems, seeds together; and how much less it is after than before."""
    out: Dict[str, Any] = {}
    for kind in ("first", "best_of_4"):
        groups: Dict[str, List[List[float]]] = collections.defaultdict(list)
        for name, of in each.items():
            groups[name.split(", seed")[0]].append(of[kind])
        means = {name: [statistics.fmean(v) for v in zip(*lists)] for name, lists in groups.items()}
        out[kind] = {name: by_drawing(values, 3) for name, values in means.items()}
        if "after" in means:
            out[kind]["after - before"] = by_drawing([a - b for a, b in zip(means["after"], means["before"])], 3)
    return out


def report(run: Run, learning_seconds: float) -> Dict[str, Any]:
    meter, learned = run.meter, run.meter.jobs
    device = meter.device_seconds
    spent = {name: round(value, 1) for name, value in meter.spent.items() if name not in ("queue", "compile") and value >= 0.05}
    together = round(meter.jobs / max(1e-9, meter.together), 2)
    compared = run.compare()
    learners, first = run.learning.learners, run.learning.learners[0]
    return {"parameters": first.policy.n_parameters(), "size": first.recipe.size, "context": first.recipe.context,
            "seeds": [learner.recipe.seed for learner in learners], "steps": run.learning.step, "updates": first.place.step,
            "problems": len(run.learning.known), "lines": sum(len(g.places) for g in run.learning.known), "samples": run.learning.n_samples,
            "rate": first.recipe.rates[2], "keep_near": first.recipe.keep_near,
            "learning": {"seconds": round(learning_seconds, 1), "jobs": learned, "failed": meter.failed, "jobs_a_cell": together,
                         "device_seconds": round(device, 1), "jobs_an_hour": round(3600 * learned / max(1e-9, learning_seconds)), "spent": spent},
            "comparing": {"seconds": round(run.elapsed() - learning_seconds, 1), "jobs": meter.jobs - learned,
                          "device_seconds": round(meter.device_seconds - device, 1)},
            "summary": summary(compared["each"]), "held_out": compared}


def live(learning: Learners, meter: Meter, options: argparse.Namespace) -> Dict[str, Any]:
    run = Run(learning, meter, options.output, options.held_out)
    run.began = options.began
    run.learn(options.seconds, options.steps)
    return report(run, run.elapsed())


def stopped(*_: Any) -> None:
    sys.exit(75)


def main() -> None:
    began = time.monotonic()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--policy", type=Path, nargs="+", required=True, help="policy.pt of kernel_policy.train, of different seeds")
    parser.add_argument("--program", required=True)
    parser.add_argument("--device", default="cuda:0", help="of the server; default: %(default)s")
    parser.add_argument("--torch-device", default="cpu", help="of the policy: the GPU is the server's; default: %(default)s")
    parser.add_argument("--threads", type=int, default=4, help="of the policy; compilers take the others; default: %(default)s")
    parser.add_argument("--problems", type=int, default=8, help="of a step; default: %(default)s")
    parser.add_argument("--samples", type=int, default=16, help="of a problem, of all policies together; default: %(default)s")
    parser.add_argument("--updates", type=int, default=16, help="of a step; default: %(default)s")
    parser.add_argument("--rate", type=float, default=5e-4, help="learning rate; default: %(default)s")
    parser.add_argument("--near", type=float, default=1.0, help="weight of the divergence from the policy of the beginning; default: %(default)s")
    parser.add_argument("--steps", type=int, default=1000, help="at most; default: %(default)s")
    parser.add_argument("--seconds", type=float, default=240.0, help="of this call, comparison included; default: %(default)s")
    parser.add_argument("--held-out", type=int, default=12, help="problems to compare on; default: %(default)s")
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    options.began, os.environ["CUDAL2_BENCH"] = began, options.program
    torch.set_num_threads(options.threads)
    signal.signal(signal.SIGTERM, stopped)  # the server ends with this process
    options.output.mkdir(parents=True, exist_ok=True)
    with serving(options.device, ["--queue", "5000", "--quota", "5000"], str(options.output)) as url:
        learners = [Live(policy, options.torch_device, options.rate, options.near) for policy in options.policy]
        try:
            meter = Meter(Server(url), learners[0].records, options.device == "cpu")
            found = live(Learners(learners, options.problems, options.updates, options.samples), meter, options)
        except ValueError as error:
            parser.error(str(error))
    (options.output / "stage3.json").write_text(compact(found))
    print(json.dumps(found["summary"]))


def compact(found: Dict[str, Any]) -> str:
    """JSON with one line for each member."""
    return "{\n%s\n}\n" % ",\n".join(" %s: %s" % (json.dumps(name), json.dumps(value)) for name, value in found.items())


if __name__ == "__main__":
    main()
