#!/bin/bash
# scripts/keep-run.sh: a run as it is committed. Its paths are renamed, its checksums hold, what a journal
# says is not touched. And scripts/journal-cut.py: a journal without the cells of another, or with times by
# device alone.
# Times nothing.
. "$(dirname "$0")/e2e.inc.sh"
export CUDAL2_BENCH=$bench

keep() { # keep ARGUMENT...
    timeout -k 5 60 scripts/keep-run.sh "$@" >"$work/out" 2>"$work/err" </dev/null
    code=$?
}
mkdir "$work/there"
config "$work/there/c.json" '{"m":32,"n":32,"k":32},{"m":48,"n":32,"k":32}' '"offline"' "\"$plugins/steady.so\""
run run --config "$work/there/c.json" --output "$work/there/x.json"
expect_code 0 "a run"
echo "written by $plugins" >"$work/there/x.log"
keep -p "$work/there=RUN" -p "$plugins=PLUGINS" -p "$(dirname "$bench")=BUILD" "$work/there/x.journal.jsonl" "$work/kept/gpu/day"
expect_code 0 "is kept"
expect_text "$work/out" 'journal.jsonl.gz result.json.gz run.log' "with journal, result and log"
expect_no_text "$work/out" 'still there' "and no path of this machine"
zcat "$work/kept/gpu/day/journal.jsonl.gz" >"$work/journal.jsonl"
expect_text "$work/journal.jsonl" '"RUN/c.json"' "paths have their names"
expect_text "$work/kept/gpu/day/run.log" '^written by PLUGINS$' "in the log too"
[ "$(grep -c . "$work/journal.jsonl")" -eq "$(grep -c . "$work/there/x.journal.jsonl")" ] &&
    [ -z "$(diff <(sed -e 's/"crc":"[^"]*"//' "$work/journal.jsonl") <(sed -e 's/"crc":"[^"]*"//' -e "s#$work/there#RUN#g; s#$plugins#PLUGINS#g; s#$(dirname "$bench")#BUILD#g" "$work/there/x.journal.jsonl"))" ]
verdict $? "nothing else in it is touched"
for file in "$work/kept/gpu/day/journal.jsonl.gz" "$work/kept/gpu/day/result.json.gz"; do
    run report "$file" --format medians
    expect_code 0 "$(basename "$file") reads, so its checksums hold"
    [ ! -s "$work/err" ]
    verdict $? "without a warning" "$(head -1 "$work/err")"
    cp "$work/out" "$work/medians-$(basename "$file")"
done
cmp -s "$work"/medians-*
verdict $? "journal and result say the same"
run report "$work/there/x.journal.jsonl" --format result
expect_code 0 "the result of a journal"
cmp -s "$work/out" "$work/there/x.json"
verdict $? "is what the run made of it"
timeout -k 5 120 scripts/results.sh "$work/kept" >/dev/null 2>"$work/err" && timeout -k 5 120 scripts/results.sh --check "$work/kept" >/dev/null
verdict $? "results.sh makes its tables" "$(head -1 "$work/err")"
mv "$work/kept/gpu/day/result.json.gz" "$work/result.gz"
timeout -k 5 120 scripts/results.sh --check "$work/kept" >/dev/null 2>"$work/err"
verdict $? "the journal alone gives the same tables and figures" "$(head -1 "$work/err")"
mv "$work/result.gz" "$work/kept/gpu/day/result.json.gz"
cp "$work/kept/gpu/day/journal.jsonl.gz" "$work/first.gz"
rm -r "$work/kept/gpu/day"
keep -p "$work/there=RUN" -p "$plugins=PLUGINS" -p "$(dirname "$bench")=BUILD" "$work/there/x.journal.jsonl" "$work/kept/gpu/day"
cmp -s "$work/first.gz" "$work/kept/gpu/day/journal.jsonl.gz"
verdict $? "a second time gives the same bytes"

# Two shapes that do not converge: no mean, and so few dots that nothing is drawn, is no fault of the run.
config "$work/there/n.json" '{"m":32,"n":32,"k":32},{"m":48,"n":32,"k":32}' '"offline"' "\"$plugins/steady.so\"" '"stop": {"min_blocks": 4, "look_every": 2, "max_blocks": 4, "offline_half_width": 0.0001}'
run run --config "$work/there/n.json" --output "$work/there/n.result.json"
expect_code 0 "a run that does not converge"
mkdir -p "$work/noise/gpu/day"
cp "$work/there/n.result.json" "$work/noise/gpu/day/result.json"
timeout -k 5 120 scripts/results.sh "$work/noise" >/dev/null 2>"$work/err" && timeout -k 5 120 scripts/results.sh --check "$work/noise" >/dev/null
verdict $? "results.sh makes its tables, without a picture" "$(head -1 "$work/err")"
expect_text "$work/noise/gpu/day/figures/none.txt" 'too few shapes reached the wanted precision' "and says why there is none"
# Pictures need not be there; what says of which numbers they are must be there, and right.
rm "$work/noise/gpu/day/figures/none.txt"
timeout -k 5 120 scripts/results.sh --check "$work/noise" >/dev/null
verdict $? "a run whose pictures are to be made again passes"
echo "1 2 figure3.csv" >"$work/noise/gpu/day/figures/data.cksum"
timeout -k 5 120 scripts/results.sh --check "$work/noise" >"$work/told"
[ $? -eq 1 ]
verdict $? "a run whose pictures are of other numbers is told"
expect_text "$work/told" 'figures: not of these numbers' "and says which"

keep "$work/there/x.journal.jsonl" "$work/kept/gpu/tune" search
expect_code 0 "one of several"
expect_text "$work/out" 'search.jsonl.gz search.log' "has a name of its own"
expect_text "$work/out" "still there: /tmp" "and a path that is left is told"
cmp -s <(zcat "$work/kept/gpu/tune/search.jsonl.gz") "$work/there/x.journal.jsonl"
verdict $? "without -p the journal is what it was"

keep "$work/there/x.journal.jsonl" "$work/kept/gpu/tune" search
expect_code 73 "what is there is not written over"
keep "$work/there/none.jsonl" "$work/kept/gpu/none"
expect_code 66 "no journal"
expect_text "$work/err" 'no journal .*/none.jsonl' "is named"
for arguments in "" "one" "-p nothing a b" "-x a b" "a b c d"; do
    # shellcheck disable=SC2086
    keep $arguments
    expect_code 64 "wrong use: keep-run.sh $arguments"
done
[ ! -e "$work/kept/gpu/none" ]
verdict $? "a refused run leaves nothing behind"

# scripts/journal-cut.py: of six cells three, and the others by leaving those out.
journal=tests/fixtures/data/journals/11-22-offline-f32/journal.jsonl.gz
shapes() { cut -d, -f4-6 "$work/out" | tail -n +2 | sort -u; } # of the last `report --format medians`
run report "$journal" --format medians
shapes >"$work/all"
scripts/journal-cut.py "$journal" --cells 3 >"$work/some.jsonl"
run report "$work/some.jsonl" --format medians
shapes >"$work/some"
scripts/journal-cut.py "$journal" --without "$work/some.jsonl" >"$work/others.jsonl"
run report "$work/others.jsonl" --format medians
expect_code 0 "a journal without the cells of another reads, so its checksums hold"
[ ! -s "$work/err" ]
verdict $? "without a warning" "$(head -1 "$work/err")"
shapes >"$work/others"
[ "$(wc -l <"$work/others")" -eq 3 ] && cmp -s <(sort "$work/some" "$work/others") "$work/all"
verdict $? "it has the cells that the other journal has not, and no more" "$(tr '\n' ' ' <"$work/others")"
told() { grep -c "\"kind\":\"activity\".*\"cell\":\"[^\"]*-$(tr , x <<<"$1")\"" "$work/others.jsonl"; } # told M,N,K
[ "$(told "$(head -1 "$work/some")")" -eq 0 ] && [ "$(told "$(head -1 "$work/others")")" -eq 1 ]
verdict $? "and what was recorded of these alone"

# Without the times of the host's clock those by device stay, bit by bit.
by_device() { grep -E '^([^,]*,)*device,' "$work/out"; }
run report "$journal" --format medians
by_device >"$work/whole"
scripts/journal-cut.py "$journal" --only-device >"$work/device.jsonl"
run report "$work/device.jsonl" --format medians
expect_code 0 "a journal without times by event and wall reads"
[ ! -s "$work/err" ] && [ -s "$work/whole" ] && cmp -s <(by_device) "$work/whole" && [ "$(by_device | wc -l)" -eq "$(tail -n +2 "$work/out" | wc -l)" ]
verdict $? "it has the times by device and no others" "$(head -2 "$work/out")"
finish
