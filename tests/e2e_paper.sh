#!/bin/bash
# The paper's protocol on baselines alone, and scripts/paper-check.sh, which holds its means against adaptive intervals.
. "$(dirname "$0")/e2e.inc.sh"
cat >"$work/paper.json" <<END
{"schema": "cudal2-bench/config", "schema_version": 1, "name": "paper", "shapes": [{"m": 16, "n": 16, "k": 32}], "dtype": "f32", "accumulate": ["f32"],
 "layouts": ["nn"], "baselines": ["$plugins/honest.so", "$plugins/steady.so"], "protocol": "paper",
 "paper": {"warmup_seconds": 10, "pair_seconds": 30},
 "stop": {"min_blocks": 8, "look_every": 4, "max_blocks": 8, "group_blocks": 2, "max_cell_seconds": 5}}
END
check() {
    "$(dirname "$0")/../scripts/paper-check.sh" -p "$bench" -c "$work/paper.json" -o "$work/check" -d cpu -w 0.1 -s 0.4 >"$work/out" 2>"$work/err"
    code=$?
}
check
expect_code 0 "paper-check.sh"
expect_text "$work/out" '^offline +wall +1 ' "one pair of baselines in both runs"
expect_text "$work/out" '^offline/f32-f32-16x16x32 +wall +honest-max +steady-max .*(inside|outside)' "with its place in the adaptive interval"
expect_text "$work/out" '^1 common cell, measured in .* by NEW' "and the cost of both"
expect_text "$work/check/paper.json" '"paper_pairs":\[\{"candidate":"honest-nn","reference":"steady-nn","iterations":[1-9]' "the pair is in the result"
expect_text "$work/check/config.json" '"warmup_seconds": 0.1, "pair_seconds": 0.4' "the shortened times are on record"
cp "$work/check/paper.json" "$work/before"
check
expect_code 0 "paper-check.sh again"
cmp -s "$work/check/paper.json" "$work/before"
verdict $? "measures nothing twice"
run compare --agreement "$work/check/adaptive.journal.jsonl" "$work/check/adaptive.json" --format markdown
expect_code 0 "agreement of a journal and its result"
expect_text "$work/out" '^\| offline \| wall \| [1-9][0-9]* \| 0\.00 \| 0\.00 \| 0\.00 \|' "is perfect"
run compare --agreement "$work/check/adaptive.json" "$work/check/paper.json" --format csv
expect_code 64 "a format that agreement does not know"
run compare --agreement "$work/check/adaptive.json"
expect_code 64 "agreement of one run"

# --- scripts/sensitivity.sh makes its table from what is measured ---
sensitivity() {
    "$(dirname "$0")/../scripts/sensitivity.sh" -o "$work/sensitivity" -t >"$work/out" 2>"$work/err"
    code=$?
}
sensitivity
expect_code 65 "no table without a measurement"
cp "$work/check/adaptive.json" "$work/sensitivity/offline-warm---.json"
cp "$work/check/adaptive.json" "$work/sensitivity/server-warm-uniform-125.json"
sensitivity
expect_code 0 "sensitivity.sh: table"
expect_text "$work/out" '^Speedup of honest-max against steady-(nn|max), wall time' "says what is shown"
expect_text "$work/out" '^\| mode \| cache \| gap \| 16x16x32 \|$' "a column for each shape"
expect_text "$work/out" '^\| server \| warm \| uniform 8 ms \| [-+][0-9.]+% ± [0-9.]+, [0-9.]+ µs \|$' "a row for each setting"
# The report has one digit less from 10 µs on.
time_of=$("$bench" report "$work/check/adaptive.json" --no-color | sed -nE 's/^16x16x32 +[0-9.]+ µs +([0-9.]+) µs.*/\1/p')
shown=$(sed -nE 's/^\| server .*, ([0-9.]+) µs \|$/\1/p' "$work/out")
awk -v a="$time_of" -v b="$shown" 'BEGIN { exit !(a > 0 && a - b < 0.051 && b - a < 0.051) }'
verdict $? "with the reference's time as the report has it" "$shown µs, in the report ${time_of:-nothing} µs"
finish
