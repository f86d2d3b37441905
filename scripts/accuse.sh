#!/usr/bin/env bash
# accuse.sh PROGRAM OUT DEVICE [PART/OF [ACC]]: is anybody honest accused? NVIDIA's baselines alone, over
# llm.json, odd.json, fifth.json and resident.json, in both modes and with warm and rotated caches, measured
# shortly and watched in every cell. All of it is some 2800 cells; one part of 8 (PART from 0 on; default 0/8)
# has every second shape in one mode and cache state and takes about five minutes of one GPU. ACC: f32
# (default) or f16. OUT gets results, journals and the lines of who was accused. Exit 0: nobody; 3: somebody;
# else a run failed. scripts/gpu-run.sh calls it as step accuse[:PART/OF[:ACC]].
set -u
program=${1:?usage: accuse.sh PROGRAM OUT DEVICE [PART/OF [ACC]]} out=${2:?} device=${3:?} part=${4:-0/8} accumulate=${5:-f32}
configs=$(cd "$(dirname "$0")/../configs" && pwd) || exit 70
verdicts='wrong_result|precision_class|input_mutated|oob_write|oob_read|stream_escape|late_work|early_work|leak|device_state_changed|tamper_suspected|implausible_speed|rival_disturbed'
baselines=${ACCUSE_BASELINES:-'"cublas", "cublaslt-heuristic", "cublaslt-autotuning"'} # and other contenders, for trying this script
dtype=${ACCUSE_DTYPE:-f16}
mkdir -p "$out" || exit 73

shapes() { # every shape once, one a line
    for name in llm odd fifth resident; do
        grep -oE '"m": [0-9]+, "n": [0-9]+, "k": [0-9]+' "$configs/$name.json"
    done | awk '!seen[$0]++'
}

part_of() { # part_of COMBINATION: the shapes of this part in one of the four, as JSON
    shapes | awk -v combination="$1" -v part="${part%/*}" -v of="${part#*/}" -v limit="${ACCUSE_LIMIT:-0}" '
        (NR - 1 + 2 * combination) % of == part && (limit == 0 || ++taken <= limit) {
            printf "%s{%s}", (n++ ? ",\n  " : ""), $0 }'
}

config() { # config MODE CACHE SHAPES
    cat <<END
{"schema": "cudal2-bench/config", "schema_version": 1, "name": "accuse", "shapes": [$3], "dtype": "$dtype", "accumulate": ["$accumulate"],
 "layouts": ["nn", "tn"], "modes": ["$1"], "$1": {"cache": "$2"}, "baselines": [$baselines], "candidates": [],
 "stop": {"min_blocks": 4, "look_every": 2, "max_blocks": 4, "group_blocks": 2, "max_cell_seconds": 1}, "limits": {"tune_seconds": 10}}
END
}

accused() { # accused JOURNAL: "cell contender verdict reason" of everybody, from cells and from watched launches
    grep -E '"kind":"(cell|activity)"' "$1" | sed -E 's/\{"name":/\n&/g' |
        awk -v verdicts="^($verdicts)\$" '
            function text(key,   at, rest) {
                at = index($0, "\"" key "\":\"")
                if (!at) return ""
                rest = substr($0, at + length(key) + 4)
                sub(/".*/, "", rest)
                return rest
            }
            !/^\{"name"/ { cell = $0; sub(/.*"data":\{/, "", cell); cell = substr(cell, 1, 60); next }
            text("status") ~ verdicts { print cell, text("name"), text("status") ": " text("reason") }'
}

worst=0 combination=0
for mode in offline server; do
    for cache in warm rotate; do
        base=$out/accuse-$mode-$cache-${part%/*} list=$(part_of "$combination")
        combination=$((combination + 1))
        [ -n "$list" ] || continue
        config "$mode" "$cache" "$list" >"$base.config.json"
        begin=$SECONDS
        "$program" run --config "$base.config.json" --device "$device" --activity all --output "$base.json" --quiet >"$base.log" 2>&1
        rc=$?
        [ -s "$base.journal.jsonl" ] || { tail -5 "$base.log"; exit 70; }
        accused "$base.journal.jsonl" >"$base.accused"
        n=$(wc -l <"$base.accused") cells=$(grep -c '"kind":"cell"' "$base.journal.jsonl")
        watched=$(grep -c '"kind":"activity"' "$base.journal.jsonl")
        echo "accuse: $mode $cache: $n accused in $cells cells, $watched watched, exit $rc, $((SECONDS - begin)) s"
        cat "$base.accused"
        [ "$n" -eq 0 ] || worst=3
        case $rc in 0 | 2 | 3) ;; *) tail -5 "$base.log" && exit "$rc" ;; esac
    done
done
exit $worst
