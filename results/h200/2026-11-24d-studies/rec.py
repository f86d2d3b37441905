import gzip,json,math,sys,zlib,statistics as st
A="ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
def times(text):
    step,shortest,digits=text.split(":")
    out=[];number=shift=0
    for c in digits:
        g=A.index(c); number|=(g&31)<<shift; shift+=5
        if g<32:
            out.append((int(shortest)+number)*float(step)); number=shift=0
    return out
def series(s,headline,every,nblocks):
    """-> dict block->ns"""
    if s is None: return {}
    if isinstance(s,str):
        v=times(s); e=1 if headline else every
        return {i*e:x for i,x in enumerate(v)}
    v=times(s["values"])
    if "every" in s: return {i*s["every"]:x for i,x in enumerate(v)}
    b=s["block"]; assert len(b)==len(v)
    return dict(zip(b,v))
def load(path):
    op=gzip.open if path.endswith(".gz") else open
    cells={};order=[];plan=None;run=None;acts=[]
    for ln,line in enumerate(op(path,"rb")):
        body=line.rstrip(b"\n")
        i=body.index(b'"kind"')
        crc=body[8:16].decode()
        got="%08x"%(zlib.crc32(body[i:])&0xffffffff)
        if got!=crc: print("CRC mismatch line",ln+1,crc,got)
        o=json.loads(body)
        k,d=o["kind"],o["data"]
        if k=="run": run=d
        elif k=="cell": 
            key="%s/%s-%s-%dx%dx%d"%(d["mode"],d["dtype"],d["accumulate"],d["m"],d["n"],d["k"])
            if key in cells: print("dup",key)
            cells[key]=d
        elif k=="activity": acts.append(d)
    return run,cells,acts
# --- t quantile independent: numeric integration of pdf via incomplete beta by simpson + bisect
from functools import lru_cache
@lru_cache(None)
def t975(df):
    # Simpson on transformed theta: P(|T|<t)= 2*∫0^atan(t/sqrt(df)) cos^(df-1) / B(.5,df/2)
    lb=math.lgamma(.5)+math.lgamma(df/2)-math.lgamma((df+1)/2)
    c=2*math.exp(-lb)
    def P(t):
        a=math.atan(t/math.sqrt(df)); n=2000; h=a/n
        s=1+math.cos(a)**(df-1)
        for i in range(1,n): s+=(4 if i%2 else 2)*math.cos(i*h)**(df-1)
        return c*s*h/3
    lo,hi=1.9,13
    for _ in range(50):
        m=(lo+hi)/2
        if P(m)<.95: lo=m
        else: hi=m
    return (lo+hi)/2
def median(x): return st.median(x)
def sd(x): return st.stdev(x)
def interval(x_by_group):
    """list of lists in group order"""
    vals=[]
    for xs in x_by_group:
        xs=sorted(xs); d=len(xs)//4
        k=xs[d:len(xs)-d]; vals.append(sum(k)/len(k))
    G=len(vals)
    if G==0: return None
    d=G//10; s=sorted(vals); kept=s[d:G-d]; h=len(kept)
    est=sum(kept)/h
    if G<2: return est,None,G
    lo,hi=s[d],s[G-1-d]
    w=[min(max(v,lo),hi) for v in vals]
    m=sum(w)/G
    ss=sum((v-m)**2 for v in w)
    r1=sum((w[i]-m)*(w[i-1]-m) for i in range(1,G))/ss if ss>0 else 0
    I=1
    if (G<8 and r1>0) or (G>=8 and math.sqrt(G)*r1>1.2816): I=1+2*r1
    hw=t975(h-1)*math.sqrt(ss/(G-1))*math.sqrt(G)/h*math.sqrt(I)
    return est,hw,G
