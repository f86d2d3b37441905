"""Shapes held out in turn: that each is once, that nothing of them reaches the policy, and what is made of
its scores."""
import dataclasses
import importlib.util
import random
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from kernel_policy import folds, records, split
from kernel_policy.search import Neighbours

HAS_TORCH = importlib.util.find_spec("torch") is not None
if HAS_TORCH:
    import torch

    from kernel_policy import prompt, train

    torch.set_num_threads(1)

RECORDS = records.load()
PARTS = {fold: split.split(RECORDS, fold) for fold in range(1, split.N_FOLDS + 1)}


def shapes(pools):
    return {p.problem.shape for p in pools}


def scrambled(whole, held_out):
    """The same records but for these shapes: their times and what the model expected are nonsense."""
    rng = random.Random(3)

    def nonsense(pool):
        return dataclasses.replace(pool, times=[rng.uniform(1e3, 1e9) for _ in pool.times],
                                   predicted=[rng.uniform(1e3, 1e9) for _ in pool.times])

    return records.Records(whole.lines, whole.usual, [nonsense(p) if p.problem.shape in held_out else p for p in whole.pools])


class TestSplit(unittest.TestCase):
    def test_each_target_shape_is_held_out_once(self):
        targets = sorted(shapes(filter(split.is_target, RECORDS.pools)))
        self.assertEqual(sorted(s for parts in PARTS.values() for s in shapes(parts.test)), targets)
        for parts in PARTS.values():
            self.assertIn(len(shapes(parts.test)), (177, 178))
            self.assertEqual(len(shapes(parts.validation)), split.N_VALIDATION)
            self.assertFalse(shapes(parts.test) & shapes(parts.train + parts.validation))
            self.assertFalse(shapes(parts.validation) & shapes(parts.train))
            self.assertEqual(len(parts.train + parts.validation + parts.test), len(RECORDS.pools))

    def test_there_is_no_sixth(self):
        with self.assertRaisesRegex(ValueError, "fold 6: there are 5"):
            split.split(RECORDS, 6)

    def test_neighbours_are_of_shapes_that_are_not_held_out(self):
        for parts in PARTS.values():
            near = Neighbours(parts.train)
            found = shapes(p for pool in parts.test[::20] for p in near.of(pool.problem, 8))
            self.assertFalse(found & shapes(parts.test + parts.validation))
            self.assertTrue(found)


def run(fold, seed, sign, **more):
    """Scores that put the fastest line first, or the slowest."""
    pools = [p for p in PARTS[fold].test if split.is_target(p)]
    scores = [{"problem": p.problem.text(), "scores": [-sign * t for t in p.times]} for p in pools]
    return {"context": "neighbours", "size": "small", "measured": 1, "fold": fold, "seed": seed, "stages": {"stage 3": scores}, **more}


