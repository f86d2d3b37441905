#!/bin/bash
# Mode chain: a run on the CPU has it in record, result and tables; every layer is judged; what it does not go
# with is refused.
# Times nothing.
. "$(dirname "$0")/e2e.inc.sh"
config "$work/c.json" '{"m": 48, "n": 64, "k": 64}, {"m": 16, "n": 24, "k": 32}' '"chain"' "\"$plugins/steady.so\", \"$plugins/bad_chain.so\"" \
    '"stop": {"min_blocks": 4, "look_every": 4, "max_blocks": 4, "group_blocks": 2}, "chain": {"layers": 5}, "verify": {"timed": "all"}'
run --config "$work/c.json" --device cpu --quiet --output "$work/c.out.json"
expect_code 3 "a run in mode chain, with one who is wrong there alone"
cells=$(journal_cells "$work/c.out.journal.jsonl" | sort | tr '\n' ' ')
[ "$cells" = "chain 16 24 32 chain 48 64 64 " ]
verdict $? "its cells are of that mode" "$cells"
expect_text "$work/c.out.journal.jsonl" '"chain":\{"layers":5,"primers":2,"weights_bytes":[0-9]+,"cache_bytes":[0-9]+,"emptied":(true|false),"without_ns":\{"wall":[0-9.]+\}' "the record says what a chain was"
expect_text "$work/c.out.json" '"chain":\{"layers":5,' "so does the result"
expect_no_text "$work/c.out.journal.jsonl" '"rotation":' "and says nothing of rotating"
expect_text "$work/c.out.json" '"status":"wrong_result","stage":"verify","reason":"layer [0-9]+ of 7 of a chain: ' "who is right by itself and wrong in a layer is told"
run report "$work/c.out.json" --all
expect_text "$work/out" '^chain, f32 accumulated in f32: speedup over each baseline' "the tables are those of every mode"
expect_text "$work/out" '^48x64x64 ' "with a row for each shape"
run report "$work/c.out.json" --table 7 --format csv
expect_text "$work/out" '^"Table 7: in a chain: steady-max over each baseline, f32 accumulated in f32",honest-nn,' "Table 7 sets them side by side"
for table in 1 2 3; do
    run report "$work/c.out.json" --table $table --format csv
    expect_no_text "$work/out" 'steady' "Table $table has no row of it"
done
run report "$work/c.out.json" --format html --output "$work/page"
expect_code 0 "the page takes it"
run compare "$work/c.out.json" "$work/c.out.json"
expect_text "$work/out" 'chain' "compare knows the mode"

run --shape 64x64x64 --device cpu --mode chain --protocol paper
expect_code 64 "the paper's protocol has no chains"
run tune --shape 64x64x64 --device cpu --mode chain --candidate "$plugins/steady.so"
expect_code 64 "nor has a search"
finish
