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
# A cheat that was not found gets a second try by itself: a helper that no processor was free for has not cheated (works-ahead). An
# accusation, or another verdict than is right, gets none.
for table in cpu inside large narrow; do
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
