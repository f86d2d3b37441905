/*
 * dataset.c - the lines (candidate, baseline, timing, shape, speedup) that tables and figures count, out of results or
 * published files. Relies on groups.c for their order. Called by report.c.
 */
#include "report/dataset.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/load.h"
#include "base/tree.h"

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
    if (d->n == d->capacity) {
        size_t capacity = d->capacity ? 2 * d->capacity : 64;
        struct line *grown = realloc(d->lines, capacity * sizeof *grown);
        if (!grown)
            return NULL;
        d->lines = grown;
        d->capacity = capacity;
    }
    struct line *line = &d->lines[d->n++];
    *line = *like;
    line->values = NULL;
    line->n = line->capacity = 0;
    return line;
}

int line_add(struct line *line, const struct shape_value *value)
{
    if (line->n == line->capacity) {
        size_t capacity = line->capacity ? 2 * line->capacity : 128;
        struct shape_value *grown = realloc(line->values, capacity * sizeof *grown);
        if (!grown)
            return -1;
        line->values = grown;
        line->capacity = capacity;
    }
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

bool dataset_has_layout(const char *name)
{
    size_t length = strlen(name);
    return length > 3 && (strcmp(name + length - 3, "-nn") == 0 || strcmp(name + length - 3, "-tn") == 0);
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
static int add_value(struct dataset *d, const cJSON *cell, const cJSON *s, const char *reference, struct error *err)
{
    struct line like = {.source = "measured"};
    const cJSON *ci = tree_member(s, "ci95");
    bool known = cJSON_GetArraySize(ci) == 2;
    struct shape_value value = {tree_number(cell, "m"),
                                tree_number(cell, "n"),
                                tree_number(cell, "k"),
                                tree_number(s, "mean_of_ratios"),
                                tree_number(s, "geomean"),
                                known ? ci->child->valuedouble : NAN,
                                known ? ci->child->next->valuedouble : NAN,
                                tree_true(cell, "converged")};
    if (isnan(value.mean) || isnan(value.geomean))
        return error_set(err, EXIT_CODE_DATA, "cell %s: a speedup without value", tree_text(cell, "key"));
    copy(like.mode, sizeof like.mode, tree_text(cell, "mode"));
    copy(like.dtype, sizeof like.dtype, tree_text(cell, "dtype"));
    copy(like.accumulate, sizeof like.accumulate, tree_text(cell, "accumulate"));
    copy(like.timing, sizeof like.timing, overlap_timing(d->rows, like.mode, tree_text(s, "timing")));
    copy(like.candidate, sizeof like.candidate, tree_text(s, "candidate"));
    copy(like.reference, sizeof like.reference, reference);
    struct line *line = dataset_line(d, &like);
    if (!line || line_add(line, &value))
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for the report");
    note_condition(line->cache, sizeof line->cache, tree_text(cell, "cache"));
    return 0;
}

static bool is_of(const cJSON *s, const char *candidate, const char *timing)
{
    return strcmp(tree_text(s, "candidate"), candidate) == 0 && strcmp(tree_text(s, "timing"), timing) == 0;
}

/* The least of a candidate's speedups over whole baselines, when it is `first`'s turn: NULL for all but the first of
 * them, and where there is no second. */
static const cJSON *over_fastest(const cJSON *cell, const cJSON *first)
{
    const char *candidate = tree_text(first, "candidate");
    const char *timing = tree_text(first, "timing");
    const cJSON *least = NULL;
    size_t n = 0;
    const cJSON *s;
    cJSON_ArrayForEach(s, tree_member(cell, "speedups"))
    {
        if (!is_of(s, candidate, timing) || dataset_has_layout(tree_text(s, "reference")))
            continue;
        if (n++ == 0 && s != first)
            return NULL;
        if (!least || tree_number(s, "geomean") < tree_number(least, "geomean"))
            least = s;
    }
    return n > 1 ? least : NULL;
}

static int add_speedup(struct dataset *d, const cJSON *cell, const cJSON *s, struct error *err)
{
    int code = add_value(d, cell, s, tree_text(s, "reference"), err);
    const cJSON *least = code == 0 ? over_fastest(cell, s) : NULL;
    return least ? add_value(d, cell, least, DATASET_FASTEST, err) : code;
}

/* Of every worker start: a report of several devices is one of --mixed. */
static void set_device(struct line *line, const cJSON *result)
{
    const cJSON *env;
    cJSON_ArrayForEach(env, tree_member(result, "env"))
    {
        note_condition(line->device, sizeof line->device, tree_text(tree_member(env, "device"), "name"));
    }
}

static void set_outcomes(struct dataset *d, const cJSON *result)
{
    for (size_t i = 0; i < d->n; i++) {
        struct line *line = &d->lines[i];
        if (strcmp(line->source, "measured") == 0)
            line->outcome = outcome_of(result, line->mode, line->dtype, line->accumulate);
        if (strcmp(line->source, "measured") == 0)
            set_device(line, result);
    }
}

int dataset_add_result(struct dataset *d, const cJSON *result, const char *timing, struct error *err)
{
    const cJSON *cell;
    int code = 0;
    overlap_find(result, d->rows);
    cJSON_ArrayForEach(cell, tree_member(result, "cells"))
    {
        const char *wanted = timing ? timing : tree_text(cell, "headline");
        const cJSON *s;
        cJSON_ArrayForEach(s, tree_member(cell, "speedups"))
        {
            if (code || dataset_has_layout(tree_text(s, "candidate")) || strcmp(tree_text(s, "timing"), wanted) != 0)
                continue;
            code = add_speedup(d, cell, s, err);
            if (code && load_file_of(result, cell))
                error_wrap(err, "%s", load_file_of(result, cell));
        }
    }
    set_outcomes(d, result);
    return code;
}
