/*
 * export_shapes.c - a tidy CSV of everything timed: a row for each cell, contender and timing, numbers as they are, for
 * pandas, R or DuckDB. Relies on overlap.c. Called by report.c through its table of exports.
 */
#include <math.h>

#include "model/problem.h"
#include "report/csv.h"
#include "report/exports.h"
#include "report/overlap.h"

static const char head[] =
    EXPORT_CELL_HEAD "contender,role,status,reason,timing,headline,blocks,"
                     "median_ns,median_low_ns,median_high_ns,p95_ns,p99_ns,tflops,cache,rotation,percent_of_roofline,"
                     "raced,race_gpu_seconds,joules,gflop_per_joule,batch_invariant,deterministic\n";

struct shapes {
    const struct export_request *request;
    struct text *out;
    bool rows[MODE_COUNT]; /* overlap_find of the result */
};

static void add_statistics(struct text *out, const struct result_cell *cell, const struct result_timing *t)
{
    export_add_number(out, t->n);
    export_add_number(out, t->median_ns);
    export_add_number(out, t->median_low_ns);
    export_add_number(out, t->median_high_ns);
    export_add_number(out, t->p95_ns);
    export_add_number(out, t->p99_ns);
    export_add_number(out, 2 * cell->m * cell->n * cell->k / t->median_ns / 1e3);
}

static void add_answer(struct text *out, enum result_answer answer)
{
    text_add(out, answer == ANSWER_NONE ? "," : answer == ANSWER_YES ? ",true" : ",false");
}

/* Of the contender in its cell, whatever the timing. */
static void add_others(struct text *out, const struct result_contender *c)
{
    export_add_number(out, c->tuning.raced > 0 ? c->tuning.raced : (double)NAN);
    export_add_number(out, c->tuning.raced > 0 ? c->tuning.busy_seconds : (double)NAN);
    export_add_number(out, c->energy.json ? c->energy.joules : (double)NAN);
    export_add_number(out, c->energy.json ? c->energy.gflop_per_joule : (double)NAN);
    add_answer(out, c->invariance.json ? c->invariance.batch_invariant : ANSWER_NONE);
    add_answer(out, c->invariance.json ? c->invariance.deterministic : ANSWER_NONE);
}

/* t: of that timing. */
static void add_row(const struct shapes *x, const struct result_cell *cell, const struct result_contender *c,
                    enum timing timing, const struct result_timing *t)
{
    struct text *out = x->out;
    export_add_cell(out, cell);
    export_add_word(out, c->name);
    export_add_word(out, result_role_name(c->role));
    export_add_word(out, c->status);
    export_add_word(out, c->reason);
    text_add(out, "%s,%d", overlap_timing(x->rows, cell->group.mode, result_timing_name(timing)),
             timing == cell->headline);
    add_statistics(out, cell, t);
    text_add(out, ",");
    export_add_word(out, cell->cache);
    csv_add(out, cell->rotation);
    export_add_number(out, 100 * cell->floor_ns / t->median_ns);
    add_others(out, c);
    text_add(out, "\n");
}

/* One row of its headline timing for who has no time at all, so that nobody who was there is missing. */
static void add_contender(const struct shapes *x, const struct result_cell *cell, const struct result_contender *c)
{
    bool any = false;
    for (int t = 0; t < TIMING_COUNT; t++) {
        if ((x->request->timing >= 0 && x->request->timing != t) || isnan(c->timings[t].n))
            continue;
        add_row(x, cell, c, (enum timing)t, &c->timings[t]);
        any = true;
    }
    if (!any)
        add_row(x, cell, c, cell->headline, result_headline(cell, c));
}

int export_shapes(const struct export_request *request, struct text *out, struct error *err)
{
    struct shapes x = {.request = request, .out = out};
    const struct result *result = request->result;
    overlap_find(result, x.rows);
    text_add(out, "%s", head);
    for (size_t i = 0; i < result->n_cells; i++)
        for (size_t c = 0; c < result->cells[i].n_contenders; c++)
            add_contender(&x, &result->cells[i], &result->cells[i].contenders[c]);
    return out->failed ? error_set(err, EXIT_CODE_INTERNAL, "out of memory for the report") : 0;
}
