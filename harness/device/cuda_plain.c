/*
 * cuda_plain.c - the plain kernel of a chain on the GPU (device_ops.plain), launched as any library launches one: in
 * the stream, without attributes. Relies on kernels/harness/plain.cu. Called through device.h by measure/chain.c.
 */
#include "device/cuda_device.h"
#include "device/host_plain.h"

#include <stdio.h>

#define PLAIN_THREADS 256u

/* struct step of kernels/harness/plain.cu has the same layout. */
struct step {
    const void *c, *bias;
    void *out;
    uint64_t m, n, k;
    cu_pointer differing;
    float scale;
};

static int run(struct cuda_device *c, enum harness_kernel kernel, const struct device_plain *plain, struct error *err)
{
    const struct cudal2_problem *p = &plain->problem;
    struct step step = {.c = plain->c,
                        .bias = plain->bias,
                        .out = plain->out,
                        .m = (uint64_t)p->m,
                        .n = (uint64_t)p->n,
                        .k = (uint64_t)p->k,
                        .differing = c->plain_count,
                        .scale = plain_scale(p)};
    void *arguments[] = {&step};
    cu_function function;
    uint64_t lane = 16 / dtype_bytes(p->dtype), items = (step.m * step.k + lane - 1) / lane;
    int rc = cuda_kernel_get(c, kernel, (int)p->dtype * 2, &function, err);
    return rc == 0 ? cuda_kernel_run(c, function, cuda_grid_for(c, items, PLAIN_THREADS), PLAIN_THREADS, arguments, err)
                   : rc;
}

int cuda_plain(struct device *d, const struct device_plain *plain, char *why)
{
    struct error err;
    if (run(cuda_of(d), KERNEL_PLAIN, plain, &err) == 0)
        return CUDAL2_OK;
    snprintf(why, CUDAL2_WHY, "%.*s", (int)CUDAL2_WHY - 1, err.text);
    return CUDAL2_LIBRARY_ERROR;
}

int cuda_plain_differs(struct device *d, const struct device_plain *plain, uint64_t *elements, struct error *err)
{
    struct cuda_device *c = cuda_of(d);
    const struct driver *cu = &c->driver;
    int rc = 0;
    *elements = 0;
    if (!c->plain_count)
        rc = driver_check(cu, cu->memory_alloc(&c->plain_count, sizeof *elements), err, "cuMemAlloc(counter)");
    if (rc == 0)
        rc = driver_check(cu, cu->memset8(c->plain_count, 0, sizeof *elements, c->stream), err,
                          "cuMemsetD8Async(counter)");
    if (rc == 0)
        rc = run(c, KERNEL_PLAIN_DIFFERS, plain, err);
    if (rc == 0)
        rc = driver_check(cu, cu->copy_out(elements, c->plain_count, sizeof *elements, c->stream), err,
                          "cuMemcpyDtoHAsync(counter)");
    return rc == 0 ? cuda_stream_wait(c, err) : rc;
}

void cuda_plain_close(struct cuda_device *c)
{
    if (c->plain_count)
        c->driver.memory_free(c->plain_count);
    c->plain_count = 0;
}
