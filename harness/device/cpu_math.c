/*
 * cpu_math.c - threads for host work, fills with random or poison values, a packed reference product and the
 * comparison with bounds. Relies on base/half.c. Called by the CPU device, by the scripted device and by checks.
 */
#include "device/cpu_math.h"
#include "device/fill.h"
#include "base/half.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define MAX_THREADS 256
#define PANEL 8 /* columns of B packed side by side: two SSE registers */
#define ROWS 4  /* rows of C that share one pass over a panel */

typedef float vec4 __attribute__((vector_size(16)));

struct task {
    cpu_range work;
    void *context;
    int64_t first, last;
};

static void *run_task(void *argument)
{
    const struct task *task = argument;
    task->work(task->context, task->first, task->last);
    return NULL;
}

void cpu_parallel(int threads, int64_t count, cpu_range work, void *context)
{
    pthread_t handles[MAX_THREADS];
    bool started[MAX_THREADS];
    struct task tasks[MAX_THREADS];
    int64_t parts = threads < 1 ? 1 : threads > MAX_THREADS ? MAX_THREADS : threads;
    if (parts > count)
        parts = count > 0 ? count : 1;
    for (int64_t i = 0; i < parts; i++) {
        tasks[i] = (struct task){work, context, count * i / parts, count * (i + 1) / parts};
        started[i] = i > 0 && pthread_create(&handles[i], NULL, run_task, &tasks[i]) == 0;
    }
    for (int64_t i = 0; i < parts; i++) {
        if (started[i])
            pthread_join(handles[i], NULL);
        else
            run_task(&tasks[i]);
    }
}

/* A thread takes longer to start than a small problem takes, and what it computed looks like a contender's afterwards
 * (verify/rivals.c). Steps are some nanoseconds; an element of a fill takes a logarithm and a cosine. */
#define WORTH_THREADS 200000
#define FILL_STEPS 16

static int threads_for(int threads, int64_t steps)
{
    return steps < WORTH_THREADS ? 1 : threads;
}

/* ---- fill ---- */

struct fill_task {
    void *memory;
    const struct fill *fill;
    uint64_t key, spread_key, pool_key;
};

static float fill_value(const struct fill *fill, uint64_t bits)
{
    if (fill->kind == FILL_BINARY)
        return (double)fill_unit(bits) < fill->density ? 1.0f : 0.0f;
    float large = fill->dtype == CUDAL2_BF16 ? FILL_LARGE_BF16 : FILL_LARGE_F16;
    return fill->kind == FILL_POOL ? fill_pool_value(bits, fill->density, large) : fill_normal(bits);
}

static bool is_spread(const struct fill *fill)
{
    return fill->kind == FILL_SPREAD_A || fill->kind == FILL_SPREAD_B;
}

/* N(0,1) as host_renew has it: an element of the pool, with the sign of its stretch. */
static float pooled_value(const struct fill_task *t, uint64_t index)
{
    uint64_t bits = fill_bits(t->key, index / FILL_STRETCH);
    float value = fill_pool_value(fill_bits(t->pool_key, fill_pool_place(bits, index)), 0, 1);
    return bits >> 63 ? -value : value;
}

/* By what the element at (row, column) is larger than N(0,1). */
static float spread_of(const struct fill_task *t, int64_t row, int64_t column)
{
    int most = dtype_bytes(t->fill->dtype) == 4 ? FILL_SPREAD_32 : FILL_SPREAD_16;
    if (t->fill->kind == FILL_SPREAD_A)
        return ldexpf(1, fill_exponent(t->spread_key, (uint64_t)column, most));
    if (t->fill->kind == FILL_SPREAD_B)
        return ldexpf(1, -fill_exponent(t->spread_key, (uint64_t)row, most));
    return 1;
}

static void poison_line(const struct fill_task *t, int64_t first, int64_t count)
{
    if (dtype_bytes(t->fill->dtype) == 4) {
        for (int64_t i = 0; i < count; i++)
            ((uint32_t *)t->memory)[first + i] = FILL_POISON_32;
    } else {
        for (int64_t i = 0; i < count; i++)
            ((uint16_t *)t->memory)[first + i] = FILL_POISON_16;
    }
}

