#!/bin/bash
# paper-check.sh: measures the same cells by the adaptive protocol and by the paper's, and says for each pair
# whether the paper's mean lies in the adaptive interval, and what each of the two cost.
#
#   scripts/paper-check.sh [-c CONFIG] [-o DIR] [-d DEVICE] [-m MODE] [-r RUNS] [-w SECONDS] [-s SECONDS] [-p PROGRAM] [-- RUN_OPTION...]
#
# -r: adaptive runs (1 to 15, default 1), each a process with a seed of its own: half of them, rounded up, before the paper's run and the
# others after it, so that both protocols see the same stretch of time. From two on the interval is where one
# more run lies (docs/method.md, section 9). They share the cache on disk, and with it the algorithm that the
# first one's races chose.
# -w, -s: warm-up and timed seconds of each pair (10 and 30 in the paper and in configs/paper-protocol.json): a shorter look keeps the
# structure of the protocol and not its durations, and the figures must say so.
# Leaves adaptive.json, adaptive-2.json to adaptive-RUNS.json, paper.json (with journals), the config of the
# paper run and agreement.txt in DIR; with several runs also agreement-first.txt, the first one alone against
# the paper's. A second call goes on; one with more RUNS adds them, later than the paper's run.
set -u
root=$(cd "$(dirname "$0")/.." && pwd) || exit 70
config=$root/configs/paper-protocol.json
out=results/local/paper
device=auto
mode=offline
runs=1
bench=$root/build/cudal2-bench
warmup=
seconds=
usage() {
    echo "usage: paper-check.sh [-c CONFIG] [-o DIR] [-d DEVICE] [-m MODE] [-r RUNS] [-w SECONDS] [-s SECONDS] [-p PROGRAM]" \
        "[-- RUN_OPTION...]" >&2
    exit 64
}
while getopts c:o:d:m:r:w:s:p: flag; do
    case $flag in
    c) config=$OPTARG ;;
    o) out=$OPTARG ;;
    d) device=$OPTARG ;;
    m) mode=$OPTARG ;;
    r) runs=$OPTARG ;;
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
[[ $runs =~ ^([1-9]|1[0-5])$ ]] || usage
# With one seed all runs would draw the same inputs, places and orders.
if [ "$runs" -gt 1 ] && { [[ " $* " == *" --seed"[\ =]* ]] || grep -q '"seed" *:' "$config"; }; then
    echo "paper-check: -r $runs needs runs that draw their own seeds: leave --seed and the config's \"seed\" away" >&2
    exit 64
fi
mkdir -p "$out" || exit 73
sed ${warmup:+-e "s/\"warmup_seconds\": *[0-9.]*/\"warmup_seconds\": $warmup/"} \
    ${seconds:+-e "s/\"pair_seconds\": *[0-9.]*/\"pair_seconds\": $seconds/"} -e '' "$config" >"$out/config.json" || exit 65

measure() { # measure PROTOCOL NAME RUN_OPTION...: done already, or goes on, or starts
    local begin=$SECONDS code
    "$bench" run --config "$out/config.json" --protocol "$1" --mode "$mode" --device "$device" --output "$out/$2.json" --resume "${@:3}"
    code=$?
    echo "paper-check: $2: exit $code after $((SECONDS - begin)) s" >&2
    # 2 and 3 are verdicts on contenders, and the pairs that are there can still be compared.
    [ "$code" -le 3 ] || exit "$code"
}
adaptive=()
for ((i = 1; i <= runs; i++)); do
    name=adaptive
    [ "$i" -eq 1 ] || name=adaptive-$i
    measure adaptive "$name" "$@"
    adaptive+=("$out/$name.json")
    [ "$i" -ne $(((runs + 1) / 2)) ] || measure paper paper "$@"
done
agreement() { # agreement FILE BASE...
    "$bench" compare --agreement "${@:2}" "$out/paper.json" --no-color >"$1"
}
if [ "$runs" -gt 1 ]; then
    agreement "$out/agreement-first.txt" "${adaptive[0]}" || exit
fi
agreement "$out/agreement.txt" "${adaptive[@]}"
code=$?
cat "$out/agreement.txt"
exit "$code"
