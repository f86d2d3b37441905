"""Synthetic journals of a run in many shards, to try `merge` and `watch` at size: every shard of a real
journal's form.

    python scripts/scale-out/journals.py results/h200/grid-f32/journal.jsonl.gz OUT SHARDS CELLS

Each cell is a copy of that one of the template's whose line has the middle length, with another shape; cells
are dealt round robin, the sentinel is the first. The template may also be a shard's journal, as it is.
"""

import gzip
import json
import os
import sys
import zlib


def line_of(kind, data):
    return line_of_text(kind, json.dumps(data, separators=(",", ":")))


def line_of_text(kind, text):
    body = '"kind":"%s","data":%s}' % (kind, text)
    return '{"crc":"%08x",%s\n' % (zlib.crc32(body.encode()), body)


def read_template(path):
    """The last line of each kind, but the cell of middle length."""
    kinds, cells = {}, []
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
        for line in file:
            if '"kind":"cell"' in line[:40]:
                cells.append(line)
            else:
                line = json.loads(line)
                kinds[line["kind"]] = line["data"]
    kinds["cell"] = json.loads(sorted(cells, key=len)[len(cells) // 2])["data"]
    kinds["cell"]["worker"] = 0
    return kinds


def shape_of(place):
    return {"m": 8 * (place % 1000 + 1), "n": 8 * (place // 1000 + 1), "k": 64}


def main():
    template, out, shards, cells = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    kinds = read_template(template)
    run, cell = kinds["run"], kinds["cell"]
    form = "%s/%s-%s-%%(m)dx%%(n)dx%%(k)d" % (cell["mode"], cell["dtype"], cell["accumulate"])
    sentinel = form % shape_of(0)
    rest = json.dumps({k: v for k, v in cell.items() if k not in shape_of(0)}, separators=(",", ":"))[1:]
    os.makedirs(out, exist_ok=True)
    for index in range(shards):
        places = [0] + [place for place in range(index, cells, shards) if place > 0]
        run["plan"] = [form % shape_of(place) for place in places]
        run["shard"] = {"index": index, "count": shards, "hash": "0" * 32, "search": False, "sentinel": sentinel, "cells": cells,
                        "places": places, "cost_us": [1] * len(places)}
        kinds["sitting"]["node"] = "node-%d" % (index // 8)
        with open(os.path.join(out, "r.shard-%d-of-%d.journal.jsonl" % (index, shards)), "w", encoding="utf-8") as file:
            file.write(line_of("run", run) + line_of("sitting", kinds["sitting"]) + line_of("env", kinds["env"]))
            file.writelines(line_of_text("cell", '{"m":%(m)d,"n":%(n)d,"k":%(k)d,' % shape_of(place) + rest) for place in places)
            file.write(line_of("end", {"time": kinds["end"]["time"], "cells": len(places)}))


if __name__ == "__main__":
    main()
