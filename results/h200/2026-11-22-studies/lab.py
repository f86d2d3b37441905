import ctypes as C, sys, os, json, random, time, multiprocessing as mp, statistics as st
HERE=os.path.dirname(os.path.abspath(__file__))
DEF=dict(BM=128,BN=128,STAGES=4,CONSUMERS=1,PINGPONG=0,CLUSTER_M=1,CLUSTER_N=1,SPLIT_K=1,REDUCE=0,PARTS=1,RASTER=8,DOWN=0,EPILOGUE=1,EVICT=0,STREAM=0,FETCH=256,MIN_BLOCKS=1,ACROSS=0,LIFT=1,DEAL=0,OFF=0)
def parse(spec):
    d=dict(DEF); extra={}
    for kv in spec.split(','):
        k,v=kv.split('=')
        if k in d: d[k]=int(v)
        else: extra[k]=v
    return d,extra
def nvrtc_compile(job):
    key,defs=job
    lib=C.CDLL(LIBNVRTC)
    src=open(HERE+'/kernels/persistent.cu','rb').read()
    opts=['--gpu-architecture=sm_90a','--std=c++17','--pre-include=kernels/harness/prelude.cuh','-I'+HERE+'/kernels','-I'+HERE]+['-D%s=%s'%kv for kv in defs]
    prog=C.c_void_p()
    os.chdir(HERE)
    assert lib.nvrtcCreateProgram(C.byref(prog),src,b'persistent.cu',0,None,None)==0
    arr=(C.c_char_p*len(opts))(*[o.encode() for o in opts])
    rc=lib.nvrtcCompileProgram(prog,len(opts),arr)
    if rc:
        n=C.c_size_t(); lib.nvrtcGetProgramLogSize(prog,C.byref(n)); b=C.create_string_buffer(n.value); lib.nvrtcGetProgramLog(prog,b)
        return key,None,b.value.decode()[:800]
    n=C.c_size_t(); lib.nvrtcGetCUBINSize(prog,C.byref(n)); b=C.create_string_buffer(n.value); lib.nvrtcGetCUBIN(prog,b)
    return key,b.raw,''
def find_nvrtc():
    import glob
    for g in ['/usr/local/cuda/lib64/libnvrtc.so','/usr/local/cuda/lib64/libnvrtc.so.13']+glob.glob('/opt/torch/.venv/lib/python3*/site-packages/nvidia/cu13/lib/libnvrtc.so*'):
        if os.path.exists(g): return g
LIBNVRTC=find_nvrtc()
def compile_all(jobs,procs=None):
    with mp.get_context('fork').Pool(procs or os.cpu_count()) as p: out=p.map(nvrtc_compile,jobs,chunksize=1)
    r={}
    for k,b,e in out:
        if b is None: print('COMPILE',k,e)
        r[k]=b
    return r
