"""Makes rl/data/h200.xz from a table of pooled races (CSV, of kernel_policy.pool) and the results of the four
grid runs.

    python -m kernel_policy.pack tune.csv.gz RESULT.json... -o rl/data/h200.xz

The CSV has one row for each problem and configuration: the columns m, n, k, layout, acc, mode, kernel, the
kernel's parameters, time_ns and model_ns. A RESULT is `cudal2-bench report DIR --format result`; the
references are taken from it. Rows of kernels that the set no longer has are left out. rl/data/README.md tells
where the committed file is from.
"""
from __future__ import annotations

import argparse
import collections
import csv
import gzip
import json
from pathlib import Path
from typing import Dict, List, Tuple

from .records import Pool, Problem, Records, save

KERNELS = {
    "persistent": "BM BN ACROSS STAGES CONSUMERS PINGPONG CLUSTER_M CLUSTER_N SPLIT_K ABREAST REDUCE QUEUE STREAM_K KEEP "
                  "HOLD PEEK TAIL walk EPILOGUE EVICT STREAM FETCH MIN_BLOCKS EARLY".split(),
    "multistage": "BM BN BK STAGES WARPS_M WARPS_N SPLIT_K REGISTERS STAGGER EARLY".split(),
    "tiny": "BM BN WARPS CLUSTER_K DEPTH ALIGNED EARLY".split(),
}
ALWAYS = ("BM", "BN")  # written even where usual
BASELINES = ("torch.matmul", "cublas-", "cublaslt-")

Row = Dict[str, str]
Key = Tuple[int, int, int, str, str, str]


def references(paths: List[Path]) -> Dict[Tuple[int, int, int, str, str], float]:
    """The fastest baseline's median device time, of either layout, for each shape, accumulate type and
    mode."""
    found: Dict[Tuple[int, int, int, str, str], float] = {}
    for path in paths:
        for cell in json.loads(path.read_text())["cells"]:
            times = [c["timings"]["device"]["median_ns"] for name, c in cell["contenders"].items()
                     if name.startswith(BASELINES) and "device" in c.get("timings", {})]
            if times:
                found[cell["m"], cell["n"], cell["k"], cell["accumulate"], cell["mode"]] = min(times)
    return found


def _usual(rows: List[Row]) -> Dict[str, Dict[str, int]]:
    """The commonest value of each parameter."""
    return {kernel: {name: collections.Counter(int(float(r[name])) for r in rows if r["kernel"] == kernel).most_common(1)
                     [0][0] for name in names} for kernel, names in KERNELS.items()
            if any(r["kernel"] == kernel for r in rows)}


def line_of(row: Row, usual: Dict[str, Dict[str, int]]) -> str:
    kernel = row["kernel"]
    values = [(name, int(float(row[name]))) for name in KERNELS[kernel]]
    return " ".join([kernel] + ["%s=%d" % (name, value) for name, value in values
                                if name in ALWAYS or value != usual[kernel][name]])


def pack(table: Path, results: List[Path]) -> Records:
    with gzip.open(table, "rt") as file:
        return pack_rows([r for r in csv.DictReader(file) if r["kernel"] in KERNELS], results)


def pack_rows(rows: List[Row], results: List[Path]) -> Records:
    usual, known = _usual(rows), references(results)
    pools: Dict[Key, Dict[str, Tuple[float, float]]] = collections.defaultdict(dict)
    for r in rows:
        key = (int(r["m"]), int(r["n"]), int(r["k"]), r["layout"], r["acc"], r["mode"])
        pools[key][line_of(r, usual)] = (float(r["time_ns"]), float(r["model_ns"]))
    lines = sorted({line for pool in pools.values() for line in pool})
    index = {line: i for i, line in enumerate(lines)}
    out = Records(lines, usual, [])
    for key in sorted(pools):
        m, n, k, layout, accumulate, mode = key
        problem = Problem(m, n, k, layout, accumulate, mode, known.get((m, n, k, accumulate, mode), 0.0))
        measured = sorted((index[line], times) for line, times in pools[key].items())
        out.pools.append(Pool(problem, [i for i, _ in measured], [t for _, (t, _) in measured],
                              [p for _, (_, p) in measured]))
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=Path)
    parser.add_argument("results", type=Path, nargs="*")
    parser.add_argument("-o", "--output", type=Path, required=True)
    options = parser.parse_args()
    records = pack(options.table, options.results)
    save(records, options.output)
    print("%d problems, %d configurations, %d measurements" % (
        len(records.pools), len(records.lines), sum(len(p.lines) for p in records.pools)))


if __name__ == "__main__":
    main()
