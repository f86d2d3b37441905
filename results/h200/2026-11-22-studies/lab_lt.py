import ctypes as C, os, glob
class Res(C.Structure): _fields_=[('algo',C.c_uint64*8),('ws',C.c_size_t),('state',C.c_int),('waves',C.c_float),('r',C.c_int*4)]
class Lt:
    def __init__(s,torch):
        s.t=torch
        c=glob.glob(os.path.dirname(torch.__file__)+'/../nvidia/cu*/lib/libcublasLt.so.*')+['libcublasLt.so.13','libcublasLt.so']
        for p in c:
            try: s.l=C.CDLL(p); break
            except OSError: pass
        s.h=C.c_void_p(); assert s.l.cublasLtCreate(C.byref(s.h))==0
        s.ws=torch.empty(64<<20,dtype=torch.uint8,device='cuda')
    def algos(s,A,B,Cc,m,n,k,tn,want=20):
        l=s.l; d=C.c_void_p(); assert l.cublasLtMatmulDescCreate(C.byref(d),68,0)==0
        op=C.c_int(1 if tn else 0); l.cublasLtMatmulDescSetAttribute(d,3,C.byref(op),4); z=C.c_int(0); l.cublasLtMatmulDescSetAttribute(d,4,C.byref(z),4)
        def lay(r,c,ld):
            x=C.c_void_p(); assert l.cublasLtMatrixLayoutCreate(C.byref(x),2,C.c_uint64(r),C.c_uint64(c),C.c_int64(ld))==0; return x
        a=lay(k,n,k) if tn else lay(n,k,n); b=lay(k,m,k); c=lay(n,m,n)
        p=C.c_void_p(); l.cublasLtMatmulPreferenceCreate(C.byref(p)); w=C.c_size_t(64<<20); l.cublasLtMatmulPreferenceSetAttribute(p,1,C.byref(w),8)
        res=(Res*want)(); got=C.c_int(); rc=l.cublasLtMatmulAlgoGetHeuristic(s.h,d,a,b,c,c,p,want,res,C.byref(got))
        if rc: print('heur rc',rc)
        al=C.c_float(1); be=C.c_float(0); out=[]
        for i in range(got.value):
            def run(i=i):
                rc=l.cublasLtMatmul(s.h,d,C.byref(al),C.c_void_p(B.data_ptr()),a,C.c_void_p(A.data_ptr()),b,C.byref(be),C.c_void_p(Cc.data_ptr()),c,C.c_void_p(Cc.data_ptr()),c,C.byref(res[i].algo),C.c_void_p(s.ws.data_ptr()),C.c_size_t(64<<20),C.c_void_p(s.t.cuda.current_stream().cuda_stream))
                if rc: raise RuntimeError('lt %d'%rc)
            run.keep=(res,al,be,A,B,Cc); out.append(run)
        return out
