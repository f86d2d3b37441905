#!/bin/bash
# results-restore.sh [-o DIR] PATH...: brings back runs that left the tree, from git's history, as
# results/MANIFEST.tsv lists them: PATH is a file or a directory there (results/h200/2026-11-21-offline-f16,
# or without results/h200/). Each file is checked against its sha256 and written where it was, or under DIR.
# git ignores most of them there; git status shows the others.
# In a clone made with --filter=blob:none git fetches what it needs. Relies on git and sha256sum. Exit 64:
# wrong use; 66: a PATH that the list does not have; 65: a file that is not what the list says; 69: no
# history.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
into=$top
usage() {
    echo "usage: results-restore.sh [-o DIR] PATH... (results/MANIFEST.tsv lists them)" >&2
    exit 64
}
while getopts o: flag; do
    case $flag in
    o) into=$OPTARG ;;
    *) usage ;;
    esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || usage
list=${CUDAL2_MANIFEST:-$top/results/MANIFEST.tsv}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# lines_of PATH: the list's lines for it
lines_of() {
    local path=${1%/} full
    for full in "$path" "results/$path" "results/h200/$path"; do
        awk -F'\t' -v p="$full" 'NR > 1 && ($1 == p || index($1, p "/") == 1)' "$list" >"$work/lines"
        [ ! -s "$work/lines" ] || return 0
    done
    echo "results-restore: $1: not in $list; a PATH is a file or directory of its first column" >&2
    exit 66
}

restore() { # restore PATH SHA256 COMMIT
    git -C "$top" cat-file blob "$3:$1" >"$work/file" 2>"$work/err" || {
        echo "results-restore: $1: git has no commit $3: clone with the whole history (--filter=blob:none is enough)" >&2
        exit 69
    }
    [ "$(sha256sum <"$work/file" | cut -d' ' -f1)" = "$2" ] || {
        echo "results-restore: $1: what commit $3 has is not the file that the list names (sha256)" >&2
        exit 65
    }
    mkdir -p "$into/$(dirname "$1")"
    cp "$work/file" "$into/$1"
    echo "$into/$1"
}

for path in "$@"; do
    lines_of "$path"
    while IFS=$'\t' read -r name sum _ commit; do
        restore "$name" "$sum" "$commit"
    done <"$work/lines"
done
