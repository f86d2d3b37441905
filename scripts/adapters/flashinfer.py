#!/usr/bin/env python3
"""flashinfer.py candidates DATASET --out DIR | traces DATASET RESULT: FlashInfer-Bench's GEMM definitions,
workloads and solutions as candidates, and results as its traces.

candidates: for each definition C = A * B^T in fp16 or bf16 a config with its workloads as shapes
(OUT/DEFINITION.json), and for each CUDA solution (TVM FFI or torch binding) sources that
scripts/import/import.py builds; a solution that cannot be taken has a reason. One that returns its output
(torch alone) is called and the output copied into C, inside the time. traces: a line of JSON for each
workload and solution in a result, as DATASET/traces has them. docs/any-kernel.md."""
import argparse
import hashlib
import json
import re
import sys
from datetime import datetime, timezone
from pathlib import Path

from common import fail, word, write_json

TOOL = "flashinfer"
HERE = Path(__file__).resolve().parent
CANNOT = "host code in Python launches it: give its kernel to scripts/adapters/triton.py, or the like"
TYPES = {"float16": "f16", "bfloat16": "bf16"}
UNITS = (".cu", ".cpp", ".cc", ".cxx")  # the sources that are compiled; the others are included
# Their status of a verdict; any other is an error at run time.
STATUS = {"ok": "PASSED", "wrong_result": "INCORRECT_NUMERICAL", "precision_class": "INCORRECT_NUMERICAL", "compile_error": "COMPILE_ERROR",
          "load_error": "COMPILE_ERROR", "hang": "TIMEOUT"}


def arguments():
    p = argparse.ArgumentParser(prog="flashinfer.py", description=__doc__.split("\n\n")[0].split(": ", 1)[1])
    commands = p.add_subparsers(dest="command", required=True)
    c = commands.add_parser("candidates")
    c.add_argument("dataset", type=Path, help="directory with definitions/, workloads/ and solutions/")
    c.add_argument("--out", type=Path, default=Path("flashinfer"))
    t = commands.add_parser("traces")
    t.add_argument("dataset", type=Path)
    t.add_argument("result", type=Path, help="result.json of a run of a config that `candidates` wrote")
    t.add_argument("--reference", default="torch.matmul", help="whose time is reference_latency_ms (default: torch.matmul)")
    t.add_argument("--out", type=Path, help="a .jsonl (default: standard output)")
    return p.parse_args()


# --- the dataset ---

def read_all(dataset, kind, suffix="json"):
    for path in sorted((dataset / kind).rglob(f"*.{suffix}")):
        for text in path.read_text().splitlines() if suffix == "jsonl" else [path.read_text()]:
            if text.strip():
                yield json.loads(text)


def size_of(definition, axis, workload):
    spec = definition["axes"][axis]
    return spec["value"] if spec["type"] == "const" else workload["axes"][axis]


def gemm(definition):
    """(M, N, K), the names of the axes, of C[M, N] = A[M, K] * B[N, K]^T in one type of TYPES; else a
    reason."""
    inputs, outputs = list(definition["inputs"].values()), list(definition["outputs"].values())
    if definition["op_type"] != "gemm" or len(inputs) != 2 or len(outputs) != 1:
        return None, "not a GEMM of two matrices"
    types = {t["dtype"] for t in inputs + outputs}
    if len(types) != 1 or not types & TYPES.keys():
        return None, f"in {' and '.join(sorted(types))}: not in one of {' and '.join(TYPES)}"
    (m, k), (n, k2), c = inputs[0]["shape"], inputs[1]["shape"], outputs[0]["shape"]
    return ((m, n, k), None) if k == k2 and c == [m, n] else (None, "not C = A * B^T")


def workloads_of(dataset):
    found = {}
    for trace in read_all(dataset, "workloads", "jsonl"):
        found.setdefault(trace["definition"], []).append(trace["workload"])
    return found


def definitions_of(dataset):
    """{name: (definition, axes, workloads)} of those that can be taken; the others are told."""
    found, workloads = {}, workloads_of(dataset)
    for definition in read_all(dataset, "definitions"):
        axes, why = gemm(definition)
        if axes:
            found[definition["name"]] = definition, axes, workloads.get(definition["name"], [])
        else:
            print(f"{definition['name']}: left out: {why}", file=sys.stderr)
    return found or fail(TOOL, f"no GEMM in {dataset}/definitions")


