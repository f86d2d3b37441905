"""What raced in a search: of each cell, candidate and layout of a journal the configurations and their times.
Standard library only."""
from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any, Dict, Iterator, List, Tuple


def entries_of(path: Path) -> Iterator[Tuple[str, Dict[str, Any]]]:
    """Kind and data of each line."""
    opener = gzip.open if str(path).endswith(".gz") else open
    with opener(path, "rt") as file:
        for line in file:
            entry = json.loads(line)
            yield entry["kind"], entry["data"]


Contender = Dict[str, Any]


def layout_of(contender: Contender) -> str:
    return contender["name"].rsplit("-", 1)[1]


def raced(cell: Dict[str, Any]) -> Iterator[Tuple[Contender, List[Tuple[str, float]]]]:
    """Each contender that names its configurations, and each key with its time in nanoseconds."""
    for contender in cell["contenders"]:
        tuning = contender.get("tuning") or {}
        race = [(key, ns) for key, ns in zip(tuning.get("keys", ()), tuning.get("race_ns", ())) if ns]
        if race:
            yield contender, race
