#!/usr/bin/env python3
"""figures-check.py [--write]: every figure of README.md, results/README.md and the pages below that comes
from a measurement. The blocks are in figures/: leads.py, runs.py, learned.py and
others.py.

Reads committed files under results/ alone. A block of a page between `<!-- figures: NAME -->` and `<!-- end
-->` is what the function of that name gives, and a page of HTML (WHOLE) all that its function gives; without
--write what differs is told, and the exit status is 1. So a figure is changed by changing data or this script, never by hand. Part of scripts/lint.sh;
run it with --write after `make results`. CUDAL2_BENCH names the program (default build/cudal2-bench); exit
69: it is not there.

A lead is cudal2-max over a baseline, t_baseline / t_ours - 1, over cublaslt-autotuning-max by device time
unless it says otherwise. Means are of the shapes' means of ratios (the paper's); ahead, behind and intervals
are of the trimmed estimate. A shape's class is that of AutoTuning's time, the faster layout's median."""
import difflib
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "figures"))
import leads  # noqa: E402
import learned  # noqa: E402
import others  # noqa: E402
import runs  # noqa: E402
from data import PROGRAM, TOP  # noqa: E402

SUBJECTS = (leads, runs, learned, others)
PAGES = ("README.md", "results/README.md", "docs/scale-out.md", "docs/method.md", "docs/trust.md", "docs/rl.md", "docs/lab/rl-details.md",
         "docs/lab/referee.md", "docs/lab/portfolio.md")
WHOLE = {"docs/lab/referee.md": ("docs/lab/referee.html", others.referee_page)}  # beside a page that has figures

BLOCK = re.compile(r"<!-- figures: (\w+) -->\n(.*?)<!-- end -->", re.S)


def block(name):
    return next(getattr(subject, name) for subject in SUBJECTS if hasattr(subject, name))()


def renew(text):
    return BLOCK.sub(lambda m: "<!-- figures: %s -->\n%s\n<!-- end -->" % (m.group(1), "\n".join(block(m.group(1)))), text)


def read(page):
    if not os.path.exists(page):
        return ""
    with open(page) as file:
        return file.read()


def settle(page, now, write):
    """Whether the page is what it should be, which --write makes it."""
    text = read(page)
    if now != text and write:
        with open(page, "w") as file:
            file.write(now)
        print("figures: %s written" % page)
    elif now != text:
        print("figures: %s: not what results/ gives (scripts/figures-check.py --write):" % page)
        print("\n".join(list(difflib.unified_diff(text.splitlines(), now.splitlines(), "page", "data", "", "", 0))[2:12]))
    return write or now == text


def main(write):
    if not os.access(PROGRAM, os.X_OK):
        print("figures: no program %s (make builds it)" % PROGRAM, file=sys.stderr)
        return 69
    right = True
    for page in PAGES:
        right = settle(page, renew(read(page)), write) and right
        if page in WHOLE and BLOCK.search(read(page)):
            path, whole = WHOLE[page]
            right = settle(path, whole(), write) and right
    if right:
        print("figures: %s say what results/ gives" % ", ".join(PAGES))
    return not right


if __name__ == "__main__":
    os.chdir(TOP)
    sys.exit(main(sys.argv[1:] == ["--write"]))
