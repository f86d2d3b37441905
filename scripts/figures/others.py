"""others.py: what figures-check.py has of other people's kernels: the referee table, the block of
docs/lab/referee.md and the page docs/lab/referee.html, as scripts/referee.py makes them of
results/h100/referee and, for shapes that lack there, results/h100/receipts; behind them the tables of
results/h200/referee-cutlass.

Run from the top of the repository; relies on the program (CUDAL2_BENCH)."""
import functools
import subprocess
import sys
import tempfile

from data import PROGRAM

RUNS = ["results/h100/referee/f16.jsonl.gz", "results/h100/referee/f16-short.jsonl.gz", "results/h100/referee/bf16.jsonl.gz",
        "results/h100/referee/bf16-rest.jsonl.gz"]
# Published kernels that were not built yet when those ran, by the names that they have in the receipts.
GAPS = ["--gaps", "results/h100/receipts/journal.jsonl.gz", "--as", "theirs=cuda-l2",
        "--gaps", "results/h100/receipts/last-five.jsonl.gz", "--as", "theirs-new=cuda-l2"]
# What is not to be mixed with those: more kernels of one family, on another GPU.
EIGHT = "CUTLASS by NVIDIA's heuristics, eight kernels a shape, one H200"
ALSO = [word for dtype in ("f16", "bf16") for word in ("--also", f"{EIGHT}=results/h200/referee-cutlass/{dtype}.jsonl.gz")]
FAMILIES = "results/h100/referee/families.tsv"
NOTES = "docs/lab/referee.md"


@functools.cache
def made():
    """(Markdown, HTML)"""
    with tempfile.NamedTemporaryFile("r", suffix=".html") as page:
        text = subprocess.run([sys.executable, "scripts/referee.py", *RUNS, *GAPS, *ALSO, "--families", FAMILIES, "--program", PROGRAM,
                               "--notes", NOTES, "--html", page.name], check=True, capture_output=True, text=True).stdout
        return text, page.read()


def referee():
    return made()[0].split("\n", 2)[2].strip().split("\n")  # the page has a title of its own


def referee_page():
    return made()[1]
