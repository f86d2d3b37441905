#!/usr/bin/env python3
"""since.py OLD.json.gz NEW.json.gz TABLE.json: the mean lead of cudal2-max over cublaslt-autotuning-max by device time in two results of the
same problems, in per cent, and the medians of how AutoTuning's times and ours changed: for those that TABLE's own commit searched (with what
their finals had), those of them that run with KEEP in NEW, the others, and by AutoTuning's time in NEW."""
import gzip
import json
import statistics
import sys


def read(path):
    found = {}
    for cell in json.load(gzip.open(path))["cells"]:
        for pair in cell["speedups"]:
            if (pair["candidate"], pair["reference"], pair["timing"]) == ("cudal2-max", "cublaslt-autotuning-max", "device"):
                medians = {n: c["timings"]["device"]["median_ns"] for n, c in cell["contenders"].items()}
                kernels = " ".join(cell["contenders"]["cudal2-" + layout]["attributes"].get("parameters", "") for layout in ("nn", "tn"))
                found[cell["m"], cell["n"], cell["k"]] = {
                    "lead": 100 * pair["mean_of_ratios"], "keeps": "KEEP=1" in kernels or "KEEP=2" in kernels,
                    "theirs": min(v for n, v in medians.items() if n.startswith("cublaslt-autotuning-")),
                    "ours": min(medians["cudal2-nn"], medians["cudal2-tn"])}
    return found


def finals(path):
    entries = {}
    for entry in json.load(open(path))["entries"]:
        if "commit" not in entry:
            entries.setdefault((entry["m"], entry["n"], entry["k"]), []).append(entry)
    return {k: 100 * (min(e["reference_ns"] for e in v) / min(e["time_ns"] for e in v) - 1) for k, v in entries.items()}


def main(old, new, table):
    old, new, final = read(old), read(new), finals(table)

    def row(name, shapes):
        if shapes:
            print("%-24s %4d  %.1f%% (%.1f%%%s)  AutoTuning %+.1f%%  ours %+.1f%%" % (
                name, len(shapes), statistics.mean(new[k]["lead"] for k in shapes), statistics.mean(old[k]["lead"] for k in shapes),
                "; finals %.1f%%" % statistics.mean(final[k] for k in shapes) if all(k in final for k in shapes) else "",
                *(100 * (statistics.median(new[k][who] / old[k][who] for k in shapes) - 1) for who in ("theirs", "ours"))))

    row("all", list(new))
    row("searched, KEEP", [k for k in new if k in final and new[k]["keeps"]])
    row("searched, others", [k for k in new if k in final and not new[k]["keeps"]])
    row("not searched", [k for k in new if k not in final])
    edges = [0, 3, 5, 10, 20, 45, 100, 200, 1000, 1e9]
    for low, high in zip(edges, edges[1:]):
        row("not searched, %g-%g us" % (low, high), [k for k in new if k not in final and 1e3 * low <= new[k]["theirs"] < 1e3 * high])


if __name__ == "__main__":
    main(*sys.argv[1:4])
