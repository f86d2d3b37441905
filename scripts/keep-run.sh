#!/bin/bash
# keep-run.sh [-p PATH=NAME]... JOURNAL DIR [NAME]: keeps what a run left behind as it is committed under
# results/GPU/.
#
# A grid's run: DIR/journal.jsonl.gz, with result.json.gz and run.log when JOURNAL's own name with .json or
# .log is there. With a NAME, one of several searches: DIR/NAME.jsonl.gz and NAME.log. Compressed without
# dates, so that the same run gives the same bytes. Each PATH is written NAME wherever it stands (-p
# /home/me/build=BUILD), and the checksums of the journal's lines it stood in are made anew; nothing else is
# touched. Directories under /home, /root and /tmp that remain are told: they say whose machine it was. Tables
# and figures: scripts/results.sh. Exit 64: wrong use; 66: no such journal; 73: DIR has one already.
set -euo pipefail
paths=() names=()
usage() {
    echo "usage: keep-run.sh [-p PATH=NAME]... JOURNAL DIR [NAME]" >&2
    exit 64
}
while getopts p: flag; do
    case $flag:${OPTARG:-} in
    p:?*=*) paths+=("${OPTARG%%=*}") && names+=("${OPTARG#*=}") ;;
    *) usage ;;
    esac
done
shift $((OPTIND - 1))
[ $# -eq 2 ] || [ $# -eq 3 ] || usage
journal=$1 dir=$2
kept=${3:-journal}
log=${3:-run}
[ -f "$journal" ] || { echo "keep-run: no journal $journal" >&2 && exit 66; }
[ ! -e "$dir/$kept.jsonl.gz" ] || { echo "keep-run: $dir/$kept.jsonl.gz is there already" >&2 && exit 73; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

crc_of() { # crc_of TEXT: as a journal's line has it
    printf %s "$1" | gzip -c | tail -c 8 | od -An -N4 --endian=little -tx4 | tr -d ' \n'
}

# rewrite [crc]: each PATH of stdin as its NAME; with crc, a changed line's checksum of what follows it
rewrite() {
    local line was i
    while IFS= read -r line || [ -n "$line" ]; do
        was=$line
        for i in ${paths[@]+"${!paths[@]}"}; do
            line=${line//"${paths[i]}"/"${names[i]}"}
        done
        if [ "$line" != "$was" ] && [ "${1:-}" = crc ]; then
            line="{\"crc\":\"$(crc_of "${line#*,}")\",${line#*,}"
        fi
        printf '%s\n' "$line"
    done
}

rewrite crc <"$journal" >"$work/$kept.jsonl"
base=${journal%.journal.jsonl}
base=${base%.jsonl}
if [ "$kept" = journal ] && [ -f "$base.json" ]; then
    rewrite <"$base.json" >"$work/result.json"
fi
if [ -f "$base.log" ]; then
    rewrite <"$base.log" >"$work/$log.log"
fi
mkdir -p "$dir"
grep -ohE '/(home|root|tmp)/[A-Za-z0-9_.-]+' "$work"/* | sort -u | sed 's/^/keep-run: still there: /' || true
gzip -9n "$work"/*.json*
mv "$work"/* "$dir/"
echo "$dir: $(cd "$dir" && echo *)"
