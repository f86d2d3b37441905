#!/bin/bash
# Somebody deletes, replaces or rewrites the journal of a run that is going on: it ends at once with one line,
# and nothing is lost.
# Times nothing.
. "$(dirname "$0")/e2e.inc.sh"
stop='"stop": {"min_blocks": 8, "look_every": 4, "max_blocks": 60000, "group_blocks": 2, "max_cell_seconds": 4}'
shapes='{"m": 16, "n": 24, "k": 32}, {"m": 8, "n": 8, "k": 8}'
results=$work/results
journal=$results/r.journal.jsonl
config "$work/c.json" "$shapes" '"offline"' "\"$plugins/steady.so\"" "$stop"

during() { # during NAME COMMAND...: does it when the journal has its first cell
    local name=$1 runner
    shift
    rm -rf "$results" "$work"/*.rescued*
    mkdir "$results"
    (run --config "$work/c.json" --device cpu --output "$results/r.json"; exit "$code") &
    runner=$!
    for _ in $(seq 300); do
        [ -e "$journal" ] && grep -q '"kind":"cell"' "$journal" && break
        sleep 0.1
    done
    "$@"
    started=$SECONDS
    wait "$runner"
    code=$?
    took=$((SECONDS - started))
    expect_code 74 "$name: ends"
    [ "$took" -le 3 ]
    verdict $? "$name: seen within the cell" "after $took s"
    [ "$(grep -c '^cudal2-bench: ' "$work/err")" -eq 1 ]
    verdict $? "$name: one line" "$(tail -3 "$work/err")"
}

goes_on() { # goes_on NAME RESCUED: moved back, the run is finished
    local name=$1
    mkdir -p "$results"
    rm -f "$journal"
    [ -e "$2" ] && mv "$2" "$journal"
    verdict $? "$name: its lines are in ${2#"$work"/}" "$(tail -1 "$work/err")"
    run --config "$work/c.json" --device cpu --output "$results/r.json" --resume
    expect_code 0 "$name: --resume goes on from there"
    [ "$(journal_cells "$journal" | sort -u | wc -l)" -eq 2 ] && [ "$(journal_cells "$journal" | wc -l)" -eq 2 ]
    verdict $? "$name: every cell exactly once"
}

replace() { cp "$journal" "$journal.new" && mv "$journal.new" "$journal"; }
rewrite() { printf 9 | dd of="$journal" bs=1 seek=60 conv=notrunc status=none; }

during deleted rm "$journal"
expect_text "$work/err" 'r.journal.jsonl was deleted while the run wrote it: all [0-9]+ lines are in ' "deleted: said so"
goes_on deleted "$journal.rescued"
during "directory deleted" rm -r "$results"
goes_on "directory deleted" "$work/r.journal.jsonl.rescued"
during replaced replace
expect_text "$work/err" 'was replaced by another file' "replaced: said so"
during rewritten rewrite
expect_text "$work/err" 'was changed by somebody else' "rewritten: said so"
goes_on rewritten "$journal.rescued"
finish
