"""Which part of a work is this process's: the words of schedulers, and their order, as `cudal2-bench run
--shard` has them.

    shard = resolve()                       # or resolve("3/8"); None: all of it
    for i in own(shard, costs): ...         # places of this process's items

Every process cuts alike, from the costs alone. Standard library only; read by scripts/import and rl/, and by
loops of your own."""
from __future__ import annotations

import heapq
import os
import re
from dataclasses import dataclass
from typing import List, Mapping, Optional, Sequence, Tuple

MOST = 65536


@dataclass(frozen=True)
class Shard:
    """The index counts from 0; `source` is the word that said so."""
    index: int
    count: int
    source: str

    def __str__(self) -> str:
        return "%d/%d" % (self.index, self.count)


def parse(text: str, source: str = "--shard") -> Optional[Shard]:
    """"3/8", or "none". ValueError for anything else."""
    if text == "none":
        return None
    found = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text)
    index, count = (int(found.group(1)), int(found.group(2))) if found else (0, 0)
    if not 0 <= index < count <= MOST:
        raise ValueError('%s: expected I/N with I from 0 to N-1 and N up to %d, found "%s"' % (source, MOST, text[:40]))
    return Shard(index, count, source)


def _of_array(environ: Mapping[str, str], name: str) -> Optional[Shard]:
    """A part of an array (--array=3,7) has the count of the part: only a whole one says N by itself."""
    if "CUDAL2_SHARDS" in environ:
        return parse("%s/%s" % (environ[name], environ["CUDAL2_SHARDS"]), name)
    low, high, n = (environ.get("SLURM_ARRAY_TASK_" + word, "") for word in ("MIN", "MAX", "COUNT"))
    numbers = all(re.fullmatch("[0-9]{1,6}", word) for word in (low, high, n))
    if not numbers or int(low) != 0 or int(n) != int(high) + 1 or environ.get("SLURM_ARRAY_TASK_STEP", "1") != "1":
        raise ValueError("%s: this array is not 0-(N-1) in steps of 1, so the number of shards is unknown: set "
                         "CUDAL2_SHARDS=N, or --shard none to do everything" % name)
    return parse("%s/%s" % (environ[name], n), name)


def _several(environ: Mapping[str, str], name: str) -> bool:
    return bool(re.fullmatch("[0-9]{1,6}", environ.get(name, ""))) and int(environ[name]) > 1


def resolve(option: Optional[str] = None, environ: Mapping[str, str] = os.environ) -> Optional[Shard]:
    """The first of: the option, CUDAL2_SHARD, a Slurm array, a Kubernetes Indexed Job with CUDAL2_SHARDS, a
    Slurm step of several tasks, Open MPI. None, when there is none or it says "none": everything. ValueError
    for what is no shard."""
    if option is not None:
        return parse(option)
    if environ.get("CUDAL2_SHARD"):
        return parse(environ["CUDAL2_SHARD"], "CUDAL2_SHARD")
    if "SLURM_ARRAY_TASK_ID" in environ:
        return _of_array(environ, "SLURM_ARRAY_TASK_ID")
    if "JOB_COMPLETION_INDEX" in environ and "CUDAL2_SHARDS" in environ:
        return parse("%s/%s" % (environ["JOB_COMPLETION_INDEX"], environ["CUDAL2_SHARDS"]), "JOB_COMPLETION_INDEX")
    if "SLURM_PROCID" in environ and _several(environ, "SLURM_STEP_NUM_TASKS"):
        count = environ.get("SLURM_NTASKS", environ["SLURM_STEP_NUM_TASKS"])
        return parse("%s/%s" % (environ["SLURM_PROCID"], count), "SLURM_PROCID")
    if "OMPI_COMM_WORLD_RANK" in environ and _several(environ, "OMPI_COMM_WORLD_SIZE"):
        return parse("%s/%s" % (environ["OMPI_COMM_WORLD_RANK"], environ["OMPI_COMM_WORLD_SIZE"]), "OMPI_COMM_WORLD_RANK")
    return None


def own(shard: Optional[Shard], costs: Sequence[float]) -> List[int]:
    """Places of the items of this shard, ascending: the longest first, each to the shard with the least so
    far."""
    if shard is None:
        return list(range(len(costs)))
    loads: List[Tuple[int, int]] = [(0, i) for i in range(shard.count)]
    mine: List[int] = []
    whole = [round(cost * 1e6) for cost in costs]  # alike on every host
    for place in sorted(range(len(costs)), key=lambda i: (-whole[i], i)):
        load, index = loads[0]
        heapq.heapreplace(loads, (load + whole[place], index))
        if index == shard.index:
            mine.append(place)
    return sorted(mine)
