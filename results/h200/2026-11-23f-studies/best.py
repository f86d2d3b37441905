#!/usr/bin/env python3
"""best.py JOURNAL.jsonl.gz (ring-*): the best of a race with each of the new ways against the best without; means by layout (max: the better one) and by how the
latter's winner shares K; then problem by problem."""
import gzip
import json,collections,statistics as st,sys
S={'old':lambda p,d,s,w:p==0 and d==1 and (s<=8 or w=='16' and s==13),'more stages':lambda p,d,s,w:p==0 and d==1,'peek1':lambda p,d,s,w:d==1 and p!=2 and(s<=8 or w=='16' and s==13),'peek2':lambda p,d,s,w:d==1 and p!=1 and(s<=8 or w=='16' and s==13),'peek2+stages':lambda p,d,s,w:d==1 and p!=1,'peek1+stages':lambda p,d,s,w:d==1 and p!=2,'deep16':lambda p,d,s,w:(d==1 and p!=1) or (p==0 and w=='16'),'peek+stages':lambda p,d,s,w:d==1,'deep':lambda p,d,s,w:p==0,'all':lambda *a:True}
R=collections.defaultdict(list); W=[]
for line in gzip.open(sys.argv[1], 'rt'):
    r=json.loads(line)
    if r['kind']!='cell': continue
    d=r['data']; 
    lay={}
    for c in d['contenders']:
        t=c.get('tuning',{})
        if c['name'] not in('cudal2-nn','cudal2-tn') or 'race_ns' not in t: continue
        T=[]
        for k,ns in zip(t['keys'],t['race_ns']):
            if not ns: continue
            if not k.startswith('persist'): T.append((ns,0,1,0,'','other',k)); continue
            v=dict(x.split('=') for x in k.split(':')[1].split(','))
            T.append((ns,int(v.get('PEEK',0)),int(v.get('DEEP',1)),int(v['STAGES']),v['BN'],'R'+v['REDUCE'] if v['SPLIT_K']!='1' else 'alone',k))
        lay[c['name'][-2:]]=T
    for l,T in list(lay.items())+[('max',sum(lay.values(),[]))]:
        o=min(t for t in T if S['old'](*t[1:5]))
        if l=='max': W.append((d['m'],d['n'],d['k'],o,min(T)))
        for n,f in S.items(): R[l,o[5],n].append(100*(min(t[0] for t in T if f(*t[1:5]))/o[0]-1))
for k in sorted(R): print(k,len(R[k]),'mean %+.2f%% best %+.2f%%'%(st.mean(R[k]),min(R[k])))
for w in sorted(W,key=lambda w:w[4][0]/w[3][0]): print('%dx%dx%d'%w[:3],w[3][0],w[4][0],'%+.1f%%'%(100*(w[4][0]/w[3][0]-1)),w[3][4:6],'S%d'%w[3][3],'->',' '.join(x for x in w[4][6].split(':')[1].split(',') if x.split('=')[0] in('BM','BN','STAGES','SPLIT_K','REDUCE','PEEK','DEEP','MIN_BLOCKS','CLUSTER_M')))
