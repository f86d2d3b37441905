"""What needs no torch: the packed records, the split, the offline environment, the searches; and the live
environment, where cudal2-bench is built. Run by tests of the project and by `python -m unittest discover -s
rl/tests -t rl`."""
import math
import random
import tempfile
import unittest
import xml.dom.minidom
from pathlib import Path

from kernel_policy import compare, env, figure, harness, lines, records, search, split

LINES = ["tiny BM=16 BN=16", "tiny BM=32 BN=16", "wide BM=128 BN=128", "wide BM=128 BN=128 SPLIT_K=4", "wide BM=64 BN=256"]
USUAL = {"tiny": {"BM": 16, "BN": 16}, "wide": {"BM": 128, "BN": 128, "SPLIT_K": 1}}


def problem(m, layout="nn", reference=1000.0):
    return records.Problem(m, 64, 64, layout, "f32", "offline", reference)


def made():
    return records.Records(LINES, USUAL, [
        records.Pool(problem(64), [0, 1, 3], [1000.0, 1100.0, 2000.0], [900.0, 800.0, 1500.0]),
        records.Pool(problem(128), [1, 2, 3, 4], [500.0, 400.0, 800.0, 410.0], [500.0, 600.0, 700.0, 800.0]),
        records.Pool(problem(128, reference=0.0), [0, 1], [500.0, 2000.0], [1.0, 1.0])])


class TestRecords(unittest.TestCase):
    def test_packed_file_gives_back_what_was_packed(self):
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "records.xz"
            records.save(made(), path)
            back = records.load(path)
        self.assertEqual((back.lines, back.usual), (LINES, USUAL))
        for one, other in zip(made().pools, back.pools):
            self.assertEqual((one.problem, one.lines), (other.problem, other.lines))
            for a, b in zip(one.times + one.predicted, other.times + other.predicted):
                self.assertLess(abs(a / b - 1), 0.001)

    def test_another_file_is_refused_by_name(self):
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "not.xz"
            path.write_bytes(b"not xz")
            with self.assertRaisesRegex(ValueError, "not.xz: not a file of cudal2-rl"):
                records.load(path)

    def test_committed_records_load_and_their_test_shapes_are_held_out(self):
        whole = records.load()
        parts = split.split(whole)
        held_out = {p.problem.shape for p in parts.test}
        self.assertEqual(len(held_out), 100)
        self.assertFalse(held_out & {p.problem.shape for p in parts.train + parts.validation})
        self.assertEqual(len(parts.train) + len(parts.validation) + len(parts.test), len(whole.pools))


class TestEnvironment(unittest.TestCase):
    def test_reward_is_the_logarithm_of_the_recorded_speedup(self):
        world = env.OfflineEnvironment(made(), made().pools[0])
        self.assertAlmostEqual(world.measure("wide BM=128 BN=128 SPLIT_K=4"), math.log(0.5))
        self.assertAlmostEqual(world.regret(), 1.0)

    def test_what_was_never_measured_has_no_reward_and_no_regret(self):
        world = env.OfflineEnvironment(made(), made().pools[0])
        self.assertIsNone(world.measure("wide BM=64 BN=256"))
        self.assertEqual((world.missed, world.regret()), (1, math.inf))

    def test_terms_of_equation_3(self):
        plain = env.RewardTerms(alpha=2.0, beta=0.1, logarithm=False)
        self.assertAlmostEqual(plain.reward(500.0, 1000.0, 4, deviation=0.25), 2.0 - 0.5 - 0.4)

    def test_without_a_baseline_the_pool_is_the_reference(self):
        world = env.OfflineEnvironment(made(), made().pools[2])
        self.assertAlmostEqual(world.measure("tiny BM=16 BN=16"), math.log(2))

    def test_regret_falls_with_the_budget(self):
        self.assertEqual(env.regrets([3.0, 2.0, 4.0], [2, 0, 1], [1, 2, 64]), [1.0, 0.5, 0.0])


class TestSearch(unittest.TestCase):
    def test_each_order_has_the_whole_pool_once(self):
        whole, rng = made(), random.Random(1)
        pool = whole.pools[1]
        orders = [search.random_order(pool, rng), search.ranker_order(pool), search.Neighbours(whole.pools).order(pool),
                  search.spread_order(pool, search.configurations(whole)),
                  search.evolution_order(pool, search.configurations(whole), rng, start=2)]
        for order in orders:
            self.assertEqual(sorted(order), [0, 1, 2, 3])

    def test_neighbours_never_show_the_shape_itself(self):
        whole = made()
        for pool in whole.pools:
            shapes = {p.problem.shape for p in search.Neighbours(whole.pools).of(pool.problem, 9)}
            self.assertNotIn(pool.problem.shape, shapes)

    def test_evolution_goes_on_from_the_best(self):
        """Of a pool whose time is the number of parameters away from one line, it finds that line early."""
        names = [chr(ord("A") + i) for i in range(6)]
        texts = ["k " + " ".join("%s=%d" % (n, code >> i & 1) for i, n in enumerate(names)) for code in range(64)]
        usual = {"k": {n: 0 for n in names}}
        times = [1.0 + bin(code ^ 0b101101).count("1") for code in range(64)]
        whole = records.Records(texts, usual, [records.Pool(problem(64), list(range(64)), times, times)])
        values, rng = search.configurations(whole), random.Random(3)
        steps = [search.evolution_order(whole.pools[0], values, rng).index(0b101101) for _ in range(30)]
        self.assertLess(sum(steps) / 30, 20)  # 31.5 by chance

    def test_draws_without_replacement_follow_the_scores(self):
        rng = random.Random(5)
        firsts = [compare.sampled([math.log(0.7), math.log(0.2), math.log(0.1)], rng)[0] for _ in range(2000)]
        self.assertAlmostEqual(firsts.count(0) / 2000, 0.7, delta=0.04)
        self.assertEqual(compare.likeliest([-2.0, -1.0, -3.0]), [1, 0, 2])


