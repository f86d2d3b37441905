#!/bin/bash
# Problems with alpha and beta on the CPU device: who minds them is measured, who does not is unsupported with
# a reason, who takes a wrong alpha or beta, ignores beta, adds twice, or begins so when it is timed is
# refuted; names of other problems stay.
# Times nothing.
. "$(dirname "$0")/e2e.inc.sh"
shape=40x24x32:ldc=28:alpha=-0.5:beta=0.75

# status_of FILE CONTENDER SHAPE: of a result, "status stage reason".
status_of() {
    python3 - "$@" <<'END'
import json, sys
for cell in json.load(open(sys.argv[1]))["cells"]:
    c = cell["contenders"].get(sys.argv[2])
    if c and cell["key"] == "offline/f32-f32-" + sys.argv[3]:
        print(c["status"], c.get("stage", ""), c.get("reason", ""))
END
}

config "$work/c.json" '{"m": 40, "n": 24, "k": 32, "ldc": 28, "alpha": -0.5, "beta": 0.75}, "40x24x32"' '"offline"' \
    "\"blocked\", \"$plugins/scaled.so\", \"$plugins/old_abi.so\"" \
    '"stop": {"min_blocks": 6, "max_blocks": 6, "group_blocks": 3, "look_every": 3}'
sed -i 's|"baselines": \[.*\], "candidates"|"baselines": ["openblas", "torch.matmul", "'"$plugins"'/honest.so"], "optional": ["openblas", "torch.matmul"], "candidates"|' "$work/c.json"
run --config "$work/c.json" --device cpu --quiet --output "$work/c.out.json"
expect_code 3 "a run with cheats"
for name in scaled-nn blocked-nn openblas-nn torch.matmul; do
    [[ "$(status_of "$work/c.out.json" $name $shape)" =~ ^(ok|unavailable) ]]
    verdict $? "$name minds them" "$(status_of "$work/c.out.json" $name $shape)"
done
for name in alpha beta no-beta twice; do
    [[ "$(status_of "$work/c.out.json" scaled-$name-nn $shape)" =~ ^wrong_result\ verify ]]
    verdict $? "scaled-$name-nn is wrong" "$(status_of "$work/c.out.json" scaled-$name-nn $shape)"
done
for name in stale lazy; do
    [[ "$(status_of "$work/c.out.json" scaled-$name-nn $shape)" =~ ^wrong_result\ measure ]]
    verdict $? "scaled-$name-nn is found while it is timed" "$(status_of "$work/c.out.json" scaled-$name-nn $shape)"
done
for name in honest-nn old-abi-nn scaled-plain-nn; do
    [[ "$(status_of "$work/c.out.json" $name $shape)" =~ ^unsupported ]]
    verdict $? "$name takes neither" "$(status_of "$work/c.out.json" $name $shape)"
    [[ "$(status_of "$work/c.out.json" $name 40x24x32)" =~ ^ok ]]
    verdict $? "$name is measured without" "$(status_of "$work/c.out.json" $name 40x24x32)"
done
expect_text "$work/c.out.journal.jsonl" '"k":32,"args":"ldc=28:alpha=-0.5:beta=0.75","dtype"' "the journal says them"
[ "$(grep -c '"k":32,"dtype"' "$work/c.out.journal.jsonl")" -eq 1 ]
verdict $? "and nothing of another problem"

run --config "$work/c.json" --device cpu --quiet --output "$work/c.out.json" --resume
expect_code 3 "it can be resumed"
run report "$work/c.out.json"
expect_text "$work/out" "$shape" "the table names it"
run report "$work/c.out.json" --format html --output "$work/page"
[ "$(grep -o '"groups":\[[^]]*' "$work/page/report.html" | grep -o '"mode"' | wc -l)" -eq 1 ]
verdict $? "on the page all are of one group"
run compare "$work/c.out.json" "$work/c.out.json"
expect_text "$work/out" "$shape" "compare too"

run --shape 40x24x32:beta=0.3 --device cpu
expect_code 64 "a beta that is no multiple of 1/8"
expect_text "$work/err" 'beta: expected a multiple of 1/8 from -4 to 4' "is refused"
run --shape 40x24x32:alpha=0 --device cpu
expect_text "$work/err" 'alpha \(not 0\)' "so is an alpha of 0"
run --shape $shape --mode chain --device cpu
expect_text "$work/err" 'mode chain takes packed problems only' "chains have neither"
# The test of NVIDIA's baselines, which needs a GPU, on those of the CPU.
timeout 60 "$tested_build/tests/gpu_scales" cpu >"$work/out"
verdict $? "gpu_scales finds the CPU's baselines right" "$(grep -v ', 0 wrong' "$work/out" | head -1)"
finish
