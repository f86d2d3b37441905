#!/usr/bin/env python3
"""who.py RESULT.json.gz...: of each grid, by the faster layout of cudal2 for each problem: problems won by
kernel, compiled kernels and ways of launching them, problems by parameter, the most frequent tiles with the
registers of their threads, and by class of its time the geometric mean of time / floor and the median of what
lies above it (us). The floor is max(2MNK / 790 TFLOP/s, bytes / 4.3 TB/s)."""
import collections
import gzip
import json
import math
import statistics
import sys

LAUNCH = ("RASTER", "DOWN", "FETCH", "EARLY", "QUEUE")  # of the launch, not of what is compiled
EDGES = (5, 10, 30, 100, 1000, math.inf)


def winner(cell):
    layout = min(("nn", "tn"), key=lambda l: cell["contenders"]["cudal2-" + l]["timings"]["device"]["median_ns"])
    entry = cell["contenders"]["cudal2-" + layout]
    values = dict(pair.split("=") for pair in entry["attributes"]["parameters"].split(","))
    return layout, entry, {name: int(value) for name, value in values.items()}


def traits(v):
    if v.get("SPLIT_K", 1) > 1:
        yield "K shared, REDUCE %d" % v["REDUCE"]
    if v.get("CLUSTER_M", 1) * v.get("CLUSTER_N", 1) > 1:
        yield "clusters that share operands"
    if v.get("EPILOGUE") == 2:
        yield "own rows"
    if v.get("MIN_BLOCKS") == 2:
        yield "two CTAs"
    for name in ("PINGPONG", "ACROSS", "DOWN", "EVICT", "STREAM", "QUEUE", "KEEP", "HOLD", "PEEK", "TAIL"):
        if v.get(name):
            yield name


def tile(v):
    words = ["%dx%d, %d stages, %d consumers" % (v["BM"], v["BN"], v["STAGES"], v["CONSUMERS"])]
    if v["SPLIT_K"] > 1:
        words.append("K by %d, REDUCE %d" % (v["SPLIT_K"], v["REDUCE"]))
    for name, value in (("PINGPONG", 1), ("EPILOGUE", 2), ("MIN_BLOCKS", 2), ("ACROSS", 1), ("KEEP", 1), ("KEEP", 2)):
        if v.get(name) == value:
            words.append("%s %d" % (name, value))
    return ", ".join(words)


def main(paths):
    for path in paths:
        kernels, counts, tiles, registers = (collections.Counter() for _ in range(4))
        compiled, launched, classes = set(), set(), collections.defaultdict(list)
        for cell in json.load(gzip.open(path))["cells"]:
            if cell["status"] != "ok":
                continue
            layout, entry, v = winner(cell)
            kernel, ns = entry["attributes"]["kernel"], entry["timings"]["device"]["median_ns"]
            kernels[kernel] += 1
            launched.add((kernel, entry["attributes"]["parameters"]))
            compiled.add((kernel, layout) + tuple(item for item in v.items() if item[0] not in LAUNCH))
            counts["launched early"] += bool(entry.get("early"))
            if kernel == "persistent":
                counts.update(traits(v))
                tiles[tile(v)] += 1
                registers[tile(v)] = entry["attributes"].get("registers")
            m, n, k = cell["m"], cell["n"], cell["k"]
            floor = 1e9 * max(2 * m * n * k / 790e12, 2 * (m * k + k * n + m * n) / 4.3e12)
            classes[min(i for i, edge in enumerate(EDGES) if ns / 1e3 < edge)].append((ns / floor, (ns - floor) / 1e3))
        print(path, dict(kernels), "kernels %d, ways %d" % (len(compiled), len(launched)))
        for name, count in sorted(counts.items()):
            print("  %4d %s" % (count, name))
        for name, count in tiles.most_common(14):
            print("  %4d %s (%s registers)" % (count, name, registers[name]))
        for i, values in sorted(classes.items()):
            print("  under %4g us: %3d, %.2f of the floor, %.1f us above it" % (
                EDGES[i], len(values), math.exp(statistics.mean(math.log(x) for x, _ in values)), statistics.median(y for _, y in values)))


if __name__ == "__main__":
    main(sys.argv[1:])
