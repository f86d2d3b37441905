#!/bin/bash
# report on the command line: every format of one result, and every kind of bad input with one clear line and
# its exit status.
# Times nothing.
. "$(dirname "$0")/e2e.inc.sh"

cell() { # cell M SPEEDUP
    printf '{"key":"offline/f16-f32-%sx64x64","m":%s,"n":64,"k":64,"dtype":"f16","accumulate":"f32","mode":"offline","status":"ok","env":0,"headline":"device","converged":true,' "$1" "$1"
    printf '"contenders":{"cudal2-nn":{"status":"ok","role":"candidate","timings":{"device":{"n":8,"median_ns":1000}}},"torch.matmul":{"status":"ok","role":"baseline","timings":{"device":{"n":8,"median_ns":1250}}}},'
    printf '"speedups":[{"candidate":"cudal2-max","reference":"torch.matmul","timing":"device","geomean":%s,"mean_of_ratios":%s,"ci95":[0.1,0.3]}]}' "$2" "$2"
}
result() { # result CELLS [DRIVER]
    printf '{"schema":"cudal2-bench/result","schema_version":1,"run":{"n_cells":1,"complete":true,"missing":[],"sittings":[]},'
    printf '"env":[{"device":{"name":"Test GPU","driver":"%s"}}],"summary":{"counts":{"cells":1},"convergence":{},"speedups":[]},"cells":[%s]}\n' "${2:-1}" "$1"
}
result "$(cell 64 0.25)" >"$work/a.json"
result "$(cell 128 0.5)" >"$work/b.json"

# --- every format ---
for format in text markdown latex csv json html bencher google-benchmark prometheus shapes; do
    run report "$work/a.json" --format $format
    [ "$code" -eq 0 ] && [ -s "$work/out" ] && [ ! -s "$work/err" ]
    verdict $? "$format on standard output" "$code $(cat "$work/err")"
    run report "$work/a.json" --format $format --output "$work/made/$format"
    [ "$code" -eq 0 ] && [ ! -s "$work/out" ] && [ -n "$(ls "$work/made/$format")" ]
    verdict $? "$format in a directory" "$code $(cat "$work/err")"
done
for format in figures github-action; do
    run report "$work/a.json" --format $format --output "$work/made/$format"
    expect_code 0 "$format in a directory"
done
ls "$work"/made/* | grep -q '\.tmp'
[ $? -ne 0 ]
verdict $? "nothing half-written is left"
run report "$work/a.json" "$work/b.json"
expect_code 0 "two results at once"
expect_text "$work/out" '^2 cells: ' "are read as one"

# --- every time, tidy: whoever was there has a row ---
result "$(cell 64 0.25 | sed 's/"contenders":{/&"=gone, \\"it\\"":{"status":"crash","role":"baseline","reason":"no more"},/')" >"$work/gone.json"
run report "$work/gone.json" --format shapes
expect_code 0 "shapes of a contender that failed"
expect_text "$work/out" '^offline,f16,f32,64,64,64,,"'"'"'=gone, ""it""",baseline,crash,no more,device,1,,,,,,,,,,,,,,,,$' "it has a row with its reason"
expect_text "$work/out" '^offline,f16,f32,64,64,64,,cudal2-nn,candidate,ok,,device,1,8,1000,,,,,0.524288,,,,,,,,,$' "the others have their times"
if command -v python3 >/dev/null; then
    sed -n '/^import pandas/,/savefig/p' docs/results.md >"$work/plot.py"
    (cd "$work" && cp out shapes.csv && python3 -c 'import matplotlib, pandas' 2>/dev/null && MPLBACKEND=Agg python3 plot.py && [ -s tflops.png ]) 2>"$work/err"
    status=$?
    [ "$status" -ne 1 ] || [ ! -s "$work/err" ]
    verdict $? "the two lines of pandas in the docs make a plot, where they can" "$(tail -1 "$work/err")"
fi

# --- Prometheus: the node exporter reads every file of its directory, and no two may have the same series ---
cp "$work/a.json" "$work/night.json"
mkdir "$work/collector"
run report "$work/a.json" --format prometheus && cp "$work/out" "$work/collector/a.prom"
run report "$work/night.json" "$work/b.json" --format prometheus && cp "$work/out" "$work/collector/b.prom"
expect_text "$work/collector/b.prom" '^cudal2_bench_time_seconds\{run="night",mode="offline",dtype="f16",accumulate="f32",m="64",' "series have labels for run, mode and number format"
expect_text "$work/collector/b.prom" '^cudal2_bench_cells\{run="b",mode="offline",dtype="f16",accumulate="f32",status="ok"\} 1$' "so do counts of cells, by file"
[ -z "$(sed 's/} .*/}/' "$work"/collector/*.prom | grep -v '^#' | sort | uniq -d)" ]
verdict $? "no series is in two files" "$(sed 's/} .*/}/' "$work"/collector/*.prom | sort | uniq -d | head -2)"
[ -z "$(grep -h '^#' "$work/collector/b.prom" | cut -d' ' -f2,3 | sort | uniq -d)" ]
verdict $? "HELP and TYPE are there once"

