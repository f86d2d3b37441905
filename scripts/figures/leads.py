"""leads.py: the blocks of figures-check.py that say by how much: leads of the grids, of other runs and of
problems that nobody searched.

A function gives the lines of the block of its name. Relies on data.py."""
import collections
import datetime
import math
import os
import re
import statistics

from data import (ALONE, ALONE_RUNS, autotuning_us, BASELINES, cells_of, choice_seconds, CLASS_HEADS, class_row,
                  CLASSES, differences, geometric, GRIDS, launches_of, LAYOUTS, lead, named, percent, report, result_of,
                  ROOT, ROW, run_pairs, shape, strongest_baseline, summary, table, time_us, timings_of, title)


def headline():
    """What `report` prints of launches alone, rows left out."""
    told = report(os.path.join(ROOT, ALONE)).splitlines()
    start = next(i for i, line in enumerate(told) if line.startswith("timing ") and "against" in line)
    rows = told[start:start + 2]
    for line in told[start + 2:]:
        if not line.strip():
            break
        words = line.split()
        by_device = words[0].startswith("device")
        baselines = BASELINES + ("strongest",) if by_device else ("cublaslt-autotuning-max",)
        if len(words) > 2 and words[2] in baselines:
            rows.append(line)
    return ["```"] + [line.rstrip() for line in rows] + ["```"]


def alone():
    """Launches alone, by the time that AutoTuning takes."""
    cells = cells_of(ALONE)
    parts = [(name, [c for c in cells if low <= autotuning_us(c) < high]) for low, high, name in CLASSES]
    rows = [class_row(name, part) for name, part in parts if part] + [class_row("all", cells)]
    ours = sum(min(time_us(c, "cudal2-" + layout) for layout in LAYOUTS) for c in cells)
    rows.append(("all, by the sum of times", len(cells), percent(sum(map(autotuning_us, cells)) / ours - 1), "", "", ""))
    return table(("AutoTuning takes",) + CLASS_HEADS, rows)


def alone_again():
    """Over the strongest baseline: all shapes on H200s, and a fifth of them in two runs on two hosts with
    H100s."""
    rows = []
    for run in ALONE_RUNS:
        leads = [strongest_baseline(c) for c in cells_of(run)]
        rows.append(("`%s`" % named(run), len(leads), percent(geometric(leads)),
                     percent(statistics.median(s["geomean"] for s in leads)), sum(s["geomean"] > 0 for s in leads),
                     percent(min(s["geomean"] for s in leads)), *(percent(summary(run, timing, "strongest")["geomean"])
                                                                  for timing in ("event", "wall"))))
    return table(("run", "shapes", "geometric mean", "median", "ahead", "worst", "by event", "by wall"), rows)


AGAIN = {"fp32, offline": "offline, fp32, two hosts", "fp32, server": "server, fp32, two hosts",
         "fp16, offline": "offline, fp16, other hosts", "fp16, server": "server, fp16, other hosts"}


def grids():
    """With what a reader will see on a GPU of their own: by how much leads differ between runs on two
    hosts."""
    rows, pairs = [], {name: differences(base, new) for name, base, new in run_pairs()}
    for run in GRIDS:
        apart = pairs[AGAIN[title(run)]]
        over, worst = summary(run, "device", "strongest"), min(cells_of(run), key=lambda c: strongest_baseline(c)["geomean"])
        device = result_of(run)["env"][0]["device"]["name"].split()[1]
        rows.append((title(run), device, percent(over["geomean"]), percent(over["median"]), "%d of %d" % (over["wins"], over["n"]),
                     "%s (%s)" % (percent(strongest_baseline(worst)["geomean"]), shape(worst)),
                     "%.1f points" % apart[int(0.95 * len(apart))],
                     percent(summary(run, "device", BASELINES[-1])["geomean"]), "`results/%s`" % named(run)))
    return table(("accumulate, mode", "GPU", "geometric mean", "median", "ahead", "worst shape", "a shape on another host (95%)",
                  "over AutoTuning alone", "run"), rows)


def leads():
    rows = []
    for name in BASELINES:
        rows.append([name] + [" / ".join(percent(summary(run, t, name)["mean"]) for t in timings_of(run)) for run in GRIDS])
    return table(["over"] + [title(run) for run in GRIDS], rows)


