#!/bin/bash
# Kubernetes, Ray and the simulation: the page has its table, the manifests fit the API's schema, and Ray runs
# shards on this machine, one of which is killed. Skipped (77) where neither kubernetes-validate nor Ray is
# installed (scripts/consumers.sh all gets both).
# Times nothing.
# shellcheck source=tests/e2e/e2e.inc.sh
. "$(dirname "$0")/e2e.inc.sh"
consumers=$(dirname "$bench")/consumers
export PYTHONPATH=$consumers/python${PYTHONPATH:+:$PYTHONPATH}
python=${PYTHON:-python3}
validate() { "$python" -m kubernetes_validate --strict --quiet "$1" >"$work/out" 2>&1; }
tried=0
if "$python" -c 'import kubernetes_validate' 2>/dev/null; then
    tried=1
    for manifest in scripts/kubernetes/*.yaml; do
        validate "$manifest"
        verdict $? "$manifest fits the API's schema" "$(tail -1 "$work/out")"
    done
    sed 's/completionMode/completionMood/' scripts/kubernetes/shards.yaml >"$work/bad.yaml"
    ! validate "$work/bad.yaml"
    verdict $? "and a wrong member is found"
fi
shards=$(sed -nE 's/^  completions: ([0-9]+)$/\1/p' scripts/kubernetes/shards.yaml)
[ "$(grep -A1 CUDAL2_SHARDS scripts/kubernetes/shards.yaml | sed -nE 's/.*value: "([0-9]+)"/\1/p' | tail -1)" = "$shards" ]
verdict $? "CUDAL2_SHARDS of the manifest is its completions"

"$python" scripts/scale-out/simulate.py --check docs/scale-out.md >"$work/out" 2>&1
verdict $? "the page has the table that the simulation prints" "$(tail -1 "$work/out")"

if "$python" -c 'import ray' 2>/dev/null; then
    tried=1
    config "$work/c.json" '{"m": 8, "n": 8, "k": 8}, {"m": 16, "n": 8, "k": 8}, {"m": 24, "n": 8, "k": 8}, {"m": 32, "n": 8, "k": 8}' \
        '"server"' '' '"stop": {"min_blocks": 96, "look_every": 8, "max_blocks": 96, "group_blocks": 8, "max_cell_seconds": 5}'
    # The first start of shard 1 is killed in its first cell.
    cat >"$work/bench" <<END
#!/bin/bash
case "\$*" in
*"--shard 1/3"*)
    [ -e "$work/killed" ] || { touch "$work/killed"; kill -9 \$\$; } ;;
esac
exec "$bench" "\$@"
END
    chmod +x "$work/bench"
    CUDAL2_BENCH=$work/bench timeout -k 5 200 "$python" scripts/ray/shards.py -n 3 -o "$work/ray/r.json" --gpus 0 -- \
        run --config "$work/c.json" --device cpu >"$work/out" 2>"$work/err" </dev/null
    code=$?
    expect_code 0 "Ray runs three shards, one of which is killed, and merges them"
    [ -e "$work/killed" ]
    verdict $? "it was killed"
    [ "$(journal_cells "$work/ray/r.journal.jsonl" | sort -u | wc -l)" -eq 4 ]
    verdict $? "each cell is there"
fi
[ "$tried" -eq 1 ] || { echo "skipped: neither kubernetes-validate nor Ray"; [ "$failures" -eq 0 ] && exit 77; }
finish
