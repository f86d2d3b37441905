#!/bin/bash
# scripts/import/receipts.py: claims next to what was measured. A made-up set of four kernels, of which one
# escapes its stream and one does not build, has means that are known; a kept journal gives every timing.
# Times nothing.
without_plugins=yes
# shellcheck source=tests/e2e/e2e.inc.sh
. "$(dirname "$0")/e2e.inc.sh"
top=$(cd "$(dirname "$0")/../.." && pwd)
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 0; }
cd "$work" || exit 1

receipts() { # receipts ARGUMENT...
    timeout -k 5 120 "$top/scripts/import/receipts.py" kernels/gpu_F32F16F16F32 "$@" --program "$bench" >out 2>err </dev/null
    code=$?
}

# --- a set, its claims, its build, and a result ---
mkdir -p kernels/gpu_F32F16F16F32 eval_results built
for shape in 64_64_64 128_64_64 256_64_64 512_64_64; do : >kernels/gpu_F32F16F16F32/"$shape".cu; done
cat >eval_results/cuda_l2_gpu_F32F16F16F32_speedup_offline.csv <<'END'
mnk,torch.matmul,cuBLAS-tn,cuBLAS-nn,cuBLAS-max,cuBLASLt-heuristic-max,cuBLASLt-auto-tuning-max
64_64_64,1.5,2,2,2,1.2,1.1
128_64_64,1.7,2,2,2,1.2,1.3
256_64_64,1.9,2,2,2,1.2,1.5
512_64_64,1.1,2,2,2,1.2,1.1
END
cat >built/a.json <<'END'
{"file": "64_64_64.cu", "state": "ok", "reason": null}
END
cat >built/b.json <<'END'
{"file": "512_64_64.cu", "state": "failed", "reason": "error: no such thing"}
END

contender() { # contender NAME ROLE STATUS NS [MORE]
    printf '"%s":{"status":"%s","role":"%s","timings":{"device":{"n":8,"median_ns":%s}}%s}' "$1" "$3" "$2" "$4" "${5:-}"
}
pair() { # pair GAIN
    printf '{"candidate":"gpu_F32F16F16F32-max","reference":"cublaslt-autotuning-max","timing":"device","geomean":%s,"mean_of_ratios":%s,"ci95":[0,1]}' "$1" "$1"
}
cell() { # cell M OWN PAIRS
    printf '{"key":"offline/f16-f32-%sx64x64","m":%s,"n":64,"k":64,"dtype":"f16","accumulate":"f32","mode":"offline",' "$1" "$1"
    printf '"status":"ok","headline":"device","blocks":8,"converged":true,"contenders":{%s,%s,%s},"speedups":[%s],"aa":[]}' \
        "$(contender cublaslt-autotuning-nn baseline ok 3000)" "$(contender cublaslt-autotuning-tn baseline ok 2000)" "$2" "$3"
}
counts='{"launches":1,"allocations":0,"synchronisations":1,"streams":0,"events":0,"copies":0}'
attributes=",\"attributes\":{\"padding\":\"0x0x0\",\"first_call\":$counts,\"each_call\":$counts}"
other=$(printf '"gpu_F32F16F16F32-nn":{"status":"unsupported","role":"candidate","reason":"it reads the other"}')
good=$(contender gpu_F32F16F16F32-tn candidate ok 1000 "$attributes"),$other
escaped=$(contender gpu_F32F16F16F32-tn candidate stream_escape 1000 ',"invalid":true,"reason":"work in another stream"'),$other
{
    printf '{"schema":"cudal2-bench/result","schema_version":1,"run":{"n_cells":3,"complete":true,"missing":[],"sittings":[]},'
    printf '"env":[{"device":{"name":"Test GPU","driver":"1"},"libraries":{"cublas":{"cublas":"13.1"}}}],'
    printf '"summary":{"counts":{"cells":3},"convergence":{},"speedups":[]},"cells":[%s,%s,%s]}\n' \
        "$(cell 64 "$good" "$(pair 0.2)")" "$(cell 128 "$good" "$(pair 0.4)")" "$(cell 256 "$escaped" "")"
} >r.json

