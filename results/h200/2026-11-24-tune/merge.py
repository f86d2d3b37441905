#!/usr/bin/env python3
"""merge.py BEFORE A B OUT: a table of the same mode as BEFORE, with A's entry or B's where these searches have one, whichever was measured
further ahead of its own AutoTuning; an entry whose kernel has HALVES is passed over, a runner-up that has is left out. Head of B.

kernels/tuned/nvidia-h200-f32-server.json is that of 6fc79aa, merged with what the search of HALVES and keep wrote, then with keep2's and keep3's; each
of these two began with the table before it."""
import json
import sys


def read(path):
    table = json.load(open(path))
    for entry in table["entries"]:
        entry.setdefault("commit", table["commit"])
    return table, {(e["m"], e["n"], e["k"], e["layout"]): e for e in table["entries"]}


def key_of(table, variant):
    """None where it is HALVES' own."""
    key = table["variants"][variant].replace("HALVES=0,", "")
    return None if "HALVES=" in key else key


def choose(place, before, tables):
    """The entry, and the table that it is of."""
    best, least = tables[0], None
    for table, entries in tables[1:]:
        entry = entries[place]
        fresh = (entry["commit"], entry["time_ns"]) != (before["commit"], before["time_ns"])
        ratio = entry["time_ns"] / entry["reference_ns"]
        if fresh and key_of(table, entry["variant"]) and (least is None or ratio < least):
            best, least = (table, entries), ratio
    return dict(best[1][place]), best[0]


def main(paths, out):
    tables = [read(path) for path in paths]
    head = tables[-1][0]
    variants, entries = {}, []
    for place, before in tables[0][1].items():
        entry, table = choose(place, before, tables)
        entry["variant"] = variants.setdefault(key_of(table, entry["variant"]), len(variants))
        runner_up = key_of(table, entry["runner_up"]) if "runner_up" in entry else None
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
