// How long pieces take from CTA to CTA through the L2: probe, printed as means over CTAs and launches, cycles since the stores began.
#include <cstdio>
#include <cstdlib>
#include <cuda.h>
typedef unsigned u32;
#define N 6
__device__ uint4 box[160 * N * 128];
__device__ u32 flags[160 * 32];
__device__ u32 out[160 * 8];
__device__ __forceinline__ u32 clk() { u32 v; asm volatile("mov.u32 %0, %%clock;" : "=r"(v)::"memory"); return v; }
__device__ __forceinline__ uint4 ldr(const uint4 *p) { uint4 v; asm volatile("ld.relaxed.gpu.global.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p) : "memory"); return v; }
__device__ __forceinline__ uint4 ldcg(const uint4 *p) { uint4 v; asm volatile("ld.global.cg.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p) : "memory"); return v; }
__device__ __forceinline__ uint4 ldv(const uint4 *p) { uint4 v; asm volatile("ld.volatile.global.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p) : "memory"); return v; }
__device__ __forceinline__ void str(uint4 *p, uint4 v) { asm volatile("st.relaxed.gpu.global.v4.u32 [%0], {%1,%2,%3,%4};" ::"l"(p), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory"); }
__device__ __forceinline__ void stw(uint4 *p, uint4 v) { asm volatile("st.global.v4.u32 [%0], {%1,%2,%3,%4};" ::"l"(p), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory"); }
extern "C" __global__ void __launch_bounds__(128) probe(int mode, u32 round, int dist, u32 at)
{
    extern __shared__ char smem[];
    const int t = threadIdx.x, me = blockIdx.x, peer = (me + dist) % gridDim.x, from = (me + gridDim.x - dist) % gridDim.x;
    uint4 *mine = box + me * N * 128 + t, *theirs = box + peer * N * 128 + t;
    u32 g; do asm volatile("mov.u32 %0, %%globaltimer_lo;" : "=r"(g)); while (0);
    u32 start = g - g % 4096 + 8192; // all begin together
    do asm volatile("mov.u32 %0, %%globaltimer_lo;" : "=r"(g)::"memory"); while ((int)(g - start) < 0);
    __syncthreads();
    u32 c0 = clk(), c1 = 0, c2 = 0, c3 = 0, c4 = 0, polls = 0;
    const uint4 v = {round, round, round, round};
    u32 acc = 0;
    if (mode == 0 || mode == 5) { // fence and flag
        for (int i = 0; i < N; i++) stw(theirs + i * 128, v);
        c1 = clk();
        __syncthreads();
        if (t == 0) {
            asm volatile("fence.acq_rel.gpu;" ::: "memory");
            c2 = clk();
            asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(flags + peer * 32), "r"(round) : "memory");
            u32 f; do { asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(f) : "l"(flags + me * 32) : "memory"); polls++; } while (f != round);
        }
        __syncthreads();
        c3 = clk();
        for (int i = 0; i < N; i++) { uint4 q = ldcg(mine + i * 128); acc += q.x != round; }
        c4 = clk() + (acc > 1000);
    } else if (mode == 1 || mode == 2 || mode == 3 || mode == 4) { // letters: 1 all six, 2 one word each, 3 volatile, 4 poll the last first
        int n = mode == 2 ? 1 : N;
        for (int i = 0; i < n; i++) { if (mode == 3) stw(theirs + i * 128, v); else str(theirs + i * 128, v); }
        c1 = clk();
        bool ok;
        if (mode == 4) { uint4 q; do { q = ldr(mine + (N - 1) * 128); polls++; } while (q.x != round); c3 = clk(); }
        do {
            ok = true; uint4 q[N];
#pragma unroll
            for (int i = 0; i < N; i++) if (i < n) q[i] = mode == 3 ? ldv(mine + i * 128) : ldr(mine + i * 128);
#pragma unroll
            for (int i = 0; i < N; i++) if (i < n) ok &= q[i].x == round && q[i].y == round && q[i].z == round && q[i].w == round;
            polls++;
        } while (!ok);
        c2 = c1; if (!c3) c3 = clk(); c4 = clk();
    } else if (mode == 6) { // latency of one load, of a store and fence
        uint4 q = ldr(mine); acc += q.x == 1; c1 = clk() + (acc > 1000);
        q = ldcg(mine + 128); acc += q.x == 1; c2 = clk() + (acc > 1000);
        asm volatile("fence.acq_rel.gpu;" ::: "memory"); c3 = clk();
        if (t == 0) stw(theirs, v); asm volatile("fence.acq_rel.gpu;" ::: "memory"); c4 = clk();
    }
    if (t == 0) { u32 *o = out + me * 8; o[0] = c1 - c0; o[1] = c2 - c0; o[2] = c3 - c0; o[3] = c4 - c0; o[4] = polls; }
}
int main()
{
    for (int smem = 0; smem <= 1; smem++)
    for (int mode : {0, 1, 2, 3, 4, 6}) for (int dist : {1, 32, 64}) for (int ctas : {16, 128}) {
        if (dist >= ctas) continue;
        double s[5] = {0}; static u32 h[160 * 8];
        cudaFuncSetAttribute(probe, cudaFuncAttributeMaxDynamicSharedMemorySize, 200000);
        for (int r = 1; r <= 60; r++) {
            probe<<<ctas, 128, smem ? 200000 : 0>>>(mode, r + mode * 100 + dist * 1000 + smem * 100000 + ctas * 1000000, dist, 0);
            if (cudaDeviceSynchronize() != cudaSuccess) { printf("%s\n", cudaGetErrorString(cudaGetLastError())); return 1; }
            cudaMemcpyFromSymbol(h, out, sizeof h);
            if (r > 10) for (int c = 0; c < ctas; c++) for (int j = 0; j < 5; j++) s[j] += h[c * 8 + j];
        }
        printf("smem %d mode %d dist %d ctas %d:", smem, mode, dist, ctas);
        for (int j = 0; j < 5; j++) printf(" %.1f", s[j] / 50 / ctas);
        printf("\n"); fflush(stdout);
    }
}
