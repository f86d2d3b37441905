#!/usr/bin/env bash
# receipts.sh [-o OUT] [-b BUILD] [-d DEVICE] [-t SECONDS] [-s SECONDS] [-r BASELINES] CHECKOUT [SET
# [OPTION...]]: the receipts of a published set by one command: builds the kernels (import.py, with the
# OPTIONs, such as --limit 200), runs them in both modes against NVIDIA's baselines (scripts/gpu-run.sh
# published), those that need padding once more without it, and makes the page OUT/receipts.md with
# OUT/receipts.tsv (receipts.py).
# CHECKOUT is one of the authors' repository, SET a directory of its kernels/ (h100_F32F16F16F32). Where it is
# ended, or there is no GPU, the same command goes on; what it has so far is on the page. -s: how long a
# kernel's setup, with the first calls in which it may tune itself, may take before it is `hang` (60). -r:
# further references, by commas: cublaslt-exhaustive (3 to 5 s more a shape and mode), for a set with fp16
# sums cublaslt-autotuning-32f. Called by hand, from anywhere.
set -u
usage='usage: receipts.sh [-o OUT] [-b BUILD] [-d DEVICE] [-t SECONDS] [-s SECONDS] [-r BASELINES] CHECKOUT [SET [OPTION...]]'
top=$(cd "$(dirname "$0")/../.." && pwd) || exit 70
out=receipts build=$top/build device=cuda:all seconds=86400
while getopts o:b:d:t:s:r: flag; do
    case $flag in
    o) out=$OPTARG ;;
    b) build=$OPTARG ;;
    d) device=$OPTARG ;;
    t) seconds=$OPTARG ;;
    s) export PUBLISHED_SETUP=$OPTARG ;;
    r) export PUBLISHED_FURTHER=$OPTARG ;;
    *) echo "$usage" >&2; exit 64 ;;
    esac
done
shift $((OPTIND - 1))
[ $# -ge 1 ] || { echo "$usage" >&2; exit 64; }
kernels=$(realpath "$1")/kernels/${2:-h100_F32F16F16F32}
set_name=$(basename "$kernels")
shift $(($# > 1 ? 2 : 1))
[ -d "$kernels" ] || { echo "receipts: no $kernels" >&2; exit 66; }
mkdir -p "$out" || exit 73
out=$(realpath "$out") build=$(realpath "$build")
case $set_name in *_F16F16F16F16) sums=f16 ;; *) sums=f32 ;; esac

adapters=${CUDAL2_ADAPTERS:-${XDG_CACHE_HOME:-$HOME/.cache}/cudal2-bench/adapters}
if [ ! -d "$adapters/cutlass" ] && grep -rqE '#include *[<"](cute|cutlass)/' "$kernels"; then
    "$top/scripts/adapters/setup.sh" cutlass || exit
fi
built=$out/$set_name status=0
import() { # import NAME ARGUMENT...: 3: nothing built, or nothing padded
    "$top/scripts/import/import.py" "$kernels" --name "$1" --out "$built" --accumulate $sums --shared-cudart "${@:2}"
}
measure() { # measure DIRECTORY: 3: kernels have failed their checks, which is what is to be found out
    local code
    (cd "$top" && scripts/gpu-run.sh -n -b "$build" -t $((seconds > SECONDS ? seconds - SECONDS : 1)) -d "$device" -o "$out" "published:$1:$sums")
    code=$?
    [ $code -eq 3 ] || [ $status -ne 0 ] || status=$code
}

import "$set_name" "$@" || exit
measure "$built"
if [ $status -eq 0 ] && import "$set_name-padded" --padding outside "$@"; then # whose time their authors take without copies
    ln -sfn "$set_name" "$built-padded"
    measure "$built-padded"
fi
shopt -s nullglob
journals=("$out/published-$set_name-both"*.journal.jsonl "$out/published-$set_name-padded-both"*.journal.jsonl)
[ ${#journals[@]} -gt 0 ] || { echo "receipts: nothing is measured (exit status $status)" >&2; exit $((status ? status : 70)); }
"$top/scripts/import/receipts.py" "$kernels" "${journals[@]}" --name "$set_name" --build "$out/$set_name" --program "$build/cudal2-bench" \
    --tsv "$out/receipts.tsv" --out "$out/receipts.md" || exit
echo "receipts: $out/receipts.md"
[ $status -eq 0 ] || echo "receipts: not all of it (exit status $status); the same command goes on" >&2
exit $status
