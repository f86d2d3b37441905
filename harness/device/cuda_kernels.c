/*
 * cuda_kernels.c - the harness's own kernels on the GPU: compiled for this GPU at first use, then flushes, reference
 * and compare. Relies on compile/ and driver.h. Called by cuda.c and by those cuda_*.c that launch such a kernel.
 */
#include "device/cuda_device.h"
#include "device/cpu_math.h"
#include "compile/compile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FLUSH_THREADS 256
#define FLUSH_VALUE 1u
#define COMPARE_THREADS 256
#define COMPARE_BLOCKS 1024
#define REFERENCE_TILE 128

static const struct {
    const char *file, *entry;
} kernel_files[KERNEL_COUNT] = {
    {"fill", "fill"},          {"fill", "fill_many"},        {"flush", "flush_write"},    {"flush", "flush_read"},
    {"blocker", "blocker"},    {"null", "null_kernel"},      {"reference", "reference"},  {"reference", "reference"},
    {"compare", "compare"},    {"compare", "compare"},       {"counts", "counts"},        {"probe", "digest"},
    {"probe", "pattern"},      {"probe", "sprinkle"},        {"probe", "count_nan"},      {"product", "samples"},
    {"product", "rows_times"}, {"product", "columns_times"}, {"product", "compare_rows"}, {"probe", "veil"},
    {"probe", "unveil"},       {"probe", "disturb"},         {"probe", "upset"},          {"probe", "count_kept"},
    {"plain", "plain"},        {"plain", "plain_differs"}};

static bool is_wide(enum harness_kernel which)
{
    return which == KERNEL_REFERENCE_WIDE || which == KERNEL_COMPARE_WIDE;
}

static int load_kernel(struct cuda_device *c, enum harness_kernel which, int variant, struct error *err)
{
    char path[sizeof c->kernel_directory + 64];
    struct compile_define defines[] = {{"DTYPE", variant / 2}, {"LAYOUT_TN", variant % 2}, {"WIDE", is_wide(which)}};
    struct compile_request request = {path, c->kernel_directory, c->base.info.cc, defines, 3};
    struct compile_result result;
    struct kernel_slot *slot = &c->kernels[which][variant];
    cu_module module = NULL;
    snprintf(path, sizeof path, "%s/harness/%s.cu", c->kernel_directory, kernel_files[which].file);
    int rc = compile_cubin(&request, &result, err);
    if (rc == 0)
        rc = driver_check(&c->driver, c->driver.module_load(&module, result.cubin), err, "cuModuleLoadData(%s.cu)",
                          kernel_files[which].file);
    if (rc == 0)
        rc = driver_check(&c->driver, c->driver.module_function(&slot->function, module, kernel_files[which].entry),
                          err, "cuModuleGetFunction(%s)", kernel_files[which].entry);
    if (rc == 0)
        slot->module = module;
    else if (module)
        c->driver.module_unload(module);
    compile_result_free(&result);
    return rc == 0 ? 0 : error_wrap(err, "harness kernel %s", kernel_files[which].entry);
}

int cuda_kernel_get(struct cuda_device *c, enum harness_kernel which, int variant, cu_function *out, struct error *err)
{
    if (!c->kernels[which][variant].module && load_kernel(c, which, variant, err) != 0)
        return err->code;
    *out = c->kernels[which][variant].function;
    return 0;
}

void cuda_kernels_close(struct cuda_device *c)
{
    for (int which = 0; which < KERNEL_COUNT; which++)
        for (int variant = 0; variant < KERNEL_VARIANTS; variant++)
            if (c->kernels[which][variant].module)
                c->driver.module_unload(c->kernels[which][variant].module);
}

int cuda_kernel_run(struct cuda_device *c, cu_function function, unsigned blocks, unsigned threads, void **arguments,
                    struct error *err)
{
    struct cu_launch_config config = {.grid = {blocks, 1, 1}, .block = {threads, 1, 1}, .stream = c->stream};
    return driver_check(&c->driver, c->driver.launch(&config, function, arguments, NULL), err,
                        "cuLaunchKernelEx(harness kernel, %u blocks)", blocks);
}

int cuda_null_run(struct cuda_device *c, struct error *err)
{
    return cuda_kernel_run(c, c->kernels[KERNEL_NULL][0].function, 1, 32, NULL, err);
}

unsigned cuda_grid_for(const struct cuda_device *c, uint64_t items, unsigned threads)
{
    uint64_t wanted = (items + threads - 1) / threads;
    uint64_t most = (uint64_t)(c->base.info.sm_count > 0 ? c->base.info.sm_count : 64) * 32;
    return (unsigned)(wanted < 1 ? 1 : wanted < most ? wanted : most);
}

static int flush_run(struct cuda_device *c, enum harness_kernel which, struct error *err)
{
    cu_function function;
    uint64_t count = c->flush_bytes / 16;
    uint32_t value = FLUSH_VALUE;
    void *arguments[] = {&c->flush_buffer, &count, &value};
    int rc = cuda_kernel_get(c, which, 0, &function, err);
    return rc == 0 ? cuda_kernel_run(c, function, cuda_grid_for(c, count, FLUSH_THREADS), FLUSH_THREADS, arguments, err)
                   : rc;
}

