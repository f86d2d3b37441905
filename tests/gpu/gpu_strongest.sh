#!/bin/bash
# NVIDIA at its strongest on a GPU: cublaslt-exhaustive (with both accumulate types where fp16 is allowed),
# cublas-autotune and torch.matmul-full are right and measured in every cell, the exhaustive race has what the
# heuristic's has and more, and
# --equal-budget keeps both sides to their time. Prints what each raced, in how long.
without_plugins=yes
. "$(dirname "$0")/../e2e/e2e.inc.sh"
"$bench" doctor 2>/dev/null | grep -q 'cuda:0' || { echo "no GPU"; exit 77; }
run_seconds=500
baselines=cublaslt-autotuning,cublaslt-exhaustive,cublas-autotune,torch.matmul,torch.matmul-full
cat >"$work/c.json" <<'END_OF_CONFIG'
{"schema": "cudal2-bench/config", "schema_version": 1, "name": "strongest", "modes": ["offline"], "accumulate": ["f16", "f32"],
 "shapes": [{"m": 64, "n": 256, "k": 4096}, {"m": 512, "n": 2048, "k": 512}, {"m": 4096, "n": 4096, "k": 512}],
 "stop": {"min_blocks": 8, "look_every": 8, "max_blocks": 16, "group_blocks": 2, "max_cell_seconds": 3}}
END_OF_CONFIG

races() { # races JOURNAL: cell, contender, status, how many raced, seconds, accumulate type of the winner
    python3 - "$1" <<'END_OF_PYTHON'
import json, sys
for line in open(sys.argv[1]):
    entry = json.loads(line)
    for c in entry["data"]["contenders"] if entry["kind"] == "cell" else []:
        d, t = entry["data"], c.get("tuning") or {}
        print("%s/%dx%dx%d" % (d["accumulate"], d["m"], d["n"], d["k"]), c["name"], c.get("status", "ok"), t.get("raced", 0),
              t.get("seconds", 0), (c.get("attributes") or {}).get("accumulates", "?"))
END_OF_PYTHON
}

measure() { # measure NAME OPTIONS...
    local name=$1
    shift
    run run --config "$work/c.json" --device cuda:0 --candidate cudal2 --baselines "$baselines" --activity all --quiet \
        --output "$work/$name.json" "$@"
    expect_code 0 "$name: the run ends well"
    races "$work/$name.journal.jsonl" >"$work/$name.races"
    sed 's/^/# /' "$work/$name.races"
    [ "$(grep -c . "$work/$name.races")" -gt 0 ] && ! awk '$3 != "ok"' "$work/$name.races" | grep -qv 'cublas-autotune.* unsupported'
    verdict $? "$name: everybody is right and measured" "$(awk '$3 != "ok"' "$work/$name.races" | head -3)"
    ! grep -o '"status":"[a-z_]*"' "$work/$name.journal.jsonl" | grep -qE 'escape|late|leak|mutated|tamper|wrong|class|implausible'
    verdict $? "$name: nobody is accused"
}

measure free
awk '$2 ~ /exhaustive/ { all[$1] += $4 } $2 ~ /autotuning/ { some[$1] += $4 }
    END { for (c in all) { n++; if (all[c] <= some[c]) bad = 1 } exit bad || n != 6 }' "$work/free.races"
verdict $? "more race than the heuristic knows"
measure equal --equal-budget 0.5
awk '$4 > 1 && $5 > 2 * 0.5 { print; bad = 1 } END { exit bad }' "$work/equal.races"
verdict $? "no race takes twice its time"
! grep -q '"source":"tuned"' "$work/equal.journal.jsonl"
verdict $? "and no table has a part"
finish
