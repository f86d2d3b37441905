#!/bin/bash
# run-tests.sh BUILD TEST...: runs each test (a cmocka program, or a shell script that exits 0, or 77 for "not here"), shows
# what failed, and ends with one line "N passed, N failed". Logs stay in BUILD/test-logs. Exit status 1 if any failed; on TERM or
# INT the test that runs is ended with all that it started, which would otherwise keep a GPU from whoever comes next.
set -u
build=${1:?usage: run-tests.sh BUILD TEST...}
shift
logs=$build/test-logs
mkdir -p "$logs"
limit=${TEST_SECONDS:-600}
# Spinning threads of BLAS libraries disturb everything else on a small machine (docs/abi.md, "Threads").
export OMP_WAIT_POLICY=passive OPENBLAS_THREAD_TIMEOUT=4 GOMP_SPINCOUNT=0
case $logs in /*) cache=$logs/cache ;; *) cache=$PWD/$logs/cache ;; esac
export CUDAL2_CACHE=$cache CUDAL2_BUILD=$build CUDAL2_BENCH=$build/cudal2-bench
# libtorch keeps thread-local memory that LeakSanitizer cannot follow.
export LSAN_OPTIONS=${LSAN_OPTIONS:-use_tls=0:suppressions=$PWD/scripts/lsan.supp:print_suppressions=0}
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_stack_use_after_return=1}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
passed=0
failed=0
skipped=0
running=

stop() { # stop STATUS: timeout passes the signal on to everything that the test started
    [ -n "$running" ] && kill -TERM "$running" && wait "$running"
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

for test in "$@"; do
    name=$(basename "$test" .sh)
    log=$logs/$name.log
    start=${EPOCHREALTIME//[.,]/} # microseconds
    # -k: a test that ignores TERM is ended all the same.
    timeout -k 10 "$limit" "$test" >"$log" 2>&1 </dev/null &
    running=$!
    wait "$running"
    status=$?
    running=
    tenths=$(((${EPOCHREALTIME//[.,]/} - start + 50000) / 100000))
    seconds="$((tenths / 10)).$((tenths % 10)) s"
    ran=$(count "$log" '^\[==========\][^0-9]*\([0-9]*\) test(s) run\.$')
    bad=$(count "$log" '^\[  FAILED  \][^0-9]*\([0-9]*\) test(s), listed below:$')
    missed=$(count "$log" '^\[  SKIPPED \][^0-9]*\([0-9]*\) test(s), listed below:$')
    # A shell script counts its own checks: lines "ok - ..." and "not ok - ...".
    if [ -z "$ran" ] && grep -qE '^(not )?ok ' "$log"; then
        ran=$(grep -cE '^(not )?ok ' "$log")
        bad=$(grep -c '^not ok ' "$log")
        [ "$bad" -gt 0 ] || bad=
    fi
    if [ "$status" -eq 77 ]; then
        skipped=$((skipped + 1))
        report skip "$name" "$(tail -1 "$log")"
        continue
    fi
    if [ "$status" -eq 0 ]; then
        good=$((${ran:-1} - ${missed:-0}))
        passed=$((passed + good))
        skipped=$((skipped + ${missed:-0}))
        report ok "$name" "$good passed${missed:+, $missed skipped}, $seconds"
        continue
    fi
    # A program that died in the middle has printed no totals: that is one failure at least.
    bad=${bad:-1}
    good=$((${ran:-$bad} - bad - ${missed:-0}))
    [ "$good" -lt 0 ] && good=0
    passed=$((passed + good))
    failed=$((failed + bad))
    report FAILED "$name" "exit status $status, $seconds; $log ends with:"
    tail -40 "$log" | sed 's/^/    /'
done
[ "$skipped" -gt 0 ] && echo "$skipped skipped"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
