#!/bin/bash
# Every way to time on a GPU gets to its end with every contender ok: each timing as the headline, each cache
# state, both modes, and the paper's protocol; the kernels are NVIDIA's and ours.
without_plugins=yes
. "$(dirname "$0")/../e2e/e2e.inc.sh"
"$bench" doctor 2>/dev/null | grep -q 'cuda:0' || { echo "no GPU"; exit 77; }

cat >"$work/config.json" <<'END'
{"schema": "cudal2-bench/config", "schema_version": 1, "name": "gpu-timings", "shapes": [{"m": 256, "n": 512, "k": 1024}],
 "dtype": "f16", "accumulate": ["f32"], "layouts": ["nn"], "modes": ["offline", "server"],
 "baselines": ["torch.matmul", "cublas", "cublaslt-autotuning"], "candidates": ["cudal2"],
 "stop": {"min_blocks": 8, "look_every": 4, "max_blocks": 8, "group_blocks": 4},
 "paper": {"warmup_seconds": 0.2, "pair_seconds": 0.5}, "server": {"mean_gap_ms": 1}}
END

way() { # way NAME OPTIONS...
    local name=$1
    shift
    run run --config "$work/config.json" --device cuda:0 --quiet --output "$work/out.json" "$@"
    expect_code 0 "$name"
    grep -E 'crash|error|implausible|refuted|suspected' "$work/out" "$work/err" | head -5
    rm -f "$work"/out.json "$work"/out.journal.jsonl
}

for mode in offline server; do
    for timing in device event wall; do
        way "$mode, $timing" --mode $mode --timing $timing
    done
    for cache in rotate flush left; do
        way "$mode, $cache" --mode $mode --cache $cache
        way "$mode, $cache, event" --mode $mode --cache $cache --timing event
    done
    way "$mode, the paper's protocol" --mode $mode --protocol paper
done
way "offline, device-row beside device" --mode offline --timing device,device-row
way "the paper's protocol by device time" --mode offline --protocol paper --timing device
finish
