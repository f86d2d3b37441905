#!/bin/bash
# Problems with leading dimensions on the CPU device: who minds them is measured, who does not is unsupported
# with a reason, who writes between the rows of C or takes them for packed is refuted; names of packed
# problems stay.
# Times nothing.
. "$(dirname "$0")/e2e.inc.sh"
shape=40x24x32:lda=36:ldb=48:ldc=28

# status_of FILE CONTENDER SHAPE: of a result, "status reason".
status_of() {
    python3 - "$@" <<'END'
import json, sys
for cell in json.load(open(sys.argv[1]))["cells"]:
    c = cell["contenders"].get(sys.argv[2])
    if c and cell["key"] == "offline/f32-f32-" + sys.argv[3]:
        print(c["status"], c.get("reason", ""))
END
}

config "$work/c.json" '{"m": 40, "n": 24, "k": 32, "lda": 36, "ldb": 48, "ldc": 28, "label": "views"}, "40x24x32"' '"offline"' \
    "\"$plugins/strided.so\", \"$plugins/old_abi.so\"" \
    '"stop": {"min_blocks": 6, "max_blocks": 6, "group_blocks": 3, "look_every": 3}'
sed -i 's|"baselines": \[.*\], "candidates"|"baselines": ["openblas", "torch.matmul", "'"$plugins"'/honest.so"], "optional": ["openblas", "torch.matmul"], "candidates"|' "$work/c.json"
run --config "$work/c.json" --device cpu --quiet --output "$work/c.out.json"
expect_code 3 "a run with cheats"
for name in strided-nn openblas-nn torch.matmul; do
    [[ "$(status_of "$work/c.out.json" $name $shape)" =~ ^(ok|unavailable) ]]
    verdict $? "$name minds them" "$(status_of "$work/c.out.json" $name $shape)"
done
[[ "$(status_of "$work/c.out.json" strided-gap-nn $shape)" =~ ^oob_write.*between\ the\ rows\ of\ C ]]
verdict $? "who writes between rows is told so" "$(status_of "$work/c.out.json" strided-gap-nn $shape)"
[[ "$(status_of "$work/c.out.json" strided-deaf-nn $shape)" =~ ^wrong_result ]]
verdict $? "who takes them for packed is wrong" "$(status_of "$work/c.out.json" strided-deaf-nn $shape)"
for name in honest-nn old-abi-nn strided-packed-nn; do
    [[ "$(status_of "$work/c.out.json" $name $shape)" =~ ^unsupported.*packed\ matrices\ only ]]
    verdict $? "$name takes packed ones only" "$(status_of "$work/c.out.json" $name $shape)"
    [[ "$(status_of "$work/c.out.json" $name 40x24x32)" =~ ^ok ]]
    verdict $? "$name is measured on those" "$(status_of "$work/c.out.json" $name 40x24x32)"
done
expect_text "$work/c.out.journal.jsonl" '"k":32,"args":"lda=36:ldb=48:ldc=28","dtype"' "the journal says them"
[ "$(grep -c '"k":32,"dtype"' "$work/c.out.journal.jsonl")" -eq 1 ]
verdict $? "and nothing of a packed problem"

run --config "$work/c.json" --device cpu --quiet --output "$work/c.out.json" --resume
expect_code 3 "it can be resumed"
run report "$work/c.out.json"
expect_text "$work/out" "$shape views" "the table names it"
run report "$work/c.out.json" --format csv
run compare "$work/c.out.json" "$work/c.out.json"
expect_text "$work/out" "$shape" "compare too"

run --shape 40x24x32:ldc=20 --device cpu
expect_code 64 "a row that is shorter than C's"
expect_text "$work/err" 'ldc: expected 24 or more elements, found 20' "is refused"
run --shape $shape --mode chain --device cpu
expect_text "$work/err" 'mode chain takes packed problems only' "chains are packed"
run tune --shape $shape --candidates blocked --device cpu
[ "$code" -ne 0 ]
verdict $? "nothing is tuned for it" "$code"
finish
