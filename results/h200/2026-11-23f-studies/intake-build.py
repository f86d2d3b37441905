#!/usr/bin/env python3
"""intake-build.py KERNELS: compiles each kernel of intake.list (TILE-cCONSUMERS-sSTAGES-CLUSTER-kSPLITrREDUCE-MODE) from KERNELS, which is
kernels/ of b05ff61 with intake.diff.gz. MODE 0: as it is, 1: no products, 2: nor own lines, 3: no copies, 4: lines of its own."""
import json
import re
import subprocess
import sys

manifest = json.load(open(sys.argv[1] + "/persistent.json"))
for name in sorted({line.split()[0] for line in open("intake.list")}):
    bm, bn, consumers, stages, cm, cn, split, reduce, mode = re.fullmatch(r"(\d+)x(\d+)-c(\d)-s(\d)-(\d)(\d)-k(\d)r(\d)-(\d)", name).groups()
    values = {key: v["default"] for key, v in manifest["parameters"].items()}
    values.update(BM=bm, BN=bn, CONSUMERS=consumers, STAGES=stages, CLUSTER_M=cm, CLUSTER_N=cn, SPLIT_K=split, REDUCE=reduce, MODE=mode,
                  EPILOGUE=2 if split == consumers == "1" else 1, DTYPE=0, LAYOUT_TN=1, ACC_F32=1, SHARED_BYTES=100000)
    subprocess.run(["nvcc", "-std=c++17", "-gencode", "arch=compute_90a,code=sm_90a", "-cubin", "-diag-suppress", "177,550,111,128", "-I", sys.argv[1],
                    "-include", sys.argv[1] + "/harness/prelude.cuh", *("-D%s=%s" % item for item in values.items()),
                    sys.argv[1] + "/persistent.cu", "-o", name + ".cubin"], check=True)
