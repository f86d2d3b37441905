/*
 * export_medians.c - one CSV line for each round of each contender. Relies on rounds.c, so each source needs its
 * journal. Called by report.c through its table of exports.
 */
#include "model/problem.h"
#include "report/csv.h"
#include "report/exports.h"
#include "report/rounds.h"

static int add_round(void *context, const struct round *r, struct error *err)
{
    const struct cudal2_problem *p = &r->cell->problem;
    struct text *out = context;
    char args[PROBLEM_ARGS_MAX];
    problem_args(p, args);
    text_add(out, "%s,%s,%s,%u,%u,%u%s%s,", mode_names[r->cell->mode], dtype_names[p->dtype],
             accumulate_names[p->accumulate], (unsigned)p->m, (unsigned)p->n, (unsigned)p->k, args[0] ? ":" : "", args);
    csv_add(out, r->contender->name);
    text_add(out, ",%s,%u,%zu,%.9g,%d\n", timing_names[r->timing], r->group, r->blocks, r->median_ns, r->slowed);
    return out->failed ? error_set(err, EXIT_CODE_INTERNAL, "out of memory for the report") : 0;
}

int export_medians(const struct export_request *request, struct text *out, struct error *err)
{
    int code = 0;
    text_add(out, "mode,dtype,accumulate,m,n,k,contender,timing,round,blocks,median_ns,slowed\n");
    for (size_t i = 0; i < request->n && code == 0; i++)
        code = rounds_visit(request->paths[i], request->timing, add_round, out, err);
    return code;
}
