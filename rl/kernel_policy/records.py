"""The recorded measurements: problems, configurations, times; and the packed file that holds them (rl/data/).

Standard library only. The packed file is xz: one line of JSON (configurations, problems), then columns of
numbers. Times are kept as round(1000 ln t), that is to 0.1%; a repeated measurement scatters by 2%.
"""
from __future__ import annotations

import json
import lzma
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, List, Sequence, Tuple

SCHEMA = "cudal2-rl/measurements"
STEP = 1000.0
DATA = Path(__file__).resolve().parent.parent / "data" / "h200.xz"

Shape = Tuple[int, int, int]


@dataclass(frozen=True)
class Problem:
    """What a kernel is chosen for. `reference_ns` is the fastest baseline's time in the grid runs, 0 if none
    ran."""
    m: int
    n: int
    k: int
    layout: str
    accumulate: str
    mode: str
    reference_ns: float = 0.0

    @property
    def shape(self) -> Shape:
        return (self.m, self.n, self.k)

    @property
    def kind(self) -> Tuple[str, str, str]:
        return (self.layout, self.accumulate, self.mode)

    def text(self) -> str:
        return "%dx%dx%d %s %s %s" % (self.m, self.n, self.k, self.layout, self.accumulate, self.mode)


@dataclass
class Pool:
    """A problem with the configurations that were measured for it; the three lists run side by side."""
    problem: Problem
    lines: List[int]       # indices into Records.lines
    times: List[float]     # nanoseconds
    predicted: List[float]  # what the tuner's model expected, in nanoseconds

    @property
    def best(self) -> float:
        return min(self.times)


@dataclass
class Records:
    lines: List[str]  # "persistent BM=128 BN=256 STAGES=4": parameters that differ from the kernel's usual value
    usual: Dict[str, Dict[str, int]]  # of each kernel: the value of a parameter that a line does not name
    pools: List[Pool]


def _number(ns: float) -> int:
    return round(STEP * math.log(ns))


def planes(values: Sequence[int]) -> bytes:
    """16-bit numbers as all low bytes, then all high bytes: that packs better."""
    return bytes(v & 255 for v in values) + bytes(v >> 8 for v in values)


def from_planes(data: bytes) -> List[int]:
    half = len(data) // 2
    return [low | high << 8 for low, high in zip(data[:half], data[half:])]


def save(records: Records, path: Path) -> None:
    head = {"schema": SCHEMA, "version": 1, "lines": records.lines, "usual": records.usual,
            "problems": [[p.problem.m, p.problem.n, p.problem.k, *p.problem.kind, p.problem.reference_ns, len(p.lines)]
                         for p in records.pools]}
    body = b"".join(planes([v for p in records.pools for v in column(p)]) for column in (
        lambda p: p.lines, lambda p: [_number(t) for t in p.times], lambda p: [_number(t) for t in p.predicted]))
    text = json.dumps(head, separators=(",", ":")).encode() + b"\n"
    path.write_bytes(lzma.compress(text + body, preset=9 | lzma.PRESET_EXTREME))


def load(path: Path = DATA) -> Records:
    """ValueError, with the file's name, when it is not such a file."""
    try:
        text, body = lzma.decompress(path.read_bytes()).split(b"\n", 1)
        head = json.loads(text)
        if head["schema"] != SCHEMA or len(body) != 6 * sum(p[7] for p in head["problems"]):
            raise ValueError("schema or length")
    except (lzma.LZMAError, ValueError, KeyError, TypeError) as error:
        raise ValueError("%s: not a file of %s, version 1 (%s)" % (path, SCHEMA, error)) from error
    third = len(body) // 3
    lines, times, predicted = (from_planes(body[i * third:(i + 1) * third]) for i in range(3))
    pools, at = [], 0
    for m, n, k, layout, accumulate, mode, reference, count in head["problems"]:
        cut = slice(at, at + count)
        pools.append(Pool(Problem(m, n, k, layout, accumulate, mode, reference), lines[cut],
                          [math.exp(v / STEP) for v in times[cut]], [math.exp(v / STEP) for v in predicted[cut]]))
        at += count
    return Records(head["lines"], head["usual"], pools)
