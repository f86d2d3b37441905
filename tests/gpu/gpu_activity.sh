#!/bin/bash
# What contenders really run on a GPU: every launch is watched by CUPTI in a process of its own when all is
# timed, names the kernels, and is held against what was timed. Then the red team with every other honesty
# check off: what is left to catch it is the watching, and nobody honest may be accused by it. ACTIVITY_OUT:
# where to leave the result, its journal and the red team's.
. "$(dirname "$0")/../e2e/e2e.inc.sh"
"$bench" doctor 2>/dev/null | grep -q 'cuda:0' || { echo "no GPU"; exit 77; }
"$bench" doctor 2>/dev/null | grep -q '^ok *CUPTI' || { echo "no CUPTI: $("$bench" doctor 2>/dev/null | grep -A1 CUPTI | tr '\n' ' ')"; exit 77; }
root=$(cd "$(dirname "$0")/../.." && pwd)
here=$root/tests
out=${ACTIVITY_OUT:-$work/left}
mkdir -p "$out" || exit 73

cat >"$work/c.json" <<'END'
{"schema": "cudal2-bench/config", "schema_version": 1, "name": "activity", "modes": ["offline"], "accumulate": ["f16", "f32"],
 "shapes": [{"m": 64, "n": 64, "k": 64}, {"m": 1024, "n": 1024, "k": 1024}, {"m": 128, "n": 512, "k": 16384},
            {"m": 4096, "n": 4096, "k": 2048}],
 "candidates": ["cudal2"], "stop": {"min_blocks": 8, "look_every": 8, "max_blocks": 16, "group_blocks": 2, "max_cell_seconds": 3}}
END
rm -f "$out"/activity.*
run_seconds=400
run --config "$work/c.json" --device cuda:0 --kernels "$root/kernels" --activity all --aa --output "$out/activity.json"
expect_code 0 "nobody is accused"
expect_text "$work/out" '^GPU activity: [0-9]+ launches watched in 8 cells, 0 refuted' "every cell is watched"
expect_no_text "$work/out" 'could not be watched' "and every contender"
expect_no_text "$work/out" 'was not watched' "to the end"
grep '^GPU activity' "$work/out" | sed 's/^/# /'
journal=$out/activity.journal.jsonl
# one line a contender and cell: what it runs, and how long that keeps the GPU busy
grep '"kind":"activity"' "$journal" | sed -e 's/.*"data":{"cell":"\([^"]*\)"/\1 /' -e 's/{"name":"/\n    /g' |
    sed -E 's/"(kernel|n|ns|busy_ns|graph_busy_ns|ratio)":/\1 /g; s/"(grid|block|stream)":(\[[0-9,]*\]|[0-9]+),?//g; s/[{}"]//g' |
    cut -c1-220 | sed 's/^/# /'
for name in cublas-nn cublaslt-heuristic-nn cudal2-nn; do
    grep '"kind":"activity"' "$journal" | grep -q "{\"name\":\"$name\",\"launch\":\[{\"kernel\":\""
    verdict $? "the kernels of $name have names"
done
grep '"kind":"activity"' "$journal" | grep -q '"recorder":{"cupti":[0-9]'
verdict $? "the journal says who watched"
! grep '"kind":"activity"' "$journal" | sed 's/{"name":/\n{"name":/g' | grep '"waits":true' | grep -vq 'torch'
verdict $? "no launch waits for its stream"
sed -nE 's/.*"activity":\{"recorder":\{[^}]*\},"cells":([0-9]+),"seconds":([0-9.]+).*/# \1 cells took \2 s, the start of the worker included/p' "$out/activity.json"

# A second sitting has nothing left to do.
run --config "$work/c.json" --device cuda:0 --kernels "$root/kernels" --activity all --aa --output "$out/activity.json" --resume --quiet
expect_code 0 "a finished run stays finished"

# Nobody to watch is no reason to fail.
CUDAL2_CUPTI=/nowhere/libcupti.so run --config "$work/c.json" --device cuda:0 --kernels "$root/kernels" --baselines cublas --accumulate f32 \
    --output "$work/none.json"
expect_code 0 "a run without CUPTI"
expect_text "$work/out" '^GPU activity was not watched: no CUPTI' "says so"

# A kernel alone.
run verify "$root/kernels/tiny.json" --device cuda:0 --kernels "$root/kernels" --baselines cublas --shape 200x136x264 --quiet
expect_code 0 "verify"
expect_text "$work/out" 'tiny-nn +passed .*; runs gemm, [0-9.]+ us' "names the kernel of a launch"

# Everything that checks while it is timed is off: what is caught here is caught by watching.
table=$work/activity.table
{
    grep '^# ' "$here/redteam/cuda.table" | grep -E '^# (shape|types):'
    cat <<'END'
side-stream-uncaptured    cuda  stream_escape|implausible_speed   works on a stream of its own, uncaptured
decoy-and-side-uncaptured cuda  stream_escape|wrong_result        an empty kernel, the work on a stream of its own
legacy-stream             cuda  stream_escape        works on the legacy stream
gpu-late-thread           cuda  late_work|stream_escape|wrong_result  a thread launches the work after launch has returned
END
    grep -E '^(gpu-memo-checked|module-memo) ' "$here/redteam/cuda.table"
    # What stops working works again in a fresh process, and takes its time.
    grep -E '^(kernel-stops-working|module-stops) ' "$here/redteam/cuda.table" | sed -E 's/ wrong_result +/ wrong_result|implausible_speed /'
    grep -E ' ok  ' "$here/redteam/cuda.table"
} >"$table"
REDTEAM_DEVICE=cuda REDTEAM_BASELINE=${REDTEAM_BASELINE:-cublas} REDTEAM_CONFIG='"verify": {"honesty": false, "activity": "all"}' \
    CUDAL2_BENCH=$bench CUDAL2_KERNELS=${CUDAL2_KERNELS:-$root/kernels} "$here/redteam/run.sh" "$table" "$out" | sed 's/^/  /' | tee "$work/red"
expect_text "$work/red" ', 0 of [0-9]+ honest contenders accused, 0 of [0-9]+ baselines accused' "nobody honest is accused by watching"
expect_no_text "$work/red" 'not ok - ' "and everybody else is caught by it"
finish
