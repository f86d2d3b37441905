#!/bin/bash
# Names of files that would fool a terminal, through `list`, `run`, `report` and `compare` on the CPU device,
# and junit through the rules of Jenkins' schema. What each format makes of such words is
# tests/unit/report/test_hostile.c.
# Times nothing.
. "$(dirname "$0")/e2e.inc.sh"
evil=$(printf 'e\033[31m\n\302\2332J\342\200\256\377')

harmless() { # harmless NAME FILE...: no control character but line ends, no C1, no bidi mark, and UTF-8
    local name=$1
    shift
    ! LC_ALL=C grep -qP '[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xa8-\xae]' "$@" && cat "$@" | iconv -f UTF-8 -t UTF-8 >/dev/null 2>&1
    verdict $? "$name: nothing that a terminal obeys" "$(cat -v "$@" | head -5)"
}

mkdir "$work/plugins"
cp "$plugins/honest.so" "$work/plugins/$evil.so"
echo nothing >"$work/plugins/x$evil.so"
run list --device cpu --plugins "$work/plugins"
expect_code 0 "list of such plugins"
harmless list "$work/out" "$work/err"
expect_text "$work/out" 'e\\x1b\[31m\\x0a\\u009b2J\\u202e\\xff' "list: writes it out"

cp "$plugins/honest.so" "$work/plugins/$(printf 'turned\342\200\256').so"
for name in "$evil" "$(printf 'turned\342\200\256')"; do # the first is refused, the second runs
    run verify "$work/plugins/$name.so" --device cpu --shape 16x16x16
    harmless "verify, exit status $code" "$work/out" "$work/err"
done

config "$work/c.json" '{"m": 16, "n": 16, "k": 16, "label": "\u202e形状形状形状形状形状形状"}' '"offline"' "\"$plugins/steady.so\"" '"stop": {"min_blocks": 16, "max_blocks": 16, "max_cell_seconds": 4}'
for name in base new; do
    run --config "$work/c.json" --device cpu --output "$work/$name$evil.json"
    expect_code 0 "a run whose files and label are named so"
    harmless "run $name" "$work/out" "$work/err"
done
run report "$work/new$evil.json"
expect_code 0 "report on a screen"
harmless "report" "$work/out" "$work/err"
for format in markdown latex csv html prometheus medians; do
    run report "$work/new$evil.json" --format $format
    harmless "report $format" "$work/out" "$work/err"
done
for format in text markdown json junit; do
    run compare "$work/base$evil.json" "$work/new$evil.json" --delta 90 --format $format
    [ "$code" -le 2 ]
    verdict $? "compare $format" "$code $(cat "$work/err")"
    harmless "compare $format" "$work/out" "$work/err"
done
run report "$work/nowhere$evil.json"
expect_code 65 "a file that is not there"
harmless "an error" "$work/err"
[ "$(wc -l <"$work/err")" -eq 1 ]
verdict $? "an error: one line" "$(cat "$work/err")"

# --- a plugin that writes to the terminal itself ---
config "$work/says.json" '{"m": 16, "n": 16, "k": 16}' '"offline"' "\"$plugins/bad_says.so\"" '"stop": {"min_blocks": 8, "max_blocks": 8, "max_cell_seconds": 4}'
for command in "run --config $work/says.json --device cpu --output $work/says" "verify $plugins/bad_says.so --device cpu --shape 16x16x16" \
    "list --device cpu --plugins $nothing --candidate $plugins/bad_says.so"; do
    name=${command%% *}
    echo "first line" >"$work/both"
    # shellcheck disable=SC2086
    timeout -k 5 120 "$bench" $command >>"$work/both" 2>&1 </dev/null
    code=$?
    cp "$work/both" "$work/err"
    expect_code 0 "$name: with a plugin that writes to its stderr"
    harmless "$name: what it writes" "$work/both"
    expect_text "$work/both" '^(worker: )?\\x1b\[8mhidden' "$name: is shown"
    [ "$(head -1 "$work/both")" = "first line" ]
    verdict $? "$name: and empties no file" "$(head -2 "$work/both" | cat -v | cut -c1-200)"
done
expect_no_text "$work/both" '^.*buffered until the end.*available' "list: nothing of the plugin's between its lines"

# --- a plugin that ends the listing and names another one ---
mkdir "$work/both.d"
cp "$plugins/honest.so" "$work/both.d/openblas.so"
run list --device cpu --plugins "$work/both.d" --candidate "$plugins/honest.so" --candidate "$plugins/bad_blames.so"
expect_code 0 "list: with a plugin that blames another"
expect_text "$work/out" '^bad_blames .*not available: while it was loaded: exited with code 0' "list: names who ended it"
expect_no_text "$work/out" '^openblas.*while it was loaded' "list: and not who was named"
expect_text "$work/out" '^honest-nn .*available$' "list: the others are there"

# --- junit as Jenkins reads it ---
run compare "$work/base$evil.json" "$work/new$evil.json" --delta 90 --format junit
if command -v xmllint >/dev/null; then
    xmllint --noout --schema "$(dirname "$0")/../fixtures/data/junit.xsd" "$work/out" 2>"$work/err"
    verdict $? "junit: valid by the rules of junit-10.xsd" "$(head -2 "$work/err")"
    sed 's/<testsuites /<testsuites skipped="0" /' "$work/out" >"$work/wrong.xml"
    ! xmllint --noout --schema "$(dirname "$0")/../fixtures/data/junit.xsd" "$work/wrong.xml" 2>/dev/null
    verdict $? "junit: and those rules refuse skipped on testsuites"
fi
expect_no_text "$work/out" 'vs nothing' "junit: no suite against nothing"
finish
