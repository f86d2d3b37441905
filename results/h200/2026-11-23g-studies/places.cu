/* Where the CTAs of a launch go: each writes its multiprocessor's number and stays a while, so that no two share one. By cluster: none,
 * then x by z (names) of one to eight. nvcc -gencode arch=compute_90a,code=sm_90a -cubin places.cu -o smid.cubin */
__device__ void tell(int *out) { unsigned v; asm volatile("mov.u32 %0, %%smid;" : "=r"(v)); if (threadIdx.x == 0) out[blockIdx.x + gridDim.x * blockIdx.z] = (int)v; for (long long t = clock64(); clock64() - t < 200000;) ; }
extern "C" __global__ void smid(int *out) { extern __shared__ int s[]; tell(out); }
extern "C" __global__ void __cluster_dims__(1, 1, 1) smid111(int *out) { extern __shared__ int s[]; tell(out); }
extern "C" __global__ void __cluster_dims__(2, 1, 1) smid211(int *out) { extern __shared__ int s[]; tell(out); }
extern "C" __global__ void __cluster_dims__(4, 1, 1) smid411(int *out) { extern __shared__ int s[]; tell(out); }
extern "C" __global__ void __cluster_dims__(8, 1, 1) smid811(int *out) { extern __shared__ int s[]; tell(out); }
extern "C" __global__ void __cluster_dims__(1, 1, 2) smid112(int *out) { extern __shared__ int s[]; tell(out); }
extern "C" __global__ void __cluster_dims__(1, 1, 3) smid113(int *out) { extern __shared__ int s[]; tell(out); }
extern "C" __global__ void __cluster_dims__(1, 1, 4) smid114(int *out) { extern __shared__ int s[]; tell(out); }
extern "C" __global__ void __cluster_dims__(1, 1, 8) smid118(int *out) { extern __shared__ int s[]; tell(out); }
