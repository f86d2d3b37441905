#!/bin/bash
# A disk that fills up: the run stops with the right code, the journal stays whole, and --resume goes on once
# there is room.
# Times nothing.
. "$(dirname "$0")/e2e.inc.sh"
shapes=
for m in 8 16 24 32 40 48 56 64; do
    shapes="$shapes${shapes:+, }{\"m\": $m, \"n\": 32, \"k\": 64}"
done
config "$work/c.json" "$shapes" '"offline"' '' \
    '"stop": {"min_blocks": 16, "look_every": 8, "max_blocks": 16, "group_blocks": 4, "max_cell_seconds": 5}'

check() { # check DIRECTORY NAME: after a run that met a full disk, with room again
    local journal=$1/r.journal.jsonl
    local before
    before=$(journal_cells "$journal" | wc -l)
    [ "$(tail -c 1 "$journal" | od -An -c | tr -d ' ')" = '\n' ]
    verdict $? "$2: the journal ends with a whole line"
    run report "$journal"
    expect_code 0 "$2: and can be read ($before cells)"
    run --config "$work/c.json" --device cpu --output "$1/r.json" --resume
    expect_code 0 "$2: resume finishes the run"
    [ "$(journal_cells "$journal" | sort -u | wc -l)" -eq 8 ] && [ "$(journal_cells "$journal" | wc -l)" -eq 8 ]
    verdict $? "$2: every cell exactly once"
}

# --- a file size limit: the write fails in the middle of the run ---
mkdir "$work/limit"
(
    ulimit -S -f 6
    timeout -k 5 60 "$bench" --config "$work/c.json" --device cpu --output "$work/limit/r.json" >"$work/out" 2>"$work/err" </dev/null
)
code=$?
expect_code 74 "file size limit: exit code of a failed write"
expect_text "$work/err" '^cudal2-bench: .*r\.journal\.jsonl' "file size limit: the line names the file"
check "$work/limit" "file size limit"

# --- a hard one: it holds for the matrices that plugins share, too ---
(
    ulimit -f 6
    timeout -k 5 60 "$bench" --config "$work/c.json" --device cpu --output "$work/hard.json" >"$work/out" 2>"$work/err" </dev/null
)
code=$?
expect_code 69 "hard file size limit: exit code"
expect_text "$work/err" 'ulimit -f' "hard file size limit: the line says what to raise"

# --- a file system that is full, where one can be mounted ---
mkdir "$work/disk"
# Room for the journal's beginning, about 4 KiB, and not for every cell.
if mount -t tmpfs -o size=8k tmpfs "$work/disk" 2>/dev/null; then
    at_exit() { umount "$work/disk" 2>/dev/null; }
    run --config "$work/c.json" --device cpu --output "$work/disk/r.json"
    expect_code 74 "full disk: exit code of a failed write"
    mount -o remount,size=4m "$work/disk"
    check "$work/disk" "full disk"

    # Room for the journal, none for the result.
    rm -f "$work/disk"/*
    mount -o remount,size=64k "$work/disk"
    run --config "$work/c.json" --device cpu --output "$work/disk/r.json"
    if [ "$code" -eq 0 ]; then
        # The journal and half of the result, in pages of 4 KB.
        size=$(($(stat -c %s "$work/disk/r.journal.jsonl") / 4096 * 4 + 4 + $(stat -c %s "$work/disk/r.json") / 8192 * 4))
        rm -f "$work/disk"/*
        mount -o remount,size="${size}k" "$work/disk"
        run --config "$work/c.json" --device cpu --output "$work/disk/r.json"
    fi
    expect_code 74 "no room for the result: exit code of a failed write"
    [ ! -e "$work/disk/r.json" ] && ! ls "$work/disk"/*.tmp* >/dev/null 2>&1
    verdict $? "no room for the result: nothing half-written is left" "$(ls "$work/disk")"
    mount -o remount,size=4m "$work/disk"
    check "$work/disk" "no room for the result"
else
    echo "# cannot mount a tmpfs here: only the file size limit was tested"
fi
finish
