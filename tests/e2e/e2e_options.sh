#!/bin/bash
# What each option of `run` changes, read from the journal of a run on the CPU device; and what the CPU cannot
# do.
# Times nothing.
. "$(dirname "$0")/e2e.inc.sh"
launch_seconds=20 # nothing hangs here, and a busy machine may stop a worker for two
config "$work/c.json" '{"m": 16, "n": 16, "k": 32}' '"offline", "server"' '' \
    '"stop": {"min_blocks": 4, "look_every": 4, "max_blocks": 4, "group_blocks": 2, "max_cell_seconds": 5}'
count=0
go() { # go OPTION...: journal in $journal
    count=$((count + 1))
    journal=$work/r$count.journal.jsonl
    run --config "$work/c.json" --device cpu --output "$work/r$count.json" "$@"
}
said() { expect_text "$journal" "$1" "$2"; } # said PATTERN NAME

go --mode server --cache flush --gap fixed --rate 200 --seed 5 --timing wall --accumulate f32
expect_code 0 "a server run with gaps of its own"
[ "$(journal_cells "$journal")" = "server 16 16 32" ]
verdict $? "--mode: the other mode is left out" "$(journal_cells "$journal")"
said '"cache":"flush"' "--cache: in the cell"
said '"seed":"5"' "--seed"
said '"gap":"fixed","mean_gap_ms":5,' "--gap and --rate: in the config"
# A busy machine may wait longer, by any amount; no machine may wait less.
gap=$(sed -nE 's/.*"gap":(\{"every":[0-9]+,"values":)?"([0-9.]+):([0-9]+):.*/\2 \3/p' "$journal" | awk '{ printf "%d", $1 * $2 }')
[ "${gap:-0}" -ge 5000000 ] && [ "$gap" -lt 50000000 ]
verdict $? "--gap and --rate: 5 ms really passed, and no more than a busy machine adds" "${gap:-nothing} ns"
said '"timing":"wall"' "--timing"
go --mode offline --cache rotate
expect_code 0 "an offline run"
said '"mode":"offline","headline":"wall","cache":"rotate"' "--cache rotate, and wall time on the CPU"
go --mode both --aa --no-verify
expect_code 0 "both modes"
[ "$(journal_cells "$journal" | sort | tr '\n' ' ')" = "offline 16 16 32 server 16 16 32 " ]
verdict $? "--mode both" "$(journal_cells "$journal")"
said '"name":"honest-nn\+copy","copy_of":"honest-nn"' "--aa"
expect_no_text "$journal" '"class":|"coverage":' "--no-verify: nothing was checked"
go --mode offline --plugins "$plugins" --baselines steady --candidate honest -k "$plugins/bad_wrong.so"
expect_code 3 "contenders by name, from --plugins, and by path"
said '"baselines":\["steady"\],"candidates":\["honest",".*/bad_wrong.so"\]' "--baselines replaces, --candidate adds"
[ "$(grep -o '"name":"[a-z-]*-nn"' <<<"$(grep '"kind":"cell"' "$journal")" | sort -u | wc -l)" -eq 3 ]
verdict $? "and they ran" "$(grep '"kind":"cell"' "$journal")"
go --mode offline --plugins "$plugins" --baselines steady -k steady_slow
expect_code 2 "another plugin of the same name without the contender that was asked for"
said '"steady":\{.*steady_slow.so":\{' "both plugins' versions are kept"
go --mode offline --aa=steady-nn
expect_code 64 "--aa names nobody of the run"
expect_text "$work/err" '^cudal2-bench: --aa: no contender of this run is called "steady-nn"' "and the line names the option"
sed 's/"accumulate": \["f32"\]/"aa": "steady-nn", &/' "$work/c.json" >"$work/aa.json"
run --config "$work/aa.json" --device cpu --mode offline --output "$work/aa.out.json"
expect_code 65 "the config's aa names nobody"
expect_text "$work/err" "^cudal2-bench: $work/aa.json: \\$.aa: no contender of this run" "and the line names its file and place"
go --mode offline --timing event
expect_code 69 "event times on the CPU"
expect_text "$work/err" '^cudal2-bench: --timing event: device cpu has wall times only' "are refused by name"
go --mode offline --timing wall,device-row
expect_code 69 "a row of launches on the CPU"
expect_text "$work/err" '^cudal2-bench: --timing device-row: device cpu has wall times only' "is refused by name too"
go --mode offline --aa=honest-nn --seed 18446744073709551615
expect_code 0 "--aa with a name, the largest seed"
said '"seed":"18446744073709551615"' "is kept to the last digit"
sed 's/"accumulate": \["f32"\]/"accumulate": ["f16"]/' "$work/c.json" >"$work/half.json"
run --config "$work/half.json" --device cpu --mode offline --output "$work/half.out.json"
expect_code 0 "dtype native is f32 on the CPU, whatever the accumulate type"
expect_no_text "$work/err" 'accumulate' "what the config asks for by default is not worth a line"
expect_text "$work/half.out.journal.jsonl" '"dtype":"f32","accumulate":"f32"' "and says so"
run --config "$work/c.json" --device cpu --mode offline --accumulate f16 --output "$work/asked.out.json"
expect_code 0 "--accumulate f16 on the CPU"
expect_text "$work/err" '^note: --accumulate f16 has no effect: dtype native is f32 on device cpu' "says that it has no effect"
finish