def dtype_of(definition):
    return TYPES[next(iter(definition["inputs"].values()))["dtype"]]


def shape_of(definition, axes, workload):
    return tuple(size_of(definition, axis, workload) for axis in axes)


# --- candidates ---

def name_of(solution):
    """The family of its contenders: its name, shortened so that it stays the only one."""
    name = solution["name"]
    digest = hashlib.sha256(name.encode()).hexdigest()[:6]
    return word(name) if len(word(name)) == len(name) else f"{word(name)[:40]}-{digest}"


def returns_output(solution, function, text):
    """Whether it returns C: as it says, or else as its function is declared: a tensor, of two."""
    said = solution["spec"].get("destination_passing_style")
    declared = re.search(rf"\bTensor\s+{re.escape(function)}\s*\(([^)]*)\)", text)
    return bool(declared and len(re.findall(r"\bTensor\b(?!\s*>)", declared.group(1))) == 2) if said is None else not said


def function_of(solution):
    """(how its function is bound, the name of the C++ function behind the entry point, whether it returns its
    output), or a reason."""
    spec, symbol = solution["spec"], solution["spec"]["entry_point"].split("::")[-1]
    if spec["language"].lower() not in ("cuda", "cpp"):
        return None, CANNOT
    text = "\n".join(s["content"] for s in solution["sources"])
    binding = spec.get("binding") or "tvm-ffi"
    bound = (r"TVM_FFI_DLL_EXPORT_TYPED_FUNC\s*\(\s*%s\s*,\s*([\w:]+)" if binding == "tvm-ffi" else r'\.def\s*\(\s*"%s"\s*,\s*&?\s*([\w:]+)')
    match = re.search(bound % re.escape(symbol), text)
    if binding == "tvm-ffi" and not match:
        return None, f"nothing exports {symbol} (TVM_FFI_DLL_EXPORT_TYPED_FUNC)"
    function = match.group(1) if match else symbol
    returns = returns_output(solution, function, text)
    if returns and binding == "tvm-ffi":
        return None, "it returns its output through TVM's FFI (destination_passing_style is false)"
    return (binding, function, returns), None


def adapter_source(found, units, digest, text):
    """One file in the form that import.py takes; it links what the file names, and sees no other."""
    binding, function, returns = found
    wrap = "tvm::ffi::TensorView({})" if binding == "tvm-ffi" else "{}"
    rows = "b_col_major.view({b_col_major.size(1), b_col_major.size(0)})"  # N rows of K
    told = ", ".join(wrap.format(x) for x in (("a", rows) if returns else ("a", rows, "c")))
    called = f"c.copy_({function}({told}))" if returns else f"{function}({told})"
    included = "".join(f'#include "{path}"\n' for path in [HERE / "flashinfer/ffi.hpp"] * (binding == "tvm-ffi") + units)
    links = " ".join(name for name in ("cublas", "cuTensorMap") if name.lower() in text.lower())
    return (f"// sources {digest} {links}\n#include <torch/extension.h>\n{included}"
            "void cudal2_solution(torch::Tensor a, torch::Tensor b, torch::Tensor b_col_major, torch::Tensor c)\n"
            f"{{\n    {called};\n}}\n")


def write_solution(out, solution, shapes):
    """The solution's files, and one source for each shape, all alike, so that import.py compiles one. What
    its own build compiles apart is one unit here, the entry point's file last."""
    found, why = function_of(solution)
    if not found:
        return why
    base, digest = out / name_of(solution), hashlib.sha256()
    top = (base / "sources").resolve()
    entry, units = (top / solution["spec"]["entry_point"].split("::")[0]).resolve(), []
    for source in solution["sources"]:
        path = (top / source["path"]).resolve()
        if not path.is_relative_to(top):
            return f"a source lies outside: {source['path']}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source["content"])
        digest.update(source["content"].encode())
        units += [path] if path.suffix in UNITS and path != entry else []
    text = adapter_source(found, [*units, entry], digest.hexdigest(), "".join(s["content"] for s in solution["sources"]))
    for shape in shapes:
        (base / f"{'_'.join(map(str, shape))}.cu").write_text(text)
    return None


