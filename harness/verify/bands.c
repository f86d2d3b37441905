/*
 * bands.c - rows of the product with fp64 sums, at random places, and the relative error of an output over them.
 * Relies on device/cpu_math.h or the GPU's own reference. Called by probe.c, stage.c and checks.
 */
#include "verify/bands.h"

#include <math.h>

#include "base/random.h"
#include "device/cpu_math.h"

static int64_t band_rows(const struct cudal2_problem *p)
{
    return p->m <= BANDS_MAX * BANDS_ROWS ? p->m : BANDS_ROWS;
}

static size_t band_count(const struct cudal2_problem *p)
{
    return p->m <= BANDS_MAX * BANDS_ROWS ? 1 : BANDS_MAX;
}

double bands_elements(const struct cudal2_problem *p)
{
    return (double)band_count(p) * (double)band_rows(p) * (double)p->n;
}

uint64_t bands_bytes(const struct cudal2_problem *p)
{
    return (uint64_t)bands_elements(p) * sizeof(double);
}

static const void *row_of(const void *matrix, enum cudal2_dtype dtype, int64_t row, const struct matrix_extent *e)
{
    return (const char *)matrix + (size_t)(row * e->stride) * dtype_bytes(dtype);
}

/* One band in each quarter of the rows. */
static void draw(struct bands *bands, uint64_t seed)
{
    struct random random;
    random_seed(&random, seed);
    int64_t quarter = bands->problem.m / (int64_t)bands->n;
    for (size_t i = 0; i < bands->n; i++)
        bands->first[i] = (int64_t)i * quarter + (int64_t)random_below(&random, (uint64_t)(quarter - bands->rows) + 1);
}

int bands_make(struct device *d, const struct bands_request *request, struct bands *out, struct error *err)
{
    const struct cudal2_problem *p = &request->problem;
    *out = (struct bands){.problem = *p, .n = band_count(p), .rows = band_rows(p)};
    void *memory = NULL;
    draw(out, request->seed);
    int code = device_alloc_own(d, (size_t)bands_bytes(p), &memory, err);
    out->reference = memory;
    struct cudal2_problem band = *p;
    const struct matrix_extent a = problem_a(p), c = problem_c(p);
    band.m = out->rows;
    for (size_t i = 0; i < out->n && code == 0; i++) {
        struct cudal2_operands operands = *request->operands;
        operands.a = row_of(operands.a, p->dtype, out->first[i], &a);
        if (problem_reads_c(p))
            operands.c = (char *)operands.c + (size_t)(out->first[i] * c.stride) * dtype_bytes(p->dtype);
        code = d->ops->reference_wide(d, &band, request->layout, &operands,
                                      out->reference + (int64_t)i * out->rows * p->n, err);
    }
    return code;
}

void bands_free(struct device *d, struct bands *bands)
{
    if (bands->reference != NULL)
        d->ops->release(d, bands->reference);
    bands->reference = NULL;
}

int bands_compare(struct device *d, const struct bands *bands, const void *c, struct comparison *out, struct error *err)
{
    struct cudal2_problem band = bands->problem;
    const struct matrix_extent extent = problem_c(&band);
    int code = 0;
    band.m = bands->rows;
    *out = (struct comparison){.first_index = UINT64_MAX};
    for (size_t i = 0; i < bands->n && code == 0; i++) {
        struct comparison part;
        const struct expectation expected = {.wide = bands->reference + (int64_t)i * bands->rows * band.n};
        code = d->ops->compare(d, &band, row_of(c, band.dtype, bands->first[i], &extent), &expected, &part, err);
        if (code != 0)
            break;
        if (part.first_index != UINT64_MAX)
            part.first_index += (uint64_t)(bands->first[i] * band.n);
        comparison_add(out, &part);
    }
    return code;
}

double comparison_relative_rms(const struct comparison *cmp)
{
    if (cmp->nan_count > 0)
        return INFINITY;
    return cmp->sum_sq_reference > 0 ? sqrt(cmp->sum_sq_error / cmp->sum_sq_reference) : 0;
}
