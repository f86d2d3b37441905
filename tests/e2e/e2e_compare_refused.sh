#!/bin/bash
# `compare` where there is nothing to compare, or not all of it: other modes, wrong results, cells that were
# skipped, files that are none of its own. No verdict here depends on a time.
# Times nothing.
. "$(dirname "$0")/e2e.inc.sh"
stop='"stop": {"min_blocks": 12, "look_every": 4, "max_blocks": 12, "group_blocks": 4, "max_cell_seconds": 60}'
config "$work/c.json" '{"m": 48, "n": 48, "k": 48}, {"m": 40, "n": 56, "k": 64}' '"offline"' "\"$work/mine.so\"" "$stop"
cp "$plugins/steady.so" "$work/mine.so"

measure() { # measure NAME [OPTION]...
    local name=$1
    shift
    run --config "$work/c.json" --device cpu --quiet --output "$work/$name.json" "$@"
}

# --- not comparable ---
measure base
measure same
measure server --mode server
run compare "$work/base.json" "$work/server.json"
expect_code 2 "another mode"
expect_text "$work/err" 'modes: \["offline"\] in BASE, \["server"\] in NEW' "another mode: says so"
run compare "$work/base.json" "$work/server.json" --force --no-color
expect_code 2 "another mode, forced: everything is missing"
expect_text "$work/out" '^MISSING ' "MISSING rows"
measure wrong --candidate "$plugins/bad_wrong.so"
run compare "$work/base.json" "$work/wrong.json" --delta 90
expect_code 3 "a wrong result in NEW"
expect_text "$work/err" 'bad-wrong-nn in offline/' "a wrong result in NEW: named"

# --- bad input: one line, the right code ---
refuse() { # refuse CODE NAME PATTERN ARGUMENT...
    expect_refused "$1" "$2" "$3" compare "${@:4}"
}
for file in base.json base.journal.jsonl; do cp "$work/$file" "$work/bad${file#base}"; done
sed -i 's/"schema_version":1/"schema_version":2/' "$work/bad.json"
refuse 65 "another schema version" 'schema_version: this is version 2 of the result file' "$work/base.json" "$work/bad.json"
head -c 500 "$work/base.json" >"$work/bad.json"
refuse 65 "truncated result" 'bad.json' "$work/base.json" "$work/bad.json"
grep '"kind":"cell"' "$work/base.journal.jsonl" | head -1 >>"$work/bad.journal.jsonl"
refuse 65 "a cell twice" 'is there twice' "$work/base.json" "$work/bad.journal.jsonl"
sed 's/"headline":"wall"/"headline":NaN/' "$work/base.journal.jsonl" >"$work/bad.journal.jsonl"
refuse 65 "damaged journal" 'bad.journal.jsonl' "$work/base.json" "$work/bad.journal.jsonl"
cp "$work/base.json" "$work/alone.json"
refuse 65 "a result without its journal" 'alone.journal.jsonl is not there' "$work/base.json" "$work/alone.json"
refuse 65 "a file that is not there" 'nowhere' "$work/base.json" "$work/nowhere.json"
refuse 65 "a config" 'c.json' "$work/c.json" "$work/base.json"
# A cell that does not fit: skipped, and never taken for one that was measured.
skipping() { # skipping NAME BYTES
    config "$work/skip.json" '{"m": 16, "n": 16, "k": 16}, {"m": 256, "n": 256, "k": 64}' '"offline"' "\"$work/mine.so\"" \
        '"stop": {"min_blocks": 24, "look_every": 8, "max_blocks": 24, "group_blocks": 4, "max_cell_seconds": 60}'
    sed -i "s/\"limits\": {/&\"memory_bytes\": $2, /" "$work/skip.json"
    run --config "$work/skip.json" --device cpu --quiet --output "$work/$1.json"
}
skipping none 1
expect_code 2 "neither cell fits"
expect_no_text "$work/err" 'contenders? failed' "a skipped cell is no contender's failure"
needs=$(grep -o 'needs [0-9]* bytes' "$work/none.journal.jsonl" | grep -o '[0-9]*' | sort -n | uniq)
tight=$(((${needs%%[!0-9]*} + ${needs##*[!0-9]}) / 2))
skipping fits 4000000000
expect_code 0 "both cells fit"
skipping tight $tight
expect_code 0 "one cell does not fit"
expect_text "$work/out" 'skipped' "the table says that it was skipped"
skipping tight2 $tight
run compare "$work/fits.json" "$work/tight.json" --delta 90
expect_code 2 "skipped in NEW: exit status 2"
expect_text "$work/out" '^MISSING .*256x256x64 .*NEW skipped this cell: needs [0-9]+ bytes' "skipped in NEW: MISSING, with the bytes"
run compare "$work/tight.json" "$work/fits.json" --delta 90
expect_code 2 "skipped in BASE: exit status 2"
expect_text "$work/out" '^MISSING .*256x256x64 .*BASE skipped this cell: needs [0-9]+ bytes' "skipped in BASE: MISSING, with the bytes"
run compare "$work/tight.json" "$work/tight2.json" --delta 90
expect_code 0 "skipped in both: no alarm"
expect_text "$work/out" '^note: 1 cell skipped in both runs, and not compared: .*256x256x64 needs' "skipped in both: says so"
# As results are kept: a directory for each run, its files compressed.
for side in base same; do
    mkdir "$work/kept-$side"
    gzip -c "$work/$side.journal.jsonl" >"$work/kept-$side/journal.jsonl.gz"
    gzip -c "$work/$side.json" >"$work/kept-$side/result.json.gz"
done
run compare "$work/base.json" "$work/same.json"
plain=$code
sed "s/$(echo "$work" | sed 's,/,.,g')[^ ]*//g" "$work/out" >"$work/plain"
run compare "$work/kept-base" "$work/kept-same/result.json.gz"
[ "$code" -eq "$plain" ] && sed "s/$(echo "$work" | sed 's,/,.,g')[^ ]*//g" "$work/out" | cmp -s - "$work/plain"
verdict $? "directories and compressed files compare like plain ones" "$code; $(cat "$work/err")"
head -c 900 "$work/kept-base/journal.jsonl.gz" >"$work/bad.jsonl.gz"
refuse 65 "a compressed journal that is cut short" 'bad.jsonl.gz.*cut short' "$work/bad.jsonl.gz" "$work/same.json"
mkdir "$work/empty"
refuse 65 "a directory without a run" 'no journal.jsonl or result.json' "$work/empty" "$work/same.json"
refuse 64 "one file" 'BASE and NEW, not 1' "$work/base.json"
refuse 64 "three files" 'BASE and NEW, not 3 .--agreement takes several BASE' "$work/base.json" "$work/same.json" "$work/same.json"
refuse 64 "a format of report" 'latex' "$work/base.json" "$work/same.json" --format latex
refuse 64 "a delta of everything" 'below 100' "$work/base.json" "$work/same.json" --delta 100
finish
