#!/bin/bash
# --invariance: whose rows of C have the same bits for every M, and whose launches; the record, the result and the table say it.
# Times nothing.
# shellcheck source=tests/e2e/e2e.inc.sh
. "$(dirname "$0")/e2e.inc.sh"

three=("$plugins/steady.so" "$plugins/order_by_m.so" "$plugins/order_by_turn.so")
run verify "${three[@]}" --device cpu --shape 48x8x101 --invariance --quiet
expect_code 0 "a property is no fault"
expect_text "$work/out" ' steady-nn .*; batch-invariant; deterministic' "the same sums for every M"
expect_text "$work/out" ' order-by-m-nn .*; NOT batch-invariant .M 7, row .* as with M 300.; deterministic' "another order for small M"
expect_text "$work/out" ' order-by-turn-nn .*NOT deterministic .M 300, row .* as in the first launch.' "another order in every second launch"
expect_text "$work/out" ' openblas-.*deterministic' "baselines are asked too"
run verify "${three[@]}" --device cpu --shape 48x8x101 --quiet --plugins "$nothing"
expect_no_text "$work/out" 'deterministic' "nobody is asked without the option"
run verify "${three[@]}" --device cpu --shape 48x8x101 --invariance --format json --plugins "$nothing"
python3 - "$work/out" <<'END'
import json, sys
found = {c["name"]: c["invariance"] for c in json.load(open(sys.argv[1]))["problems"][0]["contenders"]}
assert found["steady-nn"]["batch_invariant"] is True and found["steady-nn"]["deterministic"] is True, found
assert found["steady-nn"]["m"] == [300, 64, 48, 7, 1] and found["steady-nn"]["runs"] == 20, found
assert found["order-by-m-nn"]["batch_invariant"] is False and found["order-by-m-nn"]["deterministic"] is True, found
assert found["order-by-turn-nn"]["deterministic"] is False, found
END
verdict $? "the answers as JSON"

stop='"stop": {"min_blocks": 8, "look_every": 4, "max_blocks": 8, "max_cell_seconds": 5}'
list="\"${three[0]}\", \"${three[1]}\", \"${three[2]}\""
config "$work/c.json" '{"m": 48, "n": 8, "k": 101}, {"m": 16, "n": 8, "k": 101}' '"offline"' "$list" "$stop, \"verify\": {\"invariance\": true}"
run --config "$work/c.json" --device cpu --output "$work/c.out.json"
expect_code 0 "a run with verify.invariance"
expect_text "$work/out" '^The same bits' "has a table"
expect_text "$work/out" '^steady-nn +2/2 +2/2' "with who is both in every cell"
expect_text "$work/out" '^order-by-m-nn +0/2 +2/2' "who is not invariant"
expect_text "$work/out" '^order-by-turn-nn +[012]/2 +0/2' "and who is not deterministic"
python3 - "$work/c.out.json" <<'END'
import json, sys
for cell in json.load(open(sys.argv[1]))["cells"]:
    c = cell["contenders"]
    assert c["steady-nn"]["invariance"]["batch_invariant"] is True, c["steady-nn"]
    assert c["order-by-m-nn"]["invariance"]["batch_invariant"] is False
    assert "differs" in c["order-by-m-nn"]["invariance"]
END
verdict $? "the result has the answers"
run report "$work/c.out.journal.jsonl"
expect_text "$work/out" '^order-by-m-nn +0/2 +2/2' "the journal keeps them"
config "$work/off.json" '{"m": 16, "n": 8, "k": 101}' '"offline"' "\"${three[0]}\"" "$stop, \"verify\": {\"invariance\": false}"
run --config "$work/off.json" --device cpu --output "$work/off.out.json"
expect_no_text "$work/off.out.json" '"batch_invariant"' "and a run that was not asked says nothing"
run --config "$work/off.json" --device cpu --output "$work/on.out.json" --invariance
expect_text "$work/on.out.json" '"batch_invariant"' "the option asks a run"

finish
