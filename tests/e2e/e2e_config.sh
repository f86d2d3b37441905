#!/bin/bash
# Where a run's shapes and settings come from: --config by path, by name and from standard input, --shape,
# --where, --limit, `init`; what a bad file is told; whom the device leaves out.
# Times nothing.
. "$(dirname "$0")/e2e.inc.sh"
top=$(cd "$(dirname "$0")/../.." && pwd)
mkdir "$work/here" "$work/sub"
cd "$work/here" || exit 1
quick='"modes": ["offline"], "stop": {"min_blocks": 4, "look_every": 4, "max_blocks": 4, "group_blocks": 2}'
cells() { journal_cells "$1" | tr '\n' ' '; }

# --- all that is wrong, at once ---
cat >bad.json <<'END'
{"shapes": ["64x64x64", {"m": 3}], "dtyp": "f16", "modes": ["offlin"], "candidates": ["cudla2"], "stop": {"min_blocks": 0}}
END
run --config bad.json
expect_code 65 "a config with many faults"
[ "$(grep -c '^bad.json: \$' "$work/err")" -eq 6 ]
verdict $? "each has its line" "$(cat "$work/err")"
expect_text "$work/err" '^bad.json: \$: unknown key "dtyp" \(did you mean dtype\?\)$' "a key"
expect_text "$work/err" '^bad.json: \$.candidates\[0\]: there is no .*"cudla2" \(did you mean cudal2\?\)$' "a name"
expect_text "$work/err" '^cudal2-bench: bad.json: 6 faults, .*cudal2-bench init' "and the last line counts them and says what to do"
echo '{"shapes": ["4x4"]}' >one.json
run --config one.json
expect_code 65 "one fault"
[ "$(cat "$work/err")" = 'cudal2-bench: one.json: $.shapes[0]: expected MxNxK, as in 64x96x128, each from 1 to 1048576, found "4x4"' ]
verdict $? "is the error itself" "$(cat "$work/err")"

# --- init ---
run init
expect_code 0 "init"
cp "$work/out" mine.json
[ "$(awk '{ print length }' mine.json | sort -n | tail -1)" -le 110 ]
verdict $? "its lines are short" "$(awk 'length > 110' mine.json)"
for key in $(sed -n '/"properties"/,$ s/^    "\([a-z_]*\)": {$/\1/p' "$top/configs/config.schema.json"); do
    case $key in schema | schema_version | description | size | scale | contender) continue ;; esac
    grep -q "\"$key\": " mine.json
    verdict $? "init tells of $key"
done
sed -E 's,^  // (("|\}|  ).*),  \1,' mine.json >all.json # every comment that is a key becomes one
expect_text all.json '^    "min_blocks": 32,$' "uncommented"
for file in mine all; do
    run --config "$file.json" --device cpu --shape 8x8x8 --mode offline --baselines "$plugins/honest.so" --seed 1 --output "$file.out.json" -q --plugins "$plugins"
    grep -q '"kind":"run"' "$file.out.journal.jsonl"
    verdict $? "$file.json is a config" "$(tail -2 "$work/err")"
done
config_of() { sed -n '/"kind":"run"/ s/.*"config":{//p' "$1" | head -1 | sed 's/"name":"[a-z]*",//; s/"candidates":\[[^]]*\],//; s/"optional":\[[^]]*\],//; s/"timing":"device",//'; }
[ -n "$(config_of all.out.journal.jsonl)" ] && [ "$(config_of all.out.journal.jsonl)" = "$(config_of mine.out.journal.jsonl)" ]
verdict $? "what init comments out are the defaults" "$(config_of all.out.journal.jsonl | cut -c1-300)"

# --- where it comes from ---
echo '{"shapes": ["16x16x32"], '"$quick"', "baselines": ["openblas"], "candidates": ["x.so"], }' >"$work/sub/own.json"
cp "$plugins/honest.so" "$work/sub/x.so"
run --config "$work/sub/own.json" --baselines "$plugins/steady.so" --device cpu --output own.out.json
expect_code 0 "a path in a config starts where the config is"
expect_text own.out.journal.jsonl '"name":"own"' "a config without a name has its file's"
printf '{"shapes": ["16x16x32"], // a comment\n%s}' "$quick" |
    timeout 60 "$bench" run -c - --device cpu --baselines "$plugins/steady.so" -k "$plugins/honest.so" -o in.json >"$work/out" 2>"$work/err"
