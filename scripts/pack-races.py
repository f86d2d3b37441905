#!/usr/bin/env python3
"""pack-races.py: packs the races of search journals into one small file, for scripts/train-ranker.py.

    scripts/pack-races.py JOURNAL.jsonl[.gz]... [--without CONFIG.json]... --output rl/data/offgrid.xz

Of each cell and layout: the configurations that raced, by their keys, and the time of each to 0.1% (the file
format is that of rl/kernel_policy/records.py, with keys for lines and no predictions). Problems of
configs/unseen.json, by which choices are judged, and of the named configs stay out. All journals are of H200s
and of fp16 inputs. The same journals give the same bytes.
"""
import argparse
import gzip
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "rl"))
from kernel_policy import records  # noqa: E402


def shapes_of(path):
    return {(s["m"], s["n"], s["k"]) for s in json.loads(Path(path).read_text())["shapes"]}


def cells_of(path):
    opener = gzip.open if str(path).endswith(".gz") else open
    with opener(path, "rt") as file:
        for line in file:
            entry = json.loads(line)
            if entry["kind"] == "env" and "H200" not in entry["data"]["device"]["name"]:
                raise SystemExit("%s: of a %s, not of an H200" % (path, entry["data"]["device"]["name"]))
            if entry["kind"] == "cell":
                yield entry["data"]


def races_of(cell):
    """By layout, each key that raced with its time in nanoseconds; of several the fastest."""
    races = {}
    for contender in cell["contenders"]:
        tuning = contender.get("tuning") or {}
        race = races.setdefault(contender["name"].split("+")[0].rsplit("-", 1)[1], {})
        for key, time in zip(tuning.get("keys", []), tuning.get("race_ns", [])):
            if time:
                race[key] = min(time, race.get(key, time))
    return {layout: race for layout, race in races.items() if race}


def pooled(paths, without):
    pools = {}
    for path in paths:
        for cell in cells_of(path):
            shape = (cell["m"], cell["n"], cell["k"])
            if shape not in without:
                for layout, race in races_of(cell).items():
                    pools.setdefault((*shape, layout, cell["accumulate"], cell["mode"]), {}).update(race)
    return pools


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("journals", nargs="+")
    parser.add_argument("--without", action="append", default=[])
    parser.add_argument("--output", required=True, type=Path)
    options = parser.parse_args()
    without = set().union(*map(shapes_of, [ROOT / "configs" / "unseen.json", *options.without]))
    pools = pooled(options.journals, without)
    keys = sorted({key for race in pools.values() for key in race})
    index = {key: at for at, key in enumerate(keys)}
    made = []
    for problem, race in sorted(pools.items()):
        rows = sorted((index[key], time) for key, time in race.items())
        made.append(records.Pool(records.Problem(*problem), [at for at, _ in rows], [time for _, time in rows], [1.0] * len(rows)))
    records.save(records.Records(keys, {}, made), options.output)
    print("%s: %d problems and layouts, %d configurations, %d times" % (options.output, len(made), len(keys), sum(len(p.times) for p in made)))


main()
