"""Stage 3 on rewards of `cudal2-bench serve`: each line of a group is measured on the GPU.

    python -m kernel_policy.live --policy runs/1/policy.pt runs/2/policy.pt --program ../build/cudal2-bench
    \\
        --device cuda:0 --seconds 240 --output runs/live

A step draws problems of the grid, 16 lines for each from the lines that were ever recorded for it, has them
measured in the problem's layout alone, and moves towards those that were faster than their group. The queue
is never empty: while one batch is measured the next one waits, compiled. With several policies the next batch
is another one's; a single policy draws it one step early, and its likelihood then is what the clipped ratio
goes by. Afterwards lines for held-out problems are measured in one batch: the first four of each policy
before and after, of the ranker, and the best recorded. The same command goes on where it was stopped;
--seconds is for each call. Writes steps.csv and stage3.json. On the CPU device every line stands for a small
problem of the plugin `blocked`: that tests the loop and nothing else. Needs torch."""
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

from .env import RewardTerms
from .records import Pool
from .served import Server, log_reward, stand_in, submission
from .split import is_target
from .train import Drawn, Recipe, Trainer, ordered

sys.path.append(str(Path(__file__).resolve().parents[2] / "python"))
from cudal2_bench.served import serving  # noqa: E402

PENALTY = -1.5  # log reward of a line without a valid time
LEARNING = {"half_width": 0.02, "seconds": 0.2, "alpha": 0, "beta": 0, "share": True}  # a repeat of the records scatters as much
COMPARING = {**LEARNING, "half_width": 0.005, "seconds": 0.4}
FIRST = 4         # lines of each policy for a held-out problem
BATCH = 200       # submissions of one request
SAVE_EVERY = 15   # seconds
COLUMNS = ("seed", "step", "seconds", "reward", "spread", "jobs", "failed", "together", "device_seconds")

Wanted = Tuple[Pool, int]  # a line by its place in a problem's pool


class Meter:
    """Submits lines, and counts what they cost. `server` has submit() and wait()."""

    def __init__(self, server: Any, learner: Trainer, cpu: bool = False):
        self.server, self.records, self.cpu = server, learner.records, cpu
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
class Asked:
    learner: "Live"
    drawn: Drawn
    jobs: Dict[Tuple[str, int], str]
    by: Optional[Tensor]


