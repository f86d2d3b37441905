#!/bin/bash
# Exports before the programs that they are for: promtool and node_exporter, junitparser, Google Benchmark's
# compare.py, pandas and duckdb. `scripts/consumers.sh` (and for the last three `scripts/consumers.sh all`)
# puts them where this test finds them; what is not here is skipped with a line. Jenkins' junit-10.xsd and
# Bencher's schema come in no package: their rules, in our own words, are in fixtures/data/junit.xsd
# (e2e_hostile) and test_exports.
# Times nothing.
without_plugins=yes
. "$(dirname "$0")/e2e.inc.sh"
consumers=$(dirname "$bench")/consumers
export PATH=$PATH:$consumers/bin PYTHONPATH=$consumers/python
python=${PYTHON:-python3}
journal=tests/fixtures/data/journals/11-24g-offline-f16
other=tests/fixtures/data/journals/11-21-offline-f16
skip() { echo "skip: $1 (not here: scripts/consumers.sh${2:+ $2} gets it)"; }
has() { command -v "$1" >/dev/null; }
module() { "$python" -c "import $1" 2>/dev/null; }

# --- Prometheus: two runs in the directory of one node exporter ---
mkdir "$work/collector"
run report "$journal" --format prometheus && cp "$work/out" "$work/collector/a.prom"
run report "$other" --format prometheus && cp "$work/out" "$work/collector/b.prom"
expect_code 0 "two runs as metrics"
if has promtool; then
    for file in "$work"/collector/*.prom; do
        promtool check metrics <"$file" >"$work/said" 2>&1
        verdict $? "promtool accepts $(basename "$file")" "$(head -3 "$work/said")"
    done
else
    skip promtool
fi
exporter=$(command -v node_exporter || command -v prometheus-node-exporter)
if [ -n "$exporter" ] && has "$python"; then
    "$exporter" --web.listen-address=127.0.0.1:0 --collector.disable-defaults --collector.textfile --collector.textfile.directory="$work/collector" >"$work/log" 2>&1 &
    served=$!
    at_exit() { kill "$served" 2>/dev/null; }
    cat >"$work/scrape.py" <<'END'
import re, sys, time, urllib.request
log, a, b = sys.argv[1:]
for _ in range(200):
    port = re.search(r"address=127\.0\.0\.1:(\d+)", open(log).read())
    if port:
        break
    time.sleep(0.05)
text = urllib.request.urlopen("http://127.0.0.1:%s/metrics" % port.group(1)).read().decode()
assert re.search(r"^node_textfile_scrape_error 0$", text, re.M), "a scrape error"
series = lambda path: {line.rsplit(" ", 1)[0].split("{")[0] for line in open(path) if not line.startswith("#")}
for path in (a, b):
    assert path and series(path) <= {line.split("{")[0] for line in text.splitlines()}, path
ours = lambda lines: sum(line.startswith("cudal2_bench_time_seconds{") for line in lines)
assert ours(text.splitlines()) == ours(open(a)) + ours(open(b)) > 0, "series are lost"
END
    "$python" "$work/scrape.py" "$work/log" "$work/collector/a.prom" "$work/collector/b.prom" 2>"$work/err"
    verdict $? "node_exporter serves both, without a scrape error" "$(tail -1 "$work/err"); $(grep -i error "$work/log" | head -2)"
    ! grep -qi 'level=error' "$work/log"
    verdict $? "and logs none" "$(grep -i level=error "$work/log" | head -2)"
    kill "$served"
else
    skip node_exporter
fi

# --- JUnit ---
run compare "$journal" "$journal" --format junit
if module junitparser; then
    "$python" -c 'import junitparser, sys
suites = junitparser.JUnitXml.fromfile(sys.argv[1])
assert sum(len(suite) for suite in suites) == suites.tests > 0' "$work/out" 2>"$work/err"
    verdict $? "junitparser reads a comparison" "$(tail -1 "$work/err")"
else
    skip junitparser
fi

# --- Google Benchmark's own tool, U test and all ---
run report "$journal" --format google-benchmark && cp "$work/out" "$work/google.json"
tool=$consumers/benchmark/compare.py
if [ -e "$tool" ] && module scipy; then
    "$python" "$tool" --no-color benchmarks "$work/google.json" "$work/google.json" >"$work/out" 2>"$work/err"
    verdict $? "compare.py compares two exports" "$(tail -1 "$work/err")"
    expect_text "$work/out" 'cudal2-nn_pvalue +1\.0000' "with p values, 1 of a run against itself"
else
    skip "Google Benchmark's compare.py" all
fi

# --- CSV ---
run report "$journal" --format csv --output "$work/tables"
run report "$journal" --format shapes && cp "$work/out" "$work/tables/shapes.csv"
for reader in pandas duckdb; do
    module $reader || { skip "$reader" all && continue; }
    "$python" -c 'import importlib, sys
reader = importlib.import_module(sys.argv[1])
for path in sys.argv[2:]:
    table = reader.read_csv(path)
    rows, columns = (len(table), list(table.columns)) if sys.argv[1] == "pandas" else (len(table.fetchall()), table.columns)
    assert rows > 0 and ",".join(columns) == open(path).readline().strip(), path' $reader "$work"/tables/*.csv 2>"$work/err"
    verdict $? "$reader reads every CSV under its own heads" "$(tail -1 "$work/err")"
done
finish
