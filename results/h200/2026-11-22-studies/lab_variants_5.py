import json
j=lambda *x: ','.join(y for y in x if y)
P=[]; N=[]
def add(mnk,lay,specs,times,ncu=False,rounds=11):
    P.append(dict(mnk=mnk,layout=lay,specs=specs,times=times,rounds=rounds,lt=8,show=26))
    if ncu: N.append(dict(mnk=mnk,layout=lay,specs=specs,lt=8))
def lifts(b): return [j(b,f,l) for f in ('','FETCH=128') for l in ('','DOWN=1','LIFT=2','LIFT=4','LIFT=8','LIFT=4,RASTER=16','LIFT=4,DOWN=1')]
def deals(b): return [j(b,d,l) for d in ('','DEAL=8','DEAL=8,OFF=4') for l in ('','LIFT=2','LIFT=4')]
s64='BM=64,BN=64,STAGES=8,CONSUMERS=1'; s12864='BM=128,BN=64,STAGES=8,CONSUMERS=1'; s64128='BM=64,BN=128,STAGES=8,CONSUMERS=1'
for l in('nn','tn'):
    add((512,1024,4096),l,lifts(s64)+deals(s64+',CLUSTER_M=2')+deals(s64+',CLUSTER_N=2'),20,l=='tn')
    add((4096,128,4096),l,lifts(s64)+deals(s64+',CLUSTER_M=2')+deals(s64+',CLUSTER_N=2'),20)
    add((1024,1024,16384),l,lifts(s12864)+lifts(s64128)+deals(s64128+',CLUSTER_M=2')+deals(s12864+',CLUSTER_N=2'),4)
add((256,4096,4096),'nn',lifts(s64128)+lifts(s12864),10)
pp='BM=128,BN=128,STAGES=6,CONSUMERS=2,PINGPONG=1'
for m in ((2048,2048,2048),(1024,2048,12288)): add(m,'nn',lifts(pp)+deals(pp+',CLUSTER_M=2')+deals('BM=128,BN=128,STAGES=6,CONSUMERS=2,CLUSTER_M=2'),10 if m[2]==2048 else 4)
c256='BM=128,BN=256,STAGES=4,CONSUMERS=2'
add((1024,4096,4096),'nn',lifts(c256)+deals(c256+',CLUSTER_M=2'),6)
a160='ACROSS=1,BM=160,BN=128,STAGES=5,CONSUMERS=2,PINGPONG=1'; b168='BM=128,BN=168,STAGES=5,CONSUMERS=2,PINGPONG=1'
add((16384,4096,12288),'nn',lifts(a160)+deals(a160+',CLUSTER_N=2,FETCH=128')+deals(a160+',CLUSTER_M=2,FETCH=128'),1,True)
add((4096,16384,16384),'tn',lifts(b168)+deals(b168+',CLUSTER_M=2,FETCH=128'),1,True)
add((8192,8192,4096),'tn',lifts(b168)+deals(b168+',CLUSTER_M=2,FETCH=128'),1)
json.dump(P,open('time5.json','w')); json.dump(N,open('ncu5.json','w')); print(len(P),sum(len(p['specs']) for p in P))
