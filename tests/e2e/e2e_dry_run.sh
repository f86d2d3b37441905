#!/bin/bash
# `tune --dry-run`: what a search would race, told without a GPU and without leaving anything behind.
# Times nothing.
without_plugins=yes
. "$(dirname "$0")/e2e.inc.sh"
cd "$work" || exit 1

CUDA_VISIBLE_DEVICES='' run tune --dry-run --shape 4096x4096x4096 --shape 64x64x64 --candidate cudal2 --accumulate f16 --breadth 7
expect_code 0 "without a GPU"
expect_text "$work/out" '^nothing was run; a search on one NVIDIA H200 \(sm_90\) would race 2 shapes, offline, and write ' "says of which"
expect_text "$work/out" '^4096x4096x4096 cudal2-tn: 7 of [0-9]+ configurations, first$' "how many configurations of a shape and layout"
[ "$(grep -c '^    [a-z]*:' "$work/out")" -eq 12 ]
verdict $? "and the first three of each ranking"
expect_text "$work/out" '^about [0-9]+ s of compiling on [0-9]+ cores .* then about 2 s of racing on an H200$' "and about how long"
[ "$(find "$work" -name '*tune*')" = "" ]
verdict $? "and leaves nothing behind"
run tune --dry-run --shape 64x64x64 --candidate cudal2 --accumulate f32 --arch sm_80
expect_code 0 "an older architecture"
expect_text "$work/out" '^64x64x64 cudal2-nn: 32 of [0-9]+ configurations, first$' "has what needs no cluster"
run tune --dry-run --shape 64x64x64 --candidate cudal2 --accumulate f32 --device cpu
expect_code 64 "the CPU has no model"
run tune --arch sm_80 --shape 64x64x64 --candidate cudal2 --accumulate f32
expect_code 64 "--arch alone"
run tune --dry-run --shape 64x64x64 --candidate cudal2 --accumulate f32 --breadth 513
expect_code 64 "more than a race takes"
expect_text "$work/err" 'a race takes 512 configurations at most, not 513$' "with the limit"
run tune --dry-run --shape 2048x2048x4096 --candidate cudal2 --accumulate f32 --breadth 512
[ "$(sed -nE 's/^2048x2048x4096 cudal2-tn: ([0-9]+) of .*/\1/p' "$work/out")" -gt 200 ]
verdict $? "hundreds race where so many are asked for"
run tune --dry-run --shape 64x64x64 --candidate cudla2 --accumulate f32
expect_code 64 "a candidate that is not there"
finish
