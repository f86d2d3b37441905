"""Races of journals pooled into the table that pack reads: a heat's bias, races of two days joined, what the
set no longer has. Needs no torch; the last test wants build/tests/rank_features."""
import gzip
import json
import math
import os
import tempfile
import unittest
from pathlib import Path

from kernel_policy import pack, pool

TINY = "tiny:BM=16,BN=%d,WARPS=2,CLUSTER_K=1,DEPTH=1,ALIGNED=1,EARLY=%d"
OLD = ("persistent:BM=128,BN=256,ACROSS=0,STAGES=4,CONSUMERS=2,PINGPONG=0,CLUSTER_M=2,CLUSTER_N=1,SPLIT_K=1,REDUCE=0,PARTS=1,"
       "RASTER=8,DOWN=1,EPILOGUE=1,EVICT=0,STREAM=0,FETCH=128,MIN_BLOCKS=1,EARLY=1%s")


def cell(mode, times, layout="nn"):
    """One race, of the configurations and their times."""
    return {"kind": "cell", "data": {"m": 256, "n": 512, "k": 512, "dtype": "f16", "accumulate": "f32", "mode": mode, "contenders": [
        {"name": "cudal2-" + layout, "candidate": True, "tuning": {"keys": list(times), "race_ns": list(times.values())}},
        {"name": "cublaslt-autotuning-nn", "tuning": {"variants": 2, "race_ns": [1, 2]}}]}}


class Pooling(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)

    def journal(self, name, *cells):
        path = Path(self.directory.name) / name
        with gzip.open(path, "wt") as file:
            for one in ({"kind": "run", "data": {}}, *cells):
                file.write(json.dumps(one) + "\n")
        return path

    def only_race(self, *cells):
        (key, race), = pool.races_of(self.journal("one.jsonl.gz", *cells))
        return key, race

    def test_a_key_of_an_old_kernel_set(self):
        key, race = self.only_race(cell("server", {OLD % "": 9000, OLD % ",HALVES=2": 1, "gone:BM=1": 1}))
        self.assertEqual(key, (256, 512, 512, "nn", "f32", "server"))
        (kernel, values, _, ns), = race
        self.assertEqual((kernel, ns), ("persistent", 9000.0))
        values = dict(values)
        self.assertEqual((values["ABREAST"], values["KEEP"], values["FETCH"], values["walk"]), (1, 0, 128, -1))  # one row of tiles

    def test_heats_are_mended_offline_alone(self):
        times = {TINY % (16 * (i + 1), 0): 3000 + 10 * i for i in range(6)}
        times.update({TINY % (16, 1): 3200, TINY % (32, 1): 6000})
        for mode, wanted in (("server", [3200, 6000]), ("offline", [3000, 6000 * math.exp(-pool.bias(6000))])):
            _, race = self.only_race(cell(mode, times))
            self.assertEqual([ns for *_, ns in race][:6], [3000 + 10 * i for i in range(6)])
            for (*_, ns), right in zip(race[6:], wanted):
                self.assertAlmostEqual(ns, right)

    def test_bias_falls_with_the_time(self):
        self.assertAlmostEqual(pool.bias(math.exp(8.0)), 0.1714)
        self.assertAlmostEqual(pool.bias(math.exp(8.125)), (0.1714 + 0.1482) / 2)
        self.assertEqual((pool.bias(250000), pool.bias(1000)), (0, pool.BIAS[0]))

    def test_races_of_two_days_are_joined(self):
        first, second = {TINY % (16, 0): 1000, TINY % (32, 0): 2000}, {TINY % (32, 0): 2420, TINY % (64, 0): 3630}
        races = [self.only_race(cell("server", times))[1] for times in (first, second)]
        found = {dict(values)["BN"]: ns for (_, values), (ns, _) in pool.join(races).items()}
        for width, right in ((16, 1100), (32, 2200), (64, 3300)):  # the second day was slower by 21%
            self.assertAlmostEqual(found[width], right, places=3)
        alone = pool.join(races[:1])
        self.assertEqual(sorted(round(ns) for ns, _ in alone.values()), [1000, 2000])

    def test_what_the_committed_file_was_made_of(self):
        found = pool.sources(pool.ROOT / "results" / "MANIFEST.tsv")
        self.assertIn("results/h200/2026-11-23h-tune/small-f16-row.jsonl.gz", found)
        self.assertFalse([path for path in found if "2026-11-21" in path])

    def test_from_journals_to_the_file(self):
        tool = Path(os.environ.get("CUDAL2_BUILD", pool.ROOT / "build")).resolve() / "tests" / "rank_features"
        if not tool.exists():
            self.skipTest("no %s (make tests-build)" % tool)
        journals = [self.journal("one.jsonl.gz", cell("server", {TINY % (16, 0): 2000, OLD % "": 9000}), cell("server", {TINY % (32, 0): 4000}, "tn")),
                    self.journal("two.jsonl.gz", cell("server", {TINY % (16, 0): 2000, TINY % (48, 0): 1}))]
        rows = pool.table(journals, tool)
        self.assertTrue(all(float(row["model_ns"]) > 100 for row in rows))
        self.assertEqual(sorted((row["layout"], row["kernel"], float(row["time_ns"])) for row in rows),
                         [("nn", "persistent", 9000.0), ("nn", "tiny", 2000.0), ("tn", "tiny", 4000.0)])  # none has tiles of 48
        records = pack.pack_rows([{name: str(value) for name, value in row.items()} for row in rows], [])
        self.assertEqual([len(p.lines) for p in records.pools], [2, 1])


if __name__ == "__main__":
    unittest.main()
