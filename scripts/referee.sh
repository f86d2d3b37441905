#!/usr/bin/env bash
# referee.sh [-p CHECKOUT] [-c CONFIG] [-n TYPES] [-j JOBS] DIR TYPE...: builds what the referee table races
# beside the project's own contenders, without a GPU, into DIR/TYPE/FAMILY (f16 and bf16 sum in fp32, f16-f16
# in fp16: Triton and TileLang alone): a Triton persistent matmul, a TileLang GEMM, CUTLASS by NVIDIA's
# heuristics (at most TYPES kernel types, 64), and of a checkout of the CUDA-L2 repository (-p; f16 alone) the
# kernels of the config's shapes. CUTLASS, where it names a checkout of NVIDIA/cutlass, adds the CuTe DSL's
# dense GEMM for Hopper (f16, bf16). DIR/families.tsv has of each its repository, version and licence. What is
# built is kept: the same call goes on. Relies on scripts/adapters/setup.sh triton, tilelang, cute, cutlass
# and heuristics. Then, on a GPU: scripts/gpu-run.sh referee:TYPE[:DIR].
set -u
usage='usage: referee.sh [-p CHECKOUT] [-c CONFIG] [-n TYPES] [-j JOBS] DIR TYPE...'
top=$(cd "$(dirname "$0")/.." && pwd) || exit 70
checkout='' config=$top/configs/referee.json types=64 jobs=$(nproc)
while getopts p:c:n:j: flag; do
    case $flag in
    p) checkout=$OPTARG ;;
    c) config=$OPTARG ;;
    n) types=$OPTARG ;;
    j) jobs=$OPTARG ;;
    *) echo "$usage" >&2; exit 64 ;;
    esac
done
shift $((OPTIND - 1))
[ $# -ge 2 ] || { echo "$usage" >&2; exit 64; }
dir=$1
shift
mkdir -p "$dir" || exit 73
adapters=${CUDAL2_ADAPTERS:-${XDG_CACHE_HOME:-$HOME/.cache}/cudal2-bench/adapters}

version() { # version TOOL PACKAGE: as its environment has it
    "$adapters/$1/bin/python" -c "import importlib.metadata as m; print(m.version('$2'))" 2>/dev/null || echo unknown
}

commit() { # commit CHECKOUT: its own, not that of a repository around it
    { [ -e "$1/.git" ] && git -C "$1" rev-parse --short HEAD 2>/dev/null; } || echo unknown
}

# row FAMILY WHAT REPOSITORY VERSION LICENCE: replaces the family's line
row() {
    touch "$dir/families.tsv"
    { grep -v "^$1	" "$dir/families.tsv"; (IFS=$'\t' && echo "$*"); } >"$dir/families.new"
    mv "$dir/families.new" "$dir/families.tsv"
}

# made SET SOURCE: whether the set is newer than what it is made of
made() {
    [ -e "$1" ] && [ "$1" -nt "$2" ]
}

sums() { # sums TYPE: what it sums in
    case $1 in *-f16) echo f16 ;; *) echo f32 ;; esac
}

triton() { # triton TYPE
    local out=$dir/$1/triton-persistent source=$top/examples/triton/persistent.py
    made "$out/triton-persistent.json" "$source" ||
        "$top/scripts/adapters/triton.py" "$source:matmul" --dtype "${1%-*}" --accumulate "$(sums "$1")" --name triton-persistent --out "$out" || return
    row triton-persistent "persistent matmul with TMA, autotuned (examples/triton/persistent.py)" https://github.com/triton-lang/triton \
        "$(version triton triton)" MIT
}

tilelang() { # tilelang TYPE
    local out=$dir/$1/tilelang-gemm source=$top/examples/tilelang/gemm.py
    made "$out/tilelang-gemm.json" "$source" || "$top/scripts/adapters/tilelang.py" "$source:gemm" --dtype "${1%-*}" --accumulate "$(sums "$1")" --out "$out" || return
    row tilelang-gemm "GEMM (examples/tilelang/gemm.py)" https://github.com/tile-ai/tilelang "$(version tilelang tilelang)" MIT
}

cutlass() { # cutlass DTYPE
    "$top/scripts/adapters/cutlass_heuristic.py" --config "$config" --dtype "$1" --types "$types" --jobs "$jobs" \
        --out "$dir/$1/cutlass-heuristic" || return
    row cutlass-heuristic "CUTLASS kernels proposed by nvidia-matmul-heuristics $(version heuristics nvidia-matmul-heuristics)" \
        https://github.com/NVIDIA/cutlass "$(version cutlass nvidia-cutlass)" BSD-3-Clause
}

cute() { # cute TYPE
    local out=$dir/$1/cute-dense source=$top/examples/cute/dense.py
    made "$out/cute-dense.json" "$source" || "$top/scripts/adapters/cute.py" "$source:gemm" --dtype "$1" --name cute-dense --out "$out" || return
    row cute-dense "the CuTe DSL's dense GEMM for Hopper, six tiles (examples/cute/dense.py)" https://github.com/NVIDIA/cutlass \
        "$(version cute nvidia-cutlass-dsl), $(commit "$CUTLASS")" BSD-3-Clause
}

# The published kernels of the config's shapes: a directory of links, for import.py takes a directory.
published() { # published DTYPE
    local links=$dir/$1/cuda-l2.src set=$checkout/kernels/h100_F32F16F16F32 licence
    [ -d "$set" ] || { echo "referee: no $set" >&2; return 66; }
    rm -rf "$links" && mkdir -p "$links" || return 73
    grep -oE '"m": [0-9]+, "n": [0-9]+, "k": [0-9]+' "$config" | tr -dc '0-9,\n' | tr , _ | while read -r shape; do
        [ ! -e "$set/$shape.cu" ] || ln -s "$(realpath "$set/$shape.cu")" "$links/"
    done
    "$top/scripts/import/import.py" "$links" --name cuda-l2 --accumulate f32 --shared-cudart --jobs "$jobs" --out "$dir/$1/cuda-l2" || return
    licence=$(head -q -n 1 "$checkout"/LICENSE* 2>/dev/null | head -n 1)
    row cuda-l2 "the published H100 kernels, one for each shape, found by search beforehand" https://github.com/deepreinforce-ai/CUDA-L2 \
        "$(commit "$checkout")" "${licence:-MIT License (not in this checkout)}"
}

status=0
for dtype in "$@"; do
    families="triton tilelang cutlass${CUTLASS:+ cute}"
    [ "$(sums "$dtype")" = f32 ] || families="triton tilelang"
    [ -z "$checkout" ] || [ "$dtype" != f16 ] || families="$families published"
    for family in $families; do
        "$family" "$dtype" || { status=$?; echo "referee: $family $dtype: left out (exit status $status)" >&2; }
    done
    echo "referee: $dtype: $(find "$dir/$dtype" -mindepth 1 -maxdepth 1 -type d ! -name '*.src' -printf '%f ' | sort)"
done
exit $status
