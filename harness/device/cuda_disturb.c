/* cuda_disturb.c - what a timed segment finds on the GPU (probe.h, disturb): inputs that differ in one element of every
 * row and column from those of the segment before, and a spoiled C. One launch for all sets, whose addresses are copied
 * to the device first. */
#include "device/cuda_device.h"
#include "device/fill.h"
#include "device/probe.h"

#include <math.h>

#define DISTURB_THREADS 256u
#define BLOCKS_ON_AN_SM 8u

/* struct disturbed of kernels/harness/probe.cu has the same layout. */
struct disturbed {
    cu_pointer sets;
    uint64_t m, n, k, key;
    float size;
    int32_t tn, spoil;
};

/* All at once: a check of memory that is held would see more being taken later. */
static int room_for_sets(struct cuda_device *c, size_t n, struct error *err)
{
    const struct driver *cu = &c->driver;
    if (n > CUDA_DISTURB_SETS)
        return error_set(err, EXIT_CODE_INTERNAL, "%zu operand sets, at most %u can be disturbed", n,
                         CUDA_DISTURB_SETS);
    if (c->disturbed)
        return 0;
    return driver_check(cu, cu->memory_alloc(&c->disturbed, CUDA_DISTURB_SETS * sizeof(struct cudal2_operands)), err,
                        "cuMemAlloc(operand sets)");
}

void cuda_disturb_close(struct cuda_device *c)
{
    if (c->disturbed)
        c->driver.memory_free(c->disturbed);
    c->disturbed = 0;
}

static bool is_whole(enum probe_spoil spoil)
{
    return spoil == SPOIL_NAN || spoil == SPOIL_LIKELY || spoil == SPOIL_ZERO;
}

/* Blocks for each set. */
static unsigned blocks_for(const struct cuda_device *c, const struct probe_renewal *r, size_t n)
{
    const struct cudal2_problem *p = &r->problem;
    uint64_t elements = (uint64_t)p->m * (uint64_t)p->n, lines = (uint64_t)(p->m > p->n ? p->m : p->n);
    uint64_t items = is_whole(r->spoil) ? elements : elements / PROBE_SPRINKLE + 1;
    uint64_t wanted = ((items > lines ? items : lines) + DISTURB_THREADS - 1) / DISTURB_THREADS;
    uint64_t most = (uint64_t)c->base.info.sm_count * BLOCKS_ON_AN_SM / n + 1;
    return (unsigned)(wanted < most ? wanted : most);
}

int cuda_disturb(struct device *d, const struct probe_renewal *r, size_t n, struct error *err)
{
    struct cuda_device *c = cuda_of(d);
    const struct driver *cu = &c->driver;
    cu_function function;
    int rc = room_for_sets(c, n, err);
    struct disturbed disturbed = {.sets = c->disturbed,
                                  .m = (uint64_t)r->problem.m,
                                  .n = (uint64_t)r->problem.n,
                                  .k = (uint64_t)r->problem.k,
                                  .key = fill_key(r->seed),
                                  .size = sqrtf((float)r->problem.k),
                                  .tn = r->layout == CUDAL2_TN,
                                  .spoil = (int32_t)r->spoil};
    void *arguments[] = {&disturbed};
    struct cu_launch_config config = {
        .grid = {blocks_for(c, r, n), (unsigned)n, 1}, .block = {DISTURB_THREADS, 1, 1}, .stream = c->stream};
    if (rc == 0)
        rc = cuda_kernel_get(c, KERNEL_DISTURB, (int)r->problem.dtype * 2, &function, err);
    if (rc == 0)
        rc = driver_check(cu, cu->copy_in(disturbed.sets, r->operands, n * sizeof *r->operands, c->stream), err,
                          "cuMemcpyHtoDAsync(operand sets)");
    if (rc == 0)
        rc = driver_check(cu, cu->launch(&config, function, arguments, NULL), err, "cuLaunchKernelEx(disturb)");
    return rc == 0 ? cuda_stream_wait(c, err) : rc;
}
