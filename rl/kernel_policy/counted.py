"""Hardware counters of recorded lines, by NVIDIA's ncu on this machine's GPU: what a prompt can say of a
neighbour's kernel.

    python -m kernel_policy.counted --program ../build/cudal2-bench --device cuda:0 --minutes 10
    counters.jsonl

One JSON line for each problem and line: METRICS of one launch by name, or the reason in `unavailable`. The
same command goes on where the file ends. First processes without ncu compile what is missing into the cache,
as many at once as there are cores; then one process under ncu launches some hundred lines one after the other
(`cudal2-bench verify --one-launch=@FILE`). An empty kernel marks the places in ncu's table where a group of
launches begins; a group whose rows are not as many as its launches is asked for again, one launch to a mark.
The best line of each shape comes first. Standard library only."""
from __future__ import annotations

import argparse
import csv
import heapq
import json
import math
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Set, Tuple

from .records import Pool, Problem, Records, load
from .served import parameters_of
from .split import is_target

WEIGHT = "gpu__time_duration.sum"
METRICS = [WEIGHT, "sm__throughput.avg.pct_of_peak_sustained_elapsed", "sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active",
           "dram__throughput.avg.pct_of_peak_sustained_elapsed", "lts__t_sectors.avg.pct_of_peak_sustained_elapsed",
           "lts__t_sector_hit_rate.pct", "sm__warps_active.avg.pct_of_peak_sustained_active"]
MARK = "null_kernel"
TOLD = re.compile(r" (launched once|not launched: .*)$")
FORBIDDEN = "ERR_NVGPUCTRPERM"
COMPILED_AT_ONCE = 4  # lines of a process that compiles
PATIENCE = 3  # processes one after the other that launch nothing


@dataclass(frozen=True)
class Asked:
    problem: Problem
    line: str

    def key(self) -> Tuple[str, str]:
        return (self.problem.text(), self.line)


@dataclass
class Table:
    """What a process said: of each launch in order how it went, and ncu's rows."""
    told: List[str]
    rows: List[Dict[str, str]] = field(default_factory=list)
    complaint: str = ""


# ---- what is asked for


def best_of(pool: Pool, count: int) -> List[int]:
    return heapq.nsmallest(count, range(len(pool.lines)), key=lambda i: pool.times[i])


def wanted(records: Records, lines: int = 2) -> List[Asked]:
    """Of the class of stage 3: of each shape the best line of the layout whose best line is the faster one;
    then the other layout's; then the next lines of both."""
    pools = sorted(filter(is_target, records.pools), key=lambda pool: (pool.best, pool.problem.text()))
    seen: Set[Any] = set()
    ranked: List[Tuple[int, int, Asked]] = []
    for at, pool in enumerate(pools):
        second = pool.problem.shape in seen
        seen.add(pool.problem.shape)
        for place, i in enumerate(best_of(pool, lines)):
            ranked.append((2 * place + second, at, Asked(pool.problem, records.lines[pool.lines[i]])))
    return [asked for _, _, asked in sorted(ranked, key=lambda r: r[:2])]


def choice(asked: Asked, records: Records) -> str:
    """A line of `--one-launch=@FILE`."""
    values = parameters_of(asked.line, records.usual, asked.problem)
    key = ",".join("%s=%d" % value for value in values.items())
    return "%dx%dx%d cudal2-%s=%s:%s" % (*asked.problem.shape, asked.problem.layout, asked.line.split()[0], key)


def config_of(asked: Sequence[Asked]) -> Dict[str, Any]:
    shapes = sorted({a.problem.shape for a in asked})
    return {"schema": "cudal2-bench/config", "schema_version": 1, "name": "counted", "accumulate": ["f32"], "modes": ["offline"],
            "layouts": ["nn", "tn"], "shapes": [{"m": m, "n": n, "k": k} for m, n, k in shapes]}


# ---- what ncu prints


def number(text: str) -> float:
    """"52,704" or "80.82"; NaN for what is none ("n/a")."""
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return math.nan


def rows_of(text: str) -> List[Dict[str, str]]:
    """Rows of kernels below the row of names; the units, the profiler's own lines and rows cut short are
    left out."""
    lines = text.replace("\r\n", "\n").split("\n")
    at = next((i for i, line in enumerate(lines) if line.startswith(('"ID",', "ID,"))), None)
    if at is None:
        return []
    names, *rows = csv.reader(line for line in lines[at:] if line and not line.startswith("=="))
    return [dict(zip(names, row)) for row in rows if len(row) == len(names) and row[0].isdigit()]


