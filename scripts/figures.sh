#!/bin/bash
# figures.sh [-o DIR] [-f FORMATS] ARGUMENT...: draws the paper's figures with gnuplot, no display needed. The
# arguments go to `cudal2-bench report`: results, journals, --published FILE, --timing T, --mixed. FORMATS is
# a comma-separated list of svg, pdf and png (default svg,pdf), DIR the current directory unless given. For
# each group of results (number format, accumulate type; candidate and timing where there are several) it
# leaves in DIR
#   figure1-GROUP       mean speedup over each baseline, offline and server (paper, Fig. 1)
#   figure3-MODE-GROUP  speedup over cublaslt-autotuning-max by problem size, three panels (Fig. 3)
#   figure4-MODE-GROUP  the parameters chosen by problem size, six panels (Fig. 4)
#   ablation-MODE-GROUP speedup by BM, all else equal (section 5.2), where the results hold such candidates
# No display is needed; one version of gnuplot gives the same SVG each time. CUDAL2_BENCH names the program
# (default build/cudal2-bench). Exit status: that of report, or 69 without gnuplot or program.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
bench=${CUDAL2_BENCH:-$here/../build/cudal2-bench}
out=.
formats=svg,pdf
arguments=()
manual() { sed -n '2,/^set /s/^# \{0,1\}//p' "$0"; }
usage() {
    manual >&2
    exit 64
}
while [ $# -gt 0 ]; do
    case $1 in
    -o) out=${2:?figures: -o needs a directory} && shift ;;
    -f) formats=${2:?figures: -f needs formats} && shift ;;
    -h | --help) manual && exit 0 ;;
    *) arguments+=("$1") ;;
    esac
    shift
done
[ ${#arguments[@]} -gt 0 ] || usage
case ,$formats, in
*,,*) usage ;;
*) for format in ${formats//,/ }; do case $format in svg | pdf | png) ;; *) echo "figures: there is no format \"$format\" (svg, pdf, png)" >&2 && exit 64 ;; esac done ;;
esac
[ -x "$bench" ] || { echo "figures: no program $bench (make builds it)" >&2 && exit 69; }
command -v gnuplot >/dev/null || {
    echo "figures: no gnuplot here (apt-get install gnuplot-nox)" >&2
    exit 69
}
data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT
"$bench" report "${arguments[@]}" --format figures --output "$data"
mkdir -p "$out"
export LC_ALL=C.UTF-8

# groups FILE COLUMNS: the different values of these columns, in the order of the file, separated by spaces.
groups() {
    awk -F, -v columns="$2" 'BEGIN { n = split(columns, at, " ") }
        NR > 1 { key = ""; for (i = 1; i <= n; i++) key = key (i > 1 ? " " : "") $at[i]; if (!seen[key]++) print key }' "$1"
}

# rows FILE COLUMNS VALUES: head line and the rows whose columns have these values.
rows() {
    awk -F, -v columns="$2" -v values="$3" 'BEGIN { n = split(columns, at, " "); split(values, want, " ") }
        NR > 1 { for (i = 1; i <= n; i++) if ($at[i] != want[i]) next } 1' "$1"
}

# tag SOURCE DTYPE ACCUMULATE TIMING CANDIDATE [MODE]: the group's part of a file name; candidate and timing
# only where they tell it from the others of its number format (and mode).
tag() {
    local others prefix="" suffix=""
    others=$(groups "$data/figure1.csv" "1 3 4 5 6 2" | awk -v s="$1" -v d="$2" -v a="$3" -v m="${6:-}" '$1 == s && $2 == d && $3 == a && (m == "" || $6 == m)')
    [ "$1" = claimed ] && prefix=claimed-
    [ "$(awk '{ print $5 }' <<<"$others" | sort -u | wc -l)" -gt 1 ] && prefix=$prefix$5-
    [ "$(awk '{ print $4 }' <<<"$others" | sort -u | wc -l)" -gt 1 ] && suffix=-$4
    echo "$prefix$2-$3$suffix"
}

terminal() { # terminal FORMAT WIDTH HEIGHT (points)
    case $1 in
    svg) echo "set terminal svg size $2,$3 font 'Helvetica,12' background rgb 'white' dynamic" ;;
    pdf) echo "set terminal pdfcairo size $(($2 / 72)).$((($2 % 72) * 100 / 72))in,$(($3 / 72)).$((($3 % 72) * 100 / 72))in font 'Helvetica,12' fontscale 1" ;;
    png) echo "set terminal pngcairo size $((2 * $2)),$((2 * $3)) font 'Helvetica,12' fontscale 2 linewidth 2 pointscale 2" ;;
    esac
}

# draw NAME SCRIPT WIDTH HEIGHT SETTINGS
draw() {
    local format
    for format in ${formats//,/ }; do
        gnuplot -e "$(terminal "$format" "$3" "$4")" -e "set output '$out/$1.$format'" -e "$5" "$here/figures/common.gp" "$here/figures/$2.gp"
        # cairo writes the time of day into a PDF; a figure is a function of its data. (Newer versions
        # compress it out of reach.)
        [ "$format" != pdf ] || LC_ALL=C sed -i 's/CreationDate (D:[0-9]\{14\}/CreationDate (D:20000101000000/' "$out/$1.pdf"
    done
    echo "$out/$1"
}

words() { # words DTYPE ACCUMULATE SOURCE TIMING: for titles
    echo "$1 accumulated in $2, $3, $4 time"
}

# Bars of one mode for gnuplot: place, mean, low, high (percent), colour, shapes. The layouts of a family
# stand side by side.
bars() { # bars MODE FAMILIES
    awk -F, -v mode="$1" -v families="$2" 'BEGIN {
            n = split(families, names, " ")
            for (i = 1; i <= n; i++) place[names[i]] = i - 1
            shift["nn"] = -0.27; shift["max"] = 0.27
            colour["nn"] = "0x9ecae1"; colour["tn"] = "0x4292c6"; colour["max"] = "0x08519c"
        }
        NR > 1 && $2 == mode && $11 != "" {
            print place[$8] + shift[$9], 100 * $11, 100 * ($12 == "" ? $11 : $12), 100 * ($13 == "" ? $11 : $13), colour[$9] == "" ? "0x888888" : colour[$9], $10
        }' "$data/bars.csv"
}

