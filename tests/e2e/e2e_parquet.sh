#!/bin/bash
# Parquet by Arrow's C++ library (pyarrow): the same columns and values as `report --format shapes`, typed;
# without pyarrow one line says so. What needs pyarrow runs where $PYTHON (python3) or the one of
# `scripts/consumers.sh all` has it.
# Times nothing.
without_plugins=yes
. "$(dirname "$0")/e2e.inc.sh"
top=$(cd "$(dirname "$0")/../.." && pwd)
python=${PYTHON:-python3}
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null || { echo "skip: no Python 3.9"; exit 77; }
export PYTHONPATH=$top/python:$(dirname "$bench")/consumers/python CUDAL2_BENCH=$bench
journal=$top/tests/fixtures/data/journals/11-24g-offline-f16
mkdir "$work/none"
echo 'raise ImportError("No module named pyarrow")' >"$work/none/pyarrow.py"
PYTHONPATH=$work/none:$PYTHONPATH "$python" -m cudal2_bench.parquet "$journal" -o "$work/x.parquet" >"$work/out" 2>"$work/err"
[ $? -eq 69 ] && [ "$(wc -l <"$work/err")" -eq 1 ]
verdict $? "without pyarrow: unavailable, in one line" "$(head -3 "$work/err")"
expect_text "$work/err" "^cudal2-bench: no Parquet without Arrow's C\+\+ library .*: pip install pyarrow$" "it says how to get it"
if ! "$python" -c 'import pyarrow.parquet' 2>/dev/null; then
    echo "skip: writing Parquet (no pyarrow: pip install pyarrow, or scripts/consumers.sh all)"
    finish
fi
"$python" -m cudal2_bench.parquet "$journal" -o "$work/shapes.parquet" >"$work/out" 2>"$work/err"
verdict $? "a journal becomes Parquet" "$(tail -1 "$work/err")"
run report "$journal" --format shapes
cat >"$work/check.py" <<'END'
import csv, sys, pyarrow as pa, pyarrow.parquet as pq
import cudal2_bench as cb
path, text, journal, work = sys.argv[1:]
table = pq.read_table(path)
with open(text, newline="") as file:
    head, *lines = csv.reader(file)
assert table.column_names == head, table.column_names
assert table.num_rows == len(lines) > 100
types = {name: table.schema.field(name).type for name in head}
assert types["m"] == types["blocks"] == pa.int64() and types["headline"] == pa.bool_() and types["mode"] == pa.string()
assert types["median_ns"] == types["tflops"] == pa.float64()
def said(value, name):
    if types[name] == pa.string():
        return value
    return None if value == "" else value == "1" if name == "headline" else float(value)
for row, line in zip(table.to_pylist(), lines):
    assert list(row.values()) == [said(value, name) for name, value in zip(head, line)], (row, line)
assert cb.load(journal).to_parquet(work + "/of.parquet") == len(lines)
result = cb.load(journal)
object.__setattr__(result, "path", None)  # as of a run whose files are gone
assert result.to_parquet(work + "/kept.parquet") == len(lines)
try:
    result.to_parquet(work + "/nowhere/x.parquet")
except cb.CannotCreate as error:
    assert error.code == 73
else:
    raise AssertionError("no CannotCreate")
END
"$python" "$work/check.py" "$work/shapes.parquet" "$work/out" "$journal" "$work" 2>"$work/err"
verdict $? "it has the CSV's columns, typed, and its values" "$(tail -1 "$work/err")"
"$python" -m cudal2_bench.parquet "$work/nowhere.json" -o "$work/x.parquet" >"$work/out" 2>"$work/err"
[ $? -eq 65 ] && [ ! -e "$work/x.parquet" ]
verdict $? "what cannot be read writes nothing" "$(tail -1 "$work/err")"
if "$python" -c 'import duckdb' 2>/dev/null; then
    "$python" -c 'import duckdb, sys
assert duckdb.sql("select count(*) from read_parquet(?) where headline and tflops > 0", params=[sys.argv[1]]).fetchall()[0][0] > 10' "$work/shapes.parquet" 2>"$work/err"
    verdict $? "duckdb reads it" "$(tail -1 "$work/err")"
else
    echo "skip: Parquet in duckdb (no duckdb)"
fi
if "$python" -c 'import pandas' 2>/dev/null; then
    "$python" -c 'import pandas, sys; assert pandas.read_parquet(sys.argv[1]).m.dtype == "int64"' "$work/shapes.parquet" 2>"$work/err"
    verdict $? "pandas reads it" "$(tail -1 "$work/err")"
else
    echo "skip: Parquet in pandas (no pandas)"
fi
finish
