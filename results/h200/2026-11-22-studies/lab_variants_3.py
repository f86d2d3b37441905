import json
j=lambda *x: ','.join(y for y in x if y)
CL=['','CLUSTER_M=2','CLUSTER_N=2']
def across(lay):
    out=[]
    for bm,st in ((128,6),(144,5),(160,5),(168,5),(176,5),(192,4)):
        for c in CL:
            if c=='CLUSTER_N=2' and bm==168: continue
            out.append(j('ACROSS=1,BM=%d,BN=128,STAGES=%d,CONSUMERS=2,PINGPONG=1'%(bm,st),c))
    for c in CL: out.append(j('ACROSS=1,BM=256,BN=128,STAGES=4,CONSUMERS=2',c))
    out.append('ACROSS=1,BM=128,BN=192,STAGES=4,CONSUMERS=2,PINGPONG=1')
    return out
def old(lay):
    o=[]; st=5 if lay=='tn' else 4
    for b,s,x in ((128,6,'PINGPONG=1'),(160,st,'PINGPONG=1'),(168,st,'PINGPONG=1'),(176,st,'PINGPONG=1'),(192,4,'PINGPONG=1'),(256,4,'')):
        for c in CL[:2]: o.append(j('BM=128,BN=%d,STAGES=%d,CONSUMERS=2'%(b,s),x,c))
    o+=['BM=192,BN=128,STAGES=4,CONSUMERS=2,PINGPONG=1','BM=256,BN=128,STAGES=4,CONSUMERS=2,CLUSTER_N=2']
    return o
def extra(lay):
    return [j(s,x) for s in (['ACROSS=1,BM=160,BN=128,STAGES=5,CONSUMERS=2,PINGPONG=1,CLUSTER_N=2','ACROSS=1,BM=160,BN=128,STAGES=5,CONSUMERS=2,PINGPONG=1,CLUSTER_M=2']) for x in ('DOWN=1','RASTER=16','DOWN=1,RASTER=16','FETCH=128','FETCH=0','EVICT=1')]
T=[((384,400,320),1),((1000,1032,520),1),((2056,200,4104),1),((168,136,72),1),((4096,4096,1024),4)]
P=[]
for l in ('nn','tn'):
    for m,t in T: P.append(dict(mnk=m,layout=l,specs=across(l)+extra(l)[:3]+['ACROSS=1,BM=64,BN=64,STAGES=4,CONSUMERS=1','ACROSS=1,BM=32,BN=128,STAGES=6,CONSUMERS=2,PINGPONG=1','ACROSS=1,BM=96,BN=64,STAGES=6,CONSUMERS=1'],times=t,rounds=5,show=6,lt=4))
json.dump(P,open('ok.json','w'))
SH=[((16384,4096,12288),'nn'),((16384,4096,1024),'nn'),((16384,16384,4096),'nn'),((12288,12288,4096),'nn'),((8192,16384,8192),'nn'),((12288,4096,16384),'nn'),((2048,12288,16384),'tn'),((16384,4096,8192),'tn'),((4096,16384,16384),'tn')]
json.dump([dict(mnk=m,layout=l,specs=across(l)+old(l)+extra(l),times=2 if m[0]*m[1]*m[2]<6e11 else 1,rounds=9,show=14) for m,l in SH],open('time3.json','w'))
n=['ACROSS=1,BM=160,BN=128,STAGES=5,CONSUMERS=2,PINGPONG=1','ACROSS=1,BM=168,BN=128,STAGES=5,CONSUMERS=2,PINGPONG=1','ACROSS=1,BM=256,BN=128,STAGES=4,CONSUMERS=2']
json.dump([dict(mnk=m,layout=l,specs=[j(s,c,f) for s in n for c in CL for f in ('FETCH=128','FETCH=0') if not (c=='CLUSTER_N=2' and '168' in s)]+[j('BM=128,BN=192,STAGES=4,CONSUMERS=2,PINGPONG=1',c,f) for c in CL[:2] for f in ('FETCH=128','FETCH=64','FETCH=0')],lt=7) for m,l in (SH[0],)],open('ncu3.json','w'))
