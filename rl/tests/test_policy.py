"""The policy itself: that it writes only what may be written, that its likelihoods are right, and that it
learns. Skipped where torch is not installed."""
import importlib.util
import json
import os
import random
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

HAS_TORCH = importlib.util.find_spec("torch") is not None
if HAS_TORCH:
    import torch

    from kernel_policy import closed_loop, grpo, model, train
    from kernel_policy.harness import Outcome, cpu_problem, find_program
    from kernel_policy.prompt import N_NUMBERS

    torch.set_num_threads(1)  # the sizes are tiny, and threads that wait for each other are slow where others compute


@unittest.skipUnless(HAS_TORCH, "torch is not installed (rl/requirements.txt): the policy is not tested")
class TestPolicy(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)
        self.policy = model.Policy(model.SIZES["tiny"], 9, N_NUMBERS).eval()
        lines = torch.tensor([[[2, 4, 1, 0], [2, 5, 6, 1], [3, 4, 1, 0], [3, 7, 8, 1]]])
        self.choices = model.Choices(lines, torch.tensor([[1.0, 1.0, 1.0, 5.0]]))
        self.prompt = model.Prompt(torch.randn(1, N_NUMBERS), torch.tensor([[0, 1, 0]]), torch.tensor([[[4, 5, 0]]]),
                                   torch.randn(1, 1, 5), torch.tensor([[1]]))

    def likelihood(self, lines):
        caches, there = model.repeat(*self.policy.read(self.prompt), lines.shape[1])
        ahead = model.words_along(self.choices, lines, 9)
        return model.log_probabilities(self.policy.follow(lines[0], caches, there), lines[0], ahead)

    def test_likelihoods_of_all_choices_sum_to_one(self):
        self.assertAlmostEqual(float(self.likelihood(self.choices.lines).detach().exp().sum()), 1.0, places=4)

    def test_samples_are_choices_as_often_as_their_likelihood(self):
        lines, places = model.sample(self.policy, self.prompt, self.choices, 4000, torch.Generator().manual_seed(2))
        self.assertTrue(torch.equal(lines[0], self.choices.lines[0][places[0]]))
        share = torch.bincount(places[0], minlength=4) / 4000
        self.assertLess(float((share - self.likelihood(self.choices.lines).exp()).abs().max()), 0.03)

    def test_a_word_at_a_time_is_the_same_as_all_at_once(self):
        lines = self.choices.lines[:, 1:2]
        caches, there = self.policy.read(self.prompt)
        at_once = self.policy.follow(lines[0], caches, there)
        word = None
        for at in range(4):
            logits, caches, there = self.policy.write_one(word, at, caches, there)
            self.assertLess(float((logits - at_once[:, at]).detach().abs().max()), 1e-4)
            word = lines[0][:, at]

    def test_weights_are_where_it_begins(self):
        for parameter in self.policy.head.parameters():
            torch.nn.init.zeros_(parameter)
        chances = self.likelihood(self.choices.lines).exp()
        self.assertLess(float((chances - torch.tensor([1, 1, 1, 5]) / 8).abs().max()), 1e-5)

    def test_advantages_do_not_blow_up_noise(self):
        close = grpo.advantages(torch.tensor([[0.100, 0.101]]), 0.02)
        apart = grpo.advantages(torch.tensor([[0.0, 1.0]]), 0.02)
        self.assertLess(float(close.abs().max()), 0.03)
        self.assertGreater(float(apart.abs().max()), 0.5)

    def test_it_learns_which_line_a_problem_takes(self):
        """A toy in place of the harness: small problems want KC=32, large ones KC=512."""
        learner = closed_loop.Learner(seed=1)
        rng, problems = random.Random(1), [cpu_problem(64, 64, 64), cpu_problem(2048, 2048, 2048)]

        def reward(problem, line):
            return (1.0 if ("KC=32 " if problem.m == 64 else "KC=512 ") in line else 0.0) + rng.gauss(0, 0.05)

        for step in range(60):
            problem = problems[step % 2]
            tokens, lines = learner.draw(problem, 12)
            learner.learn(problem, tokens, [Outcome(reward(problem, line)) for line in lines])
        self.assertIn("KC=32 ", learner.first(problems[0]))
        self.assertIn("KC=512 ", learner.first(problems[1]))

    @unittest.skipUnless(HAS_TORCH and find_program(), "no cudal2-bench is built: the shared loop is not tested")
    def test_two_tasks_share_the_loop_and_go_on(self):
        """Shard 0 learns, the other measures; the same command again measures nothing and comes to the
        same."""
        environment = {**os.environ, "CUDAL2_BENCH": str(Path(find_program()).resolve())}
        with tempfile.TemporaryDirectory() as made:
            def task(index, name):
                command = [sys.executable, "-m", "kernel_policy.closed_loop", "--shared", made + "/d", "--steps", "4", "--output",
                           made + "/" + name, "--cell-seconds", "0.2", "--patience", "120", "--shard", "%d/2" % index]
                return subprocess.Popen(command, cwd=Path(closed_loop.__file__).parents[1], env=environment,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

            tasks = [task(0, "first.json"), task(1, "none.json")]
            told = [one.communicate(timeout=240) for one in tasks]
            self.assertEqual([one.returncode for one in tasks], [0, 0], told)
            again = task(0, "again.json")
            self.assertIsNotNone(again.communicate(timeout=120))
            first, second = (json.loads((Path(made) / name).read_text()) for name in ("first.json", "again.json"))
        self.assertTrue(0 < first["summary"]["cells"] < 10)  # four of training, six at the end
        self.assertEqual(first["summary"]["cells"] + json.loads(told[1][0])["cells"], 10)
        self.assertEqual(second["summary"]["cells"], 0)
        self.assertEqual([step["mean"] for step in first["steps"]], [step["mean"] for step in second["steps"]])
        self.assertEqual(first["final"], second["final"])


@unittest.skipUnless(HAS_TORCH, "torch is not installed (rl/requirements.txt): training is not tested")
class TestTraining(unittest.TestCase):
    """Two steps of each stage, with what is tested afterwards cut short."""

    def run_for(self, output, steps=(3, 2, 2), **more):
        recipe = train.Recipe(size="tiny", context="neighbours+ranker", seed=3, steps=steps, problems=(4, 2, 2), samples=4, every=2)
        split = train.split

        def few(records, fold):
            whole = split(records, fold)
            return train.Split(whole.train, [p for p in whole.validation if train.is_target(p)][:2],
                               [p for p in whole.test if train.is_target(p)][:4])

        with mock.patch.object(train, "split", few), mock.patch("builtins.print"):
            return train.run(recipe, output, **more)

    def outcome(self, output):
        told = json.loads((output / "scores.json").read_text())
        rows = [row.split(",") for row in (output / "curve.csv").read_text().splitlines()]
        timed = rows[0].index("seconds")
        return told["stages"], told["free_writing"], told["measured"], [row[:timed] + row[timed + 1:] for row in rows]

    def test_a_run_that_was_stopped_comes_to_the_same(self):
        with tempfile.TemporaryDirectory() as made:
            whole, parts = Path(made) / "whole", Path(made) / "parts"
            self.assertTrue(self.run_for(whole))
            clock, calls = train.time.monotonic, 0
            for _ in range(20):  # each call has time for one step
                ticks = iter([0.0] * 4 + [1e9] * 1000)
                with mock.patch.object(train, "time", mock.Mock(process_time=lambda: 0.0, monotonic=lambda: next(ticks))):
                    done = self.run_for(parts, minutes=1)
                calls += 1
                if done:
                    break
            self.assertIs(train.time.monotonic, clock)
            self.assertTrue(done)
            self.assertGreater(calls, 3)
            self.assertEqual(self.outcome(whole), self.outcome(parts))
            before = (parts / "scores.json").stat().st_mtime_ns
            self.assertTrue(self.run_for(parts))  # complete: nothing is done again
            self.assertEqual((parts / "scores.json").stat().st_mtime_ns, before)
            with self.assertRaisesRegex(ValueError, "another run"):
                self.run_for(parts, steps=(4, 2, 2))

    def test_many_at_once_are_scored_as_each_alone(self):
        trainer = train.Trainer(train.Recipe(size="tiny", context="neighbours+ranker", seed=3))
        pools = [p for p in trainer.split.test if train.is_target(p)][:5]
        self.assertGreater(len({len(p.lines) for p in pools}), 1)
        with mock.patch.object(trainer, "batches", lambda some: [some[:3], some[3:]]):
            together = trainer.scores_of(pools)
        for pool, scores in zip(pools, together):
            self.assertEqual(len(scores), len(pool.lines))
            self.assertLess(float((scores - trainer.scores(pool)).abs().max()), 1e-4)
        self.assertEqual([len(some) for some in trainer.batches(pools)], [1] * 5)
        with mock.patch.object(trainer, "device", torch.device("meta")):
            self.assertEqual([len(some) for some in trainer.batches(pools * 4)], [16, 4])

    def test_every_tensor_is_made_where_the_policy_is(self):
        """There is no GPU here: what names no device is made where nothing can be computed."""
        policy = model.Policy(model.SIZES["tiny"], 9, N_NUMBERS)
        lines = torch.tensor([[[2, 4, 1, 0], [2, 5, 6, 1]]])
        choices, prompt = model.Choices(lines, torch.ones(1, 2)), model.Prompt(
            torch.randn(1, N_NUMBERS), torch.tensor([[0, 1, 0]]), torch.zeros(1, 0, 1, dtype=torch.long), torch.zeros(1, 0, 5),
            torch.zeros(1, 0, dtype=torch.long))
        with torch.device("meta"):
            drawn, _ = model.sample(policy, prompt, choices, 3, torch.Generator("cpu"))
            free = model.write_freely(policy, prompt, 3, torch.Generator("cpu"))
            ahead = model.words_along(choices, drawn, 9)
        self.assertEqual({drawn.device.type, free.device.type, ahead.device.type}, {"cpu"})


if __name__ == "__main__":
    unittest.main()