static int flush_buffer(struct cuda_device *c, struct error *err)
{
    if (c->flush_buffer)
        return 0;
    c->flush_bytes = 2 * (size_t)c->base.info.l2_bytes;
    if (c->flush_bytes < (8u << 20))
        c->flush_bytes = 8u << 20;
    int rc = driver_check(&c->driver, c->driver.memory_alloc(&c->flush_buffer, c->flush_bytes), err,
                          "cuMemAlloc(%zu bytes to flush the L2)", c->flush_bytes);
    return rc == 0 ? flush_run(c, KERNEL_FLUSH_WRITE, err) : rc;
}

int cuda_flush(struct device *d, struct error *err)
{
    struct cuda_device *c = cuda_of(d);
    int rc = flush_buffer(c, err);
    if (rc == 0)
        rc = flush_run(c, KERNEL_FLUSH_READ, err);
    return rc == 0 ? cuda_stream_wait(c, err) : rc;
}

/* What both references are told; out is float or double. */
struct product {
    const struct cudal2_problem *p;
    enum cudal2_layout layout;
    const struct cudal2_operands *operands;
    void *out;
};

static int multiply(struct cuda_device *c, enum harness_kernel which, const struct product *product, struct error *err)
{
    const struct cudal2_problem *p = product->p;
    const struct cudal2_operands *operands = product->operands;
    void *reference = product->out;
    cu_function function;
    int64_t m = p->m, n = p->n, k = p->k;
    const void *a = operands->a, *b = operands->b;
    void *arguments[] = {&a, &b, &reference, &m, &n, &k};
    int64_t tiles = ((m + REFERENCE_TILE - 1) / REFERENCE_TILE) * ((n + REFERENCE_TILE - 1) / REFERENCE_TILE);
    if (tiles > INT32_MAX)
        return error_set(err, EXIT_CODE_INTERNAL, "the reference product has more than 2^31 tiles");
    int rc = cuda_kernel_get(c, which, (int)p->dtype * 2 + (product->layout == CUDAL2_TN), &function, err);
    if (rc == 0)
        rc = cuda_kernel_run(c, function, (unsigned)tiles, 256, arguments, err);
    return rc == 0 ? cuda_stream_wait(c, err) : rc;
}

int cuda_reference(struct device *d, const struct cudal2_problem *p, enum cudal2_layout layout,
                   const struct cudal2_operands *operands, float *reference, struct error *err)
{
    const struct product product = {p, layout, operands, reference};
    return multiply(cuda_of(d), KERNEL_REFERENCE, &product, err);
}

int cuda_reference_binary(struct device *d, const struct cudal2_problem *p, enum cudal2_layout layout,
                          const struct cudal2_operands *operands, float *reference, struct error *err)
{
    const struct product product = {p, layout, operands, reference};
    return multiply(cuda_of(d), KERNEL_COUNTS, &product, err);
}

int cuda_reference_wide(struct device *d, const struct cudal2_problem *p, enum cudal2_layout layout,
                        const struct cudal2_operands *operands, double *reference, struct error *err)
{
    const struct product product = {p, layout, operands, reference};
    return multiply(cuda_of(d), KERNEL_REFERENCE_WIDE, &product, err);
}

int cuda_compare(struct device *d, const struct cudal2_problem *p, const void *c_matrix,
                 const struct expectation *expected, struct comparison *out, struct error *err)
{
    struct cuda_device *c = cuda_of(d);
    struct comparison *parts = calloc(COMPARE_BLOCKS, sizeof *parts);
    size_t bytes = COMPARE_BLOCKS * sizeof *parts;
    cu_function function;
    const void *reference = expected->wide ? (const void *)expected->wide : (const void *)expected->reference;
    enum harness_kernel which = expected->wide ? KERNEL_COMPARE_WIDE : KERNEL_COMPARE;
    double limit = expected->limit;
    uint64_t count = (uint64_t)p->m * (uint64_t)p->n;
    int rc = parts ? cuda_kernel_get(c, which, (int)p->dtype * 2, &function, err)
                   : error_set(err, EXIT_CODE_INTERNAL, "out of memory to compare");
    if (rc == 0 && !c->compare_parts)
        rc = driver_check(&c->driver, c->driver.memory_alloc(&c->compare_parts, bytes), err,
                          "cuMemAlloc(%zu bytes to compare)", bytes);
    void *arguments[] = {&c_matrix, &reference, &count, &limit, &c->compare_parts};
    uint64_t wanted = (count + COMPARE_THREADS - 1) / COMPARE_THREADS;
    unsigned blocks = (unsigned)(wanted < COMPARE_BLOCKS ? wanted : COMPARE_BLOCKS);
    if (rc == 0)
        rc = cuda_kernel_run(c, function, blocks, COMPARE_THREADS, arguments, err);
    if (rc == 0)
        rc = d->ops->download(d, parts, (const void *)(uintptr_t)c->compare_parts, blocks * sizeof *parts, err);
    *out = (struct comparison){.first_index = UINT64_MAX};
    for (unsigned i = 0; i < blocks && rc == 0; i++)
        comparison_add(out, &parts[i]);
    free(parts);
    return rc;
}
