#!/bin/bash
# kill -9 of the supervisor and of workers at random moments, TERM and INT: after --resume every cell is there
# exactly once.
# Times nothing.
. "$(dirname "$0")/e2e.inc.sh"
shapes=
for m in 8 16 24 32 40 48 56 64 72 80 88 96; do
    shapes="$shapes${shapes:+, }{\"m\": $m, \"n\": 32, \"k\": 64}"
done
# Twelve cells of 64 blocks with a gap of 2 ms each: about 150 ms a cell, so that most signals hit in the
# middle of one.
config "$work/c.json" "$shapes" '"server"' '' \
    '"stop": {"min_blocks": 64, "look_every": 8, "max_blocks": 64, "group_blocks": 8, "max_cell_seconds": 5}'
journal=$work/r.journal.jsonl
seed=${SEED:-$$}
RANDOM=$seed
echo "# SEED=$seed"
supervisor=
at_exit() { [ -n "$supervisor" ] && kill -9 "$supervisor" 2>/dev/null; }

pace=100
nap() { # nap LOW HIGH: milliseconds at random, longer on a busy machine
    local ms=$((($1 + RANDOM % ($2 - $1)) * pace / 100))
    sleep "$(printf '%d.%03d' $((ms / 1000)) $((ms % 1000)))"
}

start() {
    "$bench" --config "$work/c.json" --device cpu --output "$work/r.json" --resume >"$work/out" 2>"$work/err" </dev/null &
    supervisor=$!
}

worker_of() { # the supervisor's child
    cat "/proc/$1/task/$1/children" 2>/dev/null | awk '{print $1}'
}

# Ends within ten seconds of its supervisor's death, by the parent-death signal.
expect_gone() {
    for _ in $(seq 200); do
        [ -z "$1" ] || is_over "$1" && return 0
        sleep 0.05
    done
    return 1
}

# --- how long a worker takes to come up: 150 ms, unless others use the machine ---
start
began=${EPOCHREALTIME/./}
for _ in $(seq 3000); do
    grep -qs '"kind":"env"' "$journal" && break
    sleep 0.02
done
up=$(((${EPOCHREALTIME/./} - began) / 1000))
kill -9 "$supervisor"
wait "$supervisor" 2>/dev/null
[ "$up" -gt 150 ] && pace=$((up * 100 / 150))
echo "# a worker is up in $up ms"
rm -f "$work"/r.*

# --- the supervisor ---
orphans=0
kills=0
for _ in $(seq 20); do
    [ "$kills" -ge 10 ] || [ "$(journal_cells "$journal" 2>/dev/null | wc -l)" -ge 11 ] && break
    start
    nap 10 450
    worker=$(worker_of "$supervisor")
    kill -9 "$supervisor" 2>/dev/null && kills=$((kills + 1))
    wait "$supervisor" 2>/dev/null
    expect_gone "$worker" || orphans=$((orphans + 1))
done
echo "# $kills kills, $(journal_cells "$journal" | wc -l) cells so far"
[ "$kills" -ge 3 ]
verdict $? "the supervisor was killed in the middle" "$kills times"
[ "$orphans" -eq 0 ]
verdict $? "no worker outlives its supervisor" "$orphans did"
run --config "$work/c.json" --device cpu --output "$work/r.json" --resume
expect_code 0 "resume after kill -9 of the supervisor"
[ "$(journal_cells "$journal" | wc -l)" -eq 12 ] && [ "$(journal_cells "$journal" | sort -u | wc -l)" -eq 12 ]
verdict $? "every cell exactly once" "$(journal_cells "$journal" | sort | uniq -c)"
[ "$(grep -c '"kind":"run"' "$journal")" -eq 1 ] && [ "$(grep -c '"kind":"end"' "$journal")" -eq 1 ]
verdict $? "one run, one end"
rm -f "$work"/r.*

# --- the worker ---
start
kills=0
seen=
while [ "$kills" -lt 6 ] && kill -0 "$supervisor" 2>/dev/null; do # a sanitizer's worker takes its time to come up
    nap 60 200
    worker=$(worker_of "$supervisor")
    # Three in a row that are killed while they start end the run, and rightly: only who has been there for a
    # while is killed.
    if [ -n "$worker" ] && [ "$worker" = "$seen" ]; then
        kill -9 "$worker" 2>/dev/null && kills=$((kills + 1))
        seen=
    else
        seen=$worker
    fi
done
wait "$supervisor"
code=$?
supervisor=
[ "$kills" -ge 1 ]
verdict $? "workers were killed in the middle" "$kills times"
# A killed worker is somebody's crash (a contender left out: partial) or the harness's (tried again, at most
# failed: 2).
[ "$code" -eq 0 ] || [ "$code" -eq 2 ]
verdict $? "kill -9 of workers does not stop the run" "exit status $code; $(tail -1 "$work/err")"
[ "$(journal_cells "$journal" | wc -l)" -eq 12 ] && [ "$(journal_cells "$journal" | sort -u | wc -l)" -eq 12 ]
verdict $? "every cell exactly once, again" "$(journal_cells "$journal" | sort | uniq -c)"
rm -f "$work"/r.*

# --- asked to stop ---
for signal in INT:130 TERM:75 HUP:75; do
    # In the background bash starts children with INT ignored; env resets it.
    env --default-signal=INT "$bench" --config "$work/c.json" --device cpu --output "$work/r.json" --resume \
        >"$work/out" 2>"$work/err" </dev/null &
    supervisor=$!
    for _ in $(seq 3000); do
        [ -e "$journal" ] && [ "$(journal_cells "$journal" | wc -l)" -ge 1 ] && break
        sleep 0.02
    done
    kill -"${signal%:*}" "$supervisor"
    wait "$supervisor"
    code=$?
    supervisor=
    expect_code "${signal#*:}" "${signal%:*} ends the run with its exit code"
    expect_text "$work/err" '--resume goes on' "and says how to go on"
    [ "${signal%:*}" != INT ] || expect_text "$work/err" '^stopping when this cell is done' "and at once that it has heard"
    [ -s "$work/r.json" ]
    verdict $? "the result so far is written"
    rm -f "$work"/r.*
done

# --- stopped again and again, seeds given: the plan is the same as in one go ---
for i in $(seq 40); do
    # Longer each time: a sitting that ends before its worker is up gets nowhere.
    timeout -s TERM "$(printf '%d.%d' $(((3 + i) / 10)) $(((3 + i) % 10)))" "$bench" --config "$work/c.json" --device cpu --seed 11 --output "$work/r.json" --resume \
        >/dev/null 2>"$work/err" </dev/null
    code=$?
    [ "$code" -eq 0 ] && break
done
expect_code 0 "many short sittings finish the run"
[ "$(journal_cells "$journal" | sort -u | wc -l)" -eq 12 ] && [ "$(journal_cells "$journal" | wc -l)" -eq 12 ]
verdict $? "and no cell is measured twice"

# --- two at a time on one journal ---
rm -f "$work"/r.*
start
for _ in $(seq 3000); do
    [ -e "$journal" ] && break
    sleep 0.02
done
run --config "$work/c.json" --device cpu --output "$work/r.json" --resume
expect_code 75 "a journal in use is refused"
kill -9 "$supervisor"
wait "$supervisor" 2>/dev/null
supervisor=
finish
