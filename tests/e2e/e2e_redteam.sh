#!/bin/bash
# The red team on the CPU device: every contender that cheats is caught, no honest one is accused.
# Times nothing.
bench=${CUDAL2_BENCH:-${CUDAL2_BUILD:-build}/cudal2-bench}
if grep -qa __asan_init "$bench"; then
    echo "a sanitizer keeps freed memory and makes exits of faults: the verdicts would be about it"
    exit 77
fi
here=$(cd "$(dirname "$0")/../redteam" && pwd) || exit 70
code=0
for table in cpu large; do
    "$here/run.sh" "$here/$table.table" || code=1
done
exit $code