def by_interval():
    rows = []
    for run in GRIDS:
        cells = cells_of(run)
        worst = min(cells, key=lambda c: lead(c)["geomean"])
        low, high = lead(worst)["ci95"]
        rows.append((title(run), sum(lead(c)["ci95"][0] > 0 for c in cells), sum(lead(c)["ci95"][1] < 0 for c in cells),
                     sum(lead(c)["geomean"] < -0.03 for c in cells),
                     "%s: %s (%s to %s)" % (shape(worst), percent(lead(worst)["geomean"]), percent(low), percent(high))))
    return table(("accumulate, mode", "faster", "slower", "slower by over 3%", "the furthest behind, with its interval"), rows)


def by_class():
    rows = []
    for low, high, name in CLASSES:
        row = [name]
        for run in GRIDS:
            part = [c for c in cells_of(run) if low <= autotuning_us(c) < high]
            row.append("none" if not part else "%d: %s, %d behind" % (len(part), percent(statistics.fmean(lead(c)["mean_of_ratios"] for c in part)),
                                              sum(lead(c)["geomean"] < 0 for c in part)))
        rows.append(row)
    return table(["AutoTuning takes"] + [title(run) for run in GRIDS], rows)


def torch():
    rows = []
    for run in GRIDS:
        cells = cells_of(run)
        faster = sum(lead(c, "torch.matmul")["geomean"] < lead(c)["geomean"] for c in cells)
        loses = sum(time_us(c, "cublaslt-heuristic-" + layout) / time_us(c, "cublaslt-autotuning-" + layout) < 0.99
                    for c in cells for layout in LAYOUTS)
        rows.append((title(run), faster, percent(statistics.fmean(strongest_baseline(c)["mean_of_ratios"] for c in cells)),
                     sum(strongest_baseline(c)["geomean"] > 0 for c in cells), "%d of %d" % (loses, 2 * len(cells))))
    return table(("accumulate, mode", "torch.matmul beats AutoTuning on", "lead over the strongest baseline", "wins",
                  "AutoTuning over 1% slower than the heuristic, layouts"), rows)


def against():
    """Every search of NVIDIA's algorithms, over the shapes that were reached."""
    rows = []
    for name in ("torch.matmul", "torch.matmul-full", "cublas-max", "cublas-autotune-max", "cublaslt-heuristic-max",
                 "cublaslt-autotuning-max", "cublaslt-exhaustive-max", "strongest"):
        over = summary("strongest", "device", name)
        rows.append((name, over["n"], percent(over["geomean"]), percent(over["median"]), over["wins"]))
    return table(("over", "shapes", "geometric mean", "median", "ahead"), rows)


def ahead(leads):
    return sum(s["geomean"] > 0 for s in leads)


def chosen_on_all():
    """The lead over `strongest`, and over the baseline that all blocks together show as the fastest, which is
    chosen by the blocks that score it and so looks faster than it is: the truth lies between."""
    rows = []
    for run in GRIDS:
        scored, flattered = [], []
        for cell in cells_of(run):
            fastest = min((n for n, c in cell["contenders"].items() if c.get("role", "baseline") == "baseline" and c["status"] == "ok"),
                          key=lambda n, c=cell: time_us(c, n))
            scored.append(strongest_baseline(cell))
            flattered.append(lead(cell, fastest))
        rows.append((title(run), percent(geometric(scored), 2), ahead(scored), percent(geometric(flattered), 2), ahead(flattered)))
    return table(("accumulate, mode", "over `strongest`", "ahead", "over the fastest by all blocks", "ahead"), rows)


def fp16_against_fp32():
    """The lead with fp16 sums over baselines that sum in fp16 alone, and over those that may also sum in
    fp32, which the same runs raced."""
    rows = []
    for run, what, begins in ((run, what, begins) for run in GRIDS[2:] for what, begins in (("AutoTuning", "cublaslt-autotuning-"), ("any", ""))):
        for sums, wide in (("fp16", False), ("fp16 or fp32", True)):
            ratios = {}
            for cell in cells_of(run):
                names = [n for n in cell["contenders"] if n.startswith(begins) and not n.startswith("cudal2") and (wide or "32f" not in n)]
                ours = min(time_us(cell, "cudal2-" + x) for x in LAYOUTS)
                ratios[shape(cell)] = min(time_us(cell, n) for n in names) / ours
            worst = min(ratios, key=ratios.get)
            rows.append((title(run).split(", ")[1], what, sums, len(ratios), percent(statistics.geometric_mean(ratios.values()) - 1),
                         sum(r > 1 for r in ratios.values()), "%s (%s)" % (percent(ratios[worst] - 1), worst)))
    return table(("mode", "the fastest of", "sums in", "shapes", "geometric mean", "ahead", "worst"), rows)


