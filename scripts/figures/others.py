"""others.py: what figures-check.py has of other people's kernels: the referee table, the block of
docs/lab/referee.md and the page docs/lab/referee.html, as scripts/referee.py makes them of
results/h100/referee.

Run from the top of the repository; relies on the program (CUDAL2_BENCH)."""
import functools
import subprocess
import sys
import tempfile

from data import PROGRAM

RUNS = ["results/h100/referee/f16.jsonl.gz", "results/h100/referee/f16-short.jsonl.gz", "results/h100/referee/bf16.jsonl.gz",
        "results/h100/referee/bf16-rest.jsonl.gz"]
FAMILIES = "results/h100/referee/families.tsv"
NOTES = "docs/lab/referee.md"


@functools.cache
def made():
    """(Markdown, HTML)"""
    with tempfile.NamedTemporaryFile("r", suffix=".html") as page:
        text = subprocess.run([sys.executable, "scripts/referee.py", *RUNS, "--families", FAMILIES, "--program", PROGRAM,
                               "--notes", NOTES, "--html", page.name], check=True, capture_output=True, text=True).stdout
        return text, page.read()


def referee():
    return made()[0].split("\n", 2)[2].strip().split("\n")  # the page has a title of its own


def referee_page():
    return made()[1]