code=$?
expect_code 0 "standard input"
[ "$(cells in.journal.jsonl)" = "offline 16 16 32 " ]
verdict $? "has the shape" "$(cells in.journal.jsonl)"
printf '{"shapes": [}' | "$bench" run -c - >"$work/out" 2>"$work/err"
expect_text "$work/err" '^cudal2-bench: standard input: line 1, column 13: ' "and is named in errors"
printf '{"shapes": ["8x8x8"], %s}' "$quick" >near.json
run --config near --baselines "$plugins/steady.so" -k "$plugins/honest.so" --device cpu
expect_code 0 "a name without .json, here"
expect_text "$work/err" '^config: near.json$' "is told which file it is"
run --config smoke --limit 1 --no-verify --mode offline --device cpu --output smoke.out.json
expect_code 0 "an installed config by name"
expect_text "$work/err" "^config: $top/configs/smoke.json$" "is told which file it is"
[ "$(cells smoke.out.journal.jsonl)" = "offline 64 64 64 " ]
verdict $? "--limit: the smallest" "$(cells smoke.out.journal.jsonl)"
expect_text "$work/err" '^device cpu: left out cublas, .*cudal2, which need a CUDA GPU' "whom the device leaves out is told once"
expect_no_text "$work/out" 'unavailable' "and is no contender that is missing"
CUDAL2_CONFIGS=$work/here run --config smoke
expect_code 65 "no installed configs"
run --config smok
expect_code 65 "no such config"
expect_text "$work/err" '^cudal2-bench: smok: no such config, here or in .*/configs \(did you mean smoke\?\)$' "names the nearest"
run --config quux.json
expect_text "$work/err" 'which has .*grid, .*smoke' "or all there are"

# --- the grid, on a CPU ---
run --mode server --config grid.json --limit 1 --device cpu --output grid.out.json
expect_code 0 "--mode server --config grid.json runs on a CPU"
"$bench" --mode server --config grid.json --device cpu --output grid.long.json >/dev/null 2>"$work/err" </dev/null &
for _ in $(seq 600); do grep -q '^1000 shapes.*--limit 20 ' "$work/err" && break; sleep 0.1; done
kill -9 $!
wait $! 2>/dev/null
expect_text "$work/err" '^1000 shapes take about [0-9]+ hours here: --limit 20 ' "and says how long the whole takes, and how to take a part"

# --- without a file ---
run run --shape 16x16x32 --shape 32x16x8 --shape 8x8x8 --limit 2 --where 'M>=16 || k == 8' --mode offline --device cpu \
    --baselines "$plugins/steady.so" -k "$plugins/honest.so"
expect_code 0 "--shape without a config"
[ "$(cells cudal2-shapes-offline.journal.jsonl)" = "offline 32 16 8 offline 8 8 8 " ]
verdict $? "--where, then --limit: the smallest, in the order that was given" "$(cells cudal2-shapes-offline.journal.jsonl)"
again() { run run --shape 8x8x8 --mode offline --device cpu -k "$plugins/honest.so" --no-verify -b "$plugins/steady.so" "$@"; }
again
expect_code 0 "typed shapes again"
expect_text "$work/err" '^result: cudal2-shapes-offline-2.json$' "have a result of their own"
expect_no_text "$work/err" 'and cudal2,' "and who names a candidate is not told of another"
again --resume
expect_text "$work/err" '^result: cudal2-shapes-offline-2.json$' "--resume goes on with the last"
[ -s cudal2-shapes-offline-2.json ] && [ ! -e cudal2-shapes-offline-3.json ]
verdict $? "and begins none" "$(ls)"
for bad in '--shape 16x16' '--shape 8x8x8 --shape 8x8x8' '--shape 8x8x8 --where M>8' '--shape 8x8x8 --where Q>8' '--shape 8x8x8 --limit 0'; do
    # shellcheck disable=SC2086
    run run $bad --device cpu
    expect_code 64 "$bad"
    option=${bad% *}
    expect_text "$work/err" "^cudal2-bench: ${option##* }: " "names the option"
done
run run
expect_code 64 "no config"
expect_text "$work/err" 'needs --config FILE or --shape MxNxK .*init' "says what to type"
finish
