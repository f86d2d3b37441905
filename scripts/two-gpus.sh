#!/usr/bin/env bash
# How much faster several GPUs of this host are than one: 200 shapes, each device list from cold, and where
# the time went.
#
#   scripts/two-gpus.sh [-b BUILD] [-o DIR] [-c CONFIG] [-m MODE] [-a ACC] [-w] DEVICES...
#
# DEVICES is what --device takes; the first is what the others are compared with (default: cuda:0 cuda:0,1).
# From cold: every run has an empty cache of its own, so that kernels are compiled and contenders verified
# anew; the page cache keeps what the first run has read, so a run that counts comes after one that does not
# (-w).
set -u
build=build
out=results/local/two-gpus
config=configs/fifth.json
mode=offline
accumulate=f32
warm=
while getopts b:o:c:m:a:w flag; do
    case $flag in
    b) build=$OPTARG ;;
    o) out=$OPTARG ;;
    c) config=$OPTARG ;;
    m) mode=$OPTARG ;;
    a) accumulate=$OPTARG ;;
    w) warm=1 ;;
    *) exit 64 ;;
    esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || set -- cuda:0 cuda:0,1
here=$(dirname "$0")
bench=$build/cudal2-bench
export CUDAL2_KERNELS=${CUDAL2_KERNELS:-$PWD/kernels}
mkdir -p "$out"

# shellcheck source=scripts/torch-libraries.inc.sh
. "$here"/torch-libraries.inc.sh

now() { date +%s.%N; }

run() { # DEVICES NAME: seconds from start to table in NAME.seconds
    local devices=$1 base=$out/$2 begin end rc
    rm -rf "$base.cache" "$base.json" "$base.journal.jsonl"
    begin=$(now)
    CUDAL2_CACHE=$base.cache "$bench" run --config "$config" --mode "$mode" --accumulate "$accumulate" --aa --device "$devices" \
        --output "$base.json" >"$base.txt" 2>"$base.log"
    rc=$?
    end=$(now)
    rm -rf "$base.cache"
    awk -v a="$begin" -v b="$end" 'BEGIN { printf "%.1f\n", b - a }' >"$base.seconds"
    case $rc in 0 | 2 | 3) ;; *) tail -n 3 "$base.log" >&2 ;; esac
    return $rc
}

"$bench" --version | head -1
nvidia-smi --query-gpu=index,name,uuid,clocks.max.sm,power.limit --format=csv,noheader 2>/dev/null
echo "cores: $(nproc), $(lscpu | grep -i 'numa node(s)' | tr -s ' ')"
[ -z "$warm" ] || CUDAL2_CACHE=$out/warm-up.cache "$bench" run --shape 512x512x512 --device "$1" --output "$out/warm-up.json" >/dev/null 2>&1

status=0
first=
for devices in "$@"; do
    name=$(printf '%s' "$devices" | tr ':,' '--')
    run "$devices" "$name"
    rc=$?
    case $rc in 0 | 2 | 3) ;; *) status=$rc && continue ;; esac
    seconds=$(cat "$out/$name.seconds")
    first=${first:-$seconds}
    awk -v d="$devices" -v s="$seconds" -v f="$first" -v rc="$rc" \
        'BEGIN { printf "== %s: %.1f s, %.2fx of the first (exit %d)\n", d, s, f / s, rc }'
    grep -aE '^note: ' "$out/$name.log" | tail -n 8
    grep -aE '^(Measured on|Between GPUs|A/A)' "$out/$name.txt"
    "$here/time-spent.py" "$out/$name.journal.jsonl"
done
exit $status
