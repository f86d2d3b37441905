"""How long each way of choosing thinks about a held-out problem, on one core: seconds a problem.

    python -m kernel_policy.overhead --program ../build/cudal2-bench -o overhead.json
    python -m kernel_policy.overhead --policy runs/fold-1-1/policy.pt -o thinking.json

The tuner's model is timed as `tune --dry-run` ranks all legal lines, the others as compare.py runs them. A
policy reads its prompt and gives each line of the pool its likelihood; weights do not matter for that, so
they are untrained. They do where it writes lines word by word until so many differ: --policy times these of
one that was trained, on problems that were held out from it; with --torch-device cuda:0 on a GPU, by wall
clock. Needs torch; equal_time.py reads what the first command writes."""
from __future__ import annotations

import argparse
import json
import random
import resource
import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, Callable, Dict, List, Sequence, Set

import torch

from .model import sample
from .records import Pool, load
from .search import Neighbours, configurations, evolution_order, random_order
from .split import is_target, split
from .train import Recipe, Trainer, ordered, read_policy

LAYOUTS = 2
WRITTEN = (1, 4, 16)
ROUNDS = 16  # of so many lines each, at most: a policy that is sure repeats itself


def seconds_of(choose: Callable[[Pool], Any], pools: Sequence[Pool], clock: Callable[[], float] = time.process_time) -> float:
    """Seconds by `clock`, the mean over problems; a problem's prompt is made in it."""
    taken = []
    for pool in pools:
        began = clock()
        choose(pool)
        taken.append(clock() - began)
    return statistics.fmean(taken)


def model_seconds(program: str, pools: Sequence[Pool]) -> float:
    """Processor seconds of `tune --dry-run` for a problem, less those of a run with one shape."""
    shapes = sorted({p.problem.shape for p in pools})

    def run(count: int) -> float:
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump({"schema": "cudal2-bench/config", "schema_version": 1, "name": "overhead",
                       "shapes": [dict(zip("mnk", s)) for s in shapes[:count]]}, file)
            file.flush()
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            subprocess.run([program, "tune", "--dry-run", "--arch", "sm_90a", "--accumulate", "f32", "--config", file.name],
                           check=True, stdout=subprocess.DEVNULL)
            return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before

    return max(0.0, run(len(shapes)) - run(1)) / (len(shapes) - 1) / LAYOUTS


def policy_seconds(size: str, context: str, pools: Sequence[Pool]) -> float:
    trainer = Trainer(Recipe(size=size, context=context))
    for pool in pools[:2]:
        trainer.scores(pool)
    return seconds_of(lambda pool: ordered(trainer.scores(pool)), pools[2:])


def trained(path: Path, device: str = "cpu") -> Trainer:
    recipe, state = read_policy(path, device)
    trainer = Trainer(recipe, device=device)
    trainer.policy.adopt(state)
    trainer.policy.eval()
    return trainer


def write_lines(trainer: Trainer, pool: Pool, count: int) -> Set[int]:
    """Writes `count` lines, and again, until so many differ or the pool is out."""
    prompt = trainer.reader.prompt([pool]).on(trainer.device)
    choices = trainer.reader.choices([pool]).on(trainer.device)
    found: Set[int] = set()
    for _ in range(ROUNDS):
        found.update(sample(trainer.policy, prompt, choices, count, trainer.generator)[1][0].tolist())
        if len(found) >= min(count, len(pool.lines)):
            break
    return found


def thinking(path: Path, count: int, device: str = "cpu") -> Dict[str, Any]:
    """Processor seconds of a problem, on a GPU those of the clock on the wall: for the likelihood of its
    whole pool, and for lines one by one. Each answer is on the host before the next is asked for."""
    torch.set_num_threads(1)
    trainer, clock = trained(path, device), time.process_time if device == "cpu" else time.perf_counter
    pools = [p for p in trainer.split.test if is_target(p)]
    some: List[Pool] = pools[::max(1, len(pools) // count)]
    for pool in some[:2]:
        write_lines(trainer, pool, 1)
    trainer.reader.forget()
    found = {"whole pool": seconds_of(lambda pool: ordered(trainer.scores(pool)), some, clock)}
    lines: Dict[str, float] = {}
    for wanted in WRITTEN:
        trainer.reader.forget()
        got: List[int] = []
        found[str(wanted)] = seconds_of(lambda pool: got.append(len(write_lines(trainer, pool, wanted))), some, clock)
        lines[str(wanted)] = round(statistics.fmean(got), 1)
    where = "one core" if device == "cpu" else torch.cuda.get_device_name(device)
    return {"policy": "%s, %s" % (trainer.recipe.size, trainer.recipe.context), "device": where, "problems": len(some),
            "pool": statistics.median(len(p.lines) for p in some), "lines": lines,
            "seconds": {name: round(value, 6) for name, value in found.items()}}


def measured(program: str, count: int) -> Dict[str, Any]:
    torch.set_num_threads(1)
    records = load()
    parts, rng = split(records), random.Random(7)
    pools = [p for p in parts.test if is_target(p)]
    some: List[Pool] = pools[::max(1, len(pools) // count)]
    values, near = configurations(records), Neighbours(parts.train)
    found: Dict[str, float] = {"random": seconds_of(lambda p: random_order(p, rng), pools),
                               "evolution": seconds_of(lambda p: evolution_order(p, values, rng), pools),
                               "neighbour table": seconds_of(near.order, pools), "ranker": model_seconds(program, pools)}
    for size in ("small", "large"):
        for context in ("none", "neighbours", "neighbours+ranker"):
            found["%s, %s" % (size, context)] = policy_seconds(size, context, some)
    return {"problems": len(pools), "seconds": {name: round(value, 6) for name, value in found.items()}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="../build/cudal2-bench")
    parser.add_argument("--problems", type=int, default=25, help="that a policy is timed on; default: %(default)s")
    parser.add_argument("--policy", type=Path, help="policy.pt of kernel_policy.train: times its lines, and nothing else")
    parser.add_argument("--torch-device", default="cpu", help="of that policy; default: %(default)s")
    parser.add_argument("-o", "--output", type=Path, required=True)
    options = parser.parse_args()
    found = thinking(options.policy, options.problems, options.torch_device) if options.policy else measured(options.program, options.problems)
    options.output.write_text(json.dumps(found, indent=1) + "\n")
    print(json.dumps(found["seconds"]))


if __name__ == "__main__":
    main()
