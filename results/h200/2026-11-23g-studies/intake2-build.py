#!/usr/bin/env python3
"""intake2-build.py KERNELS: compiles each kernel of intake2.list from KERNELS, which is kernels/ of 59d86b1 with intake2.diff.gz.
BMxBN-kSPLITrREDUCE-CLUSTER-mMODE: MODE 0 as it is, 1 copies without products, 2 likewise of the same lines for all CTAs, 3 products without
copies. pN: copies of 64x64 alone, by PATTERN N of persistent.cu (0: the walk's)."""
import json
import re
import subprocess
import sys


def values_of(name):
    small = {"BM": 64, "BN": 64, "CONSUMERS": 1, "STAGES": 8, "EPILOGUE": 2, "MODE": 1}
    if name[0] == "p":
        return dict(small, PATTERN=int(name[1:]))
    bm, bn, split, reduce, cm, cn, mode = map(int, re.fullmatch(r"(\d+)x(\d+)-k(\d)r(\d)-(\d)(\d)-m(\d)", name).groups())
    return dict(small, BM=bm, BN=bn, SPLIT_K=split, REDUCE=reduce, CLUSTER_M=cm, CLUSTER_N=cn, MODE=mode,
                EPILOGUE=2 if split == 1 else 1, PATTERN=11 if mode == 2 else 0)


def main():
    manifest = json.load(open(sys.argv[1] + "/persistent.json"))
    for name in sorted({line.split()[0] for line in open("intake2.list")}):
        values = {key: v["default"] for key, v in manifest["parameters"].items()}
        values.update(values_of(name), DTYPE=0, LAYOUT_TN=1, ACC_F32=1, SHARED_BYTES=100000)
        subprocess.run(["nvcc", "-std=c++17", "-gencode", "arch=compute_90a,code=sm_90a", "-cubin", "-diag-suppress", "177,550,111,128",
                        "-I", sys.argv[1], "-include", sys.argv[1] + "/harness/prelude.cuh", *("-D%s=%s" % item for item in values.items()),
                        sys.argv[1] + "/persistent.cu", "-o", name + ".cubin"], check=True)


if __name__ == "__main__":
    main()
