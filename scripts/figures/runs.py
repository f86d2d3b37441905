"""runs.py: the blocks of figures-check.py that say how runs went and how far they can be trusted: time,
noise, the red team.

A function gives the lines of the block of its name. Relies on data.py."""
import csv
import glob
import gzip
import importlib.util
import json
import math
import os
import re
import statistics
import textwrap

from data import (ALONE, autotuning_us, cells_of, differences, GRIDS, LAYOUTS, lead, named, older_runs, percent,
                  result_of, ROOT, ROW, run_pairs, SCALE, shape, strongest_baseline, table, time_us, timings_of,
                  title)


def time_spent(name):
    """Of a run in results/h200: its seconds, GPUs, and of a GPU in the mean those before the first cell and
    in cells."""
    opener = gzip.open(os.path.join(ROOT, name + ".jsonl.gz"), "rt")
    with opener as file:
        end = [json.loads(line) for line in file if '"kind":"end"' in line][-1]["data"]
    spent = end["time_spent"]
    measure, *watch = spent["parts"]
    workers = measure["workers"]
    return (spent["seconds"], len(workers), statistics.fmean(w["start"] for w in workers),
            statistics.fmean(w["work"] for w in workers), sum(part["seconds"] for part in watch), end["cells"])


def scale():
    """GPUs of one host, from cold caches; every row a run of its own, one sitting for each mode."""
    rows, first = [], {}
    for mode, name in SCALE:
        seconds, gpus, start, work, watch, cells = time_spent("scale/" + name)
        first.setdefault(mode, seconds)
        rows.append(("%s, %d shapes" % (mode, cells), gpus, "%.1f s" % seconds, "%.2f" % (first[mode] / seconds), "%.1f s" % start,
                     "%.1f s" % work, "%.1f s" % watch))
    seconds, gpus, start, work, watch, cells = time_spent(ALONE + "/journal")
    rows.append(("offline, %d shapes" % cells, gpus, "%.1f s" % seconds, "-", "%.1f s" % start, "%.1f s" % work, "%.1f s" % watch))
    return table(("run", "GPUs", "whole", "times as fast as the first", "before the first cell", "in cells, each GPU",
                  "watching launches"), rows)


def second_gpu(mode):
    """How far speedups of cells that the second GPU measured are from one GPU's own, less what the first
    one's are: the mean, and half its 95% interval."""
    one, two = (cells_of("scale/%s-%s.jsonl.gz" % (name, mode)) for name in ("one", "two"))
    known = {shape(c): math.log1p(strongest_baseline(c)["geomean"]) for c in one}
    first, second = ([math.log1p(strongest_baseline(c)["geomean"]) - known[shape(c)] for c in two if c["env"] == gpu] for gpu in (0, 1))
    error = math.sqrt(sum(statistics.variance(some) / len(some) for some in (first, second)))
    return statistics.fmean(second) - statistics.fmean(first), 1.96 * error


def scale_rest():
    """Two GPUs and one for equal work, and how far their speedups are apart, in prose."""
    spec = importlib.util.spec_from_file_location("time_spent", "scripts/time-spent.py")
    spent = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(spent)
    one, two = (spent.run_of(os.path.join(ROOT, "scale/%s-offline.jsonl.gz" % name)) for name in ("one", "two"))
    _, blocks, causes = spent.beyond_share(one, two)
    text = ("Offline, the two GPUs measured %+d blocks, which differ from run to run: for equal numbers they are %.2f times as fast as "
            "one (`scripts/time-spent.py --against`). Speedups of the second GPU are %s ±%.2f off the first's offline and %s ±%.2f "
            "in server mode (strongest baseline).")
    numbers = (blocks, one[2] / (two[2] - causes["more blocks"]))
    numbers += tuple(x for mode in ("offline", "server") for x in (percent(second_gpu(mode)[0], 2), 100 * second_gpu(mode)[1]))
    return textwrap.wrap(text % numbers, 110)


def converged_cells(run):
    """How many cells have what was wanted, and how many of them the narrowest width that can be wanted."""
    width = 0.02 if "server" in run else 0.005
    cells = [c for c in cells_of(run) if c["converged"]]
    narrow = sum(c["worst_half_width"] <= width for c in cells)
    return "%s%d at %g%%" % ("" if narrow == len(cells) else "%d, " % len(cells), narrow, 100 * width)


