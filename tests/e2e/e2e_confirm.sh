#!/bin/bash
# `compare --confirm` when something is in its way: a plugin that is not there, a second one at the same time,
# a signal; and what the forms say when there is no comparison.
. "$(dirname "$0")/e2e.inc.sh"
[ -n "${CUDAL2_SLOW:-}" ] || { echo "takes 40 s: make test-all"; exit 77; }
# Beside other programs a cell takes many seconds: one that its time cuts off has too few groups for a
# verdict.
stop='"stop": {"min_blocks": 24, "look_every": 8, "max_blocks": 24, "group_blocks": 2, "max_cell_seconds": 60}'
config "$work/c.json" '{"m": 160, "n": 160, "k": 160}, {"m": 160, "n": 160, "k": 159}, {"m": 160, "n": 160, "k": 158}' '"offline"' \
    "\"$work/mine.so\"" "$stop"
measure() { # measure NAME PLUGIN
    cp "$plugins/$2.so" "$work/mine.so.new" && mv "$work/mine.so.new" "$work/mine.so"
    run --config "$work/c.json" --device cpu --quiet --output "$work/$1.json"
    expect_code 0 "$1 is measured"
}
confirm() { # confirm [OPTION]...
    run compare "$work/base.json" "$work/slow.json" --delta 30 --confirm --no-color "$@"
}
one_line() { # one_line NAME: all that the last run said
    [ "$(wc -l <"$work/err")" -eq 1 ] && [ ! -s "$work/out" ]
    verdict $? "$1: in one line" "$(cat "$work/err")"
}
nothing_left() { # nothing_left NAME
    [ -z "$(ls "$work" | grep confirm)" ]
    verdict $? "$1: nothing was measured" "$(ls "$work" | grep confirm | tr '\n' ' ')"
}
measure base steady
measure slow steady_slow

# --- the candidate is not what it was: known before anything is measured ---
mv "$work/mine.so" "$work/kept.so"
confirm
expect_code 2 "a plugin that is gone"
expect_text "$work/err" 'cannot be measured again as NEW was; not here: mine: .*mine.so: cannot be read: No such file' "a plugin that is gone: named"
one_line "a plugin that is gone"
nothing_left "a plugin that is gone"
head -c 2000 "$work/kept.so" >"$work/mine.so"
confirm
expect_code 2 "a plugin that is damaged"
expect_text "$work/err" 'not here: mine: .*mine.so: not a shared object' "a plugin that is damaged: says how"
nothing_left "a plugin that is damaged"
cp "$plugins/steady.so" "$work/mine.so"
confirm --format junit
expect_code 2 "another plugin in its place"
expect_text "$work/err" 'plugins and libraries .steady. plugin_digest: .* in NEW, .* in the second look' "another plugin in its place: says what differs"
expect_text "$work/out" '<error message="INCOMPARABLE" type="INCOMPARABLE">the suspects cannot be measured again' "another plugin in its place: in the form, too"
nothing_left "another plugin in its place"
for why in bad_load_crash bad_versions; do
    cp "$plugins/$why.so" "$work/mine.so.new" && mv "$work/mine.so.new" "$work/mine.so"
    confirm
    expect_code 2 "a plugin that ends the worker ($why)"
    expect_text "$work/err" 'not here: mine: while it was loaded: (killed|exited)' "a plugin that ends the worker ($why): named"
    one_line "a plugin that ends the worker ($why)"
    nothing_left "a plugin that ends the worker ($why)"
done
confirm --force
expect_text "$work/err" '^note: .*worker lost while it loaded mine: .*it is left out' "a plugin that ends the worker: --force goes on without it"
rm "$work"/slow.confirm*

# --- NEW itself was measured without it ---
rm "$work/mine.so"
run --config "$work/c.json" --device cpu --quiet --output "$work/lost.json"
run compare "$work/base.json" "$work/lost.json" --no-color
expect_code 2 "NEW without the plugin"
expect_text "$work/out" '^MISSING .*NEW has no such candidate here; mine: .*mine.so: cannot be read: No such file' "NEW without the plugin: the row says why"