/* A line is what is contiguous in storage: a row, or a column of a column-major matrix. */
static void fill_lines(void *context, int64_t first, int64_t last)
{
    const struct fill_task *t = context;
    const struct fill *f = t->fill;
    int64_t length = f->column_major ? f->rows : f->cols, stride = f->stride > 0 ? f->stride : length;
    for (int64_t line = first; line < last; line++) {
        if (f->kind == FILL_POISON) {
            poison_line(t, line * stride, length);
            continue;
        }
        for (int64_t i = 0; i < length; i++) {
            int64_t row = f->column_major ? i : line, column = f->column_major ? line : i;
            uint64_t index = (uint64_t)(row * f->cols + column);
            float value = is_spread(f) ? pooled_value(t, index) : fill_value(f, fill_bits(t->key, index));
            value *= spread_of(t, row, column);
            element_store(t->memory, f->dtype, (size_t)(line * stride + i), value);
        }
    }
}

/* Of a column that is looked at each time. */
#define PLACES 8

bool cpu_fill_holds(const struct cpu_filled *filled, uint64_t draw)
{
    const struct fill *f = &filled->fill;
    size_t bytes = dtype_bytes(f->dtype);
    uint64_t key = fill_key(f->seed), places = fill_key(draw);
    bool holds = true;
    for (uint64_t i = 0; filled->memory && i < PLACES; i++) {
        uint64_t place = fill_bits(places, i) % (uint64_t)f->rows;
        unsigned char wanted[sizeof(float)];
        element_store(wanted, f->dtype, 0, fill_value(f, fill_bits(key, place)));
        holds = holds && memcmp(wanted, (const char *)filled->memory + place * bytes, bytes) == 0;
    }
    return holds;
}

void cpu_fill(int threads, void *memory, const struct fill *fill)
{
    struct fill_task task = {memory, fill, fill_key(fill->seed),
                             fill_spread_key(fill->seed - (fill->kind == FILL_SPREAD_B)), fill_key(fill->pool)};
    cpu_parallel(threads_for(threads, FILL_STEPS * fill->rows * fill->cols),
                 fill->column_major ? fill->cols : fill->rows, fill_lines, &task);
}

/* ---- reference ---- */

struct product {
    const struct cudal2_problem *p;
    enum cudal2_layout layout;
    const struct cudal2_operands *operands;
    float *a;      /* rows x k, of the rows from first_row on */
    float *panels; /* n_panels panels of k x PANEL from first_panel on, zero beyond n */
    float *out;
    double *wide; /* instead of out */
    int64_t first_row, rows, first_panel, n_panels;
};

static void unpack_a(void *context, int64_t first, int64_t last)
{
    const struct product *t = context;
    const struct matrix_extent a = problem_a(t->p);
    for (int64_t row = first; row < last; row++) {
        size_t from = (size_t)((t->first_row + row) * a.stride), to = (size_t)(row * a.length);
        for (size_t i = 0; i < (size_t)a.length; i++)
            t->a[to + i] = element_load(t->operands->a, t->p->dtype, from + i);
    }
}

static void pack_b(void *context, int64_t first, int64_t last)
{
    const struct product *t = context;
    int64_t k = t->p->k, n = t->p->n, stride = problem_b(t->p, t->layout).stride;
    for (int64_t panel = first; panel < last; panel++) {
        float *to = t->panels + panel * k * PANEL;
        for (int64_t j = 0; j < PANEL; j++) {
            int64_t column = (t->first_panel + panel) * PANEL + j;
            for (int64_t i = 0; i < k; i++) {
                int64_t index = t->layout == CUDAL2_TN ? column * stride + i : i * stride + column;
                to[i * PANEL + j] = column < n ? element_load(t->operands->b, t->p->dtype, (size_t)index) : 0.0f;
            }
        }
    }
}

/* Where the sum of a row of the slab and a column of one of its panels goes; -1 beyond n. */
static int64_t place_of(const struct product *t, int64_t row, int64_t panel, int64_t j)
{
    int64_t column = (t->first_panel + panel) * PANEL + j;
    return column < t->p->n ? (t->first_row + row) * t->p->n + column : -1;
}

