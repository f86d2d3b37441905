"""The environments of the Python package against a live `cudal2-bench serve` on the CPU: Gymnasium's own
checker, and OpenEnv's own client over its own server. Each is skipped with a reason where its package, or the
server, is not here."""
import importlib.util
import os
import sys
import threading
import time
import unittest
from pathlib import Path
from unittest import mock

from kernel_policy import harness

sys.path.insert(0, str(harness.ROOT / "python"))
from cudal2_bench.errors import DataError, Unavailable
from cudal2_bench.served import Client, serving

QUICK = {"half_width": 0.5, "seconds": 0.1}
HAS_GYM = all(importlib.util.find_spec(name) for name in ("gymnasium", "numpy"))
HAS_OPENENV = all(importlib.util.find_spec(name) for name in ("openenv", "uvicorn"))


@unittest.skipUnless(harness.find_program(), "no cudal2-bench is built: environments are not tested with a live server")
class Live(unittest.TestCase):
    """One server for all tests of a class."""

    @classmethod
    def setUpClass(cls):
        program = mock.patch.dict(os.environ, {"CUDAL2_BENCH": str(Path(harness.find_program()).resolve())})
        program.start()
        cls.addClassCleanup(program.stop)
        server = serving("cpu")
        try:
            cls.url = server.__enter__()
        except Unavailable as error:
            raise unittest.SkipTest("cudal2-bench serve does not run here: %s" % error)
        cls.addClassCleanup(server.__exit__, None, None, None)
        cls.client = Client(cls.url, patience=120)


class TestClient(Live):
    def test_an_outcome(self):
        outcome = self.client.measure({"candidate": "blocked", "problem": "64x64x64", **QUICK})
        self.assertEqual(outcome["verdict"], "ok")
        self.assertGreater(outcome["reward"]["value"], 0)

    def test_a_refusal_is_in_the_server_s_words(self):
        with self.assertRaisesRegex(DataError, "400: .*did you mean blocked"):
            self.client.submit({"candidate": "blokced", "problem": "64x64x64"})

    def test_no_server(self):
        with self.assertRaises(Unavailable):
            Client("http://127.0.0.1:1").submit({})


@unittest.skipUnless(HAS_GYM, "gymnasium is not installed (pip install cudal2-bench[gym]): its environment is not tested")
class TestGymnasium(Live):
    def environment(self, budget):
        from cudal2_bench.gym import TuningEnv, by_server
        names = {0: "blocked", 1: "blokced"}
        return TuningEnv({"WHICH": [0, 1]}, ["64x64x64", "64x64x96"],
                         by_server(lambda p: {"candidate": names[p["WHICH"]]}, self.client, **QUICK), budget=budget)

    def test_gymnasium_s_own_check(self):
        from gymnasium.utils.env_checker import check_env
        check_env(self.environment(4), skip_render_check=True)

    def test_rewards_are_the_server_s(self):
        import math
        env = self.environment(2)
        env.reset(options={"shape": "64x64x96"})
        _, reward, over, _, info = env.step([0])
        self.assertAlmostEqual(reward, math.log(info["outcome"]["reward"]["value"]))
        self.assertFalse(over)
        _, reward, over, _, info = env.step([1])
        self.assertEqual((reward, over), (-env.penalty, True))
        self.assertIn("did you mean blocked", info["why"])


@unittest.skipUnless(HAS_OPENENV, "openenv-core is not installed (pip install cudal2-bench[openenv]): not tested")
class TestOpenEnv(Live):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        import uvicorn
        from cudal2_bench.openenv import create_app
        app = create_app(cls.client, ["64x64x64", "64x64x96"], budget=3, common=QUICK)
        listener = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="critical"))
        thread = threading.Thread(target=listener.run, daemon=True)
        thread.start()
        until = time.monotonic() + 60
        while not listener.started and thread.is_alive() and time.monotonic() < until:
            time.sleep(0.05)
        cls.base = "http://127.0.0.1:%d" % listener.servers[0].sockets[0].getsockname()[1]
        cls.addClassCleanup(thread.join, 30)
        cls.addClassCleanup(setattr, listener, "should_exit", True)

    def session(self):
        from openenv.core import GenericEnvClient
        return GenericEnvClient(base_url=self.base, message_timeout_s=120).sync()

    def test_an_episode(self):
        with self.session() as env:
            first = env.reset(problem="64x64x96")
            self.assertEqual((first.observation["problem"], first.observation["steps_left"], first.done), ("64x64x96", 3, False))
            good = env.step({"submission": {"candidate": "blocked"}})
            self.assertEqual(good.observation["verdict"], "ok")
            self.assertGreater(good.reward, 0)
            self.assertEqual(good.observation["outcome"]["reward"]["value"], good.reward)
            wrong = env.step({"submission": {"candidate": "blokced"}})
            self.assertEqual((wrong.reward, wrong.observation["verdict"], wrong.done), (0, "invalid", False))
            self.assertIn("did you mean blocked", wrong.observation["error"])
            state = env.state()
            self.assertEqual((state["step_count"], state["steps_left"], state["problem"]), (2, 1, "64x64x96"))
            self.assertEqual([line["verdict"] for line in state["history"]], ["ok", "invalid"])
            self.assertAlmostEqual(state["best"], good.reward)
            self.assertTrue(env.step({"submission": {"candidate": "blocked"}}).done)
            over = env.step({"submission": {"candidate": "blocked"}})
            self.assertEqual((over.observation["verdict"], over.done), ("refused", True))

    def test_the_problem_is_the_environment_s(self):
        with self.session() as env:
            env.reset(seed=1)
            seen = env.step({"submission": {"candidate": "blocked", "problem": "8x8x8"}})
            self.assertEqual((seen.reward, seen.observation["verdict"]), (0, "invalid"))
            self.assertIn("the environment sets problem", seen.observation["error"])

    def test_sessions_do_not_share_an_episode(self):
        with self.session() as one, self.session() as two:
            one.reset(problem="64x64x64")
            two.reset(problem="64x64x96")
            one.step({"submission": {"candidate": "blocked"}})
            self.assertEqual((one.state()["step_count"], two.state()["step_count"]), (1, 0))

    def test_a_seed_draws_the_same_problem(self):
        with self.session() as env:
            drawn = [env.reset(seed=seed).observation["problem"] for seed in (1, 1, 2, 3, 4, 5)]
        self.assertEqual(drawn[0], drawn[1])
        self.assertEqual(set(drawn), {"64x64x64", "64x64x96"})


if __name__ == "__main__":
    unittest.main()
