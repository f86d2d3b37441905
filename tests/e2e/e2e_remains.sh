#!/bin/bash
# What docs/trust.md says a plugin can still do is what it can do: each example does it, and has no verdict.
bench=${CUDAL2_BENCH:-${CUDAL2_BUILD:-build}/cudal2-bench}
if grep -qa __asan_init "$bench"; then
    echo "a sanitizer keeps freed memory and makes exits of faults: the verdicts would be about it"
    exit 77
fi
if ! "$bench" list --device cpu 2>/dev/null | grep -q openblas; then
    echo "no OpenBLAS here, whose threads one of them takes away"
    exit 77
fi
redteam=$(dirname "$0")/../redteam
export REDTEAM_BASELINE=openblas
out=$(mktemp -d "${TMPDIR:-/tmp}/cudal2-remains-XXXXXX") || exit 70
trap 'rm -rf "$out"' EXIT
"$redteam/run.sh" "$redteam/remains.table" "$out" && "$redteam/run.sh" "$redteam/remains-inside.table" || exit 1

# Who multiplies with fewer bits once it has been verified is told so, and nobody else.
told=$(grep -l '"error_changes":true' "$out"/*.journal.jsonl)
[ "$told" = "$out/late-21-bits.journal.jsonl" ] || { echo "not ok - other arithmetic is told of: $told"; exit 1; }
echo "ok - other arithmetic is told"
