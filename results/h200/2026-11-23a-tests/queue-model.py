import random,collections,sys
LATE=sys.argv[1:]==["late"] # cooperative consumers hear of their next tile when they have stored the one they have
class Bar:
    def __init__(s,n): s.n=n;s.p=n;s.tx=0;s.ph=0;s.bad=0
    def chk(s):
        if s.p==0 and s.tx==0: s.ph+=1;s.p=s.n
    def arrive(s):
        if s.p==0: s.bad=1
        s.p-=1; s.chk()
    def expect(s,b):
        if s.p==0: s.bad=1
        s.tx+=b; s.p-=1; s.chk()
    def comp(s,b): s.tx-=b; s.chk()
    def wait(s,par): return (s.ph&1)!=par
class Cl:
    pass
def make(g,C,CONS,PP,L,STAGES,T,G,rnd,early,slow,taken,done,bads):
    users=1 if PP else CONS
    full=[[Bar(1) for _ in range(STAGES)] for _ in range(C)]
    empty=[[Bar(users*C) for _ in range(STAGES)] for _ in range(C)]
    told=[[Bar(1) for _ in range(2)] for _ in range(C)]
    heard=[[Bar(C*CONS+C-1) for _ in range(2)] for _ in range(C)]
    slot=[[None]*2 for _ in range(C)]
    pend=[]; alive=[CONS+1]*C; turn=[[0,0] for _ in range(C)]
    bads += [b for x in (full,empty,told,heard) for y in x for b in y]
    def hear(r,st):
        e=st[0]
        while not told[r][e%2].wait(e//2&1): yield
        t=slot[r][e%2]; yield
        if t<T:
            assert alive[0]>0,'leader gone'
            heard[0][e%2].arrive()
        st[0]+=1
        return t
    def producer(r):
        st=[0]; stg=0;par=1;t=g
        while t<T:
            for k in range(L):
                if k==max(0,L-8) and r==0:
                    before=taken[0]; taken[0]=0 if taken[0]>=T-1 else taken[0]+1
                while not empty[r][stg].wait(par): yield
                full[r][stg].arrive(); yield
                stg+=1
                if stg==STAGES: stg=0;par^=1
            e=st[0]
            if C>1:
                if early or r>0: told[r][e%2].expect(8)
                yield
                if r>0:
                    t=yield from hear(r,st); continue
                while not heard[0][e%2].wait((e//2&1)^1): yield
                if not early: told[r][e%2].expect(8)
                t=G+before
                for q in range(C): pend.append((q,e,t))
            else:
                while not heard[0][e%2].wait((e//2&1)^1): yield
                t=G+before
                slot[0][e%2]=t; told[0][e%2].arrive()
            st[0]+=1; yield
        if C>1 and r==0:
            e=st[0]
            while not heard[0][e%2].wait((e//2&1)^1): yield
        for s in range(STAGES if C>1 else 0):
            while not empty[r][stg].wait(par): yield
            stg+=1
            if stg==STAGES: stg=0;par^=1
        alive[r]-=1
    def net():
        while True:
            if pend and (slow==0 or rnd.random()<1/slow):
                q,e,t=pend.pop(rnd.randrange(len(pend)))
                assert alive[q]>0,'peer gone (st.async)'
                slot[q][e%2]=t; told[q][e%2].comp(8)
            yield
    def consumer(r,grp):
        st=[0]; stg=0;par=0;t=g;first=g
        if PP and grp:
            a=stg+L; par^=(a//STAGES)&1; stg=a%STAGES
            t=yield from hear(r,st)
        while t<T:
            mine=t
            if PP and t!=first:
                while turn[r][grp]==0: yield
                turn[r][grp]-=1
            prev=None
            for k in range(L):
                while not full[r][stg].wait(par): yield
                if prev is not None:
                    for q in range(C):
                        assert alive[q]>0,'peer gone (release)'
                        empty[q][prev].arrive()
                prev=stg; stg+=1
                if stg==STAGES: stg=0;par^=1
                yield
            if PP or not LATE: t=yield from hear(r,st)
            if PP and t<T: turn[r][1-grp]+=1
            for q in range(C):
                assert alive[q]>0,'peer gone (release)'
                empty[q][prev].arrive()
            done.append((mine,r,grp))
            yield
            if PP:
                a=stg+L; par^=(a//STAGES)&1; stg=a%STAGES
            if (PP or LATE) and t<T: t=yield from hear(r,st)
        alive[r]-=1
    ps=[]
    for r in range(C):
        ps.append(producer(r))
        for c in range(CONS): ps.append(consumer(r,c))
    return ps,([net()] if C>1 else [])
def run(C,CONS,PP,L,STAGES,T,G,seed,early,slow):
    rnd=random.Random(seed); taken=[0];done=[];bads=[];live=[];nets=[]
    for g in range(G):
        a,b=make(g,C,CONS,PP,L,STAGES,T,G,rnd,early,slow,taken,done,bads); live+=a;nets+=b
    w={id(p):rnd.choice([1,1,1,5,25]) for p in live}
    steps=0
    while live:
        for n in nets: next(n)
        p=rnd.choice(live)
        if rnd.random()>1/w[id(p)]: continue
        for _ in range(rnd.randint(1,6)):
            try: next(p)
            except StopIteration: live.remove(p); break
        steps+=1
        if steps>150000: return 'DEADLOCK'
    if any(b.bad for b in bads): return 'PENDING<0'
    exp=sorted((t,r,c) for t in range(T) for r in range(C) for c in ([0] if PP else range(CONS)))
    got=sorted((t,r,0 if PP else c) for t,r,c in done)
    return 'ok' if got==exp and taken[0]==0 else 'WRONG'
for early,slow in((False,0),(False,60)) if LATE else((True,0),(True,60),(False,60)):
    R=collections.Counter()
    for s in range(1500 if LATE else 500):
        r=random.Random(s+1)
        PP=r.random()<.5
        C=r.choice([1,2,2,4]);CONS=2 if PP else r.choice([1,2,3]);L=r.choice([1,1,2,3,9,12]);S=r.choice([2,3,4,6,9]);G=r.choice([1,2,3]);T=G+r.choice([1,2,3,5,9])
        try: x=run(C,CONS,PP,L,S,T,G,s,early,slow)
        except AssertionError as e: x='ASSERT %s'%e
        R[x if x=='ok' else (x,'C%d'%C,'L%d'%L)]+=1
    print('early expect' if early else 'expect after heard','slow net',slow,dict(R),flush=True)
