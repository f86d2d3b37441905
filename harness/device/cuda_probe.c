/*
 * cuda_probe.c - probes of a GPU (probe.h): kernels of kernels/harness/probe.cu and product.cu, a second stream that
 * sees while the first is held, and the process-wide state that a contender may change. Relies on cuda_kernels.c.
 * Called by cuda.c, which hands out their table.
 */
#include "device/cuda_device.h"
#include "device/host_state.h"
#include "base/clock.h"
#include "device/probe.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROBE_THREADS 256u
/* Blocks that multiply a column-major B, about; each has at least so many rows of its memory. */
#define COLUMN_BLOCKS 1024u
#define COLUMN_SLICES 32u
#define COLUMN_ROWS 8u
/* From so many rows on a warp has one, below them a block. */
#define WARP_ROWS 4096u
/* A launch that takes longer than this on the host waits for the stream, and nothing can be told. */
#define HOLD_LIMIT_NS 30000000u

struct probe_launch {
    enum harness_kernel kernel;
    enum cudal2_dtype dtype;
    uint64_t blocks;
    void **arguments;
    cu_stream stream;
};

static int run_on(struct cuda_device *c, const struct probe_launch *l, struct error *err)
{
    cu_function function;
    struct cu_launch_config config = {
        .grid = {(unsigned)l->blocks, 1, 1}, .block = {PROBE_THREADS, 1, 1}, .stream = l->stream};
    if (l->blocks == 0)
        return 0;
    if (l->blocks > INT32_MAX)
        return error_set(err, EXIT_CODE_INTERNAL, "a probe of more than 2^31 blocks");
    if (cuda_kernel_get(c, l->kernel, (int)l->dtype * 2, &function, err) != 0)
        return err->code;
    return driver_check(&c->driver, c->driver.launch(&config, function, l->arguments, NULL), err,
                        "cuLaunchKernelEx(probe, %u blocks)", config.grid[0]);
}

static uint64_t blocks_for(uint64_t items)
{
    return (items + PROBE_THREADS - 1) / PROBE_THREADS;
}

/* ---- memory of the probes' own ---- */

/* A region and the blocks that share it; struct region of kernels/harness/probe.cu has the same layout. */
struct placed {
    struct probe_region region;
    uint32_t first, parts;
};

/* What a product's kernels add to: the squares of x, and a difference as kernels/harness/product.cu has it. */
struct found {
    double squares;
    struct probe_difference difference;
};

/* Lies on the device: regions and digests of a call, the NaN counter, and what a product adds to. */
struct desk {
    struct placed regions[PROBE_MAX_REGIONS];
    uint64_t digests[PROBE_MAX_REGIONS];
    uint64_t nans;
    struct found found;
};

static cu_pointer on_desk(const struct cuda_device *c, size_t offset)
{
    return c->probes.desk + offset;
}

static int open_probes(struct cuda_device *c, struct error *err)
{
    const struct driver *cu = &c->driver;
    if (c->probes.desk)
        return 0;
    int rc = driver_check(cu, cu->memory_alloc(&c->probes.desk, sizeof(struct desk)), err, "cuMemAlloc(probes)");
    if (rc == 0)
        rc = driver_check(cu, cu->memset8(on_desk(c, offsetof(struct desk, nans)), 0, sizeof(uint64_t), c->stream), err,
                          "cuMemsetD8Async(counter)");
    return rc == 0 ? cuda_stream_wait(c, err) : rc;
}

void cuda_probes_close(struct cuda_device *c)
{
    if (c->probes.vectors)
        c->driver.memory_free(c->probes.vectors);
    if (c->probes.desk)
        c->driver.memory_free(c->probes.desk);
}

/* Room for x and y. */
static int room_for_vectors(struct cuda_device *c, uint64_t least, struct error *err)
{
    uint64_t doubles = cuda_probe_room(least * sizeof(double)) / sizeof(double);
    if (c->probes.n_doubles >= least)
        return 0;
    if (c->probes.vectors)
        c->driver.memory_free(c->probes.vectors);
    c->probes.vectors = 0;
    c->probes.n_doubles = 0;
    int rc = driver_check(&c->driver, c->driver.memory_alloc(&c->probes.vectors, doubles * sizeof(double)), err,
                          "cuMemAlloc(%llu doubles to check a product)", (unsigned long long)doubles);
    if (rc == 0)
        c->probes.n_doubles = doubles;
    return rc;
}

/* ---- regions ---- */

