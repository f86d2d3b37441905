#!/usr/bin/env python3
"""How often the quick look of `serve` (docs/serve.md, `screen`) errs, on the CPU device.

The candidate is the baseline's own source under another name, so that its true ratio is 1. It is submitted
for many problems with screens below, at and above 1: at 1 or less to drop it is an error, above 1 to let it
pass is. Needs a C compiler.

    scripts/screen-rate.py build/cudal2-bench --jobs 0.95:40,1:120,1.05:40,1.1:40,1.2:40
"""
import argparse
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

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


def problems(n, seed):
    """Distinct ones, of some 10 to 200 us."""
    draw, found = random.Random(seed), set()
    while len(found) < n:
        found.add("%dx%dx%d" % tuple(8 * draw.randint(8, 24) for _ in range(3)))
    return sorted(found)


def interval(k, n):
    """Wilson's 95% interval of a share."""
    z, p = 1.96, k / n
    middle, half = p + z * z / 2 / n, z * math.sqrt(p * (1 - p) / n + z * z / 4 / n / n)
    return (middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("--jobs", default="0.95:40,1:120,1.05:40,1.1:40,1.2:40", help="SCREEN:JOBS,...")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    os.environ["CUDAL2_BENCH"] = shutil.which(options.program) or options.program
    with tempfile.TemporaryDirectory() as directory:
        build(Path(directory))
        with serving("cpu", ["--plugins", directory, "--baselines", "one"]) as url:
            client = Client(url)
            print("| true ratio / screen | jobs | dropped | share, 95% |\n|---|---|---|---|")
            for screen, n in (pair.split(":") for pair in options.jobs.split(",")):
                jobs = [client.submit({"candidate": "twin", "problem": problem, "screen": float(screen), "seconds": 0.05,
                                       "half_width": 0.5}) for problem in problems(int(n), options.seed)]
                outcomes = [client.outcome(job) for job in jobs]
                wrong = [o for o in outcomes if o["verdict"] != "ok"]
                if wrong:
                    sys.exit("%d jobs failed: %s" % (len(wrong), wrong[0].get("error")))
                dropped = sum(o.get("screened", False) for o in outcomes)
                low, high = interval(dropped, len(outcomes))
                print("| %.3f | %d | %d | %.1f%% (%.1f to %.1f) |" % (1 / float(screen), len(outcomes), dropped,
                                                                   100 * dropped / len(outcomes), 100 * low, 100 * high), flush=True)


if __name__ == "__main__":
    main()
