"""data.py: what the blocks of figures-check.py are made of: committed results and journals, read once, and
the words that tables use.

A run is a path under results/h200. Relies on the program (CUDAL2_BENCH), which makes results of journals.
Read by figures-check.py, leads.py, runs.py and learned.py, from the top of the repository."""
import collections
import csv
import functools
import gzip
import json
import math
import os
import statistics
import subprocess
import tempfile

from journal_series import times_ns

ROOT = "results/h200"
ALONE = "grid-f32"
ALONE_RUNS = (ALONE, "../h100/alone-f32", "../h100/fifth-offline-f32")  # the last two of 200 shapes, on two hosts
SCALE = (("offline", "one-offline"), ("offline", "two-offline"), ("server", "one-server"), ("server", "two-server"))
GRIDS = (ALONE, "grid-f32-server", "grid-f16-offline", "grid-f16-server")  # launches alone
ROW = "offline-f32"  # launches that may overlap
BASELINES = ("torch.matmul", "cublas-max", "cublaslt-heuristic-max", "cublaslt-autotuning-max")
TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
with open(os.path.join(TOP, "configs", "config.schema.json")) as schema:
    TIMINGS = tuple(json.load(schema)["$defs"]["timing"]["enum"])
LAYOUTS = ("nn", "tn")
CLASSES = ((0, 5, "under 5 us"), (5, 10, "5 to 10 us"), (10, 30, "10 to 30 us"), (30, 100, "30 to 100 us"),
           (100, 1e3, "0.1 to 1 ms"), (1e3, 1e9, "over 1 ms"))
CLASS_HEADS = ("shapes", "geometric mean", "ahead", "clearly behind", "worst")
PROGRAM = os.environ.get("CUDAL2_BENCH", "build/cudal2-bench")


def table(heads, rows):
    return ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)] + ["| " + " | ".join(map(str, row)) + " |" for row in rows]


def report(*arguments):
    environment = {k: v for k, v in os.environ.items() if k != "COLUMNS"}
    return subprocess.run([PROGRAM, "report", *arguments], check=True, capture_output=True, text=True, env=environment).stdout


@functools.lru_cache(maxsize=None)
def result_of(run):
    with tempfile.TemporaryDirectory() as made:
        report(os.path.join(ROOT, run), "--format", "result", "--output", made)
        with open(os.path.join(made, "result.json")) as file:
            return json.load(file)


def cells_of(run):
    return [c for c in result_of(run)["cells"] if c["status"] == "ok"]


@functools.lru_cache(maxsize=None)
def older_runs():
    """Leads of runs that left the tree: results/h200/between-runs."""
    runs = collections.defaultdict(dict)
    with gzip.open(os.path.join(ROOT, "between-runs", "leads.csv.gz"), "rt") as file:
        for row in csv.DictReader(file):
            runs[row["run"]][row["shape"]] = {k: float(row[k]) for k in row if k not in ("run", "shape") and row[k]}
    return runs


def leads_of(run):
    """As older_runs has them."""
    return {shape(c): {"lead": lead(c)["geomean"], "ci_low": lead(c)["ci95"][0], "ci_high": lead(c)["ci95"][1]}
            for c in cells_of(run)}


def run_pairs():
    """Two runs of the same kernels and tables: what they are, the leads of each."""
    old = older_runs()
    return (("offline, fp32, two GPUs of one host", old["11-22e-offline-f32"], old["11-22f-offline-f32"]),
            ("offline, fp32, two hosts", *map(leads_of, ALONE_RUNS[1:])),
            ("offline, fp16, other hosts", old["11-24e-offline-f16"], old["11-24g-offline-f16"]),
            ("server, fp32, two hosts", old["11-24b-server-f32"], old["11-24d-server-f32"]),
            ("server, fp16, other hosts", old["11-24e-server-f16"], old["11-24f-server-f16"]),
            ("offline, fp32, unseen, other hosts", old["11-27-judged-race-1"], old["11-27-judged-race-2"]))


def differences(base, new):
    """Of each shape's lead, in points, the smallest first."""
    return sorted(100 * abs(base[s]["lead"] - new[s]["lead"]) for s in base if s in new)


@functools.lru_cache(maxsize=None)
def launches_of(run):
    """Of a run in server mode: every launch timed by device, in ns, by shape and contender. No block of it
    may have seen a slowdown, which tables leave out."""
    with gzip.open(os.path.join(ROOT, run, "journal.jsonl.gz"), "rt") as file:
        cells = [json.loads(line)["data"] for line in file if '"kind":"cell"' in line]
    assert not any(c.get("dropped_blocks") for c in cells)
    return {shape(c): {who["name"]: times_ns(who["device"]) for who in c["contenders"] if "device" in who} for c in cells}


def choice_seconds(journal):
    """Of each cell, what choosing our kernels took: as it says, or phase `tune` less the baselines' races."""
    def took(cell):
        by = {False: [], True: []}
        for who in cell["contenders"]:
            by[who["name"].startswith("cudal2")].append(who.get("tuning", {}))
        if any("whole_seconds" in tuning for tuning in by[True]):
            return sum(tuning.get("whole_seconds", 0) for tuning in by[True])
        return cell["phase_seconds"].get("tune", 0) - sum(tuning.get("seconds", 0) for tuning in by[False])
    with gzip.open(os.path.join(ROOT, journal), "rt") as file:
        return [took(json.loads(line)["data"]) for line in file if '"kind":"cell"' in line]


def time_us(cell, name, timing="device", what="median_ns"):
    return cell["contenders"][name]["timings"][timing][what] / 1e3


def autotuning_us(cell):
    return min(time_us(cell, "cublaslt-autotuning-" + layout) for layout in LAYOUTS)


def lead(cell, over="cublaslt-autotuning-max"):
    return next(s for s in cell["speedups"] if (s["candidate"], s["reference"]) == ("cudal2-max", over))


def shape(cell):
    return "%dx%dx%d" % (cell["m"], cell["n"], cell["k"])


def percent(x, digits=1):
    return "%+.*f%%" % (digits, 100 * x)


def summary(run, timing, reference, candidate="cudal2-max", part="speedups"):
    return next(s for s in result_of(run)["summary"][part]
                if (s["candidate"], s["timing"], s["reference"]) == (candidate, timing, reference))


def named(run):
    return run[3:] if run.startswith("../") else "h200/" + run


def title(run):
    first = result_of(run)["cells"][0]
    mode, accumulate = first["mode"], first["accumulate"]
    return "%s, %s" % ({"f16": "fp16", "f32": "fp32"}[accumulate], mode)


def strongest_baseline(cell):
    """The lead over the strongest baseline: chosen on one half of the blocks, scored on the other."""
    return lead(cell, "strongest")


def timings_of(run):
    """Those that the run's summary has, in the order of files."""
    taken = {row["timing"] for row in result_of(run)["summary"]["speedups"]}
    return [timing for timing in TIMINGS if timing in taken]


def geometric(leads):
    return math.exp(statistics.fmean(math.log1p(s["geomean"]) for s in leads)) - 1


def class_row(name, cells):
    worst = min(cells, key=lambda c: lead(c)["geomean"])
    leads = [lead(c) for c in cells]
    return (name, len(cells), percent(geometric(leads)), sum(s["geomean"] > 0 for s in leads),
            sum(s["ci95"][1] < 0 for s in leads), "%s (%s)" % (percent(lead(worst)["geomean"]), shape(worst)))
