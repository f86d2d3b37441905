/*
 * timed_segment.c - ahead of a segment: chooses whether it is checked, and then disturbs inputs and spoils C. Relies on
 * the device's probes. Called by segment.c and the trials of verify/.
 */
#include "measure/timed.h"

#include <math.h>

#include "measure/row_check.h"
#include "measure/spoil.h"
#include "measure/timed_state.h"

bool timed_chooses(struct bench *bench, const struct timed_cost *cost)
{
    if (bench->config->timed == TIMED_ALL || cost->checks < 1 || cost->runs < 1)
        return true;
    double share = TIMED_SEGMENT_SHARE * (cost->runs_ns / cost->runs) / fmax(cost->checks_ns / cost->checks, 1);
    return random_unit(&bench->timed->random) < fmax(share, TIMED_SEGMENT_LEAST);
}

/* A candidate's rows are judged at moments that are drawn one after the other, more densely at the beginning: a short
 * cell has some as well. */
static bool is_row_due(const struct bench *bench, struct entrant *e)
{
    struct timed_counts *counts = &e->timed;
    if (!e->record->candidate || counts->launches < counts->due || !row_check_possible(bench, e))
        return false;
    uint64_t most = TIMED_ROW_GAP + counts->launches / TIMED_ROW_GAP_SHARE;
    counts->due = counts->launches + 1 + random_below(&bench->timed->random, most);
    return true;
}

static int disturb_sets(struct bench *bench, const struct entrant *entrant, size_t n, bool sparse, struct error *err)
{
    struct timed *t = bench->timed;
    enum probe_spoil spoil = sparse ? spoil_draw_some(&t->random) : spoil_draw(&t->random);
    const struct probe_renewal renewal = {.problem = bench->problem,
                                          .layout = entrant->contender->is.layout,
                                          .operands = timed_first_set(bench, entrant),
                                          .pool = t->pool,
                                          .spoil = spoil,
                                          .sparse = sparse,
                                          .seed = random_next(&t->random)};
    return bench->device->probes->disturb(bench->device, &renewal, n, err);
}

int timed_disturb_sets(struct bench *bench, const struct entrant *entrant, size_t n, struct error *err)
{
    return disturb_sets(bench, entrant, n, false, err);
}

/* Launches that are timed by themselves may have new inputs each time instead (timed_renew). */
static bool is_disturbed(const struct bench *bench, enum timing timing)
{
    const struct probe_ops *probes = bench->device->probes;
    return bench->timed != NULL && bench->judging && probes->disturb != NULL &&
           (timing_is_segment(timing) || probes->renew == NULL);
}

bool timed_lets_put(const struct bench *bench)
{
    return is_disturbed(bench, bench->headline);
}

/* The trial that runs puts what the launch is to find, and judges it. */
static int let_put(struct bench *bench, struct error *err)
{
    struct timed *t = bench->timed;
    double start = timed_now_ns(bench);
    int code = bench->renewed(bench->renewed_context, err);
    t->chosen = t->row_due = false;
    t->since = 0;
    t->others_ns += timed_now_ns(bench) - start;
    return code;
}

int timed_disturb(struct bench *bench, struct entrant *entrant, enum timing timing, bool always, struct error *err)
{
    struct timed *t = bench->timed;
    bool alone = !timing_is_segment(timing);
    if (!is_disturbed(bench, timing))
        return 0;
    if (bench->renewed != NULL)
        return let_put(bench, err);
    double start = timed_now_ns(bench);
    t->row_due = !alone && is_row_due(bench, entrant);
    t->chosen = timed_chooses(bench, &t->cost) || t->row_due;
    t->chosen |= entrant->timed.owed && timing == bench->headline;
    if (!t->chosen && !always) {
        t->since = start;
        return 0;
    }
    size_t n = alone ? 1 : bench_row(bench, entrant, timing)->shape.n_sets;
    int code = disturb_sets(bench, entrant, n, spoil_is_sparse(bench), err);
    t->since = timed_now_ns(bench);
    *(t->chosen ? &t->cost.checks_ns : &t->others_ns) += t->since - start;
    return code;
}