/* alpha times the sum and, where C is an input, beta times what it holds there. */
static double scaled(const struct product *t, double sum, int64_t place)
{
    double value = problem_alpha(t->p) * sum;
    if (!problem_reads_c(t->p))
        return value;
    const struct matrix_extent c = problem_c(t->p);
    return value + t->p->beta * (double)element_load(t->operands->c, t->p->dtype, extent_place(&c, (uint64_t)place));
}

/* ROWS x PANEL of C. Rows beyond the slab repeat its last one; their sums are not stored. */
static void multiply_tile(const struct product *t, int64_t row, int64_t panel)
{
    int64_t k = t->p->k, m = t->rows;
    const float *b = t->panels + panel * k * PANEL;
    const float *a[ROWS];
    vec4 sum[ROWS][2];
    memset(sum, 0, sizeof sum);
    for (int r = 0; r < ROWS; r++)
        a[r] = t->a + (row + r < m ? row + r : m - 1) * k;
    for (int64_t i = 0; i < k; i++) {
        vec4 low, high;
        memcpy(&low, b + i * PANEL, sizeof low);
        memcpy(&high, b + i * PANEL + 4, sizeof high);
        for (int r = 0; r < ROWS; r++) {
            sum[r][0] += a[r][i] * low;
            sum[r][1] += a[r][i] * high;
        }
    }
    for (int r = 0; r < ROWS && row + r < m; r++)
        for (int64_t j = 0; j < PANEL && place_of(t, row + r, panel, j) >= 0; j++) {
            int64_t place = place_of(t, row + r, panel, j);
            t->out[place] = (float)scaled(t, (double)sum[r][j / 4][j % 4], place);
        }
}

/* The same in fp64. */
static void multiply_tile_wide(const struct product *t, int64_t row, int64_t panel)
{
    int64_t k = t->p->k;
    const float *b = t->panels + panel * k * PANEL;
    for (int r = 0; r < ROWS && row + r < t->rows; r++) {
        const float *a = t->a + (row + r) * k;
        double sum[PANEL] = {0};
        for (int64_t i = 0; i < k; i++)
            for (int j = 0; j < PANEL; j++)
                sum[j] += (double)a[i] * (double)b[i * PANEL + j];
        for (int64_t j = 0; j < PANEL && place_of(t, row + r, panel, j) >= 0; j++) {
            int64_t place = place_of(t, row + r, panel, j);
            t->wide[place] = scaled(t, sum[j], place);
        }
    }
}

static void multiply_rows(void *context, int64_t first, int64_t last)
{
    const struct product *t = context;
    for (int64_t panel = 0; panel < t->n_panels; panel++)
        for (int64_t block = first; block < last; block++)
            (t->wide ? multiply_tile_wide : multiply_tile)(t, block * ROWS, panel);
}

/* How many of `count` fit into half of the memory for packed operands; `least` at least. */
static int64_t slab_of(int64_t count, int64_t least, uint64_t bytes_each)
{
    int64_t fit = (int64_t)(CPU_PACKED_BYTES / 2 / bytes_each) / least * least;
    fit = fit < least ? least : fit;
    return count < fit ? count : fit;
}

static int64_t slab_rows(const struct cudal2_problem *p)
{
    return slab_of(p->m, ROWS, (uint64_t)p->k * sizeof(float));
}

static int64_t slab_panels(const struct cudal2_problem *p)
{
    return slab_of((p->n + PANEL - 1) / PANEL, 1, PANEL * (uint64_t)p->k * sizeof(float));
}

uint64_t cpu_reference_scratch(const struct cudal2_problem *p)
{
    return (uint64_t)(slab_rows(p) + slab_panels(p) * PANEL) * (uint64_t)p->k * sizeof(float);
}

static int64_t at_most(int64_t left, int64_t most)
{
    return left < most ? left : most;
}

static void multiply_slabs(int threads, struct product *t)
{
    const struct cudal2_problem *p = t->p;
    int64_t panels = (p->n + PANEL - 1) / PANEL;
    for (t->first_panel = 0; t->first_panel < panels; t->first_panel += t->n_panels) {
        t->n_panels = at_most(panels - t->first_panel, slab_panels(p));
        cpu_parallel(threads, t->n_panels, pack_b, t);
        for (t->first_row = 0; t->first_row < p->m; t->first_row += t->rows) {
            t->rows = at_most(p->m - t->first_row, slab_rows(p));
            cpu_parallel(threads, t->rows, unpack_a, t);
            cpu_parallel(threads, (t->rows + ROWS - 1) / ROWS, multiply_rows, t);
        }
    }
}

