#!/bin/bash
# A plugin that multiplies by a library under another name is told of, in the record, on the screen and on the
# page; one that multiplies itself is not.
. "$(dirname "$0")/e2e.inc.sh"
shapes='{"m": 64, "n": 64, "k": 64}'
stop='"stop": {"min_blocks": 8, "look_every": 4, "max_blocks": 8, "group_blocks": 2, "max_cell_seconds": 4}'
config "$work/c.json" "$shapes" '"offline"' "\"$plugins/borrows.so\", \"$plugins/steady.so\"" "$stop"
run --config "$work/c.json" --device cpu --output "$work/r.json"
expect_code 0 "both are timed, and nobody has a verdict"
expect_text "$work/out" '^  borrows-nn: OpenBLAS \(nothing-[0-9]*\.so.*\), in 1 cell; it does not say so$' "the screen tells whose product it was"
expect_no_text "$work/out" '^  steady-nn: [A-Z]' "and nothing of the other"
grep -o '"borrowed":\["[^]]*' "$work/r.journal.jsonl" | grep -q '"OpenBLAS: nothing-'
verdict $? "the record has it" "$(grep -o '"borrowed".\{80\}' "$work/r.journal.jsonl")"
python3 - "$work/r.json" <<'END'
import json, sys
rows = json.load(open(sys.argv[1]))["summary"]["borrowed"]
assert [(r["contender"], r["library"], r["cells"], r["declared"]) for r in rows] == [("borrows-nn", "OpenBLAS", 1, False)], rows
END
verdict $? "the summary has it"
run report "$work/r.json" --format html --output "$work/page"
expect_text "$work/page/report.html" '"library":"OpenBLAS"' "and the page"

finish
