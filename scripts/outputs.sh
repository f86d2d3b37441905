#!/bin/bash
# outputs.sh [LABEL-PATTERN]: prints "sha256  label" of everything that `report` and `compare` say of the committed runs:
# results and tests/fixtures/data, every format, from journals, from their results, and of several together.
# Two builds whose lists are alike (diff) say the same; a change that is to move no byte of any output is
# proven by that. CUDAL2_BENCH names the program (default build/cudal2-bench), JOBS how many at once.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/.."
program=$(realpath "${CUDAL2_BENCH:-build/cudal2-bench}")
[ -x "$program" ] || { echo "outputs: no program $program (make builds it)" >&2 && exit 69; }
pattern=${1:-.}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export program work
formats=$("$program" report --format none 2>&1 | sed -E 's/.*expected ([a-z|-]*).*/\1/; s/\|/ /g') || true
published=(tests/fixtures/data/published/*.csv)

# one LABEL ARGUMENT...: a line for what the program says (both streams and its exit status), one for each
# file it makes.
one() {
    local label=$1 out code=0 file
    shift
    out=$(mktemp -d "$work/out.XXXXXX")
    (env -u COLUMNS "$program" "${@//@OUT/$out/files}") >"$out/said" 2>&1 || code=$?
    sed -i "s#$out#OUT#g; s#$work#WORK#g" "$out/said"
    echo "exit $code" >>"$out/said"
    echo "$(sha256sum <"$out/said" | cut -c1-64)  $label"
    [ ! -d "$out/files" ] || find "$out/files" -type f | sort | while read -r file; do
        echo "$(sha256sum <"$file" | cut -c1-64)  $label ${file#"$out/files/"}"
    done
    rm -rf "$out"
}
export -f one

list() { # list LABEL SOURCE...: every form of a report
    local label=$1 format timing
    shift
    echo "$label screen|report|$(join "$@")"
    echo "$label all|report|$(join "$@")|--all"
    for format in $formats; do
        echo "$label $format|report|$(join "$@")|--format|$format|--output|@OUT"
    done
    for timing in event wall; do
        echo "$label $timing|report|$(join "$@")|--timing|$timing|--format|csv|--output|@OUT"
        echo "$label $timing prometheus|report|$(join "$@")|--timing|$timing|--format|prometheus|--output|@OUT"
    done
}

join() {
    local IFS='|'
    echo "$*"
}

{
    for journal in results/*/*/journal.jsonl.gz; do
        made=$work/made/${journal%/journal.jsonl.gz}
        "$program" report "$journal" --format result --output "$made" 2>/dev/null || continue
        echo "$journal result|report|$journal|--format|result|--output|@OUT"
        echo "$journal screen|report|$journal"
        echo "$journal html|report|$journal|--format|html|--output|@OUT"
        list "$journal made" "$made/result.json"
    done
    for run in tests/fixtures/data/journals/*/ tests/fixtures/data/small.journal.jsonl; do
        list "$run" "$run"
        [ ! -e "$run/result.json.gz" ] || list "$run result" "$run/result.json.gz"
    done
    list "published" tests/fixtures/data/journals/11-21-offline-f16 --published "${published[0]}" --published "${published[1]}"
    list "published alone" --published "${published[0]}" --published "${published[1]}"
    list "two" tests/fixtures/data/journals/11-21-offline-f16 tests/fixtures/data/journals/11-21-server-f16 --mixed
    list "three" tests/fixtures/data/journals/11-2{1b-offline-f32,1d-server-f32,2d-server-f16}/result.json.gz --mixed
    list "twice" tests/fixtures/data/journals/11-21-offline-f16 tests/fixtures/data/journals/11-24g-offline-f16
    list "h200" "$work"/made/results/h200/{grid-f32,grid-f32-server}/result.json
    a=tests/fixtures/data/journals
    for pair in "$a/11-21-offline-f16|$a/11-24g-offline-f16" "$a/11-21b-offline-f32|$a/11-22-offline-f32" \
        "$a/11-22d-server-f16|$a/11-24f-server-f16/result.json.gz" "$a/11-22d-paper|$a/11-21-offline-f16"; do
        names=${pair/|/ }
        for format in text markdown json junit html; do
            echo "compare $names $format|compare|$pair|--format|$format"
            echo "compare $names $format forced|compare|$pair|--format|$format|--force"
        done
        echo "agreement $names|compare|--agreement|$pair|--force"
        echo "agreement back $names|compare|--agreement|${pair#*|}|${pair%|*}|--force"
        echo "agreement json $names|compare|--agreement|$pair|--force|--format|json"
    done
    echo "agreement three|compare|--agreement|$a/11-22b-server-f32|$a/11-23a-server-f32|$a/11-24d-server-f32|--force"
} >"$work/jobs"
grep -E "$pattern" "$work/jobs" | tr '\n' '\0' |
    xargs -0 -P "${JOBS:-2}" -I{} bash -c 'IFS="|" read -r -a words <<<"$1"; one "${words[@]}"' _ {} | sort -k2
