#!/bin/bash
# Mode chain on a GPU: nobody of NVIDIA's or ours is wrong in a layer, both ways of running a chain have
# times, the graph is the faster one where launching costs more than the kernels, and the copy lies where it
# should.
without_plugins=yes
. "$(dirname "$0")/../e2e/e2e.inc.sh"
"$bench" doctor 2>/dev/null | grep -q 'cuda:0' || { echo "no GPU"; exit 77; }
run_seconds=400
run --shape 256x256x256 --shape 64x4096x4096 --shape 200x136x1000 --mode chain --accumulate f32 --aa --device cuda:0 --quiet \
    --baselines cublas,cublaslt-heuristic --candidate cudal2 --output "$work/c.json"
expect_code 0 "a run in mode chain"
field() { # field EXPRESSION: python over the result as `r`
    python3 -c "import json,sys; r=json.load(open(sys.argv[1])); print($1)" "$work/c.json"
}
all='[(c["key"], n, x) for c in r["cells"] for n, x in c["contenders"].items()]'
[ "$(field "[(k, n, x['status'], x.get('reason')) for k, n, x in $all if x['status'] != 'ok']")" = "[]" ]
verdict $? "every layer of everybody is right" "$(field "[(k, n, x.get('reason')) for k, n, x in $all if x['status'] != 'ok']")"
[ "$(field "all(x['timings'][t]['median_ns'] > 0 for k, n, x in $all for t in ('device', 'event'))")" = True ]
verdict $? "graph and stream have a time each"
[ "$(field 'all(500 < c["chain"]["without_ns"]["device"] < 20000 for c in r["cells"])')" = True ]
verdict $? "a plain kernel takes what one takes" "$(field '[c["chain"] for c in r["cells"]]')"
[ "$(field 'all(abs(a["geomean"]) < 0.05 for c in r["cells"] for a in c["aa"] if a["timing"] == "device")')" = True ]
verdict $? "the copy is as fast as its original" "$(field '[a for c in r["cells"] for a in c["aa"]]')"
run report "$work/c.json" --table 7
expect_code 0 "Table 7"
expect_text "$work/out" 'a stream' "has both"
sed 's/^/# /' "$work/out"
finish
