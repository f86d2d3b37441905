/*
 * host_product.c - an output in the host's memory against sums in fp64: projected by a random vector, element by
 * element, and in whole rows. Asked after every timed launch of the CPU device, so rows are turned into floats piece by
 * piece and summed in several chains. Called by host_probe.c.
 */
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

/* Of one stretch: with a vector, and its squares with a vector of weights. */
struct sums {
    double product, square;
};

static double multiply_piece(const float *values, const double *vector, int64_t n)
{
    double sums[CHAINS] = {0}, sum = 0;
    int64_t i = 0;
    for (; i + CHAINS <= n; i += CHAINS)
        for (int c = 0; c < CHAINS; c++)
            sums[c] += (double)values[i + c] * vector[i + c];
    for (; i < n; i++)
        sums[0] += (double)values[i] * vector[i];
    for (int c = 0; c < CHAINS; c++)
        sum += sums[c];
    return sum;
}

static double weigh_piece(const float *values, const double *weights, int64_t n)
{
    double sums[CHAINS] = {0}, sum = 0;
    int64_t i = 0;
    for (; i + CHAINS <= n; i += CHAINS)
        for (int c = 0; c < CHAINS; c++)
            sums[c] += (double)values[i + c] * (double)values[i + c] * weights[i + c];
    for (; i < n; i++)
        sums[0] += (double)values[i] * (double)values[i] * weights[i];
    for (int c = 0; c < CHAINS; c++)
        sum += sums[c];
    return sum;
}

/* A row of a matrix, from `first` on, and what it is multiplied by. */
struct factors {
    const void *matrix;
    enum cudal2_dtype dtype;
    int64_t first, length;
    const double *vector, *weights; /* weights: NULL, none */
};

static struct sums row_times(const struct factors *f)
{
    float room[PIECE];
    struct sums sums = {0};
    for (int64_t at = 0; at < f->length; at += PIECE) {
        int64_t n = f->length - at < PIECE ? f->length - at : PIECE;
        const float *values = floats_at(f->matrix, f->dtype, (size_t)(f->first + at), (size_t)n, room);
        sums.product += multiply_piece(values, f->vector + at, n);
        if (f->weights != NULL)
            sums.square += weigh_piece(values, f->weights + at, n);
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
    double *x_squares, *weights;        /* weights: squares of B times squares of x */
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
        for (int64_t k = first; k < last; k++) {
            struct sums row = row_times(&(struct factors){b, p->dtype, k * stride, p->n, f->x, f->x_squares});
            f->y[k] = row.product;
            f->weights[k] = row.square;
        }
        return;
    }
    memset(f->y + first, 0, (size_t)(last - first) * sizeof *f->y);
    memset(f->weights + first, 0, (size_t)(last - first) * sizeof *f->weights);
    for (int64_t j = 0; j < p->n; j++)
        for (int64_t at = first; at < last; at += PIECE) {
            int64_t n = last - at < PIECE ? last - at : PIECE;
            const float *values = floats_at(b, p->dtype, (size_t)(j * stride + at), (size_t)n, room);
            for (int64_t i = 0; i < n; i++) {
                f->y[at + i] += (double)values[i] * f->x[j];
                f->weights[at + i] += (double)values[i] * (double)values[i] * f->x_squares[j];
            }
        }
}

