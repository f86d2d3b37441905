/*
 * cuda_disturb.c - what a timed segment finds on the GPU (probe.h, disturb): inputs that differ in one element of every
 * row and column from those of the segment before, and a spoiled C. One launch for all sets, whose addresses are copied
 * to the device first. And what a launch within a segment finds (upset), which can be captured. Relies on
 * cuda_kernels.c. Called by cuda_probe.c.
 */
#include "device/cuda_device.h"
#include "device/fill.h"
#include "device/probe.h"

#include <math.h>
#include <stdio.h>

#define DISTURB_THREADS 256u
#define BLOCKS_ON_AN_SM 8u

/* struct disturbed of kernels/harness/probe.cu has the same layout. */
struct disturbed {
    cu_pointer sets;
    uint64_t m, n, k, key, stretch;
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
    if (c->upsets.memory)
        c->driver.memory_free(c->upsets.memory);
    c->upsets.memory = 0;
}

/* One element of each is spoiled and the rest of C left as it lies; 0: all of C is written, whatever the kind. */
static uint64_t stretch_of(const struct probe_renewal *r)
{
    uint64_t elements = (uint64_t)r->problem.m * (uint64_t)r->problem.n, sparse = elements / PROBE_SPARSE;
    if (!r->sparse)
        return 0;
    return sparse > PROBE_SPRINKLE ? sparse : PROBE_SPRINKLE;
}

/* Blocks for each set: the same for every kind. A thread writes 16 bytes of C at a time. */
static unsigned blocks_for(const struct cuda_device *c, const struct probe_renewal *r, size_t n)
{
    const struct cudal2_problem *p = &r->problem;
    uint64_t elements = (uint64_t)p->m * (uint64_t)p->n, lines = (uint64_t)(p->m > p->n ? p->m : p->n);
    uint64_t each = r->sparse ? stretch_of(r) : 16 / dtype_bytes(p->dtype), items = elements / each + 1;
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
                                  .stretch = stretch_of(r),
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

/* ---- between two launches ---- */

/* struct upset_set of kernels/harness/probe.cu has the same layout. */
struct upset {
    const void *a, *b, *c;
    cu_pointer put;
    uint64_t m, n, k, key, lines;
    cu_pointer kept;
    float size;
    int32_t tn, spoil;
};

static uint64_t stretches_of(const struct cudal2_problem *p)
{
    return ((uint64_t)(p->m * p->n) + PROBE_SPRINKLE - 1) / PROBE_SPRINKLE;
}

/* The counter, and behind it what the latest upset has put into C. */
static int room_for_upset(struct cuda_device *c, const struct cudal2_problem *p, struct error *err)
{
    const struct driver *cu = &c->driver;
    size_t bytes = (size_t)cuda_probe_room(sizeof(uint64_t) + stretches_of(p) * dtype_bytes(p->dtype));
    if (c->upsets.bytes >= bytes)
        return 0;
    if (c->upsets.memory)
        cu->memory_free(c->upsets.memory);
    c->upsets.memory = 0;
    c->upsets.bytes = 0;
    int rc =
        driver_check(cu, cu->memory_alloc(&c->upsets.memory, bytes), err, "cuMemAlloc(%zu bytes of an upset)", bytes);
    if (rc == 0)
        rc = driver_check(cu, cu->memset8(c->upsets.memory, 0, sizeof(uint64_t), c->stream), err,
                          "cuMemsetD8Async(counter)");
    if (rc == 0)
        c->upsets.bytes = bytes;
    return rc == 0 ? cuda_stream_wait(c, err) : rc;
}

static struct upset upset_of(const struct cuda_device *c, const struct probe_upset *u)
{
    return (struct upset){.a = u->operands->a,
                          .b = u->operands->b,
                          .c = u->operands->c,
                          .put = c->upsets.memory + sizeof(uint64_t),
                          .m = (uint64_t)u->problem.m,
                          .n = (uint64_t)u->problem.n,
                          .k = (uint64_t)u->problem.k,
                          .key = fill_key(u->seed),
                          .lines = u->lines,
                          .kept = c->upsets.memory,
                          .size = sqrtf((float)u->problem.k),
                          .tn = u->layout == CUDAL2_TN,
                          .spoil = (int32_t)u->spoil};
}

/* Few blocks: it lies between two launches, and the less it takes, the less it tells. */
static int run_upset(struct cuda_device *c, enum harness_kernel kernel, const struct probe_upset *u, struct error *err)
{
    cu_function function;
    int rc = room_for_upset(c, &u->problem, err);
    struct upset upset = upset_of(c, u);
    void *arguments[] = {&upset};
    uint64_t stretches = stretches_of(&u->problem), most = (uint64_t)c->base.info.sm_count * BLOCKS_ON_AN_SM;
    uint64_t lines =
        u->lines > 0 ? (uint64_t)(u->problem.m > u->problem.n ? u->problem.m : u->problem.n) / u->lines : 0;
    uint64_t wanted = ((stretches > lines ? stretches : lines) + DISTURB_THREADS) / DISTURB_THREADS;
    if (rc == 0)
        rc = cuda_kernel_get(c, kernel, (int)u->problem.dtype * 2, &function, err);
    return rc == 0 ? cuda_kernel_run(c, function, (unsigned)(wanted < most ? wanted : most), DISTURB_THREADS, arguments,
                                     err)
                   : rc;
}

static int say(int rc, const struct error *err, char *why)
{
    if (rc == 0)
        return CUDAL2_OK;
    snprintf(why, CUDAL2_WHY, "%.*s", (int)CUDAL2_WHY - 1, err->text);
    return CUDAL2_LIBRARY_ERROR;
}

int cuda_upset(struct device *d, const struct probe_upset *u, char *why)
{
    struct error err;
    return say(run_upset(cuda_of(d), KERNEL_UPSET, u, &err), &err, why);
}

int cuda_count_kept(struct device *d, const struct probe_upset *u, char *why)
{
    struct error err;
    if (u->spoil == SPOIL_NONE)
        return CUDAL2_OK;
    return say(run_upset(cuda_of(d), KERNEL_COUNT_KEPT, u, &err), &err, why);
}

int cuda_read_kept(struct device *d, uint64_t *kept, struct error *err)
{
    struct cuda_device *c = cuda_of(d);
    const struct driver *cu = &c->driver;
    *kept = 0;
    if (!c->upsets.memory)
        return 0;
    int rc = driver_check(cu, cu->copy_out(kept, c->upsets.memory, sizeof *kept, c->stream), err,
                          "cuMemcpyDtoHAsync(counter)");
    if (rc == 0)
        rc = driver_check(cu, cu->memset8(c->upsets.memory, 0, sizeof *kept, c->stream), err,
                          "cuMemsetD8Async(counter)");
    return rc == 0 ? cuda_stream_wait(c, err) : rc;
}