/* Blocks that share a region: enough to read it at the speed of the memory. All of them together fill the GPU twice at
 * most, and each region has its share of them: a guard is some KiB, a matrix may be hundreds of MiB. */
#define BYTES_OF_A_PART (32u << 10)
#define PARTS_ON_AN_SM 16u

static uint32_t place_regions(const struct cuda_device *c, const struct probe_region *regions, size_t n,
                              struct placed *out)
{
    double most = (double)c->base.info.sm_count * PARTS_ON_AN_SM, all = 0;
    uint32_t blocks = 0;
    for (size_t i = 0; i < n; i++)
        all += (double)regions[i].bytes;
    for (size_t i = 0; i < n; i++) {
        double wanted = floor((double)regions[i].bytes / BYTES_OF_A_PART) + 1;
        double share = all > 0 ? ceil(most * (double)regions[i].bytes / all) : 1;
        out[i] = (struct placed){regions[i], blocks, (uint32_t)fmax(1, fmin(wanted, share))};
        blocks += out[i].parts;
    }
    return blocks;
}

/* *blocks: of all. */
static int put_regions(struct cuda_device *c, const struct probe_region *regions, size_t n, cu_stream stream,
                       uint32_t *blocks, struct error *err)
{
    if (n > PROBE_MAX_REGIONS)
        return error_set(err, EXIT_CODE_INTERNAL, "%zu regions, at most %u can be looked at", n, PROBE_MAX_REGIONS);
    if (open_probes(c, err) != 0)
        return err->code;
    struct placed *placed = calloc(n + 1, sizeof *placed);
    if (!placed)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for %zu regions", n);
    *blocks = place_regions(c, regions, n, placed);
    int rc = driver_check(
        &c->driver, c->driver.copy_in(on_desk(c, offsetof(struct desk, regions)), placed, n * sizeof *placed, stream),
        err, "cuMemcpyHtoDAsync(regions)");
    free(placed); /* memory that is not page-locked is staged */
    return rc;
}

static int digest_on(struct cuda_device *c, const struct probe_region *regions, size_t n, uint64_t *out,
                     cu_stream stream, struct error *err)
{
    const struct driver *cu = &c->driver;
    uint32_t blocks, count = (uint32_t)n;
    if (put_regions(c, regions, n, stream, &blocks, err) != 0)
        return err->code;
    cu_pointer from = on_desk(c, offsetof(struct desk, regions)), to = on_desk(c, offsetof(struct desk, digests));
    void *arguments[] = {&from, &count, &to};
    const struct probe_launch launch = {KERNEL_DIGEST, CUDAL2_F16, blocks, arguments, stream};
    int rc = driver_check(cu, cu->memset8(to, 0, n * sizeof *out, stream), err, "cuMemsetD8Async(digests)");
    if (rc == 0)
        rc = run_on(c, &launch, err);
    if (rc == 0)
        rc = driver_check(cu, cu->copy_out(out, to, n * sizeof *out, stream), err, "cuMemcpyDtoHAsync(digests)");
    return rc == 0 ? driver_check(cu, cu->stream_sync(stream), err, "cuStreamSynchronize(digest)") : rc;
}

static int cuda_digest(struct device *d, const struct probe_region *regions, size_t n, uint64_t *out, struct error *err)
{
    struct cuda_device *c = cuda_of(d);
    return digest_on(c, regions, n, out, c->stream, err);
}

static int cuda_pattern(struct device *d, const struct probe_region *regions, size_t n, unsigned char byte,
                        struct error *err)
{
    struct cuda_device *c = cuda_of(d);
    uint32_t value = byte, blocks, count = (uint32_t)n;
    if (put_regions(c, regions, n, c->stream, &blocks, err) != 0)
        return err->code;
    cu_pointer from = on_desk(c, offsetof(struct desk, regions));
    void *arguments[] = {&from, &count, &value};
    const struct probe_launch launch = {KERNEL_PATTERN, CUDAL2_F16, blocks, arguments, c->stream};
    return run_on(c, &launch, err);
}

/* ---- the product ---- */

struct vectors {
    cu_pointer x, y;
    uint64_t m, n, k, key;
};

/* Threads that share a row, and blocks for all rows. */
static uint32_t lanes_for(uint64_t rows)
{
    return rows < WARP_ROWS ? PROBE_THREADS : 32;
}

static uint64_t blocks_of_rows(uint64_t rows)
{
    return (rows * lanes_for(rows) + PROBE_THREADS - 1) / PROBE_THREADS;
}

