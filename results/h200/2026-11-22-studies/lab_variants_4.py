import json
j=lambda *x: ','.join(y for y in x if y)
P=[]; N=[]
def sp(bases,fe=('','FETCH=128')):
    return [j(b,d,f,p) for b in bases for d in ('','DOWN=1') for f in fe for p in ('','PAIR=2')]
def add(mnk,lay,bases,times,extra=(),ncu=False):
    s=sp(bases)+list(extra); P.append(dict(mnk=mnk,layout=lay,specs=s,times=times,rounds=11,lt=8,show=26))
    if ncu: N.append(dict(mnk=mnk,layout=lay,specs=s,lt=8))
s64='BM=64,BN=64,STAGES=8,CONSUMERS=1'; s64e=s64+',EPILOGUE=2'; s12864='BM=128,BN=64,STAGES=8,CONSUMERS=1'; s64128='BM=64,BN=128,STAGES=8,CONSUMERS=1'
old64=[s64+',CLUSTER_M=2',s64+',CLUSTER_N=2']
for l in('nn','tn'):
    add((512,1024,4096),l,[s64,s64e],20,old64,ncu=l=='tn')
    add((4096,128,4096),l,[s64,s64e],20,old64)
    add((4096,128,8192),l,[s64,s64128+',SPLIT_K=2'][:1],10,old64,ncu=l=='nn')
    add((256,4096,4096),l,[s64128,s12864],10,[s64128+',CLUSTER_M=2',s12864+',CLUSTER_M=2',s12864+',CLUSTER_N=2'])
    add((1024,1024,16384),l,[s12864,s64128],4,[s64128+',CLUSTER_M=2',s12864+',CLUSTER_N=2'])
    add((128,16384,12288),l,['BM=128,BN=128,STAGES=6,CONSUMERS=2','BM=64,BN=256,STAGES=5,CONSUMERS=1'],2,['BM=64,BN=256,STAGES=5,CONSUMERS=1,CLUSTER_M=2,FETCH=128'])
pp='BM=128,BN=128,STAGES=6,CONSUMERS=2,PINGPONG=1'
for m in ((2048,2048,2048),(1024,2048,12288)): add(m,'nn',[pp,'ACROSS=1,'+pp,'BM=128,BN=128,STAGES=6,CONSUMERS=2'],10 if m[2]==2048 else 4,[pp+',CLUSTER_M=2'])
add((1024,4096,4096),'nn',['BM=128,BN=256,STAGES=4,CONSUMERS=2','ACROSS=1,BM=256,BN=128,STAGES=4,CONSUMERS=2'],6,['BM=128,BN=256,STAGES=4,CONSUMERS=2,CLUSTER_M=2'])
a160='ACROSS=1,BM=160,BN=128,STAGES=5,CONSUMERS=2,PINGPONG=1'; b168='BM=128,BN=168,STAGES=5,CONSUMERS=2,PINGPONG=1'
add((16384,4096,12288),'nn',[a160,'ACROSS=1,BM=176,BN=128,STAGES=5,CONSUMERS=2,PINGPONG=1'],1,[a160+',CLUSTER_N=2'],ncu=True)
add((4096,16384,16384),'tn',[b168,'BM=128,BN=256,STAGES=4,CONSUMERS=2'],1,[b168+',CLUSTER_M=2'],ncu=True)
add((8192,8192,4096),'tn',[b168,'BM=128,BN=176,STAGES=5,CONSUMERS=2,PINGPONG=1',a160],1,[])
add((128,12288,128),'tn',['BM=64,BN=192,STAGES=6,CONSUMERS=1','BM=64,BN=112,STAGES=8,CONSUMERS=2,PINGPONG=1'],20,[])
json.dump(P,open('time4.json','w')); json.dump(N,open('ncu4.json','w')); print(len(P),sum(len(p['specs']) for p in P))
