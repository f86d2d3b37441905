#!/bin/bash
# Tensor maps of each rank that a manifest can describe reach the GPU as described: the same 32 rows of 64
# elements of A through a map of rank 1 to 5 (tests/gpu/maps/maps.cu), and a right C.
without_plugins=yes
. "$(dirname "$0")/../e2e/e2e.inc.sh"
"$bench" doctor 2>/dev/null | grep -q 'cuda:0' || { echo "no GPU"; exit 77; }
cp "$(dirname "$0")/maps/maps.cu" "$work/maps.cu"

manifest() { # manifest RANK MAP: MAP, what the tensor map says besides its matrix
    cat >"$work/rank$1.json" <<END
{"schema": "cudal2-bench/kernel", "schema_version": 1, "name": "rank$1",
 "source": "maps.cu", "entry": "gemm_$1", "dtypes": ["f16"], "accumulate": ["f32"], "layouts": ["nn"],
 "problem_constraints": [{"rule": "M % 32 == 0", "why": "whole boxes"}, {"rule": "K % 64 == 0", "why": "whole steps of K"}],
 "grid": ["ceildiv(N,128)", "M/32", 1], "block": [128, 1, 1],
 "arguments": [{"tensor_map": "a", $2}, "b", "c", "n", "k"]}
END
}
manifest 1 '"dims": ["M*K"], "box": [64]'
manifest 2 '"box": [64, 32]'
manifest 3 '"dims": [64, "M", "K/64"], "strides": ["LDA", 64], "box": [64, 32, 1]'
manifest 4 '"dims": [64, 8, "M/8", "K/64"], "strides": ["LDA", "8*LDA", 64], "box": [64, 8, 4, 1]'
manifest 5 '"dims": [8, 8, 8, "M/8", "K/64"], "strides": [8, "LDA", "8*LDA", 64], "box": [8, 8, 8, 4, 1]'
run_seconds=120
for rank in 1 2 3 4 5; do
    run verify "$work/rank$rank.json" --shape 256x384x320 --accumulate f32 --device cuda:0 --quiet
    expect_code 0 "a map of rank $rank"
    sed 's/^/# /' "$work/out"
done
manifest 3 '"dims": [64, "M", "K/64"], "strides": ["LDA", 32], "box": [64, 32, 1]'
run verify "$work/rank3.json" --shape 256x384x320 --accumulate f32 --device cuda:0 --quiet
expect_code 3 "one with another stride gives a wrong product"
finish
