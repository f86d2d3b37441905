/* host_product.c - an output in the host's memory against sums in fp64: projected by a random vector, element by
 * element, and in whole rows. Asked after every timed launch of the CPU device, so rows are turned into floats piece by
 * piece and summed in several chains. */
#include "device/host_check.h"
#include "base/half.h"
#include "device/cpu_math.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PIECE 256
#define CHAINS 8
/* Below so many elements starting threads costs more than they gain. */
#define WORTH_THREADS 200000

/* `n` elements from `first` on as floats: where they are, or in room[PIECE]. */
static const float *floats_at(const void *matrix, enum cudal2_dtype dtype, size_t first, size_t n, float *room)
{
    if (dtype == CUDAL2_F32)
        return (const float *)matrix + first;
    for (size_t i = 0; i < n; i++)
        room[i] = element_load(matrix, dtype, first + i);
    return room;
}

/* Of one stretch: with a vector, and with itself. */
struct sums {
    double product, square;
};

static void add_piece(const float *values, const double *vector, int64_t n, struct sums *out)
{
    double product[CHAINS] = {0}, square[CHAINS] = {0};
    int64_t i = 0;
    for (; i + CHAINS <= n; i += CHAINS)
        for (int c = 0; c < CHAINS; c++) {
            product[c] += (double)values[i + c] * vector[i + c];
            square[c] += (double)values[i + c] * (double)values[i + c];
        }
    for (; i < n; i++) {
        product[0] += (double)values[i] * vector[i];
        square[0] += (double)values[i] * (double)values[i];
    }
    for (int c = 0; c < CHAINS; c++) {
        out->product += product[c];
        out->square += square[c];
    }
}

/* `length` elements of a matrix from `first` on times a vector. */
static struct sums row_times(const void *matrix, enum cudal2_dtype dtype, int64_t first, int64_t length,
                             const double *vector)
{
    float room[PIECE];
    struct sums sums = {0};
    for (int64_t at = 0; at < length; at += PIECE) {
        int64_t n = length - at < PIECE ? length - at : PIECE;
        const float *values = floats_at(matrix, dtype, (size_t)(first + at), (size_t)n, room);
        add_piece(values, vector + at, n, &sums);
    }
    return sums;
}

/* What beta times an input C adds to an element. */
static double added(const struct probe_product *product, int64_t row, int64_t column)
{
    const struct cudal2_problem *p = &product->problem;
    if (product->input == NULL)
        return 0;
    return p->beta * (double)element_load(product->input, p->dtype, (size_t)(row * problem_c(p).stride + column));
}

/* ---- the projection ---- */

struct freivalds {
    const struct probe_product *product;
    double *x, *y;                      /* y = B x */
    double *expected, *found, *squares; /* what C x should be, C x, and the square of its scale, by rows */
};

/* Of B by rows; a column-major B is walked along its columns, of which every thread takes its part of each. */
static void multiply_b(void *context, int64_t first, int64_t last)
{
    const struct freivalds *f = context;
    const struct cudal2_problem *p = &f->product->problem;
    const void *b = f->product->operands->b;
    int64_t stride = problem_b(p, f->product->layout).stride;
    float room[PIECE];
    if (f->product->layout != CUDAL2_TN) {
        for (int64_t k = first; k < last; k++)
            f->y[k] = row_times(b, p->dtype, k * stride, p->n, f->x).product;
        return;
    }
    memset(f->y + first, 0, (size_t)(last - first) * sizeof *f->y);
    for (int64_t j = 0; j < p->n; j++)
        for (int64_t at = first; at < last; at += PIECE) {
            int64_t n = last - at < PIECE ? last - at : PIECE;
            const float *values = floats_at(b, p->dtype, (size_t)(j * stride + at), (size_t)n, room);
            for (int64_t i = 0; i < n; i++)
                f->y[at + i] += (double)values[i] * f->x[j];
        }
}

