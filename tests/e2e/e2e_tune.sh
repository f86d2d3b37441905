#!/bin/bash
# cudal2-bench tune on the CPU device: from shapes to a table, through variants that are wrong, crash and
# hang, through kill -9 and
# --resume; a few shapes searched again into a table; and `run` with the table: its own shapes, a neighbour's, a neighbour's that
# does not fit, another device's table.
# Times nothing.
. "$(dirname "$0")/e2e.inc.sh"
kernels=$work/kernels
mkdir -p "$kernels"
cp -R "$(dirname "$0")/../../kernels/harness" "$kernels/"
export CUDAL2_KERNELS=$kernels
shapes='{"m": 32, "n": 64, "k": 64}, {"m": 128, "n": 64, "k": 64}, {"m": 128, "n": 64, "k": 128}'
# Who is faster must show beside other tests: in one process times scatter less (docs/lab/trust-details.md).
config "$work/c.json" "$shapes" '"offline"' "\"$plugins/tunable.so\"" '"verify": {"process_per_plugin": false}'
journal=$work/t.journal.jsonl
table=$work/t.json

field() { # field FILE EXPRESSION: python over the JSON as `t`
    python3 -c "import json,sys; t=json.load(open(sys.argv[1])); print($2)" "$1"
}

# --- a whole search ---
export CUDAL2_TUNABLE=plain,slow,small,wrong
run tune --config "$work/c.json" --device cpu --output "$table" --seed 7
expect_code 0 "tune finishes"
expect_text "$work/out" '3 entries from 3 problems' "and says what came of it"
expect_text "$work/out" "table: $table" "and where the table is"
[ "$(field "$table" '[t["variants"][e["variant"]] for e in t["entries"]]')" = "['small', 'plain', 'plain']" ]
verdict $? "the fastest right variant wins each shape" "$(field "$table" 't["entries"]')"
# On a busy machine a final may end with too few groups for an interval: then the table has none.
[ "$(field "$table" 'all(e.get("low_ns", 0) <= e["time_ns"] <= e.get("high_ns", 1e18) for e in t["entries"])')" = True ]
verdict $? "every time lies in its interval" "$(field "$table" 't["entries"]')"
[ "$(field "$table" '[t["variants"][e["runner_up"]] for e in t["entries"]]')" = "['plain', 'slow', 'slow']" ]
verdict $? "the runner-up is the second of the final" "$(field "$table" 't["entries"]')"
[ "$(field "$table" 'all(e["reference"] == "honest-nn" and e["reference_ns"] > 0 for e in t["entries"])')" = True ]
verdict $? "the baseline stands beside it"
[ "$(field "$table" 't["commit"] != "unknown" and t["device"] != "unknown" and t["driver"] != "unknown"')" = True ]
verdict $? "device, driver and commit are told"
expect_text "$journal" '"key":"wrong"' "the wrong variant is written down as rejected"
run tune --config "$work/c.json" --device cpu --output "$table" --seed 7
expect_code 73 "an existing table is not overwritten without --resume"

# --- run with it ---
config "$work/r.json" "{\"m\": 32, \"n\": 64, \"k\": 64}, {\"m\": 64, \"n\": 64, \"k\": 64}, {\"m\": 128, \"n\": 64, \"k\": 128}" '"offline"' \
    "\"$plugins/tunable.so\"" '"stop": {"min_blocks": 4, "look_every": 2, "max_blocks": 4, "group_blocks": 2}'
