#!/bin/bash
# The red team on the CPU device: every contender that cheats is caught, no honest one is accused.
# Times nothing.
bench=${CUDAL2_BENCH:-${CUDAL2_BUILD:-build}/cudal2-bench}
if grep -qa __asan_init "$bench"; then
    echo "a sanitizer keeps freed memory and makes exits of faults: the verdicts would be about it"
    exit 77
fi
here=$(cd "$(dirname "$0")/../redteam" && pwd) || exit 70
work=$(mktemp -d) || exit 70
trap 'rm -rf "$work"' EXIT
code=0
# Whether baselines slow down beside a contender is asked of these alone: beside other tests each run would
# take seconds to say no. `make redteam` asks of all.
export REDTEAM_RIVALS="cpu_rivals cpu_pool cpu_ahead remains"
# A cheat that was not found gets a second try by itself: a helper that no processor was free for has not
# cheated (works-ahead). An accusation, or another verdict than is right, gets none.
for table in cpu inside large narrow; do
    # 3000 threads take minutes where each is stopped a hundred times; in the worker's process they must be
    # too many.
    if [ "$table" = cpu ]; then export CUDAL2_TEST_CROWD=100; else unset CUDAL2_TEST_CROWD; fi
    "$here/run.sh" "$here/$table.table" >"$work/said" 2>&1
    status=$?
    cat "$work/said"
    missed=$(sed -nE 's/^not ok - ([^:]+): ok \(expected .*/\1/p' "$work/said" | tr '\n' ' ')
    if [ "$status" -ne 0 ] && [ -n "$missed" ] && ! grep '^not ok' "$work/said" | grep -qv ': ok (expected '; then
        echo "# not found at the first try: $missed"
        REDTEAM_ONLY=$missed "$here/run.sh" "$here/$table.table"
        status=$?
    fi
    [ "$status" -eq 0 ] || code=1
done
exit $code