# --- one table a file: what reads CSV finds one head, and as many fields in every row ---
run report "$work/a.json" --published tests/fixtures/data/published/cuda_l2_a100_F16F16F16F16_speedup_offline.csv --format csv --output "$work/tables"
expect_code 0 "tables as CSV"
[ "$(ls "$work/tables" | xargs)" = "table1.csv table2.csv table3.csv table5.csv" ]
verdict $? "a file for each table" "$(ls "$work/tables" | xargs)"
if command -v python3 >/dev/null; then
    python3 -c 'import csv, sys
for path in sys.argv[1:]:
    rows = list(csv.reader(open(path, newline="")))
    assert len(rows) > 1 and len(set(map(len, rows))) == 1, path
    assert sum(row == rows[0] for row in rows) == 1 and len(set(rows[0])) == len(rows[0]), path
for row in csv.DictReader(open(sys.argv[1])):
    assert 0 <= int(row["offline_wins"]) <= int(row["offline_wins_of"])' "$work"/tables/*.csv 2>"$work/err"
    verdict $? "each is one table, wins with their total" "$(tail -1 "$work/err")"
fi

# --- a clock too coarse for what was measured ---
result "$(cell 64 0.25 | sed 's/"converged":true/"converged":false,"coarse":true/; s/"ci95":\[0.1,0.3\]/"ci95":[0.25,0.25]/')" >"$work/coarse.json"
run report "$work/coarse.json"
expect_code 0 "a coarse clock"
expect_text "$work/out" '^The clock is too coarse in 1 cell, offline/f16-f32-64x64x64: ' "a coarse clock: is said"

# --- how wide: `run` reads from a pipe, which has no width ---
result "$(cell 64 0.25 | sed 's/"headline"/"label":"a shape","headline"/')" >"$work/labelled.json"
(unset COLUMNS && run report "$work/labelled.json" && cp "$work/out" "$work/whole")
expect_text "$work/whole" '\(fastest\).*torch.matmul$' "a file gets every column"
COLUMNS=60 run report "$work/labelled.json"
expect_text "$work/out" '^Left out to fit 60 columns: ' "COLUMNS asks for less, and what is missing is named"
COLUMNS=60x run report "$work/labelled.json"
cmp -s "$work/out" "$work/whole"
verdict $? "a COLUMNS that is no number asks for nothing"

# --- completion of what it reads ---
"$bench" help --completion bash >"$work/completion"
for command in report compare; do
    (cd "$work" && bash -c 'source ./completion; COMP_WORDS=(cudal2-bench "$1" a.js) COMP_CWORD=2; _cudal2_bench; echo "${COMPREPLY[@]}"' words "$command") >"$work/words"
    [ "$(cat "$work/words")" = a.json ]
    verdict $? "bash completes files for $command" "$(cat "$work/words")"
done

# --- bad input ---
refuse() { # refuse CODE NAME PATTERN ARGUMENT...
    expect_refused "$1" "$2" "$3" report "${@:4}"
}
sed 's/"schema_version":1/"schema_version":2/' "$work/a.json" >"$work/version.json"
refuse 65 "another schema version" 'version.json: \$.schema_version: this is version 2 of the result file, and this program reads version 1' "$work/version.json"
sed 's,cudal2-bench/result,cudal2-bench/compare,' "$work/a.json" >"$work/schema.json"
refuse 65 "another schema" 'schema.json: \$.schema: ' "$work/schema.json"
head -c 400 "$work/a.json" >"$work/cut.json"
refuse 65 "a truncated result" 'cut.json: line 1' "$work/cut.json"
gzip -c "$work/a.json" | head -c 100 >"$work/cut.json.gz"
refuse 65 "a truncated compressed result" 'cut.json.gz: cannot be unpacked: the gzip file is cut short' "$work/cut.json.gz"
result "$(cell 128 0.5)" 2 >"$work/driver.json"
refuse 65 "mixed drivers" 'driver "2".*--mixed accepts it' "$work/a.json" "$work/driver.json"
run report "$work/a.json" "$work/driver.json" --mixed
expect_code 0 "mixed drivers with --mixed"
refuse 65 "one result twice" 'cell offline/f16-f32-64x64x64 is in' "$work/a.json" "$work/a.json"
result "$(cell 64 0.25),$(cell 64 0.5)" >"$work/twice.json"
refuse 65 "a cell twice" 'offline/f16-f32-64x64x64.* twice' "$work/twice.json"
result "$(cell 64 NaN)" >"$work/nan.json"
refuse 65 "NaN" 'nan.json: line 1' "$work/nan.json"
result "$(cell 64 null)" >"$work/null.json"
refuse 65 "a speedup without value" 'null.json: cell offline/f16-f32-64x64x64: a speedup without value' "$work/null.json" --format csv
refuse 65 "a speedup without value on a screen" 'null.json: cell .*: a speedup without value' "$work/null.json"
for form in '' csv html; do
    refuse 65 "a speedup without value in one of two${form:+, $form}" "$work/null.json: cell offline/f16-f32-64x64x64: a speedup" "$work/b.json" "$work/null.json" ${form:+--format "$form"}
    refuse 65 "the same, the other way round${form:+, $form}" "$work/null.json: cell" "$work/null.json" "$work/b.json" ${form:+--format "$form"}