def candidates(options):
    options.out.mkdir(parents=True, exist_ok=True)
    definitions = definitions_of(options.dataset)
    plugins = {name: [] for name in definitions}
    for solution in read_all(options.dataset, "solutions"):
        if solution["definition"] not in definitions:
            continue
        definition, axes, workloads = definitions[solution["definition"]]
        why = write_solution(options.out, solution, {shape_of(definition, axes, w) for w in workloads})
        name, dtype = name_of(solution), dtype_of(definition)
        if why:
            print(f"{solution['name']}: left out: {why}", file=sys.stderr)
            continue
        plugins[solution["definition"]].append(f"{name}-built/{name}.so")
        print(f"{HERE.parent}/import/import.py {options.out}/{name} --name {name} --out {options.out}/{name}-built --accumulate f32 "
              f"--include {HERE}/flashinfer{' --dtype ' + dtype if dtype != 'f16' else ''}")
    for name, (definition, axes, workloads) in definitions.items():
        shapes = {shape_of(definition, axes, w): w["uuid"] for w in reversed(workloads)}
        if shapes:
            write_json(options.out / f"{word(name)}.json", {
                "schema": "cudal2-bench/config", "schema_version": 1, "name": word(name), "dtype": dtype_of(definition), "accumulate": ["f32"],
                "shapes": [{"m": m, "n": n, "k": k, "label": uuid} for (m, n, k), uuid in shapes.items()], "layouts": ["tn"],
                **({"candidates": plugins[name]} if plugins[name] else {})})
            print(f"cudal2-bench run --config {options.out}/{word(name)}.json -o {word(name)}.result.json")


# --- traces ---

def environment_of(result, cell):
    env = result["env"][cell.get("env", 0)]
    libraries = {n: v[n] for n, v in env.get("libraries", {}).items() if isinstance(v, dict) and isinstance(v.get(n), str)}
    return {"hardware": env["device"]["name"].replace(" ", "_"), "libs": libraries}


def latency(cell, name):
    """Median of the headline in milliseconds; None without."""
    contender = cell["contenders"].get(name, {})
    ns = contender.get("timings", {}).get(cell["headline"], {}).get("median_ns")
    return ns / 1e6 if ns and contender["status"] == "ok" else None


def evaluation_of(result, cell, name, reference):
    contender = cell["contenders"][name]
    status, ours, theirs = STATUS.get(contender["status"], "RUNTIME_ERROR"), latency(cell, name), latency(cell, reference)
    if status == "PASSED" and (ours is None or theirs is None):
        return None  # they want both times
    said = {"status": status, "environment": environment_of(result, cell), "timestamp": result["run"].get("started") or
            datetime.now(timezone.utc).isoformat(timespec="seconds"), "log": contender.get("reason", "")}
    deviation = (contender.get("deviation") or cell.get("usual", {}).get("deviation") or [0.0, 0.0])[:2]
    if status in ("PASSED", "INCORRECT_NUMERICAL"):
        said["correctness"] = {"max_relative_error": deviation[0], "max_absolute_error": 0.0,
                               "extra": {"max_over_output_rms": deviation[0], "rms_over_output_rms": deviation[1], "verdict": contender["status"]}}
    if status == "PASSED":
        said["performance"] = {"latency_ms": ours, "reference_latency_ms": theirs, "speedup_factor": theirs / ours}
    return said


def traces_of(options):
    result = json.loads(options.result.read_text())
    definitions = definitions_of(options.dataset)
    solutions = {(s["definition"], f"{name_of(s)}-tn"): s["name"] for s in read_all(options.dataset, "solutions")}
    by_shape = {(shape_of(d, axes, w), w["uuid"]): (name, w) for name, (d, axes, workloads) in definitions.items() for w in workloads}
    for cell in result["cells"]:
        key = (int(cell["m"]), int(cell["n"]), int(cell["k"])), cell.get("label", "")
        if key not in by_shape or cell["mode"] != "offline":
            continue
        definition, workload = by_shape[key]
        for contender in cell["contenders"]:
            if (definition, contender) in solutions and (said := evaluation_of(result, cell, contender, options.reference)):
                yield {"definition": definition, "workload": workload, "solution": solutions[definition, contender], "evaluation": said}


def main():
    options = arguments()
    if options.command == "candidates":
        candidates(options)
        return
    lines = [json.dumps(t) + "\n" for t in traces_of(options)]
    if not lines:
        fail(TOOL, "no cell of the result is of a workload and a solution of the dataset")
    (options.out.write_text if options.out else sys.stdout.write)("".join(lines))


if __name__ == "__main__":
    main()
