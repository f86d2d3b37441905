#!/bin/bash
# paper-check.sh: measures the same cells by the adaptive protocol and by the paper's, and says for each pair whether the paper's mean
# lies in the adaptive interval, and what each of the two cost.
#
#   scripts/paper-check.sh [-c CONFIG] [-o DIR] [-d DEVICE] [-m MODE] [-w SECONDS] [-s SECONDS] [-p PROGRAM] [-- RUN_OPTION...]
#
# -w, -s: warm-up and timed seconds of each pair (10 and 30 in the paper and in configs/paper-protocol.json): a shorter look keeps the
# structure of the protocol and not its durations, and the figures must say so.
# Leaves adaptive.json, paper.json (with journals), the config of the paper run and agreement.txt in DIR. A second call goes on.
set -u
root=$(cd "$(dirname "$0")/.." && pwd) || exit 70
config=$root/configs/paper-protocol.json
out=results/local/paper
device=auto
mode=offline
bench=$root/build/cudal2-bench
warmup=
seconds=
usage() {
    echo "usage: paper-check.sh [-c CONFIG] [-o DIR] [-d DEVICE] [-m MODE] [-w SECONDS] [-s SECONDS] [-p PROGRAM] [-- RUN_OPTION...]" >&2
    exit 64
}
while getopts c:o:d:m:w:s:p: flag; do
    case $flag in
    c) config=$OPTARG ;;
    o) out=$OPTARG ;;
    d) device=$OPTARG ;;
    m) mode=$OPTARG ;;
    w) warmup=$OPTARG ;;
    s) seconds=$OPTARG ;;
    p) bench=$OPTARG ;;
    *) usage ;;
    esac
done
shift $((OPTIND - 1))
for number in $warmup $seconds; do
    [[ $number =~ ^[0-9]+(\.[0-9]+)?$ ]] || usage
done
mkdir -p "$out" || exit 73
sed ${warmup:+-e "s/\"warmup_seconds\": *[0-9.]*/\"warmup_seconds\": $warmup/"} \
    ${seconds:+-e "s/\"pair_seconds\": *[0-9.]*/\"pair_seconds\": $seconds/"} -e '' "$config" >"$out/config.json" || exit 65

measure() { # measure PROTOCOL: done already, or goes on, or starts
    local begin=$SECONDS code
    "$bench" run --config "$out/config.json" --protocol "$1" --mode "$mode" --device "$device" --output "$out/$1.json" --resume "${@:2}"
    code=$?
    echo "paper-check: $1: exit $code after $((SECONDS - begin)) s" >&2
    # 2 and 3 are verdicts on contenders, and the pairs that are there can still be compared.
    [ "$code" -le 3 ] || exit "$code"
}
measure adaptive "$@"
measure paper "$@"
"$bench" compare --agreement "$out/adaptive.json" "$out/paper.json" --no-color | tee "$out/agreement.txt"
exit "${PIPESTATUS[0]}"
