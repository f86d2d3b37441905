#!/bin/bash
# Small stacks, few descriptors, marks of editors, names that are none: each works, or is refused with a line
# that says what to do.
# Times nothing.
. "$(dirname "$0")/e2e.inc.sh"
shape='{"m": 16, "n": 24, "k": 32}'
stop='"stop": {"min_blocks": 8, "look_every": 8, "max_blocks": 8, "group_blocks": 4, "max_cell_seconds": 2}'
config "$work/c.json" "$shape" '"offline"' "\"$plugins/steady.so\"" "$stop"

limited() { # limited LIMIT VALUE ARGUMENT...
    local limit=$1 value=$2
    shift 2
    (ulimit "$limit" "$value" && exec timeout 60 "$bench" "$@") >"$work/out" 2>"$work/err" </dev/null
    code=$?
}

# --- a small stack: sanitizers need more than their programs ---
if ! grep -q __asan_init "$bench"; then
    limited -s 64 --config "$work/c.json" --device cpu --quiet --output "$work/s.json"
    expect_code 0 "64 KiB of stack: run"
    limited -s 64 verify "$plugins/honest.so" --device cpu --shape 64x64x64
    expect_code 0 "64 KiB of stack: verify"
    limited -s 64 verify --in-process "$plugins/honest.so" --device cpu --shape 64x64x64
    expect_code 0 "64 KiB of stack: verify --in-process"
    limited -s 64 report "$work/s.json"
    expect_code 0 "64 KiB of stack: report"
    limited -s 64 report "$work/s.json" --format html --output "$work/page"
    expect_code 0 "64 KiB of stack: report as a page"
    cp "$work/s.json" "$work/s2.json" && cp "$work/s.journal.jsonl" "$work/s2.journal.jsonl"
    limited -s 64 compare "$work/s.json" "$work/s2.json"
    [ "$code" -eq 0 ] || [ "$code" -eq 2 ] # two groups are too few to compare
    verdict $? "64 KiB of stack: compare" "exit status $code"
    limited -s 64 list --device cpu
    expect_code 0 "64 KiB of stack: list"
fi

# --- few descriptors ---
limited -n 16 --config "$work/c.json" --device cpu --quiet --output "$work/n.json"
expect_code 69 "16 descriptors: unavailable"
expect_text "$work/err" 'starting a worker: 16 open files are allowed, it needs 64 .ulimit -n.' "16 descriptors: says so"
(ulimit -S -n 16 && exec timeout 60 "$bench" --config "$work/c.json" --device cpu --quiet --output "$work/n.json") >"$work/out" 2>"$work/err"
code=$?
expect_code 0 "16 descriptors as a soft limit: raised"
limited -n 64 --config "$work/c.json" --device cpu --quiet --output "$work/n64.json"
expect_code 0 "64 descriptors are enough"

# --- marks of editors ---
{ printf '\xef\xbb\xbf' && cat "$work/c.json"; } >"$work/bom.json"
run --config "$work/bom.json" --device cpu --quiet --output "$work/bom.out.json"
expect_code 0 "a byte order mark in front of a config means nothing"
{ printf '\xff\xfe' && iconv -t UTF-16LE "$work/c.json" 2>/dev/null || printf '{\0'; } >"$work/utf16.json"
run --config "$work/utf16.json" --device cpu --output "$work/x.json"
expect_code 65 "a config in UTF-16"
expect_text "$work/err" 'utf16.json: the text is UTF-16: save it as UTF-8' "a config in UTF-16: says so"
{ head -c 40 "$work/c.json" && printf '\0' && tail -c +41 "$work/c.json"; } >"$work/nul.json"
run --config "$work/nul.json" --device cpu --output "$work/x.json"
expect_code 65 "a NUL byte in a config"
sed 's/"name": "e2e"/"name": NaN/' "$work/c.json" >"$work/nan.json"
run --config "$work/nan.json" --device cpu --output "$work/x.json"
expect_text "$work/err" 'NaN is no number of JSON' "NaN in a config"

# --- names of an output ---
cd "$work" || exit 1
refuse() { # refuse CODE OUTPUT PATTERN
    run --config "$work/c.json" --device cpu --quiet --output "$2"
    expect_code "$1" "--output '$2'"
    expect_text "$work/err" "$3" "--output '$2': says why"
}
refuse 64 - '^cudal2-bench: --output -: a result has a journal beside it, so it goes to a file'
[ ! -e "$work/-" ] && [ ! -e "$work/-.journal.jsonl" ]
verdict $? "--output - leaves no file of that name"
refuse 64 "" 'output'
refuse 64 nowhere/ 'expected a file name'
refuse 73 .. 'is not a regular file'
run --config "$work/c.json" --device cpu --quiet --output ..x.json
expect_code 0 "--output ..x.json is a name like any other"
[ -e "$work/..x.json" ] && [ -e "$work/..x.journal.jsonl" ]
verdict $? "--output ..x.json: result and journal are there"
run report ..x.json --format csv --output -
expect_code 0 "report --output -"
[ -s "$work/out" ] && [ ! -e "$work/-" ]
verdict $? "report --output - prints"
finish
