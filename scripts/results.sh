#!/bin/bash
# results.sh [--check] [ROOT]: makes tables, figures and a page again from every run committed under ROOT
# (default results), or, with --check, says which of the committed ones are not what their run gives (exit
# status 1).
#
# A run is a directory ROOT/GPU/NAME with journal.jsonl.gz, result.json.gz or both. Runs whose names differ
# only in mode and accumulate type, NAME = SERIES-offline-f16 and so on, are also a series: what the paper
# shows in one table. It gets a directory of its own, ROOT/GPU/SERIES. Each run and each series gets
#   tables/     summary.txt as `report` shows it, table1 to table8 as Markdown and CSV (the CSV files are not committed)
#   figures/    the paper's figures as SVG (or none.txt: why there is none, as of noise), and data.cksum, which tells
#               whether they are still those of the data; only what README.md shows is committed
#   report.html the page (not committed)
# What is not committed this script makes again; --check looks at it where it is there.
# A run that is part of a series has tables only; its figures and page are those of the series. Nothing else
# is touched. CUDAL2_BENCH names the program (default build/cudal2-bench). Without gnuplot the figures are
# left as they are.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
export CUDAL2_BENCH=${CUDAL2_BENCH:-$here/../build/cudal2-bench}
[ -x "$CUDAL2_BENCH" ] || { echo "results: no program $CUDAL2_BENCH (make builds it)" >&2 && exit 69; }
check=no
if [ "${1:-}" = --check ]; then
    check=yes
    shift
fi
root=${1:-results}
[ -d "$root" ] || { echo "results: no directory $root" >&2 && exit 64; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
wrong=0

# file_of RUN: what to read of it. A result is a function of its journal (tests/unit/result/test_committed.c)
# and reads ten times faster, so where only the journal was kept its result has been made beforehand.
file_of() {
    local name
    for name in "$1/result.json.gz" "$1/result.json" "$work/made/$1/result.json" "$1/journal.jsonl.gz" "$1/journal.jsonl"; do
        [ -e "$name" ] && echo "$name" && return
    done
    return 1
}

# make_result RUN: where it has no result. A journal that is damaged is left to whoever reads it in the end.
make_result() {
    local journal
    [ ! -e "$1/result.json.gz" ] && [ ! -e "$1/result.json" ] && journal=$(file_of "$1") || return 0
    "$CUDAL2_BENCH" report "$journal" --format result --output "$work/made/$1" 2>/dev/null || rm -rf "$work/made/$1"
}

# journal_of FILE: the committed journal of what file_of gave; FILE itself where there is none.
journal_of() {
    local run=${1%/*}
    run=${run#*/made/} # a result that make_result made
    [ ! -e "$run/journal.jsonl.gz" ] || { echo "$run/journal.jsonl.gz" && return; }
    [ ! -e "$run/journal.jsonl" ] || { echo "$run/journal.jsonl" && return; }
    echo "$1"
}

tables() { # tables INTO RESULT...
    local into=$1 format file journals=()
    shift
    mkdir -p "$into"
    env -u COLUMNS "$CUDAL2_BENCH" report "$@" >"$into/summary.txt"
    for format in markdown csv; do
        "$CUDAL2_BENCH" report "$@" --format "$format" --output "$into"
    done
    [ -e "$into/table6.md" ] || return 0
    for file in "$@"; do journals+=("$(journal_of "$file")"); done
    for format in markdown csv; do # the 99th percentile is in journals alone
        "$CUDAL2_BENCH" report "${journals[@]}" --table 6 --format "$format" --output "$into"
    done
}

figure_data() { # figure_data RESULT...: one line that changes when the numbers of the figures do
    "$CUDAL2_BENCH" report "$@" --format figures --output "$work/data"
    (cd "$work/data" && cksum -- *.csv)
}

figures() { # figures INTO RESULT...
    local into=$1
    shift
    command -v gnuplot >/dev/null || { echo "results: no gnuplot here: $into is left as it is" && return; }
    rm -rf "$into"
    mkdir -p "$into"
    "$here/figures.sh" -f svg -o "$into" "$@" >"$work/said"
    grep -v "^$into/" "$work/said" || true
    compgen -G "$into/*.svg" >/dev/null || cp "$work/said" "$into/none.txt"
    figure_data "$@" >"$into/data.cksum"
}

differs() { # differs WHERE WHAT
    echo "results: $1: $2 (make results makes it again)"
    wrong=1
}

check_tables() { # check_tables DIR RESULT...
    local dir=$1 file
    shift
    rm -rf "$work/tables"
    tables "$work/tables" "$@"
    for file in "$work/tables"/*.csv; do
        [ -e "$dir/tables/${file##*/}" ] || rm -f "$file"
    done
    diff -rq "$work/tables" "$dir/tables" >"$work/said" 2>&1 || differs "$dir/tables" "not what the run gives"
}

