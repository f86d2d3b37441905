/* dry.cu: cycles that a stage takes a consumer of kernels/persistent.cu when stages are always there: the producer copies nothing.
 * Compiled like the kernels, fp32, one CTA: nvcc -gencode arch=compute_90a,code=sm_90a -cubin -I kernels -include kernels/harness/prelude.cuh, the parameters
 * as -D (STAGES 8 with one consumer, 6 with two, half of it with DEEP 2; EPILOGUE 2 with one consumer), SHARED_BYTES 100000. */
#include "persistent.cu"

extern "C" __global__ void __launch_bounds__(THREADS, 1) dry(int stages, int begin, long long *cycles, float *sink)
{
    extern __shared__ __align__(1024) unsigned char smem[];
    const int warp = __shfl_sync(~0u, (int)(threadIdx.x / 32), 0);
    struct work w;
    accumulator acc;
    lay_out(w, (shared_address(smem) + 1023) & ~1023u);
    w.k_begin = begin, w.k_end = begin + stages;
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; ++s) {
            barrier_init(w.full + s * 8, 1);
            barrier_init(w.empty + s * 8, USERS * 4);
        }
        barrier_init_fence();
    }
    __syncthreads();
    if (warp >= CONSUMERS * 4) {
        if (warp == CONSUMERS * 4 && elect_one()) {
            struct ring r = {0, 1};
            for (int k = 0; k < stages; ++k) {
                barrier_wait(w.empty + r.stage * 8, r.parity);
                barrier_arrive(w.full + r.stage * 8);
                advance(r);
            }
        }
    } else {
        const int group = warp / 4;
        const u32 own = PINGPONG ? 0 : group * ROWS * 128;
        struct ring r = {0, 0};
        w.left = wgmma_descriptor_low((ACROSS ? w.stages_b : w.stages_a) + own, 16);
        w.right = wgmma_descriptor_low(ACROSS ? w.stages_a : w.stages_b, WG_RIGHT_TRANSPOSED ? BOX_BYTES : 16);
        for (int i = 0; i < MI; ++i)
            for (int j = 0; j < WG_REGISTERS; ++j)
                acc[i][j] = 0;
        long long t0 = clock64();
        const int last = multiply_tile(w, acc, r);
        wgmma_wait<0>();
        long long t1 = clock64();
        release(w, last);
        float sum = 0;
        for (int i = 0; i < MI; ++i)
            for (int j = 0; j < WG_REGISTERS; ++j)
                sum += (float)acc[i][j];
        sink[threadIdx.x] = sum;
        if (threadIdx.x == 0)
            *cycles = t1 - t0;
    }
}
