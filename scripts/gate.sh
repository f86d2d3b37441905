#!/bin/bash
# gate.sh: the regression gate of one CI job. Measures the kernels of another checkout (BASE) and those of
# this one (NEW) with this checkout's program on one device, compares them, measures suspects again, and
# leaves everything in one directory: base.json new.json (with journals), compare.txt compare.md compare.json
# compare.xml.
#
#   scripts/gate.sh -b KERNELS [-c CONFIG] [-o DIR] [-d DEVICE] [-p PROGRAM] [-- COMPARE_OPTION...]
#
# -b: the kernels/ directory of BASE. Exit status: that of `compare`; 75 when TERM came with work left: the same call goes on.
set -u
root=$(cd "$(dirname "$0")/.." && pwd) || exit 70
config=$root/configs/smoke.json
out=gate
device=cuda
bench=$root/build/cudal2-bench
base_kernels=
usage() {
    [ $# -eq 0 ] || echo "gate.sh: $1" >&2
    echo "usage: gate.sh -b KERNELS [-c CONFIG] [-o DIR] [-d DEVICE] [-p PROGRAM] [-- COMPARE_OPTION...]" >&2
    exit 64
}
while getopts b:c:o:d:p: flag; do
    case $flag in
    b) base_kernels=$OPTARG ;;
    c) config=$OPTARG ;;
    o) out=$OPTARG ;;
    d) device=$OPTARG ;;
    p) bench=$OPTARG ;;
    *) usage ;;
    esac
done
shift $((OPTIND - 1))
[ -n "$base_kernels" ] || usage "-b names the kernels/ directory of the checkout to compare with"
[ -d "$base_kernels" ] || usage "-b $base_kernels: no such directory"
mkdir -p "$out" || exit 73
rm -f "$out"/compare.{txt,md,json,xml} # of an earlier job: nobody shall read them as this one's

# A batch system signals this shell, not the program: hand it on, and wait until the program has closed its
# journal.
child=
stopped=
trap 'stopped=yes; [ -z "$child" ] || kill -TERM "$child"' TERM INT
run() {
    local code
    "$bench" "$@" &
    child=$!
    wait "$child"
    code=$?
    while kill -0 "$child" 2>/dev/null; do
        wait "$child"
        code=$?
    done
    child=
    return "$code"
}

measure() { # measure NAME [OPTION]...: goes on where an earlier call was stopped
    local name=$1
    shift
    run --config "$config" --device "$device" --aa --resume --output "$out/$name.json" "$@" >"$out/$name.txt"
    local code=$?
    case $code in
    0 | 2 | 3) ;; # what failed is in the result, and compare says what it means
    *) exit "$code" ;;
    esac
    [ -z "$stopped" ] || exit 75
}

measure base --kernels "$base_kernels"
measure new
run compare "$out/base.json" "$out/new.json" --confirm --resume --device "$device" "$@" >"$out/compare.txt"
code=$?
cat "$out/compare.txt"
[ -z "$stopped" ] || exit "$code"

# The other forms judge by the same second look. Without a table they say why there is none, or are removed
# where it was the second look that failed.
confirm=$(sed -n 's/^note: measured again: [0-9]*, in //p' "$out/compare.txt")
for form in markdown:md json:json junit:xml; do
    run compare "$out/base.json" "$out/new.json" ${confirm:+--confirm="$confirm"} "$@" --format "${form%:*}" \
        >"$out/compare.${form#*:}" 2>/dev/null
    [ $? -eq "$code" ] || [ -s "$out/compare.txt" ] || rm -f "$out/compare.${form#*:}"
done
exit "$code"
