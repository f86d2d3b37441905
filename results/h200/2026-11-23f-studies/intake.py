#!/usr/bin/env python3
"""intake.py < intake.txt: ns a stage, from idle and in a row: all, copies only, of the same lines, products only, copies of own lines."""
import re, sys
T={}
for l in sys.stdin:
    m=re.match(r'(\S+)-(\d) +(\d+)x(\d+)x(\d+) held (\d+).*row (\d+)',l)
    if not m: continue
    name,mode,M,N,K,h,r=m[1],int(m[2]),*map(int,m.group(3,4,5,6,7))
    sp=int(re.search(r'k(\d+)r',name)[1])
    T[name,M,N,mode,K//64//sp]=(h,r)
print('%-26s %-10s %s'%('','ctas','ns a stage idle/row: full, copies only, same lines, no copies, apart'))
seen=[]
for (name,M,N,mode,per) in T:
    if (name,M,N) in seen: continue
    seen.append((name,M,N)); bm,bn=map(int,name.split('-')[0].split('x')); sp=int(re.search(r'k(\d+)r',name)[1])
    o=[]
    for md in range(5):
        lo,hi=((8,16) if md==4 else (16,32))
        a,b=T.get((name,M,N,md,lo)),T.get((name,M,N,md,hi))
        o.append('%4.0f/%-4.0f'%((b[0]-a[0])/(hi-lo),(b[1]-a[1])/(hi-lo)) if a and b else '   -     ')
    print('%-26s %4dx%-5d %4d  KB %d  '%(name,M,N,M//bm*(N//bn)*sp,(bm+bn)//8),'  '.join(o), '  at 16: %d/%d'%T[name,M,N,0,16] if (name,M,N,0,16) in T else '')
