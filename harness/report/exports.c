/*
 * exports.c - walks a result for the exports: each contender's time and each speedup in a cell, handed to the form's
 * functions as plain values. Relies on base/tree.h. Called by export_*.c.
 */
#include "report/exports.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/problem.h"
#include "report/dataset.h"
#include "base/tree.h"

static const char *timing_of(const struct export_request *request, const cJSON *cell)
{
    return request->timing < 0 ? tree_text(cell, "headline") : timing_names[request->timing];
}

/* A walk over the cells; rows: overlap_find of the result. */
struct walk {
    const struct export_request *request;
    const struct export_visitor *visitor;
    void *context;
    bool rows[MODE_COUNT];
};

static const char *label_of(const struct walk *w, const cJSON *cell, const char *timing)
{
    return overlap_timing(w->rows, tree_text(cell, "mode"), timing);
}

static void walk_times(const struct walk *w, const cJSON *cell)
{
    const cJSON *contender;
    double flops = 2 * tree_number(cell, "m") * tree_number(cell, "n") * tree_number(cell, "k");
    tree_each(contender, tree_member(cell, "contenders"))
    {
        struct export_time time = {cell, contender, NULL, contender->string, timing_of(w->request, cell), NAN, NAN};
        time.statistics = tree_member(tree_member(contender, "timings"), time.timing);
        time.median_ns = tree_number(time.statistics, "median_ns");
        if (strcmp(tree_text(contender, "status"), "ok") != 0 || tree_text(contender, "copy_of")[0] ||
            !(time.median_ns > 0))
            continue;
        time.tflops = flops / time.median_ns / 1e3;
        time.timing = label_of(w, cell, time.timing);
        w->visitor->time(w->context, &time);
    }
}

static void walk_speedups(const struct walk *w, const cJSON *cell)
{
    const cJSON *s;
    cJSON_ArrayForEach(s, tree_member(cell, "speedups"))
    {
        const cJSON *ci = tree_member(s, "ci95");
        bool known = cJSON_GetArraySize(ci) == 2;
        struct export_speedup speedup = {
            .cell = cell,
            .candidate = tree_text(s, "candidate"),
            .reference = tree_text(s, "reference"),
            .timing = tree_text(s, "timing"),
            .ratio = 1 + tree_number(s, "geomean"),
            .low = known ? 1 + ci->child->valuedouble : (double)NAN,
            .high = known ? 1 + ci->child->next->valuedouble : (double)NAN,
        };
        if (dataset_has_layout(speedup.candidate) || strcmp(speedup.timing, timing_of(w->request, cell)) != 0 ||
            isnan(speedup.ratio))
            continue;
        speedup.timing = label_of(w, cell, speedup.timing);
        w->visitor->speedup(w->context, &speedup);
    }
}

void export_walk(const struct export_request *request, const struct export_visitor *visitor, void *context)
{
    const cJSON *cell;
    struct walk w = {.request = request, .visitor = visitor, .context = context};
    overlap_find(request->result, w.rows);
    cJSON_ArrayForEach(cell, tree_member(request->result, "cells"))
    {
        if (visitor->time)
            walk_times(&w, cell);
        if (visitor->speedup)
            walk_speedups(&w, cell);
    }
}

static void note_time(void *context, const struct export_time *time)
{
    bool *found = context;
    (void)time;
    *found = true;
}

bool export_has_times(const struct export_request *request)
{
    static const struct export_visitor visitor = {note_time, NULL};
    bool found = false;
    export_walk(request, &visitor, &found);
    return found;
}

int export_print(cJSON *tree, struct text *out, struct error *err)
{
    char *printed = tree ? json_print(tree, false) : NULL;
    if (printed)
        text_add_bytes(out, printed, strlen(printed));
    text_add(out, "\n");
    bool failed = !printed || out->failed;
    free(printed);
    cJSON_Delete(tree);
    return failed ? error_set(err, EXIT_CODE_INTERNAL, "out of memory for the report") : 0;
}
