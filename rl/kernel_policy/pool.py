"""Pools the races of search journals into the table that kernel_policy.pack reads.

    scripts/results-restore.sh -o OLD $(python -m kernel_policy.pool --sources)
    python -m kernel_policy.pool OLD/results/h200/*/*.jsonl.gz -o tune.csv.gz

A race is what a journal's cell has of one candidate and layout: `keys` and `race_ns` of its tuning. Times of
offline races are mended: who left in the heats, on short segments, has the heats' bias taken off, and is then
no faster than the fastest. Races of one problem, which ran on several days and GPUs, are joined: each has one
factor over all its configurations, so that what several of them measured agrees (least squares in the
logarithm), and the factors' mean is one. A configuration's time is then the median. What the tuner's model
expects comes from --model (build/tests/rank_features, `make tests-build`), as it is today; what the kernel
set no longer has is left out. Standard library only.
"""
from __future__ import annotations

import argparse
import collections
import csv
import gzip
import math
import statistics
import struct
import subprocess
from pathlib import Path
from typing import Dict, Iterable, List, Optional, Tuple

from .pack import KERNELS, Key
from .races import entries_of, layout_of, raced

Values = Tuple[Tuple[str, int], ...]       # a configuration's parameters, as pack.KERNELS orders them
Race = List[Tuple[str, Values, str, float]]  # kernel, parameters, the journal's key, nanoseconds

ROOT = Path(__file__).resolve().parent.parent.parent
H200 = "132 1980 62914560 1070530560000000 4814000000000".split()  # what the model asks of a device
SINCE = "results/h200/2026-11-22"
FINALISTS = 6       # of an offline race: the others left in the heats (harness/measure/race_plan.c)
FORMER = {"ABREAST": 1}  # a parameter that did not exist yet was as if it had this value; any other, 0
GONE = {"HALVES": 2}     # values of parameters that are gone, which nothing stands for today
# log(heat / final) at exp(7.25 + i / 4) ns: how much longer a launch takes on a heat's short segments
BIAS_FROM, BIAS_STEP = 7.25, 0.25
BIAS = (0.2886, 0.2357, 0.2007, 0.1714, 0.1482, 0.1308, 0.1162, 0.1005, 0.0881, 0.0801, 0.0754, 0.0720, 0.0694, 0.0591,
        0.0436, 0.0334, 0.0270, 0.0204, 0.0118, 0.0049, 0.0)
ROUNDS = 20  # of joining
COLUMNS = ("m", "n", "k", "layout", "acc", "mode")


def sources(manifest: Path) -> List[str]:
    """Searches and studies on H200s that left the tree, of 22 to 25 November 2026, and the run with fp16 in
    server mode."""
    paths = [line.split("\t")[0] for line in manifest.read_text().splitlines()[1:]]
    return [p for p in paths if SINCE <= p < "results/h200/2026-11-26" and p.endswith(".jsonl.gz") and (
        "-tune/" in p or "-studies/" in p or "-server-f16/" in p)]


# ---- reading ----