class Live(Trainer):
    """A trainer whose rewards are measured. `early`: draws its batch before the last one's step."""

    def __init__(self, policy: Path, device: str = "cpu", problems: int = 2, rate: float = 2e-4, early: bool = False):
        kept = torch.load(policy, map_location=device, weights_only=True)
        recipe = Recipe(**{**kept["recipe"], "terms": RewardTerms(**kept["recipe"]["terms"]), "problems": (32, 8, problems)})
        recipe.rates = (*recipe.rates[:2], rate)
        super().__init__(recipe, device=device)
        self.policy.adopt(kept["state"])
        self.early, self.drawn_steps = early, 0
        self.wanted = [p for p in self.split.train if is_target(p)]
        self.before = {name: tensor.clone() for name, tensor in self.policy.state_dict().items()}
        self.place = self._begin(3)  # before anything was learned: the reference
        self.place.plan = torch.optim.lr_scheduler.LambdaLR(self.place.optimizer, lambda s: min(1.0, (s + 1) / 4))

    def ask(self, meter: Meter) -> Asked:
        """The step's problems are the same for every seed: where policies agree a line is measured once."""
        pools = random.Random("live %d" % self.drawn_steps).sample(self.wanted, self.recipe.problems[2])
        self.drawn_steps += 1
        drawn = self.draw(pools)
        with torch.no_grad():
            by = self.likelihood(self.policy, drawn) if self.early else None
        return Asked(self, drawn, meter.submit([(p, i) for p, row in zip(pools, drawn.places) for i in row], LEARNING), by)

    def learn(self, asked: Asked, found: Dict[Tuple[str, int], Optional[float]]) -> Tuple[float, float]:
        """One update; mean reward and mean spread of the groups. What has no reward counts as its group's
        mean."""
        rows = []
        for pool, places in zip(asked.drawn.pools, asked.drawn.places):
            each = [found[pool.problem.text(), i] for i in places]
            known = [v for v in each if v is not None] or [0.0]
            rows.append([statistics.fmean(known) if v is None else v for v in each])
        rewards = torch.tensor(rows)
        self.place.descend(self.step_loss(asked.drawn, rewards, self.place.reference, asked.by))
        self.place.step += 1
        return float(rewards.mean()), float(rewards.std(dim=1).mean())

    def keep(self, path: Path) -> None:
        torch.save({"recipe": asdict(self.recipe), "step": self.place.step, "generator": self.generator.get_state(),
                    "modules": {name: module.state_dict() for name, module in self.place.modules().items()}}, path.with_suffix(".tmp"))
        os.replace(path.with_suffix(".tmp"), path)

    def resume(self, path: Path) -> None:
        """ValueError where the checkpoint is of another run."""
        if not path.exists():
            return
        kept = torch.load(path, map_location=self.device, weights_only=True)
        if kept["recipe"] != asdict(self.recipe):
            raise ValueError("%s is of another run: give another --output, or remove it" % path)
        for name, module in self.place.modules().items():
            module.load_state_dict(kept["modules"][name])
        self.place.step = self.drawn_steps = kept["step"]
        self.generator.set_state(kept["generator"].cpu())

    def first(self, pools: Sequence[Pool], before: bool = False) -> List[List[int]]:
        """The likeliest lines of each problem, now or before anything was learned live."""
        now = {name: tensor.clone() for name, tensor in self.policy.state_dict().items()}
        self.policy.load_state_dict(self.before if before else now)
        chosen = [ordered(self.scores(pool))[:FIRST] for pool in pools]
        self.policy.load_state_dict(now)
        return chosen

    def held_out(self, count: int) -> List[Pool]:
        """Test problems of the grid, one layout of each shape, evenly spread over their sizes."""
        pools = {p.problem.shape: p for p in self.split.test if is_target(p)}
        by_size = sorted(pools.values(), key=lambda p: math.prod(p.problem.shape))
        return by_size[::max(1, len(by_size) // max(1, count))][:count]


class Run:
    """The loop, its clock and its files. `seconds` counts from `began`."""

    def __init__(self, learners: List[Live], meter: Meter, output: Path, held_out: int):
        self.learners, self.meter, self.output = learners, meter, output
        self.pools = learners[0].held_out(held_out)
        self.saved = self.began = time.monotonic()
        self.ready, self.lines = 0.0, 0  # when learning began; what is measured afterwards
        self.rows: List[Dict[str, Any]] = []
        for learner in learners:
            learner.resume(self._checkpoint(learner))
        if (output / "steps.csv").exists():
            done = {str(learner.recipe.seed): learner.place.step for learner in learners}
            with (output / "steps.csv").open(newline="") as file:
                self.rows = [row for row in csv.DictReader(file) if int(row["step"]) <= done.get(row["seed"], 0)]
        self.before = (float(self.rows[-1]["seconds"]), int(self.rows[-1]["jobs"]), float(self.rows[-1]["device_seconds"])) \
            if self.rows else (0.0, 0, 0.0)

    def _checkpoint(self, learner: Live) -> Path:
        return self.output / ("live-%d.pt" % learner.recipe.seed)

    def elapsed(self) -> float:
        return time.monotonic() - self.began

    def save(self) -> None:
        for learner in self.learners:
            learner.keep(self._checkpoint(learner))
        with (self.output / "steps.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(self.rows)
        self.saved = time.monotonic()

    def room(self, waiting: int, seconds: float) -> bool:
        """Whether a further batch leaves the time to compare."""
        each = (self.elapsed() - self.ready) / max(1, self.meter.jobs)  # 0 in the beginning
        return self.elapsed() + 1.3 * each * (waiting + 1.3 * self.lines) < seconds

    def learn(self, seconds: float, steps: int) -> None:
        self.lines = len(self.wanted(self.choices()))
        self.ready = self.elapsed()
        queue: Deque[Asked] = collections.deque()
        idle: Deque[Live] = collections.deque(self.learners * (2 if len(self.learners) == 1 else 1))
        while True:
            while idle and idle[0].drawn_steps < steps and self.room(sum(len(a.jobs) for a in queue), seconds):
                queue.append(idle.popleft().ask(self.meter))
            if not queue:
                break
            asked = queue.popleft()
            reward, spread = asked.learner.learn(asked, self.meter.wait(asked.jobs))
            self._note(asked.learner, reward, spread)
            idle.append(asked.learner)
            if time.monotonic() - self.saved > SAVE_EVERY:
                self.save()
        self.save()

    def _note(self, learner: Live, reward: float, spread: float) -> None:
        m = self.meter
        values = (learner.recipe.seed, learner.place.step, round(self.before[0] + self.elapsed(), 1), round(reward, 4), round(spread, 4),
                  self.before[1] + m.jobs, m.failed, round(m.jobs / max(1e-9, m.together), 2), round(self.before[2] + m.device_seconds, 1))
        self.rows.append(dict(zip(COLUMNS, values)))
        print(json.dumps(self.rows[-1]), flush=True)

    def choices(self) -> Dict[str, List[List[int]]]:
        """Of each way to choose: lines of each held-out problem, the first one first."""
        found = {"ranker": [least(p.predicted, FIRST) for p in self.pools], "best recorded": [least(p.times, 1) for p in self.pools]}
        for learner in self.learners:
            for word, before in (("before", True), ("after", False)):
                found["%s, seed %d" % (word, learner.recipe.seed)] = learner.first(self.pools, before)
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


def interval(values: Sequence[float], repeats: int = 2000) -> List[float]:
    """Mean, and 95% by drawing problems."""
    rng = random.Random(7)
    drawn = sorted(statistics.fmean(rng.choices(values, k=len(values))) for _ in range(repeats))
    return [round(v, 3) for v in (statistics.fmean(values), drawn[int(0.025 * repeats)], drawn[int(0.975 * repeats)])]


def summary(each: Dict[str, Dict[str, List[float]]]) -> Dict[str, Any]:
    """Regret of each way over the problems, seeds together; and how much less it is after than before."""
    out: Dict[str, Any] = {}
    for kind in ("first", "best_of_4"):
        groups: Dict[str, List[List[float]]] = collections.defaultdict(list)
        for name, of in each.items():
            groups[name.split(", seed")[0]].append(of[kind])
        means = {name: [statistics.fmean(v) for v in zip(*lists)] for name, lists in groups.items()}
        out[kind] = {name: interval(values) for name, values in means.items()}
        if "after" in means:
            out[kind]["after - before"] = interval([a - b for a, b in zip(means["after"], means["before"])])
    return out


def report(run: Run, learning_seconds: float) -> Dict[str, Any]:
    meter, learned = run.meter, run.meter.jobs
    device = meter.device_seconds
    spent = {name: round(value, 1) for name, value in meter.spent.items() if name not in ("queue", "compile") and value >= 0.05}
    together = round(meter.jobs / max(1e-9, meter.together), 2)
    compared = run.compare()
    first = run.learners[0]
    return {"parameters": first.policy.n_parameters(), "size": first.recipe.size, "context": first.recipe.context,
            "seeds": [learner.recipe.seed for learner in run.learners], "steps": [learner.place.step for learner in run.learners],
            "problems_a_step": first.recipe.problems[2], "samples": first.recipe.samples, "rate": first.recipe.rates[2],
            "learning": {"seconds": round(learning_seconds, 1), "jobs": learned, "failed": meter.failed, "jobs_a_cell": together,
                         "device_seconds": round(device, 1), "jobs_an_hour": round(3600 * learned / max(1e-9, learning_seconds)), "spent": spent},
            "comparing": {"seconds": round(run.elapsed() - learning_seconds, 1), "jobs": meter.jobs - learned,
                          "device_seconds": round(meter.device_seconds - device, 1)},
            "summary": summary(compared["each"]), "held_out": compared}


def live(learners: List[Live], meter: Meter, options: argparse.Namespace) -> Dict[str, Any]:
    run = Run(learners, meter, options.output, options.held_out)
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
    parser.add_argument("--problems", type=int, default=2, help="of a step; default: %(default)s")
    parser.add_argument("--rate", type=float, default=2e-4, help="learning rate; default: %(default)s")
    parser.add_argument("--steps", type=int, default=1000, help="of each seed at most; default: %(default)s")
    parser.add_argument("--seconds", type=float, default=240.0, help="of this call, comparison included; default: %(default)s")
    parser.add_argument("--held-out", type=int, default=12, help="problems to compare on; default: %(default)s")
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    options.began, os.environ["CUDAL2_BENCH"] = began, options.program
    torch.set_num_threads(options.threads)
    signal.signal(signal.SIGTERM, stopped)  # the server ends with this process
    options.output.mkdir(parents=True, exist_ok=True)
    with serving(options.device, ["--queue", "5000", "--quota", "5000"], str(options.output)) as url:
        learners = [Live(policy, options.torch_device, options.problems, options.rate, len(options.policy) == 1) for policy in options.policy]
        try:
            found = live(learners, Meter(Server(url), learners[0], options.device == "cpu"), options)
        except ValueError as error:
            parser.error(str(error))
    (options.output / "stage3.json").write_text(compact(found))
    print(json.dumps(found["summary"]))


def compact(found: Dict[str, Any]) -> str:
    """JSON with one line for each member."""
    return "{\n%s\n}\n" % ",\n".join(" %s: %s" % (json.dumps(name), json.dumps(value)) for name, value in found.items())


if __name__ == "__main__":
    main()