static int multiply_packed(int threads, struct product *t, struct error *err)
{
    const struct cudal2_problem *p = t->p;
    int rc = 0;
    t->a = malloc((size_t)(slab_rows(p) * p->k) * sizeof *t->a);
    t->panels = malloc((size_t)(slab_panels(p) * PANEL * p->k) * sizeof *t->panels);
    if (t->a && t->panels)
        multiply_slabs(threads_for(threads, p->m * p->n * p->k), t);
    else
        rc = error_set(err, EXIT_CODE_INTERNAL, "reference product: no memory for the packed operands");
    free(t->a);
    free(t->panels);
    return rc;
}

int cpu_reference(int threads, const struct cudal2_problem *p, enum cudal2_layout layout,
                  const struct cudal2_operands *operands, float *reference, struct error *err)
{
    struct product t = {.p = p, .layout = layout, .operands = operands, .out = reference};
    return multiply_packed(threads, &t, err);
}

int cpu_reference_wide(int threads, const struct cudal2_problem *p, enum cudal2_layout layout,
                       const struct cudal2_operands *operands, double *reference, struct error *err)
{
    struct product t = {.p = p, .layout = layout, .operands = operands, .wide = reference};
    return multiply_packed(threads, &t, err);
}

/* ---- compare ---- */

struct compare_task {
    const struct cudal2_problem *p;
    const void *c;
    struct matrix_extent extent; /* of c */
    struct expectation expected;
    struct comparison *out;
    pthread_mutex_t lock;
};

static void compare_element(const struct compare_task *t, uint64_t index, struct comparison *out)
{
    double value = (double)element_load(t->c, t->p->dtype, extent_place(&t->extent, index));
    double expected = t->expected.wide ? t->expected.wide[index] : (double)t->expected.reference[index];
    double difference = fabs(value - expected), limit = t->expected.limit;
    bool checked = limit <= 0 || fabs(expected) < limit;
    bool nan = isnan(value);
    bool wrong = checked && (nan || (limit > 0 && difference > 0));
    out->checked += checked;
    out->covered += checked && fabs(expected) > 0;
    out->mismatched += wrong;
    out->nan_count += nan;
    if ((wrong || nan) && index < out->first_index)
        out->first_index = index;
    if (!nan) {
        out->max_abs_error = fmax(out->max_abs_error, difference);
        out->sum_sq_error += difference * difference;
        out->sum_sq_reference += expected * expected;
    }
}

void comparison_add(struct comparison *whole, const struct comparison *part)
{
    whole->checked += part->checked;
    whole->covered += part->covered;
    whole->mismatched += part->mismatched;
    whole->nan_count += part->nan_count;
    if (part->first_index < whole->first_index)
        whole->first_index = part->first_index;
    whole->max_abs_error = fmax(whole->max_abs_error, part->max_abs_error);
    whole->sum_sq_error += part->sum_sq_error;
    whole->sum_sq_reference += part->sum_sq_reference;
}

static void compare_rows(void *context, int64_t first, int64_t last)
{
    struct compare_task *t = context;
    struct comparison part = {.first_index = UINT64_MAX};
    for (uint64_t i = (uint64_t)(first * t->p->n); i < (uint64_t)(last * t->p->n); i++)
        compare_element(t, i, &part);
    pthread_mutex_lock(&t->lock);
    comparison_add(t->out, &part);
    pthread_mutex_unlock(&t->lock);
}

void cpu_compare(int threads, const struct cudal2_problem *p, const void *c, const struct expectation *expected,
                 struct comparison *out)
{
    struct compare_task task = {p, c, problem_c(p), *expected, out, PTHREAD_MUTEX_INITIALIZER};
    *out = (struct comparison){.first_index = UINT64_MAX};
    cpu_parallel(threads_for(threads, p->m * p->n), p->m, compare_rows, &task);
    pthread_mutex_destroy(&task.lock);
}
