#!/bin/bash
# The paper's protocol on baselines alone, and scripts/paper-check.sh, which holds its means against adaptive
# intervals.
# Times nothing.
. "$(dirname "$0")/e2e.inc.sh"
cat >"$work/paper.json" <<END
{"schema": "cudal2-bench/config", "schema_version": 1, "name": "paper", "shapes": [{"m": 16, "n": 16, "k": 32}], "dtype": "f32", "accumulate": ["f32"],
 "layouts": ["nn"], "baselines": ["$plugins/honest.so", "$plugins/steady.so"], "protocol": "paper",
 "paper": {"warmup_seconds": 10, "pair_seconds": 30},
 "stop": {"min_blocks": 8, "look_every": 4, "max_blocks": 8, "group_blocks": 2, "max_cell_seconds": 5}}
END
check() {
    "$(dirname "$0")/../../scripts/paper-check.sh" -p "$bench" -c "$work/paper.json" -o "$work/check" -d cpu -w 0.1 -s 0.4 >"$work/out" 2>"$work/err"
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
run report "$work/check/adaptive.json" --between "$work/check/adaptive.journal.jsonl" --table 1
expect_text "$work/out" 'between runs 95% of speedups differ by up to 0\.00 points \(offline, ' "a table says what lies between two runs"
run report "$work/check/adaptive.json" --between "$work/check/adaptive.journal.jsonl" --format html
expect_text "$work/out" '"between":"between runs 95% of speedups differ by up to 0\.00 points' "so does the page"
run report "$work/check/adaptive.json" --between "$work/check/adaptive.journal.jsonl" --format pairs
expect_text "$work/err" 'the format pairs has no place for this: between runs 95% of speedups' "what has no place for it says so"
run report "$work/check/adaptive.json" --between "$work/check/paper.json"
expect_text "$work/out" '^between runs 95% of speedups differ by up to [0-9.]+ points \(offline, ' "so does the screen"
run report "$work/check/adaptive.json" "$work/check/paper.json" --between "$work/check/paper.json"
expect_code 64 "of one result only"
run compare --agreement "$work/check/adaptive.json" "$work/check/paper.json" --format csv
expect_code 64 "a format that agreement does not know"
run compare --agreement "$work/check/adaptive.json"
expect_code 64 "agreement of one run"

# --- several adaptive runs ---
check_runs() { # check_runs RUNS [OPTION...]
    "$(dirname "$0")/../../scripts/paper-check.sh" -p "$bench" -c "$work/paper.json" -o "$work/runs" -d cpu -w 0.1 -s 0.4 -r "$@" >"$work/out" 2>"$work/err"
    code=$?
}
for runs in 0 x 16 1.5; do
    check_runs "$runs"
    expect_code 64 "-r $runs"
    expect_text "$work/err" '^usage: paper-check.sh ' "-r $runs: usage"
done
check_runs 3 -- --seed 5
expect_code 64 "one seed for three runs"
sed 's/"protocol"/"seed": 5, "protocol"/' "$work/paper.json" >"$work/seeded.json"
check_runs 3 -c "$work/seeded.json"
expect_code 64 "a config with a seed for three runs"
[ ! -e "$work/runs" ]
verdict $? "a usage error leaves nothing behind"
check_runs 3
expect_code 0 "three adaptive runs"
[ "$(sed -nE 's/^paper-check: ([a-z0-9-]+): exit .*/\1/p' "$work/err" | tr '\n' ' ')" = "adaptive adaptive-2 paper adaptive-3 " ]
verdict $? "two before the paper's run and one after it" "$(grep '^paper-check' "$work/err")"
[ "$(sed -nsE '1s/.*"seed":"([0-9]+)".*/\1/p' "$work"/runs/adaptive*.journal.jsonl | sort -u | wc -l)" -eq 3 ]
verdict $? "three seeds" "$(head -qn 1 "$work"/runs/adaptive*.journal.jsonl | grep -o '"seed":"[0-9]*"')"
expect_text "$work/out" 'between NEW and the mean of 3 BASE runs, in percentage points$' "the mean of the three is compared"
expect_text "$work/out" " mean of BASE +one more run's 95% interval +NEW " "with where one more run lies"
expect_text "$work/out" '^1 common cell, measured in .* s by 3 runs of BASE and .* s by NEW' "and the cost of all"
[ -s "$work/runs/agreement.txt" ] && tail -n "$(wc -l <"$work/runs/agreement.txt")" "$work/out" | cmp -s - "$work/runs/agreement.txt"
verdict $? "the table is kept"
expect_text "$work/runs/agreement-first.txt" ' BASE +its 95% interval +NEW ' "and the first run alone against the paper's"
expect_text "$work/runs/agreement-first.txt" '^1 common cell, measured in [0-9.]+ s by BASE and' "whose cost is of one run"
cat "$work"/runs/*.json >"$work/before"
check_runs 3
cat "$work"/runs/*.json | cmp -s - "$work/before"
verdict $? "a second call measures nothing"
run compare --agreement "$work"/runs/adaptive.json "$work"/runs/adaptive-[23].json "$work/runs/paper.json" --format json
expect_text "$work/out" '"base_runs": ?3,' "json says how many runs"
run compare --agreement "$work/runs/adaptive.json" "$work/runs/adaptive.journal.jsonl" "$work/runs/paper.json"
expect_code 2 "one run twice"
expect_text "$work/err" 'have the same seed' "is refused"
run compare --agreement "$work/runs/adaptive.json" "$work/runs/adaptive.journal.jsonl" "$work/runs/paper.json" --format json
expect_code 2 "one run twice, json"
expect_text "$work/out" '"outcome": ?".* have the same seed' "json says why"
expect_text "$work/out" '"rows": ?\[\]' "and has no rows"
run compare --agreement "$work/runs/adaptive.json" "$work/nowhere.json" --format markdown
expect_code 65 "a run that is not there"
expect_text "$work/out" '^### cudal2-bench compare --agreement: .*nowhere.json' "and markdown says so"
run compare --agreement "$work/runs/adaptive.json" "$work/nowhere.json"
[ "$code" -eq 65 ] && [ ! -s "$work/out" ] && [ "$(wc -l <"$work/err")" -eq 1 ]
verdict $? "text leaves it to the line on stderr" "$(cat "$work/out")"

# --- scripts/sensitivity.sh makes its table from what is measured ---
sensitivity() {
    "$(dirname "$0")/../../scripts/sensitivity.sh" -o "$work/sensitivity" -t >"$work/out" 2>"$work/err"
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
time_of=$("$bench" report "$work/check/adaptive.json" --no-color | sed -nE 's/^16x16x32 +[^ ]+ +[0-9.]+ µs +([0-9.]+) µs.*/\1/p')
shown=$(sed -nE 's/^\| server .*, ([0-9.]+) µs \|$/\1/p' "$work/out")
awk -v a="$time_of" -v b="$shown" 'BEGIN { exit !(a > 0 && a - b < 0.051 && b - a < 0.051) }'
verdict $? "with the reference's time as the report has it" "$shown µs, in the report ${time_of:-nothing} µs"
finish
