"""Stage 3 with measured rewards: against a stand-in for the server that gives recorded times. Skipped where
torch is not installed."""
import argparse
import csv
import importlib.util
import json
import math
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from kernel_policy import harness

HAS_TORCH = importlib.util.find_spec("torch") is not None
if HAS_TORCH:
    import torch

    from kernel_policy import live, train

    torch.set_num_threads(1)


class StandIn:
    """A server: jobs by content, so that the same line is the same job."""

    def __init__(self, reward):
        self.reward, self.jobs, self.batches = reward, [], []

    def submit(self, batch):
        self.batches.append(batch)
        for sent in batch:
            if sent not in self.jobs:
                self.jobs.append(sent)
        return [str(self.jobs.index(sent)) for sent in batch]

    def wait(self, ids):
        return [{"verdict": "ok" if self.reward(self.jobs[int(i)]) else "wrong_result", "measuring_seconds": 0.1, "together": 2,
                 "spent": {"watch": 0.05, "parts": {}}, "reward": self.reward(self.jobs[int(i)])} for i in ids]


@unittest.skipUnless(HAS_TORCH, "torch is not installed (rl/requirements.txt): the live policy is not tested")
class TestLive(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.out = Path(self.directory.name)
        self.policies = []
        for seed in (1, 2):
            trainer = train.Trainer(train.Recipe(size="tiny", context="none", seed=seed, steps=(0, 0, 0)))
            self.policies.append(self.out / ("policy-%d.pt" % seed))
            torch.save({"recipe": train.asdict(trainer.recipe), "state": trainer.policy.state_dict()}, self.policies[-1])
        self.times = {}

    @staticmethod
    def key(sent):
        return sent["problem"], sent["layout"], sent["kernel"], tuple(sorted(sent["parameters"].items()))

    def begin(self, count):
        learners = [live.Live(policy, problems=2, early=count == 1) for policy in self.policies[:count]]
        self.server = StandIn(lambda sent: {"value": self.times[self.key(sent)]})
        meter = live.Meter(self.server, learners[0])
        for pool in learners[0].split.train + learners[0].split.test:
            if train.is_target(pool):
                for place, time in enumerate(pool.times):
                    self.times[self.key(meter.submission((pool, place), live.LEARNING))] = pool.problem.reference_ns / time
        return learners, meter

    def run_for(self, count, steps):
        learners, meter = self.begin(count)
        options = argparse.Namespace(output=self.out, held_out=5, seconds=1e6, steps=steps, began=live.time.monotonic())
        return live.live(learners, meter, options)

    def test_learns_compares_and_goes_on(self):
        found = self.run_for(2, 2)
        self.assertEqual((found["seeds"], found["steps"]), ([1, 2], [2, 2]))
        self.assertEqual(found["learning"]["failed"], 0)
        self.assertEqual(found["learning"]["jobs_a_cell"], 2)
        each = found["held_out"]["each"]
        self.assertEqual(set(each), {"ranker", "best recorded", "before, seed 1", "after, seed 1", "before, seed 2", "after, seed 2"})
        for of in each.values():
            self.assertTrue(all(0 <= b <= f for f, b in zip(of["first"], of["best_of_4"])))
        self.assertEqual(set(each["best recorded"]["first"]), {0.0})
        self.assertIn("after - before", found["summary"]["first"])
        again = self.run_for(2, 3)
        self.assertEqual(again["steps"], [3, 3])
        with (self.out / "steps.csv").open(newline="") as file:
            rows = [(row["seed"], row["step"]) for row in csv.DictReader(file)]
        self.assertEqual(sorted(rows), [(seed, str(step)) for seed in "12" for step in (1, 2, 3)])

    def test_seeds_have_the_same_problems_and_one_seed_draws_ahead(self):
        learners, meter = self.begin(2)
        a, b = (learner.ask(meter) for learner in learners)
        self.assertEqual([p.problem for p in a.drawn.pools], [p.problem for p in b.drawn.pools])
        self.assertIsNone(a.by)
        single, meter = self.begin(1)
        first, second = single[0].ask(meter), single[0].ask(meter)
        for asked in (first, second):
            single[0].learn(asked, meter.wait(asked.jobs))
        self.assertEqual(single[0].place.step, 2)
        self.assertEqual(len(second.by), 32)

    def test_what_failed_costs_and_what_is_not_known_does_not(self):
        learners, meter = self.begin(1)
        self.server.reward = lambda sent: {"value": 0}
        asked = learners[0].ask(meter)
        self.assertEqual(set(meter.wait(asked.jobs).values()), {live.PENALTY})
        self.server.reward = lambda sent: None
        found = meter.wait(asked.jobs)
        self.assertEqual(set(found.values()), {None})
        self.assertEqual(learners[0].learn(asked, found), (0.0, 0.0))
        self.assertTrue(all(math.isfinite(float(p.detach().sum())) for p in learners[0].policy.parameters()))

    def test_the_same_line_is_one_job_and_a_checkpoint_of_another_run_is_refused(self):
        learners, meter = self.begin(1)
        pool = learners[0].wanted[0]
        self.assertEqual(len(meter.submit([(pool, 0), (pool, 1), (pool, 0)], live.LEARNING)), 2)
        learners[0].keep(self.out / "live-1.pt")
        other = live.Live(self.policies[0], problems=3)
        with self.assertRaisesRegex(ValueError, "another run"):
            other.resume(self.out / "live-1.pt")

    @unittest.skipUnless(harness.find_program(), "no cudal2-bench is built: the live policy is not tested with the real server")
    def test_the_command_with_the_real_server(self):
        command = [sys.executable, "-m", "kernel_policy.live", "--policy", *map(str, self.policies), "--program", str(harness.find_program()),
                   "--device", "cpu", "--threads", "1", "--steps", "1", "--held-out", "2", "--output", str(self.out / "live")]
        done = subprocess.run(command, cwd=Path(__file__).parents[1], capture_output=True, text=True, timeout=300)
        if "serve does not start" in done.stderr:
            self.skipTest(done.stderr.strip().splitlines()[-1])
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads((self.out / "live" / "stage3.json").read_text())
        self.assertEqual((found["steps"], found["learning"]["failed"]), ([1, 1], 0))
        self.assertGreater(found["learning"]["jobs"], 0)


if __name__ == "__main__":
    unittest.main()
