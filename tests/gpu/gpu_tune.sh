#!/bin/bash
# tune and run with its table on a GPU: every layout of every shape has a winner that is right, --resume has
# nothing left to do, run takes the table by name, and shapes that it lacks (ragged ones too) are served by
# neighbours or the set, all verified.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd) || exit 70
bench=${CUDAL2_BENCH:-${CUDAL2_BUILD:-build}/cudal2-bench}
"$bench" doctor 2>/dev/null | grep -q 'cuda:0' || { echo "no GPU"; exit 77; }
work=$(mktemp -d /tmp/cudal2-gpu-tune-XXXXXX) || exit 70
trap 'rm -rf "$work"' EXIT
kernels=$work/kernels
cp -R "${CUDAL2_KERNELS:-$root/kernels}" "$kernels" && rm -f "$kernels"/tuned/*.json
failures=0

verdict() { # verdict STATUS NAME DETAIL
    [ "$1" -eq 0 ] && echo "ok - $2: $3" && return
    echo "not ok - $2: $3"
    failures=$((failures + 1))
}

config() { # config FILE SHAPES
    cat >"$1" <<END
{"schema": "cudal2-bench/config", "schema_version": 1, "name": "gpu-tune", "shapes": [$2], "dtype": "f16", "accumulate": ["f16", "f32"],
 "layouts": ["nn", "tn"], "modes": ["offline"], "baselines": ["cublaslt-autotuning"], "candidates": ["cudal2"],
 "stop": {"min_blocks": 8, "look_every": 4, "max_blocks": 8, "group_blocks": 2}}
END
}

sources() { # shape, contender, status and source of each candidate in a journal
    python3 - "$1" <<'END'
import json, sys
for line in open(sys.argv[1]):
    entry = json.loads(line)
    for c in entry["data"]["contenders"] if entry["kind"] == "cell" else []:
        if c["name"].startswith("cudal2-"):
            d = entry["data"]
            print("%dx%dx%d" % (d["m"], d["n"], d["k"]), c["name"], c.get("status", "ok"), (c.get("tuning") or {}).get("source", "own"))
END
}

config "$work/tune.json" '{"m": 64, "n": 64, "k": 64}, {"m": 256, "n": 256, "k": 4096}, {"m": 2048, "n": 2048, "k": 2048}'
for accumulate in f16 f32; do
    "$bench" tune --config "$work/tune.json" --accumulate $accumulate --device cuda:0 --kernels "$kernels" --quiet \
        >"$work/out" 2>"$work/err" </dev/null
    code=$?
    verdict $code "tune $accumulate" "exit status $code; $(head -1 "$work/out"); $(tail -1 "$work/err")"
    table=$(sed -n 's/^table: //p' "$work/out")
    entries=$(grep -c '"layout"' "${table:-/dev/null}")
    [ "$entries" -eq 6 ]
    verdict $? "$accumulate table" "$entries of 6 entries in ${table:-no file}"
    rm -f cudal2-tune-gpu-tune-*
done

config "$work/run.json" '{"m": 64, "n": 64, "k": 64}, {"m": 192, "n": 320, "k": 768}, {"m": 333, "n": 77, "k": 55}, {"m": 3000, "n": 3000, "k": 3000}'
"$bench" run --config "$work/run.json" --device cuda:0 --kernels "$kernels" --quiet --output "$work/r.json" >"$work/out" 2>"$work/err" </dev/null
code=$?
verdict $code "run with the tables" "exit status $code; $(tail -1 "$work/err")"
sources "$work/r.journal.jsonl" >"$work/sources"
[ "$(grep -c ' ok ' "$work/sources")" -eq 16 ]
verdict $? "both layouts and accumulate types of every shape are right" "$(grep -v ' ok ' "$work/sources" | head -3 | tr '\n' ';')"
[ "$(grep -c '^64x64x64 .* tuned$' "$work/sources")" -eq 4 ]
verdict $? "a shape of the table has its winner" "$(grep '^64x64x64 ' "$work/sources" | tr '\n' ';')"
[ "$(grep -c '^192x320x768 .* neighbour$' "$work/sources")" -eq 4 ]
verdict $? "another one its neighbours'" "$(grep '^192x320x768 ' "$work/sources" | tr '\n' ';')"
[ "$(grep -c '^333x77x55 .* ranked$' "$work/sources")" -eq 4 ]
verdict $? "one that no neighbour's kernel takes the ranker's" "$(grep '^333x77x55 ' "$work/sources" | tr '\n' ';')"
[ "$failures" -eq 0 ]
