#!/usr/bin/env python3
"""receipts.py DIR RESULT... [--name NAME] [--build OUT] [--claims DIR] [--tsv FILE] [--out FILE]: what a
published set of kernels claims, next to what was measured: verdicts, and speedups under each timing, as
Markdown; --tsv has a row for each kernel.

DIR is a directory of a checkout of the authors' repository (kernels/h100_F32F16F16F32), their claims are in
its eval_results. A RESULT is the result or the journal of a run with the plugin that import.py built; any
part of the set will do. README.md."""
import argparse
import csv
import io
import json
import math
import re
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent
MODES = ["offline", "server"]
TIMINGS = ["device", "device-row", "event", "wall"]
FEW = 10  # means of fewer kernels have no interval
# The references that a set's tables have, with the names that they have here; and two of which nothing is
# claimed.
REFERENCES = {"torch.matmul": "torch.matmul", "cuBLAS-max": "cublas-max", "cuBLASLt-heuristic-max": "cublaslt-heuristic-max",
              "cuBLASLt-auto-tuning-max": "cublaslt-autotuning-max", "exhaustive": "cublaslt-exhaustive-max",
              "auto-tuning, fp32 sums": "cublaslt-autotuning-32f-max"}
FURTHER = ("cublaslt-exhaustive-max", "cublaslt-autotuning-32f-max")
CLASSES = [("under 5 us", 5e3), ("5 to 10 us", 1e4), ("10 to 30 us", 3e4), ("30 to 100 us", 1e5), ("0.1 to 1 ms", 1e6),
           ("over 1 ms", math.inf)]  # of AutoTuning's time
COUNTS = {"launches": "launches more than one kernel", "allocations": "allocates or frees memory", "synchronisations": "synchronises",
          "streams": "creates or changes a stream", "events": "uses events", "copies": "copies or clears memory"}


def arguments():
    p = argparse.ArgumentParser(prog="receipts.py", description=__doc__.split("\n\n")[0].split(": ", 1)[1])
    p.add_argument("dir", type=Path, help="the set: a directory of M_N_K.cu")
    p.add_argument("results", type=Path, nargs="+", metavar="RESULT", help="result.json or journal.jsonl of a run, .gz or not")
    p.add_argument("--name", help="family of the kernels in the results (default: the directory's name)")
    p.add_argument("--build", type=Path, help="what import.py wrote: says which kernels build")
    p.add_argument("--claims", type=Path, help="directory of the claims (default: eval_results of the checkout)")
    p.add_argument("--program", type=Path, default=TOP / "build/cudal2-bench", help="reads journals")
    p.add_argument("--out", type=Path, help="Markdown file (default: standard output)")
    p.add_argument("--tsv", type=Path, help="a row for each kernel and mode")
    return p.parse_args()


def fail(text):
    sys.exit(f"receipts: {text}")


# --- what is read ---

def report(options, path, form):
    """What `cudal2-bench report` makes of a result or a journal."""
    with tempfile.TemporaryDirectory() as work:
        done = subprocess.run([options.program, "report", path, "--format", form, "--output", work], capture_output=True, text=True)
        if done.returncode:
            fail(done.stderr.strip() or f"{path}: report ends with {done.returncode}")
        return next(Path(work).iterdir()).read_text()


def read_result(options, path):
    """The result, and its speedups: {(mode, shape): {(reference, timing): (gain, low, high)}}."""
    gains, family = {}, f"{options.name}-max"
    for row in csv.DictReader(io.StringIO(report(options, path, "pairs"))):
        if row["candidate"] == family and row["baseline"] in REFERENCES.values():
            cell = row["mode"], tuple(int(row[x]) for x in "mnk")
            values = tuple(float(row[x] or "nan") - 1 for x in ("speedup", "low", "high"))
            gains.setdefault(cell, {})[row["baseline"], row["timing"]] = values
    return json.loads(report(options, path, "result")), gains


def shapes_of(directory):
    shapes = {tuple(map(int, p.stem.split("_"))) for p in directory.glob("*.cu") if re.fullmatch(r"\d+_\d+_\d+", p.stem)}
    return shapes or fail(f"no M_N_K.cu in {directory}")