class TestComparison(unittest.TestCase):
    def test_difference_is_the_geometric_mean_over_shapes(self):
        pools = made().pools[:2]
        a, b = [[10.0] * 6, [21.0] * 6], [[0.0] * 6, [0.0] * 6]
        found = compare.difference(pools, a, b, 0, 5, repeats=200)
        self.assertAlmostEqual(found["mean"], 100 * (math.sqrt(1.1 * 1.21) - 1), places=2)
        self.assertTrue(found["low"] <= found["mean"] <= found["high"])
        self.assertEqual(compare.difference(pools, a, a, 0, 0, repeats=20), {"mean": 0.0, "low": 0.0, "high": 0.0})

    def test_scores_of_other_problems_are_refused(self):
        with self.assertRaisesRegex(ValueError, "other problems"):
            compare.of_run(made().pools[:1], [{"problem": "1x1x1 nn f32 offline", "scores": [0.0, 0.0, 0.0]}])

    def test_a_run_is_put_in_the_order_of_its_scores(self):
        pool = made().pools[0]
        likeliest, _ = compare.of_run([pool], [{"problem": pool.problem.text(), "scores": [-3.0, -1.0, -2.0]}])
        self.assertAlmostEqual(likeliest[0][0], 10.0)
        self.assertAlmostEqual(likeliest[0][1], 0.0)

    def test_the_picture_is_xml_with_a_line_for_each_method_and_run(self):
        table = {"f32 offline": {str(b): {"mean": 100.0 / b} for b in compare.BUDGETS}}
        found = {"budgets": compare.BUDGETS, "methods": {"random": table, "ranker": table},
                 "policies": {"none, stage 3, likeliest": table, "none, stage 1, likeliest": table}}
        rows = [{"context": "none", "seed": str(seed), "stage": stage, "step": step, "regret_1": "3", "regret_sample": "4"}
                for seed in (1, 2) for stage, step in (("0", "0"), ("1", "200"), ("2", "100"), ("3", "60"))]
        parts = figure.regret_panel(found) + figure.curve_panel(rows)
        tree = xml.dom.minidom.parseString("<svg>%s</svg>" % "".join(parts))
        lines = [e.getAttribute("stroke") for e in tree.getElementsByTagName("polyline")]
        self.assertEqual(lines.count(figure.COLOURS["none"]), 1 + 2 * 2)
        self.assertEqual(lines.count(figure.COLOURS["ranker"]), 1)


class TestLines(unittest.TestCase):
    def test_lines_and_tokens(self):
        vocabulary = lines.Vocabulary(LINES)
        for line in LINES:
            tokens = vocabulary.encode(line)
            self.assertEqual((vocabulary.decode(tokens), tokens[-1]), (line, lines.END))
        with self.assertRaises(KeyError):
            vocabulary.encode("tiny BM=17")

    def test_left_out_parameters_have_their_usual_value(self):
        self.assertEqual(lines.values_of("wide BM=64 BN=256", USUAL), ("wide", {"BM": 64, "BN": 256, "SPLIT_K": 1}))
        a, b = (lines.values_of(line, USUAL) for line in LINES[2:4])
        self.assertEqual((lines.difference(a, b), lines.difference(a, lines.values_of(LINES[0], USUAL))), (1, 99))


@unittest.skipUnless(harness.find_program(), "no cudal2-bench is built: the live environment is not tested")
class TestLive(unittest.TestCase):
    def test_rewards_come_from_a_run_and_what_does_not_compile_says_why(self):
        live = harness.CpuHarness(cell_seconds=0.5)
        try:
            good, slow, broken = live.measure(harness.cpu_problem(64, 64, 64), [
                "blocked KC=256 MC=96 NC=256 OPT=3", "blocked KC=32 MC=12 NC=32 OPT=0", "blocked KC=no MC=96 NC=256 OPT=3"])
        finally:
            live.close()
        self.assertAlmostEqual(good.reward - slow.reward, math.log(slow.time_ns / good.time_ns))
        self.assertEqual((broken.reward, broken.time_ns), (harness.PENALTY, None))
        self.assertIn("error", broken.why)
        self.assertEqual((live.runs, live.compiled), (1, 3))


if __name__ == "__main__":
    unittest.main()