receipts r.json --build built --tsv kernels.tsv
expect_code 0 "a part of a set"
expect_text out '^\| built \| 1 of 2 tried \| 4 in the set \|$' "says what builds"
expect_text out '^\| does not build \| 1 \| error: no such thing \|$' "and why one does not"
expect_text out '^\| judged, offline \| 3 of 4 \|  \|$' "and how many were judged"
expect_text out '^\| offline \| ok \| 2 \|  \|$' "those that are right"
expect_text out '^\| offline \| stream_escape \| 1 \| 256x64x64: work in another stream \|$' "the one that is not, with its reason"
# Claimed: the whole set (0.1 + 0.3 + 0.5 + 0.1) / 4, the two that count (0.1 + 0.3) / 2. Measured: (0.2 +
# 0.4) / 2, with the flagged one, which takes half of the faster layout's time, (0.2 + 0.4 + 1) / 3.
expect_text out '^\| offline \| cuBLASLt-auto-tuning-max \| device \| 2 \| \+25.0% \| \+20.0% \| \+30.0% \| 2 of 2 \| - \| \+53.3% \(1\) \|$' \
    "claimed and measured, without the flagged and with it"
expect_text out '^\| offline \| under 5 us \| 2 \| \+20.0% \| \+30.0% \|$' "the same by how long AutoTuning takes"
expect_text out '^\| synchronises \| 2 \| 2 \|$' "what the wrappers do"
expect_text out '^\| offline \| ok, of them host_sync \| 2 \| an observation: synchronises in each call \|$' "and who waits in each call, beside ok"
expect_text out '^\| offline \| synchronises \| 2 \| 2.0 us \| \+20.0% \| \+30.0% \|$' "what those come to"
expect_text out '^\| offline \| does not \| 0 \| - \| - \| - \|$' "and the others"
expect_text out '^\| Test GPU \| 1 \| cublas 13.1 \|$' "on which machine"
expect_text kernels.tsv '^offline	64	64	64	ok		0.5000	1.0000	0.2000	0.1000	.*	0.2000	0.0000	1.0000$' "a row for each kernel"
expect_text kernels.tsv '^offline	256	64	64	stream_escape	work in another stream	.*	0.5000	+$' "without a time where it is flagged"
expect_no_text out '^## Padded copies$' "nothing of padding where nothing is padded"
# A cell of which nothing came back counts, but not where the kernel was judged in another.
python3 - <<'END'
import json
tree = json.load(open("r.json"))
for m in (512, 64):
    tree["cells"].append(tree["cells"][0] | {"m": m, "key": f"offline/f16-f32-{m}x64x64", "status": "failed", "reason": "worker lost 2 times",
                                             "contenders": {}, "speedups": [], "converged": False})
del tree["cells"][0]
tree["run"]["n_cells"] = 4
json.dump(tree, open("lost.json", "w"))
END
receipts r.json lost.json
expect_code 0 "with cells that were lost"
expect_text out '^\| offline \| failed \| 1 \| 512x64x64: worker lost 2 times \|$' "they are rows, with the reason"
expect_text out '^\| offline \| ok \| 2 \|  \|$' "and take nothing that was judged away"
sed 's/"synchronisations": *1/"synchronisations":0/g' r.json >waits_not.json
receipts waits_not.json
expect_no_text out 'host_sync|^## Synchronising' "where none synchronises, nothing of it"
python3 - <<'END'
import json
tree = json.load(open("r.json"))
tree["cells"][1]["contenders"]["gpu_F32F16F16F32-tn"]["attributes"]["padding"] = "0x32x0"
json.dump(tree, open("padded.json", "w"))
END
receipts padded.json
expect_text out '^\| offline \| cuBLASLt-auto-tuning-max \| device \| 1 \| \+10.0% \| \+20.0% \| 1 \| \+30.0% \| \+40.0% \| - \(0\) \|$' \
    "those that are given padded copies apart from the others"
