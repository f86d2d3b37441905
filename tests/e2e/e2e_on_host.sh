#!/bin/bash
# kernels/bulk.cu as it stands, run on the host with its threads, barriers and copies in drawn orders: it ends, nothing is under way then, and C is
# the product: both layouts, several tiles a block, edges, clusters that share K or tokens. And faults that it could have are found. Times nothing.
without_plugins=yes
# shellcheck source=tests/e2e/e2e.inc.sh
. "$(dirname "$0")/e2e.inc.sh"
top=$(cd "$(dirname "$0")/../.." && pwd)
at=$top/tests/fixtures/on_host
command -v g++ >/dev/null || { echo "skipped: no g++"; exit 0; }
cd "$work" || exit 1

# compile SOURCE OUT LAYOUT_TN BM BN BK STAGES WARPS_N SLICES SPLIT_K SHARE
compile() {
    local source=$1 out=$2 flags=() name
    shift 2
    for name in LAYOUT_TN BM BN BK STAGES WARPS_N SLICES SPLIT_K SHARE; do
        flags+=("-D$name=$1")
        shift
    done
    python3 "$at/on_host.py" "$source" "$at/bulk_run.cuh" >"$out.cpp" &&
        g++ -std=c++17 -O1 -w -DMIN_BLOCKS=1 -DEVICT=1 "${flags[@]}" -I"$at" -I"$top/kernels" "$out.cpp" -o "$out"
}

# right "PARAMETERS" "M N K MULTIPROCESSORS SEED" WHAT
right() {
    # shellcheck disable=SC2086
    compile "$top/kernels/bulk.cu" run $1 && timeout 100 ./run $2 >out 2>err && grep -q '^right' out
    verdict $? "$3" "$(head -2 out err)"
}
right "1 8 32 64 3 1 2 1 1" "5 70 208 2 1" "TN, a block with several tiles, edges of N and K"
right "0 16 64 64 3 2 2 1 1" "13 200 208 2 2" "NN, likewise"
right "1 24 64 64 3 2 2 4 1" "23 130 528 9 3" "TN, a cluster that shares K"
right "0 8 128 32 4 4 2 8 1" "1 136 176 9 4" "NN, likewise; some have no K"
right "1 16 32 64 2 1 4 1 4" "11 300 144 4 5" "TN, a cluster that shares tokens; some have no weights"
right "0 32 64 32 4 2 2 1 2" "29 264 96 2 6" "NN, likewise"

# wrong "SED" WHAT: the kernel with a fault
wrong() {
    sed "$1" "$top/kernels/bulk.cu" >faulty.cu
    ! cmp -s faulty.cu "$top/kernels/bulk.cu" && compile "$PWD/faulty.cu" run 1 16 32 64 2 1 4 1 4 && ! timeout 100 ./run 11 300 144 4 5 >out 2>err && [ -s out ]
    verdict $? "$2" "$(head -2 out err)"
}
wrong 's/CONSUMERS \* SHARE);/CONSUMERS);/' "a barrier that counts too few is found"
wrong 's/^\( *\)release(w, r.stage);$/\1if (w.warp) release(w, r.stage);/' "so is a stage that is never handed back"
wrong 's/barrier_wait(w.full + r.stage \* 8, r.parity);//' "and one that is read before it is there"
wrong 's/columns \* 2/columns/; s/length \* 2, full, policy/length, full, policy/; s/(u32)elements \* 2, full/(u32)elements, full/' "and a copy that is too short"
finish