def quantile(values, q):
    """Linear between ranks, as stats/order.c."""
    values, at = sorted(values), q * (len(values) - 1)
    low = int(at)
    return values[low] + (at - low) * (values[min(low + 1, len(values) - 1)] - values[low])


def faster_layout(cell, family):
    return min((family + "-" + layout for layout in LAYOUTS), key=lambda name: time_us(cell, name))


def single_launches():
    """Server mode: percentiles of launches. A shape has too few for a 99th of its own, so each launch counts
    over the median of its shape, and the shapes of a class are put together."""
    rows = []
    for run in (run for run in GRIDS if "server" in run):
        times = launches_of(run)
        for low, high, name in CLASSES + ((0, 1e9, "all"),):
            cells = [c for c in cells_of(run) if low <= autotuning_us(c) < high]
            if not cells:
                continue
            tails, typical = {}, {}
            for family in ("cublaslt-autotuning", "cudal2"):
                who = [(times[shape(c)][faster_layout(c, family)]) for c in cells]
                over = [t / statistics.median(launches) for launches in who for t in launches]
                tails[family] = [quantile(over, q) for q in (0.5, 0.95, 0.99)]
                typical[family] = statistics.geometric_mean(statistics.median(launches) for launches in who)
            told = {f: "%.1f / %.1f / %.1f" % tuple(typical[f] * tail / 1e3 for tail in tails[f]) for f in tails}
            first = typical["cublaslt-autotuning"] / typical["cudal2"]
            gains = [first * theirs / ours - 1 for theirs, ours in zip(tails["cublaslt-autotuning"], tails["cudal2"])]
            rows.append((title(run), name, len(cells), len(over), told["cublaslt-autotuning"], told["cudal2"], *map(percent, gains)))
    return table(("accumulate, mode", "AutoTuning takes", "shapes", "launches", "AutoTuning, us: p50 / p95 / p99", "ours",
                  "lead at p50", "p95", "p99"), rows)


def chain():
    """What a product adds to a chain of layers, over the strongest baseline: three problems."""
    rows = []
    for cell in cells_of("../h100/chain/three.jsonl.gz"):
        over = {s["timing"]: s for s in cell["speedups"] if (s["candidate"], s["reference"]) == ("cudal2-max", "strongest")}
        ours = min(time_us(cell, "cudal2-" + layout) for layout in LAYOUTS)
        rows.append((shape(cell), cell["chain"]["layers"], "%.2f us" % ours,
                     *("%s (%s to %s)" % tuple(map(percent, (over[t]["geomean"], *over[t]["ci95"]))) for t in ("device", "event", "wall"))))
    return table(("problem", "layers", "ours adds", "lead as one graph", "as a stream of launches", "by the host's clock"), rows)


def row_of_launches():
    """The lead where launches may overlap, and who is made so."""
    cells = cells_of(ROW)
    early = [sum(bool(c["contenders"]["cudal2-" + layout].get("early")) for c in cells) for layout in LAYOUTS]
    rows = []
    for run, name, told in ((ALONE, "alone", ("-", "-")), (ROW, "in a row", early)):
        over = summary(run, "device", "strongest")
        rows.append((name, "`%s`" % named(run), percent(over["geomean"]), percent(over["median"]), over["wins"], *told))
    return table(("launches", "run", "geometric mean", "median", "ahead", "cudal2-nn overlaps in", "cudal2-tn"), rows)


def launch_path():
    rows = []
    for run in GRIDS:
        cells = cells_of(run)
        short = [c for c in cells if autotuning_us(c) < 8]
        adds = [statistics.median(time_us(c, name, "event") - time_us(c, name) for c in short)
                for name in ("cublaslt-autotuning-nn", "cudal2-nn")]
        equal = [percent(summary(run, "event", "cublaslt-autotuning-" + layout, "cudal2-" + layout, "equal_path")["mean"]) for layout in LAYOUTS]
        empty = statistics.median(c["null_graph"]["median_ns"] / 1e3 for c in cells if c["null_graph"]["median_ns"])
        rows.append((title(run), percent(summary(run, "event", BASELINES[-1])["mean"]), " and ".join(equal),
                     "%.1f and %.1f us" % tuple(adds), "%.1f us" % empty))
    return table(("accumulate, mode", "event lead", "both as a graph of one (NN and TN)",
                  "host and events add to AutoTuning and to ours, under 8 us", "empty graph"), rows)