# --- two at once ---
mv "$work/kept.so" "$work/mine.so"
exec 9<"$work/slow.journal.jsonl"
flock 9
confirm
expect_code 75 "a second look while another is taken"
expect_text "$work/err" 'slow.json: another process is measuring its suspects again' "a second look while another is taken: says so"
expect_no_text "$work/err" '--output' "a second look while another is taken: names no option that compare lacks"
one_line "a second look while another is taken"
nothing_left "a second look while another is taken"
exec 9<&-

# --- stopped and gone on with ---
stop_after_a_cell() { # stop_after_a_cell SIGNAL JOURNAL
    "$bench" compare "$work/base.json" "$work/slow.json" --delta 30 --confirm >"$work/out" 2>"$work/err" </dev/null &
    local job=$!
    for _ in $(seq 3000); do grep -qs '"kind":"cell"' "$work/$2" && break; sleep 0.02; done
    kill "-$1" "$job"
    wait "$job" 2>/dev/null
    code=$?
}
stop_after_a_cell TERM slow.confirm.journal.jsonl
expect_code 75 "TERM"
expect_text "$work/err" 'of 3 cells done; the same command with --resume goes on' "TERM: says how to go on"
confirm --resume --quiet
expect_code 1 "--resume"
[ "$(grep -c '^SLOWER .*measured again; -' "$work/out")" -eq 3 ] && [ ! -e "$work/slow.confirm-2.json" ] &&
    [ "$(grep -c '"kind":"sitting"' "$work/slow.confirm.journal.jsonl")" -eq 2 ]
verdict $? "--resume: goes on with the same second look" "$(ls "$work" | grep confirm | tr '\n' ' '); $(cat "$work/out")"
expect_no_text "$work/err" 'measuring again' "--quiet: only what went wrong"
stop_after_a_cell KILL slow.confirm-2.journal.jsonl
[ "$code" -eq 137 ] && [ -e "$work/slow.confirm-2.journal.jsonl" ]
verdict $? "kill -9 leaves the journal"
confirm --resume
expect_code 1 "--resume after kill -9"
[ "$(grep -c '^SLOWER .*measured again; -' "$work/out")" -eq 3 ] && [ -e "$work/slow.confirm-2.json" ] && [ ! -e "$work/slow.confirm-3.json" ]
verdict $? "--resume after kill -9: goes on" "$(ls "$work" | grep confirm | tr '\n' ' ')"
sed '/"kind":"end"/d' "$work/lost.journal.jsonl" >"$work/slow.confirm-3.journal.jsonl" # with a seed and activity of its own
confirm --resume
expect_code 65 "--resume of a second look at other suspects"
expect_text "$work/err" 'slow.confirm-3.journal.jsonl is of other contenders than the suspects named now: without --resume' "other suspects: says so"
run compare "$work/base.json" "$work/slow.json" --resume
expect_code 64 "--resume without --confirm"

# --- forms without a comparison ---
run --config "$work/c.json" --device cpu --quiet --mode server --output "$work/server.json"
for format in junit json markdown; do
    run compare "$work/base.json" "$work/server.json" --format $format
    expect_code 2 "runs that cannot be compared, $format"
    expect_text "$work/out" 'the runs cannot be compared .*modes: ' "runs that cannot be compared, $format: says so"
done
run compare "$work/base.json" "$work/nowhere.json" --format junit
expect_code 65 "a run that is not there, junit"
expect_text "$work/out" '<error message="UNREADABLE" type="UNREADABLE">' "a run that is not there, junit: an error"

# --- names that are not UTF-8 ---
odd=$(printf 'n\xffw')
run --config "$work/c.json" --device cpu --quiet --output "$work/$odd.json"
expect_code 0 "a run with such a name"
for format in json markdown junit; do
    run compare "$work/base.json" "$work/$odd.json" --delta 30 --format $format
    [ "$code" -eq 1 ] && iconv -f UTF-8 -t UTF-8 "$work/out" >/dev/null 2>&1
    verdict $? "$format of such a name is UTF-8" "$code; $(tail -1 "$work/err")"
done
finish
