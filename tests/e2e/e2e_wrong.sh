#!/bin/bash
# A wrong result says what was expected, what came, and where: in the reason, in verify's text and JSON, and
# in a run's journal. A hang in a smoke run is over in 20 seconds by its limits. An algorithm that crashes is
# out, and its baseline is not.
# Times nothing.
. "$(dirname "$0")/e2e.inc.sh"
redteam=$(dirname "$bench")/tests/redteam

run verify "$redteam/edge-skipped.so" --device cpu --plugins "$nothing" --shape 200x136x64
expect_code 3 "the last row is not written"
expect_text "$work/out" 'the first at row 199 column 0: expected [0-9]+, got nan' "expected and got in the reason"
expect_text "$work/out" '^    row 199, column 1: expected [0-9]+, got NaN$' "and of the first elements"
expect_text "$work/out" '^    wrong .#. in C, a mark for 13 rows and 9 columns:$' "the map has a scale"
[ "$(grep -cE '^    [.]{16}$' "$work/out")" -eq 15 ] && [ "$(grep -cE '^    #{16}$' "$work/out")" -eq 1 ]
verdict $? "the map shows the last row of tiles" "$(cat "$work/out")"
run verify "$redteam/one-wrong.so" --device cpu --plugins "$nothing" --shape 200x136x64 --format json
expect_code 3 "one element is wrong"
tr -d ' \t\n' <"$work/out" >"$work/flat"
expect_text "$work/flat" '"wrong":."elements":..100,0,[0-9]+,[0-9]+..,"rows":.100,100.,"columns":.0,0.,"mark":.13,9.,"map":' "JSON has element, range and map"
[ "$(grep -o '#' "$work/out" | wc -l)" -eq 1 ]
verdict $? "the map has one mark"
# Larger than what is looked at in whole: the first wrong element is there all the same.
run verify "$redteam/one-wrong.so" --device cpu --plugins "$nothing" --shape 5000x1200x8
expect_text "$work/out" '^    row [0-9]+, column [0-9]+: expected [0-9]+, got [0-9]+$' "a large output"

config "$work/w.json" '{"m": 40, "n": 24, "k": 32}' '"offline"' "\"$redteam/one-wrong.so\""
run --config "$work/w.json" --device cpu --quiet --output "$work/w.out.json"
expect_code 3 "a run"
expect_text "$work/w.out.journal.jsonl" '"wrong":\{"elements":\[\[' "its journal has the picture"

# The keys of limits are seconds, as a config has them.
grep -o '"[a-z]*_seconds": [0-9.]*' "$(dirname "$0")/../../configs/smoke.json" | grep -E 'setup|verify|launch|tune' |
    awk '{ n++; if ($2 > 20) bad = 1 } END { exit bad || n != 4 }'
verdict $? "no stage of a smoke run may take over 20 s"

# A library's list of algorithms may hold one that takes the worker with it: that one is out of every cell,
# its baseline is not.
config "$work/v.json" '{"m": 64, "n": 64, "k": 64}, {"m": 32, "n": 64, "k": 64}' '"offline"' "\"$plugins/honest.so\"" \
    '"stop": {"min_blocks": 4, "look_every": 2, "max_blocks": 4, "group_blocks": 2}'
sed -i "s|\"baselines\": [^]]*\]|\"baselines\": [\"$plugins/tunable.so\"]|" "$work/v.json"
CUDAL2_TUNABLE=plain,crash,slow run --config "$work/v.json" --device cpu --output "$work/v.out.json"
expect_code 0 "one algorithm of a baseline crashes"
[ "$(grep -o '"rejected":\[{"key":"crash","reason":"crash in stage' "$work/v.out.journal.jsonl" | wc -l)" -eq 2 ]
verdict $? "it alone is rejected, in both cells" "$(grep -o '"rejected":[^]]*' "$work/v.out.journal.jsonl" | head -2)"
[ "$(grep -c 'worker lost' "$work/err")" -eq 1 ]
verdict $? "and costs one worker" "$(grep 'worker lost' "$work/err")"
! grep -q '"status":"crash"' "$work/v.out.journal.jsonl"
verdict $? "its baseline is measured in both"
finish
