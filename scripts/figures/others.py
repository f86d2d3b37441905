"""others.py: the block of figures-check.py about other people's kernels: the referee table
(docs/lab/referee.md), as scripts/referee.py makes it of results/h100/referee.

Run from the top of the repository; relies on the program (CUDAL2_BENCH)."""
import subprocess
import sys

from data import PROGRAM

DIR = "results/h100/referee"


def referee():
    text = subprocess.run([sys.executable, "scripts/referee.py", DIR + "/f16.jsonl.gz", "--families", DIR + "/families.tsv",
                           "--program", PROGRAM], check=True, capture_output=True, text=True).stdout
    return text.split("\n", 2)[2].strip().split("\n")  # the page has a title of its own
