from lab import *
from lab_lt import Lt
import threading
mode=sys.argv[1]; P=json.load(open(sys.argv[2])); out=[]
jobs={}
for c in P:
    for spec in c['specs']:
        d,e=parse(spec)
        defs=tuple(sorted((k,str(v)) for k,v in list(d.items())+[(k,v) for k,v in e.items() if k not in('PAIR',)]))+(('DTYPE','0'),('ACC_F32',str(c.get('f32',1))),('LAYOUT_TN',str(int(c['layout']=='tn'))))
        jobs[defs]=1; c.setdefault('defs',{})[spec]=defs
cache=HERE+'/bins.pkl'
import pickle
old=pickle.load(open(cache,'rb')) if os.path.exists(cache) else {}
t0=time.time(); new=[(k,k) for k in jobs if k not in old]; bins=dict(old); bins.update(compile_all(new) if new else {}); pickle.dump(bins,open(cache,'wb')); print('compiled',len(new),'in %.1f s'%(time.time()-t0),flush=True)
g=Gpu(); torch=g.torch; lt=Lt(torch)
class Nvml(threading.Thread):
    def __init__(s):
        super().__init__(daemon=True); s.l=C.CDLL('libnvidia-ml.so.1'); s.l.nvmlInit_v2(); s.d=C.c_void_p(); s.l.nvmlDeviceGetHandleByIndex_v2(0,C.byref(s.d)); s.rows=[]; s.stop=False
    def run(s):
        a=C.c_uint(); b=C.c_uint()
        while not s.stop:
            s.l.nvmlDeviceGetClockInfo(s.d,1,C.byref(a)); s.l.nvmlDeviceGetPowerUsage(s.d,C.byref(b)); s.rows.append((time.time(),a.value,b.value/1e3)); time.sleep(0.002)
    def mean(s,t0,t1):
        v=[r for r in s.rows if t0<=r[0]<=t1]
        return (st.mean(r[1] for r in v),st.mean(r[2] for r in v),len(v)) if v else (0,0,0)
def setup(c):
    m,n,k=c['mnk']; tn=c['layout']=='tn'
    A=torch.randn(m,k,device='cuda',dtype=torch.float16); B=torch.randn(*((n,k) if tn else (k,n)),device='cuda',dtype=torch.float16)
    Cc=torch.empty(m,n,device='cuda',dtype=torch.float16); R=torch.empty_like(Cc)
    torch.matmul(A,B.t() if tn else B,out=R); L={}
    for i,f in enumerate(lt.algos(A,B,Cc,m,n,k,tn,c.get('lt',8))): L['lt%d'%i]=f
    for spec in c['specs']:
        d,e=parse(spec); b=bins[c['defs'][spec]]
        if b is None: continue
        try:
            l=g.prepare(b,d,e,tn,A,B,Cc,m,n,k); Cc.fill_(float('nan')); l(); torch.cuda.synchronize()
            q=slice(None) if m*n<2**25 else slice(0,2048); err=(Cc[q].float()-R[q].float()).abs().max().item()/R[q].float().abs().max().item()
            if not err<=2e-3: print('  ',spec,'WRONG %.3g'%err); continue
            L[spec]=l
        except Exception as x: print('FAIL',c['mnk'],spec,x)
    return (A,B,Cc,R),L
if mode=='const':
    nv=Nvml(); nv.start()
    for c in P:
        keep,L=setup(c); names=list(L)
        G1={x:g.graph(L[x],1) for x in names}; G={x:g.graph(L[x],4) for x in names}
        for seg in (1,4,16,64,256):
            tot={x:[] for x in names}; cnt=max(1,256//seg); clk={x:[] for x in names}
            for x in names: G[x].replay()
            torch.cuda.synchronize()
            for r in range(cnt):
                ks=list(names); random.shuffle(ks)
                for x in ks:
                    a,b=torch.cuda.Event(enable_timing=True),torch.cuda.Event(enable_timing=True)
                    t0=time.time(); a.record()
                    for _ in range(max(1,seg//4)): (G if seg>=4 else G1)[x].replay()
                    b.record(); b.synchronize(); clk[x].append((t0,time.time())); tot[x].append(a.elapsed_time(b)*1e3/seg)
            print('seg',seg,c['mnk'],{x:'%.1f'%st.mean(tot[x]) for x in names})
            if seg>=64: print('    clock, W',{x:'%.0f %.0f (%d)'%nv.mean(clk[x][-1][0]+(clk[x][-1][1]-clk[x][-1][0])*.3,clk[x][-1][1]) for x in names})
            out.append(dict(mnk=c['mnk'],layout=c['layout'],seg=seg,t={x:tot[x] for x in names})); sys.stdout.flush()
        del keep,L,G,G1; torch.cuda.empty_cache()
    nv.stop=True
elif mode=='time':
    for c in P:
        keep,L=setup(c); times=c.get('times',2)
        G={x:g.graph(L[x],times) for x in L}
        tm=g.time(G,times,c.get('rounds',9))
        print('==',c['mnk'],c['layout'])
        for s,v in sorted(tm.items(),key=lambda x:x[1])[:c.get('show',70)]: print('  %8.2f %s'%(v,s))
        out.append(dict(mnk=c['mnk'],layout=c['layout'],times=tm)); sys.stdout.flush()
        del keep,L,G; torch.cuda.empty_cache()
elif mode=='trace':
    for c in P:
        keep,L=setup(c)
        for x,l in L.items():
            if not hasattr(l,'mod'): continue
            for _ in range(max(20,int(0.15/(2e-12/600*c['mnk'][0]*c['mnk'][1]*c['mnk'][2])))): l()
            torch.cuda.synchronize()
            p=C.c_uint64(); sz=C.c_size_t(); g.ok(g.cu.cuModuleGetGlobal_v2(C.byref(p),C.byref(sz),l.mod,b'traced'),'glob')
            n=l.grid[0]; buf=(C.c_uint64*(n*8))(); g.ok(g.cu.cuMemcpyDtoH_v2(buf,p,n*64),'copy')
            R=[[buf[i*8+j] for j in range(4)] for i in range(n)]
            ns=max(r[2] for r in R)-min(r[0] for r in R); f=st.median((r[3]-r[1])/(r[2]-r[0]) for r in R); cyc=max(r[3]-r[1] for r in R)
            m_,n_,k_=c['mnk']
            print('trace',c['mnk'],c['layout'],x.replace('TRACE=1,',''),'%.1f us, %.0f MHz'%(ns/1e3,f*1e3)); sys.stdout.flush()
        del keep,L; torch.cuda.empty_cache()
elif mode=='ncu':
    for c in P:
        keep,L=setup(c); torch.cuda.synchronize()
        torch.cuda.cudart().cudaProfilerStart()
        for x,l in L.items(): l()
        torch.cuda.synchronize(); torch.cuda.cudart().cudaProfilerStop()
        print('ORDER',json.dumps(dict(mnk=c['mnk'],layout=c['layout'],order=list(L)))); sys.stdout.flush()
        del keep,L; torch.cuda.empty_cache()
if out: json.dump(out,open(os.environ.get('OUT','/tmp')+'/%s.json'%sys.argv[3],'w'))
