#!/bin/bash
# `verify` and what a run does with contenders that fail verification: verdicts per problem, exit codes,
# invalid times.
# Times nothing.
. "$(dirname "$0")/e2e.inc.sh"

# --- one kernel, good or bad, alone ---
run verify "$plugins/honest.so" --device cpu --shape 33x17x1100 --shape 64x64x64 --quiet
expect_code 0 "an honest kernel passes"
expect_text "$work/out" '^f32-f32-33x17x1100 +honest-nn +passed +exact; largest deviation .* accumulates in f32' "and says how near it is"
expect_text "$work/out" '^2 passed, 0 failed, 0 not checked$' "and on how many problems"
run verify "$plugins/bad_wrong.so" "$plugins/honest.so" --device cpu --plugins "$nothing" --shape 16x24x32 --format json
expect_code 3 "a wrong kernel has its exit code"
expect_text "$work/err" 'bad-wrong-nn at f32-f32-16x24x32: wrong_result: .* row 15 column 23' "and the line names the first wrong element"
python3 - "$work/out" <<'END'
import json, sys
found = json.load(open(sys.argv[1]))
assert found["schema"] == "cudal2-bench/verify" and found["passed"] is False, found
contenders = {c["name"]: c for c in found["problems"][0]["contenders"]}
assert contenders["bad-wrong-nn"]["verdict"] == "wrong_result" and contenders["bad-wrong-nn"]["stage"] == "verify"
assert contenders["honest-nn"]["verdict"] == "passed" and contenders["honest-nn"]["class"] == "f32"
assert len(contenders["honest-nn"]["deviation"]) >= 2 and contenders["honest-nn"]["coverage"] >= 0.9
assert len(found["problems"][0]["verification"]["bound"]) == 2
END
verdict $? "the verdicts as JSON"
run verify "$plugins/bad_crash_launch.so" --device cpu --plugins "$nothing" --shape 16x24x32 --quiet
expect_code 3 "a kernel that crashes fails"
expect_text "$work/out" 'bad-crash-launch-nn +(crash|early_exit) ' "and is called that"
run verify "$work/none.so" --device cpu --shape 16x24x32 --quiet
expect_code 65 "a kernel that is not there"
expect_text "$work/err" 'none.so: cannot be read: No such file' "is named in a line"
echo >"$work/empty.so"
run verify "$work/empty.so" --device cpu --baselines "$plugins/honest.so" --shape 16x24x32 --quiet
expect_code 2 "nothing to check is no success"
run verify "$plugins/honest.so" --device cpu --shape 16x24x32 --in-process --baselines none
expect_code 0 "in this process, without baselines"
run verify "$plugins/honest.so" --device cpu --config "$(dirname "$0")/../../configs/smoke.json" --plugins "$nothing" --quiet
expect_code 0 "the problems of a config"
expect_text "$work/out" '^8 passed' "all of them"

# --- the roofline picture: the one thing for which verify times ---
cp "$plugins/steady.so" "$work/mine.so"
config "$work/roof.json" '{"m": 32, "n": 32, "k": 64}, {"m": 64, "n": 64, "k": 64}' '"offline"' '' '"stop": {"min_blocks": 8, "look_every": 4, "max_blocks": 8}'
run verify "$work/mine.so" --device cpu --config "$work/roof.json" --baselines "$plugins/honest.so" --roofline "$work/roof.svg" --quiet
expect_code 0 "verify --roofline"
expect_text "$work/out" '^2 passed, 0 failed' "verifies as without"
python3 - "$work/roof.svg" <<'END'
import sys, xml.dom.minidom
tree = xml.dom.minidom.parse(sys.argv[1])
names = [e.firstChild.data for e in tree.getElementsByTagName("title") if e.firstChild.data != "Roofline"]
assert len(names) == 4 and all("FLOP/s" in name and "\u00b5s" in name for name in names), names
assert len([n for n in names if n.startswith("steady-nn, ")]) == 2 and len([n for n in names if n.startswith("honest-nn, ")]) == 2, names
END
verdict $? "and each contender is a point with its name and time" "$(head -c 300 "$work/roof.svg")"
run verify "$plugins/bad_wrong.so" --device cpu --shape 32x32x64 --baselines "$plugins/bad_crash_launch.so" --roofline "$work/none.svg" --quiet
expect_code 3 "a kernel that fails keeps its exit status"
[ ! -e "$work/none.svg" ]
verdict $? "and has no point"
run verify "$plugins/honest.so" --device cpu --shape 32x32x64 --roofline /nowhere/x.svg
expect_code 73 "a picture that cannot be written is refused before anything is timed"
run verify "$plugins/honest.so" --device cpu --shape 32x32x64 --roofline "$work/x.svg" --in-process
expect_code 64 "and so is one without a worker"

