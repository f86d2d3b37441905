#!/usr/bin/env bash
# gpu-tests.sh BUILD [NAME...]: every test that needs a GPU, or the named ones (probe, redteam, verify ...),
# in one go on what is built in BUILD; nothing is compiled, so that BUILD may come from another machine (make
# portable). `make gpu-test` is this after a build. Prints one line a test, then the logs of BUILD/test-logs;
# BUILD/test-logs/redteam has the red team's table and journals, BUILD/test-logs/activity those of watched
# launches.
# Exit 0: all passed; 1: some failed; 77: no GPU, or something that the tests need is not in BUILD (named, all
# of it).
set -u
build=${1:?usage: gpu-tests.sh BUILD [NAME...]}
shift
here=$(cd "$(dirname "$0")/.." && pwd) || exit 70
case $build in /*) ;; *) build=$PWD/$build ;; esac
logs=$build/test-logs

# A build from elsewhere brings libraries along, and finds this machine's libtorch with torch's own cuBLAS:
# one cuBLAS for all.
LD_LIBRARY_PATH=$build${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
torch_dir=$(python3 -c 'import torch, os; print(os.path.dirname(torch.__file__))' 2>/dev/null)
for d in ${torch_dir:+"$torch_dir/lib" "$torch_dir"/../nvidia/cu*/lib} "${CUDA_HOME:-/usr/local/cuda}/extras/CUPTI/lib64"; do
    [ -d "$d" ] && LD_LIBRARY_PATH=$LD_LIBRARY_PATH:$d
done
export LD_LIBRARY_PATH
export CUDAL2_KERNELS=${CUDAL2_KERNELS:-$here/kernels} REDTEAM_OUT=${REDTEAM_OUT:-$logs/redteam} ACTIVITY_OUT=${ACTIVITY_OUT:-$logs/activity}

lacking=
for file in cudal2-bench tests/gpu_reference tests/gpu_probe tests/redteam/cuda.so plugins/cublas.so; do
    [ -e "$build/$file" ] || lacking="$lacking $file"
done
[ -z "$lacking" ] || { echo "$build lacks$lacking (make gpu-build, on a machine with nvcc)"; exit 77; }
"$build/cudal2-bench" doctor 2>/dev/null | grep -q 'cuda:0' || { echo "no GPU: $("$build/cudal2-bench" doctor 2>&1 | head -1)"; exit 77; }

wanted() { # wanted NAME ASKED...: whether it is asked for
    local name=$1 one
    shift
    [ $# -eq 0 ] && return
    for one in "$@"; do [ "$one" = "$name" ] && return; done
    return 1
}

tests=()
for file in "$build"/tests/gpu_* "$here"/tests/gpu/gpu_*.sh; do
    name=$(basename "$file" .sh)
    [ -x "$file" ] && wanted "${name#gpu_}" "$@" && tests+=("$file")
done
[ ${#tests[@]} -gt 0 ] || { echo "no test is called $*"; exit 64; }

rm -rf "$logs" && mkdir -p "$logs" || exit 73
{
    echo "commit $(cat "$build/commit" 2>/dev/null || echo unknown)"
    date -u +%Y-%m-%dT%H:%M:%SZ
    nvidia-smi --query-gpu=name,driver_version,uuid,clocks.max.sm,power.limit --format=csv,noheader 2>/dev/null
} | tee "$logs/machine.txt"
cd "$here" && scripts/run-tests.sh "${build#"$here"/}" "${tests[@]}" | tee "$logs/summary.txt"
status=${PIPESTATUS[0]}
for file in "${tests[@]}"; do
    name=$(basename "$file" .sh)
    [ -s "$logs/$name.log" ] && printf '\n== %s\n' "$name" && cut -c1-300 "$logs/$name.log" | head -200
done
exit "$status"
