"""Prices of a measurement, and regret within a budget of seconds: on made journals and pools."""
import gzip
import json
import tempfile
import unittest
from pathlib import Path

from kernel_policy import equal_time, price
from kernel_policy.records import Pool, Problem

PRICE = price.Price(0.01, 100.0, 0.02, 0.0)  # a measurement of 100 us takes 20 ms


def cell(variants, ns, side):
    each = {"tuning": {"race_ns": [ns] * variants}}
    seconds = 2 * variants * PRICE.measurement(ns)
    return {"m": side, "n": side, "k": side, "contenders": [each, {"tuning": None}, each],
            "phase_seconds": {"tune": seconds, "setup": 0.01, "verify": 0.03, "measure": 9.0}}


def pool(times, layout="nn", m=64):
    return Pool(Problem(m, 64, 64, layout, "f32", "offline", 1e5), list(range(len(times))), times, times)


class TestPrice(unittest.TestCase):
    def test_what_the_cells_were_made_of_is_found(self):
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "journal.jsonl.gz"
            found = [cell(n, ns, side) for n, ns, side in ((9, 9e9, 8), (8, 1e4, 64), (26, 1e5, 128), (12, 5e5, 256), (20, 2e4, 512))]
            with gzip.open(path, "wt") as file:
                file.write("".join(json.dumps(record) + "\n" for record in (
                    {"kind": "run", "data": {}}, *({"kind": "cell", "data": c} for c in found), {"kind": "end", "data": {}})))
            fitted = price.fitted([path], 20)
        self.assertEqual((fitted["cells"], fitted["measurements"]), (4, 132))  # without the first
        self.assertAlmostEqual(fitted["each"]["value"], 0.01, 6)
        self.assertAlmostEqual(fitted["launches"]["value"], 100.0, 3)
        self.assertAlmostEqual(fitted["begin"]["value"], 0.02, 6)  # half of a cell's setup and verification
        self.assertLess(fitted["race_off"], 1e-6)

    def test_a_cell_without_a_race_is_left_out(self):
        self.assertEqual(price.rows_of([{"contenders": [{}], "phase_seconds": {"tune": 0.1}, "m": 1, "n": 1, "k": 1}]), ([], []))


class TestBudgets(unittest.TestCase):
    def test_measurements_until_the_seconds_are_over(self):
        p = pool([2e5, 1e5, 1.5e5])
        budgets = (0.01, 0.05, 0.06, 0.08, 1.0)  # begins for 20 ms; then 30, 20 and 25 ms
        self.assertEqual([round(v) for v in equal_time.regret_in(p, [0, 1, 2], PRICE, budgets, 0.0)], [100, 100, 100, 0, 0])
        self.assertEqual(equal_time.regret_in(p, [1, 0, 2], PRICE, budgets, 0.055)[:3], [None, None, 0.0])

    def test_a_shape_s_budget_is_shared_by_its_layouts(self):
        pools = [pool([2e5, 1e5]), pool([1e5, 2e5], "tn")]
        table = equal_time.table_of(pools, [[[0, 1]], [[0, 1]]], PRICE, (0.12, 0.14), 0.0)
        self.assertEqual([round(v) for v in table[64, 64, 64]], [50, 0])
        self.assertEqual(equal_time.summary(table)[1], [0.0, 0.0, 0.0])

    def test_who_has_not_chosen_for_one_shape_has_no_row(self):
        self.assertIsNone(equal_time.summary({(1, 1, 1): [None], (2, 2, 2): [1.0]})[0])

    def test_training_is_its_seconds_and_its_measurements(self):
        run = {"seconds": 50, "processor_seconds": 45, "measured": 1000}
        self.assertAlmostEqual(equal_time.training([run], PRICE, 1e5), 45 + 1000 * 0.02)

    def test_a_reward_s_price_has_two_bounds(self):
        found = equal_time.serve_price({"jobs": 80, "problems": [0] * 5, "held_out": dict.fromkeys("abcd"), "device_seconds": 40})
        self.assertEqual((found["low"], found["value"], found["high"]), (0.4, 0.45, 0.5))


if __name__ == "__main__":
    unittest.main()
