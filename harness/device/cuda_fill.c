/*
 * cuda_fill.c - fills on the GPU: one matrix, or all of a group in one launch that makes what several hold only once.
 * Relies on cuda_kernels.c. Called by cuda.c.
 */
#include "device/cuda_device.h"
#include "device/fill.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define FILL_THREADS 256u

/* As kernels/harness/fill.cu has it. */
struct precompile_list {
    const void *to; /* the matrix, or in the device's memory the first of `copies` addresses */
    uint64_t key, rows, cols;
    int32_t column_major, kind;
    uint32_t threshold, copies;
};

/* A launch's list: what is wanted, then the addresses, `bytes` in all. */
struct fill_list {
    struct precompile_list *wanted; /* owned */
    const void **addresses;         /* behind room for a wanted of each item */
    size_t n, bytes;
    uint64_t most; /* 16-byte pieces of the largest */
};

static struct precompile_list wanted_of(const struct fill_item *item)
{
    const struct fill *f = &item->fill;
    /* unit < density for unit = i * 2^-24 is i < ceil(density * 2^24), exactly. */
    double scaled = ceil(fmin(fmax(f->density, 0.0), 1.0) * 0x1p24);
    return (struct precompile_list){.to = item->memory,
                                    .key = fill_key(f->seed),
                                    .rows = (uint64_t)f->rows,
                                    .cols = (uint64_t)f->cols,
                                    .column_major = f->column_major,
                                    .kind = (int32_t)(f->kind > FILL_POISON ? FILL_NORMAL : f->kind),
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
    struct precompile_list wanted = wanted_of(&item);
    void *arguments[] = {&wanted};
    if (wanted.rows == 0 || wanted.cols == 0)
        return 0;
    int rc = cuda_kernel_get(c, KERNEL_FILL, (int)fill->dtype * 2, &function, err);
    return rc == 0 ? cuda_kernel_run(c, function, cuda_grid_for(c, items_of(fill), FILL_THREADS), FILL_THREADS,
                                     arguments, err)
                   : rc;
}

/* What lies between the address and the count says it all. */
static int by_content(const void *a, const void *b)
{
    size_t from = offsetof(struct precompile_list, key), to = offsetof(struct precompile_list, copies);
    return memcmp((const char *)a + from, (const char *)b + from, to - from);
}

/* Each item by itself, sorted by content. */
static int open_list(const struct fill_item *items, size_t n, struct fill_list *list, struct error *err)
{
    *list = (struct fill_list){.bytes = n * (sizeof *list->wanted + sizeof *list->addresses)};
    list->wanted = calloc(1, list->bytes);
    if (!list->wanted)
        return error_set(err, EXIT_CODE_INTERNAL, "no memory for a list of %zu fills", n);
    list->addresses = (const void **)(list->wanted + n);
    for (size_t i = 0; i < n; i++) {
        list->wanted[i] = wanted_of(&items[i]);
        list->most = items_of(&items[i].fill) > list->most ? items_of(&items[i].fill) : list->most;
    }
    qsort(list->wanted, n, sizeof *list->wanted, by_content);
    return 0;
}

/* One entry for each content, with its addresses. The list will lie at `base` of the device's memory. */
static void join_list(struct fill_list *list, size_t n, cu_pointer base)
{
    struct precompile_list *last = NULL;
    for (size_t i = 0; i < n; i++) {
        const struct precompile_list one = list->wanted[i];
        list->addresses[i] = one.to;
        if (last == NULL || by_content(&one, last) != 0) {
            last = &list->wanted[list->n++];
            *last = one;
            last->to = (const void *)(uintptr_t)(base + n * sizeof one + i * sizeof one.to);
        }
        last->copies++;
    }
}

static int room_for_list(struct cuda_device *c, size_t bytes, struct error *err)
{
    const struct driver *cu = &c->driver;
    if (c->fills.bytes >= bytes)
        return 0;
    if (c->fills.list)
        cu->memory_free(c->fills.list);
    c->fills.list = 0;
    c->fills.bytes = 0;
    int rc =
        driver_check(cu, cu->memory_alloc(&c->fills.list, bytes), err, "cuMemAlloc(a list of fills, %zu bytes)", bytes);
    if (rc == 0)
        c->fills.bytes = bytes;
    return rc;
}

/* Blocks for each of the list, after the largest. */
static uint32_t parts_for(const struct cuda_device *c, const struct fill_list *list)
{
    uint64_t wanted = (list->most + FILL_THREADS - 1) / FILL_THREADS;
    uint64_t most = cuda_grid_for(c, UINT64_MAX / 2, FILL_THREADS) / list->n;
    return (uint32_t)(most < 1 ? 1 : wanted < most ? wanted : most);
}

/* The list is copied before the call returns: memory that is not page-locked is staged. */
static int run_list(struct cuda_device *c, const struct fill_list *list, enum cudal2_dtype dtype, struct error *err)
{
    cu_function function;
    uint32_t parts = parts_for(c, list);
    void *arguments[] = {&c->fills.list, &parts};
    int rc = cuda_kernel_get(c, KERNEL_FILL_MANY, (int)dtype * 2, &function, err);
    if (rc == 0)
        rc = driver_check(&c->driver, c->driver.copy_in(c->fills.list, list->wanted, list->bytes, c->stream), err,
                          "cuMemcpyHtoDAsync(a list of fills)");
    return rc == 0 ? cuda_kernel_run(c, function, (unsigned)list->n * parts, FILL_THREADS, arguments, err) : rc;
}

int cuda_fill_many(struct device *d, const struct fill_item *items, size_t n, struct error *err)
{
    struct cuda_device *c = cuda_of(d);
    struct fill_list list;
    if (n == 0)
        return 0;
    int rc = open_list(items, n, &list, err);
    if (rc != 0)
        return rc;
    rc = room_for_list(c, list.bytes, err);
    if (rc == 0) {
        join_list(&list, n, c->fills.list);
        rc = run_list(c, &list, items[0].fill.dtype, err);
    }
    free(list.wanted);
    return rc;
}

void cuda_fills_close(struct cuda_device *c)
{
    if (c->fills.list)
        c->driver.memory_free(c->fills.list);
}
