#!/bin/bash
# Cache rotate: no operand is still cached, and record, result, tables, exports, page and compare say how that
# was done; nothing of it where the cache is warm.
# Times nothing.
. "$(dirname "$0")/e2e.inc.sh"
config "$work/r.json" '{"m": 16, "n": 24, "k": 32}' '"server"' "\"$plugins/steady.so\"" \
    '"stop": {"min_blocks": 8, "look_every": 8, "max_blocks": 8, "group_blocks": 4, "max_cell_seconds": 2}, "server": {"cache": "rotate", "mean_gap_ms": 0.1}'
run --config "$work/r.json" --device cpu --quiet --output "$work/r.out.json"
expect_code 0 "a run with rotated operands"
# 72 sets of a few KB hold less than any last-level cache: it is emptied.
known=full
[ "$(getconf LEVEL3_CACHE_SIZE 2>/dev/null || echo 0)" -gt 0 ] || known='(full|unknown)'
expect_text "$work/r.out.journal.jsonl" "\"rotation\":\\{\"rotation\":\"$known\",\"by\":\"flush\",\"sets\":72,\"bytes\":[0-9]+,\"cache_bytes\":[0-9]+" "its record says how"
expect_text "$work/r.out.json" '"rotation":"(flush|unknown)"' "so does its result"
run report "$work/r.out.json"
expect_text "$work/out" '^16x24x32[\^!] ' "the row has a mark"
expect_text "$work/out" '^(\^ rotated, and the cache emptied: |! rotated, but )' "with its note"
expect_text "$work/out" '^Rotated: in [01] cells? no operand was still in the cache, in [01] of them because it was emptied' "and the whole a line"
run report "$work/r.out.json" --format shapes
expect_text "$work/out" ',rotate,(flush|unknown),' "shapes have it"
run report "$work/r.out.json" --format html --output "$work/page"
expect_text "$work/page/report.html" '"ro":"(flush|unknown)"' "the page has it"

# --- a run that left operands cached ---
sed -E 's/"rotation":"(flush|unknown)"/"rotation":"partial"/' "$work/r.out.json" >"$work/old.json"
run report "$work/old.json"
expect_text "$work/out" '^16x24x32! ' "operands that may be cached are marked"
expect_text "$work/out" '^! rotated, but operands may still have been in the cache$' "with their own note"
expect_text "$work/out" '^Rotated: in 0 cells .*; in 1 operands may have been \(rotation in the result\)$' "and counted"

sed 's/"cache": "rotate", //' "$work/r.json" >"$work/warm.json"
run --config "$work/warm.json" --device cpu --quiet --output "$work/warm.out.json"
expect_no_text "$work/warm.out.journal.jsonl" '"rotation":' "a warm run has none"
run report "$work/warm.out.json"
expect_no_text "$work/out" 'rotated|x32[\^!]' "nor its table"
finish
