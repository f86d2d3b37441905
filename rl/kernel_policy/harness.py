"""The live environment: parameter lines of the blocked CPU kernel, compiled and raced by `cudal2-bench run`.

A line is "blocked KC=256 MC=96 NC=2048 OPT=3". A group of lines races in one cell against OpenBLAS, paired
and checked by the harness; the reward is log(t_reference / t). What does not compile, is wrong or dies has no
time and gets PENALTY. Standard library only; called by closed_loop.py and gym_env.py's tests.
"""
from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Tuple

from .env import RewardTerms
from .records import Problem

ROOT = Path(__file__).resolve().parents[2]
SPACE: Dict[str, Tuple[int, ...]] = {"KC": (32, 64, 128, 256, 512), "MC": (12, 24, 48, 96, 192),
                                     "NC": (32, 64, 128, 256, 1024, 2048), "OPT": (2, 3)}
COMPILE = ("-std=c17", "-D_GNU_SOURCE", "-fPIC", "-shared", "-pthread", "-fvisibility=hidden", "-ffp-contract=fast")
STOP = {"min_blocks": 8, "look_every": 4, "max_blocks": 24, "group_blocks": 4, "offline_half_width": 0.02}
PENALTY = -3.0


@dataclass(frozen=True)
class Outcome:
    """`time_ns` is None, and `why` says what happened, where there is no valid time."""
    reward: float
    time_ns: Optional[float] = None
    why: str = ""


def all_lines() -> List[str]:
    return [" ".join(["blocked"] + ["%s=%d" % pair for pair in zip(SPACE, values)])
            for values in itertools.product(*SPACE.values())]


def cpu_problem(m: int, n: int, k: int) -> Problem:
    return Problem(m, n, k, "nn", "f32", "offline")


def find_program() -> Optional[Path]:
    """$CUDAL2_BENCH, the build directory's, or the one on the path."""
    named = os.environ.get("CUDAL2_BENCH")
    if named:
        return Path(named)
    built = Path(os.environ.get("CUDAL2_BUILD", ROOT / "build")) / "cudal2-bench"
    found = shutil.which("cudal2-bench")
    return built if built.exists() else Path(found) if found else None


class CpuHarness:
    """Compiles each line once, races groups of them. Close it to delete what it built."""

    def __init__(self, program: Optional[Path] = None, compiler: Optional[str] = None, cell_seconds: float = 3.0):
        found = program or find_program()
        if found is None:
            raise FileNotFoundError("no cudal2-bench: build it (make), or name it in $CUDAL2_BENCH")
        self.program, self.compiler = found, compiler or os.environ.get("CC", "cc").split()[-1]
        self.cell_seconds = cell_seconds
        self.runs = self.compiled = 0
        self._made = tempfile.TemporaryDirectory(prefix="cudal2-rl-")
        self.directory = Path(self._made.name)
        self._plugins: Dict[str, Tuple[Optional[Path], str]] = {}

    def close(self) -> None:
        self._made.cleanup()

    def plugin(self, line: str) -> Tuple[Optional[Path], str]:
        """The built plugin, or None and the compiler's last line."""
        if line not in self._plugins:
            self._plugins[line] = self._build(line, "b%d" % len(self._plugins))
        return self._plugins[line]

    def _build(self, line: str, name: str) -> Tuple[Optional[Path], str]:
        values = dict(word.split("=") for word in line.split()[1:])
        to = self.directory / (name + ".so")
        command = [self.compiler, *COMPILE, "-O" + values.pop("OPT", "3"), "-I%s" % (ROOT / "harness"),
                   "-DBLOCKED_NAME=\"%s\"" % name, *("-D%s=%s" % pair for pair in values.items()),
                   str(ROOT / "kernels/plugins/blocked.c"), "-o", str(to)]
        done = subprocess.run(command, capture_output=True, text=True)
        self.compiled += 1
        wrong = [text for text in done.stderr.splitlines() if "error" in text]
        wrong = wrong or ["the compiler ended with %d" % done.returncode]
        return (to, "") if done.returncode == 0 else (None, wrong[0])

    def measure(self, problem: Problem, lines: Sequence[str], terms: RewardTerms = RewardTerms()) -> List[Outcome]:
        """One cell. A line that is there twice is raced once."""
        built = {line: self.plugin(line) for line in lines}
        right = {line: path for line, (path, _) in built.items() if path is not None}
        times, reference, why = self._race(problem, list(right.values())) if right else ({}, 0.0, {})
        out: List[Outcome] = []
        for line in lines:
            path, message = built[line]
            time = times.get(path.stem) if path else None
            if time is None:
                out.append(Outcome(PENALTY, None, why.get(path.stem, "no time") if path else message))
            else:
                out.append(Outcome(terms.reward(time, reference, len(line.split())), time))
        return out

    def _race(self, problem: Problem, plugins: List[Path]) -> Tuple[Dict[str, float], float, Dict[str, str]]:
        config = {"schema": "cudal2-bench/config", "schema_version": 1, "shapes": ["%dx%dx%d" % problem.shape],
                  "layouts": [problem.layout], "modes": [problem.mode], "baselines": ["openblas"],
                  "candidates": [str(p) for p in plugins], "stop": {**STOP, "max_cell_seconds": self.cell_seconds}}
        written, result = self.directory / "config.json", self.directory / "result.json"
        written.write_text(json.dumps(config))
        for old in self.directory.glob("result*"):
            old.unlink()
        done = subprocess.run([str(self.program), "run", "--config", str(written), "--device", "cpu", "--quiet",
                               "--shard", "none", "--no-color", "--output", str(result)], capture_output=True, text=True)
        self.runs += 1
        if not result.exists():
            raise RuntimeError("cudal2-bench run ended with %d and no result: %s" % (
                done.returncode, (done.stderr.strip().splitlines() or ["?"])[-1]))
        return self._read(json.loads(result.read_text())["cells"][0])

    @staticmethod
    def _read(cell: Dict[str, Any]) -> Tuple[Dict[str, float], float, Dict[str, str]]:
        times: Dict[str, float] = {}
        why: Dict[str, str] = {}
        reference = 0.0
        for name, c in cell["contenders"].items():
            family = name.rsplit("-", 1)[0]
            if c["status"] != "ok":
                why[family] = "%s: %s" % (c["status"], c.get("reason", ""))
            elif family == "openblas":
                reference = c["timings"]["wall"]["median_ns"]
            else:
                times[family] = c["timings"]["wall"]["median_ns"]
        if reference <= 0:
            raise RuntimeError("the cell has no time of openblas: %s" % why.get("openblas", "it did not run"))
        return times, reference, why
