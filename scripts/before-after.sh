#!/bin/bash
# before-after.sh: what a change does to the time of a run, and whether it does anything to the times in it.
# Two programs measure the same shapes with an A/A copy, from an empty cache each time, in the order before,
# after, after, before; before-after.py makes the tables.
#
#   scripts/before-after.sh [-o DIR] [-d DEVICE] [-c CONFIG] [-m MODE] [-a ACC] [-r ROUNDS] BEFORE AFTER [-- RUN_OPTION...]
#
# BEFORE and AFTER are programs (build/cudal2-bench of two worktrees, each with its plugins and kernels). 200
# shapes of configs/fifth.json, offline, fp32, 2 rounds on cuda:0 unless told otherwise: ten minutes of a GPU.
# A run that does not count comes first and reads libraries into the page cache. Exit status 0, or a run's.
set -u
here=$(cd "$(dirname "$0")" && pwd) || exit 70
out=results/local/before-after device=cuda:0 config=$here/../configs/fifth.json mode=offline accumulate=f32 rounds=2
usage() {
    sed -n 6p "$0" | cut -c5- >&2
    exit 64
}
while getopts o:d:c:m:a:r: flag; do
    case $flag in
    o) out=$OPTARG ;;
    d) device=$OPTARG ;;
    c) config=$OPTARG ;;
    m) mode=$OPTARG ;;
    a) accumulate=$OPTARG ;;
    r) rounds=$OPTARG ;;
    *) usage ;;
    esac
done
shift $((OPTIND - 1))
[ $# -ge 2 ] || usage
before=$1 after=$2
shift 2
[ "${1:-}" != -- ] || shift
mkdir -p "$out" || exit 73

# shellcheck source=scripts/torch-libraries.inc.sh
. "$here"/torch-libraries.inc.sh

run() { # PROGRAM NAME OPTION...
    local program=$1 base=$out/$2 code
    shift 2
    rm -rf "$base".*
    CUDAL2_CACHE=$base.cache "$program" run --device "$device" --output "$base.json" --quiet "$@" \
        >"$base.log" 2>&1 </dev/null
    code=$?
    rm -rf "$base.cache"
    [ "$code" -le 3 ] || { cat "$base.log" >&2 && exit "$code"; } # 2 and 3 are verdicts on contenders
}

measure() { # PROGRAM NAME OPTION...
    run "$1" "$2" --config "$config" --mode "$mode" --accumulate "$accumulate" --aa "${@:3}"
}

run "$after" warm-up --shape 512x512x512
for ((round = 1; round <= rounds; round++)); do
    if ((round % 2)); then
        measure "$before" "$round-before" "$@" && measure "$after" "$round-after" "$@"
    else
        measure "$after" "$round-after" "$@" && measure "$before" "$round-before" "$@"
    fi
done
"$here/before-after.py" "$out" "$rounds" | tee "$out/before-after.txt"