static void multiply_rows(void *context, int64_t first, int64_t last)
{
    const struct freivalds *f = context;
    const struct cudal2_problem *p = &f->product->problem;
    int64_t lda = problem_a(p).stride, ldc = problem_c(p).stride;
    double alpha = problem_alpha(p);
    for (int64_t i = first; i < last; i++) {
        const struct factors of_a = {f->product->operands->a, p->dtype, i * lda, p->k, f->y, f->weights};
        const struct factors of_c = {f->product->operands->c, p->dtype, i * ldc, p->n, f->x, NULL};
        struct sums a = row_times(&of_a);
        f->expected[i] = alpha * a.product;
        f->squares[i] = alpha * alpha * a.square;
        if (f->product->input != NULL) {
            const struct factors of_input = {f->product->input, p->dtype, i * ldc, p->n, f->x, f->x_squares};
            struct sums in = row_times(&of_input);
            f->expected[i] += p->beta * in.product;
            f->squares[i] += p->beta * p->beta * in.square;
        }
        f->found[i] = row_times(&of_c).product;
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
    double scale = hypot(sqrt(f->squares[i]), x_norm * f->product->floor);
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
    double *memory = malloc((size_t)(2 * p->n + 2 * p->k + 3 * p->m) * sizeof *memory);
    *out = (struct probe_difference){.first_row = UINT64_MAX};
    if (!memory)
        return error_set(err, EXIT_CODE_INTERNAL, "no memory to check an output");
    f.x = memory;
    f.x_squares = f.x + p->n;
    f.y = f.x_squares + p->n;
    f.weights = f.y + p->k;
    f.expected = f.weights + p->k;
    f.found = f.expected + p->m;
    f.squares = f.found + p->m;
    for (int64_t j = 0; j < p->n; j++) {
        f.x[j] = probe_sample(key, (uint64_t)j);
        f.x_squares[j] = f.x[j] * f.x[j];
        x_square += f.x_squares[j];
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
    double sum = 0, square = 0;
    float a[PIECE], b[PIECE];
    uint64_t k = (uint64_t)product->problem.k;
    for (uint64_t at = 0; at < k; at += PIECE) {
        uint64_t n = k - at < PIECE ? k - at : PIECE;
        load_factors(product, spot, &(struct host_elements){spot->row, at, n, false}, a);
        load_factors(product, spot, &(struct host_elements){spot->column, at, n, true}, b);
        for (uint64_t i = 0; i < n; i++) {
            double one = (double)a[i] * (double)b[i];
            sum += one;
            square += one * one;
        }
    }
    double alpha = problem_alpha(&product->problem);
    double c = added(product, (int64_t)spot->row, (int64_t)spot->column);
    double scale = fabs(alpha) * sqrt(square);
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

/* Of a row: the sums, the squares of what their errors scale with, and the row of A and its squares. */
struct row {
    double *sums, *squares, *a, *a_squares;
};

/* Adds element `k` of the row of A times row k of B, row-major. */
static void add_row(const struct probe_product *product, int64_t k, const struct row *row)
{
    const struct cudal2_problem *p = &product->problem;
    size_t first = (size_t)(k * problem_b(p, product->layout).stride);
    double factor = row->a[k];
    float room[PIECE];
    for (int64_t at = 0; at < p->n; at += PIECE) {
        int64_t n = p->n - at < PIECE ? p->n - at : PIECE;
        const float *values = floats_at(product->operands->b, p->dtype, first + (size_t)at, (size_t)n, room);
        for (int64_t i = 0; i < n; i++) {
            double one = factor * (double)values[i];
            row->sums[at + i] += one;
            row->squares[at + i] += one * one;
        }
    }
}

static void multiply_row(const struct probe_product *product, int64_t i, const struct row *row)
{
    const struct cudal2_problem *p = &product->problem;
    int64_t lda = problem_a(p).stride, ldb = problem_b(p, product->layout).stride;
    for (int64_t k = 0; k < p->k; k++) {
        row->a[k] = (double)element_load(product->operands->a, p->dtype, (size_t)(i * lda + k));
        row->a_squares[k] = row->a[k] * row->a[k];
    }
    memset(row->sums, 0, (size_t)p->n * sizeof *row->sums);
    memset(row->squares, 0, (size_t)p->n * sizeof *row->squares);
    for (int64_t k = 0; k < p->k && product->layout != CUDAL2_TN; k++)
        add_row(product, k, row);
    for (int64_t j = 0; j < p->n && product->layout == CUDAL2_TN; j++) {
        const struct factors column = {product->operands->b, p->dtype, j * ldb, p->k, row->a, row->a_squares};
        struct sums sums = row_times(&column);
        row->sums[j] = sums.product;
        row->squares[j] = sums.square;
    }
}

static void judge_row(const struct probe_product *product, int64_t i, const struct row *row,
                      struct probe_difference *out)
{
    const struct cudal2_problem *p = &product->problem;
    double alpha = problem_alpha(p);
    multiply_row(product, i, row);
    for (int64_t j = 0; j < p->n; j++) {
        double size = fabs(alpha) * sqrt(row->squares[j]), c = added(product, i, j);
        double scale = hypot(hypot(size, c), product->floor);
        double found = (double)element_load(product->operands->c, p->dtype, (size_t)(i * problem_c(p).stride + j));
        double error = found - (alpha * row->sums[j] + c);
        if (!isfinite(error))
            out->nan_rows++;
        else if (scale > 0)
            note_scaled(error, scale, out);
    }
}

int host_band(struct device *d, const struct probe_product *product, int64_t first, int64_t rows,
              struct probe_difference *out, struct error *err)
{
    const struct cudal2_problem *p = &product->problem;
    double *memory = malloc((size_t)(2 * p->n + 2 * p->k) * sizeof *memory);
    (void)d;
    *out = (struct probe_difference){.first_row = UINT64_MAX};
    if (!memory)
        return error_set(err, EXIT_CODE_INTERNAL, "no memory to check rows of an output");
    const struct row row = {memory, memory + p->n, memory + 2 * p->n, memory + 2 * p->n + p->k};
    for (int64_t i = first; i < first + rows; i++)
        judge_row(product, i, &row, out);
    free(memory);
    return 0;
}