/* Blocks that share the rows of B's memory, where so many lie beside each other. */
static uint32_t slices_for(uint64_t beside, uint64_t rows)
{
    uint64_t wanted = COLUMN_BLOCKS / beside, most = rows / COLUMN_ROWS;
    wanted = wanted < most ? wanted : most;
    return (uint32_t)(wanted > COLUMN_SLICES ? wanted : COLUMN_SLICES);
}

static int multiply_columns(struct cuda_device *c, const struct probe_product *p, struct vectors *v, struct error *err)
{
    const void *b = p->operands->b;
    uint32_t width = v->k % 2 == 0 && (uintptr_t)b % (2 * dtype_bytes(p->problem.dtype)) == 0 ? 2 : 1;
    uint64_t beside = blocks_for(v->k / width);
    uint32_t slices = slices_for(beside, v->n);
    void *arguments[] = {&b, &v->x, &v->y, &v->n, &v->k, &slices, &width};
    const struct probe_launch launch = {KERNEL_COLUMNS_TIMES, p->problem.dtype, beside * slices, arguments, c->stream};
    int rc = driver_check(&c->driver, c->driver.memset8(v->y, 0, v->k * sizeof(double), c->stream), err,
                          "cuMemsetD8Async(y)");
    return rc == 0 ? run_on(c, &launch, err) : rc;
}

static int multiply_rows(struct cuda_device *c, const struct probe_product *p, struct vectors *v, struct error *err)
{
    const void *b = p->operands->b;
    uint32_t lanes = lanes_for(v->k);
    void *arguments[] = {&b, &v->x, &v->y, &v->n, &v->k, &lanes};
    const struct probe_launch launch = {KERNEL_ROWS_TIMES, p->problem.dtype, blocks_of_rows(v->k), arguments,
                                        c->stream};
    return run_on(c, &launch, err);
}

/* struct judged of kernels/harness/product.cu has the same layout. */
struct judged {
    const void *a, *c;
    cu_pointer x, y;
    uint64_t m, n, k, lanes;
    cu_pointer squares;
    double floor;
    cu_pointer out;
};

static int compare_rows(struct cuda_device *c, const struct probe_product *p, const struct vectors *v,
                        struct probe_difference *out, struct error *err)
{
    const struct driver *cu = &c->driver;
    cu_pointer found = on_desk(c, offsetof(struct desk, found)), to = found + offsetof(struct found, difference);
    struct judged judged = {.a = p->operands->a,
                            .c = p->operands->c,
                            .x = v->x,
                            .y = v->y,
                            .m = v->m,
                            .n = v->n,
                            .k = v->k,
                            .lanes = lanes_for(v->m),
                            .squares = found,
                            .floor = p->floor,
                            .out = to};
    void *arguments[] = {&judged};
    const struct probe_launch launch = {KERNEL_COMPARE_ROWS, p->problem.dtype, blocks_of_rows(v->m), arguments,
                                        c->stream};
    int rc = run_on(c, &launch, err);
    if (rc == 0)
        rc = driver_check(cu, cu->copy_out(out, to, sizeof *out, c->stream), err, "cuMemcpyDtoHAsync(difference)");
    rc = rc == 0 ? cuda_stream_wait(c, err) : rc;
    out->first_row = ~out->first_row; /* the kernels keep the largest of that */
    return rc;
}

static int draw_samples(struct cuda_device *c, const struct vectors *v, enum cudal2_dtype dtype, struct error *err)
{
    struct vectors drawn = *v;
    cu_pointer found = on_desk(c, offsetof(struct desk, found));
    void *arguments[] = {&drawn.x, &drawn.n, &drawn.key, &found};
    const struct probe_launch launch = {KERNEL_SAMPLES, dtype, blocks_for(v->n), arguments, c->stream};
    int rc = driver_check(&c->driver, c->driver.memset8(found, 0, sizeof(struct found), c->stream), err,
                          "cuMemsetD8Async(what is found)");
    return rc == 0 ? run_on(c, &launch, err) : rc;
}

