#!/bin/bash
# scripts/adapters/flashinfer.py: a small data set in FlashInfer-Bench's form becomes configs and sources;
# where nvcc is, the sources build (20 s: make test-all); a result becomes traces, which FlashInfer-Bench's
# own models take, where scripts/consumers.sh all has put them. Needs no GPU.
# Times nothing.
without_plugins=yes
# shellcheck source=tests/e2e/e2e.inc.sh
. "$(dirname "$0")/e2e.inc.sh"
top=$(cd "$(dirname "$0")/../.." && pwd)
consumers=$(dirname "$bench")/consumers
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 0; }
cd "$work" || exit 1

flashinfer() { # flashinfer ARGUMENT...
    timeout -k 5 120 "$top/scripts/adapters/flashinfer.py" "$@" >out 2>err </dev/null
    code=$?
}

# --- a data set in the form of the published ones: GEMMs in fp16, bf16 and fp8, and an operation of another kind ---
python3 - <<'END'
import json, pathlib
def write(path, *trees):
    path = pathlib.Path("set") / path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(map(json.dumps, trees)) + "\n")
gemm = {"name": "gemm_n32_k16", "op_type": "gemm", "axes": {"M": {"type": "var"}, "N": {"type": "const", "value": 32}, "K": {"type": "const", "value": 16}},
        "inputs": {"A": {"shape": ["M", "K"], "dtype": "float16"}, "B": {"shape": ["N", "K"], "dtype": "float16"}},
        "outputs": {"C": {"shape": ["M", "N"], "dtype": "float16"}}, "reference": "def run(A, B):\n    return A @ B.T"}
write("definitions/gemm/gemm_n32_k16.json", gemm)
def typed(name, dtype, tensors):
    return gemm | {"name": name} | {key: {n: t | {"dtype": dtype} for n, t in gemm[key].items()} for key in tensors}
write("definitions/gemm/gemm_bf16.json", typed("gemm_bf16", "bfloat16", ["inputs", "outputs"]))
write("definitions/gemm/gemm_fp8.json", typed("gemm_fp8", "float8_e4m3fn", ["inputs"]))
write("definitions/norm.json", gemm | {"name": "norm", "op_type": "rmsnorm"})
random = {"A": {"type": "random"}, "B": {"type": "random"}}
write("workloads/gemm/gemm_n32_k16.jsonl", *({"definition": "gemm_n32_k16", "solution": None, "evaluation": None, "workload":
      {"uuid": f"uuid-{m}", "axes": {"M": m}, "inputs": random}} for m in (16, 64)))
write("workloads/gemm/gemm_bf16.jsonl", {"definition": "gemm_bf16", "solution": None, "evaluation": None, "workload":
      {"uuid": "uuid-b", "axes": {"M": 16}, "inputs": random}})
kernel = """__global__ void zero(__half *c, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) c[i] = __float2half(0.f); }
"""
ffi = '#include "sizes.h"\n#include <tvm/ffi/container/tensor.h>\n#include <tvm/ffi/extra/c_env_api.h>\n#include <tvm/ffi/function.h>\n' + kernel + """
void product(tvm::ffi::TensorView A, tvm::ffi::TensorView B, tvm::ffi::TensorView C) {
    TVM_FFI_ICHECK_EQ(A.ndim(), 2) << "A is a matrix";
    TVM_FFI_ICHECK_EQ(B.size(0), N_ROWS) << "B has N rows of K";
    if (A.dtype().bits != 16) { TVM_FFI_THROW(TypeError) << "16 bits"; }
    DLDevice d = A.device();
    auto stream = static_cast<cudaStream_t>(TVMFFIEnvGetStream(d.device_type, d.device_id));
    zero<<<32, 256, 0, stream>>>(static_cast<__half *>(C.data_ptr()), int(C.size(0) * C.size(1)));
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, product);
"""
torch = "#include <torch/extension.h>\n" + kernel + """
void product(torch::Tensor A, torch::Tensor B, torch::Tensor C) {
    TORCH_CHECK(B.size(0) == 32, "B has N rows of K");
    zero<<<32, 256>>>(reinterpret_cast<__half *>(C.data_ptr()), int(C.numel()));
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &product); }
"""
# Three files, two of which are compiled, and a function that returns C: as most of the published solutions are.
header = """#pragma once
#include <torch/extension.h>
#include <cuda_bf16.h>
void launch(__nv_bfloat16 *c, int n, cudaStream_t stream);
"""
apart = """#include "kernel.h" // cublasLt would do this too
__global__ void zero(__nv_bfloat16 *c, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) c[i] = __float2bfloat16(0.f); }
void launch(__nv_bfloat16 *c, int n, cudaStream_t stream) { zero<<<32, 256, 0, stream>>>(c, n); }
"""
returning = """#include <ATen/cuda/CUDAContext.h>
#include "kernel.h"
static torch::Tensor product(torch::Tensor A, const torch::Tensor &B, c10::optional<int64_t> unused = c10::nullopt) {
    A = A.to(torch::Device(torch::kCUDA, at::cuda::current_device())).contiguous();
    TORCH_CHECK(A.dtype() == torch::kBFloat16 && B.size(0) == 32 && B.size(1) == 16 && !unused, "bf16, and N rows of K");
    auto C = torch::empty({A.size(0), B.size(0)}, A.options().dtype(torch::kBFloat16).device(A.device()));
    launch(reinterpret_cast<__nv_bfloat16 *>(C.data_ptr<at::BFloat16>()), int(C.numel()), at::cuda::getCurrentCUDAStream());
    return C;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.doc() = "a product"; m.def("run", &product, "C = A * B^T", pybind11::arg("A"), pybind11::arg("B"),
                                                                       pybind11::arg("unused") = pybind11::none()); }
"""
def solution(name, files, definition="gemm_n32_k16", **spec):
    write(f"solutions/{name}.json", {"name": name, "definition": definition, "author": "nobody", "sources":
          [{"path": p, "content": c} for p, c in files.items()], "spec": {"language": "cuda", "target_hardware": ["cuda"], "entry_point": f"{list(files)[-1]}::run"} | spec})
