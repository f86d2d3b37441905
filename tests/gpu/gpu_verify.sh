#!/bin/bash
# `verify` on a GPU: the project's kernels pass in every configuration, a kernel that is billed f32 and
# accumulates in half precision is told on long problems and on short ones, and compute-sanitizer finds
# nothing in ours (where it is installed; SANITIZE_SECONDS, 120, for each tool).
without_plugins=yes
. "$(dirname "$0")/../e2e/e2e.inc.sh"
"$bench" doctor 2>/dev/null | grep -q 'cuda:0' || { echo "no GPU"; exit 77; }
root=$(cd "$(dirname "$0")/../.." && pwd)
kernels=${CUDAL2_KERNELS:-$root/kernels}
for file in multistage.cu multistage.json tiny.json; do
    [ -e "$kernels/$file" ] || { echo "no $kernels/$file: set CUDAL2_KERNELS"; exit 77; }
done
run_seconds=500
run_long() { # as run, for compilers and sanitizers; says how long it took
    local start=$SECONDS
    run "$@"
    echo "# $((SECONDS - start)) s"
}

run_long verify cudal2 --device cuda:0 --kernels "$kernels" --shape 64x64x64 --shape 256x512x4096 --shape 1024x1024x1024 --quiet
expect_code 0 "every configuration of the set passes"
sed 's/^/# /' "$work/out"

run_long verify cudal2 --device cuda:0 --kernels "$kernels" --shape 1x1x1 --shape 65x3x9 --shape 333x555x1111 --shape 1501x2003x999 --quiet
expect_code 0 "sizes that no tensor map takes too"
sed 's/^/# /' "$work/out"

# the set that promises the same bits for every M
run_long verify cudal2-invariant --invariance --device cuda:0 --kernels "$kernels" --shape 96x512x4096 --shape 512x1024x2048 --shape 1024x3072x1024 \
    --shape 333x555x1111 --quiet
expect_code 0 "the set with one order of sums passes"
sed 's/^/# /' "$work/out"
expect_text "$work/out" ' cudal2-invariant-nn .*; batch-invariant; deterministic' "and has the same bits for every M, and every time"
grep ' cudal2-invariant-' "$work/out" >"$work/own"
expect_no_text "$work/own" 'NOT batch-invariant|NOT deterministic|unknown' "in every problem and layout"

# multistage with half accumulators whatever it is billed as
mkdir "$work/liar"
{ printf '#undef ACC_F32\n#define ACC_F32 0\n' && cat "$kernels/multistage.cu"; } >"$work/liar/liar.cu"
sed -e 's/"multistage"/"liar"/' -e 's/"multistage.cu"/"liar.cu"/' "$kernels/multistage.json" >"$work/liar/liar.json"
run_long verify "$work/liar/liar.json" --baselines cublas --device cuda:0 --kernels "$kernels" --accumulate f32 --shape 256x256x4096 --quiet
expect_code 3 "half accumulation billed as float fails"
expect_text "$work/out" 'liar-nn +precision_class +verify: .*billed f32' "by its error profile"
run_long verify "$work/liar/liar.json" --baselines cublas --device cuda:0 --kernels "$kernels" --accumulate f32 --shape 256x256x64 --quiet
expect_code 3 "on a short problem too"
expect_text "$work/out" 'liar-tn +precision_class ' "by a longer one"
run_long verify "$work/liar/liar.json" --baselines cublas --device cuda:0 --kernels "$kernels" --accumulate f16 --shape 256x256x4096 --quiet
expect_code 0 "billed as what it is it passes"
expect_text "$work/out" 'accumulates in f16' "and is called that"

# One tool after the other, so that the log says what each takes.
for tool in memcheck racecheck; do
    run_long verify "$kernels/tiny.json" --device cuda:0 --kernels "$kernels" --baselines cublas --accumulate f32 --shape 72x40x136 \
        --$tool --timeout "${SANITIZE_SECONDS:-120}" --quiet
    sed 's/^/# /' "$work/out"
    if grep -q "^$tool: missing" "$work/out"; then
        echo "# no compute-sanitizer here"
        continue
    fi
    expect_code 0 "compute-sanitizer finds nothing in tiny"
    expect_text "$work/out" "^$tool: clean" "$tool"
done
finish
