#!/bin/bash
# `compile`: kernels compiled ahead without a GPU into a directory that is looked into before the cache; what
# is there is not compiled again, what is cut off or of another source is not taken, and doctor says how many
# can be used.
# Times nothing.
without_plugins=yes
. "$(dirname "$0")/e2e.inc.sh"
top=$(cd "$(dirname "$0")/../.." && pwd)
mkdir "$work/kernels" && cp -R "$top"/kernels/*.cu "$top"/kernels/*.cuh "$top"/kernels/*.json "$top/kernels/harness" "$work/kernels/"
unset CUDAL2_CUBINS
compiles() { # compiles MORE...: with a cache of its own each time, so that it is the directory that serves
    export CUDAL2_CACHE=$work/cache$((++caches))
    run compile --shape 64x64x64 --candidate "$work/kernels/tiny.json" --accumulate f32 --kernels "$work/kernels" "$@"
}
caches=0

compiles
if [ "$code" -eq 69 ] && grep -q 'no NVRTC' "$work/err"; then
    echo "skipped: $(tail -1 "$work/err")"
    exit 0
fi
expect_code 0 "compiles without a GPU"
sum='^([0-9]+) kernels, [0-9.]+ MB: \1 compiled, 0 from the cache, 0 were there, 0 refused; in '"$work/cubins"'$'
expect_text "$work/out" "$sum" "says what it came to, beside the kernels"
n=$(sed -nE 's/^([0-9]+) kernels.*/\1/p' "$work/out")
[ "$(find "$work/cubins/cubin" -type f | wc -l)" -eq "$n" ]
verdict $? "each is there" "$(find "$work/cubins" -type f | wc -l) files of $n kernels"
[ "$(grep -l '^tiny.cu$' "$work"/cubins/cubin-of/* | wc -l)" -eq 2 ]
verdict $? "the config's kernel in both layouts among them"
compiles
expect_code 0 "again"
expect_text "$work/out" "^$n kernels, .* 0 compiled, 0 from the cache, $n were there, 0 refused" "compiles nothing"

run doctor --kernels "$work/kernels"
expect_text "$work/out" "^ok +cubins +$work/kernels/../cubins: $n of $n can be used here, " "doctor says that all can be used"
tiny=$(basename "$(grep -l '^tiny.cu$' "$work"/cubins/cubin-of/* | head -1)")
truncate -s 1000 "$work/cubins/cubin/$tiny"
run doctor --kernels "$work/kernels"
expect_text "$work/out" "^missing +cubins +$work/kernels/../cubins: $((n - 1)) of $n can be used here, .*; 1 damaged$" "and that one is damaged"
compiles
expect_code 0 "with one that is cut off"
expect_text "$work/out" "^$n kernels, .* 1 compiled, 0 from the cache, $((n - 1)) were there, 0 refused" "it alone is compiled anew"
[ "$(grep -c '^damaged: tiny:BM=[^ ]* (.., f32): ' "$work/err")" -eq 1 ]
verdict $? "and one line says so" "$(cat "$work/err")"

echo '// another header' >>"$work/kernels/common.cuh"
run doctor --kernels "$work/kernels"
expect_text "$work/out" "^missing +cubins +$work/kernels/../cubins: $((n - 2)) of $n can be used here, .*; 2 of other sources$" "with another header two are stale"
compiles
expect_text "$work/out" "^$n kernels, .* 2 compiled, 0 from the cache, $((n - 2)) were there, 0 refused" "and are compiled anew"

echo '#error no such kernel' >>"$work/kernels/tiny.cu"
compiles
expect_code 3 "a kernel that does not compile"
[ "$(grep -c '^refused: tiny:BM=[^ ]* (.., f32): compile_error: tiny.cu([0-9]*): .*no such kernel' "$work/err")" -eq 2 ]
verdict $? "is one line each" "$(cat "$work/err")"
expect_text "$work/err" "^cudal2-bench: compile: 2 of $n kernels were refused$" "and an end"


mkdir "$work/ahead" && cp -R "$top/kernels" "$work/ahead/kernels" && rm "$work"/ahead/kernels/spaces/*
for member in "nn 16" "tn 16" "nn 32"; do
    echo "${member% *} tiny:BM=16,BN=${member#* },WARPS=2,CLUSTER_K=1,DEPTH=1,ALIGNED=1"
done >"$work/ahead/kernels/spaces/small.portfolio"
echo '{"schema": "cudal2-bench/kernel-set", "schema_version": 1, "name": "small", "entries": [{"kernel": "tiny"}]}' >"$work/ahead/kernels/sets/small.json"
chosen() { # chosen CHOICE: how many kernels are compiled ahead
    CUDAL2_CACHE=$work/cache-chosen run compile --shape 64x64x64 --candidate small --accumulate f32 --kernels "$work/ahead/kernels" --choice "$1" --output "$work/chosen-$1"
    expect_code 0 "--choice $1"
    chose=$(find "$work/chosen-$1/cubin" -type f | wc -l)
}
chosen race && without=$chose
chosen portfolio
[ "$chose" -eq $((without + 3)) ]
verdict $? "--choice portfolio compiles the set's portfolio too" "$without and $chose kernels"

compiles --output "$work/cache$((caches + 1))/within"
expect_code 64 "not into the cache, where workers write"
compiles --arch sm_1
expect_code 64 "no such architecture"
run compile
expect_code 64 "nothing to compile"
make_built -o all install DESTDIR="$work/root" PREFIX=/opt/bench CUBINS="$work/cubins" >"$work/out" 2>"$work/err"
[ "$(find "$work/root/opt/bench/lib/cudal2-bench/cubins/cubin" -type f | wc -l)" -ge "$n" ]
verdict $? "make install takes them along" "$(tail -3 "$work/err")"
finish