figure1() {
    local source dtype accumulate timing candidate name modes families mode range
    while read -r source dtype accumulate timing candidate; do
        rows "$data/figure1.csv" "1 3 4 5 6" "$source $dtype $accumulate $timing $candidate" >"$data/bars.csv"
        name=$(tag "$source" "$dtype" "$accumulate" "$timing" "$candidate")
        modes=$(awk -F, '$11 != ""' "$data/bars.csv" | groups - 2 | xargs) # one that was not run, or is too noisy for means, leaves no empty panel
        if [ -z "$modes" ]; then
            echo "figures: no figure1-$name: too few shapes reached the wanted precision for a mean"
            continue
        fi
        families=$(groups "$data/bars.csv" 8 | xargs)
        for mode in $modes; do bars "$mode" "$families" >"$data/bars-$mode.dat"; done
        range=$(awk '$4 > top { top = $4 } $3 < bottom { bottom = $3 } END { print "top = " (top > 0 ? top : 1) "; bottom = " bottom + 0 }' "$data"/bars-*.dat)
        draw "figure1-$name" figure1 $((70 + 370 * $(wc -w <<<"$modes"))) 360 \
            "data='$data'; modes='$modes'; families='$families'; candidate='$candidate'; $range; words='$(words "$dtype" "$accumulate" "$source" "$timing")'"
        rm "$data"/bars-*.dat
    done < <(groups "$data/figure1.csv" "1 3 4 5 6")
}

figure3() {
    local source mode dtype accumulate timing candidate reference name
    while read -r source mode dtype accumulate timing candidate reference; do
        rows "$data/figure3.csv" "1 2 3 4 5 6" "$source $mode $dtype $accumulate $timing $candidate" >"$data/points.csv"
        rows "$data/figure3-means.csv" "1 2 3 4 5 6" "$source $mode $dtype $accumulate $timing $candidate" | awk -F, '$13 != ""' >"$data/means.csv"
        name=$(tag "$source" "$dtype" "$accumulate" "$timing" "$candidate" "$mode")
        draw "figure3-$mode-$name" figure3 820 340 \
            "data='$data'; candidate='$candidate'; reference='$reference'; bins=$(($(wc -l <"$data/means.csv") - 1)); words='$mode, $(words "$dtype" "$accumulate" "$source" "$timing")'"
    done < <(groups "$data/figure3.csv" "1 2 3 4 5 6 7")
}

# Points that fall on one spot become one dot whose area tells how many: bubbles X Y, two awk expressions over
# the columns.
bubbles() {
    awk -F, "NR > 1 { x = $1; y = $2; if (x != \"\" && y != \"\") n[x \" \" y]++ } END { for (i in n) print i, n[i] }" "$data/choices.csv" | sort -n
}

figure4() {
    local mode dtype accumulate candidate name
    while read -r mode dtype accumulate candidate; do
        rows "$data/figure4.csv" "1 2 3 4" "$mode $dtype $accumulate $candidate" >"$data/choices.csv"
        rows "$data/figure4-correlations.csv" "1 2 3 4" "$mode $dtype $accumulate $candidate" >"$data/correlations.csv"
        bubbles '$6' '$9' >"$data/bm-m.dat"
        bubbles '$7' '$10' >"$data/bn-n.dat"
        bubbles '$8' '$11' >"$data/bk-k.dat"
        bubbles '$10' '$9' >"$data/bm-bn.dat"
        bubbles '$8' '$12' >"$data/stages-k.dat"
        bubbles '(log($6) + log($7) + log($8)) / log(2)' '$13' >"$data/swizzle-mnk.dat"
        name=$(groups "$data/figure4.csv" "1 2 3 4" | grep -c "^$mode $dtype $accumulate ")
        [ "$name" -gt 1 ] && name=$candidate-$dtype-$accumulate || name=$dtype-$accumulate
        draw "figure4-$mode-$name" figure4 900 620 "data='$data'; words='$candidate, $mode, $dtype accumulated in $accumulate'"
    done < <(groups "$data/figure4.csv" "1 2 3 4")
}

ablation() {
    local source mode dtype accumulate timing reference kernel m n k
    if [ "$(wc -l <"$data/ablation.csv")" -lt 2 ]; then
        echo "figures: no ablation: no two candidates of one kernel differ in BM"
        return 0
    fi
    while read -r source mode dtype accumulate timing reference kernel m n k; do
        rows "$data/ablation.csv" "1 2 3 4 5 7 8 9 10 11" "$source $mode $dtype $accumulate $timing $reference $kernel $m $n $k" >"$data/all.csv"
        { head -n 1 "$data/all.csv" && tail -n +2 "$data/all.csv" | sort -t, -g -k12; } >"$data/bars.csv"
        draw "ablation-$mode-$dtype-$accumulate-${m}x${n}x$k" ablation 520 380 \
            "data='$data'; reference='$reference'; shape='$m x $n x $k'; kernel='$kernel'; words='$mode, $(words "$dtype" "$accumulate" "$source" "$timing")'"
    done < <(groups "$data/ablation.csv" "1 2 3 4 5 7 8 9 10 11")
}

figure1
figure3
figure4
ablation
