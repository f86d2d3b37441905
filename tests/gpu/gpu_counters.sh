#!/bin/bash
# Hardware counters by NVIDIA's ncu on a GPU: `verify --counters` and a submission to the server that asks for
# them. One launch is counted, of the kernel and nothing of the harness's; its time agrees with what CUPTI
# saw; an unknown metric is a reason and the reward stays. Prints the counters and what they cost. 77 where
# there is no ncu, or it may not count.
without_plugins=yes
. "$(dirname "$0")/../e2e/e2e.inc.sh"
"$bench" doctor 2>/dev/null | grep -q 'cuda:0' || { echo "no GPU"; exit 77; }
command -v python3 >/dev/null || { echo "no python3"; exit 77; }
root=$(cd "$(dirname "$0")/../.." && pwd)
kernels=${CUDAL2_KERNELS:-$root/kernels}
run_seconds=300
shape=2048x2048x2048

cat >"$work/look.py" <<'END'
import json, sys
kind, path = sys.argv[1:3]
tree = json.load(open(path))
if kind == "verify":
    one = [c for p in tree["problems"] for c in p["contenders"] if c["verdict"] == "passed"][0]
    seen = one.get("activity", {}).get("busy_ns")
else:
    one, seen = tree["problems"][0], tree["problems"][0].get("candidate_ns")
counters = one["counters"]
print("# " + json.dumps(counters))
if "unavailable" in counters:
    sys.exit("unavailable: " + counters["unavailable"])
value = {name: m["value"] for name, m in counters["metrics"].items()}
for name, number in value.items():
    if name.endswith(("pct", "pct_of_peak_sustained_elapsed", "pct_of_peak_sustained_active")):
        assert 0 <= number <= 101, (name, number)
assert counters["launched"] == 1, counters["launched"]
assert len(sys.argv) < 4 or sys.argv[3] in counters["kernels"][0]["kernel"], counters["kernels"]
ns = value["gpu__time_duration.sum"]
print("# ncu %.0f ns, the harness %s" % (ns, seen))
assert seen is None or seen / 2 < ns < seen * 3, (ns, seen)  # a profiler flushes caches and leaves clocks as they are
assert value["dram__bytes.sum"] > 2 * 2048 * 2048, value["dram__bytes.sum"]
END
look() { # look NAME ARGUMENT...
    local name=$1
    shift
    python3 "$work/look.py" "$@" >"$work/seen" 2>"$work/why"
    local status=$?
    cat "$work/seen"
    verdict $status "$name" "$(tail -1 "$work/why")"
}

start=$SECONDS
run verify "$kernels/skeleton.json" --device cuda:0 --kernels "$kernels" --shape $shape --accumulate f32 --counters --format json
expect_code 0 "verify --counters"
echo "# $((SECONDS - start)) s"
for lack in 'no ncu on PATH' ERR_NVGPUCTRPERM; do
    grep -q "$lack" "$work/out" && { echo "skipped: $(grep -o '"unavailable":.*' "$work/out" | head -1)"; exit 77; }
done
look "counts one launch of the kernel, as fast as CUPTI saw it" verify "$work/out" "$(sed -n 's/.*"entry": *"\([^"]*\)".*/\1/p' "$kernels/skeleton.json" | head -1)"
run verify "$kernels/skeleton.json" --device cuda:0 --kernels "$kernels" --shape $shape --accumulate f32 --counters=sm__cycles_elapsed.max
expect_text "$work/out" 'one launch, by ncu [0-9]' "and prints them as text"
expect_text "$work/out" '[0-9] cycle +sm__cycles_elapsed.max' "those that were asked for"

"$bench" serve --listen 127.0.0.1:0 --device cuda:0 --kernels "$kernels" --baselines cublas --output "$work/jobs" >"$work/serve.out" 2>"$work/serve.err" </dev/null &
server=$!
at_exit() { kill "$server" 2>/dev/null; }
for _ in $(seq 300); do
    grep -q listening "$work/serve.out" && break
    kill -0 "$server" 2>/dev/null || { echo "skipped: serve does not run: $(tail -1 "$work/serve.err")"; exit 77; }
    sleep 0.1
done
url=$(sed -n 's/^listening on //p' "$work/serve.out")
measure() { # measure MEMBERS: the outcome in $work/outcome
    local id
    id=$(curl -s -m 60 "$url/v1/jobs" -H 'Content-Type: application/json' -d "{$1,\"problem\":\"$shape\",\"seconds\":2}" | grep -o '"id":"[0-9a-f]*"' | cut -d'"' -f4)
    until curl -s -m 90 "$url/v1/jobs/$id?wait=60" >"$work/outcome" && grep -q '"state":"done"\|"error":"there is' "$work/outcome"; do :; done
    echo "# $(grep -o '"measuring_seconds":[0-9.]*' "$work/outcome")"
}
kernel='"kernel":"multistage","parameters":{"BM":128,"BN":128,"WARPS_M":2,"WARPS_N":4}'
measure "$kernel"
measure "$kernel,\"counters\":true"
expect_text "$work/outcome" '"verdict":"ok","reward":\{"value":[0-9]' "a submission with counters has its reward"
look "and the counters of what was timed" outcome "$work/outcome"
measure "\"candidate\":\"cudal2\",\"counters\":true"
look "of a set: the variant that was timed" outcome "$work/outcome"
measure "$kernel,\"counters\":[\"nix__nix.sum\"]"
expect_text "$work/outcome" '"verdict":"ok","reward":\{"value":[0-9]' "an unknown metric costs no reward"
expect_text "$work/outcome" '"missing":\["nix__nix.sum"\]' "and is named"
finish
