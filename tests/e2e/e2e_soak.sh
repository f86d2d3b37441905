#!/bin/bash
# A soak: kill -9 of the supervisor or of its worker at random moments, run after run, each going on with
# --resume until it is whole.
# Every cell must then be there exactly once. SOAK_KILLS (8; make test-all: 40) says how many kills, SEED
# which; SOAK_LOG keeps one line for each run.
# Times nothing.
. "$(dirname "$0")/e2e.inc.sh"
wanted=${SOAK_KILLS:-${CUDAL2_SLOW:+40}}
wanted=${wanted:-8}
seed=${SEED:-$$}
RANDOM=$seed
echo "# SEED=$seed, $wanted kills"
log=${SOAK_LOG:-$work/soak.log}
cells=24
shapes=
for m in $(seq 8 8 $((8 * cells / 2))); do
    shapes="$shapes${shapes:+, }{\"m\": $m, \"n\": 24, \"k\": 48}"
done
# Cells of 32 blocks with a gap of 1 ms: some 40 ms each, so that most kills hit in the middle of one.
config "$work/c.json" "$shapes" '"offline", "server"' "\"$plugins/steady.so\"" \
    '"server": {"gap": "poisson", "mean_gap_ms": 1}, "stop": {"min_blocks": 32, "look_every": 8, "max_blocks": 32, "group_blocks": 8, "max_cell_seconds": 5}'
journal=$work/r.journal.jsonl
kills=0 supervisors=0 workers=0 runs=0 starts=0 wrong=0 orphans=0 unreadable=0 idle=0
supervisor=
at_exit() { [ -n "$supervisor" ] && kill -9 "$supervisor" 2>/dev/null; }

nap() { # nap LOW HIGH: milliseconds, at random
    sleep "$(printf '0.%03d' $(($1 + RANDOM % ($2 - $1))))"
}

ended() { # ended PID: within ten seconds
    for _ in $(seq 400); do
        is_over "$1" && return 0
        sleep 0.025
    done
    return 1
}

shoot_supervisor() {
    local worker
    worker=$(awk '{print $1}' "/proc/$supervisor/task/$supervisor/children" 2>/dev/null)
    kill -9 "$supervisor" 2>/dev/null || return
    kills=$((kills + 1)) supervisors=$((supervisors + 1))
    wait "$supervisor" 2>/dev/null
    supervisor=
    [ -z "$worker" ] || ended "$worker" || orphans=$((orphans + 1))
}

shoot_worker() {
    local worker
    worker=$(awk '{print $1}' "/proc/$supervisor/task/$supervisor/children" 2>/dev/null)
    [ -n "$worker" ] && kill -9 "$worker" 2>/dev/null || return
    kills=$((kills + 1)) workers=$((workers + 1))
}

# One sitting: shots until the supervisor is hit or has come to its end.
sitting() {
    "$bench" --config "$work/c.json" --device cpu --output "$work/r.json" --resume --quiet >/dev/null 2>"$work/err" </dev/null &
    supervisor=$!
    starts=$((starts + 1))
    while [ -n "$supervisor" ] && [ "$kills" -lt "$wanted" ]; do
        nap 20 400
        [ -d "/proc/$supervisor" ] || break
        if [ $((RANDOM % 4)) -eq 0 ]; then shoot_worker; else shoot_supervisor; fi
    done
    [ -z "$supervisor" ] || { wait "$supervisor"; code=$?; supervisor=; return; }
    code=137
}

# Whole: the number of cells, each once, one run and one end, readable.
check_run() {
    local all once
    all=$(journal_cells "$journal" | wc -l)
    once=$(journal_cells "$journal" | sort -u | wc -l)
    [ "$all" -eq "$cells" ] && [ "$once" -eq "$cells" ] && [ "$(grep -c '"kind":"run"' "$journal")" -eq 1 ] &&
        [ "$(grep -c '"kind":"end"' "$journal")" -eq 1 ] || wrong=$((wrong + 1))
    "$bench" report "$journal" >/dev/null 2>&1 || unreadable=$((unreadable + 1))
    echo "run $runs: exit $code, $all cells, $once different, $(grep -c '"kind":"sitting"' "$journal") sittings," \
        "$(grep -c '"kind":"env"' "$journal") workers; $kills kills so far" >>"$log"
}

: >"$log"
started=$(date +%s)
while [ "$kills" -lt "$wanted" ]; do
    before=$kills
    rm -f "$work"/r.*
    runs=$((runs + 1))
    code=137
    # Three in four sittings end by a shot at the supervisor; one that did not end well must say how to go on.
    for _ in $(seq 400); do
        sitting
        case $code in 0 | 2 | 3) break ;; 137) ;; *) tail -1 "$work/err" >>"$log" ;; esac
    done
    check_run
    [ "$kills" -gt "$before" ] || idle=$((idle + 1))
    [ "$idle" -lt 20 ] || break
done
echo "# $kills kills ($supervisors of the supervisor, $workers of a worker) in $runs runs of $cells cells, $starts starts, $(($(date +%s) - started)) s"
[ "$kills" -ge "$wanted" ]
verdict $? "$wanted kills" "$kills"
[ "$wrong" -eq 0 ]
verdict $? "every cell of every run is there exactly once" "$wrong of $runs runs are not whole; $(tail -5 "$log")"
[ "$unreadable" -eq 0 ]
verdict $? "every journal can be read" "$unreadable of $runs cannot"
[ "$orphans" -eq 0 ]
verdict $? "no worker outlives its supervisor" "$orphans did"
tail -3 "$log" | sed 's/^/# /'
finish
