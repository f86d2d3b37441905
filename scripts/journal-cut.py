#!/usr/bin/env python3
"""journal-cut.py JOURNAL [--cells CELLS] [--without OTHER] [--races N] [--only-device]: a smaller journal, on
stdout.

With --cells only CELLS of a journal's cells, evenly spread, with the other lines and those of the activity
that was recorded of them; with --without those that the journal OTHER has not; with --races of each race of
over N variants the N fastest (`variants` and `raced` still count all); with --only-device no times by event
and wall clock, for runs that are read by device time alone. Lines that need no cut are kept as they are,
checksums included; a cut one gets its own.

Makes the fixtures of tests/unit/result/test_committed.c (tests/fixtures/data/journals/NAME/journal.jsonl.gz)
and thins runs that raced whole enumerations, before scripts/keep-run.sh."""
import argparse
import gzip
import json
import sys
import zlib


def key_of(line):
    """The cell that a line is about, None for lines about the run."""
    data = line["data"]
    if line["kind"] == "cell":
        return "%s/%s-%s-%dx%dx%d" % tuple(data[k] for k in ("mode", "dtype", "accumulate", "m", "n", "k"))
    return data.get("cell") if line["kind"] == "activity" else None


def read(path):
    opened = gzip.open if path.endswith(".gz") else open
    with opened(path, "rt") as file:
        return list(file)


def cells_of(texts):
    lines = [json.loads(text) for text in texts]
    return [key_of(line) for line in lines], [key_of(line) for line in lines if line["kind"] == "cell"]


def of_cells(texts, wanted):
    keys, cells = cells_of(texts)
    step = max(1, (len(cells) - 1) // max(1, wanted - 1))
    kept = set(cells[::step][: wanted - 1] + cells[-1:])
    return [text for text, key in zip(texts, keys) if key is None or key in kept]


def without(texts, other):
    keys, gone = cells_of(texts)[0], set(cells_of(other)[1])
    return [text for text, key in zip(texts, keys) if key not in gone]


def cut_race(tuning, most):
    """Whether there was something to cut."""
    times = tuning.get("race_ns", [])
    if len(times) <= most:
        return False
    fastest = sorted(sorted(range(len(times)), key=lambda i: (times[i] is None, times[i] or 0))[:most])
    for name in ("race_ns", "keys"):
        if name in tuning:
            tuning[name] = [tuning[name][i] for i in fastest]
    return True


def cut_races(contenders, most):
    """Whether there was something to cut."""
    return any([cut_race(c["tuning"], most) for c in contenders if "tuning" in c])


HOST_TIMINGS = ("event", "wall", "equal_path_event", "equal_path_wall")


def cut_host_timings(contenders):
    """Whether there was something to cut."""
    return any([c.pop(name, None) for c in contenders for name in HOST_TIMINGS])


def of_contenders(text, cuts):
    """The line after each cut(contenders), as it was where none had something to cut."""
    line = json.loads(text)
    if line["kind"] != "cell" or not any([cut(line["data"].get("contenders", [])) for cut in cuts]):
        return text
    rest = json.dumps({k: v for k, v in line.items() if k != "crc"}, separators=(",", ":"), ensure_ascii=False)[1:]
    return '{"crc":"%08x",%s\n' % (zlib.crc32(rest.encode()), rest)


def main():
    p = argparse.ArgumentParser(prog="journal-cut.py", description=__doc__.split("\n\n", 1)[0])
    p.add_argument("journal")
    p.add_argument("--cells", type=int)
    p.add_argument("--without", metavar="OTHER")
    p.add_argument("--races", type=int, metavar="N")
    p.add_argument("--only-device", action="store_true")
    options = p.parse_args()
    texts = read(options.journal)
    if options.cells:
        texts = of_cells(texts, options.cells)
    if options.without:
        texts = without(texts, read(options.without))
    cuts = [lambda them: cut_races(them, options.races)] if options.races else []
    cuts += [cut_host_timings] if options.only_device else []
    if cuts:
        texts = [of_contenders(text, cuts) for text in texts]
    sys.stdout.writelines(texts)


if __name__ == "__main__":
    main()