def read_claims(options, mode):
    """{shape: {reference: gain}}: a claimed ratio of 1.2 is a gain of 0.2."""
    directory = options.claims or options.dir.resolve().parent.parent / "eval_results"
    path = directory / f"cuda_l2_{options.dir.resolve().name}_speedup_{mode}.csv"
    if not path.exists():
        return {}
    with path.open() as f:
        return {tuple(map(int, row["mnk"].split("_"))): {r: float(row[r]) - 1 for r in REFERENCES if row.get(r)}
                for row in csv.DictReader(f)}


def read_builds(out):
    """{shape: None, or why it does not build}, of the records of import.py; one that builds counts more than
    one that does not."""
    builds = {}
    for path in sorted(out.glob("*.json"), key=lambda p: p.stat().st_mtime):
        record = json.loads(path.read_text())
        stem = Path(record.get("file", "")).stem
        if "state" in record and re.fullmatch(r"\d+_\d+_\d+", stem):
            shape, good = tuple(map(int, stem.split("_"))), record["state"] == "ok"
            if good or builds.get(shape, "") is not None:
                builds[shape] = None if good else record["reason"]
    return builds


# --- what one kernel comes to ---

def verdict_of(contenders):
    """(verdict, reason) of a kernel from those of its layouts: it reads B in one of them, and is unsupported
    in the other."""
    told = [(c["status"], c.get("reason", "")) for c in contenders]
    for wanted in (lambda s: s not in ("ok", "unsupported"), lambda s: s == "ok", lambda s: True):
        for status, reason in told:
            if wanted(status):
                return status, reason
    return "missing", "in no cell"


def median(contender, timing):
    return contender.get("timings", {}).get(timing, {}).get("median_ns")


def reference_time(cell, reference, timing):
    """Of the faster layout; None where it has none."""
    family = reference.removesuffix("-max")
    times = [median(c, timing) for n, c in cell["contenders"].items()
             if n in (family, f"{family}-nn", f"{family}-tn") and c["status"] == "ok"]
    return min((t for t in times if t), default=None)


def gain_by_medians(cell, own, reference, timing):
    """Of a kernel whose times are marked invalid: no interval belongs to it."""
    theirs, ours = reference_time(cell, reference, timing), [t for t in (median(c, timing) for c in own) if t]
    return theirs / min(ours) - 1 if ours and theirs else None


def time_of_autotuning(cell):
    """Its device time in ns, the faster layout; None where it has none."""
    return reference_time(cell, "cublaslt-autotuning-max", "device")


def is_lost(cell):
    """Whether nothing came back of it, whose kernel it was included."""
    return cell["status"] == "failed" and not cell["contenders"]


def kernel_of(cell, name, gains):
    """What a cell says of the kernel; None where it has none."""
    own = [c for n, c in cell["contenders"].items() if n in (f"{name}-nn", f"{name}-tn")]
    if not own and not is_lost(cell):
        return None
    verdict, reason = verdict_of(own) if own else ("failed", cell.get("reason", ""))
    attributes = [c["attributes"] for c in own if "each_call" in c.get("attributes", {})]
    kernel = {"verdict": verdict, "reason": reason, "attributes": attributes[0] if attributes else {}, "gains": gains, "flagged": {},
              "time": time_of_autotuning(cell), "references": {(r, t): reference_time(cell, r, t) for r in REFERENCES.values() for t in TIMINGS}}
    by_medians = {(r, t): g for r in REFERENCES.values() for t in TIMINGS if (g := gain_by_medians(cell, own, r, t)) is not None}
    if verdict == "ok":  # what took part as a candidate beside it has no pair
        kernel["gains"] = {p: (g, math.nan, math.nan) for p, g in by_medians.items()} | gains
    else:
        kernel["gains"], kernel["flagged"] = {}, by_medians
    return kernel


def is_synchronising(kernel):
    """Whether it makes the host wait in each call (host_sync)."""
    return kernel["attributes"].get("each_call", {}).get("synchronisations", 0) > 0


def is_padded(kernel):
    return kernel["attributes"].get("padding", "0x0x0") != "0x0x0"


