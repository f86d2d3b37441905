#!/bin/bash
# run.sh TABLE [OUT]: the red team. Runs every contender of the table in a run of its own beside an honest
# baseline, holds its verdict against the one the table asks for, and prints the table of the README: caught
# of tried, false accusations of honest. `disarmed` among the wanted verdicts: it may be ok too where it gains
# nothing, which its interval over the baseline says. `foiled`: it may be ok whatever its time is, as it fails
# its launch where it gets hold of what it is after.
# OUT (default: a temporary directory) gets <table>.md, <table>.json and the journals. Exit 0: all caught,
# nobody accused. REDTEAM_DEVICE (cpu), REDTEAM_PLUGINS (where the contenders are), REDTEAM_BASELINE (a family
# or a .so), REDTEAM_ONLY (names), REDTEAM_SEED (11), REDTEAM_CONFIG (further members of the config, as JSON),
# REDTEAM_RIVALS (source files: in runs of others' contenders baselines are not timed again without the
# candidate).
set -u
here=$(cd "$(dirname "$0")" && pwd) || exit 70
table=${1:?usage: run.sh TABLE [OUT]}
bench=${CUDAL2_BENCH:-${CUDAL2_BUILD:-build}/cudal2-bench}
case $bench in /*) ;; *) bench=$PWD/$bench ;; esac
device=${REDTEAM_DEVICE:-cpu}
contenders=${REDTEAM_PLUGINS:-$(dirname "$bench")/tests/redteam}
work=$(mktemp -d /tmp/cudal2-redteam-XXXXXX) || exit 70
trap 'rm -rf "$work"' EXIT
out=${2:-$work}
mkdir -p "$out" || exit 73
export CUDAL2_CACHE=$work/cache
name_of_table=$(basename "$table" .table)
shape=$(sed -n 's/^# shape: //p' "$table")
types=$(sed -n 's/^# types: //p' "$table")
group=$(sed -n 's/^# group_blocks: //p' "$table")
stop=$(sed -n 's/^# stop: //p' "$table")
beside=$(sed -n 's/^# baseline: //p' "$table") # of another dtype than honest.so has
baseline=${REDTEAM_BASELINE:-${beside:+$contenders/$beside.so}}
baseline=${baseline:-$(dirname "$bench")/tests/plugins/honest.so}
members=$(sed -n 's/^# config: //p' "$table")
[ -n "$stop" ] || stop='"min_blocks": 16, "look_every": 8, "max_blocks": 24, "max_cell_seconds": 5'
tried=0 caught=0 disarmed=0 honest=0 accused=0 baseline_faults=0

config() { # config CANDIDATE SOURCE WANTED
    local members=$members launch_seconds=3 setup_seconds=20
    [[ $1 != */endless-setup.so ]] || setup_seconds=8 # which it shall use up
    [[ $device == cpu && "|$3|" == *'|hang|'* ]] && launch_seconds=1 # which it shall use up
    if [ -n "${REDTEAM_RIVALS:-}" ] && [[ " $REDTEAM_RIVALS " != *" $2 "* ]]; then
        case $members in
        *'"verify": {'*) members=${members/'"verify": {'/'"verify": {"rivals": 0, '} ;;
        *) members="\"verify\": {\"rivals\": 0}${members:+, $members}" ;;
        esac
    fi
    cat <<END
{"schema": "cudal2-bench/config", "schema_version": 1, "name": "redteam", "shapes": [$shape], $types, "layouts": ["nn"],
 "modes": ["offline"], "baselines": ["$baseline"], "candidates": ["$1"],
 "stop": {$stop, "group_blocks": ${group:-4}},
 "limits": {"setup_seconds": $setup_seconds, "verify_seconds": 20, "launch_seconds": $launch_seconds, "tune_seconds": 20}${members:+, $members}${REDTEAM_CONFIG:+, $REDTEAM_CONFIG}}
END
}

# "status|stage|reason" of the candidate and then of the baseline in a journal: of its cell or, if nothing was
# found there, of the watched launches that follow (they are the last lines, and say only what was wrong). A
# contender without a status is ok.
outcomes() { # outcomes JOURNAL
    grep -E '"kind":"(cell|activity)"' "$1" | sed -e 's/.*"contenders":\[//' -e 's/{"name":/\n{"name":/g' | awk '
        function text(key,   at, rest) {
            at = index($0, "\"" key "\":\"")
            if (!at) return ""
            rest = substr($0, at + length(key) + 4)
            gsub(/\\"/, "\001", rest)
            sub(/".*/, "", rest)
            gsub(/\001/, "\"", rest)
            return rest
        }
        function tell(i) { print found[i] == "" ? "" : (status[i] == "" ? "ok" : status[i]) "|" stage[i] "|" reason[i] }
        !/^{"name"/ { next }
        {
            name = text("name")
            i = index($0, "\"candidate\":true") > 0
        }
        found[i] == "" && !(name in kind) {
            kind[name] = i
            found[i] = name
            status[i] = text("status")
            stage[i] = text("stage")
            reason[i] = text("reason")
            next
        }
        name in kind && status[kind[name]] == "" && text("status") != "" {
            i = kind[name]
            status[i] = text("status")
            stage[i] = "activity"
            reason[i] = text("reason")
        }
        END {
            tell(1)
            tell(0)
        }'
}

escape() { # escape TEXT: for a JSON string, in $escaped
    escaped=${1//\\/\\\\}
    escaped=${escaped//\"/\\\"}
    escaped=${escaped//[[:cntrl:]]/ }
}

contender_path() { # contender_path NAME SOURCE: its own .so, or the source's under its name; of module:N the manifest that does N
    case $2 in module:*)
        cp "$here/module.cu" "$work/" && sed -e "s/\"name\": \"module\"/\"name\": \"$1\"/" -e "s/\"default\": 0/\"default\": ${2#module:}/" \
            "$here/module.json" >"$work/$1.json" && echo "$work/$1.json"
        return
        ;;
    esac
    [ -e "$contenders/$1.so" ] && { echo "$contenders/$1.so"; return; }
    cp "$contenders/$2.so" "$work/$1.so" && echo "$work/$1.so"
}

GAIN_MOST=1.1 # lower end of the speedup's interval: what gains more than noise is no longer without effect

gains_nothing() { # gains_nothing RESULT
    "$bench" report "$1" --format pairs 2>/dev/null | awk -F, -v most="$GAIN_MOST" '
        NR > 1 { pairs++; if ($13 + 0 > most) gained = 1 }
        END { exit !(pairs > 0 && !gained) }'
}

judge() { # judge WANTED VERDICT RESULT: "caught", "disarmed", "missed", "fine" or "accused"
    case "|$1||$2|" in
    "|ok||ok|") echo fine; return ;;
    "|ok||"*) echo accused; return ;;
    *'|disarmed|'*'|ok|') gains_nothing "$3" && echo disarmed || echo missed; return ;;
    *'|foiled|'*'|ok|') echo disarmed; return ;;
    esac
    case "|$1|" in
    *"|$2|"*) echo caught ;;
    *) echo missed ;;
    esac
}