solution("by ffi", {"sizes.h": "#define N_ROWS 32\n", "src/kernel.cu": ffi.replace('"sizes.h"', '"../sizes.h"')})
solution("by-torch", {"main.cu": torch}, binding="torch")
solution("by-triton", {"main.py": "import triton"}, language="triton")
solution("returning-ffi", {"main.cu": ffi}, destination_passing_style=False)
solution("returning", {"kernel.h": header, "kernel.cu": apart, "main.cpp": returning}, "gemm_bf16", binding="torch", destination_passing_style=False)
for style in ({}, {"destination_passing_style": True}):
    solution("a solution of a long name, as generators write them, " + str(len(style)), {"kernel.h": header, "kernel.cu": apart, "main.cpp":
             returning.replace("static torch", "torch")}, "gemm_bf16", binding="torch", **style)
solution("writes and returns", {"main.cpp": "torch::Tensor run(torch::Tensor A, torch::Tensor B, torch::Tensor C);"}, "gemm_bf16", binding="torch")
solution("unbound", {"main.cu": kernel})
solution("outside", {"../main.cu": torch}, binding="torch")
END
flashinfer candidates set --out taken
expect_code 0 "a data set is read"
for line in 'gemm_fp8: left out: in float16 and float8_e4m3fn: not in one of float16 and bfloat16' 'norm: left out: not a GEMM of two matrices' \
    'by-triton: left out: host code in Python' 'returning-ffi: left out: it returns its output' 'outside: left out: a source lies outside' \
    'unbound: left out: nothing exports run '; do
    expect_text err "^$line" "${line%%:*} has a reason"
done
[ ! -e main.cu ] && [ ! -e taken/main.cu ] && [ ! -e taken/outside/main.cu ]
verdict $? "and nothing is written outside"
expect_text out '/import.py taken/by-ffi --name by-ffi --out taken/by-ffi-built --accumulate f32 --include ' "what to type next"
expect_text out '/import.py taken/returning --name returning .* --dtype bf16$' "in the definition's type"
expect_text taken/gemm_bf16.json '"dtype": "bf16"' "which its config has"
expect_text taken/returning/16_32_16.cu '^    c.copy_\(product\(a, b_col_major.view\(.*\)\)\);$' "what it returns is copied into C"
expect_text taken/returning/16_32_16.cu '^// sources [0-9a-f]* cublas$' "what is to be linked stands in the file that import.py reads"
expect_text taken/by-torch/16_32_16.cu '^    product\(a, .*, c\);$' "who writes C is given it"
expect_text taken/writes-and-returns/16_32_16.cu '^    run\(a, .*, c\);$' "and so is who returns it too"
tr '\n' ' ' <taken/returning/16_32_16.cu >line
expect_text line 'include "[^"]*/kernel.cu" #include "[^"]*/main.cpp" void' "every file that is compiled is there, the entry's last"
grep -l 'c.copy_' taken/a-solution-of-a-long-name*/16_32_16.cu >copies
[ "$(find taken -maxdepth 1 -name 'a-solution-of-a-long-name*' | wc -l)" -eq 2 ] && [ "$(wc -l <copies)" -eq 1 ]
verdict $? "long names stay apart, and who does not say how it gives C back is believed by its declaration" "$(ls taken; cat copies)"
mkdir -p taken/by-ffi-built taken/by-torch-built && touch taken/by-ffi-built/by-ffi.so taken/by-torch-built/by-torch.so
run tune --dry-run --config taken/gemm_n32_k16.json --device cpu
expect_no_text "$work/err" 'gemm_n32_k16.json:' "the config is one"
expect_text taken/gemm_n32_k16.json '"label": "uuid-64"' "whose shapes are labelled by workload"
ls taken/by-ffi/16_32_16.cu taken/by-ffi/64_32_16.cu >/dev/null 2>&1 && cmp -s taken/by-ffi/16_32_16.cu taken/by-ffi/64_32_16.cu
verdict $? "a source for each workload, all alike"

