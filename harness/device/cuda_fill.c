/* Fills on the GPU: one matrix, or all of a group in one launch. */
#include "device/cuda_device.h"
#include "device/fill.h"

#include <math.h>
#include <stdlib.h>

#define FILL_THREADS 256u

/* As kernels/harness/fill.cu has it. */
struct wanted {
    void *memory;
    uint64_t key, rows, cols;
    int32_t column_major, kind;
    uint32_t threshold, unused;
};

static struct wanted wanted_of(const struct fill_item *item)
{
    const struct fill *f = &item->fill;
    /* unit < density for unit = i * 2^-24 is i < ceil(density * 2^24), exactly. */
    double scaled = ceil(fmin(fmax(f->density, 0.0), 1.0) * 0x1p24);
    return (struct wanted){.memory = item->memory,
                           .key = fill_key(f->seed),
                           .rows = (uint64_t)f->rows,
                           .cols = (uint64_t)f->cols,
                           .column_major = f->column_major,
                           .kind = (int32_t)f->kind,
                           .threshold = (uint32_t)scaled};
}

/* What threads have to do, one of which makes 16 bytes at a time. */
static uint64_t items_of(const struct fill *f)
{
    return ((uint64_t)f->rows * (uint64_t)f->cols + 7) / (f->dtype == CUDAL2_F32 ? 4 : 8) + 1;
}

int cuda_fill(struct device *d, void *memory, const struct fill *fill, struct error *err)
{
    struct cuda_device *c = cuda_of(d);
    cu_function function;
    const struct fill_item item = {memory, *fill};
    struct wanted wanted = wanted_of(&item);
    void *arguments[] = {&wanted};
    if (wanted.rows == 0 || wanted.cols == 0)
        return 0;
    int rc = cuda_kernel_get(c, KERNEL_FILL, (int)fill->dtype * 2, &function, err);
    return rc == 0 ? cuda_kernel_run(c, function, cuda_grid_for(c, items_of(fill), FILL_THREADS), FILL_THREADS,
                                     arguments, err)
                   : rc;
}

static int room_for_list(struct cuda_device *c, size_t n, struct error *err)
{
    const struct driver *cu = &c->driver;
    if (c->fills.n >= n)
        return 0;
    if (c->fills.list)
        cu->memory_free(c->fills.list);
    c->fills.list = 0;
    c->fills.n = 0;
    int rc = driver_check(cu, cu->memory_alloc(&c->fills.list, n * sizeof(struct wanted)), err,
                          "cuMemAlloc(a list of %zu fills)", n);
    if (rc == 0)
        c->fills.n = n;
    return rc;
}

/* Blocks for each of n, after the largest. */
static uint32_t parts_for(const struct cuda_device *c, const struct fill_item *items, size_t n)
{
    uint64_t largest = 0;
    for (size_t i = 0; i < n; i++)
        largest = items_of(&items[i].fill) > largest ? items_of(&items[i].fill) : largest;
    uint64_t wanted = (largest + FILL_THREADS - 1) / FILL_THREADS;
    uint64_t most = cuda_grid_for(c, UINT64_MAX / 2, FILL_THREADS) / n;
    return (uint32_t)(most < 1 ? 1 : wanted < most ? wanted : most);
}

/* The list is copied before the call returns: memory that is not page-locked is staged. */
static int run_list(struct cuda_device *c, const struct wanted *list, size_t n, enum cudal2_dtype dtype, uint32_t parts,
                    struct error *err)
{
    cu_function function;
    void *arguments[] = {&c->fills.list, &parts};
    int rc = cuda_kernel_get(c, KERNEL_FILL_MANY, (int)dtype * 2, &function, err);
    if (rc == 0)
        rc = driver_check(&c->driver, c->driver.copy_in(c->fills.list, list, n * sizeof *list, c->stream), err,
                          "cuMemcpyHtoDAsync(%zu fills)", n);
    return rc == 0 ? cuda_kernel_run(c, function, (unsigned)n * parts, FILL_THREADS, arguments, err) : rc;
}

int cuda_fill_many(struct device *d, const struct fill_item *items, size_t n, struct error *err)
{
    struct cuda_device *c = cuda_of(d);
    struct wanted *list = calloc(n + 1, sizeof *list);
    if (!list)
        return error_set(err, EXIT_CODE_INTERNAL, "no memory for a list of %zu fills", n);
    for (size_t i = 0; i < n; i++)
        list[i] = wanted_of(&items[i]);
    int rc = room_for_list(c, n, err);
    if (rc == 0 && n > 0)
        rc = run_list(c, list, n, items[0].fill.dtype, parts_for(c, items, n), err);
    free(list);
    return rc;
}

void cuda_fills_close(struct cuda_device *c)
{
    if (c->fills.list)
        c->driver.memory_free(c->fills.list);
}