UNSEEN = ((("judged-most", "judged-rest"), "H200, raced", " at the first call", 0.90),
          ("judged-race-bf16", "H200, bf16, raced", " at the first call", 0.90),
          ("../h100/judged-race", "H100, raced", " at the first call", 0.90), ("../h100/judged-zero", "H100, first choice", ", no race", 0.80))


def cells_of_runs(runs):
    """Of one run, or of several that have a part of the problems each."""
    return cells_of(runs) if isinstance(runs, str) else [c for run in runs for c in cells_of(run)]


def unseen():
    """Problems that nobody searched, by class."""
    rows = []
    for run, name, _, _ in UNSEEN:
        cells = cells_of_runs(run)
        for label in dict.fromkeys(c["label"] for c in cells):
            rows.append((name, *class_row(label, [c for c in cells if c["label"] == label])))
        rows.append((name, *class_row("of llm, M up to 96", [c for c in cells if c["label"] == "llm" and c["m"] <= 96])))
        rows.append((name, *class_row("all of this run", cells)))
    return table(("choice", "class") + CLASS_HEADS, rows)


def unseen_all():
    """The same, a row for each way to choose."""
    return table(("how the kernel is chosen",) + CLASS_HEADS, [class_row(name + how, cells_of_runs(run)) for run, name, how, _ in UNSEEN])


def moment(text):
    return datetime.datetime.fromisoformat(text.rstrip("Z"))


def unseen_runs():
    """Where those runs come from, and how many problems lie below what was asked for."""
    rows = []
    for run, name, how, asked in ((run, *rest) for runs, *rest in UNSEEN for run in ([runs] if isinstance(runs, str) else runs)):
        result, cells = result_of(run), cells_of(run)
        behind = [c for c in cells if 1 + lead(c)["geomean"] < asked]
        ended = (result["run"].get("end") or {}).get("time")
        took = ended and "%.0f s" % (moment(ended) - moment(result["run"]["started"])).total_seconds()
        gpus = {result["env"][c["env"]]["device"]["uuid"] for c in cells}
        rows.append((name + how, "`%s`" % named(run), len(cells), result["run"]["build"]["commit"][:8], len(gpus), took or "not at its end",
                     "%d below %.2fx" % (len(behind), asked),
                     ", ".join("%d %s" % (n, label) for label, n in collections.Counter(c["label"] for c in behind).most_common())))
    return table(("how the kernel is chosen", "run", "problems", "commit", "GPUs", "time", "below what was asked for", "of the class"), rows)


def first_calls():
    """Seconds that our kernels' choice takes at the first call of a problem, compilers and race, both
    layouts."""
    rows = []
    for run, what in (("judged-most/journal.jsonl.gz", "one H200, then two"), ("judged-rest/journal.jsonl.gz", "the same, of 8c867204"),
                      ("judged-race-bf16/journal.jsonl.gz", "four H200s of a host, bf16"),
                      ("../h100/judged-race/journal.jsonl.gz", "four H100s of a host"), ("../h100/fresh/race.jsonl.gz", "one H100"),
                      ("../h200/fresh/race.jsonl.gz", "one H200"),
                      ("../h200/fresh/zero.jsonl.gz", "one H200, first choice, no race")):
        took = choice_seconds(run)
        rows.append(("`%s`" % named(run).replace("/journal.jsonl.gz", ""), what, len(took), "%.2f s" % quantile(took, 0.5),
                     "%.2f s" % quantile(took, 0.95), "%.2f s" % max(took), sum(t > 3 for t in took)))
    return table(("run", "GPUs", "problems", "median", "95th percentile", "longest", "over 3 s"), rows)


def fresh():
    """Fifty problems of another seed, on two GPUs."""
    rows = []
    for gpu in ("h100", "h200"):
        for name, what in (("race", "raced"), ("zero", "first choice")):
            cells = cells_of("../%s/fresh/%s.jsonl.gz" % (gpu, name))
            rows.append(class_row("%s, %s" % (gpu.upper(), what), cells))
    return table(("choice",) + CLASS_HEADS, rows)


