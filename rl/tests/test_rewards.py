"""The reward function for trainers of language models: by the records, and by a real server on the CPU device
with a policy that is a table of chances. Needs neither torch nor TRL."""
import contextlib
import math
import os
import random
import unittest
from unittest import mock

from kernel_policy import harness, records, rewards

from cudal2_bench.errors import Unavailable  # on the path by kernel_policy.served
from cudal2_bench.served import Client, serving

USUAL = {"tiny": {"BM": 16, "BN": 16}}
LINES = ["tiny BM=16", "tiny BM=32", "tiny BM=64"]
PROBLEMS = [records.Problem(64, 64, 64, "nn", "f32", "offline", 1000.0), records.Problem(128, 64, 64, "tn", "f32", "offline", 1000.0)]


def made():
    return records.Records(LINES, USUAL, [records.Pool(PROBLEMS[0], [0, 1], [500.0, 2000.0], [1.0, 1.0])])


class TestRecorded(unittest.TestCase):
    def test_a_line_has_what_was_measured_and_the_others_nothing(self):
        reward = rewards.RecordedReward(made(), made().pools)
        found = reward([rewards.prompt_of(PROBLEMS[0])] * 3, ["tiny BM=16", " tiny  BM=32\n", "tiny BM=64"], trainer_state=None)
        self.assertEqual([round(r, 6) for r in found], [round(math.log(2), 6), -round(math.log(2), 6), rewards.NO_REWARD])
        self.assertAlmostEqual(reward.calls[0][1], 2 / 3)


class TestAdapters(unittest.TestCase):
    def test_the_adapters_of_the_page_give_the_reward(self):
        """The code of docs/lab/rl-details.md, with a list in the tensor's place."""
        page = (harness.ROOT / "docs/lab/rl-details.md").read_text()
        code = page.split("## verl and OpenRLHF")[1].split("```python\n")[1].split("```")[0]
        reward, prompt = rewards.RecordedReward(made(), made().pools), rewards.prompt_of(PROBLEMS[0])
        space = {"reward": reward, "torch": mock.Mock(tensor=list), "END": "</s>"}
        exec(code, space)
        self.assertAlmostEqual(space["compute_score"](data_source="", solution_str="tiny BM=16", ground_truth=prompt), math.log(2))
        told = space["reward_func"](["asked:tiny BM=32</s>"], ["asked:"], [prompt])
        self.assertAlmostEqual(told["rewards"][0], -math.log(2))


class Answers:
    """A client whose server gives each line the outcome that `by` has for it."""
    url = "http://nowhere"

    def __init__(self, by):
        self.by, self.sent = by, []

    def ask(self, _, body):
        self.sent += body["jobs"]
        return {"jobs": [self.by[sent["parameters"]["BM"]][0] for sent in body["jobs"]]}

    def outcome(self, job):
        return next(outcome for told, outcome in self.by.values() if told.get("id") == job)


class TestServed(unittest.TestCase):
    def asked(self, by, lines):
        reward = rewards.ServedReward("http://nowhere", made(), PROBLEMS)
        reward.client = Answers(by)
        return reward([rewards.prompt_of(PROBLEMS[0])] * len(lines), lines), reward

    def test_what_is_sent_is_the_line_for_the_prompt_s_problem_and_once(self):
        found, reward = self.asked({16: ({"id": "a"}, {"verdict": "ok", "reward": {"value": 2.0}})}, ["tiny BM=16", "tiny BM=16", "words", ""])
        self.assertEqual(found, [math.log(2), math.log(2), rewards.PENALTY, rewards.PENALTY])
        sent, = reward.client.sent
        self.assertEqual((sent["kernel"], sent["parameters"], sent["problem"], sent["layout"]), ("tiny", {"BM": 16, "BN": 16}, "64x64x64", "nn"))
        self.assertEqual(reward.calls[0][1], 0.5)

    def test_failed_refused_and_not_known(self):
        found, _ = self.asked({16: ({"id": "a"}, {"verdict": "wrong_result", "reward": {"value": 0}}),
                               32: ({"error": "BM is 16", "status": 400}, None),
                               64: ({"id": "c"}, {"verdict": "lost", "reward": None})}, LINES)
        self.assertEqual(found, [rewards.PENALTY] * 3)  # the third has the mean of the others

    def test_a_full_server_is_no_line_s_fault(self):
        with self.assertRaisesRegex(RuntimeError, "http://nowhere: the queue is full"):
            self.asked({16: ({"error": "the queue is full", "status": 429}, None)}, ["tiny BM=16"])


@unittest.skipUnless(harness.find_program(), "no cudal2-bench is built: rewards are not tested with the real server")
class TestRealServer(unittest.TestCase):
    @contextlib.contextmanager
    def served(self):
        with mock.patch.dict(os.environ, {"CUDAL2_BENCH": str(harness.find_program())}), contextlib.ExitStack() as stack:
            try:
                url = stack.enter_context(serving("cpu"))
            except Unavailable as error:
                self.skipTest(str(error))
            yield url

    def test_a_stub_policy_learns_to_write_lines(self):
        """It draws a line or words by their chances, and goes after the rewards. The rewards are those of the
        server's outcomes."""
        rng, texts = random.Random(1), [*LINES, "no line", "other words"]
        chances, shares = dict.fromkeys(texts, 1.0), []
        with self.served() as url:
            reward = rewards.ServedReward(url, made(), PROBLEMS, cpu=True)
            for _ in range(4):
                drawn = rng.choices(texts, [chances[t] for t in texts], k=16)
                prompts = [rewards.prompt_of(rng.choice(PROBLEMS)) for _ in drawn]
                found = reward(prompts, drawn)
                for text, value in zip(drawn, found):
                    chances[text] *= math.exp(value - sum(found) / len(found))
                shares.append(sum(text in LINES for text in drawn) / len(drawn))
            for prompt, text, value in zip(prompts, drawn, found):
                sent = reward.submission(prompt, text)
                measured = Client(url).measure(sent) if sent else None
                self.assertAlmostEqual(value, math.log(measured["reward"]["value"]) if measured else rewards.PENALTY)
        self.assertEqual([share for _, share in reward.calls], shares)
        if b"__asan_init" not in harness.find_program().read_bytes():  # so slow there that words may pay as much as lines
            self.assertGreater(shares[-1], shares[0])

    def test_a_server_that_has_not_the_kernel_is_told_of(self):
        with self.served() as url, self.assertRaisesRegex(RuntimeError, "measured nothing"):
            rewards.ServedReward(url, made(), PROBLEMS)([rewards.prompt_of(PROBLEMS[0])], ["tiny BM=16"])


if __name__ == "__main__":
    unittest.main()
