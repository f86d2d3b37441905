"""Counters of recorded lines: what is asked for, how ncu's table is shared out, what is kept, and that a
second call goes on. Against a stand-in for ncu, which prints what a real one was seen to print, and for the
program."""
import json
import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from kernel_policy import counted, records
from kernel_policy.counted import Asked, Gatherer, Machine, Table
from kernel_policy.records import Pool, Problem, Records

USUAL = {"multistage": {"BM": 64, "BN": 64}}
METRICS = [counted.WEIGHT, "dram__bytes.sum", "lts__t_sector_hit_rate.pct"]

# $FAULTS: M of problems that do not launch (none=M), crash (crash=M), have no row (lost=M), have two kernels
# (two=M).
NCU = r'''#!/usr/bin/env python3
import os, sys
arguments = sys.argv[1:]
metrics = arguments[arguments.index("--metrics") + 1].split(",")
asked = next(a for a in arguments if a.startswith("--one-launch=@"))[14:]
faults = dict(reversed(f.split("=")) for f in os.environ.get("FAULTS", "").split() if "=" in f)
log = open(arguments[arguments.index("--log-file") + 1], "w")
print(" ".join(arguments), file=open(os.environ["CALLED"], "a"))
log.write("==PROF== Connected to process 1 (/usr/bin/cudal2-bench)\n")
if "forbidden" in os.environ.get("FAULTS", ""):
    sys.exit(log.write("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n"))
if "no__such.sum" in metrics:
    sys.exit(log.write("==ERROR== Failed to find metric no__such.sum\n"))
rows, crashed = [], False
for line in open(asked).read().splitlines():
    m = line.split("x")[0]
    fault = faults.get(m)
    if line == "-":
        rows.append(("null_kernel", 1))
        continue
    crashed = fault == "crash"
    if crashed:
        log.write("==ERROR== The application returned an error code (11)\n")
        break
    print("f16-f32-%s cudal2-nn   %s" % (m, "not launched: unsupported: not so" if fault == "none" else "launched once"))
    if fault in (None, "two"):
        rows.append(("gemm(const __half *, int)", int(m)))
    if fault == "two":
        rows.append(("reduce", 10))
log.write('"ID","Kernel Name",%s\n"","",%s\n' % (",".join('"%s"' % n for n in metrics), ",".join('"x"' for n in metrics)))
for i, (name, value) in enumerate(rows):
    log.write('"%d","%s",%s\n' % (i, name, ",".join('"%s"' % ("n/a" if value == 1 else format(1000 * value, ",")) for n in metrics)))
log.write("==PROF== Disconnected from process 1\n")
'''


def made():
    def pool(m, layout, times):
        return Pool(Problem(m, 64, 64, layout, "f32", "offline", 900.0), [0, 1], times, times)
    return Records(["multistage", "multistage BM=128"], USUAL, [pool(128, "nn", [5.0, 4.0]), pool(128, "tn", [3.0, 6.0]), pool(64, "nn", [2.0, 2.5])])


class TestWhat(unittest.TestCase):
    def test_the_best_line_of_each_shape_comes_first(self):
        asked = [(a.problem.m, a.problem.layout, a.line) for a in counted.wanted(made(), 2)]
        self.assertEqual(asked[:3], [(64, "nn", "multistage"), (128, "tn", "multistage"), (128, "nn", "multistage BM=128")])
        self.assertEqual(len(asked), 6)
        self.assertEqual(len(counted.wanted(made(), 1)), 3)

    def test_a_line_names_all_its_values(self):
        self.assertEqual(counted.choice(counted.wanted(made())[2], made()), "128x64x64 cudal2-nn=multistage:BM=128,BN=64")

    def test_the_records_have_as_many_problems(self):
        found = records.load()
        self.assertEqual(len({a.problem.shape for a in counted.wanted(found, 1)[:888]}), 888)
        for asked in counted.wanted(found, 1)[:50]:
            self.assertRegex(counted.choice(asked, found), r"^\d+x\d+x\d+ cudal2-(nn|tn)=\w+:BM=\d+,[A-Z0-9_=,-]+$")