def collect(options, results):
    """{(mode, shape): kernel}; where two results have the same one, the later counts, but not if it was
    lost."""
    kernels = {}
    for result, gains in results:
        for cell in result["cells"]:
            key = cell["mode"], (int(cell["m"]), int(cell["n"]), int(cell["k"]))
            kernel = kernel_of(cell, options.name, gains.get(key, {}))
            if kernel and not (is_lost(cell) and key in kernels):
                kernels[key] = kernel
    found = any(k["verdict"] != "failed" for k in kernels.values())
    return kernels if found else fail(f'no cell has "{options.name}-nn" or "{options.name}-tn": --name says what the kernels are called')


def collect_padded(options, results):
    """{(mode, shape that it is published for): {timing: ns}} of kernels that were run for their padded
    shapes, and pass."""
    times = {}
    for cell in (cell for result, _ in results for cell in result["cells"]):
        for name, c in cell["contenders"].items():
            stem = Path(c.get("attributes", {}).get("source", "")).stem
            if name in (f"{options.name}-padded-nn", f"{options.name}-padded-tn") and c["status"] == "ok" and re.fullmatch(r"\d+_\d+_\d+", stem):
                own = times.setdefault((cell["mode"], tuple(map(int, stem.split("_")))), {})
                own |= {t: min(ns, own.get(t, math.inf)) for t in TIMINGS if (ns := median(c, t))}
    return times


# --- tables ---

def percent(x):
    return "" if x is None or math.isnan(x) else f"{100 * x:+.1f}%"


def mean_with_half_width(values):
    """ "+3.1% ±0.4": the 95% interval covers which shapes are in the set, not what differs between runs. Few
    have none."""
    if not values:
        return "-"
    half = 1.96 * statistics.stdev(values) / math.sqrt(len(values)) if len(values) >= FEW else math.nan
    return f"{percent(statistics.mean(values))}{'' if math.isnan(half) else f' ±{100 * half:.1f}'}"


def table(heads, rows):
    return ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads), *("| " + " | ".join(map(str, r)) + " |" for r in rows), ""]


def ranks(values):
    order, out, i = sorted(range(len(values)), key=values.__getitem__), [0.0] * len(values), 0
    while i < len(order):
        j = i
        while j < len(order) and values[order[j]] == values[order[i]]:
            j += 1
        for at in order[i:j]:
            out[at] = (i + j - 1) / 2
        i = j
    return out


def correlation(a, b):
    """Spearman's; "-" where one of them does not vary."""
    if len(a) < 3 or len(set(a)) < 2 or len(set(b)) < 2:
        return "-"
    return f"{statistics.correlation(ranks(a), ranks(b)):.2f}"