try() { # try NAME SOURCE WANTED WHAT
    local name=$1 wanted=$3 what=$4 code verdict stage reason judged base start tenths
    config "$(contender_path "$name" "$2")" "$2" "$wanted" >"$work/$name.config.json"
    rm -f "$out/$name.json" "$out/$name.journal.jsonl"
    start=${EPOCHREALTIME//[.,]/} # microseconds
    timeout -k 5 180 "$bench" --config "$work/$name.config.json" --device "$device" --quiet --seed "${REDTEAM_SEED:-11}" \
        --output "$out/$name.json" >"$work/$name.log" 2>&1 </dev/null
    code=$?
    tenths=$(((${EPOCHREALTIME//[.,]/} - start + 50000) / 100000))
    {
        IFS='|' read -r verdict stage reason
        IFS='|' read -r base _
    } <<<"$(outcomes "$out/$name.journal.jsonl" 2>/dev/null)"
    judged=$(judge "$wanted" "${verdict:-none}" "$out/$name.json")
    case $judged in
    caught) tried=$((tried + 1)) caught=$((caught + 1)) ;;
    disarmed) tried=$((tried + 1)) disarmed=$((disarmed + 1)) ;;
    missed) tried=$((tried + 1)) ;;
    fine) honest=$((honest + 1)) ;;
    accused) honest=$((honest + 1)) accused=$((accused + 1)) ;;
    esac
    # The baseline beside it is an honest contender too.
    [ "${base:-ok}" = ok ] || { baseline_faults=$((baseline_faults + 1)); what="$what (the baseline beside it: $base)"; }
    rm -f "$out/$name.json"
    printf '| %s | %s | %s | %s | %s |\n' "$name" "$what" "$wanted" "${verdict:-none}${stage:+ at $stage}" "$judged" | sed 's/\([a-z_]\)|\([a-z]\)/\1 or \2/g' >>"$out/$name_of_table.md"
    escape "$what"
    what=$escaped
    escape "$reason"
    printf '%s\n  {"name": "%s", "what": "%s", "expected": "%s", "verdict": "%s", "stage": "%s", "reason": "%s", "exit_code": %d, "judged": "%s", "baseline": "%s", "seconds": %d.%d}' \
        "$separator" "$name" "$what" "$wanted" "${verdict:-none}" "$stage" "$escaped" "$code" "$judged" "${base:-none}" $((tenths / 10)) $((tenths % 10)) >>"$out/$name_of_table.json"
    separator=,
    case $judged in
    caught | disarmed | fine) echo "ok - $name: ${verdict:-none}${stage:+ at $stage}" ;;
    *)
        echo "not ok - $name: ${verdict:-none}${stage:+ at $stage}${reason:+: $reason} (expected $wanted), exit status $code"
        tail -3 "$work/$name.log" | sed 's/^/#     /'
        ;;
    esac
}

{
    echo "| contender | what it does | expected | verdict | |"
    echo "|---|---|---|---|---|"
} >"$out/$name_of_table.md"
printf '{"schema": "cudal2-bench/redteam", "schema_version": 1, "device": "%s", "cases": [' "$device" >"$out/$name_of_table.json"
separator=
while read -r name source wanted what; do
    case $name in '' | '#'*) continue ;; esac
    [ -n "${REDTEAM_ONLY:-}" ] && case " $REDTEAM_ONLY " in *" $name "*) ;; *) continue ;; esac
    try "$name" "$source" "$wanted" "$what"
done <"$table"
summary="$caught of $tried caught, $disarmed without effect, $accused of $honest honest contenders accused, $baseline_faults of $((tried + honest)) baselines accused"
printf '\n%s.\n' "$summary" >>"$out/$name_of_table.md"
printf '\n ], "tried": %d, "caught": %d, "disarmed": %d, "honest": %d, "accused": %d, "baselines_accused": %d}\n' \
    "$tried" "$caught" "$disarmed" "$honest" "$accused" "$baseline_faults" >>"$out/$name_of_table.json"
echo "$summary"
[ $((caught + disarmed)) -eq "$tried" ] && [ "$accused" -eq 0 ] && [ "$baseline_faults" -eq 0 ] && [ $((tried + honest)) -gt 0 ]