def share():
    """What a choice has of the best that a wide search finds: problems that nothing was learned of, each over
    AutoTuning in a run of its own, in one sitting."""
    runs = {name: {shape(c): math.log1p(lead(c)["geomean"]) for c in cells_of("share/%s.jsonl.gz" % name)} for name in ("best", "race", "zero")}
    best = {s: max(run[s] for run in runs.values()) for s in runs["best"]}
    rows = []
    for name, what in (("best", "searched"), ("race", "raced at the first call"), ("zero", "first choice")):
        behind = [run - best[s] for s, run in runs[name].items()]
        rows.append((*class_row(what, cells_of("share/%s.jsonl.gz" % name)), "%.1f%%" % (100 * math.exp(statistics.fmean(behind))),
                     "%.1f%%" % (100 * math.exp(min(behind)))))
    return table(("choice",) + CLASS_HEADS + ("of the best of the three", "the least of it"), rows)


def cold():
    """Language models' problems with few rows, their weights not cached."""
    cells = cells_of("cold/all.jsonl.gz")
    rows = [class_row(name, [c for c in cells if (c["m"] <= 8) == few]) for name, few in (("1 to 8", True), ("16 to 96", False))]
    return table(("M",) + CLASS_HEADS, rows + [class_row("all", cells)])


def with_p95(cell):
    layout = min(LAYOUTS, key=lambda x: time_us(cell, "cudal2-" + x))
    slow = time_us(cell, "cudal2-" + layout, what="p95_ns")
    return "%s (%s of %.1f us)" % (percent(strongest_baseline(cell)["geomean"]), layout.upper(), slow)


def searched_for_speeds():
    """Two shapes whose kernels had two speeds before they were searched: right after it, and in the grid."""
    after = {shape(c): c for c in cells_of("cold/two-speeds.jsonl.gz")}
    rows = [(shape(c), with_p95(after[shape(c)]), with_p95(c)) for c in cells_of(GRIDS[3]) if shape(c) in after]
    return table(("shape", "over `strongest` after a search (p95)", "in the grid, on two other H200s (p95)"), rows)


def searched_again():
    """Problems that an H100 lost with the H200's tables, before a search of its own and after."""
    rows = []
    for name, what in (("old", "the H200's"), ("new", "the H100's")):
        leads = [strongest_baseline(c) for c in cells_of("../h100/search/off16-%s.jsonl.gz" % name)]
        rows.append((what, len(leads), percent(geometric(leads)), percent(min(s["geomean"] for s in leads))))
    return table(("table", "problems", "geometric mean over `strongest`", "worst"), rows)


def published():
    """Kernels that CUDA-L2 published, those that pass: the paper's mean of ratios with its interval."""
    rows = []
    for over in ("cublaslt-autotuning-max", "cublas-max"):
        for timing, what in (("device", "device, launches alone"), ("event", "event (the paper's protocol times so)"), ("wall", "wall")):
            s = summary("../h100/receipts", timing, over, "theirs-max")
            rows.append(("`%s`" % over, what, s["n"], "%s (%s to %s)" % tuple(map(percent, (s["mean"], *s["ci95"]))), s["wins"]))
    return table(("against", "timing", "kernels", "mean of ratios", "faster"), rows)


def explored():
    """After a search of 56 kernels a layout: the winners' leads, measured anew in blocks."""
    cells = cells_of("explore")
    names = {"few": "few rows", "llm": "language models", "mult64": "multiples of 64", "mult8": "multiples of 8"}
    return table(("class",) + CLASS_HEADS, [class_row(names.get(label, label), [c for c in cells if c["label"] == label])
                                            for label in sorted({c["label"] for c in cells})])


def off_grid():
    """Leads that the finals of a search told in its log, on problems of the grid and on random sizes."""
    sizes = {64, 128, 256, 512, 1024, 2048, 4096, 8192, 12288, 16384}
    line_of = re.compile(r"-(\d+)x(\d+)x(\d+)  cudal2-\S+ .* vs \S+ .*  ([+-][\d.]+)%")
    rows = []
    for mode, name in (("offline", "stream-f32-row.log"), ("server", "stream-f32-idle.log")):
        found = {True: [], False: []}
        with open(os.path.join(ROOT, "off-grid", name), errors="replace") as file:
            for match in filter(None, map(line_of.search, file)):
                found[{int(n) for n in match.groups()[:3]} <= sizes].append(float(match.group(4)))
        for on_grid, what in ((True, "of the grid"), (False, "random sizes")):
            part = found[on_grid]
            geometric = math.exp(statistics.fmean(math.log1p(p / 100) for p in part)) - 1
            rows.append(("fp32, " + mode, what, len(part), percent(geometric), "%+.1f%%" % statistics.median(part), sum(p > 0 for p in part)))
    return table(("accumulate, mode", "problems", "how many", "geometric mean", "median", "ahead"), rows)