static int cuda_product(struct device *d, const struct probe_product *product, struct probe_difference *out,
                        struct error *err)
{
    struct cuda_device *c = cuda_of(d);
    const struct cudal2_problem *p = &product->problem;
    struct vectors v = {.m = (uint64_t)p->m, .n = (uint64_t)p->n, .k = (uint64_t)p->k, .key = fill_key(product->seed)};
    *out = (struct probe_difference){0};
    int rc = open_probes(c, err);
    if (rc == 0)
        rc = room_for_vectors(c, v.n + v.k + 1, err);
    v.x = c->probes.vectors;
    v.y = v.x + (v.n + v.n % 2) * sizeof(double); /* two at a time are read */
    if (rc == 0)
        rc = draw_samples(c, &v, p->dtype, err);
    if (rc == 0)
        rc = product->layout == CUDAL2_TN ? multiply_columns(c, product, &v, err) : multiply_rows(c, product, &v, err);
    return rc == 0 ? compare_rows(c, product, &v, out, err) : rc;
}

/* ---- NaN among elements ---- */

static int say(int rc, const struct error *err, char *why)
{
    if (rc == 0)
        return CUDAL2_OK;
    snprintf(why, CUDAL2_WHY, "%.*s", (int)CUDAL2_WHY - 1, err->text);
    return CUDAL2_LIBRARY_ERROR;
}

static int cuda_sprinkle(struct device *d, void *memory, enum cudal2_dtype dtype, uint64_t elements, uint64_t seed,
                         char *why)
{
    struct cuda_device *c = cuda_of(d);
    struct error err;
    uint64_t key = fill_key(seed), stretches = (elements + PROBE_SPRINKLE - 1) / PROBE_SPRINKLE;
    void *arguments[] = {&memory, &elements, &key};
    const struct probe_launch launch = {KERNEL_SPRINKLE, dtype, blocks_for(stretches), arguments, c->stream};
    return say(run_on(c, &launch, &err), &err, why);
}

/* ---- work that begins early ---- */

/* What is launched behind begins within a few microseconds; a kernel that reads what it may not does so at once. */
#define VEIL_LATE_NS 12000u
/* On about a quarter of the multiprocessors: a CTA that fills one finds room on the others. */
#define VEIL_SMS_EACH_BLOCK 4u

/* struct veiled of kernels/harness/probe.cu has the same layout. */
struct veil {
    cu_pointer matrix[3];
    uint64_t elements[3];
    cu_pointer aside;
    uint64_t key, late_ns;
};

static int run_veil(struct cuda_device *c, enum harness_kernel kernel, enum cudal2_dtype dtype, struct veil *veil,
                    struct error *err)
{
    uint64_t stretches = (veil->elements[0] + veil->elements[1] + veil->elements[2]) / PROBE_SPRINKLE + 3;
    uint64_t most = (uint64_t)c->base.info.sm_count / VEIL_SMS_EACH_BLOCK + 1, blocks = blocks_for(stretches);
    void *arguments[] = {veil};
    const struct probe_launch launch = {kernel, dtype, blocks < most ? blocks : most, arguments, c->stream};
    return run_on(c, &launch, err);
}

static int cuda_veil(struct device *d, const struct probe_veil *asked, char *why)
{
    struct cuda_device *c = cuda_of(d);
    const struct cudal2_problem *p = &asked->problem;
    const struct cudal2_operands *o = asked->operands;
    struct veil veil = {
        .matrix = {(cu_pointer)(uintptr_t)o->a, (cu_pointer)(uintptr_t)o->b, (cu_pointer)(uintptr_t)o->c},
        .elements = {(uint64_t)(p->m * p->k), (uint64_t)(p->k * p->n), (uint64_t)(p->m * p->n)},
        .key = fill_key(asked->seed),
        .late_ns = VEIL_LATE_NS,
    };
    struct error err;
    /* The vectors' room serves: no product is taken meanwhile. */
    uint64_t aside = (veil.elements[0] + veil.elements[1]) / PROBE_SPRINKLE + 2;
    int rc = room_for_vectors(c, aside * dtype_bytes(p->dtype) / sizeof(double) + 1, &err);
    veil.aside = c->probes.vectors;
    if (rc == 0)
        rc = run_veil(c, KERNEL_VEIL, p->dtype, &veil, &err);
    if (rc == 0)
        rc = run_veil(c, KERNEL_UNVEIL, p->dtype, &veil, &err);
    if (rc == 0 && c->veil_marks)
        rc = launch_marks_add(c->veil_marks, c, true, &err);
    return say(rc, &err, why);
}

/* ---- counting ---- */

