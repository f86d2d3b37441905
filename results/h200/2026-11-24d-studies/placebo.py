# placebo for -max on real blocks: nn and its A/A copy are the two "layouts"; blocks 2j are the candidate's, 2j+1 the baseline's; truth 0.
import sys,random; sys.path.insert(0,".")
from rec import *
class C: pass
tot={}
for r in ("2026-11-24c-offline-f32","2026-11-23f-offline-f32","2026-11-23e-offline-f32","2026-11-22-offline-f16","2026-11-22e-offline-f16","2026-11-22d-offline-f16","2026-11-24d-server-f32","2026-11-24b-server-f32"):
    try: run,cells,acts=load("results/h200/%s/journal.jsonl.gz"%r)
    except Exception as e: print(r,e); continue
    n=0; ep=em=0
    rng=random.Random(int(sys.argv[1]))
    for k,d in cells.items():
        c=cell(d)
        cp=[o for o in c.con.values() if o.copy and o.status=="ok"]
        if not cp or c.nb<16: continue
        o=cp[0]; A=c.con[o.copy].t["device"]; B=o.t["device"]
        base=[x.t["device"] for x in c.con.values() if not x.cand and not x.copy and x.status=="ok"]
        ks=sorted(set(A)&set(B)&set.intersection(*[set(b) for b in base]))
        ref={q:sum(math.log(b[q]) for b in base)/len(base) for q in ks}
        x={q:math.exp(math.log(A[q])-ref[q]) for q in ks}; y={q:math.exp(math.log(B[q])-ref[q]) for q in ks}
        m=len(ks)//2
        f=C(); f.group=list(range(m)); f.drop=set()
        c1,c2,b1,b2={},{},{},{}
        for j in range(m):
            p,q=ks[2*j],ks[2*j+1]
            if rng.random()<.5: p,q=q,p
            c1[j],c2[j],b1[j],b2[j]=x[p],y[p],x[q],y[q]
        n+=1
        s=speed(f,b1,c1); ep+= s["lo"]>0 or s["hi"]<0
        s=speed(f,crossfit(f,b1,b2),crossfit(f,c1,c2)); em+= s["lo"]>0 or s["hi"]<0
    print(r,"cells",n,"plain pair excludes 0: %d (%.1f%%)"%(ep,100*ep/n if n else 0)," -max over -max excludes 0: %d (%.1f%%)"%(em,100*em/n if n else 0))
    tot["n"]=tot.get("n",0)+n; tot["p"]=tot.get("p",0)+ep; tot["m"]=tot.get("m",0)+em
print(tot)
