"""kernel_policy.overhead: what a policy's choice costs, by the processor's clock. Skipped where torch is not
installed."""
import importlib.util
import io
import itertools
import json
import sys
import tempfile
import unittest
from contextlib import redirect_stdout
from dataclasses import asdict
from pathlib import Path
from unittest import mock

HAS_TORCH = importlib.util.find_spec("torch") is not None
if HAS_TORCH:
    import torch

    from kernel_policy import overhead
    from kernel_policy.train import Recipe, Trainer


@unittest.skipUnless(HAS_TORCH, "torch is not installed (rl/requirements.txt): a policy's thinking is not timed")
class TestOverhead(unittest.TestCase):
    def told(self, directory, *arguments):
        """What the command writes of a policy that was not trained; each look at the processor's clock is a
        second after the one before, and no other clock can be read."""
        trainer = Trainer(Recipe(size="tiny", context="neighbours"))
        torch.save({"recipe": asdict(trainer.recipe), "state": trainer.policy.state_dict()}, directory + "/policy.pt")
        clock = mock.Mock(spec=["process_time"], process_time=mock.Mock(side_effect=itertools.count(0.0)))
        command = ["overhead", "--policy", directory + "/policy.pt", "--problems", "2", "-o", directory + "/out.json", *arguments]
        printed = io.StringIO()
        with mock.patch.object(overhead, "time", clock), mock.patch.object(sys, "argv", command), redirect_stdout(printed):
            overhead.main()
        found = json.loads((Path(directory) / "out.json").read_text())
        self.assertEqual(json.loads(printed.getvalue()), found["seconds"])
        return found

    def test_on_a_core_a_policys_choices_are_timed_by_the_processors_clock(self):
        with tempfile.TemporaryDirectory() as directory:
            found = self.told(directory, "--torch-device", "cpu")
        self.assertEqual((found["policy"], found["device"], found["problems"]), ("tiny, neighbours", "one core", 2))
        self.assertEqual(found["seconds"], {"whole pool": 1.0, "1": 1.0, "4": 1.0, "16": 1.0})
        self.assertEqual(found["lines"]["1"], 1.0)
        self.assertTrue(4 <= found["lines"]["4"] < 16 <= found["lines"]["16"] <= found["pool"], found)

    def test_what_the_policy_reads_is_on_its_device(self):
        """There is no GPU here: a device that computes nothing stands for one."""
        trainer = Trainer(Recipe(size="tiny", context="neighbours"))
        trainer.device = torch.device("meta")
        seen = []

        def sample(policy, prompt, choices, count, generator):
            seen.extend(tensor.device.type for tensor in (*prompt, *choices))
            return torch.zeros(1, count), torch.arange(count)[None]

        with mock.patch.object(overhead, "sample", sample):
            self.assertEqual(overhead.write_lines(trainer, trainer.split.test[0], 4), {0, 1, 2, 3})
        self.assertEqual(set(seen), {"meta"})


if __name__ == "__main__":
    unittest.main()