static void multiply_rows(void *context, int64_t first, int64_t last)
{
    const struct freivalds *f = context;
    const struct cudal2_problem *p = &f->product->problem;
    int64_t lda = problem_a(p).stride, ldc = problem_c(p).stride;
    double alpha = problem_alpha(p);
    for (int64_t i = first; i < last; i++) {
        struct sums a = row_times(f->product->operands->a, p->dtype, i * lda, p->k, f->y);
        f->expected[i] = alpha * a.product;
        f->squares[i] = alpha * alpha * a.square;
        if (f->product->input != NULL) {
            struct sums in = row_times(f->product->input, p->dtype, i * ldc, p->n, f->x);
            f->expected[i] += p->beta * in.product;
            f->squares[i] += p->beta * p->beta * in.square / (double)p->n;
        }
        f->found[i] = row_times(f->product->operands->c, p->dtype, i * ldc, p->n, f->x).product;
    }
}

static void note_scaled(double error, double scale, struct probe_difference *out)
{
    double scaled = fabs(error) / scale;
    out->sum_sq_scaled += scaled * scaled;
    out->largest = fmax(out->largest, scaled);
}

static void note_row(const struct freivalds *f, int64_t i, double x_norm, struct probe_difference *out)
{
    double error = f->found[i] - f->expected[i];
    bool differs = error != 0; /* NaN differs too */
    out->differing += differs;
    if (differs && out->first_row == UINT64_MAX)
        out->first_row = (uint64_t)i;
    if (!isfinite(error)) {
        out->nan_rows++;
        return;
    }
    out->sum_sq_error += error * error;
    out->sum_sq_expected += f->expected[i] * f->expected[i];
    double scale = x_norm * hypot(sqrt(f->squares[i]), f->product->floor);
    if (scale > 0)
        note_scaled(error, scale, out);
}

static int threads_for(const struct device *d, const struct cudal2_problem *p)
{
    return p->m * p->k + p->k * p->n + p->m * p->n < WORTH_THREADS ? 1 : d->info.threads;
}

int host_product(struct device *d, const struct probe_product *product, struct probe_difference *out, struct error *err)
{
    const struct cudal2_problem *p = &product->problem;
    struct freivalds f = {.product = product};
    uint64_t key = fill_key(product->seed);
    int threads = threads_for(d, p);
    double x_square = 0;
    double *memory = malloc((size_t)(p->n + p->k + 3 * p->m) * sizeof *memory);
    *out = (struct probe_difference){.first_row = UINT64_MAX};
    if (!memory)
        return error_set(err, EXIT_CODE_INTERNAL, "no memory to check an output");
    f.x = memory;
    f.y = f.x + p->n;
    f.expected = f.y + p->k;
    f.found = f.expected + p->m;
    f.squares = f.found + p->m;
    for (int64_t j = 0; j < p->n; j++) {
        f.x[j] = probe_sample(key, (uint64_t)j);
        x_square += f.x[j] * f.x[j];
    }
    cpu_parallel(threads, p->k, multiply_b, &f);
    cpu_parallel(threads, p->m, multiply_rows, &f);
    for (int64_t i = 0; i < p->m; i++)
        note_row(&f, i, sqrt(x_square), out);
    free(memory);
    return d->ops->sync(d, err);
}

/* ---- elements ---- */

/* values[]: those of the row of A, or of the column of B, that the spot takes. */
static void load_factors(const struct probe_product *product, struct probe_spot *spot,
                         const struct host_elements *which, float *values)
{
    const struct cudal2_problem *p = &product->problem;
    const struct matrix_extent extent = which->is_b ? problem_b(p, product->layout) : problem_a(p);
    const void *memory = which->is_b ? product->operands->b : product->operands->a;
    uint64_t stride = (uint64_t)extent.stride, line = which->line;
    bool across = which->is_b && product->layout != CUDAL2_TN;
    if (product->renewal) {
        spot->mutated |= !host_renewed(product->renewal, which, values);
        return;
    }
    for (uint64_t i = 0; i < which->n; i++) {
        uint64_t place = which->place + i;
        values[i] = element_load(memory, p->dtype, across ? place * stride + line : line * stride + place);
    }
}

