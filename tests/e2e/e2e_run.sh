#!/bin/bash
# The program as a user meets it: a clean run, contenders that misbehave, and every kind of bad input, on the
# CPU device.
# Times nothing.
. "$(dirname "$0")/e2e.inc.sh"
stop='"stop": {"min_blocks": 8, "look_every": 4, "max_blocks": 8, "group_blocks": 2, "max_cell_seconds": 5}'
shape='{"m": 16, "n": 24, "k": 32}'

# --- a clean run ---
config "$work/clean.json" "$shape, {\"m\": 32, \"n\": 8, \"k\": 16, \"label\": \"small\"}" '"offline", "server"' '' "$stop"
run --config "$work/clean.json" --device cpu --output "$work/clean.out.json" --seed 7
expect_code 0 "clean run"
expect_no_text "$work/err" '^note: ' "which ends well"
[ "$(journal_cells "$work/clean.out.journal.jsonl" | sort -u | wc -l)" -eq 4 ]
verdict $? "four cells in the journal"
[ "$(grep -c '^\[' "$work/err")" -eq 4 ]
verdict $? "one progress line for each cell" "$(cat "$work/err")"
expect_text "$work/err" '^\[4/4\] server/f32-f32-32x8x16 small ' "progress names the cell"
expect_text "$work/out" '16x24x32' "the table is on stdout"
expect_text "$work/clean.out.journal.jsonl" '"kind":"end".*"supervisor_peak_bytes":[1-9][0-9]{6,7},"worker_peak_bytes":[1-9][0-9]+,"worker_ready_bytes":[1-9]' \
    "the end says how much memory was used, the supervisor's under 100 MB"
expect_text "$work/clean.out.json" '"schema": ?"cudal2-bench/result"' "the result is written"
cp "$work/out" "$work/table"
run report "$work/clean.out.json" --no-color
expect_code 0 "report"
cmp -s "$work/out" "$work/table"
verdict $? "report prints the same table as the run"
run report "$work/clean.out.journal.jsonl" --no-color
cmp -s "$work/out" "$work/table"
verdict $? "report of the journal is the same again" "$(diff "$work/table" "$work/out" | head -n 4)"
# As configs/tails.json: launches enough for percentiles of one shape, which the journal has and table 6
# counts.
config "$work/tails.json" "$shape" '"server"' '"blocked"' '"server": {"mean_gap_ms": 0.01}, "stop": {"group_blocks": 1, "min_blocks": 100, "max_blocks": 100, "least_blocks": 100}'
run --config "$work/tails.json" --device cpu --output "$work/tails.out.json" --seed 7
expect_code 0 "a run of a hundred launches a shape"
run report "$work/tails.out.journal.jsonl" --table 6 --format csv
expect_text "$work/out" '^table,baseline,shapes,launches,fewest,p50,p95,p99,' "table 6 counts launches beside their percentiles"
expect_text "$work/out" ',1,100,100(,-?[0-9][0-9.e-]*){5},' "a hundred of the one shape, with a 95th and a 99th percentile"
cp "$work/clean.out.json" "$work/before"
run --config "$work/clean.json" --device cpu --output "$work/clean.out.json" --seed 7 --resume
expect_code 0 "resume of a complete run"
cmp -s "$work/clean.out.json" "$work/before"
verdict $? "and changes nothing"
cp "$plugins/steady.so" "$work/own.so"
config "$work/own.json" "$shape" '"offline"' "\"$work/own.so\"" "$stop"
run --config "$work/own.json" --device cpu --output "$work/own.out.json" --seed 7
expect_code 0 "a run with a candidate"
for other in steady_slow none; do
    if [ -e "$plugins/$other.so" ]; then cp "$plugins/$other.so" "$work/own.so"; else rm "$work/own.so"; fi
    run --config "$work/own.json" --device cpu --output "$work/own.out.json" --seed 7 --resume
    expect_code 65 "resume of a complete run whose candidate is another one by now ($other)"
    expect_text "$work/err" 'measured in another environment: ' "and the line says so"
