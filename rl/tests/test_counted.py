"""Counters of recorded lines: what is asked for, what is kept, and that a second call goes on. Against a
stand-in for the server."""
import json
import tempfile
import unittest
from pathlib import Path

from kernel_policy import counted, records
from kernel_policy.records import Pool, Problem, Records

USUAL = {"multistage": {"BM": 64, "BN": 64}}


def made():
    def pool(m, layout, times):
        return Pool(Problem(m, 64, 64, layout, "f32", "offline", 900.0), [0, 1], times, times)
    return Records(["multistage", "multistage BM=128"], USUAL, [pool(128, "nn", [5.0, 4.0]), pool(128, "tn", [3.0, 6.0]), pool(64, "nn", [2.0, 2.5])])


class TestCounted(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.path = Path(self.directory.name) / "counters.jsonl"
        self.asked = []

    def outcomes(self, batch):
        self.asked += batch
        return [{"verdict": "ok", "problems": [{"counters": {"metrics": {name: {"value": 1.5} for name in sent["counters"]}}
                                                if sent["problem"][0] == "1" else {"unavailable": "no ncu"}}]} for sent in batch]

    def rows(self):
        return [json.loads(line) for line in self.path.read_text().splitlines()]

    def test_each_shape_has_the_best_line_of_its_faster_layout(self):
        self.assertEqual(counted.gather(made(), self.outcomes, self.path, 1.0), 0)
        self.assertEqual([sent["problem"] for sent in self.asked], ["64x64x64", "128x64x64"])
        self.assertEqual([sent["parameters"]["BM"] for sent in self.asked], [64, 64])
        self.assertEqual([row["problem"] for row in self.rows()], ["64x64x64 nn f32 offline", "128x64x64 tn f32 offline"])
        self.assertEqual(self.rows()[0]["unavailable"], "no ncu")
        self.assertEqual(set(self.rows()[1]["metrics"]), set(counted.METRICS))

    def test_a_second_call_asks_for_what_is_missing(self):
        counted.gather(made(), self.outcomes, self.path, 1.0)
        counted.gather(made(), self.outcomes, self.path, 1.0)
        self.assertEqual([sent["problem"] for sent in self.asked], ["64x64x64", "128x64x64", "64x64x64"])

    def test_what_failed_says_why(self):
        counted.gather(made(), lambda batch: [{"verdict": "setup_error", "error": "no room"} for _ in batch], self.path, 1.0)
        self.assertEqual({row["unavailable"] for row in self.rows()}, {"no room"})

    def test_when_the_time_is_over_the_rest_is_left(self):
        self.assertEqual(counted.gather(made(), self.outcomes, self.path, 0.0), 2)
        self.assertEqual(self.asked, [])

    def test_the_records_have_one_pool_for_each_shape(self):
        found = counted.wanted(records.load())
        self.assertEqual(len(found), len({pool.problem.shape for pool in found}))
        self.assertGreater(len(found), 800)


if __name__ == "__main__":
    unittest.main()