static void expect_spot(const struct probe_product *product, struct probe_spot *spot)
{
    double sum = 0, a_square = 0, b_square = 0;
    float a[PIECE], b[PIECE];
    uint64_t k = (uint64_t)product->problem.k;
    for (uint64_t at = 0; at < k; at += PIECE) {
        uint64_t n = k - at < PIECE ? k - at : PIECE;
        load_factors(product, spot, &(struct host_elements){spot->row, at, n, false}, a);
        load_factors(product, spot, &(struct host_elements){spot->column, at, n, true}, b);
        for (uint64_t i = 0; i < n; i++) {
            sum += (double)a[i] * (double)b[i];
            a_square += (double)a[i] * (double)a[i];
            b_square += (double)b[i] * (double)b[i];
        }
    }
    double alpha = problem_alpha(&product->problem);
    double c = added(product, (int64_t)spot->row, (int64_t)spot->column);
    double scale = fabs(alpha) * sqrt(a_square * b_square / (double)product->problem.k);
    spot->expected = alpha * sum + c;
    spot->scale = hypot(hypot(scale, c), product->floor);
}

int host_spots(struct device *d, const struct probe_product *product, struct probe_spot *spots, size_t n,
               struct error *err)
{
    (void)d;
    (void)err;
    for (size_t i = 0; i < n; i++)
        expect_spot(product, &spots[i]);
    return 0;
}

/* ---- whole rows ---- */

/* sums[] += factor times row `row` of B, row-major. */
static void add_row(const struct probe_product *product, int64_t row, double factor, double *sums)
{
    const struct cudal2_problem *p = &product->problem;
    size_t first = (size_t)(row * problem_b(p, product->layout).stride);
    float room[PIECE];
    for (int64_t at = 0; at < p->n; at += PIECE) {
        int64_t n = p->n - at < PIECE ? p->n - at : PIECE;
        const float *values = floats_at(product->operands->b, p->dtype, first + (size_t)at, (size_t)n, room);
        for (int64_t i = 0; i < n; i++)
            sums[at + i] += factor * (double)values[i];
    }
}

/* sums[n] = row `row` of A times B; returns |a|^2. */
static double multiply_row(const struct probe_product *product, int64_t row, double *sums, double *a)
{
    const struct cudal2_problem *p = &product->problem;
    int64_t lda = problem_a(p).stride, ldb = problem_b(p, product->layout).stride;
    double square = 0;
    for (int64_t i = 0; i < p->k; i++) {
        a[i] = (double)element_load(product->operands->a, p->dtype, (size_t)(row * lda + i));
        square += a[i] * a[i];
    }
    memset(sums, 0, (size_t)p->n * sizeof *sums);
    for (int64_t i = 0; i < p->k && product->layout != CUDAL2_TN; i++)
        add_row(product, i, a[i], sums);
    for (int64_t j = 0; j < p->n && product->layout == CUDAL2_TN; j++)
        sums[j] = row_times(product->operands->b, p->dtype, j * ldb, p->k, a).product;
    return square;
}

int host_band(struct device *d, const struct probe_product *product, int64_t first, int64_t rows,
              struct probe_difference *out, struct error *err)
{
    const struct cudal2_problem *p = &product->problem;
    int64_t ldc = problem_c(p).stride;
    double alpha = problem_alpha(p);
    double *memory = malloc((size_t)(p->n + p->k) * sizeof *memory);
    (void)d;
    *out = (struct probe_difference){.first_row = UINT64_MAX};
    if (!memory)
        return error_set(err, EXIT_CODE_INTERNAL, "no memory to check rows of an output");
    for (int64_t row = first; row < first + rows; row++) {
        double size = fabs(alpha) * sqrt(multiply_row(product, row, memory, memory + p->n));
        for (int64_t j = 0; j < p->n; j++) {
            double c = added(product, row, j), scale = hypot(hypot(size, c), product->floor);
            double found = (double)element_load(product->operands->c, p->dtype, (size_t)(row * ldc + j));
            double error = found - (alpha * memory[j] + c);
            if (!isfinite(error))
                out->nan_rows++;
            else if (scale > 0)
                note_scaled(error, scale, out);
        }
    }
    free(memory);
    return 0;
}
