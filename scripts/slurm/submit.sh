#!/bin/bash
# submit.sh: one run as an array of Slurm jobs, a GPU each, and a merge behind them.
#   scripts/slurm/submit.sh -n 8 -o out/grid.json -- run --config grid
#   -n N         shards, and tasks of the array
#   -o FILE      the result; shards lie beside it, in a directory that every node sees
#   -r ROUNDS    how often the merge submits missing shards again (default 2)
#   -s OPTIONS   further options of sbatch for the shards ("--partition=h100 --time=08:00:00")
#   -m OPTIONS   the same for the merge
#   --array=LIST only these shards (merge.sbatch gives it)
# CUDAL2_BENCH names the program; default: build/cudal2-bench of this checkout, or cudal2-bench of PATH.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
die() {
    echo "submit.sh: $*" >&2
    exit 64
}
shards='' output='' rounds=2 options='' merge_options=''
while getopts n:o:r:s:m: option; do
    case $option in
    n) shards=$OPTARG ;;
    o) output=$OPTARG ;;
    r) rounds=$OPTARG ;;
    s) options=$OPTARG ;;
    m) merge_options=$OPTARG ;;
    *) exit 64 ;;
    esac
done
shift $((OPTIND - 1))
if [ -z "$shards" ] || [ -z "$output" ] || [ $# -eq 0 ]; then
    die "needs -n N -o FILE -- run|tune OPTION..."
fi
list=0-$((shards - 1))
words=()
for word in "$@"; do
    case $word in
    --array=*) list=${word#--array=} ;;
    *) words+=("$word") ;;
    esac
done
program=${CUDAL2_BENCH:-$here/../../build/cudal2-bench}
[ -x "$program" ] || program=$(command -v cudal2-bench) || die "no cudal2-bench: build it, or set CUDAL2_BENCH"
program=$(realpath "$program")
mkdir -p "$(dirname "$output")"
output=$(realpath -m "$output")
logs=$(dirname "$output")

# Options are words of the caller.
# shellcheck disable=SC2086
array=$(sbatch --parsable --array="$list" --export="ALL,CUDAL2_SHARDS=$shards" --output="$logs/shard-%A-%a.log" $options \
    "$here/shards.sbatch" "$program" "${words[@]}" --output "$output")
again=()
[ "$rounds" -le 0 ] ||
    again=(env "CUDAL2_BENCH=$program" "$here/submit.sh" -n "$shards" -o "$output" -r $((rounds - 1)) -s "$options" -m "$merge_options"
        -- "${words[@]}")
# afterany: whatever became of the shards, the merge says what is there.
# shellcheck disable=SC2086
merge=$(sbatch --parsable --dependency="afterany:$array" --output="$logs/merge-%j.log" $merge_options \
    "$here/merge.sbatch" "$program" "$output" "${again[@]}")
echo "shards $list: job $array; merge: job $merge; logs in $logs"
