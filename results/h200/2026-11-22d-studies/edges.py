import torch, ctypes
cu=ctypes.CDLL('libcuda.so.1')
for lib in ('cublas','cublaslt'):
    torch.backends.cuda.preferred_blas_library(lib)
    for (m,n,k) in ((64,64,64),(128,128,128),(64,16384,512),(8192,64,4096),(2048,2048,2048),(16384,16384,64),(1024,8192,1024),(64,64,2048),(256,256,256),(1024,1024,512),(2048,2048,512),(512,1024,4096),(128,12288,256),(4096,128,4096),(4096,4096,4096),(256,256,8192)):
        a=torch.randn(m,k,device='cuda',dtype=torch.half); b=torch.randn(k,n,device='cuda',dtype=torch.half); c=torch.empty(m,n,device='cuda',dtype=torch.half)
        torch.mm(a,b,out=c); torch.cuda.synchronize()
        g=torch.cuda.CUDAGraph(keep_graph=True)
        with torch.cuda.graph(g):
            for i in range(4): torch.mm(a,b,out=c)
        raw=ctypes.c_void_p(g.raw_cuda_graph())
        cnt=ctypes.c_size_t(0)
        f=cu.cuGraphGetEdges_v2
        print(f(raw,None,None,None,ctypes.byref(cnt)),end=' ')
        fr=(ctypes.c_void_p*cnt.value)(); to=(ctypes.c_void_p*cnt.value)(); ed=(ctypes.c_ubyte*(8*cnt.value))()
        r=f(raw,fr,to,ed,ctypes.byref(cnt))
        print(lib,m,n,k,'rc',r,'edges',cnt.value,'programmatic',sum(ed[8*i+2]==1 for i in range(cnt.value)),[tuple(ed[8*i:8*i+3]) for i in range(min(3,cnt.value))],flush=True)
