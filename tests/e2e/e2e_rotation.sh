#!/bin/bash
# What cache rotate achieved is in each cell's record, and nothing of it where the cache is warm.
. "$(dirname "$0")/e2e.inc.sh"
config "$work/r.json" '{"m": 16, "n": 24, "k": 32}' '"server"' "\"$plugins/steady.so\"" \
    '"stop": {"min_blocks": 8, "look_every": 8, "max_blocks": 8, "group_blocks": 4, "max_cell_seconds": 2}, "server": {"cache": "rotate", "mean_gap_ms": 0.1}'
run --config "$work/r.json" --device cpu --quiet --output "$work/r.out.json"
expect_code 0 "a run with rotated operands"
expect_text "$work/r.out.journal.jsonl" '"rotation":\{"rotation":"(full|partial|none)","sets":[0-9]+,"bytes":[0-9]+,"cache_bytes":[0-9]+' "its record says what was achieved"
# 64 sets of a few KB stay in any last-level cache that the system tells of.
cache=$(getconf LEVEL3_CACHE_SIZE 2>/dev/null || echo 0)
[ "${cache:-0}" -lt 1000000 ] ||
    expect_text "$work/r.out.journal.jsonl" '"rotation":"partial".*"reason":"the most sets' "and that small sets are still cached, with the reason"
sed 's/"cache": "rotate", //' "$work/r.json" >"$work/warm.json"
run --config "$work/warm.json" --device cpu --quiet --output "$work/warm.out.json"
expect_no_text "$work/warm.out.journal.jsonl" '"rotation":' "a warm run has none"
finish
