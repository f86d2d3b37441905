#!/bin/bash
# scripts/price.sh on the CPU device: runs with checks and without on one configuration, the first of all not counted, and the table.
# Times nothing.
. "$(dirname "$0")/e2e.inc.sh"
cat >"$work/config.json" <<'END'
{"schema": "cudal2-bench/config", "schema_version": 1, "dtype": "f32", "modes": ["offline"], "baselines": ["skeleton"],
 "candidates": ["blocked"], "stop": {"group_blocks": 1, "min_blocks": 4, "least_blocks": 6, "look_every": 2, "max_blocks": 8},
 "shapes": [{"m": 64, "n": 64, "k": 64}, {"m": 64, "n": 64, "k": 128}]}
END
timeout 120 scripts/price.sh -p "$bench" -o "$work/price" -d cpu -c "$work/config.json" -n 1 -r 1 -m 100 >"$work/out" 2>"$work/err"
code=$?
cat "$work/err" >>"$work/out"
[ "$code" -eq 0 ]
verdict $? "price.sh" "exit $code, $(tail -1 "$work/out")"
expect_text "$work/out" '^\| 1 \| 1 \| [0-9.]+ \| [4-8] \| [0-9.]+ \| [4-8] \|' "a row for the round, its cells and blocks"
expect_text "$work/price/runs.txt" '^1 off [0-9]+$' "the run that compiles is not counted"
[ "$(wc -l <"$work/price/runs.txt")" -eq 2 ]
verdict $? "two runs are" "$(tr '\n' ';' <"$work/price/runs.txt")"
finish
