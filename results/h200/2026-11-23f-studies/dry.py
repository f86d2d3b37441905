#!/usr/bin/env python3
"""run.py CUBIN...: each cubin of dry.cu, its name PEEK-DEEP-... ; cycles a stage from 64 and 192 stages (least of 12 launches)."""
import ctypes, sys
cu = ctypes.CDLL("libcuda.so.1")
def ck(r, what):
    if r: sys.exit("%s: %d" % (what, r))
ck(cu.cuInit(0), "init")
ctx, dev = ctypes.c_void_p(), ctypes.c_int()
ck(cu.cuDeviceGet(ctypes.byref(dev), 0), "device"); ck(cu.cuDevicePrimaryCtxRetain(ctypes.byref(ctx), dev), "ctx"); ck(cu.cuCtxSetCurrent(ctx), "current")
buf = ctypes.c_uint64()
ck(cu.cuMemAlloc_v2(ctypes.byref(buf), ctypes.c_size_t(1 << 16)), "alloc")
for path in sys.argv[1:]:
    mod, fn = ctypes.c_void_p(), ctypes.c_void_p()
    ck(cu.cuModuleLoad(ctypes.byref(mod), path.encode()), path); ck(cu.cuModuleGetFunction(ctypes.byref(fn), mod, b"dry"), "dry")
    threads = 192 if "-c1" in path else 384
    shared = 232448 - 1024
    ck(cu.cuFuncSetAttribute(fn, 8, shared), "shared")
    at = []
    for stages in (64, 192):
        least = 1 << 60
        for t in range(12):
            a = [ctypes.c_int(stages), ctypes.c_int(0), ctypes.c_uint64(buf.value), ctypes.c_uint64(buf.value + 64)]
            args = (ctypes.c_void_p * 4)(*[ctypes.cast(ctypes.pointer(x), ctypes.c_void_p) for x in a])
            ck(cu.cuLaunchKernel(fn, 1, 1, 1, threads, 1, 1, shared, None, args, None), "launch"); r = cu.cuCtxSynchronize()
            if r: print(path, "failed", r); sys.exit(1)
            v = ctypes.c_int64(); ck(cu.cuMemcpyDtoH_v2(ctypes.byref(v), buf, ctypes.c_size_t(8)), "copy")
            least = min(least, v.value) if t else least
        at.append(least)
    print("%-40s %6.1f cycles a stage, %d for 64" % (path.split("/")[-1], (at[1] - at[0]) / 128, at[0]), flush=True)