done
cp "$plugins/steady.so" "$work/own.so"
run --config "$work/own.json" --device cpu --output "$work/own.out.json" --seed 7 --resume
expect_code 0 "and with the same one again it is as it was"
run --config "$work/clean.json" --device cpu --output "$work/clean.out.json" --seed 7
expect_code 73 "an existing run is not overwritten"
expect_text "$work/err" '--resume' "and the line says how to go on"
run --config "$work/clean.json" --device cpu --output "$work/clean.out.json" --seed 8 --resume
expect_code 65 "resume with another seed is refused"
run --config "$work/clean.json" --device cpu --output "$work/quiet.json" --quiet
expect_code 0 "quiet run"
[ ! -s "$work/err" ]
verdict $? "quiet says nothing" "$(head -1 "$work/err")"
(cd "$work" && run --config clean.json --device cpu --mode offline && [ "$code" -eq 0 ] &&
    [ -e cudal2-e2e-offline.json ] && [ -e cudal2-e2e-offline.journal.jsonl ])
verdict $? "default output names config and mode"

# --- contenders that misbehave, all in one run ---
list=
for bad in crash_setup crash_launch exit hang launch setup wrong probe abi symbol export; do
    list="$list\"$plugins/bad_$bad.so\", "
done
config "$work/bad.json" "$shape" '"offline"' "$list\"$work/none.so\"" "$stop"
run --config "$work/bad.json" --device cpu --output "$work/bad.out.json"
expect_code 3 "a wrong result has its exit code"
cell=$work/cell
grep '"kind":"cell"' "$work/bad.out.journal.jsonl" >"$cell"
[ "$(wc -l <"$cell")" -eq 1 ]
verdict $? "the cell is there once"
contender() { # contender NAME STATUS: in the record of the cell
    # A contender without a status is ok.
    local wanted="\"status\":\"$2\""
    [ "$2" = ok ] && wanted='("deviation"|"attributes"|"tuning"|"wall")'
    expect_text "$cell" "\"name\":\"$1\",(\"candidate\":true,)?$wanted" "$1 is $2"
}
contender bad-crash-setup-nn '(crash|early_exit)'
contender bad-crash-launch-nn '(crash|early_exit)'
contender bad-exit-nn early_exit
contender bad-hang-nn hang
contender bad-launch-nn launch_error
contender bad-setup-nn setup_error
contender bad-wrong-nn wrong_result
contender bad-probe-nn unavailable
contender bad_abi unavailable
contender bad_symbol unavailable
contender bad_export unavailable
contender none unavailable
contender honest-nn ok
expect_text "$cell" '"status":"partial"' "the cell is partial"
[ "$(grep -c '"kind":"env"' "$work/bad.out.journal.jsonl")" -eq 5 ]
verdict $? "four workers were replaced"
expect_text "$work/err" '^note: cpu: worker lost in offline/f32-f32-16x24x32, stage .* of bad-hang-nn: hang' "and the notes say why"
pgrep -f "$bench worker" >/dev/null
[ $? -ne 0 ]
verdict $? "no worker is left behind"

