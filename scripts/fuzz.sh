#!/bin/bash
# fuzz.sh BUILD RUNS [TARGET...]: builds the libFuzzer targets of tests/fuzz with clang, ASan and UBSan in
# BUILD, and runs each for RUNS executions. A target's committed seeds are read, what it finds is kept in
# BUILD/corpus. One line a target: executions, speed, coverage, seconds. Exit 1 when one crashed, leaked or
# took too long; the input is in BUILD/found then. FUZZ_NICE (0), FUZZ_MAX_LEN (2048) and FUZZ_SEED steer it.
# FUZZ_KEEP=1 packs what was found, minimised, into tests/fuzz/corpus/<target>.tar.gz, from which the next
# first run starts.
set -u
build=${1:?usage: fuzz.sh BUILD RUNS [TARGET...]}
runs=${2:?usage: fuzz.sh BUILD RUNS [TARGET...]}
shift 2
cd "$(dirname "$0")/.." || exit 1
clang=$(command -v clang-14 || command -v clang) || { echo "fuzz: clang is not installed (scripts/install-deps.sh --lint)"; exit 77; }
san='-fsanitize=address,undefined -fno-sanitize-recover=undefined'
warnings='-Wall -Wextra -Werror'
bad=0
# shellcheck disable=SC2046
[ $# -gt 0 ] || set -- $(ls tests/fuzz/fuzz_*.c | sed 's/.*fuzz_\(.*\)\.c/\1/')

mkdir -p "$build/found"
make --no-print-directory -j"$(nproc)" CC="$clang" BUILD="$build" OPT='-O1 -g' SAN="-fsanitize=fuzzer-no-link $san" \
    "$build/libharness.a" >"$build/build.log" 2>&1 || { tail -20 "$build/build.log"; exit 1; }
for target; do
    binary=$build/fuzz_$target
    if [ ! "$binary" -nt "$build/libharness.a" ] || [ ! "$binary" -nt "tests/fuzz/fuzz_$target.c" ]; then
        # shellcheck disable=SC2086
        $clang -std=c17 -D_GNU_SOURCE $warnings -O1 -g -fsanitize=fuzzer $san -Iharness "tests/fuzz/fuzz_$target.c" \
            "$build/libharness.a" -lcjson -lz -l:libseccomp.a -ldl -lpthread -lm -o "$binary" || exit 1
    fi
done

keep() { # keep TARGET CORPUS FILE: the same bytes for the same inputs
    local least=$build/least
    rm -rf "$least" && mkdir "$least"
    "$build/fuzz_$1" -merge=1 -verbosity=0 "$least" "tests/fuzz/corpus/$1" "$2" >/dev/null 2>&1
    # shellcheck disable=SC2046
    tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=644 -C "$least" -cf - $(ls "$least") | gzip -9n >"$3"
    rm -rf "$least"
}

# Stacks of one frame: collecting them costs more than the parsers do. A crash shows the whole stack all the
# same.
export ASAN_OPTIONS=malloc_context_size=1:quarantine_size_mb=16:allocator_may_return_null=1:detect_stack_use_after_return=0
printf '%-9s %12s %8s %8s %8s %8s  %s\n' target executions exec/s edges features seconds outcome
for target; do
    corpus=$build/corpus/$target
    log=$build/fuzz_$target.log
    mkdir -p "$corpus"
    kept=tests/fuzz/corpus/$target.tar.gz
    [ ! -e "$kept" ] || [ -n "$(ls -A "$corpus")" ] || tar -xzf "$kept" -C "$corpus"
    dictionary=tests/fuzz/$target.dict
    [ -e "$dictionary" ] || dictionary=tests/fuzz/json.dict
    start=${EPOCHREALTIME//[.,]/} # microseconds
    nice -n "${FUZZ_NICE:-0}" "$build/fuzz_$target" -runs="$runs" -max_len="${FUZZ_MAX_LEN:-2048}" -dict="$dictionary" -timeout=20 \
        -rss_limit_mb=2048 -seed="${FUZZ_SEED:-1}" -print_final_stats=1 -verbosity=1 -artifact_prefix="$build/found/$target-" \
        "$corpus" "tests/fuzz/corpus/$target" >"$log" 2>&1
    status=$?
    spent=$((${EPOCHREALTIME//[.,]/} - start))
    executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    edges=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -1)
    features=$(sed -n 's/.* ft: \([0-9]*\) .*/\1/p' "$log" | tail -1)
    outcome=clean
    [ "$status" -eq 0 ] || { outcome="FAILED ($log)"; bad=1; }
    printf '%-9s %12s %8d %8s %8s %8d  %s\n' "$target" "${executions:-?}" $((${executions:-0} * 1000000 / spent)) \
        "${edges:-?}" "${features:-?}" $(((spent + 500000) / 1000000)) "$outcome"
    [ -z "${FUZZ_KEEP:-}" ] || [ "$status" -ne 0 ] || keep "$target" "$corpus" "$kept"
    [ "$status" -eq 0 ] || grep -m1 -A12 -E 'ERROR: |SUMMARY|runtime error' "$log" | sed 's/^/    /'
done
exit $bad
