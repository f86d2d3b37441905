/*
 * export_shapes.c - a tidy CSV of everything timed: a row for each cell, contender and timing, numbers as they are, for
 * pandas, R or DuckDB.
 */
#include <math.h>
#include <string.h>

#include "model/problem.h"
#include "report/csv.h"
#include "report/exports.h"
#include "report/overlap.h"
#include "base/tree.h"

static const char head[] = "mode,dtype,accumulate,m,n,k,label,contender,role,status,reason,timing,headline,blocks,"
                           "median_ns,median_low_ns,median_high_ns,p95_ns,p99_ns,tflops\n";

static void add_words(struct text *out, const cJSON *object, const char *const *keys)
{
    for (size_t i = 0; keys[i]; i++) {
        csv_add(out, tree_text(object, keys[i]));
        text_add(out, ",");
    }
}

static void add_number(struct text *out, double value)
{
    text_add(out, ",");
    if (isfinite(value))
        text_add(out, "%.9g", value);
}

static void add_cell(struct text *out, const cJSON *cell)
{
    static const char *const keys[] = {"mode", "dtype", "accumulate", NULL};
    static const char *const label[] = {"label", NULL};
    add_words(out, cell, keys);
    text_add(out, "%.0f,%.0f,%.0f,", tree_number(cell, "m"), tree_number(cell, "n"), tree_number(cell, "k"));
    add_words(out, cell, label);
}

static double tflops_of(const cJSON *cell, double ns)
{
    return 2 * tree_number(cell, "m") * tree_number(cell, "n") * tree_number(cell, "k") / ns / 1e3;
}

struct shapes {
    const struct export_request *request;
    struct text *out;
    bool rows[MODE_COUNT]; /* overlap_find of the result */
};

static void add_row(const struct shapes *x, const cJSON *cell, const cJSON *contender, const char *timing)
{
    static const char *const keys[] = {"role", "status", "reason", NULL};
    static const char *const numbers[] = {"n",      "median_ns", "median_low_ns", "median_high_ns", "p95_ns",
                                          "p99_ns", NULL};
    const cJSON *statistics = tree_member(tree_member(contender, "timings"), timing);
    struct text *out = x->out;
    add_cell(out, cell);
    csv_add(out, contender->string);
    text_add(out, ",");
    add_words(out, contender, keys);
    text_add(out, "%s,%d", overlap_timing(x->rows, tree_text(cell, "mode"), timing),
             strcmp(timing, tree_text(cell, "headline")) == 0);
    for (size_t i = 0; numbers[i]; i++)
        add_number(out, tree_number(statistics, numbers[i]));
    add_number(out, tflops_of(cell, tree_number(statistics, "median_ns")));
    text_add(out, "\n");
}

/* One row of its headline timing for who has no time at all, so that nobody who was there is missing. */
static void add_contender(const struct shapes *x, const cJSON *cell, const cJSON *contender)
{
    bool any = false;
    for (int t = 0; timing_names[t]; t++) {
        if ((x->request->timing >= 0 && x->request->timing != t) ||
            !tree_member(tree_member(tree_member(contender, "timings"), timing_names[t]), "n"))
            continue;
        add_row(x, cell, contender, timing_names[t]);
        any = true;
    }
    if (!any)
        add_row(x, cell, contender, tree_text(cell, "headline"));
}

int export_shapes(const struct export_request *request, struct text *out, struct error *err)
{
    struct shapes x = {.request = request, .out = out};
    const cJSON *cell;
    overlap_find(request->result, x.rows);
    text_add(out, "%s", head);
    cJSON_ArrayForEach(cell, tree_member(request->result, "cells"))
    {
        const cJSON *contender;
        cJSON_ArrayForEach(contender, tree_member(cell, "contenders")) add_contender(&x, cell, contender);
    }
    return out->failed ? error_set(err, EXIT_CODE_INTERNAL, "out of memory for the report") : 0;
}