# --- the sources build ---
rm -rf taken/by-*-built
if [ -z "${CUDAL2_SLOW:-}" ]; then
    echo "skip: 20 s of nvcc: make test-all"
elif command -v nvcc >/dev/null || [ -x "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" ]; then
    for name in by-ffi by-torch returning; do
        type='' n=2
        [ $name != returning ] || type='--dtype bf16' n=1
        # shellcheck disable=SC2086 # two words or none
        CUDAL2_ADAPTERS=$work/none timeout -k 5 600 "$top/scripts/import/import.py" taken/$name --name $name --out taken/$name-built --accumulate f32 \
            --include "$top/scripts/adapters/flashinfer" $type >out 2>err </dev/null
        code=$?
        expect_code 0 "$name builds"
        expect_text out "^$n of $n built" "$name: for each workload"
        [ "$(find taken/$name-built -name '????????????????????????????????.so' | wc -l)" -eq 1 ]
        verdict $? "$name: of one compilation"
        gcc -std=c17 -D_GNU_SOURCE -I"$top/harness" "$top/tests/fixtures/imports/drive.c" -ldl -o drive || exit 1
        ./drive taken/$name-built/$name.so nn 16 1 >told
        expect_text told "^$name-nn: 1: no kernel of the set is for this shape$" "$name: is for its own shapes"
    done
else
    echo "skip: no nvcc"
fi

# --- traces ---
contender() { # contender NAME ROLE STATUS NS
    printf '"%s":{"status":"%s","role":"%s","deviation":[0.001,0.0002,0.1],"timings":{"device":{"n":8,"median_ns":%s}}}' "$1" "$3" "$2" "$4"
}
cell() { # cell M STATUS
    printf '{"key":"offline/f16-f32-%sx32x16","m":%s,"n":32,"k":16,"label":"uuid-%s","dtype":"f16","mode":"offline","status":"ok","env":0,' "$1" "$1" "$1"
    printf '"headline":"device","contenders":{%s,%s}}' "$(contender torch.matmul baseline ok 3000)" "$(contender by-ffi-tn candidate "$2" 2000)"
}
printf '{"run":{"started":"2026-11-25T00:00:00Z"},"env":[{"device":{"name":"Test GPU"},"libraries":{"torch":{"torch":"2.11.0"}}}],"cells":[%s,%s]}\n' \
    "$(cell 16 ok)" "$(cell 64 wrong_result)" >r.json
flashinfer traces set r.json --out traces.jsonl
expect_code 0 "a result becomes traces"
python3 - <<'END'
import json
good, bad = map(json.loads, open("traces.jsonl"))
assert good["definition"] == "gemm_n32_k16" and good["solution"] == "by ffi", good
assert good["workload"] == {"uuid": "uuid-16", "axes": {"M": 16}, "inputs": {"A": {"type": "random"}, "B": {"type": "random"}}}
said = good["evaluation"]
assert said["status"] == "PASSED" and said["environment"] == {"hardware": "Test_GPU", "libs": {"torch": "2.11.0"}}, said
assert said["performance"] == {"latency_ms": 0.002, "reference_latency_ms": 0.003, "speedup_factor": 1.5}, said
assert said["correctness"]["max_relative_error"] == 0.001 and said["timestamp"]
said = bad["evaluation"]
assert said["status"] == "INCORRECT_NUMERICAL" and said["correctness"] and "performance" not in said, said
END
verdict $? "of their form, with their verdicts"
# Their own models of what is read and written, without the rest of the package, which wants torch.
cat >theirs.py <<'END'
import importlib, json, pathlib, sys, types
root = pathlib.Path(sys.argv[1]) / "flashinfer_bench"
for name, path in ("flashinfer_bench", root), ("flashinfer_bench.data", root / "data"):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [str(path)]
def model(module, name):
    return getattr(importlib.import_module(f"flashinfer_bench.data.{module}"), name)
for path in pathlib.Path("set/definitions").rglob("*.json"):
    model("definition", "Definition").model_validate(json.loads(path.read_text()))
for path in pathlib.Path("set/workloads").rglob("*.jsonl"):
    assert all(model("trace", "Trace").model_validate(json.loads(line)).is_workload_trace() for line in path.read_text().splitlines())
traces = [model("trace", "Trace").model_validate(json.loads(line)) for line in open("traces.jsonl")]
assert [t.is_successful() for t in traces] == [True, False], traces
END
if [ -d "$consumers/python/flashinfer_bench" ]; then
    PYTHONPATH=$consumers/python python3 theirs.py "$consumers/python" 2>err
    verdict $? "FlashInfer-Bench's own models take the data set and the traces" "$(tail -3 err)"
else
    echo "skip: FlashInfer-Bench's models (not here: scripts/consumers.sh all gets them)"
fi
sed 's/uuid-/other-/g' r.json >none.json
flashinfer traces set none.json
expect_code 1 "a result of other workloads"
expect_text err '^flashinfer: no cell of the result is of a workload and a solution' "says so"
finish