cells() { # contender tunable-nn of each cell: source, variants, neighbours, accepted by the contender
    python3 - "$1" <<'END'
import json, sys
for line in open(sys.argv[1]):
    entry = json.loads(line)
    if entry["kind"] != "cell":
        continue
    cell = entry["data"]
    for c in cell["contenders"]:
        if c["name"] == "tunable-nn":
            t = c["tuning"]
            print(cell["m"], c.get("status", "ok"), t.get("source", "own"), t["variants"], ",".join(t.get("neighbours", [])), t.get("distance", ""))
END
}
run --config "$work/r.json" --device cpu --output "$work/run.json" --tuned "$table"
expect_code 0 "run takes the table"
cells "$work/run.journal.jsonl" >"$work/cells"
expect_text "$work/cells" '^32 ok tuned 1 ' "a shape of the table has its winner"
expect_text "$work/cells" '^128 ok tuned 1 ' "another one too"
expect_text "$work/cells" '^64 ok neighbour [2-4] 128x64x64/nn,?.* 1$' "a shape between races the nearest neighbour that fits (32x64x64's does not) and the contender's own"
expect_text "$work/run.journal.jsonl" '"tuned":\{"t":\{"hash"' "the environment names the table"
run --config "$work/r.json" --device cpu --output "$work/none.json" --tuned none
expect_code 0 "--tuned none"
for pair in "none $table" "$table none" "none none"; do
    run --config "$work/r.json" --device cpu --output "$work/x.json" --tuned "${pair% *}" --tuned "${pair#* }"
    expect_code 64 "--tuned none beside another"
    expect_text "$work/err" '^cudal2-bench: --tuned: none goes with no other table$' "says so"
done
cells "$work/none.journal.jsonl" >"$work/cells"
expect_text "$work/cells" '^64 ok own 4 ' "without a table everything races"