class TestFolds(unittest.TestCase):
    def test_who_knows_the_best_is_ahead_of_the_model_and_level_with_trees_that_do(self):
        trees = {p.problem.text(): p.times for p in RECORDS.pools if split.is_target(p)}
        found = folds.folds_of(RECORDS, [run(fold, 1, 1) for fold in PARTS], trees)
        rows = [row for fold in found for row in folds.rows_of(fold, fold.seeds[1])]
        told = folds.summary(found, rows, split.target_shapes(RECORDS)[:100], repeats=50)
        self.assertEqual((told["shapes"], told["regret"]["policy"]["1"]["mean"]), (888, 0.0))
        ranker, same = told["compared"]["first_against_ranker"], told["compared"]["first_against_trees"]
        self.assertLess(ranker["low"], ranker["mean"])
        self.assertLess(ranker["mean"], ranker["high"])
        self.assertLess(max(ranker["high"], ranker["folds_high"], ranker["without_the_split"]["high"]), 0)
        self.assertEqual((same["mean"], same["ahead"], same["behind"]), (0.0, 0, 0))
        self.assertEqual(told["of_seeds"]["first_against_ranker"], [ranker["mean"]])
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "folds.csv"
            folds.write_rows(rows, path)
            lines = path.read_text().splitlines()
            slow = folds.folds_of(RECORDS, [run(fold, 1, -1) for fold in PARTS], trees)
            whole = [row for fold in slow for row in folds.rows_of(fold, fold.seeds[1])]
            known = folds.read_trees(path)
            del trees
            bare = folds.folds_of(RECORDS, [run(fold, 1, -1) for fold in PARTS], None)
            again = [row for fold in bare for row in folds.rows_of(fold, fold.seeds[1], known)]
            for a, b in zip(whole, again):  # trees from the file, or fitted
                self.assertLess(max(abs(x - y) for x, y in zip(a.slower, b.slower)), 0.031)
            self.assertEqual(list(folds.summary(bare, again, [], 20, known)["compared"]), list(folds.COMPARED))
        self.assertEqual((len(lines), lines[0]), (889, "m,n,k,fold,first_against_ranker,four_against_rankers_32,"
                                                       "first_against_trees,four_against_trees_32"))

    def test_samples_of_who_does_not_know_are_behind_the_model_and_trees_may_be_left_out(self):
        even = [run(fold, 1, 0) for fold in PARTS]  # every line as likely
        sure = [run(fold, 1, 1) for fold in PARTS]  # nanoseconds of log-likelihood: the fastest always
        firsts = []
        for runs in (even, sure):
            found = folds.folds_of(RECORDS, runs, None, samples=True)
            rows = [row for fold in found for row in folds.rows_of(fold, fold.seeds[1])]
            told = folds.summary(found, rows, split.target_shapes(RECORDS)[:100], repeats=50)
            self.assertEqual(list(told["compared"]), ["first_against_ranker", "four_against_rankers_32"])
            firsts.append(told["compared"]["first_against_ranker"])
        self.assertGreater(firsts[0]["low"], 5)
        self.assertLess(firsts[1]["high"], 0)

    def test_runs_that_do_not_belong_together_are_refused(self):
        whole = [run(fold, 1, 1) for fold in PARTS]
        for wrong, runs in (("the same seeds", whole[1:]), ("the same seeds", whole + [run(1, 2, 1)]), ("there twice", whole + whole[:1]),
                            ("different policies", whole[1:] + [run(1, 1, 1, size="tiny")]),
                            ("not ended", whole[1:] + [run(1, 1, 1, stages={})]),
                            ("other problems", whole[:4] + [{**whole[0], "fold": 5}])):
            with self.assertRaisesRegex(ValueError, wrong):
                folds.folds_of(RECORDS, runs, {p.problem.text(): p.times for p in RECORDS.pools})

    def test_shapes_are_drawn_within_their_fold(self):
        rows = [folds.Row((64, 64, at), fold, (10.0 * fold,) * 4) for fold in range(1, 6) for at in range(9)]
        found = folds.interval(rows, 0, 100)
        self.assertEqual(found["low"], found["high"])  # what folds differ by is not drawn...
        self.assertLess(folds.between_folds(rows, 0)["folds_low"], found["low"] - 5)  # ...but told


@unittest.skipUnless(HAS_TORCH, "torch is not installed (rl/requirements.txt): leaks into a training are not looked for")
class TestLeaks(unittest.TestCase):
    def test_prompts_hold_nothing_that_was_measured_of_a_held_out_shape(self):
        parts = PARTS[2]
        nonsense = split.split(scrambled(RECORDS, shapes(parts.test + parts.validation)), 2)
        told = []
        for each in (parts, nonsense):
            pools = [dataclasses.replace(mine, predicted=true.predicted)  # what the model expects, it is told
                     for mine, true in zip(each.test[::40] + each.train[::400], parts.test[::40] + parts.train[::400])]
            reader = prompt.Reader(RECORDS, each.train, "neighbours+ranker")
            told.append((*reader.prompt(pools), *reader.choices(pools)))
        self.assertTrue(all(torch.equal(a, b) for a, b in zip(*told)))

    def test_a_policy_is_the_same_whatever_was_measured_of_held_out_shapes(self):
        recipe = train.Recipe(size="tiny", context="neighbours+ranker", steps=(3, 2, 2), problems=(8, 4, 4), samples=4, fold=3)
        policies = []
        for whole in (RECORDS, scrambled(RECORDS, shapes(PARTS[3].test))):
            with mock.patch.object(train, "load", lambda _, whole=whole: whole), mock.patch("builtins.print"):
                trainer = train.Trainer(recipe)
                trainer.watched = trainer.watched[:2]
                for stage in (1, 2, 3):
                    trainer.stage(stage)
            policies.append((trainer.policy.state_dict(), [row["reward"] for row in trainer.curve[1:]]))
        (one, rewards), (other, again) = policies
        self.assertEqual(rewards, again)
        self.assertTrue(all(torch.equal(one[name], other[name]) for name in one))


if __name__ == "__main__":
    unittest.main()