# --- command line ---
run verify
expect_code 64 "verify needs a kernel"
run verify "$plugins/honest.so" "$plugins/honest.so" --device cpu
expect_code 64 "a kernel that is named twice"
expect_text "$work/err" '^cudal2-bench: verify: ".*/honest.so" is there twice' "says so"
"$bench" verify "$plugins/bad_load_hang.so" --device cpu --quiet >"$work/out" 2>"$work/err" </dev/null &
job=$!
sleep 1
kill -TERM $job
wait $job
code=$?
expect_code 75 "TERM"
expect_text "$work/err" '^cudal2-bench: terminated with 0 of 6 cells done$' "TERM: promises no --resume, which verify has not"
run verify /etc/passwd --device cpu
expect_code 64 "what is no kernel"
run verify "$plugins/honest.so" --shape 64x64
expect_code 64 "a shape has three sizes"
expect_text "$work/err" '\-\-shape: expected MxNxK' "and the line says so"
run verify "$plugins/honest.so" --shape 64x64x0
expect_code 64 "none of them 0"
run verify "$plugins/honest.so" --device cpu --format html
expect_code 64 "text or JSON"
run verify "$plugins/honest.so" --device cpu --baselines none
expect_code 64 "no baselines only in this process"
PATH=/usr/bin:/bin CUDA_HOME=/nowhere run verify "$plugins/honest.so" --device cpu --shape 16x24x32 --memcheck --plugins "$nothing" --quiet
if [ ! -x /usr/local/cuda/bin/compute-sanitizer ]; then
    expect_code 69 "a sanitizer that is not here is no success"
    expect_text "$work/out" '^memcheck: missing: compute-sanitizer is neither on PATH' "and is named"
fi

# --- a sanitizer of ours: what it finds, and how long it may take ---
mkdir "$work/bin"
cat >"$work/bin/compute-sanitizer" <<'END'
#!/bin/bash
while [ $# -gt 0 ]; do
    case $1 in
    --log-file) log=$2; shift ;;
    --tool) tool=$2; shift ;;
    --target-processes) shift ;;
    *) break ;;
    esac
    shift
done
[ "$tool" = racecheck ] && exec sleep 100
"$@" >/dev/null || exit 1
printf '========= COMPUTE-SANITIZER\n========= Invalid __global__ write of size 2 bytes\n=========     at gemm\n========= ERROR SUMMARY: 3 errors\n' >"$log"
END
chmod +x "$work/bin/compute-sanitizer"
PATH=$work/bin:$PATH run verify "$plugins/honest.so" --device cpu --shape 16x24x32 --memcheck --racecheck --plugins "$nothing" --timeout 1 --quiet
expect_code 3 "errors under a sanitizer fail"
expect_text "$work/out" '^memcheck: errors \(3\): Invalid __global__ write of size 2 bytes$' "the first is quoted"
expect_text "$work/out" '^racecheck: timeout: ' "and a slow sanitizer is ended"

# --- a run that times what fails ---
config "$work/anyway.json" '{"m": 32, "n": 24, "k": 48}' '"offline"' "\"$plugins/bad_wrong.so\", \"$plugins/steady.so\"" \
    '"stop": {"min_blocks": 8, "look_every": 4, "max_blocks": 8, "max_cell_seconds": 5}'
run --config "$work/anyway.json" --device cpu --output "$work/anyway.out.json" --time-anyway
expect_code 3 "what is timed anyway still failed"
python3 - "$work/anyway.out.json" <<'END'
import json, sys
result = json.load(open(sys.argv[1]))
cell = result["cells"][0]
bad = next(c for n, c in cell["contenders"].items() if n.startswith("bad-wrong"))
assert bad["status"] == "wrong_result" and bad["invalid"] is True and bad["timings"]["wall"]["n"] > 0, bad
assert "tflops" not in bad
for name, other in cell["contenders"].items():
    assert name.startswith("bad-wrong") or "invalid" not in other
text = json.dumps([cell["speedups"], result["summary"]["speedups"], result["summary"]["rates"]])
assert "bad-wrong" not in text, text
assert any("bad-wrong" in json.dumps(row) for row in result["summary"]["left_out"])
END
verdict $? "its times are marked and count nowhere"
run --config "$work/anyway.json" --device cpu --output "$work/again.out.json"
expect_text "$work/again.out.journal.jsonl" '"cached":true' "a baseline that passed is not verified again"
expect_no_text "$work/again.out.journal.jsonl" '"invalid"' "and without --time-anyway nothing is timed that failed"
run --config "$work/anyway.json" --device cpu --output "$work/fresh.out.json" --verify-again
expect_no_text "$work/fresh.out.journal.jsonl" '"cached":true' "unless asked to"

finish
