#!/usr/bin/env python3
"""pack-races.py: packs the races of search journals into one small file, for scripts/train-ranker.py.

    scripts/pack-races.py JOURNAL.jsonl[.gz]... [--without CONFIG.json]... --output rl/data/offgrid.xz

Of each cell and layout: the configurations that raced, by their keys, and the time of each to 0.1% (the file
format is that of rl/kernel_policy/records.py, with keys for lines and no predictions). Problems of
configs/unseen.json, by which choices are judged, and of the named configs stay out. All journals are of H200s
and of fp16 inputs. The same journals give the same bytes.
"""
import argparse
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "rl"))
from kernel_policy import races, records  # noqa: E402


def shapes_of(path):
    return {(s["m"], s["n"], s["k"]) for s in json.loads(Path(path).read_text())["shapes"]}


def cells_of(path):
    for kind, data in races.entries_of(path):
        if kind == "env" and "H200" not in data["device"]["name"]:
            raise SystemExit("%s: of a %s, not of an H200" % (path, data["device"]["name"]))
        if kind == "cell":
            yield data


def pooled(paths, without):
    """Of each problem and layout the keys that raced and their times; the last journal's where several have
    one."""
    pools = {}
    for path in paths:
        for cell in cells_of(path):
            shape = (cell["m"], cell["n"], cell["k"])
            if shape not in without:
                for contender, race in races.raced(cell):
                    pools.setdefault((*shape, races.layout_of(contender), cell["accumulate"], cell["mode"]), {}).update(race)
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
