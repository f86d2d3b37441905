/*
 * exports.c - walks a result for the exports: each contender's time and each speedup in a cell, handed to the form's
 * functions as plain values. Called by export_*.c.
 */
#include "report/exports.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/problem.h"
#include "report/csv.h"
#include "report/dataset.h"

static enum timing timing_of(const struct export_request *request, const struct result_cell *cell)
{
    return request->timing < 0 ? cell->headline : (enum timing)request->timing;
}

/* A walk over the cells; rows: overlap_find of the result. */
struct walk {
    const struct export_request *request;
    const struct export_visitor *visitor;
    void *context;
    bool rows[MODE_COUNT];
};

static const char *label_of(const struct walk *w, const struct result_cell *cell, enum timing timing)
{
    return overlap_timing(w->rows, cell->group.mode, result_timing_name(timing));
}

static void walk_times(const struct walk *w, const struct result_cell *cell)
{
    enum timing timing = timing_of(w->request, cell);
    for (size_t i = 0; i < cell->n_contenders && timing < TIMING_COUNT; i++) {
        const struct result_contender *c = &cell->contenders[i];
        struct export_time time = {cell, c, &c->timings[timing], c->name, label_of(w, cell, timing), NAN, NAN};
        time.median_ns = time.statistics->median_ns;
        if (c->verdict != VERDICT_OK || c->copy_of[0] || !(time.median_ns > 0))
            continue;
        time.tflops = 2 * cell->m * cell->n * cell->k / time.median_ns / 1e3;
        w->visitor->time(w->context, &time);
    }
}

static void walk_speedups(const struct walk *w, const struct result_cell *cell)
{
    for (size_t i = 0; i < cell->n_speedups; i++) {
        const struct result_pair *s = &cell->speedups[i];
        const struct export_speedup speedup = {
            .cell = cell,
            .candidate = s->candidate,
            .reference = s->reference,
            .timing = label_of(w, cell, s->timing),
            .ratio = 1 + s->geomean,
            .low = 1 + s->ci95.low,
            .high = 1 + s->ci95.high,
        };
        if (!dataset_has_layout(s->candidate) && s->timing == timing_of(w->request, cell) && !isnan(s->geomean))
            w->visitor->speedup(w->context, &speedup);
    }
}

void export_walk(const struct export_request *request, const struct export_visitor *visitor, void *context)
{
    struct walk w = {.request = request, .visitor = visitor, .context = context};
    overlap_find(request->result, w.rows);
    for (size_t i = 0; i < request->result->n_cells; i++) {
        if (visitor->time)
            walk_times(&w, &request->result->cells[i]);
        if (visitor->speedup)
            walk_speedups(&w, &request->result->cells[i]);
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

void export_add_word(struct text *out, const char *word)
{
    csv_add(out, word);
    text_add(out, ",");
}

void export_add_number(struct text *out, double value)
{
    text_add(out, ",");
    if (isfinite(value))
        text_add(out, "%.9g", value);
}

void export_add_cell(struct text *out, const struct result_cell *cell)
{
    char label[RESULT_LABEL_MAX];
    export_add_word(out, cell->group.mode);
    export_add_word(out, cell->group.dtype);
    export_add_word(out, cell->group.accumulate);
    text_add(out, "%.0f,%.0f,%.0f,", cell->m, cell->n, cell->k);
    export_add_word(out, result_cell_label(cell, label));
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
