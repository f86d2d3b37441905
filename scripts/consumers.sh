#!/bin/bash
# consumers.sh [all]: puts programs that read our exports under $BUILD/consumers (build/consumers), for the
# tests that try them (e2e_consumers.sh, e2e_formats.sh, e2e_flashinfer.sh, e2e_parquet.sh, e2e_rl.sh):
# promtool and node_exporter out of their Debian packages, junitparser, Gymnasium and httpx by pip, 105 MB in
# all; with `all` also Google Benchmark's compare.py (with scipy), nvbench's, FlashInfer-Bench's models,
# pandas, duckdb and pyarrow, 160 MB more, OpenEnv, 450 MB, and for e2e_scale_out.sh kubernetes-validate and
# Ray, 300 MB. Nothing is installed into the system. What cannot be had is said and left out: its test skips.
# Called by .ci/run and by hand.
set -u
cd "$(dirname "$0")/.." || exit
to=${BUILD:-build}/consumers
mkdir -p "$to/python" "$to/bin" || exit 73
to=$(cd "$to" && pwd)

debian() { # debian PACKAGE PROGRAM
    [ -x "$to/bin/$2" ] && return
    command -v "$2" >/dev/null && ln -sf "$(command -v "$2")" "$to/bin/$2" && return
    local made
    made=$(mktemp -d)
    (cd "$made" && apt-get download -qq "$1" && dpkg-deb -x "$1"_*.deb x && mv "x/usr/bin/$2" "$to/bin/$2") >"$made/log" 2>&1 ||
        echo "consumers: no $2 ($(tail -1 "$made/log"))"
    rm -rf "$made"
}

# compare.py and its package gbench, side by side in $to/benchmark.
benchmark() {
    [ -e "$to/benchmark/compare.py" ] && return
    local made
    made=$(mktemp -d)
    (cd "$made" && apt-get download -qq libbenchmark-tools && dpkg-deb -x libbenchmark-tools_*.deb x &&
        tool=$(find x -name compare.py) && [ -n "$tool" ] && mkdir -p "$to/benchmark" && cp -rL "$(dirname "$tool")"/. "$to/benchmark/") >"$made/log" 2>&1 ||
        echo "consumers: no compare.py ($(tail -1 "$made/log"))"
    rm -rf "$made"
}

python() { # python MODULE[=PACKAGE]...
    local module missing=
    for module in "$@"; do
        PYTHONPATH=$to/python "${PYTHON:-python3}" -c "import ${module%=*}" 2>/dev/null || missing="$missing ${module#*=}"
    done
    [ -z "$missing" ] && return
    # shellcheck disable=SC2086
    "${PYTHON:-python3}" -m pip -q --disable-pip-version-check install --target "$to/python" $missing >"$to/log" 2>&1 ||
        echo "consumers: no$missing ($(tail -1 "$to/log"))"
}

# nvbench's scripts, out of the package of its Python side; that itself stays behind.
nvbench() {
    [ -n "$(find "$to/nvbench" -name nvbench_compare.py 2>/dev/null)" ] && return
    local made
    made=$(mktemp -d)
    ("${PYTHON:-python3}" -m pip -q --disable-pip-version-check install --no-deps --target "$made/x" cuda-bench &&
        mkdir -p "$to/nvbench" && cp -r "$made/x/cuda/bench/scripts/." "$to/nvbench/") >"$made/log" 2>&1 ||
        echo "consumers: no nvbench_compare.py ($(tail -1 "$made/log"))"
    rm -rf "$made"
}

# FlashInfer-Bench without what it wants beside pydantic, which is torch.
flashinfer() {
    [ -e "$to/python/flashinfer_bench" ] && return
    "${PYTHON:-python3}" -m pip -q --disable-pip-version-check install --no-deps --target "$to/python" flashinfer-bench >"$to/log" 2>&1 ||
        echo "consumers: no flashinfer-bench ($(tail -1 "$to/log"))"
}

debian prometheus promtool
debian prometheus-node-exporter prometheus-node-exporter
python junitparser kubernetes_validate gymnasium httpx
if [ "${1:-}" = all ]; then
    benchmark
    nvbench
    python scipy pandas duckdb pyarrow tabulate colorama jsondiff ray openenv=openenv-core uvicorn pydantic
    flashinfer
fi
for path in bin/promtool bin/prometheus-node-exporter benchmark/compare.py nvbench/nvbench_compare.py python/junitparser python/kubernetes_validate python/gymnasium python/openenv python/flashinfer_bench python/ray python/pandas python/duckdb python/pyarrow; do
    [ ! -e "$to/$path" ] || echo "consumers: $to/$path"
done
