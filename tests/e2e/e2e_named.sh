#!/bin/bash
# Whoever was named and measured nowhere makes the exit status 2, and the last line names them: a file that is
# missing, one that does not load, a kernel that crashes in every cell, a family of another device. What a
# config calls optional, and defaults, are left out with the reason. `run` and `verify` alike. The other
# candidate is measured all the while.
# Times nothing.
. "$(dirname "$0")/e2e.inc.sh"
shape='{"m": 16, "n": 24, "k": 32}'
stop='"stop": {"min_blocks": 8, "look_every": 8, "max_blocks": 8, "group_blocks": 4, "max_cell_seconds": 2}'
good="\"$plugins/steady.so\""

missed() { # missed CODE NAME PATTERN CANDIDATES [MORE]: the last line of a run of the good candidate and these
    rm -f "$work"/out.json "$work"/out.journal.jsonl
    config "$work/c.json" "$shape" '"offline"' "$good${4:+, $4}" "$stop${5:+, $5}"
    run --config "$work/c.json" --device cpu --output "$work/out.json" "${more[@]}"
    expect_code "$1" "$2"
    tail -1 "$work/err" >"$work/last"
    expect_text "$work/last" "$3" "$2: the last line"
    expect_text "$work/out" 'steady-nn' "$2: the table is there"
}

more=()
missed 0 "everybody is measured" '^result: '
missed 2 "a plugin that is not there" "^cudal2-bench: $work/nowhere.so .nowhere. was measured in no cell: unavailable: .*nowhere.so" "\"$work/nowhere.so\""
head -3 "$work/err" >"$work/first"
expect_text "$work/first" "^candidate $work/nowhere.so: No such file or directory: it will be measured in no cell$" "and it is told before anything is measured"
echo "no library" >"$work/text.so"
missed 2 "a plugin that does not load" 'text.so .text. was measured in no cell: unavailable: .*text.so' "\"$work/text.so\""
missed 2 "a crash in every cell" 'bad_crash_setup.so .*was measured in no cell: crash in ' "\"$plugins/bad_crash_setup.so\""
missed 2 "a family of another device" '^cudal2-bench: cublas .*was measured in no cell: unavailable: ' '"cublas"'
missed 0 "an optional family of another device" '^result: ' '"cublas"' '"optional": ["cublas"]'
expect_text "$work/out" 'cublas.*unavailable|cublas.*: .*not|cublas.*CUDA' "which is left out with the reason"
missed 2 "an optional one that crashes" 'bad_crash_setup.so .*was measured in no cell: crash' "\"$plugins/bad_crash_setup.so\"" "\"optional\": [\"$plugins/bad_crash_setup.so\"]"
more=(--baselines "$plugins/honest.so,cublas")
missed 2 "a family of another device on the command line" '^cudal2-bench: cublas .*was measured in no cell'
more=(--candidate cublas)
missed 2 "a candidate of another device on the command line" '^cudal2-bench: cublas .*was measured in no cell'
more=()
sed -i '/"baselines"/s/"baselines": .*"candidates"/"candidates"/' "$work/c.json"
run --config "$work/c.json" --device cpu --output "$work/defaults.json"
[ "$code" -eq 0 ] || grep -q 'nothing could be compared' "$work/err" # without torch nobody is left to compare with
verdict $? "baselines that nobody named may all be left out" "$(tail -1 "$work/err")"

# --- verify ---
checked() { # checked CODE NAME PATTERN KERNEL...
    local code_wanted=$1 name=$2 pattern=$3
    shift 3
    run verify --device cpu --shape 16x24x32 --plugins "$nothing" "$@"
    expect_code "$code_wanted" "$name"
    expect_text "$work/err" "$pattern" "$name: says who"
}
run verify --device cpu --shape 16x24x32 --plugins "$nothing" "$plugins/honest.so" "$plugins/steady.so"
expect_code 0 "verify: both are checked"
for how in "" --in-process; do
    checked 2 "verify $how: one that does not load" 'verify: .*text.so .text. was measured in no cell: unavailable' $how "$plugins/honest.so" "$work/text.so"
    checked 2 "verify $how: one that is for another device" 'verify: .*bad_probe.so .*was measured in no cell: unavailable' $how "$plugins/honest.so" "$plugins/bad_probe.so"
done
finish
