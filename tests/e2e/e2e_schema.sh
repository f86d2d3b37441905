#!/bin/bash
# The JSON Schema files against what they describe, by an implementation that is not ours: every shipped
# config, the results that are committed, and results made here. Without python3-jsonschema nothing can be
# said (tests/unit/config/test_schema.c compares schema and parser).
# Times nothing.
. "$(dirname "$0")/e2e.inc.sh"
top=$(cd "$(dirname "$0")/../.." && pwd)
if ! python3 -W ignore -c 'import jsonschema' 2>/dev/null; then
    echo "skipped: no python3-jsonschema"
    finish
fi
cat >"$work/validate.py" <<'END'
import gzip, json, sys
import jsonschema
schema, every = json.load(open(sys.argv[1])), int(sys.argv[2])
validator = jsonschema.validators.validator_for(schema)
validator.check_schema(schema)
bad = 0
for path in sys.argv[3:]:
    document = json.load(gzip.open(path) if path.endswith(".gz") else open(path))
    if every > 1:
        document["cells"] = document["cells"][::every]
    for error in list(validator(schema).iter_errors(document))[:5]:
        print(f"{path}: {'/'.join(map(str, error.absolute_path))}: {error.message[:200]}")
        bad = 1
sys.exit(bad)
END
validate() { # validate NAME SCHEMA FILE...; of results every `every`th cell
    local name=$1 schema=$2
    shift 2
    detail=$(python3 -W ignore "$work/validate.py" "$schema" "${every:-1}" "$@" 2>&1)
    verdict $? "$name" "$detail"
}
configs=()
for file in "$top"/configs/*.json; do
    case $file in *.schema.json) ;; *) configs+=("$file") ;; esac
done
validate "${#configs[@]} shipped configs" "$top/configs/config.schema.json" "${configs[@]}"
mapfile -t results < <(ls "$top"/tests/fixtures/data/journals/*/result.json.gz)
validate "${#results[@]} results of journals of every age" "$top/configs/result.schema.json" "${results[@]}"

# A run with most of what a result can hold: two modes, failures, A/A, a label; the paper's protocol; an
# unfinished one.
stop='"stop": {"min_blocks": 8, "look_every": 4, "max_blocks": 8, "group_blocks": 2, "max_cell_seconds": 5}'
config "$work/c.json" '{"m": 16, "n": 24, "k": 32, "label": "small"}, {"m": 1048576, "n": 1048576, "k": 16}' '"offline", "server"' \
    "\"$plugins/bad_wrong.so\", \"$plugins/bad_probe.so\", \"$plugins/steady.so\"" "$stop"
run --config "$work/c.json" --device cpu --output "$work/r.json" --aa
expect_code 3 "a run with failures"
validate "its result" "$top/configs/result.schema.json" "$work/r.json"
head -n -2 "$work/r.journal.jsonl" >"$work/part.journal.jsonl"
run report "$work/part.journal.jsonl" --format text
config "$work/p.json" '{"m": 16, "n": 24, "k": 32}' '"server"' "\"$plugins/steady.so\"" '"protocol": "paper", "paper": {"warmup_seconds": 0, "pair_seconds": 0.3}'
run --config "$work/p.json" --device cpu --output "$work/p.out.json" --aa
expect_code 0 "a run by the paper's protocol"
validate "its result too" "$top/configs/result.schema.json" "$work/p.out.json"
finish
