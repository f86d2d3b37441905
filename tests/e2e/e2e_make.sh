#!/bin/bash
# What make makes again: whoever includes a header, by whatever name the build directory is called. Nothing is
# built (-n). And what it made is the same elsewhere.
# Times nothing.
. "$(dirname "$0")/e2e.inc.sh"
build=$(cd "${CUDAL2_BUILD:-build}" && pwd)
near=$(realpath --relative-to="$PWD" "$build")
for name in "$build" "$build/." "$near" "./$near/"; do
    make_built -n -W harness/stats/interval.h BUILD="$name" V=1 all >"$work/out" 2>"$work/err"
    code=$?
    expect_code 0 "make with BUILD=${name/#$PWD/PWD}"
    expect_text "$work/out" 'harness/stats/interval\.c' "makes again what includes a header"
    expect_no_text "$work/out" 'harness/base/random\.c' "and nothing else"
done
make -n demo TORCH=0 BUILD="$work/demo" >"$work/out" 2>"$work/err"
expect_text "$work/out" "TORCH='0' .*scripts/install-deps.sh --demo\$" "make demo installs what it needs, and TORCH=0 goes without torch"
expect_text "$work/out" '--mode server --config configs/demo.json --explain' "and ends with what to type next"
make probe TORCH=0 BUILD="$work/probed" >"$work/out" 2>"$work/err"
expect_text "$work/out" 'libtorch +left out \(TORCH=0\)' "the build goes without it too"
expect_no_text "$work/probed/probe.mk" TORCH "and makes no plugin of it"
[ "$(grep -acF "$PWD" "$bench")" -eq 0 ]
verdict $? "the program does not say in which directory it was built"

# The gate's kernels, slowed on purpose: each has the delay once, by itself or in the kernel that it includes.
kernels=$(cd "$(dirname "$0")/../../kernels" && pwd)
run_code=0
"$kernels/../scripts/slow-kernels.sh" "$kernels" "$work/slow" 5 >"$work/out" 2>&1 || run_code=1
for file in "$work"/slow/*.cu; do
    body=$(sed -n 's/^#include "\(.*\.cu\)".*/\1/p' "$file")
    [ "$(cd "$work/slow" && cat "$file" ${body:+"$body"} | grep -c 'SlowOnPurpose slow_on_purpose;')" -eq 1 ] || run_code=1
done
verdict $run_code "every kernel is slowed, those that include another one too"
finish
