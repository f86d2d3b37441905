"""Finds the program and runs it. Used by api.py and __main__.py.

The program is CUDAL2_BENCH where that is set, else the one inside the package, else the first of that name in
PATH."""
from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Sequence

from .errors import Unavailable


def program() -> str:
    """The path of the program; Unavailable where there is none."""
    named = os.environ.get("CUDAL2_BENCH")
    inside = Path(__file__).with_name("_dist") / "cudal2-bench"
    found = named or (str(inside) if inside.exists() else shutil.which("cudal2-bench"))
    if not found or not os.access(found, os.X_OK):
        raise Unavailable("no program cudal2-bench%s: install the package, or set CUDAL2_BENCH" %
                          (" at %s" % found if found else ""))
    return found


def call(arguments: Sequence[str]) -> "subprocess.CompletedProcess[str]":
    """Runs the program; stdout and stderr are text."""
    return subprocess.run([program(), *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          errors="replace", check=False)


def version() -> str:
    """The version of the program, "unknown" where there is none."""
    try:
        words = call(["--version"]).stdout.split()
    except Unavailable:
        return "unknown"
    return words[1] if len(words) > 1 else "unknown"
