import sys; sys.path.insert(0,".")
from rec import *
import collections
T=collections.Counter()
for r in ("2026-11-24c-offline-f32","2026-11-23f-offline-f32","2026-11-23e-offline-f32","2026-11-22e-offline-f16","2026-11-22e-offline-f32","2026-11-24d-server-f32","2026-11-22c-server-f16","2026-11-24b-server-f32"):
    try: run,cells,acts=load("results/h200/%s/journal.jsonl.gz"%r)
    except Exception as e: print(r,e); continue
    z=collections.Counter(); q=collections.defaultdict(list); infl=collections.Counter()
    for k,d in cells.items():
        c=cell(d)
        if c.nb<20: continue
        E={e[0]:e for e in entries(c)}
        prs={}
        if "cudal2-max" not in E or "cublaslt-autotuning-max" not in E: continue
        prs["max/auto-max"]=(E["cudal2-max"][3]["device"],E["cublaslt-autotuning-max"][3]["device"])
        prs["max/torch"]=(E["cudal2-max"][3]["device"],E["torch.matmul"][3]["device"])
        prs["max/cublas-max"]=(E["cudal2-max"][3]["device"],E["cublas-max"][3]["device"])
        for o in c.con.values():
            if o.copy and o.status=="ok": prs["A/A"]=(o.t["device"],c.con[o.copy].t["device"])
        for nm,(A,B) in prs.items():
            ks=[x for x in sorted(set(A)&set(B)) if x not in c.drop]; n=len(ks); h=n//2
            if n<20: continue
            f=speed(c,{x:B[x] for x in ks[:h]},A); g=speed(c,{x:B[x] for x in ks[h:]},A)
            se=math.hypot(f["hw"]/t975(h-2*(h//10)-1),g["hw"]/t975(n-h-2*((n-h)//10)-1))
            z[nm,"n"]+=1; bad=abs(f["est"]-g["est"])>t975(n-4)*se; z[nm,"bad"]+=bad
    print(r," ".join("%s %d/%d=%.1f%%"%(nm,z[nm,"bad"],z[nm,"n"],100*z[nm,"bad"]/z[nm,"n"]) for nm in prs if z[nm,"n"]),flush=True)
