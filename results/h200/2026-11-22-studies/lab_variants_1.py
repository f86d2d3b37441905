import json
def base(lay):
    B={}
    nn=lay=='nn'
    B['168']='BM=128,BN=168,STAGES=%d,CONSUMERS=2,PINGPONG=1'%(4 if nn else 5)
    B['176']='BM=128,BN=176,STAGES=%d,CONSUMERS=2,PINGPONG=1'%(4 if nn else 5)
    B['192']='BM=128,BN=192,STAGES=4,CONSUMERS=2,PINGPONG=1'
    B['160']='BM=128,BN=160,STAGES=%d,CONSUMERS=2,PINGPONG=1'%(4 if nn else 5)
    B['144']='BM=128,BN=144,STAGES=%d,CONSUMERS=2,PINGPONG=1'%(4 if nn else 5)
    B['128']='BM=128,BN=128,STAGES=6,CONSUMERS=2,PINGPONG=1'
    B['256']='BM=128,BN=256,STAGES=4,CONSUMERS=2'
    B['192r']='BM=192,BN=128,STAGES=4,CONSUMERS=2,PINGPONG=1'
    B['256r']='BM=256,BN=128,STAGES=4,CONSUMERS=2'
    return B
CL=['','CLUSTER_M=2','CLUSTER_N=2']
j=lambda *x: ','.join(y for y in x if y)
def specs(lay):
    B=base(lay); out=[]
    for b,s in B.items():
        for c in CL: out.append(j(s,c))
    for b in ('168','192','128'):
        if lay=='nn' and b=='168': b='256'
        s=j(B[b],'CLUSTER_M=2')
        for x in ['RASTER=4','RASTER=6','RASTER=12','RASTER=16','RASTER=32','DOWN=1','DOWN=1,RASTER=4','DOWN=1,RASTER=16','SNAKE=1','STREAM=1','STREAM=2','STREAM=1,RASTER=4','KEEP=1','KEEP=2','KEEP=2,STREAM=1','EVICT=1']: out.append(j(s,x))
    return list(dict.fromkeys(out))
SH=[((4096,16384,16384),'tn'),((2048,12288,16384),'tn'),((8192,8192,16384),'tn'),((2048,8192,12288),'tn'),((16384,4096,12288),'nn'),((12288,12288,4096),'tn'),((16384,16384,4096),'nn')]
json.dump([dict(mnk=m,layout=l,specs=specs(l),times=2 if m[0]*m[1]*m[2]<6e11 else 1,rounds=9,show=25) for m,l in SH],open('time.json','w'))
B=base('tn')
json.dump([dict(mnk=(4096,16384,8192),layout='tn',specs=[j(B['176'],'CLUSTER_M=2'),j(B['256'],'CLUSTER_M=2'),B['128']],lt=3)],open('const.json','w'))
json.dump([dict(mnk=m,layout=l,specs=['TRACE=1,'+j(base(l)[b],c) for b in('168' if l=='tn' else '160','192','128','256') for c in CL[:2]],lt=0) for m,l in SH[:3]+SH[4:5]],open('trace.json','w'))
json.dump([dict(mnk=m,layout=l,specs=[j(base(l)[b],'CLUSTER_M=2') for b in('168','192','128','256')]+[base(l)['192']]+[j(base(l)['192'],'CLUSTER_M=2',x) for x in ('RASTER=4','RASTER=16','STREAM=1','KEEP=2','DOWN=1','SNAKE=1')],lt=8) for m,l in (SH[0],SH[4])],open('ncu.json','w'))
print(len(specs('tn')),len(specs('nn')))
