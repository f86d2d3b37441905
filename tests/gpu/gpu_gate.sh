#!/bin/bash
# The regression gate on a GPU: six runs of one program make five A/A pairs without an alarm, and kernels
# slowed on purpose by GATE_PERCENT (5) are caught. GATE_CONFIG: default configs/smoke.json. GATE_OUT: where
# to leave the journals and comparisons.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd) || exit 70
bench=${CUDAL2_BENCH:-${CUDAL2_BUILD:-build}/cudal2-bench}
config=${GATE_CONFIG:-$root/configs/smoke.json}
kernels=${CUDAL2_KERNELS:-$root/kernels}
"$bench" doctor 2>/dev/null | grep -q 'cuda:0' || { echo "no GPU"; exit 77; }
work=$(mktemp -d /tmp/cudal2-gate-XXXXXX) || exit 70
trap 'rm -rf "$work"' EXIT
out=${GATE_OUT:-$work}
mkdir -p "$out" || exit 73
failures=0

verdict() { # verdict STATUS NAME DETAIL
    [ "$1" -eq 0 ] && echo "ok - $2: $3" && return
    echo "not ok - $2: $3"
    failures=$((failures + 1))
}

measure() { # measure NAME KERNELS
    "$bench" --config "$config" --device cuda --aa --quiet --kernels "$2" --output "$out/$1.json" >"$out/$1.txt" 2>&1
    local code=$?
    [ "$code" -eq 0 ]
    verdict $? "run $1" "exit status $code"
}

measure aa0 "$kernels"
for pair in 1 2 3 4 5; do
    measure "aa$pair" "$kernels"
    "$bench" compare "$out/aa$((pair - 1)).json" "$out/aa$pair.json" >"$out/pair$pair.txt" 2>&1
    code=$?
    [ "$code" -eq 0 ]
    verdict $? "A/A pair $pair" "exit status $code; $(grep ' results compared ' "$out/pair$pair.txt")"
done

"$root/scripts/slow-kernels.sh" "$kernels" "$work/slow" "${GATE_PERCENT:-5}" || exit 70
measure slow "$work/slow"
"$bench" compare "$out/aa5.json" "$out/slow.json" >"$out/slow-first-look.txt" 2>&1
"$bench" compare "$out/aa5.json" "$out/slow.json" --confirm --quiet --kernels "$work/slow" >"$out/slow-compare.txt" 2>&1
code=$?
[ "$code" -eq 1 ]
verdict $? "kernels ${GATE_PERCENT:-5}% slower" "exit status $code; $(grep ' results compared ' "$out/slow-compare.txt" || tail -n 1 "$out/slow-compare.txt")"
[ "$failures" -eq 0 ]