check_figures() { # check_figures DIR RESULT...
    local dir=$1
    shift
    figure_data "$@" | cmp -s - "$dir/figures/data.cksum" || differs "$dir/figures" "not of these numbers"
}

# make_for DIR WHOLE RESULT...: WHOLE is yes for what gets figures and a page, too.
make_for() {
    local dir=$1 whole=$2
    shift 2
    if [ "$check" = yes ]; then
        check_tables "$dir" "$@"
        [ "$whole" = no ] || check_figures "$dir" "$@"
        return
    fi
    rm -rf "$dir/tables"
    tables "$dir/tables" "$@"
    if [ "$whole" = yes ]; then
        figures "$dir/figures" "$@"
        "$CUDAL2_BENCH" report "$@" --format html --output "$dir"
    fi
    echo "$dir"
}

series_of() { # series_of RUN: ROOT/GPU/SERIES, or nothing
    sed -nE 's/-(offline|server)-(f16|f32)$//p' <<<"$1"
}

# A series is one when its runs can stand in one table: the same device and driver, no cell twice.
is_series() { # is_series SERIES FILE...
    local series=$1
    shift
    "$CUDAL2_BENCH" report "$@" --table 2 --format csv >/dev/null 2>"$work/refused" && return
    echo "results: $series is no series: $(cat "$work/refused")"
    return 1
}

# do_jobs FIRST STEP: make_for with every STEP-th of `jobs` from FIRST on, up to one that fails; what a job
# says, and its status if it is not 0, lie under $work by its number.
do_jobs() {
    local i code job all=$work
    work=$all/$1
    mkdir "$work"
    for ((i = $1; i < ${#jobs[@]}; i += $2)); do
        IFS=$'\t' read -r -a job <<<"${jobs[i]}"
        (make_for "${job[@]}"; exit "$wrong") >"$all/job$i.out" 2>"$all/job$i.err" &
        code=0
        wait $! || code=$?
        [ "$code" -eq 0 ] || echo "$code" >"$all/job$i.code"
        [ "$code" -le 1 ] || return 0
    done
}

for run in "$root"/*/*/; do
    while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n || true; done
    make_result "${run%/}" &
done
wait
runs=() jobs=()
for run in "$root"/*/*/; do
    file_of "${run%/}" >/dev/null && runs+=("${run%/}")
done
declare -A members=() made=()
for run in ${runs[@]+"${runs[@]}"}; do
    series=$(series_of "$run")
    [ -z "$series" ] || members[$series]+="$(file_of "$run")"$'\n'
done
for series in $(printf '%s\n' ${members[@]+"${!members[@]}"} | sort); do
    mapfile -t files <<<"${members[$series]%$'\n'}"
    if [ ${#files[@]} -gt 1 ] && is_series "$series" "${files[@]}"; then
        made[$series]=yes
        jobs+=("$(printf '%s\t' "$series" yes "${files[@]}")")
    fi
done
for run in ${runs[@]+"${runs[@]}"}; do
    series=$(series_of "$run")
    whole=yes
    [ -n "$series" ] && [ "${made[$series]:-no}" = yes ] && whole=no
    jobs+=("$(printf '%s\t' "$run" "$whole" "$(file_of "$run")")")
done
workers=$(nproc) pids=() status=0
for ((first = 0; first < workers; first++)); do
    do_jobs "$first" "$workers" &
    pids+=($!)
done
for pid in "${pids[@]}"; do
    wait "$pid" || status=70 # a worker that could not even begin: its runs have not been looked at
done
for ((i = 0; i < ${#jobs[@]}; i++)); do
    [ ! -e "$work/job$i.out" ] || cat "$work/job$i.out"
    [ ! -e "$work/job$i.err" ] || cat "$work/job$i.err" >&2
    code=$(cat "$work/job$i.code" 2>/dev/null || echo 0)
    [ "$code" -le "$status" ] || status=$code
done
exit "$status"
