"""`python -m cudal2_bench ARGUMENT...` and the command cudal2-bench of the wheel: becomes the program."""
from __future__ import annotations

import os
import sys

from ._program import program
from .errors import BenchError


def main() -> None:
    try:
        path = program()
    except BenchError as error:
        sys.stderr.write("cudal2-bench: %s\n" % error)
        sys.exit(error.code)
    os.execv(path, [path, *sys.argv[1:]])


if __name__ == "__main__":
    main()
