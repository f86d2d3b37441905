"""The policy that goes on with measured rewards: against a stand-in that gives recorded times. Skipped where
torch is not installed."""
import importlib.util
import math
import tempfile
import unittest
from pathlib import Path

HAS_TORCH = importlib.util.find_spec("torch") is not None
if HAS_TORCH:
    import torch

    from kernel_policy import live, train

    torch.set_num_threads(1)


@unittest.skipUnless(HAS_TORCH, "torch is not installed (rl/requirements.txt): the live policy is not tested")
class TestLive(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        out = Path(self.directory.name)
        trainer = train.Trainer(train.Recipe(size="tiny", context="none", steps=(0, 0, 0)))
        trainer.watched = []
        train.torch.save({"recipe": train.asdict(trainer.recipe), "state": trainer.policy.state_dict()}, out / "policy.pt")
        self.batches = []
        self.live = live.Live(out / "policy.pt", self.outcomes, problems=2)
        self.times = {}
        for pool in self.live.split.train + self.live.split.test:
            if train.is_target(pool):
                for place, time in enumerate(pool.times):
                    sent = self.live._submission(pool, place)
                    self.times[self.key(sent)] = pool.problem.reference_ns / time

    @staticmethod
    def key(sent):
        return sent["problem"], sent["kernel"], tuple(sorted(sent["parameters"].items()))

    def outcomes(self, batch):
        self.batches.append(batch)
        return [{"verdict": "ok", "reward": {"value": self.times[self.key(sent)]}, "measuring_seconds": 0.1} for sent in batch]

    def test_learns_from_what_the_server_says(self):
        found = live.run(self.live, 60.0, 2, 5)
        self.assertEqual([row["step"] for row in found["steps"]], [1, 2])
        self.assertEqual(len(self.batches), 3)  # two steps, and all of the comparison at once
        self.assertEqual(found["jobs"], sum(map(len, self.batches[:2])))
        self.assertLessEqual(found["jobs"], 2 * 2 * 16)
        self.assertEqual({len(row["each"]) for row in found["held_out"].values()}, {5})
        best, ranker = found["held_out"]["best recorded"], found["held_out"]["ranker"]
        self.assertTrue(all(b >= r - 0.3 for b, r in zip(best["each"], ranker["each"])))

    def test_a_line_that_was_drawn_twice_is_one_job(self):
        pool = next(p for p in self.live.split.train if train.is_target(p))
        rewards = self.live.rewards([pool], [[0, 1, 0, 0]])
        self.assertEqual(len(self.batches[0]), 2)
        self.assertEqual(rewards[0][0], rewards[0][2])
        self.assertAlmostEqual(rewards[0][0], math.log(self.times[self.key(self.batches[0][0])]))

    def test_what_failed_costs_a_penalty(self):
        self.live.outcomes = lambda batch: [{"verdict": "wrong_result", "reward": {"value": 0}} for _ in batch]
        pool = next(p for p in self.live.split.train if train.is_target(p))
        self.assertEqual(self.live.rewards([pool], [[0]]), [[live.PENALTY]])
        self.assertEqual(self.live.failed, 1)


if __name__ == "__main__":
    unittest.main()