# --- sizes ---
config "$work/big.json" "{\"m\": 16, \"n\": 16, \"k\": 16}, {\"m\": 1048576, \"n\": 1048576, \"k\": 16}" '"offline"' '' "$stop"
run --config "$work/big.json" --device cpu --output "$work/big.out.json"
expect_code 0 "a problem larger than memory does not stop the run"
expect_text "$work/big.out.journal.jsonl" '"status":"skipped","reason":"needs [0-9]+ bytes' "it is skipped with the bytes it needs"
expect_text "$work/out" '1 ok, 0 partial, 1 skipped' "and the table counts it"
config "$work/toobig.json" "{\"m\": 1048576, \"n\": 1048576, \"k\": 1048576}" '"offline"' '' "$stop"
run --config "$work/toobig.json" --device cpu --output "$work/toobig.out.json"
expect_code 2 "a run in which nothing was measured"
expect_text "$work/err" '^cudal2-bench: nothing was measured, every cell was skipped; the first: offline/.*: needs' "says so, and why"
run report "$work/toobig.out.json"
expect_code 2 "and so does its report"
expect_text "$work/out" 'skipped: needs [0-9]+ bytes' "which still shows the reasons"
# Matrices and workspace take under 200 MB here: what is missing is what libraries will want.
sed 's/"limits": {/"limits": {"memory_bytes": 200000000, /' "$work/clean.json" >"$work/tight.json"
run --config "$work/tight.json" --device cpu --mode offline --output "$work/tight.out.json"
expect_text "$work/tight.out.journal.jsonl" '"reason":"needs [0-9]+ bytes of device memory, 200000000 are available"' "memory for libraries is kept free"

# --- nothing to compare ---
config "$work/alone.json" "$shape" '"offline"' "\"$plugins/bad_probe.so\"" "$stop"
sed -i 's|"candidates": \[.*bad_probe.so"\]|"candidates": []|; s|"baselines": \[|&"'"$plugins"'/bad_probe.so", |' "$work/alone.json"
run --config "$work/alone.json" --device cpu --output "$work/alone.out.json"
expect_code 2 "one contender left of two"
expect_text "$work/err" 'bad_probe.so .bad-probe-nn. was measured in no cell: unavailable' "says who is missed"
expect_text "$work/out" '; 1 with nothing to compare' "and so does the table"
expect_text "$work/out" '^16x24x32 +honest-nn +[0-9.]+ µs +- ' "which still has the time"

# --- nobody can do it ---
config "$work/f16.json" "$shape" '"offline"' '' "$stop"
sed -i 's/"dtype": "native", "accumulate": \["f32"\]/"dtype": "f16", "accumulate": ["f16"]/' "$work/f16.json"
run --config "$work/f16.json" --device cpu --output "$work/f16.out.json"
expect_code 69 "no contender for the dtype"
expect_text "$work/err" 'no contender can multiply f16 on device cpu .*honest multiplies f32 only' "says why"
[ "$(wc -l <"$work/err")" -eq 1 ] && [ ! -e "$work/f16.out.journal.jsonl" ]
verdict $? "in one line, before any cell" "$(cat "$work/err")"

