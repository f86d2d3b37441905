from lab import *
P=json.load(open(sys.argv[1])); out=[]
jobs={}
for c in P:
    for spec in c['specs']:
        d,e=parse(spec)
        defs=tuple(sorted((k,str(v)) for k,v in list(d.items())+[(k,v) for k,v in e.items() if k not in('PROMO','PA','PB')]))+(('DTYPE','0'),('ACC_F32',str(c.get('f32',1))),('LAYOUT_TN',str(int(c['layout']=='tn'))))
        jobs[defs]=1
        c.setdefault('defs',{})[spec]=defs
t0=time.time(); bins=compile_all([(k,k) for k in jobs]); print('compiled',len(bins),'in %.1f s'%(time.time()-t0),flush=True)
g=Gpu(); torch=g.torch
for c in P:
    m,n,k=c['mnk']; tn=c['layout']=='tn'
    A=torch.randn(m,k,device='cuda',dtype=torch.float16); B=torch.randn(*((n,k) if tn else (k,n)),device='cuda',dtype=torch.float16)
    Cc=torch.empty(m,n,device='cuda',dtype=torch.float16); R=torch.empty_like(Cc)
    ref=lambda: torch.matmul(A,B.t() if tn else B,out=R)
    ref(); times=c.get('times',10); graphs={'torch':g.graph(ref,times)}; keep=[]
    for spec in c['specs']:
        d,e=parse(spec); b=bins[c['defs'][spec]]
        if b is None: continue
        try:
            l=g.prepare(b,d,e,tn,A,B,Cc,m,n,k); Cc.zero_(); l(); torch.cuda.synchronize()
            bad='' 
            if not any(x in e for x in('NOMATH','NOSHORT')):
                err=(Cc.float()-R.float()).abs().max().item()/R.float().abs().max().item()
                if err>2e-3: bad='WRONG %.3g'%err
            if 'TRACE' in e:
                tr=g.trace(l)
                for rep in tr[2:4]:
                    t00=min(x[0] for x in rep)
                    f=lambda i:sorted(x[i]-t00 for x in rep)
                    q=lambda v:'%d/%d/%d/%d'%(v[0],v[len(v)//4],v[len(v)*3//4],v[-1])
                    print('  TRACE',c['mnk'],c['layout'],spec,'ctas',len(rep),'start',q(f(0)),'full',q(f(1)),'loop',q(f(2)),'end',q(f(3)))
                out.append(dict(mnk=c['mnk'],layout=c['layout'],spec=spec,trace=tr[2:4]))
            else: graphs[spec]=g.graph(l,times)
            keep.append(l)
            if bad: print('  ',spec,bad)
        except Exception as x: print('FAIL',c['mnk'],spec,x); 
    tm=g.time(graphs,times,c.get('rounds',7))
    print('==',c['mnk'],c['layout'],'torch %.2f'%tm['torch'],'floor %.1f'%((m*k+n*k+m*n)*2/4.3e6))
    for s,v in sorted(tm.items(),key=lambda x:x[1]): print('  %8.2f %s'%(v,s)); 
    out.append(dict(mnk=c['mnk'],layout=c['layout'],times=tm)); sys.stdout.flush()
    del graphs,keep,A,B,Cc,R; torch.cuda.empty_cache()
json.dump(out,open(os.environ.get('OUT','/tmp')+'/lab.json','w'))
