#!/bin/bash
# try.sh CONTENDER: tries one contender of a stranger, and says what the harness makes of it. CONTENDER is the
# source of a plugin (.c, .cc, .cpp; docs/abi.md), a plugin (.so) or a manifest (.json; needs
# REDTEAM_DEVICE=cuda). It is timed beside an honest baseline in every cache state, in server mode and under
# the paper's protocol; one line for each: verdict, and its speed against the baseline. `make redteam
# CHEAT=CONTENDER` calls it. REDTEAM_SEED, REDTEAM_DEVICE (cpu), REDTEAM_BASELINE as in run.sh; TRY_SHAPE
# (96x80x192), TRY_TYPES ("f32 f32": dtype, accumulate) and TRY_SETTINGS (which of the six: an extended
# regular expression, of their names). Exit 0: nothing found anywhere. 3: a verdict against it. 1: it could
# not be tried.
set -u
contender=${1:?usage: try.sh CONTENDER}
bench=${CUDAL2_BENCH:-${CUDAL2_BUILD:-build}/cudal2-bench}
top=$(cd "$(dirname "$0")/../.." && pwd) || exit 70
shape=${TRY_SHAPE:-96x80x192}
read -r m n k <<<"${shape//x/ }"
[[ "$m $n $k" =~ ^[0-9]+\ [0-9]+\ [0-9]+$ ]] || { echo "try.sh: TRY_SHAPE is \"$shape\": MxNxK, as 96x80x192" >&2; exit 1; }
read -r dtype accumulate <<<"${TRY_TYPES:-f32 f32}"
baseline=${REDTEAM_BASELINE:-$top/tests/fixtures/plugins/honest.c}
case $bench in /*) ;; *) bench=$PWD/$bench ;; esac
work=$(mktemp -d "${TMPDIR:-/tmp}/cudal2-try-XXXXXX") || exit 70
trap 'rm -rf "$work"' EXIT
export CUDAL2_CACHE=$work/cache

build() { # build SOURCE: the plugin's path
    local name=${1##*/} compiler
    name=${name%.*}
    case $1 in
    *.c) compiler="${CC:-gcc} -std=gnu17" ;;
    *.cc | *.cpp) compiler="${CXX:-g++} -std=c++17" ;;
    *) echo "$(cd "$(dirname "$1")" && pwd)/${1##*/}"; return ;;
    esac
    # What a stranger's source includes may lie beside it, or in tests/redteam.
    # shellcheck disable=SC2086
    $compiler -O3 -fPIC -shared -fvisibility=hidden -I"$top/harness" -I"$(dirname "$1")" -I"$top/tests/redteam" -DREDTEAM="\"${REDTEAM_NAME:-$name}\"" \
        "$1" -Wl,--version-script="$top/harness/abi/plugin.map" -lpthread -lm -ldl -o "$work/$name.so" && echo "$work/$name.so"
}

config() { # config MODE MEMBERS
    cat <<END
{"schema": "cudal2-bench/config", "schema_version": 1, "name": "try", "shapes": [{"m": $m, "n": $n, "k": $k}], "dtype": "$dtype",
 "accumulate": ["$accumulate"], "layouts": ["nn", "tn"], "modes": ["$1"], "baselines": ["$baseline"], "candidates": ["$plugin"],
 "stop": {"min_blocks": 64, "look_every": 16, "max_blocks": 128, "group_blocks": 16, "max_cell_seconds": 10},
 "paper": {"warmup_seconds": 0.5, "pair_seconds": 2}, "limits": {"setup_seconds": 20, "verify_seconds": 20, "launch_seconds": 5}${2:+, $2}}
END
}

# Lines of `status: reason` of every candidate that is not ok, or "ok"; from the journal, which is there
# whatever happened.
verdict() { # verdict JOURNAL
    grep -E '"kind":"(cell|activity)"' "$1" 2>/dev/null | sed -e 's/.*"contenders":\[//' -e 's/{"name":/\n{"name":/g' | awk '
        function text(key,   rest) {
            if (!match($0, "\"" key "\":\"")) return ""
            rest = substr($0, RSTART + RLENGTH)
            gsub(/\\"/, "\001", rest)
            sub(/".*/, "", rest)
            gsub(/\001/, "\"", rest)
            return rest
        }
        /"candidate":true/ { seen = 1 }
        /"candidate":true/ && text("status") != "" && text("status") != "ok" { print text("status") " at " text("stage") ": " text("reason"); bad = 1 }
        END { if (!bad) print seen ? "ok" : "not measured" }' | sort -u | head -1
}

found=0 failed=0 tried=0
try() { # try WHAT MODE MEMBERS OPTIONS...
    local what=$1 result line speed
    [[ $what =~ ${TRY_SETTINGS:-.} ]] || return 0
    tried=$((tried + 1))
    config "$2" "$3" >"$work/config.json"
    rm -f "$work"/out*
    timeout -k 5 300 "$bench" --config "$work/config.json" --device "${REDTEAM_DEVICE:-cpu}" --quiet --seed "${REDTEAM_SEED:-$RANDOM}" \
        --output "$work/out.json" "${@:4}" >"$work/log" 2>&1 </dev/null
    result=$?
    line=$(verdict "$work/out.journal.jsonl")
    [ -n "$line" ] || line="not measured (exit status $result)"
    case $line in
    ok) ;;
    'not measured'* | unsupported* | unavailable*) failed=1; [ -s "$work/log" ] && line="$line: $(tail -1 "$work/log")" ;;
    *) found=1 ;;
    esac
    speed=$(grep -E ' [+-][0-9.,]+%' "$work/log" | grep -oE '[+-][0-9.,]+%' | head -1)
    printf '%-28s %s%s\n' "$what" "$line" "${speed:+ ($speed)}"
}

# Both by the same compiler and options. A baseline that is a family's name stays one.
case $baseline in */*) baseline=$(build "$baseline") || exit 70 ;; esac
plugin=$(build "$contender") || { echo "try: $contender does not compile" >&2; exit 1; }
try "offline, warm" offline ''
try "offline, caches emptied" offline '"offline": {"cache": "flush"}'
try "offline, inputs in turn" offline '"offline": {"cache": "rotate"}'
try "server, warm" server '"server": {"mean_gap_ms": 1}'
try "server, caches emptied" server '"server": {"mean_gap_ms": 1, "cache": "flush"}'
try "the paper's protocol" offline '' --protocol paper
[ "$tried" -gt 0 ] || { echo "try.sh: no setting is called \"$TRY_SETTINGS\"" >&2; exit 1; }
if [ "$found" -eq 1 ]; then exit 3; fi
exit "$failed"
