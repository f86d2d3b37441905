#!/usr/bin/env python3
"""How often the quick look of `serve` (docs/serve.md, `screen`) errs, and what it takes.

On the CPU device the candidate is the baseline's own source under another name, so that its true ratio is 1.
It is submitted for many problems with screens below, at and above 1: at 1 or less to drop it is an error,
above 1 to let it pass is. Needs a C compiler.

On a GPU the candidate is `--candidate`, which is first measured in full. Its screens are these times its own
ratio, so that the ratio over the screen is known to the full measurement's half-width. With `--twin` the
baseline is a kernel set of the candidate's own line instead, so that the true ratio is 1 there too, and
nothing is measured in full.

    scripts/screen-rate.py build/cudal2-bench --jobs 0.95:40,1:120,1.05:40,1.1:40,1.2:40
    scripts/screen-rate.py build/cudal2-bench --device cuda:0 --jobs 0.95:60,1:60,1.05:60,1.2:60
    scripts/screen-rate.py build/cudal2-bench --device cuda:0 --twin --jobs 1:150
"""
import argparse
import json
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

AT_ONCE = 25  # jobs; --seconds is looked at in between
ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "rl")]
from cudal2_bench.served import Client, serving  # noqa: E402
from kernel_policy.harness import COMPILE  # noqa: E402


def build(directory):
    """Two plugins of one source: they differ in their names alone."""
    for name in ("one", "twin"):
        subprocess.run([os.environ.get("CC", "cc").split()[-1], *COMPILE, "-O3", "-I%s" % (ROOT / "harness"),
                        '-DBLOCKED_NAME="%s"' % name, str(ROOT / "kernels/plugins/blocked.c"), "-o",
                        str(directory / ("%s.so" % name))], check=True)


def set_of(candidate, directory):
    """The kernel directory again, with one set, `one`: the candidate's kernel and parameters, whatever the
    problem."""
    shutil.copytree(ROOT / "kernels", directory, ignore=shutil.ignore_patterns("sets", "tuned"))
    (directory / "sets").mkdir()
    (directory / "sets" / "one.json").write_text(json.dumps({
        "schema": "cudal2-bench/kernel-set", "schema_version": 1, "name": "one",
        "entries": [{"kernel": candidate["kernel"], "when": "1", "parameters": candidate["parameters"]}]}))


def problems(n, seed, device):
    """Distinct ones, of some 10 to 200 us."""
    step, least, most = (8, 8, 24) if device == "cpu" else (64, 8, 48)
    draw, found = random.Random(seed), set()
    while len(found) < n:
        found.add("%dx%dx%d" % tuple(step * draw.randint(least, most) for _ in range(3)))
    return sorted(found)


def interval(k, n):
    """Wilson's 95% interval of a share."""
    z, p = 1.96, k / n
    middle, half = p + z * z / 2 / n, z * math.sqrt(p * (1 - p) / n + z * z / 4 / n / n)
    return (middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n)


def measured(client, submissions):
    """Their outcomes, all of them `ok`."""
    jobs = [client.submit(submission) for submission in submissions]
    outcomes = [client.outcome(job) for job in jobs]
    wrong = [o for o in outcomes if o["verdict"] != "ok"]
    if wrong:
        sys.exit("%d jobs failed: %s" % (len(wrong), wrong[0].get("error")))
    return outcomes


def seconds(outcomes):
    """What a job took in the mean, without its time in the queue and its compilation."""
    took = [sum(v for k, v in o["spent"].items() if k not in ("queue", "compile", "busy", "parts")) for o in outcomes]
    return sum(took) / len(took)


def table(client, candidate, options):
    """A row for each screen. On a GPU the screens are of each problem's own full ratio."""
    screens = [(float(screen), int(n)) for screen, n in (pair.split(":") for pair in options.jobs.split(","))]
    shapes = problems(max(n for _, n in screens), options.seed, options.device)
    ratios, end = {}, time.monotonic() + options.seconds
    if options.device != "cpu" and not options.twin:
        full = measured(client, [{**candidate, "problem": shape, "half_width": 0.003, "seconds": 3} for shape in shapes])
        ratios = {shape: o["terms"]["ratio"] for shape, o in zip(shapes, full)}
        widths = sorted(math.log(o["terms"]["ratio_high"] / o["terms"]["ratio_low"]) / 2 for o in full)
        print("%d measured in full: %.3f s each, half-width %.2f%% in the median\n" % (len(full), seconds(full), 100 * widths[len(full) // 2]))
    print("| true ratio / screen | jobs | dropped | share, 95% | seconds each, dropped | kept |\n|---|---|---|---|---|---|")
    for screen, n in screens:
        outcomes, wanted = [], [{**candidate, "problem": shape, "screen": screen * ratios.get(shape, 1), "seconds": 0.05,
                                 "half_width": 0.5, "again": True} for shape in random.Random(n).sample(shapes, n)]
        for at in range(0, n, AT_ONCE):
            if time.monotonic() < end or not outcomes:
                outcomes += measured(client, wanted[at:at + AT_ONCE])
        n = len(outcomes)
        dropped = [o for o in outcomes if o.get("screened")]
        low, high = interval(len(dropped), n)
        took = ["%.3f" % seconds(some) if some else "" for some in (dropped, [o for o in outcomes if not o.get("screened")])]
        print("| %.3f | %d | %d | %.1f%% (%.1f to %.1f) | %s | %s |" % (1 / screen, n, len(dropped), 100 * len(dropped) / n, 100 * low,
                                                                       100 * high, *took), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--candidate", type=json.loads, default={"kernel": "multistage", "parameters": {}}, help="members of a submission, on a GPU")
    parser.add_argument("--twin", action="store_true", help="on a GPU: against a kernel set of the candidate's own line")
    parser.add_argument("--jobs", default="0.95:40,1:120,1.05:40,1.1:40,1.2:40", help="SCREEN:JOBS,...")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=math.inf, help="no more jobs after this time; what was measured by then is told")
    options = parser.parse_args()
    os.environ["CUDAL2_BENCH"] = shutil.which(options.program) or options.program
    with tempfile.TemporaryDirectory() as directory:
        arguments, candidate = [], options.candidate
        if options.device == "cpu":
            build(Path(directory))
            arguments, candidate = ["--plugins", directory, "--baselines", "one"], {"candidate": "twin"}
        elif options.twin:
            set_of(candidate, Path(directory) / "kernels")
            arguments = ["--kernels", directory + "/kernels", "--baselines", "one"]
        with serving(options.device, arguments) as url:
            table(Client(url), candidate, options)


if __name__ == "__main__":
    main()