static int cuda_count(struct device *d, const void *memory, enum cudal2_dtype dtype, uint64_t elements, char *why)
{
    struct cuda_device *c = cuda_of(d);
    struct error err;
    uint64_t most = (uint64_t)c->base.info.sm_count * 16, blocks = blocks_for(elements);
    if (open_probes(c, &err) != 0)
        return say(err.code, &err, why);
    cu_pointer counter = on_desk(c, offsetof(struct desk, nans));
    void *arguments[] = {&memory, &elements, &counter};
    const struct probe_launch launch = {KERNEL_COUNT_NAN, dtype, blocks < most ? blocks : most, arguments, c->stream};
    return say(run_on(c, &launch, &err), &err, why);
}

static int cuda_read_count(struct device *d, uint64_t *nans, struct error *err)
{
    struct cuda_device *c = cuda_of(d);
    const struct driver *cu = &c->driver;
    if (open_probes(c, err) != 0)
        return err->code;
    cu_pointer counter = on_desk(c, offsetof(struct desk, nans));
    int rc = driver_check(cu, cu->copy_out(nans, counter, sizeof *nans, c->stream), err, "cuMemcpyDtoHAsync(counter)");
    if (rc == 0)
        rc = driver_check(cu, cu->memset8(counter, 0, sizeof *nans, c->stream), err, "cuMemsetD8Async(counter)");
    return rc == 0 ? cuda_stream_wait(c, err) : rc;
}

/* ---- a held stream ---- */

/* While the stream is held: the launch, a wait, and a look from the other stream. */
static int look_behind(struct cuda_device *c, const struct probe_trial *trial, cu_stream peek, uint64_t *seen,
                       struct error *err)
{
    struct error launch_error;
    int launched = cuda_run_work(c, trial->work, trial->set, &launch_error);
    clock_wait_until(clock_now_ns() + (uint64_t)trial->wait_ns);
    int rc = digest_on(c, &trial->c, 1, seen, peek, err);
    if (rc == 0 && launched != 0)
        *err = launch_error;
    return rc == 0 ? launched : rc;
}

/* peek: a second stream, which sees while the device's is held. */
static int look_both_ways(struct cuda_device *c, const struct probe_trial *trial, cu_stream peek, bool *escaped,
                          struct error *err)
{
    uint64_t before = 0, seen = 0;
    int rc = digest_on(c, &trial->c, 1, &before, peek, err);
    if (rc == 0)
        rc = cuda_blocker_start(c, HOLD_LIMIT_NS, err);
    if (rc != 0)
        return rc;
    rc = look_behind(c, trial, peek, &seen, err);
    *escaped = rc == 0 && c->signals->timed_out == 0 && seen != before;
    cuda_blocker_release(c);
    struct error wait_error;
    int waited =
        driver_check(&c->driver, c->driver.context_sync(), &wait_error, "cuCtxSynchronize after a held stream");
    if (rc == 0 && waited != 0)
        *err = wait_error;
    return rc == 0 ? waited : rc;
}

/* The second stream lives no longer than the trial. */
static int cuda_escape(struct device *d, const struct probe_trial *trial, bool *escaped, struct error *err)
{
    struct cuda_device *c = cuda_of(d);
    const struct driver *cu = &c->driver;
    cu_stream peek = NULL;
    *escaped = false;
    int rc = cuda_pattern(d, &trial->c, 1, PROBE_POISON, err);
    if (rc == 0)
        rc = cuda_stream_wait(c, err); /* the other stream looks at it */
    if (rc == 0)
        rc = driver_check(cu, cu->stream_create(&peek, CU_STREAM_OWN), err, "cuStreamCreate(to peek)");
    if (rc != 0)
        return rc;
    rc = look_both_ways(c, trial, peek, escaped, err);
    cu->stream_destroy(peek);
    return rc;
}

static uint64_t cuda_held(struct device *d)
{
    struct cuda_device *c = cuda_of(d);
    size_t free_bytes = 0, total = 0;
    return c->driver.memory_info(&free_bytes, &total) == CU_OK ? total - free_bytes : 0;
}

const struct probe_ops probe_cuda = {
    .digest = cuda_digest,
    .pattern = cuda_pattern,
    .product = cuda_product,
    .disturb = cuda_disturb,
    .sprinkle = cuda_sprinkle,
    .count = cuda_count,
    .read_count = cuda_read_count,
    .upset = cuda_upset,
    .count_kept = cuda_count_kept,
    .read_kept = cuda_read_kept,
    .veil = cuda_veil,
    .escape = cuda_escape,
    .fence = cuda_fence,
    .unfence = cuda_unfence,
    .changes = cuda_changes,
    .held = cuda_held,
    .threads = host_state_threads,
    .raw_now = clock_raw_ns,
};
