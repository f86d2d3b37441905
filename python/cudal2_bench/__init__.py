"""Runs cudal2-bench and reads what it measured.

    import cudal2_bench as cb
    result = cb.run(shapes=["512x512x512"], device="cpu")
    for cell in result.cells:
        print(cell.key, cell.contenders["openblas-nn"].median_ns())
    frame = result.to_pandas()          # one row for each cell, contender and timing

Every failure of the program is an exception of errors.py with the program's own message and exit code.
"""
from ._program import program, version
from .api import compare, load, run, verify
from .errors import (
    BenchError,
    BrokenPromise,
    CannotCreate,
    DataError,
    Incomparable,
    Interrupted,
    OutputError,
    Regression,
    TryAgain,
    Unavailable,
    UsageError,
    VerificationFailed,
)
from .results import Cell, Change, Comparison, Contender, Result, Speedup, Timing

__all__ = [
    "BenchError", "BrokenPromise", "CannotCreate", "Cell", "Change", "Comparison", "Contender", "DataError", "Incomparable",
    "Interrupted", "OutputError", "Regression", "Result", "Speedup", "Timing", "TryAgain", "Unavailable", "UsageError",
    "VerificationFailed", "compare", "load", "program", "run", "verify", "version",
]
__version__ = version()
