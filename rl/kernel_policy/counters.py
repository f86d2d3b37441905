"""Counters of recorded lines for a prompt: the packed file that holds them (rl/data/), each as a share of the
largest.

    python -m kernel_policy.counters counters.jsonl --device "NVIDIA H100 80GB HBM3" -o data/counters.xz

The input is what counted.py gathers. A launch's counters do not depend on how launches follow each other, so
they count for both modes. A line that was not counted itself is told with those of the line that was, on the
same shape: on the whole they say what limits it there. Standard library only; prompt.py reads the file.
"""
from __future__ import annotations

import argparse
import json
import lzma
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Sequence, Tuple

from .counted import METRICS, WEIGHT
from .records import Problem, Records, load, planes, from_planes

SCHEMA = "cudal2-rl/counters"
DATA = Path(__file__).resolve().parent.parent / "data" / "counters.xz"
STEPS = 255

Key = Tuple[int, int, int, str, str, str]  # the shape, accumulate type, layout, and the line
ITSELF, ITS_SHAPE = 1.0, 0.5  # whose counters a line is told with


class Counters(NamedTuple):
    metrics: List[str]
    largest: List[float]            # of each metric, in percent
    values: Dict[Key, List[float]]  # of each metric, as a share of the largest
    shapes: Dict[Tuple[int, int, int, str], Key]  # the first line that was counted there, in whatever layout

    def of(self, problem: Problem, line: str) -> List[float]:
        """Whose they are, then one value for each metric: the line's own, or those of the line that was
        counted for its shape; all zero where nothing was."""
        key = key_of(problem, line)
        if key in self.values:
            return [ITSELF, *self.values[key]]
        other = self.shapes.get(key[:4])
        return [0.0] * self.width if other is None else [ITS_SHAPE, *self.values[other]]

    @property
    def width(self) -> int:
        return 1 + len(self.metrics)


def key_of(problem: Problem, line: str) -> Key:
    return (*problem.shape, problem.accumulate, problem.layout, line)


def made(metrics: List[str], largest: List[float], values: Dict[Key, List[float]]) -> Counters:
    shapes: Dict[Tuple[int, int, int, str], Key] = {}
    for key in values:
        shapes.setdefault(key[:4], key)
    return Counters(metrics, largest, values, shapes)


def gathered(rows: Sequence[Dict[str, Any]], records: Records) -> Counters:
    """A row that lacks a metric that others have is left out. The time is no counter. Of a shape the first
    row speaks for the others."""
    problems = {p.problem.text(): p.problem for p in records.pools}
    found = [row for row in rows if "metrics" in row and row["problem"] in problems]
    names = [name for name in METRICS if name != WEIGHT and any(name in row["metrics"] for row in found)]
    whole = [row for row in found if all(name in row["metrics"] for name in names)]
    largest = [max([1e-9, *(row["metrics"][name] for row in whole)]) for name in names]
    return made(names, largest, {key_of(problems[row["problem"]], row["line"]): [max(0.0, row["metrics"][name] / most)
                                                                                for name, most in zip(names, largest)] for row in whole})


def save(counters: Counters, records: Records, device: str, path: Path) -> None:
    """Which lines, and then the values of one metric after the other."""
    index = {line: i for i, line in enumerate(records.lines)}
    keys = list(counters.values)
    head = {"schema": SCHEMA, "version": 1, "device": device, "metrics": counters.metrics,
            "largest": [round(most, 3) for most in counters.largest], "problems": [list(k[:5]) for k in keys]}
    body = planes([index[key[5]] for key in keys])
    body += b"".join(bytes(round(STEPS * counters.values[key][at]) for key in keys) for at in range(len(counters.metrics)))
    text = json.dumps(head, separators=(",", ":")).encode() + b"\n"
    path.write_bytes(lzma.compress(text + body, preset=9 | lzma.PRESET_EXTREME))


def read(records: Records, path: Path = DATA) -> Counters:
    """ValueError, with the file's name, where it is not there or not such a file."""
    try:
        text, body = lzma.decompress(path.read_bytes()).split(b"\n", 1)
        head = json.loads(text)
        count, metrics = len(head["problems"]), head["metrics"]
        if head["schema"] != SCHEMA or len(body) != count * (2 + len(metrics)):
            raise ValueError("schema or length")
        lines = [records.lines[i] for i in from_planes(body[:2 * count])]
    except OSError as error:
        raise ValueError("%s: no counters (kernel_policy/counted.py gathers them on a GPU): %s" % (path, error.strerror)) from error
    except (lzma.LZMAError, ValueError, KeyError, IndexError) as error:
        raise ValueError("%s: not a file of %s, version 1 (%s)" % (path, SCHEMA, error)) from error
    return made(metrics, head["largest"], {(*problem, line): [body[(2 + at) * count + i] / STEPS for at in range(len(metrics))]
                              for i, (problem, line) in enumerate(zip(head["problems"], lines))})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--device", required=True, help="the GPU's name")
    parser.add_argument("-o", "--output", type=Path, default=DATA)
    options = parser.parse_args()
    records = load()
    counters = gathered([json.loads(line) for line in options.file.read_text().splitlines()], records)
    save(counters, records, options.device, options.output)
    print("%d lines, %d counters of each, %d bytes" % (len(counters.values), len(counters.metrics), options.output.stat().st_size))


if __name__ == "__main__":
    main()
