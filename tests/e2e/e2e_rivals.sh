#!/bin/bash
# Baselines are timed again without the plugins that raced, where the config asks for it: an honest plugin is told of and left alone.
. "$(dirname "$0")/e2e.inc.sh"
shapes='{"m": 64, "n": 64, "k": 64}, {"m": 96, "n": 64, "k": 64}'
stop='"stop": {"min_blocks": 8, "look_every": 4, "max_blocks": 8, "group_blocks": 2, "max_cell_seconds": 4}'
config "$work/c.json" "$shapes" '"offline"' "\"$plugins/steady.so\"" "$stop, \"verify\": {\"rivals\": 2}"
run --config "$work/c.json" --device cpu --output "$work/r.json"
expect_code 0 "a run with verify.rivals ends well"
expect_text "$work/err" 'timing baselines again without the plugins that raced' "it says that it times them again"
[ "$(journal_cells "$work/r.journal.jsonl" | wc -l)" -eq 2 ]
verdict $? "what was timed again is in no cell"
! grep -q rival_disturbed "$work/r.journal.jsonl"
verdict $? "nobody is named" "$(grep rival_disturbed "$work/r.journal.jsonl" | head -c 300)"
run --config "$work/c.json" --device cpu --output "$work/r.json" --resume
expect_code 0 "--resume of it has nothing to do"
sed 's/"rivals": 2/"rivals": 17/' "$work/c.json" >"$work/bad.json"
run --config "$work/bad.json" --device cpu --output "$work/b.json"
[ "$code" -ne 0 ] && expect_text "$work/err" 'rivals' "a number out of range is named"
finish
