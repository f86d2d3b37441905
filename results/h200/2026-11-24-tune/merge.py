#!/usr/bin/env python3
"""merge.py BEFORE A B OUT: a table of the same mode as BEFORE, with A's entry or B's where these searches have one, whichever was measured
further ahead of its own AutoTuning; an entry is passed over whose kernel has HALVES, or KEEP where nothing is kept (a rule that came after), and so
is a runner-up. Head of B.

kernels/tuned/nvidia-h200-f32-server.json is that of 6fc79aa, merged with what the search of HALVES and keep wrote, then with keep2's and keep3's; each
of these two began with the table before it."""
import json
import sys


def read(path):
    table = json.load(open(path))
    for entry in table["entries"]:
        entry.setdefault("commit", table["commit"])
    return table, {(e["m"], e["n"], e["k"], e["layout"]): e for e in table["entries"]}


def keeps(v, m, n, k):
    """Whether a CTA has more tiles of a lane in a row than its slots hold, as kernels/persistent.json asks."""
    rows, cols = -(-m // (v["BM"] * v["CLUSTER_M"])), -(-n // (v["BN"] * v["CLUSTER_N"]))
    across, along = (rows, cols) if v["KEEP"] == 1 else (cols, rows)
    wide = across if v["RASTER"] == 1 else min(v["RASTER"], across)
    ctas = 132 // (v["CLUSTER_M"] * v["CLUSTER_N"]) * v["MIN_BLOCKS"] // wide * wide
    return -(-wide * along // ctas) * -(-k // 64) > (v.get("HOLD") or v["STAGES"])


def key_of(table, variant, m, n, k):
    """None where it is none of kernels/persistent.json."""
    key = table["variants"][variant].replace("HALVES=0,", "")
    values = {name: int(value) for name, value in (pair.split("=") for pair in key.partition(":")[2].split(","))}
    return None if "HALVES" in values or values.get("KEEP") and not keeps(values, m, n, k) else key


def choose(place, before, tables):
    """The entry, and the table that it is of."""
    best, least = tables[0], None
    for table, entries in tables[1:]:
        entry = entries[place]
        fresh = (entry["commit"], entry["time_ns"]) != (before["commit"], before["time_ns"])
        ratio = entry["time_ns"] / entry["reference_ns"]
        if fresh and key_of(table, entry["variant"], *place[:3]) and (least is None or ratio < least):
            best, least = (table, entries), ratio
    return dict(best[1][place]), best[0]


def main(paths, out):
    tables = [read(path) for path in paths]
    head = tables[-1][0]
    variants, entries = {}, []
    for place, before in tables[0][1].items():
        entry, table = choose(place, before, tables)
        entry["variant"] = variants.setdefault(key_of(table, entry["variant"], *place[:3]), len(variants))
        runner_up = key_of(table, entry["runner_up"], *place[:3]) if "runner_up" in entry else None
        if runner_up:
            entry["runner_up"] = variants.setdefault(runner_up, len(variants))
        else:
            entry.pop("runner_up", None), entry.pop("runner_up_ns", None)
        if entry["commit"] == head["commit"]:
            del entry["commit"]
        entries.append(entry)
    lines = lambda items: ",\n".join("  " + json.dumps(item, separators=(",", ":")) for item in items)
    with open(out, "w") as file:
        file.write("{\n")
        for name, value in head.items():
            if name not in ("families", "variants", "entries"):
                file.write(" %s: %s,\n" % (json.dumps(name), json.dumps(value, separators=(",", ":"))))
        for name, items in (("families", head["families"]), ("variants", variants), ("entries", entries)):
            file.write(' "%s": [\n%s\n ]%s\n' % (name, lines(items), "" if name == "entries" else ","))
        file.write("}\n")


if __name__ == "__main__":
    main(sys.argv[1:4], sys.argv[4])
