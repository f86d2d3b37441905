import json
P=[]
def add(mnk,lay,specs,times=10,rounds=9):
    P.append(dict(mnk=mnk,layout=lay,specs=list(dict.fromkeys(specs)),times=times,rounds=rounds))
def specs(lay):
    out=[]
    cl=['','CLUSTER_M=2','CLUSTER_N=2']
    for bm,bn,st,ep in [(128,128,6,1),(128,144,5,1),(128,160,5,1),(128,168,5,2),(128,176,5 if lay=='tn' else 4,1),(128,176,5,2),(128,184,5,2),(128,192,4,1),(128,192,5,2),(192,128,4,1),(128,152,5,2)]:
        for c in cl:
            if c=='CLUSTER_M=2' and bn//2%8: continue
            b='BM=%d,BN=%d,STAGES=%d,CONSUMERS=2,PINGPONG=1,EPILOGUE=%d'%(bm,bn,st,ep)+(','+c if c else '')
            out+=[b,b+',ARRIVE1=1']
    for bm,bn,st in [(256,128,4),(128,256,4)]:
        for c in cl:
            b='BM=%d,BN=%d,STAGES=%d,CONSUMERS=2'%(bm,bn,st)+(','+c if c else '')
            out+=[b,b+',ARRIVE1=1']
    for r in(16,32,64): out+=['BM=128,BN=176,STAGES=4,CONSUMERS=2,PINGPONG=1,CLUSTER_M=2,RASTER=%d'%r,'BM=128,BN=160,STAGES=5,CONSUMERS=2,PINGPONG=1,CLUSTER_M=2,RASTER=%d'%r,'BM=128,BN=128,STAGES=6,CONSUMERS=2,PINGPONG=1,CLUSTER_M=2,RASTER=%d'%r]
    return out
for mnk,lay in [((2048,8192,12288),'tn'),((4096,8192,4096),'tn'),((12288,16384,1024),'nn'),((4096,8192,8192),'tn'),((2048,12288,4096),'tn'),((1024,8192,8192),'tn'),((16384,8192,2048),'nn')]: add(mnk,lay,specs(lay),2,9)
json.dump(P,open('p3.json','w')); print(sum(len(p['specs']) for p in P))
