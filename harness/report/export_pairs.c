/*
 * export_pairs.c - a tidy CSV of every speedup: a row for each cell, candidate, baseline and timing, for pandas, R or
 * DuckDB, and for scripts/import/receipts.py. Relies on the visitor of exports.c. Called by report.c through its table
 * of exports.
 */
#include "report/csv.h"
#include "report/exports.h"

struct pairs {
    struct text *out;
    enum timing timing; /* of the rows that are being added */
};

static void add_row(void *context, const struct export_speedup *s)
{
    const struct pairs *x = context;
    export_add_cell(x->out, s->cell);
    export_add_word(x->out, s->candidate);
    export_add_word(x->out, s->reference);
    text_add(x->out, "%s,%d", s->timing, s->cell->headline == x->timing);
    export_add_number(x->out, s->ratio);
    export_add_number(x->out, s->low);
    export_add_number(x->out, s->high);
    text_add(x->out, ",");
    csv_add(x->out, s->cell->cache);
    text_add(x->out, "\n");
}

int export_pairs(const struct export_request *request, struct text *out, struct error *err)
{
    static const struct export_visitor visitor = {NULL, add_row};
    text_add(out, "%s", EXPORT_CELL_HEAD "candidate,baseline,timing,headline,speedup,low,high,cache\n");
    for (int t = 0; t < TIMING_COUNT; t++) {
        struct export_request one = *request;
        struct pairs x = {out, (enum timing)t};
        one.timing = t;
        if (request->timing < 0 || request->timing == t)
            export_walk(&one, &visitor, &x);
    }
    return out->failed ? error_set(err, EXIT_CODE_INTERNAL, "out of memory for the report") : 0;
}
