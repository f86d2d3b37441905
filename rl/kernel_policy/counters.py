"""Counters of recorded lines for a prompt: the packed file that holds them (rl/data/), each scaled to 0..1.

    python -m kernel_policy.counters counters.jsonl --device "NVIDIA H100 80GB HBM3" -o data/counters.xz

The input is what counted.py gathers. A launch's counters do not depend on how launches follow each other, so
they count for both modes. Standard library only; prompt.py reads the file.
"""
from __future__ import annotations

import argparse
import json
import lzma
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Sequence, Tuple

from .counted import METRICS, WEIGHT
from .records import Problem, Records, load

SCHEMA = "cudal2-rl/counters"
DATA = Path(__file__).resolve().parent.parent / "data" / "counters.xz"
STEPS = 255

Key = Tuple[int, int, int, str, str, str]  # the shape, layout, accumulate type, and the line


class Counters(NamedTuple):
    metrics: List[str]
    values: Dict[Key, List[float]]  # of each metric, 0..1

    def of(self, problem: Problem, line: str) -> List[float]:
        """A flag, then one value for each metric; all zero where nothing was counted."""
        found = self.values.get(key_of(problem, line))
        return [0.0] * self.width if found is None else [1.0, *found]

    @property
    def width(self) -> int:
        return 1 + len(self.metrics)


def key_of(problem: Problem, line: str) -> Key:
    return (*problem.shape, problem.layout, problem.accumulate, line)


def _planes(values: Sequence[int]) -> bytes:
    return bytes(v & 255 for v in values) + bytes(v >> 8 for v in values)


def gathered(rows: Sequence[Dict[str, Any]], records: Records) -> Counters:
    """Percentages of counted.METRICS as shares; a row that lacks one that others have is left out. The time
    is no counter."""
    problems = {p.problem.text(): p.problem for p in records.pools}
    found = [row for row in rows if "metrics" in row and row["problem"] in problems]
    names = [name for name in METRICS if name != WEIGHT and any(name in row["metrics"] for row in found)]
    values = {key_of(problems[row["problem"]], row["line"]): [min(1.0, max(0.0, row["metrics"][name] / 100)) for name in names]
              for row in found if all(name in row["metrics"] for name in names)}
    return Counters(names, values)


def save(counters: Counters, records: Records, device: str, path: Path) -> None:
    """Sorted by problem; which lines, and then the values of one metric after the other."""
    index = {line: i for i, line in enumerate(records.lines)}
    keys = sorted(counters.values)
    head = {"schema": SCHEMA, "version": 1, "device": device, "metrics": counters.metrics, "problems": [list(k[:5]) for k in keys]}
    body = _planes([index[key[5]] for key in keys])
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
        lines = [records.lines[low | high << 8] for low, high in zip(body[:count], body[count:2 * count])]
    except OSError as error:
        raise ValueError("%s: no counters (kernel_policy/counted.py gathers them on a GPU): %s" % (path, error.strerror)) from error
    except (lzma.LZMAError, ValueError, KeyError, IndexError) as error:
        raise ValueError("%s: not a file of %s, version 1 (%s)" % (path, SCHEMA, error)) from error
    return Counters(metrics, {(*problem, line): [body[(2 + at) * count + i] / STEPS for at in range(len(metrics))]
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