# The same kernel for its padded shape, 128x96x64, takes 800 ns; AutoTuning takes 2000 for 128x64x64.
sed 's/gpu_F32F16F16F32-\([nt][nt]\)/gpu_F32F16F16F32-padded-\1/g' padded.json >whole.json
python3 - <<'END'
import json
tree = json.load(open("whole.json"))
cell = tree["cells"][1]
tree["cells"], tree["run"]["n_cells"] = [cell], 1
cell |= {"n": 96, "key": "offline/f16-f32-128x96x64", "speedups": []}
own = cell["contenders"]["gpu_F32F16F16F32-padded-tn"]
own["attributes"] |= {"padding": "0x0x0", "source": "128_64_64.cu"}
own["timings"]["device"]["median_ns"] = 800
json.dump(tree, open("whole.json", "w"))
END
receipts padded.json whole.json
expect_code 0 "with a run for the padded shapes"
expect_text out '^\| offline \| cuBLASLt-auto-tuning-max \| device .* \| \+40.0% \| \+150.0% \(1\) \|$' "they are told without the copies too"
expect_text out '^\| judged, offline \| 3 of 4 \|  \|$' "and are no kernels of their own"
# Exhaustive took part as a candidate: no pair, so by medians. fp32 sums are another family than AutoTuning.
python3 - <<'END'
import json
tree = json.load(open("r.json"))
for cell in tree["cells"]:
    for name, ns in (("cublaslt-exhaustive-tn", 1500), ("cublaslt-autotuning-32f-tn", 500)):
        cell["contenders"][name] = {"status": "ok", "role": "candidate", "timings": {"device": {"n": 8, "median_ns": ns}}}
json.dump(tree, open("further.json", "w"))
END
receipts further.json --tsv further.tsv
expect_text out '^\| offline \| exhaustive \| device \| 2 \| - \| - \| \+50.0% \| 2 of 2 \| - \| \+50.0% \(1\) \|$' "a reference of which nothing is claimed"
expect_text out '^\| offline \| auto-tuning, fp32 sums \| device \| 2 \| - \| - \| -50.0% \| 0 of 2 \|' "and another"
expect_text out '^\| offline \| under 5 us \| 2 \| \+20.0% \| \+30.0% \|$' "which is not taken for AutoTuning"
head -1 further.tsv | grep -q 'device exhaustive' && ! head -1 kernels.tsv | grep -q exhaustive
verdict $? "with columns where there is one"
run report r.json --format pairs
expect_code 0 "report --format pairs"
expect_text "$work/out" '^offline,f16,f32,64,64,64,,gpu_F32F16F16F32-max,cublaslt-autotuning-max,device,1,1.2,1,2,$' "has a row for each speedup"
python3 - "$top/scripts/import/receipts.py" <<'END'
import importlib.util, sys
spec = importlib.util.spec_from_file_location("receipts", sys.argv[1])
receipts = importlib.util.module_from_spec(spec)
spec.loader.exec_module(receipts)
assert receipts.mean_with_half_width([0.1] * 9) == "+10.0%", "nine kernels have no interval"
assert receipts.mean_with_half_width([0.0, 0.2] * 8) == "+10.0% ±5.1", receipts.mean_with_half_width([0.0, 0.2] * 8)
assert receipts.correlation([1, 2, 3, 4], [10, 20, 40, 30]) == "0.80"
END
verdict $? "an interval from ten kernels on, and a rank correlation"
receipts r.json --name nobody
expect_code 1 "kernels of another name"
expect_text err '^receipts: no cell has "nobody-nn" or "nobody-tn": --name says' "are asked for"

"$top/scripts/import/receipts.sh" "$work" none >out 2>err
code=$?
expect_code 66 "one command for all of it, of a set that is not there"
expect_text err '/kernels/none$' "names it"

# --- a journal has every timing ---
cp "$top/tests/fixtures/data/journals/11-24d-server-f32/journal.jsonl.gz" .
for shape in $(gzip -dc journal.jsonl.gz | sed -nE '/"kind":"cell"/s/.*"data":\{"m":([0-9]+),"n":([0-9]+),"k":([0-9]+),.*/\1_\2_\3/p'); do
    : >kernels/gpu_F32F16F16F32/"$shape".cu
done
receipts journal.jsonl.gz --name cudal2
expect_code 0 "a journal"
for timing in device event wall; do
    expect_text out "^\| server \| torch.matmul \| $timing \| 6 \| - \| - \| \+[0-9.]+% \| . of 6 \| - \|" "$timing, without claims for it"
done
finish
