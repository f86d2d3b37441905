"""The Gymnasium environment of the Python package (python/cudal2_bench/gym.py): against gymnasium's own
checker, and with real runs where cudal2-bench is built. Skipped where gymnasium is not installed."""
import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from kernel_policy import harness

HAS_GYM = all(importlib.util.find_spec(name) for name in ("gymnasium", "numpy"))
if HAS_GYM:
    sys.path.insert(0, str(harness.ROOT / "python"))
    from cudal2_bench.gym import TuningEnv, by_run


@unittest.skipUnless(HAS_GYM, "gymnasium is not installed (pip install cudal2-bench[gym]): its environment is not tested")
class TestGym(unittest.TestCase):
    SPACE = {"A": [1, 2, 3], "B": [10, 20]}

    @staticmethod
    def measure(shape, parameters):
        if parameters["A"] == 3:
            return None, {"why": "does not compile"}
        return 0.1 * parameters["A"] + 0.01 * parameters["B"] - 0.5, {"why": ""}

    def test_gymnasium_s_own_check(self):
        from gymnasium.utils.env_checker import check_env
        check_env(TuningEnv(self.SPACE, ["64x128x256"], self.measure, budget=3), skip_render_check=True)

    def test_rewards_of_an_episode_sum_to_the_best_and_a_failure_costs(self):
        env = TuningEnv(self.SPACE, ["64x128x256"], self.measure, budget=4)
        seen, info = env.reset(seed=1)
        self.assertEqual((list(seen[:4]), info["shape"]), ([6, 7, 8, 1], "64x128x256"))
        steps = [env.step(action) for action in ([0, 0], [2, 0], [1, 1], [0, 1])]
        self.assertEqual([round(s[1], 6) for s in steps], [-0.3, -0.1, 0.2, 0.0])
        self.assertEqual([s[2] for s in steps], [False, False, False, True])
        self.assertEqual(steps[1][4]["why"], "does not compile")

    def test_nothing_to_choose_is_refused(self):
        with self.assertRaisesRegex(ValueError, "a space with a parameter"):
            TuningEnv({}, ["64x64x64"], self.measure)

    @unittest.skipUnless(harness.find_program(), "no cudal2-bench is built: the environment is not tested with real runs")
    def test_with_real_runs(self):
        with tempfile.TemporaryDirectory() as directory, mock.patch.dict(
                os.environ, {"CUDAL2_BENCH": str(Path(harness.find_program()).resolve())}):
            def build(parameters):
                to = Path(directory) / "k.so"
                done = subprocess.run([os.environ.get("CC", "cc").split()[-1], *harness.COMPILE, "-O%d" % parameters["OPT"],
                                       "-I%s" % (harness.ROOT / "harness"), "-DBLOCKED_NAME=\"k\"",
                                       str(harness.ROOT / "kernels/plugins/blocked.c"), "-o", str(to)], capture_output=True)
                if done.returncode != 0:
                    raise ValueError("does not compile")
                return to

            config = Path(directory) / "c.json"
            config.write_text('{"schema": "cudal2-bench/config", "schema_version": 1, "shapes": ["64x64x64"], "layouts": ["nn"],'
                              '"stop": {"min_blocks": 8, "max_blocks": 16, "look_every": 4, "max_cell_seconds": 1}}')
            env = TuningEnv({"OPT": [0, 3]}, ["64x64x64"], by_run(build, baseline="openblas", device="cpu",
                                                                  options=["--config", str(config)]), budget=2)
            env.reset(seed=1)
            first, second = env.step([0]), env.step([1])
        self.assertEqual((first[4]["why"], second[4]["why"], first[2], second[2]), ("", "", False, True))
        self.assertAlmostEqual(first[1] + second[1], max(s[4]["log_speedup"] for s in (first, second)))
        self.assertGreater(second[4]["time_ns"], 0)


if __name__ == "__main__":
    unittest.main()
