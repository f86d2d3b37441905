#!/bin/bash
# Other people's formats: nvbench's JSON, by its form and, where scripts/consumers.sh all has put it, by
# nvbench's own compare script.
# Times nothing.
without_plugins=yes
# shellcheck source=tests/e2e/e2e.inc.sh
. "$(dirname "$0")/e2e.inc.sh"
top=$(cd "$(dirname "$0")/../.." && pwd)
consumers=$(dirname "$bench")/consumers
export PYTHONPATH=$consumers/python:$consumers/nvbench
python=${PYTHON:-python3}
command -v "$python" >/dev/null || { echo "skipped: no python3"; exit 0; }

# --- nvbench ---
run report "$top/tests/fixtures/data/journals/11-24d-server-f32/journal.jsonl.gz" --format nvbench
expect_code 0 "nvbench's JSON"
cp "$work/out" "$work/a.json"
cat >"$work/read.py" <<'END'
import json, sys
root = json.load(open(sys.argv[1]))
assert root["meta"]["version"]["json"]["string"] == "1.0.0"
assert [d["id"] for d in root["devices"]] == [0] and root["devices"][0]["name"] == "NVIDIA H200"
names = [b["name"] for b in root["benchmarks"]]
assert len(set(names)) == len(names) and "server/f16-f32/cublas-tn/device" in names and not any("copy" in n for n in names), names
bench = root["benchmarks"][names.index("server/f16-f32/cublas-tn/device")]
assert [a["name"] for a in bench["axes"]] == ["M", "N", "K"] and bench["devices"] == [0] and len(bench["states"]) == 6
state = next(s for s in bench["states"] if [v["value"] for v in s["axis_values"]] == ["64", "64", "64"])
values = {s["tag"]: s["data"][0] for s in state["summaries"]}
assert all(v["name"] == "value" and v["type"] == "float64" for v in values.values())
assert 3e-6 < float(values["nv/cold/time/gpu/mean"]["value"]) < 5e-6, values
assert 0 < float(values["nv/cold/time/gpu/stdev/relative"]["value"]) < 0.2, values
END
"$python" "$work/read.py" "$work/a.json" 2>"$work/err"
verdict $? "has nvbench's form: seconds as text, a state for each shape" "$(tail -1 "$work/err")"
sed 's/"value":"4\.0427e-06"/"value":"8e-06"/' "$work/a.json" >"$work/b.json"
tool=$(find "$consumers/nvbench" -name nvbench_compare.py 2>/dev/null | head -1)
if [ -n "$tool" ]; then
    (cd "$(dirname "$tool")" && "$python" nvbench_compare.py --no-color "$work/a.json" "$work/b.json") >"$work/out" 2>"$work/err"
    [ $? -eq 1 ] # its exit status is how many differ
    verdict $? "nvbench_compare.py reads it" "$(tail -1 "$work/err")"
    expect_text "$work/out" ' 64 .* 64 .* 64 .* 4\.043 us .* 8\.000 us .* 97\.89% .* SLOW ' "and sees what was made slower"
    expect_text "$work/out" 'Pass +\(diff <= min_noise\): 53$' "and what was not"
else
    echo "skip: nvbench_compare.py (not here: scripts/consumers.sh all gets it)"
fi
finish
