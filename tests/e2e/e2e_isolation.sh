#!/bin/bash
# What a contender can do to a run from inside its worker: die or hang anywhere in its life, and reach for
# what is not its own.
# Times nothing.
. "$(dirname "$0")/e2e.inc.sh"
stop='"stop": {"min_blocks": 8, "look_every": 4, "max_blocks": 8, "group_blocks": 2, "max_cell_seconds": 5}'
shapes='{"m": 16, "n": 24, "k": 32}, {"m": 8, "n": 8, "k": 8}'
results=$work/tmp/results # where temporary files go, and out of a worker's reach all the same
mkdir -p "$results"
export TMPDIR=$work/tmp
limits() { sed -i 's/"limits": {[^}]*}/"limits": {"setup_seconds": 2, "verify_seconds": 20, "launch_seconds": 2, "tune_seconds": 20}/' "$1"; }
of() { # of PLUGIN: the journal and what was printed are those of its run from here on
    journal=$results/$1/r.journal.jsonl
    printed=$results/$1/err
}

begin() { # begin PLUGIN [MEMBERS]: a run with this candidate, and these members of the config
    of "$1"
    rm -rf "${results:?}/$1"
    mkdir "$results/$1"
    config "$results/$1/c.json" "$shapes" '"offline"' "\"$plugins/bad_$1.so\"" "$stop${2:+, $2}"
    limits "$results/$1/c.json"
    CUDAL2_REACH=$journal timeout -k 5 120 "$bench" run --config "$results/$1/c.json" --device cpu --output "$results/$1/r.json" \
        >"$results/$1/out" 2>"$printed" </dev/null
    echo $? >"$results/$1/code"
}

ended() { # ended PLUGIN CODE: how it went
    of "$1"
    read -r code <"$results/$1/code"
    cp "$printed" "$work/err"
    expect_code "$2" "$1: the run goes on to its end"
    [ "$(journal_cells "$journal" | sort -u | wc -l)" -eq 2 ] && [ "$(journal_cells "$journal" | wc -l)" -eq 2 ]
    verdict $? "$1: every cell exactly once"
    [ "$(grep -c '"name":"honest-nn","layout\|"name":"honest-nn","family\|"name":"honest-nn"' "$journal")" -eq 2 ]
    verdict $? "$1: the honest one is measured"
}

one() { # one PLUGIN CODE
    begin "$1"
    ended "$1" "$2"
}

status_is() { # status_is NAME STATUS STAGE
    [ "$(grep -cE "\"name\":\"$1\",(\"[a-z_]*\":[^,]*,)*\"status\":\"$2\",\"stage\":\"$3\"" "$journal")" -eq 2 ]
    verdict $? "$1 is recorded as $2 in stage $3" "$(grep -oE "\"name\":\"$1\"[^}]{0,200}" "$journal" | head -1)"
}

# --- dying and hanging outside launch ---
# Side by side, for their limits are waited for.
for plugin in load_hang setup_hang teardown quit; do begin "$plugin" & done
one load_crash 2
status_is bad_load_crash '(crash|early_exit)' load
expect_text "$printed" '^note: cpu: worker lost while it loaded bad_load_crash: ' "load_crash: a note says so"
one versions 2
status_is bad_versions early_exit load
wait
ended load_hang 2
status_is bad_load_hang hang load
ended setup_hang 2
status_is bad-setup-hang-nn hang setup
expect_text "$journal" '"reason":"no sign of life for [0-9.]+ s in stage setup .more time: limits.setup_seconds in the config.' "setup_hang: names the limit and its key"
ended teardown 2
status_is bad-teardown-nn hang '[a-z]+' # checks tear down too
ended quit 0
expect_no_text "$printed" "did not end well" "quit: nobody waits for a process that hangs at its exit"
begin quit '"verify": {"process_per_plugin": false}'
ended quit 0
expect_text "$printed" "^note: cpu: the worker did not end well, in stage quit: hang" "quit: a note says so"

# --- reaching out ---
# A worker of root's has a user of its own; anybody else's has the same.
own_user=false
[ "$(id -u)" -ne 0 ] || own_user=true
isolation=$(grep -o '"isolation":{[^}]*}' "$journal" | head -1)
echo "# $isolation"
case $isolation in
*'"limits":true,'*'"files":true,"calls":true,'*'"processes":true,"user":'"$own_user"',"temporary":true'*)
    one reach 0
    grep -q '"name":"bad-reach-nn"[^}]*"status"' "$journal"
    [ $? -ne 0 ]
    verdict $? "reach: nothing was in reach" "$(grep -oE '"name":"bad-reach-nn"[^}]{0,200}' "$journal" | head -1)"
    ;;
*) echo "# not all of the isolation is to be had here: reaching out was not tested" ;;
esac
[ -z "$(find "$work/tmp" -name 'cudal2-worker-*')" ]
verdict $? "no worker's temporary directory is left" "$(ls "$work/tmp")"
# --- a process left behind, where nothing keeps a contender from starting one ---
stray_pids() { grep -lx "$CUDAL2_STRAY" /proc/[0-9]*/comm 2>/dev/null | cut -d/ -f3; }
export CUDAL2_STRAY=stray-$$
case $isolation in
*'"processes":true'*)
    export CUDAL2_ISOLATION=limits,memory,files,namespaces,processes,user,temporary
    one stray 0
    [ -z "$(stray_pids)" ]
    verdict $? "stray: it has ended with its worker" "$(stray_pids | head -1)"
    ;;
*) echo "# no process namespace is to be had here: a stray process was not tested" ;;
esac
export CUDAL2_ISOLATION=limits,namespaces
one stray 0
[ -n "$(stray_pids)" ]
verdict $? "stray: without a process namespace it stays"
# Not until none is listed: one that was killed is, until the first process of the machine has asked for its
# end.
for pid in $(stray_pids); do kill -9 "$pid"; done
export CUDAL2_ISOLATION=off
one reach 2
# A sanitizer's worker has its way with prctl, isolation or not: there survival is not tried (bad_reach.c).
survival='survival '
! grep -qa __asan_init "$bench" || survival=
expect_text "$journal" "\"reason\":\" memory.* journal cache .*network ${survival}files" "reach: everything is, without isolation"
[ "$(uname -m)" != x86_64 ] || expect_text "$journal" '"reason":" memory[^"]* restarts"' "and its thread is in no list of restartable sequences"
expect_text "$journal" '"isolation":\{"limits":false,"memory":false,"files":false,"calls":false,"namespaces":false,"processes":false,"user":false,"temporary":false,"listened":false,"process_per_plugin":true\}' "and the record says that it was off"
export CUDAL2_ISOLATION=some
run --config "$results/reach/c.json" --device cpu --output "$results/r.json"
expect_code 64 "a mistyped CUDAL2_ISOLATION is refused"
expect_text "$work/err" 'CUDAL2_ISOLATION=some: expected on, off' "and says what is expected"
finish