class TestTable(unittest.TestCase):
    def test_of_several_kernels_means_are_weighted_by_time(self):
        rows = [{counted.WEIGHT: "30,000", "a__b.pct": "41.5", "c__d.sum": "1"}, {counted.WEIGHT: "10,000", "a__b.pct": "11.5", "c__d.sum": "n/a"}]
        made = counted.combined(rows, [counted.WEIGHT, "a__b.pct", "c__d.sum", "no__such.pct"])
        self.assertEqual(made, {counted.WEIGHT: 40000.0, "a__b.pct": (41.5 * 3 + 11.5) / 4, "c__d.sum": 1.0})

    def test_reads_what_a_real_ncu_printed(self):
        text = (Path(__file__).resolve().parents[2] / "tests/fixtures/data/ncu/two-kernels.csv").read_text()
        rows = counted.rows_of(text)
        self.assertEqual([row["Kernel Name"] for row in rows], ["gemm(const __half *, int)", "reduce"])
        self.assertEqual(counted.combined(rows, ["dram__bytes.sum"]), {"dram__bytes.sum": 34873088.0})

    def test_a_missing_mark_leaves_all_open(self):
        rows = [{"Kernel Name": name} for name in ("null_kernel", "a", "b", "c")]
        self.assertEqual(counted.shared_out(Table(["launched once"] * 3, rows), 3, 2), [None] * 3)


class TestGather(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        at = Path(self.directory.name)
        self.path, self.called = at / "counters.jsonl", at / "called"
        self.called.write_text("")
        (at / "ncu").write_text(NCU)
        (at / "ncu").chmod(0o755)
        os.environ["CALLED"] = str(self.called)
        self.addCleanup(os.environ.pop, "FAULTS", None)
        quiet = mock.patch("builtins.print")
        quiet.start()
        self.addCleanup(quiet.stop)
        self.machine = Machine("/bin/true", "cuda:0", made(), str(at / "ncu"))
        self.asked = [Asked(Problem(m, 64, 64, "nn", "f32", "offline"), "multistage") for m in range(64, 84)]

    def gather(self, faults="", metrics=METRICS, **more):
        os.environ["FAULTS"] = faults
        return Gatherer(self.machine, self.path, metrics).gather(self.asked, 1.0, **{"chunk": 12, "each": 4, **more})

    def rows(self):
        return {row["problem"].split("x")[0]: row for row in map(json.loads, self.path.read_text().splitlines())}

    def test_each_has_its_own_numbers(self):
        self.assertEqual(self.gather(), 0)
        self.assertEqual({m: row["metrics"]["dram__bytes.sum"] for m, row in self.rows().items()}, {str(m): 1000.0 * m for m in range(64, 84)})
        self.assertEqual(len(self.called.read_text().splitlines()), 2)
        self.assertIn("--clock-control none --profile-from-start off", self.called.read_text())

    def test_a_second_call_asks_for_what_is_missing(self):
        self.gather("none=70")
        self.assertIn("not so", self.rows()["70"]["unavailable"])
        self.gather()
        self.assertEqual(len(self.called.read_text().splitlines()), 3)
        self.assertEqual(self.rows()["70"]["metrics"][counted.WEIGHT], 70000.0)

    def test_one_without_a_row_costs_nobody_else(self):
        self.gather("lost=70 crash=75")
        self.assertEqual({m for m, row in self.rows().items() if "unavailable" in row}, {"70", "75"})
        self.assertIn("error code", self.rows()["75"]["unavailable"])
        self.assertEqual(self.rows()["71"]["metrics"][counted.WEIGHT], 71000.0)

    def test_a_launch_of_two_kernels(self):
        self.gather("two=70")
        self.assertEqual(self.rows()["70"]["kernels"], 2)
        self.assertEqual(self.rows()["70"]["metrics"]["dram__bytes.sum"], 80000.0)
        self.assertEqual(self.rows()["71"]["metrics"]["dram__bytes.sum"], 71000.0)

    def test_a_metric_that_is_not_there_is_left_out(self):
        self.gather(metrics=[*METRICS, "no__such.sum"])
        self.assertEqual(set(self.rows()["64"]["metrics"]), set(METRICS))

    def test_who_may_not_count_is_told(self):
        with self.assertRaisesRegex(RuntimeError, "permission"):
            self.gather("forbidden")

    def test_a_program_that_launches_nothing_is_given_up(self):
        with self.assertRaises(RuntimeError):
            self.gather(" ".join("crash=%d" % m for m in range(64, 84)))

    def test_when_the_time_is_over_the_rest_is_left(self):
        self.assertEqual(Gatherer(self.machine, self.path, METRICS).gather(self.asked, 0.0), 20)


if __name__ == "__main__":
    unittest.main()
