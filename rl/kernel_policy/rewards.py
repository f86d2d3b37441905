"""The function that a trainer of language models calls: `reward(prompts, completions) -> rewards`, from the
records or from a running `cudal2-bench serve`.

A prompt names a problem, a completion is a parameter line. Standard library only; called by
examples/trl_grpo.py. docs/lab/rl-details.md has what verl and OpenRLHF want around it.
"""
from __future__ import annotations

import statistics
from typing import Any, Dict, List, Optional, Sequence, Tuple

from .env import OfflineEnvironment
from .records import Pool, Problem, Records
from .served import Client, log_reward, stand_in, submission

NO_REWARD = -1.0  # for a line that was never measured for the problem
PENALTY = -1.5    # log reward of what is no line, is refused or fails
EFFORT = {"half_width": 0.02, "seconds": 0.2, "alpha": 0, "beta": 0, "share": True}
BATCH = 200       # submissions of one request; the server takes 256


def prompt_of(p: Problem) -> str:
    return "M %d N %d K %d %s :" % (p.m, p.n, p.k, p.layout)


class Reward:
    """`calls` has the mean reward of each call, and the share of its lines that have one of their own."""

    def __init__(self) -> None:
        self.__name__ = type(self).__name__  # TRL logs it
        self.calls: List[Tuple[float, float]] = []

    def __call__(self, prompts: Sequence[str], completions: Sequence[str], **_: Any) -> List[float]:
        rewards, share = self.of(prompts, [" ".join(c.split()) for c in completions])
        self.calls.append((sum(rewards) / len(rewards), share))
        return rewards

    def of(self, prompts: Sequence[str], lines: Sequence[str]) -> Tuple[List[float], float]:
        raise NotImplementedError


class RecordedReward(Reward):
    """What was measured once."""

    def __init__(self, records: Records, pools: Sequence[Pool]) -> None:
        super().__init__()
        self.worlds = {prompt_of(p.problem): OfflineEnvironment(records, p) for p in pools}

    def of(self, prompts: Sequence[str], lines: Sequence[str]) -> Tuple[List[float], float]:
        found = [self.worlds[p].measure(line) for p, line in zip(prompts, lines)]
        return [NO_REWARD if r is None else r for r in found], sum(r is not None for r in found) / len(found)


class ServedReward(Reward):
    """What the server at `url` measures: any line of a shipped kernel. The log of its reward; PENALTY for
    what is no line, is refused or fails. Where the server learnt nothing a line counts as its prompt's mean;
    RuntimeError where it learnt nothing of any.

    With `cpu` each line stands for a small problem of `blocked`, so that a server without a GPU can be
    asked."""

    def __init__(self, url: str, records: Records, problems: Sequence[Problem], token: Optional[str] = None, cpu: bool = False) -> None:
        super().__init__()
        self.client, self.usual, self.cpu = Client(url, token), records.usual, cpu
        self.problems = {prompt_of(p): p for p in problems}

    def of(self, prompts: Sequence[str], lines: Sequence[str]) -> Tuple[List[float], float]:
        pairs = list(zip(prompts, lines))
        jobs = self._submit(list(dict.fromkeys(pairs)))
        outcomes = {job: self.client.outcome(job) for job in set(jobs.values())}
        if jobs and not any(outcome["reward"] for outcome in outcomes.values()):
            raise RuntimeError("%s measured nothing: %s" % (self.client.url, next(iter(outcomes.values())).get("error", "no word why")))
        found = {pair: self._value(outcomes[jobs[pair]]) if pair in jobs else PENALTY for pair in pairs}
        ok = sum(pair in jobs and outcomes[jobs[pair]]["verdict"] == "ok" for pair in pairs)
        rewards = []
        for prompt, line in pairs:
            value = found[prompt, line]
            known = [v for (other, _), v in found.items() if other == prompt and v is not None]
            rewards.append(value if value is not None else statistics.fmean(known or [0.0]))
        return rewards, ok / len(pairs)

    @staticmethod
    def _value(outcome: Dict[str, Any]) -> Optional[float]:
        return log_reward(outcome["reward"]["value"], PENALTY) if outcome["reward"] else None

    def _submit(self, pairs: Sequence[Tuple[str, str]]) -> Dict[Tuple[str, str], str]:
        """The job of each line that the server takes. RuntimeError where it refuses for another reason than
        the line."""
        asked = [(pair, sent) for pair in pairs for sent in [self.submission(*pair)] if sent is not None]
        jobs: Dict[Tuple[str, str], str] = {}
        for at in range(0, len(asked), BATCH):
            part = asked[at:at + BATCH]
            for (pair, _), job in zip(part, self.client.ask("/v1/jobs", {"jobs": [sent for _, sent in part]})["jobs"]):
                if "id" in job:
                    jobs[pair] = job["id"]
                elif job.get("status") != 400:
                    raise RuntimeError("%s: %s" % (self.client.url, job.get("error", job)))
        return jobs

    def submission(self, prompt: str, line: str) -> Optional[Dict[str, Any]]:
        """None for what is no line of a known kernel."""
        problem = self.problems[prompt]
        try:
            sent = submission(line, self.usual, problem, layout=problem.layout, **EFFORT)
        except (KeyError, IndexError, ValueError):
            return None
        return stand_in(sent) if self.cpu else sent
