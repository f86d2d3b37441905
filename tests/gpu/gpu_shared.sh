#!/bin/bash
# What tasks of a cluster do on one GPU: of two shards the second says for whom it waits, and both come to one
# result; one that may not wait ends with 75 and the other's name. And pictures for people: the roofline, and
# NVTX ranges as a profiler gets them.
without_plugins=yes
# shellcheck source=tests/e2e/e2e.inc.sh
. "$(dirname "$0")/../e2e/e2e.inc.sh"
"$bench" doctor 2>/dev/null | grep -q 'cuda:0' || { echo "no GPU"; exit 77; }
unset CUDAL2_SHARD CUDAL2_SHARDS SLURM_ARRAY_TASK_ID JOB_COMPLETION_INDEX SLURM_PROCID OMPI_COMM_WORLD_RANK
run_seconds=500
cat >"$work/c.json" <<'END'
{"schema": "cudal2-bench/config", "schema_version": 1, "name": "shared", "dtype": "f16", "accumulate": ["f32"], "modes": ["offline"],
 "grid": {"m": [256, 512], "n": [256, 512], "k": [512, 1024]}, "baselines": ["cublas"], "candidates": ["cudal2"]}
END
task() { # task I: of two, in the background
    CUDAL2_SHARD=$1/2 "$bench" run --config "$work/c.json" --device cuda:0 --output "$work/r.json" >"$work/out.$1" 2>"$work/err.$1" </dev/null &
    pids[$1]=$!
}

pids=()
task 0
for _ in $(seq 600); do
    grep -qs '"kind":"env"' "$work/r.shard-0-of-2.journal.jsonl" && break
    sleep 0.1
done
task 1
for _ in $(seq 100); do
    grep -q 'waiting for it' "$work/err.1" && break
    sleep 0.1
done
expect_text "$work/err.1" "process ${pids[0]} on .+ measures on GPU-.*: waiting for it, 120 s at most" "the second task says for whom it waits"
run run --config "$work/c.json" --device cuda:0 --output "$work/alone.json" --shard none
[ "$code" -eq 0 ] || [ "$code" -eq 75 ]
verdict $? "a third one measures when it is its turn, or ends with 75" "$code; $(tail -1 "$work/err")"
wait "${pids[0]}" && wait "${pids[1]}"
verdict $? "both shards come to their end" "$(tail -1 "$work/err.0"); $(tail -1 "$work/err.1")"
run merge "$work/r.json"
expect_code 0 "and are one result"
[ "$(journal_cells "$work/r.journal.jsonl" | sort | uniq -c | awk '$1 == 1' | wc -l)" -eq 8 ]
verdict $? "with each cell once"
expect_no_text "$work/err" '^note:' "and clocks that agree"

run verify cudal2 --device cuda:0 --shape 1024x1024x1024 --shape 64x4096x4096 --accumulate f32 --roofline "$work/roof.svg" --quiet
expect_code 0 "a roofline on this GPU"
expect_text "$work/roof.svg" '<title>cudal2-nn, 1024' "has our kernel"
expect_text "$work/roof.svg" '>memory [0-9.]+ TB/s<' "under the memory's peak"
cp "$work/roof.svg" "${OUT:-/tmp}/roofline.svg" 2>/dev/null

if command -v ncu >/dev/null; then # a kernel under it is listed with the ranges around it
    CUDAL2_ISOLATION=off timeout 100 ncu --nvtx --clock-control none --metrics gpu__time_duration.sum --launch-count 12 "$bench" verify cudal2 \
        --device cuda:0 --shape 256x256x256 --accumulate f32 --in-process --baselines none >"$work/out" 2>"$work/err" </dev/null
    code=$?
    expect_code 0 "Nsight Compute follows"
    cat "$work/err" >>"$work/out"
    expect_no_text "$work/out" 'no NVTX ranges' "its library takes the ranges"
    expect_text "$work/out" 'offline/f16-f32-256x256x256' "and has one for the cell"
else
    echo "# no ncu here"
fi
if command -v nsys >/dev/null; then
    (cd "$work" && CUDAL2_ISOLATION=off timeout 200 nsys profile --trace=cuda,nvtx -o trace "$bench" verify cudal2 --device cuda:0 \
        --shape 256x256x256 --in-process --baselines none) >"$work/out" 2>"$work/err" </dev/null
    code=$?
    expect_code 0 "Nsight Systems follows"
    (cd "$work" && nsys stats --report nvtx_sum trace.nsys-rep) >"$work/out" 2>&1 </dev/null
    expect_text "$work/out" 'offline/f16-f32-256x256x256' "and has a range for the cell"
    expect_text "$work/out" 'cudal2-nn: setup' "and for a turn in it"
else
    echo "# no nsys here: NVTX ranges were not looked at with it"
fi
finish
