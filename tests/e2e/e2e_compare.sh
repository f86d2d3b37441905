#!/bin/bash
# `compare` on real runs of the CPU device: the same plugin twice, the plugin after a bad change, --confirm,
# other formats, and the script of a CI job (e2e_compare_refused.sh has what is refused). The losses are large
# and --delta wide, because a small machine is noisy.
. "$(dirname "$0")/e2e.inc.sh"
# In groups of six blocks a quarter is trimmed at either end: what a busy machine adds to one block does not
# count. One process needs one processor: where others compute too, times scatter less than with a process for
# each plugin.
stop='"stop": {"min_blocks": 72, "look_every": 24, "max_blocks": 72, "group_blocks": 6, "max_cell_seconds": 60}, "verify": {"process_per_plugin": false}'
config "$work/c.json" '{"m": 48, "n": 48, "k": 48}, {"m": 40, "n": 56, "k": 64}' '"offline"' "\"$work/mine.so\"" "$stop"

measure() { # measure NAME PLUGIN [OPTION]...
    local name=$1 plugin=$2
    shift 2
    cp "$plugins/$plugin.so" "$work/mine.so.new" && mv "$work/mine.so.new" "$work/mine.so"
    run --config "$work/c.json" --device cpu --quiet --output "$work/$name.json" "$@"
}

measure base steady
expect_code 0 "BASE is measured"
measure same steady
expect_code 0 "the same plugin again"
measure slow steady_slow
expect_code 0 "the plugin after a bad change"

# --- verdicts ---
run compare "$work/base.json" "$work/same.json" --delta 50 --no-color
expect_code 0 "the same plugin: no alarm"
expect_text "$work/out" '^SAME .*steady-nn +[0-9.]+ [µm]s +[0-9.]+ [µm]s  honest-nn' "the same plugin: SAME against the baseline"
expect_text "$work/out" '^no regression$' "the same plugin: says so"
run compare "$work/base.json" "$work/slow.json" --delta 50
expect_code 1 "a slower plugin: exit status 1"
[ "$(grep -c '^SLOWER ' "$work/out")" -eq 2 ]
verdict $? "a slower plugin: SLOWER in both cells" "$(cat "$work/out")"
expect_text "$work/err" '^cudal2-bench: 2 regressions; the worst: steady-nn in offline/' "a slower plugin: one line on stderr"
timeout 60 "$bench" compare "$work/base.json" "$work/slow.json" --delta 50 >"$work/out" 2>&1 </dev/null
[ "$(grep -c '2 regressions; the worst' "$work/out")" -eq 1 ]
verdict $? "a slower plugin, both streams in one file: said once" "$(tail -3 "$work/out")"
if script -qec true /dev/null >/dev/null 2>&1 </dev/null; then # a machine may lack it, or terminals
    script -qec "'$bench' compare '$work/base.json' '$work/slow.json' --delta 50 --no-color" /dev/null >"$work/out" 2>&1 </dev/null
    code=$?
    expect_code 1 "a slower plugin on a terminal"
    [ "$(grep -c '2 regressions; the worst' "$work/out")" -eq 1 ]
    verdict $? "a slower plugin on a terminal: said once" "$(tail -3 "$work/out")"
fi
run compare "$work/slow.json" "$work/base.json" --delta 50
expect_code 0 "a faster plugin is no regression"
[ "$(grep -c '^FASTER ' "$work/out")" -eq 2 ]
verdict $? "a faster plugin: FASTER"
run compare "$work/base.journal.jsonl" "$work/slow.journal.jsonl" --delta 50
expect_code 1 "journals do as well as results"

# --- formats ---
run compare "$work/base.json" "$work/slow.json" --delta 50 --format junit
expect_code 1 "junit"
[ "$(grep -c '<failure message="SLOWER"' "$work/out")" -eq 2 ]
verdict $? "junit: two failures"
if command -v python3 >/dev/null; then
    python3 -c 'import sys, xml.etree.ElementTree as e
r = e.parse(sys.argv[1]).getroot()
s = r.findall("testsuite")
assert r.tag == "testsuites" and len(s) == 1 and s[0].get("name") == "offline vs honest-nn" and s[0].get("failures") == "2"
assert all("steady-nn" in f.text for f in s[0].iter("failure"))' "$work/out" 2>"$work/err"
    verdict $? "junit: a parser reads it" "$(cat "$work/err")"
fi
run compare "$work/base.json" "$work/slow.json" --delta 50 --format json
expect_text "$work/out" '"schema": "cudal2-bench/compare"' "json"
run compare "$work/base.json" "$work/slow.json" --delta 50 --format markdown
expect_text "$work/out" '^### cudal2-bench compare: 2 regressions' "markdown"

