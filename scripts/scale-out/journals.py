"""Synthetic journals of a run in many shards, to try `merge` and `watch` at size: every shard of a real
one-shard run's form.

    cudal2-bench run --shard 0/1 ... --output t.json
    python scripts/scale-out/journals.py t.shard-0-of-1.journal.jsonl OUT SHARDS CELLS

Each cell is a copy of the template's last, with another shape; cells are dealt round robin, the sentinel is
the first.
"""

import json
import os
import sys
import zlib


def line_of(kind, data):
    body = '"kind":"%s","data":%s}' % (kind, json.dumps(data, separators=(",", ":")))
    return '{"crc":"%08x",%s\n' % (zlib.crc32(body.encode()), body)


def read_template(path):
    kinds = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            line = json.loads(line)
            kinds[line["kind"]] = line["data"]
    return kinds


def shape_of(place):
    return {"m": 8 * (place % 1000 + 1), "n": 8 * (place // 1000 + 1), "k": 64}


def main():
    template, out, shards, cells = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    kinds = read_template(template)
    run, cell = kinds["run"], kinds["cell"]
    form = "%s/%s-%s-%%(m)dx%%(n)dx%%(k)d" % (cell["mode"], cell["dtype"], cell["accumulate"])
    sentinel = form % shape_of(0)
    os.makedirs(out, exist_ok=True)
    for index in range(shards):
        places = [0] + [place for place in range(index, cells, shards) if place > 0]
        run["plan"] = [form % shape_of(place) for place in places]
        run["shard"].update(index=index, count=shards, hash="0" * 32, sentinel=sentinel, cells=cells, places=places,
                            cost_us=[1] * len(places))
        kinds["sitting"]["node"] = "node-%d" % (index // 8)
        with open(os.path.join(out, "r.shard-%d-of-%d.journal.jsonl" % (index, shards)), "w", encoding="utf-8") as file:
            file.write(line_of("run", run) + line_of("sitting", kinds["sitting"]) + line_of("env", kinds["env"]))
            file.writelines(line_of("cell", {**cell, **shape_of(place)}) for place in places)
            file.write(line_of("end", {"time": kinds["end"]["time"], "cells": len(places)}))


if __name__ == "__main__":
    main()