class Receipts:
    def __init__(self, options):
        self.options, self.shapes = options, shapes_of(options.dir)
        results = [read_result(options, p) for p in options.results]
        self.results = [r for r, _ in results]
        self.kernels = {k: v for k, v in collect(options, results).items() if k[1] in self.shapes}
        self.padded = collect_padded(options, results)
        self.claims = {mode: read_claims(options, mode) for mode in MODES}
        self.modes = [m for m in MODES if any(k[0] == m for k in self.kernels)]
        self.timings = [t for t in TIMINGS if any(p[1] == t for k in self.kernels.values() for p in [*k["gains"], *k["flagged"]])]

    def of(self, mode):
        return {shape: k for (m, shape), k in self.kernels.items() if m == mode}

    def coverage(self):
        rows = []
        if self.options.build:
            builds = {s: r for s, r in read_builds(self.options.build).items() if s in self.shapes}
            good = sum(r is None for r in builds.values())
            rows.append(["built", f"{good} of {len(builds)} tried", f"{len(self.shapes)} in the set"])
            rows += [["does not build", n, reason] for reason, n in Counter(r for r in builds.values() if r).most_common()]
        rows += [[f"judged, {mode}", f"{len(self.of(mode))} of {len(self.shapes)}", ""] for mode in self.modes]
        return ["## How much of the set", "", *table(["what", "kernels", ""], rows)]

    def verdicts(self):
        rows = []
        for mode in self.modes:
            seen = self.of(mode)
            for verdict, n in Counter(k["verdict"] for k in seen.values()).most_common():
                shapes = sorted(s for s, k in seen.items() if k["verdict"] == verdict)
                reasons = Counter(seen[s]["reason"] for s in shapes if seen[s]["reason"]).most_common(1)
                example = "" if verdict == "ok" else f"{'x'.join(map(str, shapes[0]))}: {reasons[0][0] if reasons else ''}"
                rows.append([mode, verdict, n, example.replace("|", "/")])
                waiting = sum(is_synchronising(seen[s]) for s in shapes)
                if verdict == "ok" and waiting:
                    rows.append([mode, "ok, of them host_sync", waiting, "an observation: synchronises in each call"])
        return ["## Verdicts", "", *table(["mode", "verdict", "kernels", "for example"], rows)]

    def means(self):
        """Claims and means over the same kernels; then with those that have a verdict against them, where
        they were timed."""
        rows = []
        for mode in self.modes:
            seen, claims = self.of(mode), self.claims[mode]
            for theirs, ours in REFERENCES.items():
                for timing in self.timings:
                    good = {s: k["gains"][ours, timing][0] for s, k in seen.items() if (ours, timing) in k["gains"]}
                    flagged = {s: k["flagged"][ours, timing] for s, k in seen.items() if (ours, timing) in k["flagged"]}
                    if good or flagged:
                        claimed = {s: claims[s][theirs] for s in good if theirs in claims.get(s, {})}
                        both = sorted(claimed)
                        rows.append([mode, theirs, timing, len(good), mean_with_half_width([c[theirs] for c in claims.values() if theirs in c]),
                                     mean_with_half_width([claimed[s] for s in both]), mean_with_half_width(list(good.values())),
                                     f"{sum(g > 0 for g in good.values())} of {len(good)}",
                                     correlation([claimed[s] for s in both], [good[s] for s in both]),
                                     f"{mean_with_half_width([*good.values(), *flagged.values()])} ({len(flagged)})"])
        heads = ["mode", "against", "timing", "kernels", "claimed, whole set", "claimed, these", "measured, these", "faster", "rank correlation",
                 "with flagged (how many)"]
        return ["## Claimed and measured", "", *table(heads, rows)]

    def classes(self):
        """The same over AutoTuning, by how long AutoTuning takes."""
        theirs, ours = "cuBLASLt-auto-tuning-max", REFERENCES["cuBLASLt-auto-tuning-max"]
        rows = []
        for mode in self.modes:
            low = 0
            for text, high in CLASSES:
                good = {s: k for s, k in self.of(mode).items() if k["time"] and low <= k["time"] < high and (ours, "device") in k["gains"]}
                claims = [self.claims[mode][s][theirs] for s in good if theirs in self.claims[mode].get(s, {})]
                low = high
                if good:
                    rows.append([mode, text, len(good), mean_with_half_width(claims),
                                 *(mean_with_half_width([k["gains"][ours, t][0] for k in good.values() if (ours, t) in k["gains"]]) for t in self.timings)])
        return ["## By AutoTuning's device time", "", *table(["mode", "AutoTuning takes", "kernels", "claimed", *self.timings], rows)]

    def synchronising(self):
        """A call to synchronise is dropped while the launch is captured, so device time leaves it out; events
        and the host's clock have it. Sizes may differ between the two groups."""
        theirs, ours = "cuBLASLt-auto-tuning-max", REFERENCES["cuBLASLt-auto-tuning-max"]
        rows = []
        for mode in self.modes:
            good = {s: k for s, k in self.of(mode).items() if k["verdict"] == "ok" and k["gains"]}
            for text, wanted in (("synchronises", True), ("does not", False)):
                group = {s: k for s, k in good.items() if is_synchronising(k) == wanted}
                claims = [self.claims[mode][s][theirs] for s in group if theirs in self.claims[mode].get(s, {})]
                times = [k["time"] for k in group.values() if k["time"]]
                measured = [[k["gains"][ours, t][0] for k in group.values() if (ours, t) in k["gains"]] for t in self.timings]
                rows.append([mode, text, len(group), f"{statistics.median(times) / 1e3:.1f} us" if times else "-", mean_with_half_width(claims),
                             *map(mean_with_half_width, measured)])
        heads = ["mode", "in each call", "kernels", "AutoTuning takes, median", "claimed", *self.timings]
        note = " ".join(self.synchronising.__doc__.split())
        return ["## Synchronising in each call, over AutoTuning", "", note, "", *table(heads, rows)] if any(r[1] == "synchronises" and r[2] for r in rows) else []

    def behaviour(self):
        seen = {}
        for mode in reversed(self.modes):
            seen.update({s: k["attributes"] for s, k in self.of(mode).items() if k["attributes"]})
        rows = []
        for count, text in COUNTS.items():
            least = 1 if count == "launches" else 0
            rows.append([text, *(sum(a[call].get(count, 0) > least for a in seen.values()) for call in ("first_call", "each_call"))])
        return ["## What the wrappers do beside launching", "", *table([f"of {len(seen)} kernels", "in the first call", "in each call"], rows)]

    def part(self, mode, theirs, timing, padded):
        """How many of those that pass are given padded copies, or are not; what they claim; what was
        measured."""
        pair, claims = (REFERENCES[theirs], timing), self.claims[mode]
        good = {s: k["gains"][pair][0] for s, k in self.of(mode).items() if pair in k["gains"] and is_padded(k) == padded}
        return [len(good), mean_with_half_width([claims[s][theirs] for s in good if theirs in claims.get(s, {})]), mean_with_half_width(list(good.values()))]

    def outside(self, mode, theirs, timing):
        """Of the padded ones, by medians: their time for the padded shape, beside the reference's for the
        shape."""
        pair = REFERENCES[theirs], timing
        gains = [k["references"][pair] / own - 1 for s, k in self.of(mode).items()
                 if pair in k["gains"] and k["references"][pair] and (own := self.padded.get((mode, s), {}).get(timing))]
        return f"{mean_with_half_width(gains)} ({len(gains)})"

    def padding(self):
        """Padded copies are made inside the time here, and outside of it by the authors' scripts."""
        pairs = [(mode, theirs, timing) for mode in self.modes for theirs in REFERENCES for timing in self.timings]
        parts = [(pair, self.part(*pair, False), self.part(*pair, True)) for pair in pairs]
        rows = [[*pair, *plain, *padded, self.outside(*pair)] for pair, plain, padded in parts if padded[0]]
        heads = ["mode", "against", "timing", "not padded", "claimed", "measured", "padded", "claimed", "measured", "without copies (how many)"]
        return ["## Padded copies", "", self.padding.__doc__, "", *table(heads, rows)] if rows else []

    def machines(self):
        rows = {}
        for result in self.results:
            for env in result.get("env", []):
                device, libraries = env["device"], env.get("libraries", {})
                versions = ", ".join(f"{n} {libraries[n][n]}" for n in ("torch", "cublas", "cublaslt") if n in libraries.get(n, ()))
                rows[device["name"], device.get("driver", ""), versions] = None
        return ["## Measured on", "", *table(["device", "driver", "libraries"], rows)]

    def markdown(self):
        return "\n".join([f"# {self.options.dir.resolve().name}: receipts", "", *self.coverage(), *self.verdicts(), *self.means(), *self.classes(),
                          *self.padding(), *self.synchronising(), *self.behaviour(), *self.machines()])

    def rows(self):
        """Of the TSV: one for each kernel and mode."""
        pairs = [(theirs, ours, t) for theirs, ours in REFERENCES.items() for t in self.timings
                 if ours not in FURTHER or any((ours, t) in k["gains"] for k in self.kernels.values())]
        claimed = [theirs for theirs, ours in REFERENCES.items() if ours not in FURTHER]
        yield ["mode", "m", "n", "k", "verdict", "reason", *(f"claimed {r}" for r in claimed),
               *(f"{t} {theirs}{end}" for theirs, _, t in pairs for end in ("", " low", " high"))]
        for (mode, shape), k in sorted(self.kernels.items()):
            claims = self.claims[mode].get(shape, {})
            gains = [k["gains"].get((ours, t), (math.nan,) * 3) for _, ours, t in pairs]
            yield [mode, *shape, k["verdict"], k["reason"], *(number(claims.get(r, math.nan)) for r in claimed),
                   *(number(x) for g in gains for x in g)]


def number(x):
    return "" if math.isnan(x) else f"{x:.4f}"


def main():
    options = arguments()
    options.name = options.name or options.dir.resolve().name
    receipts = Receipts(options)
    text = receipts.markdown()
    if options.tsv:
        with options.tsv.open("w", newline="") as f:
            csv.writer(f, delimiter="\t", lineterminator="\n").writerows(receipts.rows())
    if options.out:
        options.out.write_text(text)
    else:
        print(text)


if __name__ == "__main__":
    main()
