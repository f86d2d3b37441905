#!/usr/bin/env python3
"""pairs.py JOURNAL.jsonl.gz (ring-*): configurations that differ in PEEK, DEEP and STAGES only, against PEEK 0, DEEP 1 and 8 stages (5 where two CTAs share a multiprocessor), within 1.2
of their race's fastest: ns and %, medians, by tile, layout, way of sharing K and stages a CTA has."""
import gzip
import json,collections,statistics as st,sys
f=collections.defaultdict(list); win=collections.Counter(); 
def show(n): return 'PEEK %s DEEP %s STAGES %s'%n
DEF={'PEEK':'0','DEEP':'1'}
from math import ceil
best=collections.Counter()
gain=[]
for line in gzip.open(sys.argv[1], 'rt'):
    r=json.loads(line)
    if r['kind']!='cell': continue
    d=r['data']
    for c in d['contenders']:
        t=c.get('tuning',{})
        if c['name'] not in('cudal2-nn','cudal2-tn') or 'race_ns' not in t: continue
        T={}
        for k,ns in zip(t['keys'],t['race_ns']):
            if not ns or not k.startswith('persist'): continue
            v=dict(x.split('=') for x in k.split(':')[1].split(','))
            n=(v.pop('PEEK','0'),v.pop('DEEP','1'),int(v.pop('STAGES')))
            rest=tuple(sorted(v.items())); T[rest,n]=min(ns,T.get((rest,n),1e18))
        if not T: continue
        b=min(T,key=T.get); best[dict(b[0])['REDUCE'] if dict(b[0])['SPLIT_K']!='1' else 'alone',b[1]]+=1
        old=[ns for (rest,n),ns in T.items() if n[0]=='0' and n[1]=='1' and (n[2]<=8 or (dict(rest)['BN']=='16') and n[2]==13)]
        if old: gain.append(100*(T[b]/min(old)-1))
        for (rest,n),ns in T.items():
            v=dict(rest); base=('0','1',5 if v['MIN_BLOCKS']=='2' else 8)
            o=T.get((rest,base))
            if n==base or o is None or min(ns,o)>1.2*T[b]: continue
            per=ceil(d['k']/64/int(v['SPLIT_K']))
            cl=('R'+v['REDUCE']+'/'+v['SPLIT_K'] if v['SPLIT_K']!='1' else 'alone'+('2' if v['MIN_BLOCKS']=='2' else ''))+' '+v['BM']+'x'+v['BN']+' '+c['name'][-2:]
            pc='stages/CTA '+('<=8' if per<=8 else '9-16' if per<=16 else '>16')
            f[cl,n,pc].append((ns-o,100*(ns/o-1),per))
print(best.most_common(30)); print('best of all against best of old: median %.2f%% mean %.2f%%, n %d'%(st.median(gain),st.mean(gain),len(gain)))
for k in sorted(f):
    x=f[k]
    if len(x)>1: print('%-18s %-26s %-18s'%(k[0],show(k[1]),k[2]),'%3d'%len(x),'median %+5.0f ns %+6.2f%%'%(st.median(y[0] for y in x),st.median(y[1] for y in x)),' a stage %+.1f'%st.median(y[0]/y[2] for y in x),'less in',sum(y[0]<0 for y in x))
