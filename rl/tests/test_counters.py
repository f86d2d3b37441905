"""Counters in the prompt: packed and read again, told of retrieved lines alone, and an ablation that begins
alike. What needs torch is skipped without it."""
import importlib.util
import json
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from kernel_policy import ablation, counters, records
from kernel_policy.counted import METRICS, WEIGHT
from kernel_policy.split import is_target, split

HAS_TORCH = importlib.util.find_spec("torch") is not None
if HAS_TORCH:
    import torch

    from kernel_policy import model, prompt, train

RECORDS = records.load()
TARGETS = [pool for pool in RECORDS.pools if is_target(pool)]
NAMES = [name for name in METRICS if name != WEIGHT]


def best(pool):
    return pool.lines[pool.times.index(pool.best)]


def rows(pools, value=lambda at: 10.0 * at):
    """The best line of each pool has counters of 0, 10, 20 ... percent, the last one's 100."""
    return [{"problem": pool.problem.text(), "line": RECORDS.lines[best(pool)],
             "metrics": {WEIGHT: 5e4, **{name: 100.0 if pool is pools[-1] else value(at) for at, name in enumerate(NAMES)}}} for pool in pools]


class TestFile(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.path = Path(self.directory.name) / "counters.xz"

    def kept(self, made):
        counters.save(counters.gathered(made, RECORDS), RECORDS, "a GPU", self.path)
        return counters.read(RECORDS, self.path)

    def test_what_was_counted_is_read_again(self):
        found = self.kept(rows(TARGETS[:40]))
        self.assertEqual(found.metrics, NAMES)
        self.assertEqual(len(found.values), 40)
        flag, *values = found.of(TARGETS[7].problem, RECORDS.lines[best(TARGETS[7])])
        self.assertEqual(flag, 1.0)
        for at, value in enumerate(values):
            self.assertAlmostEqual(value, 0.1 * at, delta=0.002)
        self.assertEqual(found.of(TARGETS[50].problem, RECORDS.lines[best(TARGETS[50])]), [0.0] * found.width)

    def test_what_was_not_counted_is_left_out(self):
        found = self.kept(rows(TARGETS[:2]) + [{"problem": TARGETS[2].problem.text(), "line": "multistage", "unavailable": "no"}])
        self.assertEqual(len(found.values), 2)

    def test_another_line_of_the_shape_speaks_for_it(self):
        shape = TARGETS[0].problem.shape
        first, second = [pool for pool in TARGETS if pool.problem.shape == shape]
        found = self.kept(rows([first, TARGETS[50]]))
        line = RECORDS.lines[best(second)]
        self.assertEqual(found.of(second.problem, line)[0], counters.ITS_SHAPE)
        self.assertEqual(found.of(second.problem, line)[1:], found.of(first.problem, RECORDS.lines[best(first)])[1:])

    def test_a_metric_that_the_gpu_lacks_is_left_out_of_all(self):
        made = rows(TARGETS[:3])
        for row in made:
            del row["metrics"][NAMES[1]]
        self.assertEqual(self.kept(made).metrics, [NAMES[0], *NAMES[2:]])

    def test_it_stays_small(self):
        self.kept(rows(TARGETS, lambda at: 1.0 + 7 * at))
        self.assertLess(self.path.stat().st_size, 60000)

    def test_another_file_is_refused_by_its_name(self):
        with self.assertRaisesRegex(ValueError, "counters.xz: no counters"):
            counters.read(RECORDS, self.path)
        with self.assertRaisesRegex(ValueError, "h200.xz: not a file of"):
            counters.read(RECORDS, records.DATA)


class TestAblation(unittest.TestCase):
    def test_counters_that_find_the_best_line_are_ahead(self):
        test = split(RECORDS).test
        def run(context, seed, sign, measured=20480):
            return {"size": "small", "measured": measured, "context": context, "seed": seed, "stages": {"stage 3": [
                {"problem": pool.problem.text(), "scores": [sign * time for time in pool.times]} for pool in test]}}
        runs = [run("neighbours", 2, 1), run("neighbours", 1, 1), run("neighbours+counters", 1, -1), run("neighbours+ranker", 1, -1),
                run("neighbours+ranker+counters", 1, -1, 640)]
        found = {row["context"]: row for row in ablation.ablation(runs)["rows"]}
        self.assertEqual(found["neighbours+counters"]["1"], [0.0])
        self.assertEqual(len(found["neighbours"]["1"]), 2)
        self.assertLess(found["neighbours+counters"]["slower_1"]["high"], 0)
        self.assertNotIn("slower_1", found["neighbours+ranker"])
        self.assertLess(found["neighbours+ranker"]["slower_than_ranker"]["high"], 0)
        self.assertNotIn("slower_1", found["neighbours+ranker+counters"])  # of another length


@unittest.skipUnless(HAS_TORCH, "torch is not installed (rl/requirements.txt): the prompt is not tested")
class TestPrompt(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.path = Path(self.directory.name) / "counters.xz"
        self.split = split(RECORDS)
        counters.save(counters.gathered(rows(TARGETS), RECORDS), RECORDS, "a GPU", self.path)
        self.pools = [pool for pool in self.split.test if is_target(pool)][:3]

    def told(self, context):
        return prompt.Reader(RECORDS, self.split.train, context, self.path).prompt(self.pools)

    def test_neighbours_lines_have_counters_and_the_rankers_have_none(self):
        plain, more = self.told("neighbours+ranker"), self.told("neighbours+ranker+counters")
        self.assertTrue(torch.equal(plain.words, more.words))
        self.assertTrue(torch.equal(plain.relations, more.relations[:, :, :model.N_RELATIONS]))
        counted = more.relations[:, :, model.N_RELATIONS:]
        self.assertEqual(counted.shape[2], 1 + len(NAMES))
        near, ranked = more.source == 1, more.source == 2
        self.assertEqual(float(counted[ranked].abs().sum()), 0.0)
        self.assertEqual(sorted(set(counted[near][:, 0].tolist())), [counters.ITS_SHAPE, counters.ITSELF])
        self.assertEqual(int((counted[near][:, 0] == counters.ITSELF).sum()), 3 * prompt.N_NEIGHBOURS)  # the best of each
        self.assertAlmostEqual(float(counted[near][0, 3]), 0.2, delta=0.002)

    def test_contexts_without_counters_need_no_file(self):
        self.path.unlink()
        self.assertEqual(self.told("neighbours").relations.shape[2], model.N_RELATIONS)
        with self.assertRaisesRegex(ValueError, "no counters"):
            self.told("neighbours+counters")

    def test_training_begins_alike_with_and_without(self):
        policies = []
        for context in ("neighbours", "neighbours+counters"):
            reader = prompt.Reader(RECORDS, self.split.train, context, self.path)
            torch.manual_seed(5)
            policies.append(model.Policy(model.SIZES["tiny"], len(reader.vocabulary), prompt.N_NUMBERS, reader.n_relations).eval())
        plain, more = policies
        first, second = (policy.read(self.told(c))[0][-1][0] for policy, c in zip(policies, ("neighbours", "neighbours+counters")))
        self.assertTrue(torch.allclose(first, second, atol=1e-6))
        with self.assertRaisesRegex(ValueError, "trained with 0 counters .*, here there are %d" % len(NAMES)):
            more.adopt(plain.state_dict())
        plain.adopt(plain.state_dict())

    def test_what_it_is_told_is_learned_from(self):
        policy = model.Policy(model.SIZES["tiny"], 9, prompt.N_NUMBERS, 8)
        given = model.Prompt(torch.randn(1, prompt.N_NUMBERS), torch.tensor([[0, 1, 0]]), torch.tensor([[[4, 5, 0]]]),
                             torch.ones(1, 1, 8), torch.tensor([[1]]))
        policy.read(given)[0][-1][1].sum().backward()
        self.assertGreater(float(policy.relation[0].weight.grad[:, model.N_RELATIONS:].abs().sum()), 0.0)

    def test_a_run_with_counters_trains(self):
        reader = prompt.Reader(RECORDS, self.split.train, "neighbours+counters", self.path)
        with mock.patch.object(train, "Reader", lambda *_: reader):
            trainer = train.Trainer(train.Recipe(size="tiny", context="neighbours+counters", steps=(2, 0, 0), problems=(4, 2, 2)))
            trainer.watched = trainer.watched[:1]
            with mock.patch("builtins.print"):
                trainer.stage(1)
        self.assertTrue(json.dumps(trainer.curve))


if __name__ == "__main__":
    unittest.main()
