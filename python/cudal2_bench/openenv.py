"""An OpenEnv environment in front of `cudal2-bench serve`: reset draws a problem, a step submits a kernel for
it.

    python -m cudal2_bench.openenv --start cpu --port 8000      # with a server of its own
    python -m cudal2_bench.openenv --url http://gpu-host:8090   # for one that runs

    from openenv.core import GenericEnvClient
    with GenericEnvClient(base_url="http://localhost:8000").sync() as env:
        env.reset(problem="1024x1024x1024")
        print(env.step({"submission": {"candidate": "cudal2"}}).reward)

Relies on openenv-core (`pip install cudal2-bench[openenv]`) and served.py. Not imported by the package
itself."""
from __future__ import annotations

import argparse
import os
import random
import uuid
from typing import Any, Dict, List, Optional, Sequence

from openenv.core.env_server.http_server import create_fastapi_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, EnvironmentMetadata, Observation, State
from pydantic import Field

from ._program import version
from .errors import DataError
from .served import Client, serving

PROBLEMS = ["512x512x512", "1024x1024x1024", "4096x4096x4096"]
# What the environment says itself, so that no episode chooses easier terms.
KEPT = ("problem", "again", "priority")


class KernelAction(Action):  # type: ignore[misc]
    """A candidate for the problem of the episode: members of a submission, as docs/serve.md has them."""

    submission: Dict[str, Any] = Field(description="candidate, or kernel and parameters, or source and manifest; no problem")


class KernelObservation(Observation):  # type: ignore[misc]
    """What is known after a reset or a step. `reward` is Eq. 3's, 0 for a candidate that failed, None where
    nothing was learnt about it."""

    problem: str = Field(description="M x N x K")
    steps_left: int = Field(description="submissions that the episode still takes")
    best: Optional[float] = Field(default=None, description="the best reward of the episode")
    verdict: str = Field(default="", description="ok, or why there is no speed")
    error: str = Field(default="", description="for the next attempt: compiler lines, wrong elements, what check failed")
    outcome: Dict[str, Any] = Field(default_factory=dict, description="all that the server says")


class KernelState(State):  # type: ignore[misc]
    """Of an episode; `history` has a line for each step."""

    problem: str = ""
    steps_left: int = 0
    best: Optional[float] = None
    history: List[Dict[str, Any]] = Field(default_factory=list)


class KernelEnvironment(Environment[KernelAction, KernelObservation, KernelState]):  # type: ignore[misc]
    """An episode is one problem and `budget` submissions for it. Each session has an environment of its own;
    the server measures one job at a time on each device, so that sessions do not disturb each other."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, client: Client, problems: Sequence[str] = PROBLEMS, budget: int = 8,
                 common: Optional[Dict[str, Any]] = None) -> None:
        super().__init__()
        self.client, self.problems, self.budget, self.common = client, list(problems), budget, dict(common or {})
        self._state = KernelState()

    def reset(self, seed: Optional[int] = None, episode_id: Optional[str] = None, **kwargs: Any) -> KernelObservation:
        """Draws a problem, or takes `problem`."""
        problem = kwargs.get("problem") or random.Random(seed).choice(self.problems)
        self._state = KernelState(episode_id=episode_id or uuid.uuid4().hex, problem=str(problem), steps_left=self.budget)
        return self._observe()

    def step(self, action: KernelAction, timeout_s: Optional[float] = None, **kwargs: Any) -> KernelObservation:
        """Submits and waits. A malformed submission costs a step and says what is wrong with it."""
        state = self._state
        if not state.problem or state.steps_left == 0:
            return self._observe(verdict="refused", error="the episode is over: reset")
        outcome = self._measure(action.submission)
        value = (outcome.get("reward") or {}).get("value")
        state.step_count += 1
        state.steps_left -= 1
        if value is not None:
            state.best = value if state.best is None else max(state.best, value)
        state.history = [*state.history, {"verdict": outcome["verdict"], "reward": value}]
        return self._observe(reward=value, verdict=outcome["verdict"], error=outcome.get("error", ""), outcome=outcome)

    @property
    def state(self) -> KernelState:
        return self._state

    def get_metadata(self) -> EnvironmentMetadata:
        return EnvironmentMetadata(name="cudal2-bench", version=version(),
                                   description="GPU matrix multiplication kernels in, verified and measured speedups out")

    def _measure(self, submission: Dict[str, Any]) -> Dict[str, Any]:
        own = [key for key in KEPT if key in submission]
        if own:
            return {"verdict": "invalid", "reward": {"value": 0.0}, "error": "invalid: the environment sets %s" % own[0]}
        try:
            return self.client.measure({**self.common, **submission, "problem": self._state.problem})
        except DataError as error:
            return {"verdict": "invalid", "reward": {"value": 0.0}, "error": "invalid: %s" % error}

    def _observe(self, reward: Optional[float] = None, **more: Any) -> KernelObservation:
        state = self._state
        return KernelObservation(problem=state.problem, steps_left=state.steps_left, best=state.best, reward=reward,
                                 done=bool(state.problem) and state.steps_left == 0, **more)


def create_app(client: Client, problems: Sequence[str] = PROBLEMS, budget: int = 8, sessions: int = 16,
               common: Optional[Dict[str, Any]] = None) -> Any:
    """The ASGI application that OpenEnv's clients talk to, for uvicorn or whatever runs one."""
    return create_fastapi_app(lambda: KernelEnvironment(client, problems, budget, common), KernelAction, KernelObservation,
                              max_concurrent_envs=sessions)


def main(arguments: Optional[Sequence[str]] = None) -> None:
    """`python -m cudal2_bench.openenv`."""
    import uvicorn

    parser = argparse.ArgumentParser(prog="python -m cudal2_bench.openenv", description="OpenEnv environment of cudal2-bench")
    parser.add_argument("--url", default="http://127.0.0.1:8090", help="a server that runs (token: $CUDAL2_TOKEN)")
    parser.add_argument("--start", metavar="DEVICE", help="start a server on this device instead")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--problems", default=",".join(PROBLEMS), help="drawn from by reset")
    parser.add_argument("--budget", type=int, default=8, help="submissions of an episode")
    parser.add_argument("--sessions", type=int, default=16, help="episodes at the same time")
    options = parser.parse_args(arguments)

    def listen(url: str) -> None:
        client = Client(url, os.environ.get("CUDAL2_TOKEN"))
        uvicorn.run(create_app(client, options.problems.split(","), options.budget, options.sessions), host=options.host,
                    port=options.port, log_level="warning")

    if options.start:
        with serving(options.start) as url:
            listen(url)
    else:
        listen(options.url)


if __name__ == "__main__":
    main()
