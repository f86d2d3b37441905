"""Measurements that several tasks share: who measures what, tasks that are lost or start again, and the words
by which a task knows its shard, next to the program's own where it is built. Needs no torch."""
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

from kernel_policy import harness, shared
from kernel_policy.harness import Outcome, cpu_problem
from kernel_policy.shared import Shared, TryAgain, shards

CELLS = [(cpu_problem(16 * (i + 1), 32, 32), ["line %d" % i, "other"]) for i in range(7)]
OF_AN_ARRAY = {"SLURM_ARRAY_TASK_ID": "2", "SLURM_ARRAY_TASK_MIN": "0", "SLURM_ARRAY_TASK_MAX": "3", "SLURM_ARRAY_TASK_COUNT": "4"}
SURROUNDINGS = [  # option, environment, what it comes to: text, None (everything), or ValueError
    (None, {}, None),
    ("3/8", {"CUDAL2_SHARD": "1/2"}, "3/8"),
    ("none", {"CUDAL2_SHARD": "1/2"}, None),
    (None, {"CUDAL2_SHARD": "1/2", **OF_AN_ARRAY}, "1/2"),
    (None, {"CUDAL2_SHARD": "", **OF_AN_ARRAY}, "2/4"),
    (None, {"CUDAL2_SHARD": "none", **OF_AN_ARRAY}, None),
    (None, {**OF_AN_ARRAY, "JOB_COMPLETION_INDEX": "1", "CUDAL2_SHARDS": "9"}, "2/9"),
    (None, {**OF_AN_ARRAY, "SLURM_ARRAY_TASK_STEP": "2"}, ValueError),
    (None, {**OF_AN_ARRAY, "SLURM_ARRAY_TASK_MIN": "1"}, ValueError),
    (None, {"SLURM_ARRAY_TASK_ID": "2"}, ValueError),
    (None, {"JOB_COMPLETION_INDEX": "1"}, None),
    (None, {"JOB_COMPLETION_INDEX": "1", "CUDAL2_SHARDS": "4", "SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "2"}, "1/4"),
    (None, {"SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "1", "SLURM_NTASKS": "8"}, None),
    (None, {"SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "2", "SLURM_NTASKS": "3"}, "1/3"),
    (None, {"SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "2", "OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "2"}, "1/2"),
    (None, {"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2"}, "1/2"),
    (None, {"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "1"}, None),
    ("8/8", {}, ValueError), ("1/", {}, ValueError), ("-1/2", {}, ValueError), ("0/65537", {}, ValueError),
    ("1/2/3", {}, ValueError), ("0/65536", {}, "0/65536")]


def clean(environment):
    kept = {k: v for k, v in os.environ.items() if not re.match("CUDAL2_SHARD|SLURM_|JOB_COMPLETION|OMPI_", k)}
    return {**kept, **environment}


class TestShards(unittest.TestCase):
    def test_words_and_their_order(self):
        for option, environment, expected in SURROUNDINGS:
            with self.subTest(option=option, environment=environment):
                if expected is ValueError:
                    self.assertRaises(ValueError, shards.resolve, option, environment)
                else:
                    found = shards.resolve(option, environment)
                    self.assertEqual(found and str(found), expected)

    @unittest.skipUnless(harness.find_program(), "no cudal2-bench is built: its words are not compared with ours")
    def test_the_program_has_the_same_words(self):
        """It says which shard it is before it looks for the config's contenders, of which there are none
        here."""
        with tempfile.TemporaryDirectory() as made:
            config = Path(made) / "c.json"
            config.write_text(json.dumps({"schema": "cudal2-bench/config", "schema_version": 1, "shapes": ["16x16x16"],
                                          "baselines": ["/nowhere.so"], "layouts": ["nn"], "modes": ["offline"]}))
            for option, environment, expected in SURROUNDINGS:
                command = [str(harness.find_program()), "run", "--config", str(config), "--device", "cpu", "--output",
                           str(Path(made) / "r.json"), *(["--shard", option] if option else [])]
                done = subprocess.run(command, capture_output=True, text=True, env=clean(environment))
                told = re.search(r"^shard (\d+) of (\d+), counted from 0 \((\S+)\)", done.stderr, re.M)
                with self.subTest(option=option, environment=environment, stderr=done.stderr):
                    if expected is ValueError:
                        self.assertEqual(done.returncode, 64)
                    else:
                        self.assertNotEqual(done.returncode, 64)
                        self.assertEqual(told and "%s/%s" % told.group(1, 2), expected)
                        found = shards.resolve(option, environment)
                        self.assertEqual(told and told.group(3), found and found.source)

    def test_each_item_is_one_shards_and_loads_are_alike(self):
        costs = [float(1 + i * i % 17) for i in range(100)]
        parts = [shards.own(shards.Shard(i, 7, ""), costs) for i in range(7)]
        self.assertEqual(sorted(i for part in parts for i in part), list(range(100)))
        loads = [sum(costs[i] for i in part) for part in parts]
        self.assertLess(max(loads) - min(loads), 2)
        self.assertEqual(shards.own(None, costs), list(range(100)))
        self.assertEqual([shards.own(shards.Shard(i, 3, ""), [1.0]) for i in range(3)], [[0], [], []])


class TestShared(unittest.TestCase):
    def setUp(self):
        self.made = tempfile.TemporaryDirectory()
        self.addCleanup(self.made.cleanup)
        self.directory = Path(self.made.name)
        self.calls = []

    def measure(self, problem, lines, seconds):
        self.calls.append(problem.m)
        return [Outcome(problem.m + 0.5, seconds, line) for line in lines]

    def task(self, index, count, patience=20.0):
        return Shared(self.directory, shards.Shard(index, count, ""), self.measure, patience)

    def test_every_cell_is_measured_once_and_shard_0_has_all(self):
        followers = [threading.Thread(target=self.task(i, 3).follow) for i in (1, 2)]
        for one in followers:
            one.start()
        learner = self.task(0, 3)
        for seconds in (2.0, 5.0):
            found = learner.measure(CELLS, seconds)
            self.assertEqual([lines for lines, _ in found], [lines for _, lines in CELLS])
            self.assertEqual([o for _, outcomes in found for o in outcomes],
                             [Outcome(p.m + 0.5, seconds, line) for p, lines in CELLS for line in lines])
        learner.end()
        for one in followers:
            one.join(20)
            self.assertFalse(one.is_alive())
        self.assertEqual(sorted(self.calls), sorted(2 * [p.m for p, _ in CELLS]))

    def test_a_task_that_starts_again_measures_nothing_twice(self):
        self.assertEqual(len(self.task(0, 1).measure(CELLS, 1.0)), 7)
        again = self.task(0, 1)
        other = [(cpu_problem(512, 512, 512), ["drawn differently"])]
        self.assertEqual(again.measure(other, 1.0)[0][0], CELLS[0][1])  # what was measured counts
        self.assertEqual(len(self.calls), 7)
        again.measure(other, 1.0)
        self.assertEqual(self.calls[7:], [512])

    def test_who_is_lost_is_named(self):
        with self.assertRaisesRegex(TryAgain, r"cells of step 0 are missing: --array=1,2 \(waited 0 s\)"):
            self.task(0, 3, patience=0.05).measure(CELLS, 1.0)
        with self.assertRaisesRegex(TryAgain, "no step 1 of shard 0"):
            self.task(1, 3, patience=0.05).follow()
        with self.assertRaisesRegex(TryAgain, "--array=2 "):
            self.task(0, 3, patience=0.05).measure(CELLS, 1.0)

    def test_another_number_of_shards_is_refused(self):
        self.task(0, 1).measure(CELLS, 1.0)
        with self.assertRaisesRegex(ValueError, "is of 1 shards, this is 1/2"):
            self.task(1, 2).follow()

    @unittest.skipUnless(harness.find_program(), "no cudal2-bench is built: the live environment is not tested")
    def test_a_real_task_follows_in_an_array(self):
        """Under a scheduler's words, which the program that it starts must not take for its own."""
        environment = clean({"SLURM_ARRAY_TASK_ID": "1", "CUDAL2_SHARDS": "2",
                             "CUDAL2_BENCH": str(Path(harness.find_program()).resolve())})
        command = [sys.executable, "-m", "kernel_policy.shared", str(self.directory), "--patience", "60"]
        task = subprocess.Popen(command, cwd=Path(shared.__file__).parents[1], env=environment, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)
        cells = [(cpu_problem(m, m, m), ["blocked KC=256 MC=96 NC=256 OPT=3"]) for m in (32, 64)]
        learner = self.task(0, 2, 60.0)
        found = learner.measure(cells, 0.5)
        learner.end()
        out, err = task.communicate(timeout=60)
        self.assertEqual((task.returncode, len(self.calls)), (0, 1), err)
        self.assertIn("shard 1 of 2, counted from 0 (SLURM_ARRAY_TASK_ID)", err)
        self.assertEqual(json.loads(out)["cells"], 1)
        self.assertEqual(found[1][1][0].time_ns, 0.5)  # the longest is ours
        self.assertGreater(found[0][1][0].time_ns, 100.0)


if __name__ == "__main__":
    unittest.main()
