#!/bin/bash
# `verify --compile-only`: kernels compiled and held against their manifests without a GPU; verdicts, exit
# codes, JSON. The faults themselves are tests/unit/contender/test_inspect.c.
# Times nothing.
without_plugins=yes
. "$(dirname "$0")/e2e.inc.sh"
top=$(cd "$(dirname "$0")/../.." && pwd)

run verify --compile-only "$top/kernels/skeleton.json" --arch sm_90a --format json
if [ "$code" -eq 69 ] && grep -q 'no NVRTC' "$work/err"; then
    echo "skipped: $(tail -1 "$work/err")"
    exit 0
fi
expect_code 0 "a good kernel passes"
python3 - "$work/out" <<'END'
import json, sys
found = json.load(open(sys.argv[1]))
assert found["schema"] == "cudal2-bench/compile" and found["arch"] == "sm_90a" and found["passed"] is True, found
kernel = found["kernels"][0]
assert kernel["legal"] == len(kernel["variants"]) == 12 and kernel["all_seen"] is True
for v in kernel["variants"]:
    assert v["verdict"] == "ok" and v["registers"] > 0 and v["code_bytes"] > 0 and 0 < v["occupancy"] <= 1 and v["spill_bytes"] == 0, v
assert kernel["variants"][0]["variant"] == "skeleton-module:TILE=16" and kernel["variants"][0]["threads"] == 256
END
verdict $? "the variants as JSON"
run verify --compile-only "$top/kernels/skeleton.json" --variants 3 --accumulate f32
expect_code 0 "some of the variants"
expect_text "$work/out" '^skeleton-module: 3 of 12 variants \(--variants N for more\)$' "and how many there are"
expect_text "$work/out" '^f16  f32  nn +[0-9]+ +0 +0 +[0-9]+ +[0-9]+ +0 +256 +1  skeleton-module:TILE=16$' "what each is made of"

echo '{"schema":"cudal2-bench/config","schema_version":1,"name":"one","dtype":"f16","layouts":["tn"],"shapes":[{"m":64,"n":64,"k":64}]}' >"$work/one.json"
run verify --compile-only "$top/kernels/skeleton.json" --accumulate f32 --config "$work/one.json"
expect_code 0 "type and layouts of a config"
expect_text "$work/out" '^skeleton-module: 3 of 3 variants$' "alone are compiled"
expect_text "$work/out" '^f16  f32  tn +[0-9]+ .*TILE=16$' "in that layout"

# --- faults ---
sed 's/"k"\]/"k", "workspace"]/' "$top/kernels/skeleton.json" >"$work/skeleton.json"
cp "$top/kernels/skeleton.cu" "$work/"
run verify --compile-only "$work/skeleton.json" --kernels "$top/kernels"
expect_code 3 "another argument than the kernel has"
expect_text "$work/err" '^cudal2-bench: verify: 12 of 12 variants failed; the first: skeleton-module:TILE=16 f16 f32 nn: wrong_arguments: the kernel takes 6 arguments, the manifest gives 7$' "is one line with the variant's name"
sed -i 's/, "workspace"//' "$work/skeleton.json"
sed -i '1i #error no' "$work/skeleton.cu"
run verify --compile-only "$work/skeleton.json" --kernels "$top/kernels"
expect_code 3 "a kernel that does not compile"
expect_text "$work/err" 'compile_error: skeleton.cu\(1\): ' "names file and line"
run verify --compile-only "$top/kernels/persistent.json" --arch sm_80
expect_code 2 "a kernel that is not for this architecture"
run verify --compile-only "$top/kernels/persistent.json" --arch sm_12
expect_code 64 "an architecture that is not known"
expect_text "$work/err" 'expected sm_80, ' "lists those that are"

# --- command line ---
run verify --compile-only "$top/kernels/skeleton.json" --memcheck
expect_code 64 "what runs a kernel does not go with it"
run verify --arch sm_80 "$top/kernels/skeleton.json"
expect_code 64 "--arch alone"
run verify --compile-only "$work/none.so"
expect_code 64 "a plugin"
run verify --compile-only "$top/kernels/skeleton.json" --variants 0
expect_code 64 "no variant at all"

# --- without NVRTC: a library of its name that is none ---
mkdir -p "$work/cuda/lib64"
if echo 'int none;' | gcc -shared -fPIC -x c - -o "$work/cuda/lib64/libnvrtc.so.13" 2>"$work/gcc"; then
    CUDA_HOME=$work/cuda run verify --compile-only "$top/kernels/skeleton.json"
    expect_code 69 "without NVRTC"
    expect_text "$work/err" 'NVRTC has no nvrtc' "and why"
fi
finish
