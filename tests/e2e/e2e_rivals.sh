#!/bin/bash
# Baselines are timed again without the plugins that raced: an honest plugin is left alone, one that slows a
# baseline is named.
. "$(dirname "$0")/e2e.inc.sh"
shapes='{"m": 64, "n": 64, "k": 64}, {"m": 96, "n": 64, "k": 64}'
stop='"stop": {"min_blocks": 8, "look_every": 4, "max_blocks": 8, "group_blocks": 2, "max_cell_seconds": 4}'
config "$work/c.json" "$shapes" '"offline"' "\"$plugins/steady.so\"" "$stop"
sed -i 's/"verify": {"rivals": 0}, //' "$work/c.json" # two cells by default
run --config "$work/c.json" --device cpu --output "$work/r.json"
expect_code 0 "a run of a plugin ends well"
expect_text "$work/err" 'timing baselines again without the plugins that raced' "it says that it times them again"
[ "$(journal_cells "$work/r.journal.jsonl" | wc -l)" -eq 2 ]
verdict $? "what was timed again is in no cell"
! grep -q rival_disturbed "$work/r.journal.jsonl"
verdict $? "nobody is named" "$(grep rival_disturbed "$work/r.journal.jsonl" | head -c 300)"
run --config "$work/c.json" --device cpu --output "$work/r.json" --resume
expect_code 0 "--resume of it has nothing to do"

# A baseline that takes much longer beside one plugin, in one process, and as long as ever beside another.
for name in thief bystander; do
    cp "$plugins/steady.so" "$work/$name.so"
    config "$work/$name.json" "$shapes" '"offline"' "\"$work/$name.so\"" "$stop, \"verify\": {\"rivals\": 2, \"process_per_plugin\": false}"
    sed -i "s#\"baselines\": \[[^]]*\]#\"baselines\": [\"$plugins/swayed.so\"]#" "$work/$name.json"
    run --config "$work/$name.json" --device cpu --output "$work/$name-out.json"
    told=$(grep -o '"status":"rival_disturbed","reason":"[^"]*"' "$work/$name-out.journal.jsonl" | head -1)
    if [ "$name" = thief ]; then
        [[ $told == *swayed-nn*longer*beside* ]]
        verdict $? "thief: who slows a baseline is named" "$told $(tail -3 "$work/err")"
        grep -o '"kind":"activity".*' "$work/$name-out.journal.jsonl" | grep -q '"name":"steady-nn"'
        verdict $? "thief: its contender has the verdict"
    else
        [ -z "$told" ]
        verdict $? "bystander: who slows nobody is not" "$told"
    fi
done
config "$work/bad.json" "$shapes" '"offline"' "\"$plugins/steady.so\"" "$stop, \"verify\": {\"rivals\": 17}"
run --config "$work/bad.json" --device cpu --output "$work/b.json"
[ "$code" -ne 0 ] && expect_text "$work/err" 'rivals' "a number out of range is named"
finish
