#!/bin/bash
# scripts/adapters: what is told without the tool; and, where scripts/adapters/setup.sh has installed it, its
# compile step: what comes out fits its manifest. No tool is downloaded here (CUDAL2_ADAPTERS names where they
# are).
without_plugins=yes
# shellcheck source=tests/e2e/e2e.inc.sh
. "$(dirname "$0")/e2e.inc.sh"
top=$(cd "$(dirname "$0")/../.." && pwd)
installed=${CUDAL2_ADAPTERS:-${XDG_CACHE_HOME:-$HOME/.cache}/cudal2-bench/adapters}
cd "$work" || exit 1

adapter() { # adapter NAME ARGUMENT...
    timeout -k 5 300 "$top/scripts/adapters/$1" "${@:2}" >"$work/out" 2>"$work/err" </dev/null
    code=$?
}

# has NAME: whether the tool is installed; says how it would be.
has() {
    [ ! -x "$installed/$1/bin/python" ] || return 0
    echo "skipped: $1 is not installed: run scripts/adapters/setup.sh $1"
    return 1
}

# --- without any tool ---
# Kernels of the examples sum in fp32; without a word `run` asks for fp16 sums, which they have not.
runs=$(grep -h "cudal2-bench run --shape" "$top"/examples/*/README.md)
[ "$(wc -l <<<"$runs")" -ge 7 ] && ! grep -v -- " -a f32 " <<<"$runs" >"$work/err"
verdict $? "each example's README runs it with the sums that it has" "$(cat "$work/err")"
for page in "$top"/examples/*/README.md; do # what a newcomer types names files that there are
    while read -r path; do
        [ -e "$top/$path" ] || [ "$path" = examples/cubin/gemm.cubin ] || echo "$page: no $path"
    done < <(grep '^    ' "$page" | grep -oE '(scripts|examples)/[A-Za-z0-9_./-]+')
done >"$work/err"
[ ! -s "$work/err" ]
verdict $? "each example's README names scripts and sources that are there" "$(cat "$work/err")"
adapter setup.sh nothing
expect_code 64 "setup.sh of a tool that it does not know"
adapter cutlass.py "$top/examples/cutlass/gemm.cu" --out "$work"
expect_code 2 "cutlass.py into a directory"
expect_text "$work/err" "error: --out $work is a directory; wanted the plugin's file, $work/gemm.so$" "is told before anything compiles"
CUDAL2_ADAPTERS=$work/none adapter triton.py "$top/examples/triton/matmul.py:matmul"
if [ "$code" -ne 0 ]; then # this machine's own Python may have it
    expect_code 69 "triton.py without Triton"
    expect_text "$work/err" '^triton: triton is not installed: run scripts/adapters/setup.sh triton$' "says what to do"
fi

# --- Triton ---
if has triton; then
    adapter triton.py "$top/examples/triton/matmul.py:matmul" --variants 1
    expect_code 0 "the example compiles"
    run verify --compile-only triton-matmul/triton-matmul.json --format json
    expect_code 0 "and fits its manifests in both layouts"
    expect_text "$work/out" '"instructions": "hgmma.f32.f16"' "with what it multiplies read from the machine code"
    run verify --compile-only triton-matmul/triton-matmul-tn-0.json --arch sm_80
    expect_code 2 "but not on another architecture"
    adapter triton.py "$top/examples/triton/matmul.py:matmul" --variants 2 --name configurations
    expect_code 0 "two of its autotune configurations compile"
    python3 - configurations/configurations.json 2>"$work/err" <<'END'
import json, pathlib, sys
path = pathlib.Path(sys.argv[1])
told = {e["kernel"]: e["description"].split(": ")[1] for e in json.loads(path.read_text())["entries"]}
assert list(told) == [f"configurations-{layout}-{i}" for layout in ("nn", "tn") for i in range(2)], told
first, second = ("BLOCK_M=128, BLOCK_N=256, BLOCK_K=64, GROUP_M=8, num_warps=8, num_stages=3",
                 "BLOCK_M=128, BLOCK_N=128, BLOCK_K=64, GROUP_M=8, num_warps=4, num_stages=4")
assert all(text.startswith(second if name.endswith("1") else first) for name, text in told.items()), told
blocks = [json.loads((path.parent / f"{name}.json").read_text())["block"][0] for name in told]
assert blocks == [256, 128, 256, 128], blocks
assert len({(path.parent / f"{name}.cubin").read_bytes() for name in told}) == 4
END
    verdict $? "a kernel of its own for each, in each layout" "$(tail -1 "$work/err")"
    run verify --compile-only configurations/configurations.json
    expect_code 0 "and all fit their manifests"
    expect_text "$work/out" '^configurations: 4 of 4 variants$' "all four are looked at"
    adapter triton.py "$top/examples/triton/persistent.py:matmul" --variants 1 --layouts tn --accumulate f16
    expect_code 0 "fp16 sums"
    run verify --compile-only triton-matmul/triton-matmul.json --format json
    expect_text "$work/out" '"instructions": "hgmma.f16.f16"' "are what the kernel is told to make"
    adapter triton.py "$top/examples/triton/persistent.py:matmul" --dtype bf16 --accumulate f16
    expect_code 1 "of bf16 there are none"
    for kernel in strided scratch; do
        adapter triton.py "$top/tests/fixtures/adapters/pointers.py:$kernel"
        expect_code 0 "$kernel compiles"
        run verify --compile-only "triton-$kernel/triton-$kernel.json"
        expect_code 0 "$kernel fits its manifests"
    done
    expect_text triton-scratch/triton-scratch-nn-0.json '"workspace": "0"' "scratch is in the workspace"
    adapter triton.py "$top/examples/triton/matmul.py:none"
    expect_code 1 "a function that is not there"
    expect_text "$work/err" '^triton: .*matmul.py has no "none"; it has .*matmul' "is named, and which are there"
    adapter triton.py "$top/examples/triton/none.py:matmul"
    expect_text "$work/err" '^triton: .*/none.py: no such file' "a file that is not there is another fault"
    printf 'import no_such_module_here\n' >other.py
    adapter triton.py other.py:f
    expect_code 1 "a kernel that imports what the environment lacks"
    expect_text "$work/err" '^triton: other.py imports no_such_module_here, which is not in ' "is told without a traceback"
    printf '\ndef f(:\n' >other.py
    adapter triton.py other.py:f
    expect_code 1 "a kernel that is no Python"
    expect_text "$work/err" '^triton: other.py:2: invalid syntax$' "has its line"
    printf 'import triton\n\nno_such_name\n' >other.py
    adapter triton.py other.py:f
    expect_text "$work/err" "^triton: other.py:3: NameError: name 'no_such_name' is not defined$" "as has one whose own lines raise"
    [ "$(wc -l <"$work/err")" -eq 1 ]
    verdict $? "and no more than that" "$(tail -3 "$work/err")"
fi

# --- what nvcc alone compiles ---
if command -v nvcc >/dev/null || [ -x "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" ]; then
    PATH=$PATH:${CUDA_HOME:-/usr/local/cuda}/bin
    mkdir -p checkout/include/cutlass && : >checkout/include/cutlass/cutlass.h
    echo 'int nothing() { return 0; }' >none.cu
    adapter cutlass.py none.cu --cutlass checkout
    expect_code 1 "a CUTLASS source that makes no plugin"
    expect_text "$work/err" '^cutlass: none.cu is no plugin: end it with CUDAL2_PLUGIN ' "is told how to"
    [ ! -e none.so ]
    verdict $? "and leaves nothing behind"
    adapter cutlass.py nowhere.cu --cutlass checkout
    expect_text "$work/err" '^cutlass: nowhere.cu: no such file$' "one that is not there is another fault"
    mkdir cubin && cp "$top"/examples/cubin/gemm.{cu,json} cubin/
    nvcc -arch=sm_90a -cubin -o cubin/gemm.cubin cubin/gemm.cu >"$work/out" 2>"$work/err"
    run verify --compile-only cubin/gemm.json
    expect_code 0 "the example of a cubin fits its manifest"
    timeout -k 5 200 "$top/scripts/import/import.py" "$top/examples/torch-extension" --name mine --out built >"$work/out" 2>"$work/err" </dev/null
    expect_text "$work/out" '^1 of 1 built; .*built/mine.so with 1 kernels' "the example of a torch extension is built"
else
    echo "skipped: the examples of a cubin and a torch extension (no nvcc)"
fi

# --- the CuTe DSL, cuTile ---
for tool in cute cutile; do
    has $tool || continue
    adapter $tool.py "$top/examples/$tool/gemm.py:gemm"
    expect_code 0 "$tool: the example compiles"
    run verify --compile-only $tool-gemm/$tool-gemm.json
    expect_code 0 "$tool: and fits its manifests in both layouts"
    python3 - $tool-gemm/$tool-gemm-tn.json <<'END'
import json, sys
tree = json.load(open(sys.argv[1]))
tree["arguments"][1] = {"int8": 1}
json.dump(tree, open(sys.argv[1], "w"))
END
    run verify --compile-only $tool-gemm/$tool-gemm-tn.json
    expect_code 3 "$tool: and another manifest not"
    expect_text "$work/err" 'wrong_arguments: argument [0-9]+ is of [0-9]+ bytes in the kernel' "$tool: which names the argument"
    sed 's/^def gemm.*/&\n    no_such_name(a)/' "$top/examples/$tool/gemm.py" >broken.py
    adapter $tool.py broken.py:gemm --name broken
    expect_code 1 "$tool: a kernel that does not compile"
    for layout in nn tn; do
        expect_text "$work/err" "^broken-$layout: left out: [A-Za-z]+: .*no_such_name" "$tool: has its cause in a line, in layout $layout"
    done
    expect_text "$work/err" "^$tool: no kernel compiled$" "$tool: so there is no set"
    [ "$(wc -l <"$work/err")" -eq 3 ] && [ ! -e broken/broken.json ]
    verdict $? "$tool: without a traceback" "$(tail -3 "$work/err")"
done

if has cute; then
    cat >configured.py <<END
import importlib.util
import cutlass, cutlass.cute as cute
spec = importlib.util.spec_from_file_location("plain", "$top/examples/cute/gemm.py")
plain = importlib.util.module_from_spec(spec)
spec.loader.exec_module(plain)
product = plain.product
@cute.jit
def gemm(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor, tn: cutlass.Constexpr, high: cutlass.Constexpr):
    product(a, b, c, tn).launch(grid=[1, 1, 1], block=[16, high, 1])
cudal2 = {"configs": [{"high": 8}, {"high": 16}, {"high": None}],
          "launch": lambda layout, high: {"grid": ["ceildiv(N, 16)", "ceildiv(M, 16)", 1], "block": [16, high, 1]}}
END
    adapter cute.py "$PWD/configured.py:gemm" --name configured
    expect_code 0 "cute: a kernel for each configuration"
    expect_text "$work/err" '^configured-tn-2: left out: ' "cute: without those that do not compile"
    run verify --compile-only configured/configured.json
    expect_code 0 "cute: which fit their manifests"
    expect_text "$work/out" '^configured: 4 of 4 variants' "cute: in both layouts"
    CUTLASS=$work/none adapter cute.py "$top/examples/cute/dense.py:gemm"
    expect_text "$work/err" 'CUTLASS names no checkout' "cute: NVIDIA's dense GEMM wants a checkout"
fi

# --- TileLang: what it writes goes through nvcc ---
if has tilelang; then
    adapter tilelang.py "$top/tests/fixtures/adapters/tiles.py:under_jit"
    expect_code 0 "tilelang: a kernel under @tilelang.jit compiles"
    run verify --compile-only tilelang-under_jit/tilelang-under_jit.json --format json
    expect_code 0 "tilelang: and fits its manifests in both layouts"
    expect_text "$work/out" '"instructions": "hgmma.f32.f16"' "tilelang: with what it multiplies read from the machine code"
    expect_text tilelang-under_jit/tilelang-under_jit-tn-0.json '"tensor_map": "a"' "tilelang: its tensor maps are the manifest's"
    sed -i 's/"int32": "M"/"int64": "M"/' tilelang-under_jit/tilelang-under_jit-tn-0.json
    run verify --compile-only tilelang-under_jit/tilelang-under_jit-tn-0.json
    expect_code 3 "tilelang: and another manifest not"
    expect_text "$work/err" 'wrong_arguments: ' "tilelang: which is said"
    adapter tilelang.py "$top/examples/tilelang/gemm.py:gemm" --layouts tn --accumulate f16
    expect_code 0 "tilelang: fp16 sums"
    run verify --compile-only tilelang-gemm/tilelang-gemm.json --format json
    expect_text "$work/out" '"instructions": "hgmma.f16.f16"' "tilelang: are what the kernel is told to make"
    adapter tilelang.py "$top/tests/fixtures/adapters/tiles.py:with_bias" --layouts nn
    expect_code 1 "tilelang: what is no product of two matrices"
    expect_text "$work/err" '^tilelang-with_bias-nn-0: left out: it takes 4 tensors: ' "tilelang: is left out, with the reason"
fi

# --- the heuristics: what is proposed, not built ---
if has heuristics; then
    adapter cutlass_heuristic.py --shape 4096x4096x4096 --shape 64x128x512 --count 2 --plan
    expect_code 0 "cutlass-heuristic: proposals"
    expect_text "$work/out" '^2 shapes, [2-8] kernel types: about [0-9]+ min to compile, less for what cutlass-heuristic has already$' "cutlass-heuristic: say what there is to build"
    adapter cutlass_heuristic.py --config "$top/configs/referee.json" --types 48 --plan
    expect_text "$work/out" '^300 shapes, 48 kernel types: ' "cutlass-heuristic: a bound on the types is kept"
    expect_text "$work/out" '^600 of 600 shapes and layouts have 8 proposals of these types$' "cutlass-heuristic: and every shape has its eight"
    adapter cutlass_heuristic.py --config "$top/configs/referee.json" --types 2 --plan
    expect_text "$work/out" '^0 of 600 shapes and layouts have 8 proposals of these types, the others [01] or more$' "cutlass-heuristic: or is said to have fewer"
    adapter cutlass_heuristic.py --shape 64x64x128 --count 16 --plan
    expect_text "$work/out" '^1 shapes, 32 kernel types: ' "cutlass-heuristic: sixteen for a shape of which the heuristics propose two"
    adapter cutlass_heuristic.py --plan
    expect_code 1 "cutlass-heuristic: no shape"
    expect_text "$work/err" '^heuristics: no shape: --shape MxNxK or --config FILE$' "cutlass-heuristic: asks for one"
fi

# --- CUTLASS: minutes, so only where it is asked for ---
if [ -n "${CUDAL2_SLOW:-}" ] && has cutlass; then
    timeout 3000 "$top/scripts/adapters/cutlass.py" "$top/examples/cutlass/gemm.cu" >"$work/out" 2>"$work/err"
    code=$?
    expect_code 0 "cutlass: the example builds"
    [ "$(nm -D --defined-only gemm.so | grep -c ' [TDBR] ')" -eq 2 ]
    verdict $? "cutlass: and exports the two names alone" "$(nm -D --defined-only gemm.so | head -5)"
    if has heuristics; then
        timeout 3000 "$top/scripts/adapters/cutlass_heuristic.py" --shape 4096x4096x4096 --layouts tn --count 1 >"$work/out" 2>"$work/err"
        code=$?
        expect_code 0 "cutlass-heuristic: a proposal builds"
        expect_text "$work/out" '^cutlass-heuristic/cutlass-heuristic.so: 1 of 1 types; ' "cutlass-heuristic: into a plugin"
    fi
fi
finish