# --- the second look ---
run compare "$work/base.json" "$work/slow.json" --delta 50 --confirm --no-color
expect_code 1 "--confirm of a real loss"
[ "$(grep -c '^SLOWER .*measured again; -' "$work/out")" -eq 2 ]
verdict $? "--confirm: both were measured again" "$(cat "$work/out")"
[ "$(journal_cells "$work/slow.confirm.journal.jsonl" | wc -l)" -eq 2 ]
verdict $? "--confirm: the run is beside NEW"
run compare "$work/base.json" "$work/slow.json" --delta 50 --confirm --quiet
[ "$code" -eq 1 ] && [ -e "$work/slow.confirm-2.json" ]
verdict $? "--confirm again keeps the earlier one"
run compare "$work/base.json" "$work/slow.json" --delta 50 --confirm="$work/slow.confirm.json" --no-color
[ "$code" -eq 1 ] && [ ! -e "$work/slow.confirm-3.json" ] && grep -q '^SLOWER .*measured again; -' "$work/out"
verdict $? "--confirm=FILE judges by an earlier one and measures nothing"
cp "$plugins/steady.so" "$work/mine.so"
run compare "$work/base.json" "$work/slow.json" --delta 50 --confirm
expect_code 2 "--confirm with another plugin in place is refused"
expect_text "$work/err" 'plugins and libraries' "and the line says what differs"
run compare "$work/base.json" "$work/slow.json" --delta 50 --confirm --force --no-color
expect_code 0 "what a second look does not show again is no regression"
expect_text "$work/out" '^SAME .*measured again; -' "and the row says what it was at first"
run compare "$work/base.json" "$work/same.json" --delta 50 --confirm
[ "$code" -eq 0 ] && [ ! -e "$work/same.confirm.json" ]
verdict $? "--confirm measures nothing without a suspect"

# --- the script of a CI job ---
mkdir "$work/harness" && cp "$(dirname "$0")/../../kernels/harness/prelude.cuh" "$work/harness/" # what makes it a directory of kernels
# The program as two checkouts see it: BASE, which names its kernels, finds one plugin, NEW another.
cat >"$work/program" <<EOF
#!/bin/bash
new=\$(cat "$work/new.plugin")
case " \$* " in *" --kernels "*) new=steady ;; esac
cmp -s "$plugins/\$new.so" "$work/mine.so" || cp "$plugins/\$new.so" "$work/mine.so"
exec "$bench" "\$@"
EOF
chmod +x "$work/program"
gate() { # gate DIR PLUGIN: of NEW
    echo "$2" >"$work/new.plugin"
    timeout -k 5 120 "$(dirname "$0")/../../scripts/gate.sh" -b "$work" -c "$work/c.json" -o "$work/$1" -d cpu -p "$work/program" \
        -- --delta 50 >"$work/out" 2>"$work/err" </dev/null
    code=$?
}
gate_usage() { timeout -k 5 20 "$(dirname "$0")/../../scripts/gate.sh" "$@" >"$work/out" 2>"$work/err" </dev/null; code=$?; }
gate_usage -c "$work/c.json"
expect_code 64 "gate.sh: without the kernels of BASE"
expect_text "$work/err" '^gate.sh: -b names the kernels/ directory' "says what is missing"
gate_usage -b "$work/none"
expect_text "$work/err" "^gate.sh: -b $work/none: no such directory" "and which directory is not there"
gate gate steady
expect_code 0 "gate.sh: no alarm"
gate gate steady_slow
expect_code 65 "gate.sh: what NEW measured is not what is here now"
expect_text "$work/err" 'new.journal.jsonl was measured in another environment: steady was' "and the line says so"
[ -z "$(ls "$work/gate" | grep '^compare')" ]
verdict $? "gate.sh: no verdict of an earlier job is left" "$(ls "$work/gate" | tr '\n' ' ')"
rm "$work/gate/new.json" "$work/gate/new.journal.jsonl"
gate gate steady_slow
expect_code 1 "gate.sh: goes on with BASE, measures NEW, and finds the loss"
[ "$(grep -c '<failure' "$work/gate/compare.xml")" -eq 2 ] && grep -q '"exit_code": 1' "$work/gate/compare.json" &&
    grep -q '^### cudal2-bench compare: 2 regressions' "$work/gate/compare.md" && [ ! -e "$work/gate/new.confirm-2.json" ]
verdict $? "gate.sh: every form tells the same, from one second look" "$(ls "$work/gate" | tr '\n' ' ')"
cp "$plugins/steady.so" "$work/mine.so"
stop='"stop": {"min_blocks": 24, "look_every": 8, "max_blocks": 24, "group_blocks": 2, "max_cell_seconds": 60}, "verify": {"process_per_plugin": false}'
shapes=$(for k in 128 127 126 125; do printf '{"m": 128, "n": 128, "k": %d}, ' $k; done)
config "$work/long.json" "${shapes%, }" '"offline"' "\"$work/mine.so\"" "$stop"
"$(dirname "$0")/../../scripts/gate.sh" -b "$work" -c "$work/long.json" -o "$work/stopped" -d cpu -p "$bench" -- --delta 50 \
    >"$work/out" 2>"$work/err" </dev/null &
job=$!
for _ in $(seq 3000); do grep -qs '"kind":"cell"' "$work/stopped/base.journal.jsonl" && break; sleep 0.05; done
kill -TERM "$job"
wait "$job"
code=$?
expect_code 75 "gate.sh: TERM reaches the program, which finishes its cell"
"$(dirname "$0")/../../scripts/gate.sh" -b "$work" -c "$work/long.json" -o "$work/stopped" -d cpu -p "$bench" -- --delta 50 \
    >"$work/out" 2>"$work/err" </dev/null
code=$?
expect_code 0 "gate.sh: the same call goes on"
[ "$(grep -c '"kind":"sitting"' "$work/stopped/base.journal.jsonl")" -eq 2 ] && grep -q '^4 results compared' "$work/out"
verdict $? "gate.sh: BASE took two sittings"

finish
