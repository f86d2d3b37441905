#!/usr/bin/env python3
"""places.py: launches the kernels of smid.cubin (places.cu), each twice, and prints kernel, grid's x and z, and the multiprocessor of each CTA,
x first. places.py PLACES.txt: reads that again: multiprocessors that were ever in one cluster of more than two, which are of one GPC,
and for each launch the GPCs (letters, - for a multiprocessor that was in none) in the order of the CTAs."""
import ast
import ctypes
import itertools
import sys


def read(path):
    launches = [line.split(" ", 3) for line in open(path)]
    launches = [(name, int(x), int(z), ast.literal_eval(places)) for name, x, z, places in launches]
    gpc = {}
    for name, x, z, places in launches:
        if name[4:] not in ("", "111"):
            cx, cz = int(name[4]), int(name[6])
            for at in range(x // cx):
                members = [places[at * cx + i + x * j] for i, j in itertools.product(range(cx), range(cz))]
                if len(members) > 2:
                    together = set(members).union(*(gpc.get(m, ()) for m in members))
                    gpc.update((m, together) for m in together)
    letters = {}
    for m in sorted(gpc):
        if m not in letters:
            letters.update(dict.fromkeys(gpc[m], chr(65 + len(set(letters.values())))))
    for letter in sorted(set(letters.values())):
        print(letter, *sorted(m for m in letters if letters[m] == letter))
    for name, x, z, places in launches:
        print(name, x, z, "".join(letters.get(m, "-") for m in places))


if len(sys.argv) > 1:
    sys.exit(read(sys.argv[1]))
cu = ctypes.CDLL("libcuda.so.1")
def ck(r):
    if r: raise SystemExit(r)
ck(cu.cuInit(0)); dev = ctypes.c_int(); ctx = ctypes.c_void_p(); ck(cu.cuDeviceGet(ctypes.byref(dev), 0)); ck(cu.cuDevicePrimaryCtxRetain(ctypes.byref(ctx), dev)); ck(cu.cuCtxSetCurrent(ctx))
mod, buf = ctypes.c_void_p(), ctypes.c_uint64()
ck(cu.cuModuleLoad(ctypes.byref(mod), b"smid.cubin")); ck(cu.cuMemAlloc_v2(ctypes.byref(buf), ctypes.c_size_t(4096)))
RUNS = [("smid", 128, 1), ("smid", 64, 2), ("smid", 32, 4), ("smid", 16, 8), ("smid", 132, 1), ("smid111", 128, 1), ("smid111", 16, 8), ("smid211", 128, 1), ("smid411", 120, 1), ("smid811", 112, 1),
        ("smid112", 64, 2), ("smid113", 40, 3), ("smid114", 30, 4), ("smid118", 14, 8), ("smid118", 8, 8), ("smid118", 4, 8)]
for name, gx, gz in RUNS:
    fn = ctypes.c_void_p(); ck(cu.cuModuleGetFunction(ctypes.byref(fn), mod, name.encode()))
    ck(cu.cuFuncSetAttribute(fn, 8, 140000))
    a = ctypes.c_uint64(buf.value); args = (ctypes.c_void_p * 1)(ctypes.cast(ctypes.pointer(a), ctypes.c_void_p))
    for t in range(2):
        ck(cu.cuLaunchKernel(fn, gx, 1, gz, 192, 1, 1, 140000, None, args, None)); ck(cu.cuCtxSynchronize())
        h = (ctypes.c_int * (gx * gz))(); ck(cu.cuMemcpyDtoH_v2(h, buf, ctypes.c_size_t(4 * gx * gz)))
        print(name, gx, gz, list(h), flush=True)
