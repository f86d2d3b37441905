import json,gzip,math,sys
A='ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
IX={c:i for i,c in enumerate(A)}
def dec(s):
    st,sh,dg=s.split(':',2); st=float(st); sh=float(sh); out=[];v=0;b=0
    for ch in dg:
        x=IX[ch]; v|=(x&31)<<b; b+=5
        if x<32: out.append((sh+v)*st); v=0;b=0
    return out
for r in('2026-11-24d-server-f32','2026-11-24c-offline-f32'):
    acc={t:[] for t in('device','event','wall')}
    inv={t:[] for t in acc}
    for l in gzip.open(f'results/h200/{r}/journal.jsonl.gz','rt'):
        if '"kind":"cell"' not in l[:60]: continue
        d=json.loads(l)['data']; cs={c['name']:c for c in d['contenders']}
        for t in acc:
            a=cs['cudal2-nn'].get(t); b=cs['cudal2-nn+copy'].get(t)
            if not a or not b or isinstance(a,dict) or isinstance(b,dict): continue
            a=dec(a); b=dec(b); assert len(a)==len(b)
            acc[t].append(sum(x/y for x,y in zip(a,b))/len(a)-1); inv[t].append(sum(y/x for x,y in zip(a,b))/len(a)-1)
    print(r,{t:('%d %.2f%% %.2f%%'%(len(acc[t]),100*sum(acc[t])/len(acc[t]),100*sum(inv[t])/len(inv[t]))) for t in acc})
