#!/bin/bash
# sensitivity.sh: how far times and speedups move with cache state and gaps. Runs configs/sensitivity.json
# once for each setting and prints a Markdown table (table.md too). Settings: offline with each cache state;
# server mode with fixed, uniform and Poisson gaps of 0.5, 2 and 8 ms, cache warm; and with Poisson gaps of 2
# ms with the cache rotated and flushed.
#
#   scripts/sensitivity.sh [-c CONFIG] [-o DIR] [-d DEVICE] [-p PROGRAM] [-t] [-- RUN_OPTION...]
#
# -t: the table alone, from what DIR has. A setting that is there already is not measured again.
set -u
root=$(cd "$(dirname "$0")/.." && pwd) || exit 70
config=$root/configs/sensitivity.json
out=results/local/sensitivity
device=auto
bench=$root/build/cudal2-bench
measure=yes
usage() {
    echo "usage: sensitivity.sh [-c CONFIG] [-o DIR] [-d DEVICE] [-p PROGRAM] [-t] [-- RUN_OPTION...]" >&2
    exit 64
}
while getopts c:o:d:p:t flag; do
    case $flag in
    c) config=$OPTARG ;;
    o) out=$OPTARG ;;
    d) device=$OPTARG ;;
    p) bench=$OPTARG ;;
    t) measure= ;;
    *) usage ;;
    esac
done
shift $((OPTIND - 1))
mkdir -p "$out" || exit 73
settings=$out/settings.txt
{
    for cache in warm rotate flush; do echo "offline $cache - -"; done
    for kind in fixed uniform poisson; do for rate in 2000 500 125; do echo "server warm $kind $rate"; done; done
    for cache in rotate flush; do echo "server $cache poisson 500"; done
} >"$settings"

gap_ms() { awk -v hz="$1" 'BEGIN { printf "%g", 1000 / hz }'; }

run() { # run MODE CACHE GAP RATE
    local name=$out/$1-$2-$3-$4 options=(--mode "$1" --cache "$2") code
    [ "$1" = offline ] || options+=(--gap "$3" --rate "$4")
    "$bench" run --config "$config" --device "$device" --output "$name.json" --resume --quiet "${options[@]}" "${more[@]}" >"$name.log" 2>&1
    code=$?
    # 2 and 3 are verdicts on contenders; the rest of the cells has figures.
    [ "$code" -le 3 ] || { cat "$name.log" >&2 && exit "$code"; }
}
more=("$@")
if [ -n "$measure" ]; then
    while read -r mode cache kind rate; do run "$mode" "$cache" "$kind" "$rate" || exit; done <"$settings"
fi

# A result has one cell a line. For each cell of a file: "SHAPE|speedup ± half-width, time of the reference".
cells() {
    sed -nE 's/^.*"key":"[a-z]*\/[a-z0-9]*-[a-z0-9]*-([0-9x]+)".*"headline":"([a-z]+)"(.*)"speedups":\[(.*)$/\1\t\2\t\3\t\4/p' "$1" | awk -F '\t' '
        function after(text, word,   at) { at = index(text, word); return at ? substr(text, at + length(word)) : "" }
        {
            split(after($4, "\"candidate\":"), candidate, "\""); split(after($4, "\"reference\":"), reference, "\"")
            split(after($4, "\"ci95\":"), end, /[][,]/)
            family = reference[2]; sub(/-max$/, "-[nt]n", family)
            median = match($3, "\"" family "\":") ? after(after(substr($3, RSTART), "\"" $2 "\":"), "\"median_ns\":") + 0 : 0
            if (candidate[2] == "") { print $1 "|-"; next }
            interval = end[3] == "" ? "" : sprintf(" ± %.2f", 50 * (end[3] - end[2]))
            printf "%s|%+.2f%%%s, %.2f µs|%s against %s, %s time\n", $1, 100 * after($4, "\"geomean\":"), interval, median / 1000,
                   candidate[2], reference[2], $2
        }'
}
first=
while read -r mode cache kind rate; do
    file=$out/$mode-$cache-$kind-$rate.json
    [ -n "$first" ] || [ ! -f "$file" ] || first=$file
done <"$settings"
[ -n "$first" ] || { echo "sensitivity.sh: nothing is measured in $out" >&2 && exit 65; }
{
    echo "Speedup of $(cells "$first" | cut -d '|' -f 3 | sort -u | head -1), its 95% interval, and the reference's time:"
    echo
    echo "| mode | cache | gap |$(cells "$first" | cut -d '|' -f 1 | sed 's/.*/ & |/' | tr -d '\n')"
    echo "|---|---|---|$(cells "$first" | sed 's/.*/---|/' | tr -d '\n')"
    while read -r mode cache kind rate; do
        gap=-
        [ "$kind" = - ] || gap="$kind $(gap_ms "$rate") ms"
        file=$out/$mode-$cache-$kind-$rate.json
        [ ! -f "$file" ] || echo "| $mode | $cache | $gap |$(cells "$file" | cut -d '|' -f 2 | sed 's/.*/ & |/' | tr -d '\n')"
    done <"$settings"
} | tee "$out/table.md"
