#!/bin/bash
# scripts/results.sh: tables, figures and page of committed runs, the same bytes each time; --check finds what
# is stale.
# Times nothing.
. "$(dirname "$0")/e2e.inc.sh"
export CUDAL2_BENCH=$bench

# result MODE SPEEDUP [ACCUMULATE]
result() {
    printf '{"schema":"cudal2-bench/result","schema_version":1,"run":{"n_cells":1,"complete":true,"missing":[],"sittings":[]},'
    printf '"env":[{"device":{"name":"Test GPU","driver":"1"}}],"summary":{"counts":{"cells":1},"convergence":{},"speedups":[]},"cells":['
    printf '{"key":"%s/f16-%s-64x64x64","mode":"%s","m":64,"n":64,"k":64,"dtype":"f16","accumulate":"%s","status":"ok","env":0,"headline":"device","converged":true,' "$1" "${3:-f16}" "$1" "${3:-f16}"
    printf '"contenders":{"cudal2-nn":{"status":"ok","role":"candidate","timings":{"device":{"n":8,"median_ns":1000}}},"torch.matmul":{"status":"ok","role":"baseline","timings":{"device":{"n":8,"median_ns":1100}}}},'
    printf '"speedups":[{"candidate":"cudal2-max","reference":"torch.matmul","timing":"device","geomean":%s,"mean_of_ratios":%s,"ci95":[-0.5,0.9]}]}]}' "$2" "$2"
}
keep() { # keep NAME MODE SPEEDUP [ACCUMULATE]: as a committed run
    mkdir -p "$work/results/gpu/$1"
    result "$2" "$3" "${4:-f16}" | gzip -9n >"$work/results/gpu/$1/result.json.gz"
}
results() { # results ARGUMENT...; `limit` seconds at most
    timeout -k 5 "${limit:-300}" scripts/results.sh "$@" >"$work/out" 2>"$work/err" </dev/null
    code=$?
}
keep day-offline-f16 offline 0.25
keep day-server-f16 server 0.5
keep alone offline 0.125
mkdir "$work/results/gpu/studies" "$work/results/gpu/empty"
echo notes >"$work/results/gpu/studies/README.md"
results "$work/results"
expect_code 0 "what was committed gets its tables"
[ ! -s "$work/err" ]
verdict $? "without a warning" "$(head -3 "$work/err")"
for file in day/tables/table1.md day/tables/table1.csv day/tables/summary.txt day/report.html day-offline-f16/tables/table1.md alone/report.html; do
    [ -s "$work/results/gpu/$file" ]
    verdict $? "$file is there"
done
expect_text "$work/results/gpu/day/tables/table1.md" '^\| torch.matmul \| \+25.00% .*\| \+50.00% ' "a series sets the modes side by side"
[ ! -e "$work/results/gpu/day-offline-f16/report.html" ] && [ "$(ls "$work/results/gpu/studies")" = README.md ]
verdict $? "nothing is made twice, nothing else is touched"
if command -v gnuplot >/dev/null; then
    expect_text "$work/results/gpu/day/figures/figure1-f16-f16.svg" '>25.0<' "the figures are those of the series"
    cp -r "$work/results" "$work/before"
    results "$work/results"
    diff -r "$work/results" "$work/before" >"$work/differ"
    verdict $? "a second time gives the same bytes" "$(cat "$work/differ")"
    results --check "$work/results"
    expect_code 0 "the check is content"
    keep day-server-f16 server 0.4
    results --check "$work/results"
    expect_code 1 "the check sees that a run has changed"
    expect_text "$work/out" 'day/tables: not what the run gives' "it names the tables"
    expect_text "$work/out" 'day/figures: not of these numbers' "and the figures"
    expect_no_text "$work/out" 'alone|offline' "and nothing besides"
    results "$work/results"
    echo >>"$work/results/gpu/alone/tables/table2.csv"
    results --check "$work/results"
    expect_code 1 "the check sees an edited table"
fi
# Runs that cannot stand in one table are told apart, and each gets its own.
zcat "$work/results/gpu/day-server-f16/result.json.gz" | sed 's/Test GPU/Other GPU/' | gzip -9n >"$work/other.gz"
mv "$work/other.gz" "$work/results/gpu/day-server-f16/result.json.gz"
rm -r "$work/results/gpu/day"
results "$work/results"
expect_code 0 "runs of two devices are no series"
expect_text "$work/out" 'day is no series: .*Other GPU' "which is said"
[ -s "$work/results/gpu/day-server-f16/report.html" ] && [ ! -e "$work/results/gpu/day" ]
verdict $? "and each is on its own"
echo '{' | gzip >"$work/results/gpu/alone/result.json.gz"
results "$work/results"
expect_code 65 "a damaged run ends it"
results "$work/nowhere"
expect_code 64 "a directory that is not there is refused"

journal=tests/fixtures/data/journals/11-21-offline-f16/journal.jsonl.gz
"${CUDAL2_BUILD:-build}/tests/bench_stop" "$journal" 8 4 1.8 >"$work/out" 2>"$work/err"
code=$?
expect_code 0 "a stop rule is played over a run"
expect_text "$work/out" 'cells 6,.*copies 6' "each cell once, each with its copy"
"${CUDAL2_BUILD:-build}/tests/bench_stop" "$journal" 192 4 1000 >"$work/late" 2>&1
expect_text "$work/late" 'converged (.|..),capped' "and waits as long as it is told to"
finish
