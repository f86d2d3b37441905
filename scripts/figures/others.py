"""others.py: the block of figures-check.py about other people's kernels: the referee table
(docs/lab/referee.md), as scripts/referee.py makes it of results/h100/referee and h200/referee.

Run from the top of the repository; relies on the program (CUDAL2_BENCH)."""
import subprocess
import sys

from data import PROGRAM

RUNS = ["results/h100/referee/f16.jsonl.gz", "results/h100/referee/f16-short.jsonl.gz", "results/h200/referee/bf16.jsonl.gz"]


def referee():
    text = subprocess.run([sys.executable, "scripts/referee.py", *RUNS, "--families", "results/h200/referee/families.tsv",
                           "--program", PROGRAM], check=True, capture_output=True, text=True).stdout
    return text.split("\n", 2)[2].strip().split("\n")  # the page has a title of its own
