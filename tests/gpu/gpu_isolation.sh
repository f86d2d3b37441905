#!/bin/bash
# What holds a worker on a GPU: each layer is in force, or the record says why not; baselines and modules are
# measured and watched all the same, and a plugin that reaches out gets nothing. Then the same without the
# layers that a worker enters before its device is open: whoever is measured there must be measured here.
# Prints what both took.
. "$(dirname "$0")/../e2e/e2e.inc.sh"
"$bench" doctor 2>/dev/null | grep -q 'cuda:0' || { echo "no GPU"; exit 77; }
root=$(cd "$(dirname "$0")/../.." && pwd)
cat >"$work/c.json" <<'END'
{"schema": "cudal2-bench/config", "schema_version": 1, "name": "isolation", "modes": ["offline"], "accumulate": ["f32"],
 "shapes": [{"m": 512, "n": 512, "k": 512}, {"m": 2048, "n": 2048, "k": 1024}], "baselines": ["cublas", "cublaslt-heuristic"],
 "candidates": ["cudal2"], "stop": {"min_blocks": 8, "look_every": 8, "max_blocks": 16, "group_blocks": 2, "max_cell_seconds": 3}}
END
run_seconds=300

measure() { # measure NAME
    local began=$EPOCHREALTIME
    run --config "$work/c.json" --device cuda:0 --kernels "$root/kernels" --activity all --output "$work/$1.json"
    expect_code 0 "$1: the run ends well"
    echo "# $1: $(awk "BEGIN { print $EPOCHREALTIME - $began }") s"
    grep -o '"isolation":{[^}]*}' "$work/$1.journal.jsonl" | sort | uniq -c | sed 's/^/# /'
    grep -E 'cublas|cudal2' "$work/out" | head -6 | sed 's/^/# /'
    [ "$(journal_cells "$work/$1.journal.jsonl" | wc -l)" -eq 2 ]
    verdict $? "$1: both cells are there"
    ! grep '"kind":"cell"' "$work/$1.journal.jsonl" | grep -qE '"status":"(crash|cuda_error|unavailable|unsupported|infrastructure)"'
    verdict $? "$1: everybody is measured"
    if "$bench" doctor 2>/dev/null | grep -q '^ok *CUPTI'; then
        grep '"kind":"activity"' "$work/$1.journal.jsonl" >"$work/seen"
        grep -q '"kernel"' "$work/seen" && ! grep -q '"unavailable"' "$work/seen"
        verdict $? "$1: launches are watched" "$(grep -o '"unavailable":"[^"]*"' "$work/seen" | head -1)"
    fi
}

measure all
isolation=$(grep -o '"isolation":{[^}]*}' "$work/all.journal.jsonl" | head -1)
for layer in namespaces processes user; do
    case $isolation in
    *"\"$layer\":true"*) verdict 0 "$layer: in force" ;;
    *"$layer: "*) verdict 0 "$layer: not in force, and the record says why" ;;
    *) verdict 1 "$layer: neither in force nor explained" "$isolation" ;;
    esac
done
[ "$(grep -o '"isolation":{[^}]*}' "$work/all.journal.jsonl" | sort -u | wc -l)" -eq 1 ]
verdict $? "every worker had the same"
CUDAL2_ISOLATION=limits,memory,files,calls,temporary measure without
CUDAL2_ISOLATION=limits,memory,files,calls,temporary,namespaces,processes measure "no-user"
finish