# --- bad input: one line, the right code, nothing left behind ---
refuse() { # refuse CODE NAME PATTERN ARGUMENT...
    local want=$1 name=$2 pattern=$3
    shift 3
    run "$@"
    expect_code "$want" "$name"
    expect_text "$work/err" "^cudal2-bench: .*$pattern" "$name: says why"
    [ "$(wc -l <"$work/err")" -eq 1 ]
    verdict $? "$name: in one line" "$(cat "$work/err")"
}
echo '{"schema": "cudal2-bench/config", "schema_version": 1, "name": "x", "shapes": [{"m": -1, "n": 1, "k": 1}]}' >"$work/negative.json"
: >"$work/empty.json"
echo '{"schema": ' >"$work/truncated.json"
refuse 64 "no config" 'config' run
refuse 64 "unknown option" 'bogus' --bogus
refuse 64 "bad device" 'device' --config "$work/clean.json" --device gpu
refuse 65 "missing config" 'nowhere.json' --config "$work/nowhere.json"
refuse 65 "empty config" 'empty.json' --config "$work/empty.json"
refuse 65 "truncated config" 'truncated.json' --config "$work/truncated.json"
refuse 65 "negative size" 'shapes\[0\]\.m' --config "$work/negative.json"
refuse 65 "config is a directory" "$work" --config "$work"
sed 's|"baselines": \[|&"cubals", |' "$work/clean.json" >"$work/misspelt.json"
refuse 65 "misspelt baseline" 'misspelt.json: \$\.baselines\[0\]: .*did you mean cublas' --config "$work/misspelt.json" --device cpu
refuse 64 "misspelt candidate" '--candidate: .*did you mean blocked' --config "$work/clean.json" --device cpu -k blokced
refuse 65 "missing candidate" '--candidate: \./no\.so: cannot be read' --config "$work/clean.json" --device cpu -k ./no.so
refuse 65 "a config in a manifest's place" '--candidate: .*clean.json: \$\.schema: expected one of cudal2-bench/kernel' --config "$work/clean.json" --device cpu -k "$work/clean.json"
refuse 65 "missing table" '--tuned: no.json: cannot be read' --config "$work/clean.json" --device cpu --tuned no.json
refuse 65 "no directory of kernels" '--kernels: /no/such: No such file' --config "$work/clean.json" --device cpu --kernels /no/such
refuse 65 "no directory of plugins" '--plugins: /no/such: No such file' --config "$work/clean.json" --device cpu --plugins /no/such
refuse 73 "output in no directory" 'no directory' --config "$work/clean.json" --device cpu --output "$work/no/r.json"
refuse 73 "output is a directory" 'regular file' --config "$work/clean.json" --device cpu --output "$work"
refuse 73 "output that cannot be made" '/proc' --config "$work/clean.json" --device cpu --output /proc/r.json
refuse 65 "report of something else" 'empty.json' report "$work/empty.json"
run worker 3<&-
expect_code 64 "worker by hand"
expect_text "$work/err" 'cudal2-bench run' "worker by hand: says who starts workers"
ls "$work"/*.journal.jsonl | grep -Eq 'none|no/' && verdict 1 "no journal of a refused run"
if [ "$(CUDA_VISIBLE_DEVICES='' "$bench" doctor 2>/dev/null | grep -c 'cuda:0')" -eq 0 ]; then
    export CUDA_VISIBLE_DEVICES=
    refuse 69 "cuda without a GPU" 'no usable NVIDIA GPU' --config "$work/clean.json" --device cuda --output "$work/gpu.json"
    unset CUDA_VISIBLE_DEVICES
    [ ! -e "$work/gpu.journal.jsonl" ]
    verdict $? "and no journal is left"
fi
"$bench" --help >/dev/full 2>"$work/err"
[ $? -eq 74 ]
verdict $? "a full disk behind stdout is an error"

# --- what is here ---
mkdir "$work/some"
ln -s "$plugins"/{honest,bad_abi,bad_load_crash,bad_versions}.so "$work/some/"
run list --device cpu --plugins "$work/some"
expect_code 0 "list"
expect_text "$work/out" 'honest-nn +candidate +nn +f32 +f32 +available' "list shows a plugin"
expect_text "$work/out" 'bad_abi .*not available: .*ABI' "list says why one is not available"
expect_text "$work/out" 'bad_load_crash .*not available: while it was loaded: ' "list outlives a plugin that crashes while it is loaded"
expect_text "$work/out" 'bad_versions .*not available: while it was loaded: exited with code 0' "and one that leaves when asked for its versions"
run doctor --device cpu
expect_text "$work/out" '^ok +CPU' "doctor"
expect_text "$work/out" '^ok +cache' "doctor checks the cache"
expect_text "$work/out" '^(ok|missing) +compute-sanitizer ' "doctor looks for what verify --memcheck needs"
expect_text "$work/out" '^(ok|missing) +ncu ' "and for what verify --counters needs"
expect_no_text "$work/out" 'everything runs with --device cpu' "doctor promises no kernel set on the CPU"
mkdir "$work/tools" && printf '#!/bin/sh\n' >"$work/tools/compute-sanitizer" && chmod +x "$work/tools/compute-sanitizer"
PATH=$work/tools:$PATH run doctor --device cpu
expect_text "$work/out" "^ok +compute-sanitizer +$work/tools/compute-sanitizer" "and says where it is"
touch "$work/file"
CUDAL2_CACHE=$work/file/x run doctor --device cpu
expect_code 69 "doctor fails without a cache"
finish
