/*
 * dataset.c - the lines (candidate, baseline, timing, shape, speedup) that tables and figures count, out of results or
 * published files. Relies on result/result.h. Called by report.c.
 */
#include "report/dataset.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "report/load.h"
#include "result/left_out.h"

static bool same_line(const struct line *a, const struct line *b)
{
    return strcmp(a->source, b->source) == 0 && strcmp(a->mode, b->mode) == 0 && strcmp(a->dtype, b->dtype) == 0 &&
           strcmp(a->accumulate, b->accumulate) == 0 && strcmp(a->timing, b->timing) == 0 &&
           strcmp(a->candidate, b->candidate) == 0 && strcmp(a->reference, b->reference) == 0;
}

const struct line *dataset_find(const struct dataset *d, const struct line *like)
{
    for (size_t i = 0; i < d->n; i++)
        if (same_line(&d->lines[i], like))
            return &d->lines[i];
    return NULL;
}

struct line *dataset_line(struct dataset *d, const struct line *like)
{
    for (size_t i = 0; i < d->n; i++)
        if (same_line(&d->lines[i], like))
            return &d->lines[i];
    struct line *grown = grow_for_one(d->lines, d->n, &d->capacity, sizeof *grown);
    if (!grown)
        return NULL;
    d->lines = grown;
    struct line *line = &d->lines[d->n++];
    *line = *like;
    line->values = NULL;
    line->n = line->capacity = line->left_out = 0;
    return line;
}

int line_add(struct line *line, const struct shape_value *value)
{
    struct shape_value *grown = grow_for_one(line->values, line->n, &line->capacity, sizeof *grown);
    if (!grown)
        return -1;
    line->values = grown;
    line->values[line->n++] = *value;
    return 0;
}

void dataset_free(struct dataset *d)
{
    for (size_t i = 0; i < d->n; i++)
        free(d->lines[i].values);
    free(d->lines);
    *d = (struct dataset){0};
}

static void drop_means(struct aggregate *a)
{
    a->mean = a->max_mean = a->sd = a->low = a->high = NAN;
}

void line_aggregate(const struct line *line, struct aggregate *out)
{
    double *columns = malloc((4 * line->n + 1) * sizeof *columns);
    *out = (struct aggregate){.mean = NAN, .sd = NAN, .low = NAN, .high = NAN, .geomean = NAN, .median = NAN};
    if (!columns)
        return;
    double *mean = columns;
    double *geomean = mean + line->n;
    double *low = geomean + line->n;
    double *high = low + line->n;
    for (size_t i = 0; i < line->n; i++) {
        mean[i] = line->values[i].mean;
        geomean[i] = line->values[i].geomean;
        low[i] = line->values[i].low;
        high[i] = line->values[i].high;
    }
    const struct aggregate_input in = {line->n, mean, geomean, low, high};
    aggregate_of(&in, out);
    if (!outcome_allows_mean(line->outcome))
        drop_means(out);
    free(columns);
}

/* ---- from results ---- */

/* "cudal2-nn", and "cudal2-nn+2", a search's second finalist in that layout. */
bool dataset_has_layout(const char *name)
{
    const char *plus = strrchr(name, '+');
    bool finalist = plus && plus[1] && plus[1 + strspn(plus + 1, "0123456789")] == '\0';
    size_t length = finalist ? (size_t)(plus - name) : strlen(name);
    return length > 3 && (strncmp(name + length - 3, "-nn", 3) == 0 || strncmp(name + length - 3, "-tn", 3) == 0);
}

static void copy(char *out, size_t capacity, const char *text)
{
    snprintf(out, capacity, "%s", text);
}

/* Keeps the first and says where another differs. */
static void note_condition(char *kept, size_t capacity, const char *here)
{
    if (here[0] && kept[0] && strncmp(kept, here, capacity - 1) != 0)
        here = "several";
    if (here[0])
        copy(kept, capacity, here);
}

