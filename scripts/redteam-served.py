#!/usr/bin/env python3
"""The red team's modules as strangers' submissions: each row of a table that is a module goes to a server of
its own as source with a manifest, all in one batch, and its verdict is held against the one that the table
asks for. No error text may say how it was found out.

    scripts/redteam-served.py build/cudal2-bench --device cuda:0 [--table tests/redteam/cuda.table] [--out
    FILE]

--out: a Markdown table. Exit 0: all are caught and no honest one is accused. Called by tests/gpu/gpu_serve_redteam.sh."""
import argparse
import json
import os
import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "python")]
from cudal2_bench.errors import BenchError  # noqa: E402
from cudal2_bench.served import Client, serving  # noqa: E402

TELLS = re.compile(r"a timed launch|projection|unmapped|seed|poison|/tmp/")


def settings():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("program")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--table", type=Path, default=ROOT / "tests/redteam/cuda.table")
    parser.add_argument("--out", type=Path)
    return parser.parse_args()


def rows_of(table):
    """(name, number, wanted verdicts, what it does) of each module, and the table's problem as MxNxK."""
    text = table.read_text()
    rows = re.findall(r"^(\S+)\s+module:(\d+)\s+(\S+)\s+(.*)$", text, re.M)
    shape = json.loads(re.search(r"^# shape: (.*)$", text, re.M).group(1))
    problem = shape if isinstance(shape, str) else "%(m)dx%(n)dx%(k)d" % shape
    return [(name, int(number), wanted.split("|"), what) for name, number, wanted, what in rows], problem


def submission(directory, number, problem):
    manifest = json.loads((directory / "module.json").read_text())
    manifest["parameters"]["DOES"]["default"] = number
    return {"source": (directory / "module.cu").read_text(), "manifest": manifest, "problem": problem, "again": True,
            "half_width": 0.005, "seconds": 5}


def outcomes_of(options, rows, problem):
    with serving(options.device, ["--baselines", "cublas", "--queue", "200", "--quota", "200"]) as url:
        client = Client(url)
        jobs = [submission(options.table.parent, number, problem) for _, number, _, _ in rows]
        taken = client.ask("/v1/jobs", {"jobs": jobs})["jobs"]
        refused = [job for job in taken if "id" not in job]
        if refused:
            sys.exit("redteam-served: refused: %s" % refused[0])
        return [client.outcome(job["id"]) for job in taken]


def line(row, outcome):
    """A table's row, and whether it is as wanted."""
    name, _, wanted, what = row
    verdict, reward = outcome["verdict"], outcome.get("reward") or {}
    paid = (reward.get("value") or 0) > 0
    told = TELLS.search(json.dumps(outcome.get("error") or ""))
    good = verdict in wanted and paid == (verdict == "ok") and not told
    said = verdict if not told else "%s, and is told: %s" % (verdict, told.group())
    return "| %s | %s | %s | %s | %s |" % (name, what, " or ".join(wanted), said, "as wanted" if good else "NOT AS WANTED"), good


def main():
    options = settings()
    os.environ["CUDAL2_BENCH"] = shutil.which(options.program) or options.program
    rows, problem = rows_of(options.table)
    try:
        outcomes = outcomes_of(options, rows, problem)
    except BenchError as error:
        sys.exit("redteam-served: %s" % error)
    lines = [line(row, outcome) for row, outcome in zip(rows, outcomes)]
    for row, outcome, (_, good) in zip(rows, outcomes, lines):
        if not good:
            print("%s, stage %s: %s" % (row[0], outcome.get("stage"), json.dumps(outcome.get("error"))), file=sys.stderr)
    honest = [good for row, (_, good) in zip(rows, lines) if row[2] == ["ok"]]
    cheats = [good for row, (_, good) in zip(rows, lines) if row[2] != ["ok"]]
    text = "\n".join(["| module | what it does | expected | verdict | |", "|---|---|---|---|---|"] + [text for text, _ in lines])
    summary = "%d of %d caught, %d of %d honest accused" % (sum(cheats), len(cheats), len(honest) - sum(honest), len(honest))
    if options.out:
        options.out.write_text("%s\n\n%s\n" % (text, summary))
    print(text + "\n" + summary)
    sys.exit(0 if all(honest) and all(cheats) else 1)


if __name__ == "__main__":
    main()