cd=lambda a,b:-(-a//b)
def geometry(d,tn,m,n,k,acc32=1,pair=1):
    clm,cln=d['CLUSTER_M'],d['CLUSTER_N']
    t=cd(m,d['BM']*clm)*cd(n,d['BN']*cln)
    gx=(t if d['SPLIT_K']>1 else min(t,132//(clm*cln)*d['MIN_BLOCKS']))*clm*cln
    gx=-(-gx//pair)*pair
    grid=(gx,1,d['SPLIT_K']*d['PARTS'])
    block=d['CONSUMERS']*128+128
    cluster=(clm*cln*pair,1,1 if d['REDUCE']==2 else d['SPLIT_K'])
    own=cd(d['BM']//d['CONSUMERS']//64*d['BN']//8,d['SPLIT_K'])
    sh=1024+d['STAGES']*((d['BM']+(d['BN'] if tn else cd(d['BN'],64)*64))*128+16)+(0 if d['SPLIT_K']>1 else d['CONSUMERS']*16384 if d['EPILOGUE']==1 else d['CONSUMERS']*8192 if d['EPILOGUE']==2 else 0)+((16+d['SPLIT_K']*own*d['CONSUMERS']*(2048 if acc32 else 1024)) if d['REDUCE']==1 else 0)
    tt=t*clm*cln
    ws=tt*d['SPLIT_K']*d['PARTS']*own*d['CONSUMERS']*2048 if d['PARTS']>1 else tt*d['SPLIT_K']**2*own*d['CONSUMERS']*(2048 if acc32 else 1024) if d['REDUCE']==2 else 0
    return grid,block,cluster,sh,ws
class Attr(C.Structure): _fields_=[('id',C.c_uint),('pad',C.c_uint),('value',C.c_uint*16)]
class Config(C.Structure): _fields_=[('gx',C.c_uint),('gy',C.c_uint),('gz',C.c_uint),('bx',C.c_uint),('by',C.c_uint),('bz',C.c_uint),('sh',C.c_uint),('stream',C.c_void_p),('attrs',C.POINTER(Attr)),('n',C.c_uint)]
class Map(C.Structure): _fields_=[('b',C.c_uint8*128)]
class Gpu:
    def __init__(s):
        import torch; s.torch=torch; torch.zeros(1,device='cuda'); s.cu=C.CDLL('libcuda.so.1'); s.ws=torch.zeros(64<<20,dtype=torch.uint8,device='cuda')
    def ok(s,rc,what):
        if rc: raise RuntimeError('%s: %d'%(what,rc))
    def tmap(s,ptr,cols,rows,box,swz,promo):
        m=(C.c_uint8*256)(); a=(C.addressof(m)+63)&~63
        s.ok(s.cu.cuTensorMapEncodeTiled(C.c_void_p(a),6,2,C.c_void_p(ptr),(C.c_uint64*2)(cols,rows),(C.c_uint64*1)(cols*2),(C.c_uint32*2)(*box),(C.c_uint32*2)(1,1),0,swz,promo,0),'tmap')
        return m,a
    def prepare(s,cubin,d,extra,tn,A,B,Cc,m,n,k):
        mod=C.c_void_p(); s.ok(s.cu.cuModuleLoadData(C.byref(mod),cubin),'load')
        f=C.c_void_p(); s.ok(s.cu.cuModuleGetFunction(C.byref(f),mod,b'gemm'),'fn')
        grid,block,cluster,sh,ws=geometry(d,tn,m,n,k,1,int(extra.get('PAIR',1)))
        s.ok(s.cu.cuFuncSetAttribute(f,8,sh),'smem %d'%sh)
        if cluster[0]*cluster[2]>8: s.ok(s.cu.cuFuncSetAttribute(f,14,1),'np')
        promo={0:0,64:1,128:2,256:3}[d['FETCH']]; pa=int(extra.get('PA',promo)); pb=int(extra.get('PB',promo))
        ma=s.tmap(A.data_ptr(),k,m,(64,d['BM']//d['CLUSTER_N']),3,pa)
        mb=s.tmap(B.data_ptr(),k,n,(64,d['BN']//d['CLUSTER_M']),3,pb) if tn else s.tmap(B.data_ptr(),n,k,(64,64 if 'BOXSPLIT' in extra else 64//d['CLUSTER_M']),3,pb)
        mc=s.tmap(Cc.data_ptr(),n,m,(64,64),3,3); mn=s.tmap(Cc.data_ptr(),n,m,(64,8) if d['ACROSS'] else (16,64),3 if d['ACROSS'] else 1,3)
        vals=[ma,mb,mc,mn]; ptrs=(C.c_void_p*9)(); keep=[]
        for i,v in enumerate(vals): ptrs[i]=v[1]; keep.append(v)
        for i,v in enumerate([C.c_uint64(Cc.data_ptr()),C.c_int(m),C.c_int(n),C.c_int(k),C.c_uint64(s.ws.data_ptr())]): ptrs[4+i]=C.addressof(v); keep.append(v)
        at=(Attr*1)(); at[0].id=4; at[0].value[0],at[0].value[1],at[0].value[2]=cluster
        cfg=Config(grid[0],grid[1],grid[2],block,1,1,sh,None,at,1 if cluster[0]*cluster[2]>1 else 0)
        def launch():
            cfg.stream=s.torch.cuda.current_stream().cuda_stream
            s.ok(s.cu.cuLaunchKernelEx(C.byref(cfg),f,ptrs,None),'launch')
        launch.keep=(keep,at,cfg,mod,f); launch.mod=mod; launch.grid=grid
        return launch
    def graph(s,launch,times):
        t=s.torch; g=t.cuda.CUDAGraph(); launch(); t.cuda.synchronize()
        with t.cuda.graph(g):
            for _ in range(times): launch()
        return g
    def time(s,graphs,times,rounds=7):
        t=s.torch; r={k:[] for k in graphs}; ks=list(graphs)
        for _ in range(rounds):
            random.shuffle(ks)
            for k in ks:
                a,b=t.cuda.Event(enable_timing=True),t.cuda.Event(enable_timing=True)
                graphs[k].replay(); a.record(); graphs[k].replay(); b.record(); b.synchronize()
                r[k].append(a.elapsed_time(b)*1e3/times)
        return {k:st.median(v) for k,v in r.items()}
    def trace(s,launch):
        p=C.c_uint64(); sz=C.c_size_t(); s.ok(s.cu.cuModuleGetGlobal_v2(C.byref(p),C.byref(sz),launch.mod,b'traced'),'glob')
        n=launch.grid[0]*launch.grid[2]; buf=(C.c_uint64*(n*8))()
        out=[]
        for rep in range(6):
            for _ in range(3): launch()
            s.torch.cuda.synchronize(); s.ok(s.cu.cuMemcpyDtoH_v2(buf,p,n*64),'copy')
            out.append([[buf[i*8+j] for j in range(5)] for i in range(n)])
        return out
