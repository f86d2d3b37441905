from lab_variants_1 import *
SH2=[((4096,16384,16384),'tn'),((2048,12288,16384),'tn'),((8192,8192,8192),'tn'),((2048,8192,12288),'tn'),((16384,4096,12288),'nn'),((12288,12288,4096),'tn'),((16384,16384,4096),'nn'),((8192,16384,2048),'tn')]
def sp(lay):
    B=base(lay); out=[]
    w='168' if lay=='tn' else '160'
    for b in (w,'192','128','256'):
        for c in CL[:2]:
            s=j(B[b],c)
            for x in ['','PROMO=2','PROMO=0','PACE=8','PACE=16','PACE=32','PACE=64','PACE=16,PROMO=2','PACE=16,RASTER=16','PACE=16,SNAKE=1']: out.append(j(s,x))
    return out
json.dump([dict(mnk=m,layout=l,specs=sp(l),times=2 if m[0]*m[1]*m[2]<6e11 else 1,rounds=9,show=22) for m,l in SH2],open('time2.json','w'))
def np(lay):
    B=base(lay); out=[]
    for b in ('168' if lay=='tn' else '160','192','256'):
        for c in CL[:2]:
            s=j(B[b],c); out+=[j(s,x) for x in ('','PROMO=2','PACE=8','PACE=32','PACE=16,PROMO=2')]
    return out
json.dump([dict(mnk=m,layout=l,specs=np(l),lt=8) for m,l in (SH2[0],SH2[2],SH2[4])],open('ncu2.json','w'))
print(len(sp('tn')))
