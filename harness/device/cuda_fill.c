/* Fills on the GPU: one matrix, or all of a group in one launch that makes what several hold only once. */
#include "device/cuda_device.h"
#include "device/fill.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FILL_THREADS 256u

/* As kernels/harness/fill.cu has it. */
struct wanted {
    const void *to; /* the matrix, or in the device's memory the first of `copies` addresses */
    uint64_t key, rows, cols;
    int32_t column_major, kind;
    uint32_t threshold, copies;
};

/* A launch's list: what is wanted, then the addresses, `bytes` in all. */
struct fill_list {
    struct fill_item *items; /* sorted by content; owned */
    struct wanted *wanted;   /* owned */
    const void **addresses;  /* behind room for a wanted of each item */
    size_t n, bytes;
    uint64_t most; /* 16-byte pieces of the largest */
};

static struct wanted wanted_of(const struct fill_item *item)
{
    const struct fill *f = &item->fill;
    /* unit < density for unit = i * 2^-24 is i < ceil(density * 2^24), exactly. */
    double scaled = ceil(fmin(fmax(f->density, 0.0), 1.0) * 0x1p24);
    return (struct wanted){.to = item->memory,
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

/* By content: two that are equal here hold the same. */
static int compare_contents(const void *a, const void *b)
{
    const struct fill *x = &((const struct fill_item *)a)->fill, *y = &((const struct fill_item *)b)->fill;
    if (x->seed != y->seed)
        return x->seed < y->seed ? -1 : 1;
    if (x->rows != y->rows)
        return x->rows < y->rows ? -1 : 1;
    if (x->cols != y->cols)
        return x->cols < y->cols ? -1 : 1;
    if (x->column_major != y->column_major)
        return x->column_major ? 1 : -1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return (x->density > y->density) - (x->density < y->density);
}

static void close_list(struct fill_list *list)
{
    free(list->items);
    free(list->wanted);
}

static int open_list(const struct fill_item *items, size_t n, struct fill_list *list, struct error *err)
{
    *list = (struct fill_list){.bytes = n * (sizeof *list->wanted + sizeof *list->addresses)};
    list->items = malloc(n * sizeof *items);
    list->wanted = calloc(1, list->bytes);
    if (!list->items || !list->wanted) {
        close_list(list);
        return error_set(err, EXIT_CODE_INTERNAL, "no memory for a list of %zu fills", n);
    }
    list->addresses = (const void **)(list->wanted + n);
    memcpy(list->items, items, n * sizeof *items);
    return 0;
}

/* The list will lie at `base` of the device's memory. */
static void make_list(struct fill_list *list, size_t n, cu_pointer base)
{
    const struct fill_item *items = list->items;
    qsort(list->items, n, sizeof *items, compare_contents);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || compare_contents(&items[i - 1], &items[i]) != 0) {
            struct wanted *w = &list->wanted[list->n++];
            *w = wanted_of(&items[i]);
            w->to = (const void *)(uintptr_t)(base + n * sizeof *w + i * sizeof *list->addresses);
            list->most = items_of(&items[i].fill) > list->most ? items_of(&items[i].fill) : list->most;
        }
        list->wanted[list->n - 1].copies++;
        list->addresses[i] = items[i].memory;
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
        make_list(&list, n, c->fills.list);
        rc = run_list(c, &list, items[0].fill.dtype, err);
    }
    close_list(&list);
    return rc;
}

void cuda_fills_close(struct cuda_device *c)
{
    if (c->fills.list)
        c->driver.memory_free(c->fills.list);
}
