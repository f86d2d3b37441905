#!/bin/bash
# scripts/price.sh: runs of a small config on the CPU with the checks and without, and where these go, by
# mode; price-where.py on two journals in which it is known how much more the ratios scatter; and where
# price-scatter.py thinks that checks ran. Times nothing.
. "$(dirname "$0")/e2e.inc.sh"
top=$(cd "$(dirname "$0")/../.." && pwd)
cat >"$work/config.json" <<END
{"schema": "cudal2-bench/config", "schema_version": 1, "name": "price", "shapes": [{"m": 16, "n": 16, "k": 16}], "dtype": "f32",
 "accumulate": ["f32"], "layouts": ["nn"], "modes": ["offline", "server"], "baselines": ["$plugins/honest.so"], "candidates": ["$plugins/tunable.so"],
 "stop": {"group_blocks": 1, "min_blocks": 10, "least_blocks": 10, "max_blocks": 10, "look_every": 2}}
END
timeout 120 "$top/scripts/price.sh" -p "$bench" -d cpu -c "$work/config.json" -o "$work/price" -n 1 -r 1 -m 100 >"$work/out" 2>"$work/err"
verdict $? "the share is at most what was allowed" "$(tail -3 "$work/err")"
expect_text "$work/out" '^\| 1 \| 2 \| [0-9.]+ \| 20 \| [0-9.]+ \| 20 \|' "both modes, as many blocks"
expect_text "$work/out" '^The checks take -?[0-9.]+% \(-?[0-9.]+% to -?[0-9.]+%\) of the wall time' "with intervals"
expect_text "$work/out" '^\| offline \| 1 \| 10 \| 10 \| [0-9.]+ \([0-9.]+ to [0-9.]+\) \| 0\.[0-9] \|' "offline: blocks, scatter, seconds between them"
expect_text "$work/out" '^\| server \| 1 \| 10 \| 10 \|' "and server"
expect_text "$work/price/runs.txt" '^1 off [0-9]+$' "the run that compiles is not counted"
[ "$(wc -l <"$work/price/runs.txt")" -eq 2 ]
verdict $? "two runs are" "$(tr '\n' ';' <"$work/price/runs.txt")"
cmp -s "$work/out" "$work/price/price.txt"
verdict $? "price.txt has what was printed"
# Times of 1000 steps and so many more: a's scatter by 10, or by 20, b's do not.
journal() { # journal DIGITS OTHER
    cat <<END
{"kind":"cell","data":{"mode":"server","m":1,"n":1,"k":1,"accumulate":"f32","headline":"wall","group_blocks":[4,4],"phase_seconds":{"measure":1,"other":$2},"contenders":[{"name":"a","wall":"1:1000:$1"},{"name":"b","wall":"1:1000:AAAAAAAA"},{"name":"c"}]}}
END
}
journal UAUAUAUA 0.5 >"$work/on.jsonl"
journal KAKAKAKA 0 >"$work/off.jsonl"
"$top/scripts/price-where.py" "$work/on.jsonl" "$work/off.jsonl" >"$work/out" 2>"$work/err"
verdict $? "two journals are compared" "$(tail -1 "$work/err")"
expect_text "$work/out" '^\| server \| 1 \| 8 \| 8 \| 1\.99 \(1\.99 to 1\.99\) \| 0\.5 \| 0\.0 \| 33\.3% \(33\.3% to 33\.3%\) \|$' "twice the scatter, and half a second of one and a half"
"$top/scripts/price-scatter.py" "$work/price/1-on.journal.jsonl" "$work/price/1-off.journal.jsonl" >"$work/out" 2>"$work/err"
verdict $? "and by what lies behind a check" "$(tail -1 "$work/err")"
expect_text "$work/out" '^\| server \| 1 \| 10 \| 10 \| 1\.00 \(1\.00 to 1\.00\) \| ' "blocks and scatter"
class='0 to 20'
! grep -qa __asan_init "$bench" || class='[0-9]+ to [0-9]+' # launches take longer there
expect_text "$work/out" "^\\| $class \\| [1-9][0-9]* \\| " "blocks behind checks"
python3 - "$top/scripts" "$work/price/1-on.journal.jsonl" <<'END'
import sys

sys.path.insert(0, sys.argv[1])
from price_journal import cells, checked, entries

lines = entries(sys.argv[2])
run = next(entry["data"] for entry in lines if entry["kind"] == "run")
for cell in cells(lines).values():
    found = [c["verification"]["timed_checks"] for c in cell["contenders"] if c["name"].startswith("tunable")]
    assert found and set(found) == {len(checked(run, cell)) + 1}, (found, checked(run, cell))
END
verdict $? "a candidate has passed as many checks as were found, and one at the end"
finish
