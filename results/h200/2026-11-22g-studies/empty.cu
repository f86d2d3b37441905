struct __align__(64) Map { unsigned long long o[16]; };
extern "C" __global__ void empty() {}
extern "C" __global__ void __launch_bounds__(256) params(const __grid_constant__ Map a, const __grid_constant__ Map b, const __grid_constant__ Map c, const __grid_constant__ Map d, unsigned short *p, int m, int n, int k, float4 *w)
{ if (m == -1) p[0] = (unsigned short)(n + k); }
/* one load, one store: the shortest that a product can be */
extern "C" __global__ void __launch_bounds__(256) touch(const __grid_constant__ Map a, const __grid_constant__ Map b, const __grid_constant__ Map c, const __grid_constant__ Map d, unsigned short *p, int m, int n, int k, float4 *w, const uint4 *x)
{ uint4 v = x[blockIdx.x * blockDim.x + threadIdx.x]; v.x += v.y; ((uint4 *)p)[(blockIdx.x * blockDim.x + threadIdx.x)] = v; }