# --- where run looks by itself ---
name=$(sed -n 's/^\([a-z0-9-]*\): 3 entries.*/\1/p' "$work/out.tune" 2>/dev/null)
pushd "$work" >/dev/null # where its journal goes: other tests look at what is in theirs
run tune --config "$work/c.json" --device cpu --seed 7 --quiet
popd >/dev/null
expect_code 0 "tune without --output"
[ -e "$work/cudal2-tune-e2e-f32-offline.journal.jsonl" ]
verdict $? "its journal is in the current directory"
installed=$(ls "$kernels"/tuned/*.json 2>/dev/null)
[ -n "$installed" ] && [ "$(field "$installed" 'len(t["entries"])')" -eq 3 ]
verdict $? "writes the kernel directory's table of this device" "${installed:-nothing}"
run --config "$work/r.json" --device cpu --output "$work/own.json"
cells "$work/own.journal.jsonl" >"$work/cells"
expect_text "$work/cells" '^32 ok tuned ' "run finds it by itself"

# --- tables that are not for here ---
sed 's/"device": "[^"]*"/"device": "Another GPU"/' "$table" >"$work/other.json"
run --config "$work/r.json" --device cpu --output "$work/x.json" --tuned "$work/other.json"
expect_code 65 "another device's table is refused"
expect_text "$work/err" 'Another GPU.*--force' "with both names and the way out"
run --config "$work/r.json" --device cpu --output "$work/forced.json" --tuned "$work/other.json" --force
expect_code 0 "and taken with --force"
sed 's/"variant":[0-9]*/"variant":99/' "$table" >"$work/broken.json"
run --config "$work/r.json" --device cpu --output "$work/x.json" --tuned "$work/broken.json"
expect_code 65 "a table that is not one is refused"
expect_text "$work/err" 'entries\[0\].variant' "with the place"
rm -rf "$kernels/tuned"

# --- a few shapes are searched again ---
config "$work/u.json" '{"m": 32, "n": 64, "k": 64}, {"m": 256, "n": 64, "k": 64}' '"offline"' "\"$plugins/tunable.so\"" '"verify": {"process_per_plugin": false}'
whole=$work/whole.json
sed 's/"commit": "[^"]*"/"commit": "older"/' "$table" >"$whole"
entries='[[e["m"], e["k"], t["variants"][e["variant"]], e.get("commit", "new")] for e in t["entries"]]'
CUDAL2_TUNABLE=plain,slow,small run tune --config "$work/u.json" --device cpu --output "$whole" --seed 7 --update
expect_code 0 "--update goes into a table that is there"
expect_text "$work/out" '2 entries from 2 problems \(1 replaced, 1 added, 2 kept\)' "and says what became of its entries"
[ "$(field "$whole" "$entries")" = "[[32, 64, 'small', 'new'], [128, 64, 'plain', 'older'], [128, 128, 'plain', 'older'], [256, 64, 'plain', 'new']]" ]
verdict $? "the others are kept, under the commit that measured them" "$(field "$whole" "$entries")"
[ "$(grep -c '"m":128' "$whole")" -eq 2 ] && [ "$(field "$whole" "[e['time_ns'] for e in t['entries'] if e['m'] == 128]")" = "$(field "$table" "[e['time_ns'] for e in t['entries'] if e['m'] == 128]")" ]
verdict $? "with their times"
[ "$(field "$whole" 't["commit"]')" = "$(field "$table" 't["commit"]')" ]
verdict $? "the table's own commit is the new search's" "$(field "$whole" 't["commit"]')"
cp "$whole" "$work/first.json"
CUDAL2_TUNABLE=plain,slow,small run tune --config "$work/u.json" --device cpu --output "$whole" --seed 7 --update --resume
expect_code 0 "--resume with nothing left"
cmp -s "$whole" "$work/first.json"
verdict $? "writes the same table again"
run --config "$work/r.json" --device cpu --output "$work/updated.json" --tuned "$whole"
expect_code 0 "run takes such a table"
rm -f "${whole%.json}.journal.jsonl"
# The old winner of M = 32 gets a time that no search on this machine reaches, however busy it is.
python3 - "$table" >"$whole" <<'END'
import json
import sys

t = json.load(open(sys.argv[1]))
t["commit"] = "older"
for e in t["entries"]:
    if e["m"] == 32:
        e.update({key: e[key] / 16 for key in ("time_ns", "low_ns", "high_ns") if key in e})
json.dump(t, sys.stdout, indent=2)
END
for resume in '' --resume; do
    cp "$whole" "$work/first.json"
    CUDAL2_TUNABLE=plain,slow run tune --config "$work/u.json" --device cpu --output "$whole" --seed 7 --update $resume
    expect_code 0 "a search that leaves a table's winner out${resume:+, again,}"
    expect_text "$work/out" '2 entries from 2 problems \([01] replaced, [01] added, 1 stayed, 2 kept\)' "says that the entry stayed"
    [ "$(field "$whole" "$entries")" = "[[32, 64, 'small', 'older'], [128, 64, 'plain', 'older'], [128, 128, 'plain', 'older'], [256, 64, 'plain', 'new']]" ]
    verdict $? "under its commit" "$(field "$whole" "$entries")"
    [ "$(field "$whole" 't["variants"][t["entries"][0]["runner_up"]]')" = plain ]
    verdict $? "before what the search found" "$(field "$whole" 't["entries"][0]')"
done
cmp -s "$whole" "$work/first.json"
verdict $? "and --resume writes the same table again"
mv "$work/other.json" "$work/else.json"
cp "$work/else.json" "$work/first.json"
run tune --config "$work/u.json" --device cpu --output "$work/else.json" --update
expect_code 65 "another device's table is refused"
expect_text "$work/err" '^cudal2-bench: --update: .*Another GPU' "by name"
[ "$(grep -c '^cudal2-bench: ' "$work/err")" -eq 1 ] && [ ! -e "$work/else.journal.jsonl" ] && cmp -s "$work/else.json" "$work/first.json"
verdict $? "in one line, before anything is measured, and not written over" "$(cat "$work/err")"

# --- variants that take the worker with them are lost alone ---
rm -f "$table" "$journal"
CUDAL2_TUNABLE=plain,crash,hang,slow run tune --config "$work/c.json" --device cpu --output "$table"
expect_code 0 "tune survives a variant that crashes and one that hangs"
[ "$(field "$table" '[t["variants"][e["variant"]] for e in t["entries"]]')" = "['plain', 'plain', 'plain']" ]
verdict $? "the others are all there" "$(field "$table" 't["entries"]')"
expect_text "$journal" '"key":"crash","reason":"crash in stage' "the crash is written down"
expect_text "$journal" '"key":"hang","reason":"hang in stage' "and the hang"
[ "$(grep -c '"kind":"env"' "$journal")" -eq 3 ]
verdict $? "each cost a worker once, not once a shape" "$(grep -c '"kind":"env"' "$journal") workers"

# --- killed at any time ---
rm -f "$table" "$journal"
RANDOM=${SEED:-$$}
echo "# SEED=$RANDOM"
more=
for m in 40 56 72 88; do more="$more${more:+, }{\"m\": $m, \"n\": 64, \"k\": 128}"; done
config "$work/k.json" "$more" '"offline"' "\"$plugins/tunable.so\""
export CUDAL2_TUNABLE=plain,small
kills=0
lost=0
seen=0
for round in 1 2 3; do # the first at any time, the others when a shape more is finished
    "$bench" tune --config "$work/k.json" --device cpu --output "$table" --seed 3 --resume >/dev/null 2>"$work/err" </dev/null &
    pid=$!
    while [ "$round" -gt 1 ] && kill -0 "$pid" 2>/dev/null; do
        [ "$(journal_cells "$journal" 2>/dev/null | wc -l)" -gt "$seen" ] && break
        sleep 0.05
    done
    sleep "$(printf '0.%03d' $((RANDOM % 400)))"
    kill -9 "$pid" 2>/dev/null && kills=$((kills + 1))
    wait "$pid" 2>/dev/null
    now=$(journal_cells "$journal" 2>/dev/null | wc -l)
    [ "$now" -lt "$seen" ] && lost=$((lost + 1))
    seen=$now
done
[ "$kills" -ge 2 ]
verdict $? "the tuner was killed in the middle" "$kills times"
[ "$lost" -eq 0 ]
verdict $? "no finished shape is lost" "$lost times; $seen are there"
run tune --config "$work/k.json" --device cpu --output "$table" --seed 3 --resume
expect_code 0 "--resume finishes"
[ "$(journal_cells "$journal" | sort | uniq -d | wc -l)" -eq 0 ] && [ "$(journal_cells "$journal" | wc -l)" -eq 4 ]
verdict $? "every shape is there once"
[ "$(field "$table" 'len(t["entries"])')" -eq 4 ]
verdict $? "and in the table"
cp "$table" "$work/first.json"
run tune --config "$work/k.json" --device cpu --output "$table" --seed 3 --resume
cmp -s "$table" "$work/first.json"
verdict $? "the table is a function of the journal"

# --- budget ---
rm -f "$table" "$journal"
run tune --config "$work/k.json" --device cpu --output "$table" --budget 0.2
expect_code 75 "a budget ends the search"
expect_text "$work/err" 'the budget is spent' "and says so"

# --- wrong use ---
config "$work/none.json" '{"m": 8, "n": 8, "k": 8}' '"offline"' ''
run tune --config "$work/none.json" --device cpu --output "$work/n.json"
expect_code 64 "nothing to tune"
expect_text "$work/err" 'no candidate' "is said"
config "$work/single.json" '{"m": 8, "n": 8, "k": 8}' '"offline"' "\"$plugins/steady.so\""
run tune --config "$work/single.json" --device cpu --output "$work/single.table.json"
expect_code 69 "a candidate without variants"
expect_text "$work/err" 'nothing to search on device cpu: steady has no variants to choose among' "is said before anything is measured"
[ "$(wc -l <"$work/err")" -eq 1 ] && [ "$(ls "$work" | grep -c '^single.table')" -eq 0 ]
verdict $? "and nothing is left behind" "$(ls "$work" | tr '\n' ' ')"
run tune
expect_code 64 "tune needs a config"
finish