class Cell: pass
KNOWNFAM=lambda n: n[:-3] if n.endswith(("-nn","-tn")) else n
def cell(d):
    c=Cell(); c.d=d
    gb=d.get("group_blocks") or []
    c.group=[g for g,n in enumerate(gb) for _ in range(n)]
    c.nb=len(c.group); c.drop=set()
    db=d.get("dropped_blocks") or []
    c.dropfield=db
    if isinstance(db,list): c.drop=set(db)
    us=d.get("usual",{})
    ev=d.get("others_every")
    c.con={}
    for x in d.get("contenders",[]):
        o=Cell(); o.name=x["name"]; o.status=x.get("status","ok"); o.cand=bool(x.get("candidate")); o.copy=x.get("copy_of")
        o.rung=x.get("rung",us.get("rung")); o.suffix=o.name.endswith(("-nn","-tn")) if not o.copy else False
        if "layout_suffix" in x: o.suffix=x["layout_suffix"]
        o.fam=x.get("family") or KNOWNFAM(o.copy or o.name)
        o.early=x.get("early"); o.x=x; o.layout=x.get("layout") or (o.name[-2:] if o.suffix else None)
        o.t={}
        for t in ("device","event","wall"):
            s=x.get(t)
            if s is not None: o.t[t]=series(s,t==d["headline"],ev,c.nb)
        for t in ("event","wall"):
            s=x.get("equal_path_"+t)
            if s is not None: o.t["ep_"+t]=series(s,False,ev,c.nb)
        c.con[o.name]=o
    return c
def pairs(c,ref,cand,healthy=True):
    b=sorted(set(ref)&set(cand))
    return [(k,ref[k],cand[k]) for k in b if not(healthy and k in c.drop)]
def speed(c,ref,cand,healthy=True):
    p=pairs(c,ref,cand,healthy)
    if not p: return None
    by={}
    for k,r,q in p: by.setdefault(c.group[k],[]).append(math.log(r/q))
    est,hw,G=interval([by[g] for g in sorted(by)])
    mor=sum(r/q for _,r,q in p)/len(p)-1
    rom=sum(r for _,r,_ in p)/sum(q for _,_,q in p)-1
    return dict(geomean=math.expm1(est),lo=None if hw is None else math.expm1(est-hw),hi=None if hw is None else math.expm1(est+hw),mor=mor,rom=rom,n=len(p),groups=G,est=est,hw=hw)
def crossfit(c,a,b):
    common=sorted(set(a)&set(b))
    gs=sorted({c.group[k] for k in common})
    idx={g:i for i,g in enumerate(gs)}
    half={k:idx[c.group[k]]%2 for k in common}
    if len(gs)==1: half={k:i%2 for i,k in enumerate(common)}
    win={}
    for h in (0,1):
        def med(s,hh):
            v=[s[k] for k in common if half[k]==hh and k not in c.drop]
            return median(v) if v else None
        x,y=med(a,h),med(b,h)
        if x is None: x,y=med(a,1-h),med(b,1-h)
        win[h]=None if x is None else (1 if y<x else 0)
    return {k:(b if win[1-half[k]] else a)[k] for k in common}
def entries(c):
    """list of (name,cand,rung,series dict by timing, layouts)"""
    out=[]
    okc=[o for o in c.con.values() if o.status=="ok" and not o.copy]
    for o in okc: out.append((o.name,o.cand,o.rung,o.t,None))
    fams=[]
    for o in okc:
        if not o.suffix: continue
        if (o.fam,o.cand) in fams: continue
        fams.append((o.fam,o.cand))
        ls=[x for x in okc if x.suffix and x.fam==o.fam and x.cand==o.cand][:2]
        t={}
        for tm in ("device","event","wall"):
            if len(ls)==1 or tm not in ls[1].t: 
                if tm in ls[0].t: t[tm]=ls[0].t[tm]
            elif tm not in ls[0].t: t[tm]=ls[1].t[tm]
            elif tm=="device" and ls[0].rung!=ls[1].rung: pass
            else: t[tm]=crossfit(c,ls[0].t[tm],ls[1].t[tm])
        out.append((o.fam+"-max",o.cand,ls[0].rung,t,ls))
    return out