def walk_of(values: Dict[str, int], m: int, n: int) -> int:
    """In which order the tiles of a persistent kernel are walked: WALK of kernels/persistent.json."""
    rows, columns = -(-m // (values["BM"] * values["CLUSTER_M"])), -(-n // (values["BN"] * values["CLUSTER_N"]))
    raster = values["RASTER"]
    if rows == 1 or columns == 1:
        return -1 if rows == 1 else 1
    if values["DOWN"]:
        return columns if raster == 1 else -min(raster, rows)
    return -rows if raster == 1 else min(raster, columns)


def configuration(key: str, m: int, n: int) -> Optional[Tuple[str, Values]]:
    """None for a kernel, or a value, that there is none of any more."""
    kernel, words = key.split(":", 1)
    values = {name: int(value) for name, value in (word.split("=") for word in words.split(","))}
    if kernel not in KERNELS or any(values.get(name) == gone for name, gone in GONE.items()):
        return None
    try:
        if kernel == "persistent":
            values["walk"] = walk_of(values, m, n)
        return kernel, tuple((name, values.get(name, FORMER.get(name, 0))) for name in KERNELS[kernel])
    except KeyError:  # a kernel of a study, by the same name
        return None


def bias(ns: float) -> float:
    at = (math.log(ns) - BIAS_FROM) / BIAS_STEP
    if at >= len(BIAS) - 1:
        return 0.0
    i = max(0, math.floor(at))
    return BIAS[i] + max(0.0, at - i) * (BIAS[i + 1] - BIAS[i])


def mended(race: Race) -> Race:
    """Of an offline race, all on the scale of the final."""
    if len(race) <= FINALISTS:
        return race
    times = sorted(ns for _, _, _, ns in race)
    fastest, last = times[0], times[FINALISTS - 1]
    return [(kernel, values, key, ns if ns <= last else max(fastest, ns * math.exp(-bias(ns))))
            for kernel, values, key, ns in race]


def races_of(path: Path) -> Iterable[Tuple[Key, Race]]:
    for kind, cell in entries_of(path):
        if kind != "cell" or cell["dtype"] != "f16":
            continue
        for contender, times in raced(cell):
            race: Race = []
            for key, ns in times if contender.get("candidate") else ():
                made = configuration(key, cell["m"], cell["n"])
                if made:
                    race.append((*made, key, float(ns)))
            if race:
                key_of = (cell["m"], cell["n"], cell["k"], layout_of(contender), cell["accumulate"], cell["mode"])
                yield key_of, mended(race) if cell["mode"] == "offline" else race


# ---- joining ----


def join(races: List[Race]) -> Dict[Tuple[str, Values], Tuple[float, str]]:
    """Of each configuration its time, and a key of it. Races that share nothing keep their own scale."""
    logs = [[((kernel, values), math.log(ns)) for kernel, values, _, ns in race] for race in races]
    offsets = [0.0] * len(races)
    means: Dict[Tuple[str, Values], float] = {}
    seen = collections.Counter(which for race in logs for which in {which for which, _ in race})
    for _ in range(ROUNDS if len(races) > 1 else 0):
        found: Dict[Tuple[str, Values], List[float]] = collections.defaultdict(list)
        for race, offset in zip(logs, offsets):
            for which, ns in race:
                found[which].append(ns - offset)
        means = {which: statistics.fmean(values) for which, values in found.items()}
        for i, race in enumerate(logs):
            shared = [ns - means[which] for which, ns in race if seen[which] > 1]
            offsets[i] = statistics.fmean(shared) if shared else 0.0
        middle = statistics.fmean(offsets)
        offsets = [offset - middle for offset in offsets]
    pooled: Dict[Tuple[str, Values], List[float]] = collections.defaultdict(list)
    keys: Dict[Tuple[str, Values], str] = {}
    for race, offset in zip(races, offsets):
        for kernel, values, key, ns in race:
            pooled[kernel, values].append(math.log(ns) - offset)
            keys[kernel, values] = key
    return {which: (math.exp(statistics.median(values)), keys[which]) for which, values in pooled.items()}


# ---- the table ----


def key_today(key: str, kernel: str, values: Values) -> str:
    """As the set's manifests name it today: parameters of old journals are gone, others came."""
    old = dict(word.split("=") for word in key.split(":", 1)[1].split(","))
    named = {name: str(value) for name, value in values if name != "walk"}
    named.update((name, old[name]) for name in ("RASTER", "DOWN") if kernel == "persistent")
    return kernel + ":" + ",".join("%s=%s" % item for item in named.items())


def expected(tool: Path, rows: List[Tuple[Key, str]]) -> List[float]:
    """The model's time of each row in ns; 0: the set has no such configuration. OSError, or ValueError when
    the tool says something else."""
    text = "".join("%d %d %d %s %s %s 0 %s\n" % (*key, configured) for key, configured in rows)
    made = subprocess.run([tool, *H200], input=text.encode(), stdout=subprocess.PIPE, check=True, cwd=ROOT).stdout
    width = len(made) // len(rows) if rows else 0
    if width < 4 and rows or width * len(rows) != len(made):
        raise ValueError("%s: %d bytes for %d rows" % (tool, len(made), len(rows)))
    return [struct.unpack_from("<f", made, i * width)[0] for i in range(len(rows))]


def table(paths: List[Path], tool: Path) -> List[Dict[str, object]]:
    races: Dict[Key, List[Race]] = collections.defaultdict(list)
    for path in paths:
        for key, race in races_of(path):
            races[key].append(race)
    pooled = [(key, which, *found) for key in sorted(races) for which, found in join(races[key]).items()]
    model = expected(tool, [(key, key_today(journal, *which)) for key, which, _, journal in pooled])
    return [dict(zip(COLUMNS, key), kernel=kernel, time_ns="%.1f" % ns, model_ns="%.1f" % wanted, **dict(values))
            for (key, (kernel, values), ns, _), wanted in zip(pooled, model) if wanted > 0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("journals", type=Path, nargs="*")
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--model", type=Path, default=ROOT / "build" / "tests" / "rank_features")
    parser.add_argument("--sources", action="store_true", help="print what rl/data/h200.xz is pooled from, and end")
    options = parser.parse_args()
    if options.sources:
        print("\n".join(sources(ROOT / "results" / "MANIFEST.tsv")))
        return
    if not options.journals or not options.output:
        parser.error("expected journals and -o FILE")
    rows = table(options.journals, options.model)
    names = [*COLUMNS, "kernel", *dict.fromkeys(name for each in KERNELS.values() for name in each), "time_ns", "model_ns"]
    with gzip.open(options.output, "wt", newline="") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows(rows)
    print("%d problems, %d measurements" % (len({tuple(row[name] for name in COLUMNS) for row in rows}), len(rows)))


if __name__ == "__main__":
    main()
