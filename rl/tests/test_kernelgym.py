"""KernelGYM's own reward client against a live `cudal2-bench serve` on the CPU. The client is their file,
unchanged, read from a checkout of github.com/hkust-nlp/KernelGYM: $KERNELGYM names one, or KERNELGYM_CLONE=1
has one cloned; skipped without. What it imports for scheduling (ray, verl) is stood in for by threads: the
requests and what is read from the answers are theirs."""
import asyncio
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import types
import unittest
from concurrent import futures
from pathlib import Path
from unittest import mock

from tests.test_environments import QUICK, Live

CLIENT = Path("drkernel/kernel/rewards/reward_client.py")
HAS_HTTPX = importlib.util.find_spec("httpx") is not None


def find_client(scratch):
    """Their file, or None."""
    root = Path(os.environ.get("KERNELGYM", ""))
    if not os.environ.get("KERNELGYM") and os.environ.get("KERNELGYM_CLONE"):
        root = Path(scratch) / "KernelGYM"
        subprocess.run(["git", "clone", "-q", "--depth", "1", "https://github.com/hkust-nlp/KernelGYM", str(root)],
                       timeout=300, check=False)
    return root / CLIENT if (root / CLIENT).is_file() else None


class Handle:
    """An actor of ray's: each method's `remote` runs on a thread."""
    pool = futures.ThreadPoolExecutor(16)

    def __init__(self, actor):
        self._actor = actor

    def __getattr__(self, name):
        method = getattr(self._actor, name)
        return types.SimpleNamespace(remote=lambda *a, **k: Handle.pool.submit(method, *a, **k))


class Actor:
    """A class behind ray.remote."""
    named = {}

    def __init__(self, made):
        self._made, self._name = made, None

    def options(self, name=None, **_):
        other = Actor(self._made)
        other._name = name
        return other

    def remote(self, *arguments):
        if self._name is None:
            return Handle(self._made(*arguments))
        return Actor.named.setdefault(self._name, Handle(self._made(*arguments)))


class Bucket:
    """verl's TokenBucketWorker, for one process."""

    def __init__(self, limit):
        self.held = 0

    def acquire(self):
        self.held += 1

    def release(self):
        self.held -= 1

    def get_current_count(self):
        return self.held


def wait(refs, num_returns=1, timeout=None):
    done = futures.wait(refs, timeout, futures.FIRST_COMPLETED).done
    first = [ref for ref in refs if ref in done][:num_returns]
    return first, [ref for ref in refs if ref not in first]


def load(path):
    """Their module, with stand-ins for what schedules."""
    ray = types.ModuleType("ray")
    ray.remote, ray.get, ray.wait, ray.ObjectRef = Actor, lambda ref: ref.result(), wait, futures.Future
    tools = types.ModuleType("verl.tools.sandbox_fusion_tools")
    tools.TokenBucketWorker = Actor(Bucket)
    stood_in = {"ray": ray, "verl": types.ModuleType("verl"), "verl.tools": types.ModuleType("verl.tools"),
                "verl.tools.sandbox_fusion_tools": tools}
    spec = importlib.util.spec_from_file_location("kernelgym_reward_client", path)
    module = importlib.util.module_from_spec(spec)
    with mock.patch.dict(sys.modules, stood_in):
        spec.loader.exec_module(module)
    return module


class Penalties(dict):
    penalty_score = -1.0


def config(url):
    """As their training scripts have it."""
    return types.SimpleNamespace(
        server_url=url, timeout=60, task_timeout_in_client=90, max_retries=2, rate_limit=8, max_concurrent=4, acquire_timeout=30,
        reward_func_name="calculate_reward_speedup", init_correct_weight=0.3, init_performance_weight=1.0, speedup_eps=0.01,
        speedup_reward_upper_bound=100.0, speedup_reward_lower_bound=0.0,
        reward_policy=types.SimpleNamespace(penalties=Penalties()),
        coverage_reward=types.SimpleNamespace(enable=False, weight=0.0, reward_type="time_coverage"))


def task(submission, **more):
    """The submission stands in the reference, under the line that the client looks for."""
    return {"reference_code": "# class Model\n" + json.dumps({**submission, **QUICK}), "kernel_code": "// class ModelNew", **more}


@unittest.skipUnless(HAS_HTTPX, "httpx is not installed (pip install httpx): KernelGYM's client is not tried")
class TestKernelGym(Live):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        path = find_client(scratch.name)
        if path is None:
            raise unittest.SkipTest("no checkout of KernelGYM ($KERNELGYM, or KERNELGYM_CLONE=1): its client is not tried")
        super().setUpClass()
        cls.module = load(path)

    def ask(self, *tasks):
        with mock.patch("builtins.print"):
            return asyncio.run(self.module.KernelRewardClient(reward_config=config(self.url)).compute_batch_rewards(list(tasks)))

    def test_a_batch(self):
        good, again, unknown, foreign = self.ask(
            task({"candidate": "blocked", "problem": "64x64x64"}), task({"candidate": "blocked", "problem": "64x96x64"}),
            task({"candidate": "blokced", "problem": "64x64x64"}), {"reference_code": "x", "kernel_code": "y"})
        for one in (good, again):
            self.assertEqual((one["status"], one["compiled"], one["correctness"], one["decoy_kernel"]),
                             ("completed", True, True, False), one)
            self.assertGreater(one["speedup"], 0)
            self.assertAlmostEqual(one["reward"], 0.3 + one["speedup"])
            self.assertEqual(one["metadata"]["verdict"], "ok")
        self.assertEqual(unknown["reward"], -1.0)
        self.assertFalse(unknown["success"])
        self.assertIn("400", unknown["error"])
        self.assertIn("Client validation failed", foreign["error"])


if __name__ == "__main__":
    unittest.main()
