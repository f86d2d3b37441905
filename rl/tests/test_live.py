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

    from kernel_policy import gain, live, rehearse, train

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

    def begin(self, count, problems=2):
        learning = live.Learners([live.Live(policy) for policy in self.policies[:count]], problems, 2)
        first = learning.learners[0]
        pools = {(*p.problem.shape, p.problem.layout): p for p in first.split.train + first.split.test if train.is_target(p)}
        self.server = StandIn(lambda sent: {"value": self.recorded(meter, pools, sent)})
        meter = live.Meter(self.server, first.records)
        return learning, meter

    def recorded(self, meter, pools, sent):
        """The ratio that the records have of a submission; of a problem's lines all at once."""
        if self.key(sent) not in self.times:
            pool = pools[(*map(int, sent["problem"].split("x")), sent["layout"])]
            for place, time in enumerate(pool.times):
                self.times[self.key(meter.submission((pool, place), live.LEARNING))] = pool.problem.reference_ns / time
        return self.times[self.key(sent)]

    def run_for(self, count, steps):
        learning, meter = self.begin(count)
        options = argparse.Namespace(output=self.out, held_out=5, seconds=1e6, steps=steps, began=live.time.monotonic())
        return live.live(learning, meter, options)

    def test_learns_compares_and_goes_on(self):
        found = self.run_for(2, 2)
        self.assertEqual((found["seeds"], found["steps"], found["updates"], found["problems"]), ([1, 2], 2, 4, 4))
        self.assertEqual(found["learning"]["failed"], 0)
        self.assertEqual(found["learning"]["jobs"], found["lines"])
        self.assertEqual(found["learning"]["jobs_a_cell"], 2)
        each = found["held_out"]["each"]
        self.assertEqual(set(each), {"ranker", "best recorded", "before, seed 1", "after, seed 1", "before, seed 2", "after, seed 2"})
        for of in each.values():
            self.assertTrue(all(0 <= b <= f for f, b in zip(of["first"], of["best_of_4"])))
        self.assertEqual(set(each["best recorded"]["first"]), {0.0})
        self.assertIn("after - before", found["summary"]["first"])
        again = self.run_for(2, 3)
        self.assertEqual((again["steps"], again["updates"], again["problems"]), (3, 6, 6))
        with (self.out / "steps.csv").open(newline="") as file:
            self.assertEqual([row["step"] for row in csv.DictReader(file)], ["1", "2", "3"])

    def test_seeds_share_what_is_measured_and_no_problem_comes_twice(self):
        learning, meter = self.begin(2)
        first, second = learning.ask(meter), learning.ask(meter)
        self.assertFalse({p.problem for p in first.pools} & {p.problem for p in second.pools})
        for row in first.places:
            self.assertTrue(1 <= len(row) <= learning.n_samples)
        learning.learn(first, meter.wait(first.jobs))
        self.assertEqual([learner.place.step for learner in learning.learners], [2, 2])
        self.assertEqual(live.shares(16, 3), [6, 5, 5])

    def test_updates_make_fast_lines_likelier(self):
        learning, _ = self.begin(1)
        learner, pools = learning.learners[0], learning.order[:4]
        groups = [live.Group(p, list(range(len(p.times))), [learner.reward(p, i) for i in range(len(p.times))]) for p in pools]

        def expected():
            return [gain.of_pool(p, learner.scores(p))[0] for p in pools]

        before = expected()
        for _ in range(20):
            learner.update(groups)
        self.assertTrue(all(b > a for b, a in zip(before, expected())))

    def test_to_be_surer_of_the_same_lines_is_no_gain(self):
        scores = [torch.tensor([-0.5, -1.5, -2.5]), torch.tensor([-3.0, -0.1])]
        for power in (0.5, 1.0, 3.0):
            found = gain.as_sure(scores, gain.entropy([power * s for s in scores]))
            for s, one in zip(scores, found):
                self.assertLess(float((one - power * s).abs().max()), 1e-3)

    def test_what_failed_costs_and_what_is_not_known_does_not(self):
        learning, meter = self.begin(1)
        self.server.reward = lambda sent: {"value": 0}
        asked = learning.ask(meter)
        self.assertEqual(set(meter.wait(asked.jobs).values()), {live.PENALTY})
        self.server.reward = lambda sent: None
        found = meter.wait(asked.jobs)
        self.assertEqual(set(found.values()), {None})
        self.assertEqual((learning.learn(asked, found), learning.known), ((0.0, 0.0), []))
        self.assertTrue(all(math.isfinite(float(p.detach().sum())) for p in learning.learners[0].policy.parameters()))

    def test_the_same_line_is_one_job_and_a_checkpoint_of_another_run_is_refused(self):
        learning, meter = self.begin(1)
        pool = learning.order[0]
        self.assertEqual(len(meter.submit([(pool, 0), (pool, 1), (pool, 0)], live.LEARNING)), 2)
        learning.keep(self.out)
        other, _ = self.begin(1, problems=3)
        with self.assertRaisesRegex(ValueError, "another run"):
            other.resume(self.out)

    def test_what_was_kept_is_read_as_a_policy(self):
        learning, meter = self.begin(2)
        asked = learning.ask(meter)
        learning.learn(asked, meter.wait(asked.jobs))
        learning.keep(self.out)
        told = self.out / "gain.json"
        done = subprocess.run([sys.executable, "-m", "kernel_policy.gain", "--before", *map(str, self.policies), "--after",
                               str(self.out / "live-1.pt"), str(self.out / "live-2.pt"), "-o", str(told)], cwd=Path(__file__).parents[1],
                              capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(told.read_text())["sample"]
        self.assertNotEqual(found["before"], found["after"])
        low, high = found["after - before"][1:]
        self.assertTrue(low <= found["after"] - found["before"] <= high)

    def test_a_rehearsal_asks_the_records(self):
        learning, _ = self.begin(2)
        meter = rehearse.Recorded(learning.learners[0], 0.0)
        rehearse.rehearse(learning, meter, 2)
        self.assertEqual((learning.step, len(learning.known)), (2, len({g.pool.problem for g in learning.known})))
        for group in learning.known:
            self.assertEqual(group.rewards, [learning.learners[0].reward(group.pool, i) for i in group.places])

    @unittest.skipUnless(harness.find_program(), "no cudal2-bench is built: the live policy is not tested with the real server")
    def test_the_command_with_the_real_server(self):
        command = [sys.executable, "-m", "kernel_policy.live", "--policy", *map(str, self.policies), "--program", str(harness.find_program()),
                   "--device", "cpu", "--threads", "1", "--steps", "1", "--held-out", "2", "--output", str(self.out / "live")]
        done = subprocess.run(command, cwd=Path(__file__).parents[1], capture_output=True, text=True, timeout=300)
        if "serve does not start" in done.stderr:
            self.skipTest(done.stderr.strip().splitlines()[-1])
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads((self.out / "live" / "stage3.json").read_text())
        self.assertEqual((found["steps"], found["learning"]["failed"]), (1, 0))
        self.assertGreater(found["learning"]["jobs"], 0)


if __name__ == "__main__":
    unittest.main()