def runs():
    rows = []
    for run in GRIDS + (ROW,):
        result, cells = result_of(run), cells_of(run)
        log = glob.glob(os.path.join(ROOT, run, "run.log*"))[0]
        with (gzip.open if log.endswith(".gz") else open)(log, "rt", errors="replace") as file:
            text = file.read()
        spent = re.findall(r"where the time went: ([\d.]+) s", text) or re.findall(r"exit \d+ after (\d+) s", text)
        gpus = {result["env"][c["env"]]["device"]["uuid"] for c in cells}
        rows.append((title(run), "`%s`" % named(run), result["run"]["build"]["commit"][:7], len(cells),
                     converged_cells(run), "%.0f s" % sum(map(float, spent)), "%d %s" % (len(gpus), result["env"][0]["device"]["name"].split()[1])))
    return table(("accumulate, mode", "run", "commit", "shapes measured", "converged", "time", "GPUs"), rows)


def price():
    """Seconds of the cells of two runs, but for what compiling is in (phase tune)."""
    rows = []
    for name in ("with", "without"):
        with gzip.open(os.path.join(ROOT, "price", name + ".jsonl.gz"), "rt") as file:
            cells = [json.loads(line)["data"] for line in file if '"kind":"cell"' in line]
        blocks = sum(sum(c["group_blocks"]) for c in cells)
        parts = [sum(c["phase_seconds"].get(p, 0) for c in cells) for p in ("measure", "other")]
        checks = sum(c["part_seconds"].get("checks", 0) for c in cells)
        rows.append((name, len(cells), blocks, "%.1f s" % (parts[0] - checks), "%.1f s" % checks, "%.1f s" % parts[1],
                     "%.1f ms" % (1e3 * sum(parts) / blocks)))
    return table(("checks", "cells", "blocks", "blocks took", "checks of timed segments", "checks between blocks",
                  "all, a block"), rows)


def open_cells():
    rows = []
    for run in GRIDS:
        left = [c for c in cells_of(run) if not c["converged"]]
        long = [c for c in left if autotuning_us(c) >= 1e3]
        rows.append((title(run), len(left), len(long), "%.1f%%" % (100 * max(c["worst_half_width"] for c in left))))
    return table(("accumulate, mode", "not converged", "of them over 1 ms", "widest half-width"), rows)


def two_speeds():
    rows = []
    for run in GRIDS:
        found = [(time_us(c, "cudal2-" + layout, what="p95_ns") / time_us(c, "cudal2-" + layout) - 1, shape(c), layout)
                 for c in cells_of(run) for layout in LAYOUTS if time_us(c, "cudal2-" + layout) < 200]
        slow = sorted((x for x in found if x[0] > 0.12), reverse=True)
        rows.append((title(run), len(slow), "%s %s, %.0f%%" % (slow[0][1], slow[0][2].upper(), 100 * slow[0][0]) if slow else "-"))
    return table(("accumulate, mode", "layouts, of 2000", "the worst"), rows)


def copies():
    rows = []
    for run in GRIDS:
        for timing in timings_of(run):
            copy = next(a for a in result_of(run)["summary"]["aa"] if a["timing"] == timing)
            rows.append((title(run), timing, percent(copy["mean_log_ratio"], 3), percent(copy["sd_log_ratio"], 1)[1:],
                         "%d of %d" % (copy["excludes_one"], copy["n"])))
    return table(("accumulate, mode", "timing", "mean log ratio", "its scatter", "intervals that exclude 0"), rows)


def between_runs():
    rows = []
    for name, base, new in run_pairs():
        apart = differences(base, new)
        inside = sum(base[s]["ci_low"] <= new[s]["lead"] <= base[s]["ci_high"] for s in base if s in new)
        rows.append((name, len(apart), "%.2f points" % statistics.median(apart), "%.2f" % apart[int(0.9 * len(apart))],
                     "%.2f" % apart[int(0.95 * len(apart))], "%.0f%%" % (100 * inside / len(apart))))
    return table(("two runs", "shapes", "median difference", "90th percentile", "95th", "second lead in the first's interval"), rows)


