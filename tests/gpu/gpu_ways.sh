#!/bin/bash
# Ways of the kernels that no set or table takes yet, or that few problems take (tests/gpu/ways/set.json), are
# right on a GPU: each on the problems of tests/gpu/ways/shapes.json that it takes, in both layouts, with
# either accumulator it has.
without_plugins=yes
. "$(dirname "$0")/../e2e/e2e.inc.sh"
"$bench" doctor 2>/dev/null | grep -q 'cuda:0' || { echo "no GPU"; exit 77; }
root=$(cd "$(dirname "$0")/../.." && pwd)
kernels=${CUDAL2_KERNELS:-$root/kernels}
run_seconds=400
for accumulate in f32 f16; do
    run verify "$root/tests/gpu/ways/set.json" --config "$root/tests/gpu/ways/shapes.json" --device cuda:0 --kernels "$kernels" \
        --accumulate $accumulate --quiet
    expect_code 0 "all ways are right with $accumulate"
    sed 's/^/# /' "$work/out"
done
finish
