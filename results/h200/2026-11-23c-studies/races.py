#!/usr/bin/env python3
"""races.py [-b KEY,...] NAME=BASE[,NAME=BASE...] JOURNAL.jsonl.gz...: configurations that differ in the named parameters only, against
those that have the base values, in the same race: difference in ns and per cent, by how K is shared and by cluster, and with -b by these
parameters as well, by `layout`, or by `stages`: how many a CTA has. Those within 1.2 of the race's fastest count."""
import collections
import gzip
import json
import statistics
import sys


def races(paths):
    """Of each race of our kernels: the cell, the layout, and of what was timed the kernel, its parameters, their text, and ns."""
    for path in paths:
        for line in gzip.open(path, "rt"):
            record = json.loads(line)
            if record["kind"] != "cell":
                continue
            for contender in record["data"]["contenders"]:
                tuning = contender.get("tuning", {})
                if contender["name"] in ("cudal2-nn", "cudal2-tn") and "race_ns" in tuning:
                    timed = []
                    for key, ns in zip(tuning["keys"], tuning["race_ns"]):
                        kernel, _, text = key.partition(":")
                        if ns:
                            timed.append((kernel, dict(pair.split("=") for pair in text.split(",")), text, ns))
                    yield record["data"], contender["name"][-2:], timed


def stages(cell, values):
    each = -(-cell["k"] // 64) / int(values["SPLIT_K"])
    return "up to 8" if each <= 8 else "up to 16" if each <= 16 else "more"


def main(by, base, paths):
    names = list(base)
    found, winners = collections.defaultdict(list), collections.Counter()
    for cell, layout, timed in races(paths):
        times = {}
        for kernel, values, _, ns in timed:
            if kernel.startswith("persist"):
                named = tuple(values.pop(name, base[name]) for name in names)
                times[tuple(sorted(values.items())), named] = ns
        if not times:
            continue
        fastest = min(times, key=times.get)
        winners[fastest[1]] += 1
        for (rest, named), ns in times.items():
            was = times.get((rest, tuple(base.values())))
            if named == tuple(base.values()) or was is None or min(ns, was) > 1.2 * times[fastest]:
                continue
            v = dict(rest)
            shared = "REDUCE " + v.get("REDUCE", "-") if v["SPLIT_K"] != "1" else "alone"
            cluster = v.get("CLUSTER_M", "-") + "x" + v.get("CLUSTER_N", "-")
            more = tuple(layout if key == "layout" else stages(cell, v) if key == "stages" else v.get(key, "-") for key in by)
            found[shared, cluster, more, named].append((ns - was, 100 * (ns / was - 1)))

    print("fastest:", ", ".join("%s %d" % (" ".join(map("=".join, zip(names, w))), n) for w, n in winners.most_common()))
    for (shared, cluster, more, named), pairs in sorted(found.items()):
        ns, percent = [p[0] for p in pairs], [p[1] for p in pairs]
        quartiles = statistics.quantiles(percent, n=4) if len(percent) > 1 else percent * 3
        print("%-9s %s  %s%-18s %4d pairs  median %+5.0f ns %+6.2f%%  mean %+5.0f ns  quartiles %+.1f %+.1f  less in %d" % (
            shared, cluster, "".join("%s=%s  " % pair for pair in zip(by, more)), " ".join(map("=".join, zip(names, named))), len(pairs),
            statistics.median(ns), statistics.median(percent), statistics.mean(ns), quartiles[0], quartiles[2], sum(x < 0 for x in ns)))


if __name__ == "__main__":
    args = sys.argv[1:]
    by = args[1].split(",") if args[0] == "-b" else []
    args = args[2:] if by else args
    main(by, dict(pair.split("=") for pair in args[0].split(",")), args[1:])
