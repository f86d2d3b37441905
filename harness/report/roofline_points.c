/*
 * roofline_points.c - gathers the points and rows of a roofline picture from a result. Pure. Called by roofline.c.
 */
#include "report/roofline_points.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/problem.h"

static double bytes_of(const struct result_cell *cell)
{
    bool wide = strcmp(cell->group.dtype, dtype_names[CUDAL2_F32]) == 0;
    return (cell->m * cell->k + cell->k * cell->n + cell->m * cell->n) * (wide ? 4.0 : 2.0);
}

static bool has_time(const struct result_contender *c)
{
    return c->role != RESULT_COPY && !c->invalid && c->tflops > 0;
}

static size_t row_of(struct roofline *r, const struct result_contender *c)
{
    size_t i = 0;
    while (i < r->n_rows && strcmp(r->rows[i].contender->name, c->name) != 0)
        i++;
    if (i == r->n_rows)
        r->rows[r->n_rows++] = (struct roofline_row){.contender = c};
    return i;
}

double roofline_roof(const struct roofline *r, double intensity)
{
    double slope = r->peak_bytes * intensity;
    if (r->peak_flops > 0 && r->peak_bytes > 0)
        return fmin(slope, r->peak_flops);
    return r->peak_flops > 0 ? r->peak_flops : slope;
}

double roofline_percent(const struct roofline *r, const struct roofline_row *row)
{
    bool known = r->peak_flops > 0 || r->peak_bytes > 0;
    return known ? 100 * exp(row->log_percent / (double)row->n) : (double)NAN;
}

static void add_point(struct roofline *r, const struct result_cell *cell, const struct result_contender *c)
{
    struct roofline_point *p = &r->points[r->n_points++];
    *p = (struct roofline_point){.intensity = 2 * cell->m * cell->n * cell->k / bytes_of(cell),
                                 .rate = c->tflops * 1e12,
                                 .cell = cell,
                                 .contender = c,
                                 .row = row_of(r, c)};
    struct roofline_row *row = &r->rows[p->row];
    double roof = roofline_roof(r, p->intensity);
    row->n++;
    row->best_rate = fmax(row->best_rate, p->rate);
    row->log_percent += roof > 0 ? log(p->rate / roof) : 0;
}

/* The first worker's device, by the format of this cell. */
static void begin(struct roofline *r, const struct result *result, const struct result_cell *cell)
{
    r->first = cell;
    r->device = &result->env[cell->env >= 0 ? (size_t)cell->env : 0].device;
    bool wide = strcmp(cell->group.dtype, dtype_names[CUDAL2_F32]) == 0 && r->device->peak_flops_f32 > 0;
    double flops = wide ? r->device->peak_flops_f32 : r->device->peak_flops, bytes = r->device->peak_bytes_per_s;
    r->peak_flops = flops > 0 ? flops : 0;
    r->peak_bytes = bytes > 0 ? bytes : 0;
}

static void add_cell(struct roofline *r, const struct result *result, const struct result_cell *cell)
{
    size_t before = r->n_points;
    for (size_t i = 0; i < cell->n_contenders; i++) {
        const struct result_contender *c = &cell->contenders[i];
        if (!has_time(c))
            continue;
        if (!r->first)
            begin(r, result, cell);
        if (strcmp(cell->group.dtype, r->first->group.dtype) == 0)
            add_point(r, cell, c);
    }
    r->n_cells += r->n_points > before;
}

static int faster_first(const void *a, const void *b)
{
    const struct roofline_row *x = a, *y = b;
    double p = x->log_percent / (double)x->n, q = y->log_percent / (double)y->n;
    if (p != q)
        return p > q ? -1 : 1;
    return strcmp(x->contender->name, y->contender->name);
}

/* A family has one colour in all its layouts; candidates have colours of their own. */
static void give_colours(struct roofline *r)
{
    size_t used[RESULT_ROLE_COUNT] = {0};
    for (size_t i = 0; i < r->n_rows; i++) {
        const struct result_contender *c = r->rows[i].contender;
        size_t j = 0;
        while (j < i && (r->rows[j].contender->role != c->role || strcmp(r->rows[j].contender->family, c->family) != 0))
            j++;
        r->rows[i].colour = j < i ? r->rows[j].colour : used[c->role]++;
    }
}

/* Rows are sorted: points find theirs again. */
static void sort_rows(struct roofline *r)
{
    qsort(r->rows, r->n_rows, sizeof *r->rows, faster_first);
    give_colours(r);
    for (size_t i = 0; i < r->n_points; i++) {
        size_t row = 0;
        while (strcmp(r->rows[row].contender->name, r->points[i].contender->name) != 0)
            row++;
        r->points[i].row = row;
    }
}

int roofline_gather(const struct result *result, struct roofline *out, struct error *err)
{
    size_t most = 1;
    *out = (struct roofline){.n_points = 0};
    for (size_t i = 0; i < result->n_cells; i++)
        most += result->cells[i].n_contenders;
    out->points = calloc(most, sizeof *out->points);
    out->rows = calloc(most, sizeof *out->rows);
    if (!out->points || !out->rows)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for a picture");
    for (size_t i = 0; i < result->n_cells && result->n_env > 0; i++)
        add_cell(out, result, &result->cells[i]);
    if (out->n_points == 0)
        return error_set(err, EXIT_CODE_INCOMPARABLE, "no roofline: no contender has a time");
    sort_rows(out);
    return 0;
}

void roofline_free(struct roofline *r)
{
    free(r->points);
    free(r->rows);
    *r = (struct roofline){.n_points = 0};
}
