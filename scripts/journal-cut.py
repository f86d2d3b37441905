#!/usr/bin/env python3
"""journal-cut.py JOURNAL CELLS: a small journal, on stdout: of a journal's cells only CELLS, evenly spread,
with the other lines and those of the activity that was recorded of them. Lines are kept as they are,
checksums included.

Makes the fixtures of tests/unit/result/test_committed.c:
tests/fixtures/data/journals/NAME/journal.jsonl.gz."""
import gzip
import json
import sys


def key_of(line):
    """The cell that a line is about, None for lines about the run."""
    data = line["data"]
    if line["kind"] == "cell":
        return "%s/%s-%s-%dx%dx%d" % tuple(data[k] for k in ("mode", "dtype", "accumulate", "m", "n", "k"))
    return data.get("cell") if line["kind"] == "activity" else None


def main(path, wanted):
    opened = gzip.open if path.endswith(".gz") else open
    with opened(path, "rt") as file:
        texts = list(file)
    lines = [json.loads(text) for text in texts]
    keys = [key_of(line) for line in lines]
    cells = [key for line, key in zip(lines, keys) if line["kind"] == "cell"]
    step = max(1, (len(cells) - 1) // max(1, wanted - 1))
    kept = set(cells[::step][: wanted - 1] + cells[-1:])
    sys.stdout.writelines(text for text, key in zip(texts, keys) if key is None or key in kept)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: journal-cut.py JOURNAL CELLS")
    main(sys.argv[1], int(sys.argv[2]))
