#!/bin/bash
# run-tests.sh [-j N] [-a NAME]... [-f NAME]... BUILD TEST...: runs each test (a cmocka program, or a shell
# script that exits 0, or 77 for "not here"), shows what failed, and ends with one line "N passed, N failed".
# Logs stay in BUILD/test-logs. Exit status 1 if any failed; on TERM or INT the tests that run are ended with
# all that they started, which would otherwise keep a GPU from whoever comes next.
# -j: first N at a time those that time nothing, which are the programs, but for each NAME of -a, and the
# scripts whose first lines have "# Times nothing."; then the others, which see clocks and processors, one by
# one. -f: begins before the others of its kind, for the longest would otherwise run on alone at the end.
set -u
usage() {
    echo "usage: run-tests.sh [-j N] [-a NAME]... [-f NAME]... BUILD TEST..." >&2
    exit 64
}
jobs=1 timed=' ' first=' '
while getopts j:a:f: flag; do
    case $flag in
    j)
        [[ $OPTARG =~ ^[1-9][0-9]*$ ]] || usage
        jobs=$OPTARG
        ;;
    a) timed="$timed$OPTARG " ;;
    f) first="$first$OPTARG " ;;
    *) usage ;;
    esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || usage
build=$1
shift
logs=$build/test-logs
mkdir -p "$logs"
limit=${TEST_SECONDS:-600}
# Spinning threads of BLAS libraries disturb everything else on a small machine (docs/abi.md, "Threads").
export OMP_WAIT_POLICY=passive OPENBLAS_THREAD_TIMEOUT=4 GOMP_SPINCOUNT=0
case $logs in /*) cache=$logs/cache ;; *) cache=$PWD/$logs/cache ;; esac
export CUDAL2_CUBINS=none # what make cubins has left is nothing to test with
export CUDAL2_CACHE=$cache CUDAL2_BUILD=$build CUDAL2_BENCH=$build/cudal2-bench
# libtorch keeps thread-local memory that LeakSanitizer cannot follow.
export LSAN_OPTIONS=${LSAN_OPTIONS:-use_tls=0:suppressions=$PWD/scripts/lsan.supp:print_suppressions=0}
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_stack_use_after_return=1}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
passed=0
failed=0
skipped=0
declare -A running=() began=() # by process: the test, and when in microseconds

stop() { # stop STATUS: timeout passes the signal on to everything that the test started
    local pid
    for pid in "${!running[@]}"; do kill -TERM "$pid"; done
    for pid in "${!running[@]}"; do wait "$pid"; done
    exit "$1"
}
trap 'stop 143' TERM
trap 'stop 130' INT

count() { # count LOG PATTERN: the number in the last line that matches
    sed -n "s/$2/\1/p" "$1" | tail -1
}

report() { # report VERDICT NAME DETAIL
    printf '%-7s %-28s %s\n' "$1" "$2" "$3"
}

begin() { # begin TEST
    # -k: a test that ignores TERM is ended all the same.
    timeout -k 10 "$limit" "$1" >"$logs/$(basename "$1" .sh).log" 2>&1 </dev/null &
    running[$!]=$1
    began[$!]=${EPOCHREALTIME//[.,]/}
}

# What failed first, wherever it stands, then the end.
show_failure() { # show_failure LOG
    grep -A4 -E '^not ok |^\[  (ERROR |FAILED)' "$1" | head -60 | sed 's/^/    /'
    echo "    ... it ends with:"
    tail -15 "$1" | sed 's/^/    /'
}

judge() { # judge TEST STATUS SECONDS: counts and tells
    local name log ran bad missed good
    name=$(basename "$1" .sh)
    log=$logs/$name.log
    ran=$(count "$log" '^\[==========\][^0-9]*\([0-9]*\) test(s) run\.$')
    bad=$(count "$log" '^\[  FAILED  \][^0-9]*\([0-9]*\) test(s), listed below:$')
    missed=$(count "$log" '^\[  SKIPPED \][^0-9]*\([0-9]*\) test(s), listed below:$')
    # A shell script counts its own checks: lines "ok - ..." and "not ok - ...".
    if [ -z "$ran" ] && grep -qE '^(not )?ok ' "$log"; then
        ran=$(grep -cE '^(not )?ok ' "$log")
        bad=$(grep -c '^not ok ' "$log")
        [ "$bad" -gt 0 ] || bad=
    fi
    if [ "$2" -eq 77 ]; then
        skipped=$((skipped + 1))
        report skip "$name" "$(tail -1 "$log")"
        return
    fi
    if [ "$2" -eq 0 ]; then
        good=$((${ran:-1} - ${missed:-0}))
        passed=$((passed + good))
        skipped=$((skipped + ${missed:-0}))
        report ok "$name" "$good passed${missed:+, $missed skipped}, $3"
        return
    fi
    # A program that died in the middle has printed no totals: that is one failure at least.
    bad=${bad:-1}
    good=$((${ran:-$bad} - bad - ${missed:-0}))
    [ "$good" -lt 0 ] && good=0
    passed=$((passed + good))
    failed=$((failed + bad))
    report FAILED "$name" "exit status $2, $3; $log"
    show_failure "$log"
}

finish_one() { # waits for one of those that run
    local pid status tenths test
    wait -n -p pid
    status=$?
    # One that a signal ended while something else was going on is not told of again: it is among those that
    # are no more.
    if [ -z "${pid:-}" ]; then
        for pid in "${!running[@]}"; do kill -0 "$pid" 2>/dev/null || break; done
        wait "$pid"
        status=$?
    fi
    tenths=$(((${EPOCHREALTIME//[.,]/} - began[$pid] + 50000) / 100000))
    test=${running[$pid]}
    unset "running[$pid]" "began[$pid]"
    judge "$test" "$status" "$((tenths / 10)).$((tenths % 10)) s"
}

run_all() { # run_all N TEST...: N at a time
    local at_once=$1 test
    shift
    for test in "$@"; do
        [ "${#running[@]}" -lt "$at_once" ] || finish_one
        begin "$test"
    done
    while [ "${#running[@]}" -gt 0 ]; do finish_one; done
}

times_nothing() { # times_nothing TEST
    case $1 in
    *.sh) head -8 "$1" | grep -q '^# Times nothing\.$' ;;
    *) [ "${timed#* "$(basename "$1")" }" = "$timed" ] ;;
    esac
}

begins_first() { # begins_first TEST
    [ "${first#* "$(basename "$1" .sh)" }" != "$first" ]
}

long=() beside=() alone=()
for test in "$@"; do
    if [ "$jobs" -eq 1 ] || ! times_nothing "$test"; then
        alone+=("$test")
    elif begins_first "$test"; then
        long+=("$test")
    else
        beside+=("$test")
    fi
done
program() { stat -c '%i %Y' "$build/cudal2-bench" 2>/dev/null; }
before=$(program)
run_all "$jobs" ${long[@]+"${long[@]}"} ${beside[@]+"${beside[@]}"}
run_all 1 ${alone[@]+"${alone[@]}"}
if [ "$(program)" != "$before" ]; then
    failed=$((failed + 1))
    report FAILED run-tests "$build/cudal2-bench was built again while it was tested: a test runs make in $build"
fi
[ "$skipped" -gt 0 ] && echo "$skipped skipped"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
