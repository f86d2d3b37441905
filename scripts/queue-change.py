#!/usr/bin/env python3
"""Whether a full queue changes rewards: each problem alone, alone again, amid a full queue, and in shared
cells.

Amid: between jobs of other problems and, of a kernel, of other lines that compilers work at meanwhile, with
clients that poll. What changes from alone to alone again is what to expect of a repeat.

    scripts/queue-change.py build/cudal2-bench --device cuda:0 --jobs 40 --sides 1024x1024 --step 64 \\
        --candidate '{"kernel": "multistage", "parameters": {}}'
"""
import argparse
import itertools
import json
import math
import os
import shutil
import statistics
import sys
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "python")]
from cudal2_bench.errors import BenchError  # noqa: E402
from cudal2_bench.served import Client, serving  # noqa: E402

LINES = [{"BM": m, "BN": n, "BK": k, "STAGES": s}
         for m, n, k, s in itertools.product((64, 128), (64, 128), (32, 64), (2, 3, 4))]


def settings():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--jobs", type=int, default=20)
    parser.add_argument("--sides", default="64x64")
    parser.add_argument("--step", type=int, default=8, help="of K")
    parser.add_argument("--candidate", type=json.loads, default={"candidate": "blocked"}, help="members of a submission")
    parser.add_argument("--effort", type=json.loads, default={"half_width": 0.005, "seconds": 1})
    return parser.parse_args()


def filler(options, i):
    """The i-th job between the others: another problem, and another line where there are lines."""
    job = dict(options.candidate, problem="%sx%d" % (options.sides, options.step * (8 + options.jobs + i)), half_width=0.5,
               seconds=0.05, again=True)
    return dict(job, parameters=LINES[i % len(LINES)]) if "kernel" in job else job


def poll(url, ids, over):
    """A client that asks how far they are, 100 times a second at most."""
    client = Client(url)
    while not over.is_set():
        for job in ids:
            client.ask("/v1/jobs/%s" % job)
            over.wait(0.01)


def amid(url, options, probes):
    client, over = Client(url), threading.Event()
    fillers = [filler(options, i) for i in range(len(probes) + 1)]
    jobs = fillers[:1] + [job for pair in zip(probes, fillers[1:]) for job in pair]
    ids = [job["id"] for at in range(0, len(jobs), 200) for job in client.ask("/v1/jobs", {"jobs": jobs[at:at + 200]})["jobs"]]
    pollers = [threading.Thread(target=poll, args=(url, ids[i::8], over)) for i in range(8)]
    for thread in pollers:
        thread.start()
    try:
        return [client.outcome(job) for job in ids[1::2]]
    finally:
        over.set()
        for thread in pollers:
            thread.join()


def shared(url, options, probes):
    """Each probe with five other lines on its problem, all at once; its outcomes, and how many shared
    cells."""
    client = Client(url)
    groups = [[dict(probe, share=True)] + [dict(probe, share=True, parameters=LINES[(5 * i + k) % len(LINES)]) for k in range(5)]
              for i, probe in enumerate(probes)]
    jobs = [job for group in groups for job in group]
    ids = [job["id"] for at in range(0, len(jobs), 200) for job in client.ask("/v1/jobs", {"jobs": jobs[at:at + 200]})["jobs"]]
    outcomes = [client.outcome(job) for job in ids[::6]]
    return outcomes, sum("together" in outcome for outcome in outcomes)


def log_ratio(outcome):
    """The ratio and its half-width, both as logarithms."""
    terms = outcome.get("terms")
    if outcome["verdict"] != "ok" or not terms:
        sys.exit("a job failed: %s %s" % (outcome["verdict"], outcome.get("error")))
    return math.log(terms["ratio"]), math.log(terms["ratio_high"] / terms["ratio_low"]) / 2


def row(name, before, after):
    changes = [b[0] - a[0] for a, b in zip(before, after)]
    own = sum(abs(c) > max(a[1], b[1]) for c, a, b in zip(changes, before, after))
    both = sum(abs(c) > min(a[1], b[1]) for c, a, b in zip(changes, before, after))
    mean, error = statistics.mean(changes), statistics.stdev(changes) / math.sqrt(len(changes))
    return "| %s | %d | %.2f%% | %.2f%% | %+.2f%% +-%.2f | %d | %d |" % (
        name, len(changes), 100 * statistics.median(b[1] for b in after), 100 * statistics.median(map(abs, changes)), 100 * mean,
        196 * error, own, both)


def main():
    options = settings()
    os.environ["CUDAL2_BENCH"] = shutil.which(options.program) or options.program
    probes = [dict(options.candidate, problem="%sx%d" % (options.sides, options.step * (8 + i)), again=True, **options.effort)
              for i in range(options.jobs)]
    with serving(options.device, ["--queue", "2000", "--quota", "2000"]) as url:
        client = Client(url)
        try:
            alone = [[log_ratio(client.measure(job)) for job in probes] for _ in range(2)]
            full = [log_ratio(outcome) for outcome in amid(url, options, probes)]
            beside = shared(url, options, probes) if "kernel" in options.candidate else ([], 0)
        except BenchError as error:
            sys.exit(str(error))
    print("| | rewards | half-width | changed by, median | mean | not in the wider interval | not in both |\n|" + "---|" * 7)
    print(row("alone again", alone[0], alone[1]))
    print(row("amid a full queue", alone[0], full))
    if beside[0]:
        print(row("with five other lines, %d in shared cells" % beside[1], alone[0], list(map(log_ratio, beside[0]))))


if __name__ == "__main__":
    main()
