/*
 * picture.c - where an output is wrong, as a small map of rows and columns and the first elements with what was
 * expected. Pure but for the outputs it is given. Called where a wrong result is described.
 */
#include "verify/picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/half.h"

#define LOOKED_AT (1 << 22) /* elements at most, over all rows */

/* One row of the output and of the reference on the host. */
struct gaze {
    struct device *d;
    const struct picture_request *request;
    struct picture *out;
    void *row;
    float *expected;
    bool started;
};

static bool is_wrong(double expected, double got, double limit)
{
    bool checked = limit <= 0 || fabs(expected) < limit;
    return isnan(got) || (checked && fabs(got - expected) > 0);
}

static void widen(int64_t range[2], int64_t place, bool started)
{
    range[0] = started && range[0] < place ? range[0] : place;
    range[1] = started && range[1] > place ? range[1] : place;
}

static bool has(const struct picture *p, int64_t row, int64_t column)
{
    for (size_t i = 0; i < p->n_first; i++)
        if (p->first[i].row == row && p->first[i].column == column)
            return true;
    return false;
}

static void note(struct gaze *g, int64_t row, int64_t column, double got)
{
    struct picture *p = g->out;
    p->marks[row / p->rows_each][column / p->columns_each] = '#';
    widen(p->row_range, row, g->started);
    widen(p->column_range, column, g->started);
    g->started = true;
    if (p->n_first < PICTURE_ELEMENTS && !has(p, row, column))
        p->first[p->n_first++] = (struct wrong_element){row, column, (double)g->expected[column], got};
}

static int look_at_row(struct gaze *g, int64_t row, struct error *err)
{
    const struct picture_request *q = g->request;
    size_t n = (size_t)q->problem.n, width = dtype_bytes(q->problem.dtype);
    const char *from = (const char *)q->c + (size_t)(row * problem_c(&q->problem).stride) * width;
    int code = g->d->ops->download(g->d, g->row, from, n * width, err);
    if (code == 0)
        code = g->d->ops->download(g->d, g->expected, q->reference + (size_t)row * n, n * sizeof *g->expected, err);
    for (size_t j = 0; j < n && code == 0; j++) {
        double got = (double)element_load(g->row, q->problem.dtype, j);
        if (is_wrong((double)g->expected[j], got, q->limit))
            note(g, row, (int64_t)j, got);
    }
    return code;
}

/* Of the rows that a mark stands for, `most` at even distances, the first and the last among them. */
static int look_at_band(struct gaze *g, int64_t first, int64_t rows, int64_t most, struct error *err)
{
    int64_t looks = rows < most ? rows : most;
    int code = 0;
    for (int64_t i = 0; i < looks && code == 0; i++)
        code = look_at_row(g, first + (looks > 1 ? i * (rows - 1) / (looks - 1) : 0), err);
    return code;
}

static int look(struct gaze *g, struct error *err)
{
    const struct cudal2_problem *p = &g->request->problem;
    int64_t most = LOOKED_AT / PICTURE_SIDE / p->n;
    int code = 0;
    if (g->request->first_index != UINT64_MAX)
        code = look_at_row(g, (int64_t)(g->request->first_index / (uint64_t)p->n), err);
    g->out->n_first = g->out->n_first < 2 ? g->out->n_first : 2; /* the others from elsewhere */
    for (int band = 0; band < g->out->rows && code == 0; band++) {
        int64_t first = band * g->out->rows_each, left = p->m - first;
        code = look_at_band(g, first, left < g->out->rows_each ? left : g->out->rows_each, most < 2 ? 2 : most, err);
    }
    return code;
}

static void lay_out(int64_t size, int64_t *each, int *count)
{
    *each = (size + PICTURE_SIDE - 1) / PICTURE_SIDE;
    *count = (int)((size + *each - 1) / *each);
}

int picture_take(struct device *d, const struct picture_request *request, struct picture *out, struct error *err)
{
    const struct cudal2_problem *p = &request->problem;
    struct gaze g = {.d = d, .request = request, .out = out};
    *out = (struct picture){.n_first = 0};
    lay_out(p->m, &out->rows_each, &out->rows);
    lay_out(p->n, &out->columns_each, &out->columns);
    for (int i = 0; i < out->rows; i++)
        memset(out->marks[i], '.', (size_t)out->columns);
    g.row = malloc((size_t)p->n * dtype_bytes(p->dtype));
    g.expected = malloc((size_t)p->n * sizeof *g.expected);
    int code = g.row && g.expected ? look(&g, err) : error_set(err, EXIT_CODE_INTERNAL, "out of memory for a picture");
    free(g.row);
    free(g.expected);
    return code;
}

/* ---- the record ---- */

static cJSON *pair(double a, double b)
{
    const double both[] = {a, b};
    return cJSON_CreateDoubleArray(both, 2);
}

static cJSON *element_to_json(const struct wrong_element *e)
{
    cJSON *array = pair((double)e->row, (double)e->column);
    cJSON_AddItemToArray(array, json_number(e->expected));
    cJSON_AddItemToArray(array, isfinite(e->got) ? json_number(e->got) : cJSON_CreateNull());
    return array;
}

cJSON *picture_to_json(const struct picture *picture)
{
    cJSON *object = cJSON_CreateObject();
    cJSON *elements = cJSON_AddArrayToObject(object, "elements");
    for (size_t i = 0; i < picture->n_first; i++)
        cJSON_AddItemToArray(elements, element_to_json(&picture->first[i]));
    cJSON_AddItemToObject(object, "rows", pair((double)picture->row_range[0], (double)picture->row_range[1]));
    cJSON_AddItemToObject(object, "columns", pair((double)picture->column_range[0], (double)picture->column_range[1]));
    cJSON_AddItemToObject(object, "mark", pair((double)picture->rows_each, (double)picture->columns_each));
    cJSON *map = cJSON_AddArrayToObject(object, "map");
    for (int i = 0; i < picture->rows; i++)
        cJSON_AddItemToArray(map, cJSON_CreateString(picture->marks[i]));
    return object;
}