/* Where the value belongs and what it is. */
static int add_value(struct dataset *d, const struct result_cell *cell, const struct result_pair *s,
                     const char *reference, struct error *err)
{
    struct line like = {.source = "measured"};
    const struct shape_value value = {cell->m,    cell->n,     cell->k,      s->mean_of_ratios,
                                      s->geomean, s->ci95.low, s->ci95.high, cell->converged};
    if (isnan(value.mean) || isnan(value.geomean))
        return error_set(err, EXIT_CODE_DATA, "cell %s: a speedup without value", cell->key);
    copy(like.mode, sizeof like.mode, cell->group.mode);
    copy(like.dtype, sizeof like.dtype, cell->group.dtype);
    copy(like.accumulate, sizeof like.accumulate, cell->group.accumulate);
    copy(like.timing, sizeof like.timing, overlap_timing(d->rows, like.mode, result_timing_name(s->timing)));
    copy(like.candidate, sizeof like.candidate, s->candidate);
    copy(like.reference, sizeof like.reference, reference);
    struct line *line = dataset_line(d, &like);
    if (!line || line_add(line, &value))
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for the report");
    note_condition(line->cache, sizeof line->cache, cell->cache);
    return 0;
}

/* Of every worker start: a report of several devices is one of --mixed. */
static void set_device(struct line *line, const struct result *result)
{
    for (size_t i = 0; i < result->n_env; i++)
        note_condition(line->device, sizeof line->device, result->env[i].device.name);
}

static void set_outcomes(struct dataset *d, const struct result *result)
{
    for (size_t i = 0; i < d->n; i++) {
        struct line *line = &d->lines[i];
        const struct result_group group = {line->mode, line->dtype, line->accumulate};
        if (strcmp(line->source, "measured") == 0)
            line->outcome = outcome_of(result, &group);
        if (strcmp(line->source, "measured") == 0)
            set_device(line, result);
    }
}

/* Of the lines of the timing that is being added. */
static void count_left_out(struct dataset *d, const struct result_cell *cell, const char *timing)
{
    int wanted = timing ? timing_find(timing) : (int)cell->headline;
    const char *called = wanted < 0 || wanted >= TIMING_COUNT ? "" : timing_names[wanted];
    for (size_t i = 0; i < d->n; i++) {
        struct line *line = &d->lines[i];
        const struct result_group group = {line->mode, line->dtype, line->accumulate};
        const struct left_out_pair pair = {line->candidate, line->reference, (enum timing)wanted, false};
        bool same = strcmp(line->source, "measured") == 0 && result_same_group(&group, &cell->group) &&
                    strcmp(line->timing, overlap_timing(d->rows, line->mode, called)) == 0;
        line->left_out += same && result_leaves_out(cell, &pair);
    }
}

static int add_cell(struct dataset *d, const struct result_cell *cell, const char *timing, struct error *err)
{
    const char *wanted = timing ? timing : result_timing_name(cell->headline);
    int code = 0;
    for (size_t i = 0; i < cell->n_speedups && code == 0; i++) {
        const struct result_pair *s = &cell->speedups[i];
        if (!dataset_has_layout(s->candidate) && strcmp(result_timing_name(s->timing), wanted) == 0)
            code = add_value(d, cell, s, s->reference, err);
    }
    return code;
}

int dataset_add_result(struct dataset *d, const struct result *result, const char *timing, struct error *err)
{
    int code = 0;
    overlap_find(result, d->rows);
    for (size_t i = 0; i < result->n_cells && code == 0; i++) {
        code = add_cell(d, &result->cells[i], timing, err);
        if (code && load_file_of(result, &result->cells[i]))
            error_wrap(err, "%s", load_file_of(result, &result->cells[i]));
    }
    for (size_t i = 0; i < result->n_cells && code == 0; i++)
        count_left_out(d, &result->cells[i], timing);
    set_outcomes(d, result);
    return code;
}
