"""Writes results as Parquet, by Arrow's C++ library in its Python package pyarrow. Called by
Result.to_parquet and as `python -m cudal2_bench.parquet RESULT... -o shapes.parquet`.

The columns are those of `report --format shapes`, typed: counts are int64, times and other figures float64
(null where there is none), yes and no are bool, the rest are strings."""
from __future__ import annotations

import argparse
import io
import os
import sys
from typing import Any, List, Optional, Sequence, Union

from ._program import call
from .errors import BenchError, CannotCreate, Unavailable, error_of

PathLike = Union[str, "os.PathLike[str]"]
_WHOLE = ("m", "n", "k", "blocks", "raced")
_YES_OR_NO = ("headline", "batch_invariant", "deterministic")
_FIGURES = ("tflops", "percent_of_roofline", "race_gpu_seconds", "joules", "gflop_per_joule")


def _arrow() -> Any:
    """pyarrow, or Unavailable with how to get it."""
    try:
        import pyarrow
        import pyarrow.csv
        import pyarrow.parquet
    except ImportError as error:
        raise Unavailable("no Parquet without Arrow's C++ library (%s): pip install pyarrow" % error) from None
    return pyarrow


def _type_of(arrow: Any, column: str) -> Any:
    if column in _WHOLE:
        return arrow.int64()
    if column in _YES_OR_NO:
        return arrow.bool_()
    return arrow.float64() if column in _FIGURES or column.endswith("_ns") else arrow.string()


def table(sources: Sequence[PathLike], options: Sequence[str] = ()) -> Any:
    """Results, journals or directories of them as one pyarrow.Table; `options` are further ones of
    `report`."""
    arrow = _arrow()
    done = call(["report", *[os.fspath(source) for source in sources], "--format", "shapes", *options])
    if done.returncode != 0:
        raise error_of(done.returncode, done.stderr)
    names = done.stdout.split("\n", 1)[0].split(",")
    types = {name: _type_of(arrow, name) for name in names}
    return arrow.csv.read_csv(io.BytesIO(done.stdout.encode()),
                              parse_options=arrow.csv.ParseOptions(newlines_in_values=True),
                              convert_options=arrow.csv.ConvertOptions(column_types=types))


def write(sources: Sequence[PathLike], output: PathLike, options: Sequence[str] = ()) -> int:
    """Writes what `table` reads, whole or not at all; returns the number of rows."""
    arrow = _arrow()
    rows = table(sources, options)
    made = "%s.%d.tmp" % (os.fspath(output), os.getpid())
    try:
        arrow.parquet.write_table(rows, made, compression="zstd")
        os.replace(made, output)
    except OSError as error:
        if os.path.exists(made):
            os.unlink(made)
        raise CannotCreate("%s: %s" % (os.fspath(output), error)) from error
    return int(rows.num_rows)


def main(arguments: Optional[List[str]] = None) -> int:
    """The command; its exit codes are the program's."""
    parser = argparse.ArgumentParser(prog="python -m cudal2_bench.parquet",
                                     description="Writes a row for each cell, contender and timing as Parquet.")
    parser.add_argument("result", nargs="+", help="a result, a journal or a directory with one of them")
    parser.add_argument("-o", "--output", default="shapes.parquet", help="the file (default: %(default)s)")
    parser.add_argument("--mixed", action="store_true", help="as of `report`: different devices or drivers at once")
    asked = parser.parse_args(arguments)
    try:
        rows = write(asked.result, asked.output, ["--mixed"] if asked.mixed else [])
    except BenchError as error:
        sys.stderr.write("cudal2-bench: %s\n" % error)
        return error.code
    sys.stdout.write("%s: %d rows\n" % (asked.output, rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
