#!/bin/bash
# Files that are not what they should be: configs that are huge, deep or unreadable, journals torn at any byte
# or damaged inside. TORN (24) says at how many places, SEED which.
# Times nothing.
. "$(dirname "$0")/e2e.inc.sh"
seed=${SEED:-$$}
RANDOM=$seed
echo "# SEED=$seed"

refused() { # refused NAME PATTERN: exit 65, one line, within five seconds
    local started=$SECONDS
    run --config "$work/bad.json" --device cpu --output "$work/bad.out.json"
    expect_code 65 "$1: refused"
    expect_text "$work/err" "^cudal2-bench: .*$2" "$1: says why"
    [ "$(wc -l <"$work/err")" -eq 1 ] && [ "$(wc -c <"$work/err")" -lt 1000 ]
    verdict $? "$1: in one line" "$(head -c 300 "$work/err")"
    [ $((SECONDS - started)) -le 5 ] && [ ! -e "$work/bad.out.journal.jsonl" ]
    verdict $? "$1: at once, and leaves nothing" "$((SECONDS - started)) s"
    rm -f "$work/bad.json"
}

# --- configs ---
truncate -s 100M "$work/bad.json"
refused "100 MB of nothing" '104857600 bytes, the limit is'
{ printf '{"schema": "cudal2-bench/config", "name": "'; head -c 100000000 /dev/zero | tr '\0' x; printf '"}'; } >"$work/bad.json"
refused "100 MB of name" 'bytes, the limit is'
head -c 2000000 /dev/zero | tr '\0' '[' >"$work/bad.json"
refused "two million brackets" 'nested too deeply'
{ head -c 1000000 /dev/zero | sed 's/\x0/{"a":/g'; } >"$work/bad.json"
refused "a million objects" 'nested too deeply|bytes, the limit is'
head -c 100000 /dev/urandom >"$work/bad.json"
refused "random bytes" 'bad.json'
printf '{"schema": "cudal2-bench/config", "schema_version": 1, "name": "x\\u001b[2Jy\\n", "shapes": ["16x16x16"]}' >"$work/bad.json"
refused "an escape sequence in a name" 'bad.json'
! grep -q "$(printf '\033')" "$work/err"
verdict $? "an escape sequence in a name: does not reach the terminal"
mkfifo "$work/bad.json"
refused "a pipe that nobody writes to" 'bad.json'
if [ "$(id -u)" -ne 0 ]; then
    : >"$work/bad.json"
    chmod 000 "$work/bad.json"
    refused "a config without the right to read it" 'Permission denied'
fi

# --- journals ---
shapes=
for m in 8 16 24 32; do
    shapes="$shapes${shapes:+, }{\"m\": $m, \"n\": 8, \"k\": 8}"
done
config "$work/c.json" "$shapes" '"offline"' '' \
    '"stop": {"min_blocks": 8, "look_every": 4, "max_blocks": 8, "group_blocks": 2, "max_cell_seconds": 5}'
run --config "$work/c.json" --device cpu --output "$work/r.json" --seed 3
expect_code 0 "a run to tear"
journal=$work/r.journal.jsonl
cp "$journal" "$work/whole"
bytes=$(stat -c %s "$work/whole")
first=$(head -1 "$work/whole" | wc -c)
whole=0
for i in $(seq "${TORN:-24}"); do
    # In the first line (its config and plan), right behind each newline, and anywhere.
    case $((i % 4)) in
    0) at=$((RANDOM % first)) ;;
    1) at=$(head -$((i % 8 + 1)) "$work/whole" | wc -c) ;;
    *) at=$(((RANDOM * 32768 + RANDOM) % bytes)) ;;
    esac
    head -c "$at" "$work/whole" >"$journal"
    rm -f "$work/r.json"
    run --config "$work/c.json" --device cpu --output "$work/r.json" --seed 3 --resume
    if [ "$code" -eq 0 ] && [ "$(journal_cells "$journal" | wc -l)" -eq 4 ] && [ "$(journal_cells "$journal" | sort -u | wc -l)" -eq 4 ] &&
        [ "$(grep -c '"kind":"run"' "$journal")" -eq 1 ] && [ "$(grep -c '"kind":"end"' "$journal")" -eq 1 ] && [ -s "$work/r.json" ]; then
        whole=$((whole + 1))
    else
        verdict 1 "journal torn at byte $at of $bytes" "exit status $code; $(tail -1 "$work/err")"
    fi
done
[ "$whole" -eq "${TORN:-24}" ]
verdict $? "a journal torn at any byte is cut off and gone on with" "$whole of ${TORN:-24}"

damaged() { # damaged NAME PATTERN: resume and report refuse $journal and leave it alone
    cp "$journal" "$work/before"
    run --config "$work/c.json" --device cpu --output "$work/r.json" --seed 3 --resume
    expect_code 65 "$1: resume refuses it"
    expect_text "$work/err" "$2" "$1: and names the line"
    run report "$journal"
    expect_code 65 "$1: report refuses it"
    cmp -s "$journal" "$work/before"
    verdict $? "$1: and it is left as it was"
}
sed '3s/.\{60\}/&x/' "$work/whole" >"$journal"
damaged "one byte too many in line 3" 'line 3: checksum does not match'
sed '2d' "$work/whole" | sed '1s/$/ /' >"$journal"
damaged "a blank behind line 1" 'line 1: '
cell=$(grep -n '"kind":"cell"' "$work/whole" | head -1 | cut -d: -f1)
sed "${cell}p" "$work/whole" >"$journal"
damaged "a cell twice" 'is there twice'
sed 1d "$work/whole" >"$journal"
damaged "no first line" '(before|begins with a) .run.'
finish
