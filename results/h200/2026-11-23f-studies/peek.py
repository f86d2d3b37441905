#!/usr/bin/env python3
"""peek.py JOURNAL.jsonl.gz (peek-row): pairs of configurations that differ in PEEK, FEED, WAIT and DEEP only, against 0, 1, 0 and 1."""
import gzip,json,collections,statistics as st,sys
f=collections.defaultdict(list); win=collections.Counter()
N=('PEEK','FEED','WAIT','DEEP'); B=dict(PEEK='0',FEED='1',WAIT='0',DEEP='1')
op=gzip.open if sys.argv[1].endswith('gz') else open
for line in op(sys.argv[1],'rt'):
    r=json.loads(line)
    if r['kind']!='cell': continue
    d=r['data']
    for c in d['contenders']:
        t=c.get('tuning',{})
        if c['name'] not in('cudal2-nn','cudal2-tn') or 'race_ns' not in t: continue
        T={}
        for k,ns in zip(t['keys'],t['race_ns']):
            if not ns or not k.startswith('persist'): continue
            v=dict(x.split('=') for x in k.split(':')[1].split(',')); n=tuple(v.pop(x,B[x]) for x in N)
            s=int(v.pop('STAGES')); v['RING']={4:8,3:6,5:6,6:6,8:8}.get(s,s)
            q=(tuple(sorted((a,str(b)) for a,b in v.items())),n); T[q]=min(ns,T.get(q,1e18))
        if not T: continue
        best=min(T,key=T.get); win[best[1]]+=1
        for (rest,n),ns in T.items():
            b=T.get((rest,('0','1','0','1')))
            if n==('0','1','0','1') or b is None or min(ns,b)>1.2*T[best]: continue
            v=dict(rest); per=-(-d['k']//64)//int(v['SPLIT_K'])
            cl='R'+v['REDUCE'] if v['SPLIT_K']!='1' else 'PP' if v['PINGPONG']=='1' else 'C'+v['CONSUMERS']+('x' if v['CLUSTER_M']!='1' else '')
            for key in ((cl,'all',''),(cl,v['BM']+'x'+v['BN'],'K/64>=8' if per>=8 else 'K/64<8')): f[n,key].append((ns-b,100*(ns/b-1),per))
print(win.most_common(8))
for k in sorted(f): 
    x=f[k]
    if len(x)>2: print('PEEK %s FEED %s WAIT %s DEEP %s'%k[0],*k[1],len(x),'median %+.0f ns %+.2f%%'%(st.median(y[0] for y in x),st.median(y[1] for y in x)),'ns a stage %+.1f'%st.median(y[0]/y[2] for y in x),'less in',sum(y[0]<0 for y in x))
