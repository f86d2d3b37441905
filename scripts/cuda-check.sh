#!/bin/bash
# cuda-check.sh: compiles all CUDA code with nvcc, which needs no GPU: the harness's own kernels, and every
# candidate in both layouts and both accumulate types with its default parameters. (The tests compile the same
# sources through NVRTC, as a run does.) CUDA_CHECK=pairs: of the harness's own six combinations a source, in
# which every two settings occur together. Without nvcc it says so and succeeds.
set -u
cd "$(dirname "$0")/.." || exit 1
nvcc=${NVCC:-}
for candidate in "${CUDA_HOME:+$CUDA_HOME/bin/nvcc}" "$(command -v nvcc)" /usr/local/cuda/bin/nvcc; do
    [ -z "$nvcc" ] && [ -x "$candidate" ] && nvcc=$candidate
done
if [ -z "$nvcc" ]; then
    echo "cuda-check: no nvcc here: CUDA code was not compiled"
    exit 0
fi
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT

compile() { # compile SOURCE FLAGS...
    local source=$1
    shift
    echo "$nvcc -std=c++17 -gencode arch=compute_90a,code=sm_90a -cubin -Werror all-warnings -diag-suppress 177,550 -I kernels -include kernels/harness/prelude.cuh $* $source -o $out/$RANDOM$RANDOM.cubin || { echo 'cuda-check: FAILED: $source $*'; false; }"
}

# "NAME": {..., "default": 8} of a manifest as -DNAME=8
defaults() {
    tr -d '\n' <"$1" | grep -oE '"[A-Z][A-Z0-9_]*": *\{[^{}]*"default": *-?[0-9]+' |
        sed -E 's/^"([A-Z0-9_]+)".*"default": *(-?[0-9]+)$/-D\1=\2/' | tr '\n' ' '
}

# DTYPE,LAYOUT_TN,WIDE
combinations=$(echo {0,1,2},{0,1},{0,1})
[ "${CUDA_CHECK:-}" != pairs ] || combinations='0,0,0 0,1,1 1,0,1 1,1,0 2,0,0 2,1,1'

{
    for source in kernels/harness/*.cu; do
        for settings in $combinations; do
            IFS=, read -r dtype layout wide <<<"$settings"
            compile "$source" -DDTYPE="$dtype" -DLAYOUT_TN="$layout" -DWIDE="$wide"
        done
    done
    for manifest in kernels/*.json; do
        source=${manifest%.json}.cu
        [ -f "$source" ] || continue
        for layout in 0 1; do
            for accumulate in 0 1; do
                # shellcheck disable=SC2046
                compile "$source" $(defaults "$manifest") -DDTYPE=0 -DLAYOUT_TN=$layout -DACC_F32=$accumulate
            done
        done
    done
    for does in $(seq 0 22); do # the red team's modules; its plugins are built with the tests
        compile tests/redteam/module.cu -DDOES="$does" -DDTYPE=0 -DLAYOUT_TN=0 -DACC_F32=1
    done
    compile tests/studies/fp8_quantise.cu
    for promote in 0 1; do
        compile tests/studies/fp8_gemm.cu -DBM=128 -DBN=128 -DSTAGES=6 -DPINGPONG=0 -DPROMOTE=$promote
    done
} >"$out/commands"
echo "cuda-check: $(wc -l <"$out/commands") compilations with $nvcc"
tr '\n' '\0' <"$out/commands" | xargs -0 -P "$(nproc)" -I{} sh -c '{}' || exit 1
echo "cuda-check: all CUDA code compiles"