def power():
    rows = []
    for run in ("11-23g-server-f32", "11-24b-server-f32", "11-24d-server-f32"):
        x = older_runs()[run]["16384x16384x16384"]
        rows.append(("older grid, an H200, `2026-%s`" % run, percent(x["lead"]), "%s to %s" % (percent(x["ci_low"]), percent(x["ci_high"]))))
    for run, name in (("power-server-f32", "minutes after the last, for longer"), ("grid-f32-server", "the grid, four H200s")):
        s = next(lead(c) for c in cells_of(run) if shape(c) == "16384x16384x16384")
        rows.append((name, percent(s["geomean"]), "%s to %s" % tuple(map(percent, s["ci95"]))))
    return table(("16384x16384x16384, fp32, server", "lead", "interval"), rows)


def watched():
    rows = []
    for run in GRIDS:
        seen = result_of(run)["summary"]["activity"]
        rows.append((title(run), seen["launches"], result_of(run)["run"]["activity"]["cells"], seen["refuted"]))
    return table(("accumulate, mode", "launches watched", "in cells", "refuted"), rows)


COUNTS = re.compile(r"(\d+ of \d+) caught, (?:(\d+) without effect, )?(\d+ of \d+) honest contenders accused, "
                    r"(\d+ of \d+) baselines accused")


RED_TEAM_HEAD = ("cheats with a verdict", "without effect", "honest contenders accused", "baselines accused")


def red_team():
    rows = []
    for gpu, log in (("H100", "../h100/redteam/7fe92321.txt"), ("H200", "redteam/87ff2ca4.txt")):
        with open(os.path.join(ROOT, log), errors="replace") as file:
            caught, without, *accused = COUNTS.findall(file.read())[-1]
        rows.append(("%s, `results/%s/redteam`" % (gpu, gpu.lower()), caught, without or "0", *accused))
    return table(("red team on a GPU", *RED_TEAM_HEAD), rows)


COUNTS_CPU = re.compile(r"(\d+) of (\d+) caught, (\d+) without effect, (\d+ of \d+) honest contenders accused, "
                        r"(\d+ of \d+) baselines accused")


def red_team_cpu():
    """One line a seed in results/robustness; the worst counts: most missed, then fewest verdicts."""
    with open(os.path.join(ROOT, "..", "robustness", "redteam-cpu.txt"), errors="replace") as file:
        seeds = COUNTS_CPU.findall(file.read())
    tried = {seed[1] for seed in seeds}
    accused = [{seed[i].split()[2] for seed in seeds} for i in (3, 4)]
    assert len(tried) == 1 and all(len(total) == 1 for total in accused), "seeds of different tables"
    worst = min(seeds, key=lambda seed: (int(seed[0]) + int(seed[2]), int(seed[0])))
    most = [max(int(seed[i].split()[0]) for seed in seeds) for i in (3, 4)]
    return table(("red team on the CPU device", *RED_TEAM_HEAD),
                 [("`make redteam`, the worst of %d seeds (`results/robustness/redteam-cpu.txt`)" % len(seeds),
                   "%s of %s" % (worst[0], worst[1]), worst[2],
                   *("%d of %s" % (n, total.pop()) for n, total in zip(most, accused)))])


def blind():
    """Authors who had not read the detectors, first tries, by device: what was caught, and what got through
    with a gain, of the rounds that say so (`measured`: of fewer cheats than there were)."""
    with open(os.path.join(ROOT, "..", "redteam-blind", "rounds.tsv")) as file:
        rounds = list(csv.DictReader(file, delimiter="\t"))
    rows = []
    for name in (*dict.fromkeys(r["device"] for r in rounds), "all"):
        some = [r for r in rounds if name in (r["device"], "all")]
        caught, cheats, accused, honest = (sum(int(r[key]) for r in some) for key in ("caught", "cheats", "accused", "honest"))
        told = [r for r in some if r["gained"]]
        gained = "%d of %d" % (sum(int(r["gained"]) for r in told), sum(int(r["measured"] or r["cheats"]) for r in told))
        rows.append((name, "%d of %d" % (caught, cheats), gained if told else "not measured", "%d of %d" % (accused, honest)))
    return table(("authors blind to the detectors, first tries", "cheats caught", "gained uncaught, where measured",
                  "honest contenders accused"), rows)