done
result "$(cell 64 0.25 | sed 's/"speedups":.*/"speedups":[]}/')" >"$work/zero.json"
sed 's/"median_ns":1250/"median_ns":-5/' "$work/a.json" >"$work/negative.json"
refuse 65 "a negative time" 'negative.json: \$.cells\[0\].contenders\["torch.matmul"\].timings.device.median_ns: expected a number from 0.001 to 1e.15, found -5$' "$work/negative.json"
sed 's/"ci95":\[0.1,0.3\]/"ci95":[0.3,0.1]/' "$work/a.json" >"$work/turned.json"
refuse 65 "an interval the wrong way round" 'turned.json: \$.cells\[0\].speedups\[0\].ci95: expected the lower end first, found \[0.3, 0.1\]$' "$work/turned.json" --format csv
sed 's/"summary"/"sum"/' "$work/a.json" >"$work/summary.json"
refuse 65 "a result without its summary" 'summary.json: \$.summary: is missing: expected an object$' "$work/summary.json"
refuse 65 "zero blocks" 'nothing to report: no speedups' "$work/zero.json" --format markdown
result "" >"$work/none.json"
refuse 2 "no cells" 'no cells' "$work/none.json" --format csv
refuse 2 "no cells for a screen" 'no cells' "$work/none.json"
refuse 2 "no cells for a page" 'no cells' "$work/none.json" --format html
refuse 2 "no cells to export" 'no cells' "$work/none.json" --format bencher
refuse 65 "no times to export" 'no times in timing wall' "$work/a.json" --format prometheus --timing wall
refuse 2 "no figures" 'no cells' "$work/none.json" --format figures --output "$work/none"
# A result of skipped cells only: the screen and the page say why, and every format ends alike.
result "$(cell 64 0.5 | sed 's/"status":"ok"/"status":"skipped"/; s/"contenders":.*/"contenders":{},"speedups":[]}/')" >"$work/skipped.json"
for format in '' markdown csv latex json html bencher google-benchmark prometheus medians; do
    run report "$work/skipped.json" ${format:+--format "$format"}
    expect_code 2 "nothing measured${format:+, as $format}"
    expect_text "$work/err" '^cudal2-bench: nothing to report: no cell was measured' "nothing measured${format:+, as $format}: says so"
done
refuse 65 "a file that is not there" 'nowhere.json: cannot be read' "$work/nowhere.json"
mkdir "$work/empty"
refuse 65 "a directory without a run" 'no journal.jsonl or result.json' "$work/empty"
: >"$work/empty.json"
refuse 65 "an empty file" 'empty.json' "$work/empty.json"
refuse 65 "a timing that was not taken" 'no speedups in timing event' "$work/a.json" --timing event
refuse 65 "a table without rows" 'no rows for table 4' "$work/a.json" --table 4
refuse 65 "medians of a result without its journal" 'a.journal.jsonl is not there' "$work/a.json" --format medians
refuse 73 "a directory that cannot be made" '/proc/no' "$work/a.json" --format csv --output /proc/no
refuse 73 "a directory that is a file" 'a.json' "$work/a.json" --format csv --output "$work/a.json"
refuse 64 "nothing" 'name a result, a journal or --published' --format csv
refuse 64 "an empty name" 'argument 2 of report is empty' "$work/a.json" ""
refuse 64 "a table that there is not" 'there are tables 1 to 8' "$work/a.json" --table 9
refuse 64 "a format that there is not" 'expected text.markdown.*found "gif"' "$work/a.json" --format gif
refuse 64 "a format of compare" '--format: expected text.markdown.*result, found "junit"' "$work/a.json" --format junit
refuse 64 "the result of two" 'the format result is of one' "$work/a.json" "$work/version.json" --format result
refuse 64 "several files without a directory" 'give --output DIR' "$work/a.json" --format github-action
if [ -w /dev/full ]; then
    timeout 20 "$bench" report "$work/a.json" --format csv >/dev/full 2>"$work/err"
    code=$?
    expect_code 74 "a full disk"
fi
finish