def complaint(text: str) -> str:
    return next((line[len("==ERROR=="):].strip() for line in text.splitlines() if line.startswith("==ERROR==")), "")


def combined(rows: Sequence[Dict[str, str]], metrics: Sequence[str]) -> Dict[str, float]:
    """Of a launch of several kernels: sums, or means weighted by the kernels' times, as run/ncu_csv.c has
    them."""
    made: Dict[str, float] = {}
    for name in metrics:
        found = [(number(row.get(name, "")), number(row.get(WEIGHT, ""))) for row in rows]
        found = [(value, weight if weight > 0 else 1.0) for value, weight in found if not math.isnan(value)]
        if found and name.endswith(".sum"):
            made[name] = sum(value for value, _ in found)
        elif found:
            made[name] = sum(value * weight for value, weight in found) / sum(weight for _, weight in found)
    return made


def shared_out(table: Table, count: int, each: int) -> List[Optional[List[Dict[str, str]]]]:
    """The rows of each launch; None where that is not sure. `each`: launches to a mark, which is ahead of
    them."""
    found: List[Optional[List[Dict[str, str]]]] = [None] * count
    groups: List[List[Dict[str, str]]] = []
    for row in table.rows:
        if row["Kernel Name"].startswith(MARK):
            groups.append([])
        elif groups:
            groups[-1].append(row)
    done = len(table.told)
    if len(groups) not in (-(-done // each), min(done, count - 1) // each + 1):
        return found  # a mark is missing: nobody knows whose
    for i, group in enumerate(groups):
        launched = [at for at in range(i * each, min((i + 1) * each, done)) if table.told[at] == "launched once"]
        if each == 1 and launched and group:
            found[launched[0]] = group
        elif len(launched) == len(group):
            for at, row in zip(launched, group):
                found[at] = [row]
    return found


# ---- processes


class Machine:
    """Runs the program, under ncu or not."""

    def __init__(self, program: str, device: str, records: Records, ncu: str = "ncu", seconds: float = 300.0):
        self.program, self.device, self.records, self.ncu, self.seconds = program, device, records, ncu, seconds

    def _run(self, command: Sequence[str]) -> Tuple[str, str]:
        """stdout and stderr; what has not ended in time is killed, with all that it started."""
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   errors="replace", env={**os.environ, "LC_ALL": "C"}, start_new_session=True)
        try:
            return process.communicate(timeout=self.seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            return out, err + "\n==ERROR== ended after %.0f s" % self.seconds

    def launch(self, asked: Sequence[Asked], metrics: Sequence[str] = (), each: int = 1) -> Table:
        """One process for all of these; without metrics without ncu."""
        with tempfile.TemporaryDirectory() as name:
            directory = Path(name)
            lines = [choice(a, self.records) for a in asked]
            (directory / "config.json").write_text(json.dumps(config_of(asked)))
            (directory / "list").write_text("".join(("-\n" if i % each == 0 else "") + line + "\n" for i, line in enumerate(lines)))
            command = [self.program, "verify", "cudal2", "--in-process", "--quiet", "--one-launch=@%s" % (directory / "list"), "--baselines",
                       "none", "--device", self.device, "--config", str(directory / "config.json"), "--accumulate", "f32"]
            profiler = [self.ncu, "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none", "--profile-from-start",
                        "off", "--target-processes", "application-only", "--metrics", ",".join(metrics), "--log-file", str(directory / "table")]
            out, err = self._run(profiler + command if metrics else command)
            told = [found.group(1) for found in map(TOLD.search, out.splitlines()) if found]
            log = (directory / "table").read_text(errors="replace") if (directory / "table").exists() else ""
            last = (err.strip().splitlines() or [""])[-1]
            return Table(told, rows_of(log or out), complaint(log) or complaint(out) or complaint(err) or last)

    def compile(self, asked: Sequence[Asked], threads: int) -> None:
        """Each line once, like ones in one process, on its smallest shape."""
        small: Dict[str, Asked] = {}
        for a in sorted(asked, key=lambda a: math.prod(a.problem.shape)):
            small.setdefault("%s %s" % (a.line, a.problem.layout), a)
        lines = [small[key] for key in sorted(small)]
        parts = [lines[at:at + COMPILED_AT_ONCE] for at in range(0, len(lines), COMPILED_AT_ONCE)]
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(self.launch, parts))


# ---- the whole


class Gatherer:
    """Appends to the file; what it holds is not asked for again."""

    def __init__(self, machine: Any, path: Path, metrics: Sequence[str] = tuple(METRICS)):
        self.machine, self.path, self.metrics, self.nothing = machine, path, list(metrics), 0
        if WEIGHT not in self.metrics:
            self.metrics.append(WEIGHT)

    def had(self) -> Set[Tuple[str, str]]:
        rows = [json.loads(line) for line in self.path.read_text().splitlines()] if self.path.exists() else []
        return {(row["problem"], row["line"]) for row in rows if "metrics" in row}

    def _write(self, rows: Sequence[Dict[str, Any]]) -> None:
        with open(self.path, "a") as file:
            file.write("".join(json.dumps(row) + "\n" for row in rows))

    def _table(self, asked: Sequence[Asked], each: int) -> Table:
        """Without the metrics that this ncu or this GPU does not have. RuntimeError where it may not
        count."""
        while True:
            table: Table = self.machine.launch(asked, self.metrics, each)
            unknown = [name for name in self.metrics if name in table.complaint]
            if FORBIDDEN in table.complaint:
                raise RuntimeError(table.complaint)
            if not unknown or table.rows or len(unknown) == len(self.metrics):
                return table
            print("without %s: %s" % (", ".join(unknown), table.complaint), flush=True)
            self.metrics = [name for name in self.metrics if name not in unknown]

    def take(self, asked: Sequence[Asked], each: int) -> List[Asked]:
        """One process under ncu; what is to be asked for again, one launch to a mark."""
        table = self._table(asked, each)
        self.nothing = 0 if table.told else self.nothing + 1
        if self.nothing == PATIENCE:
            raise RuntimeError(table.complaint or "nothing is launched")
        again: List[Asked] = []
        made: List[Dict[str, Any]] = []
        for at, (a, rows) in enumerate(zip(asked, shared_out(table, len(asked), each))):
            row = {"problem": a.problem.text(), "line": a.line}
            told = table.told[at] if at < len(table.told) else ""
            if rows:
                made.append({**row, "metrics": combined(rows, self.metrics), "kernels": len(rows)})
            elif told.startswith("not launched"):
                made.append({**row, "unavailable": told})
            elif at == len(table.told) or each == 1 and told:  # the one it ended in, or that ncu has no row of
                made.append({**row, "unavailable": table.complaint or "no row of ncu's"})
            else:
                again.append(a)
        self._write(made)
        return again

    def gather(self, asked: Sequence[Asked], minutes: float, chunk: int = 200, each: int = 8, threads: int = 1) -> int:
        """Until the time is over or all are there; how many are left."""
        end = time.monotonic() + 60 * minutes
        had = self.had()
        left = [a for a in asked if a.key() not in had]
        again: List[Asked] = []
        while (left or again) and time.monotonic() < end:
            begun = time.monotonic()
            few = max(1, chunk // 4)
            batch, one = (left[:chunk], each) if left else (again[:few], 1)
            left, again = (left[chunk:], again) if left else (left, again[few:])
            self.machine.compile(batch, threads)
            compiled = time.monotonic()
            again += self.take(batch, one)
            print("%d left; %.0f s to compile, %.0f s under ncu" % (len(left) + len(again), compiled - begun, time.monotonic() - compiled),
                  flush=True)
        return len(left) + len(again)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--program", required=True)
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--ncu", default="ncu")
    parser.add_argument("--metrics", default=",".join(METRICS))
    parser.add_argument("--lines", type=int, default=2, help="of each problem, the fastest first")
    parser.add_argument("--most", type=int, help="problems and lines in all")
    parser.add_argument("--minutes", type=float, default=600.0)
    parser.add_argument("--chunk", type=int, default=200, help="lines of one ncu")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="processes that compile")
    options = parser.parse_args()
    records = load()
    gatherer = Gatherer(Machine(options.program, options.device, records, options.ncu), options.file, options.metrics.split(","))
    left = gatherer.gather(wanted(records, options.lines)[:options.most], options.minutes, options.chunk, threads=options.threads)
    sys.exit(75 if left else 0)


if __name__ == "__main__":
    main()
