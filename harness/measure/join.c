/*
 * join.c - whether rows are to be joined, and the end of it for a contender. Relies on bench.h. Called by segment.c and
 * verify/join_trial.c.
 */
#include "measure/join.h"

#include <math.h>
#include <stdio.h>

bool join_is_wanted(const struct bench *bench)
{
    bool takes = false;
    for (int t = 0; t < TIMING_COUNT; t++)
        takes |= timing_table[t].overlaps && ((int)bench->headline == t || bench_takes_beside(bench, (enum timing)t));
    return bench->config->join_rows && takes && bench->mode == MODE_OFFLINE;
}

int join_end(struct bench *bench, struct entrant *entrant, const char *why, struct error *err)
{
    struct contender_record *r = entrant->record;
    entrant->joins = r->joined = false;
    entrant->passes_ns = NAN; /* of a block that has begun: no mean of both */
    snprintf(r->join_reason, sizeof r->join_reason, "%s", why);
    for (int t = 0; t < TIMING_COUNT; t++)
        if (timing_table[t].overlaps)
            series_free(&r->timings[t]);
    if (bench->device->ops->settle(bench->device, err) == 0)
        return 0;
    bench->report = NULL; /* the page keeps this name, and that it was joined */
    return EXIT_CODE_UNAVAILABLE;
}
