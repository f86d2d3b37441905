/*
 * fence.c - one launch on matrices that end, and then begin, at pages nobody has. What reads beyond dies here, under
 * the stage STAGE_FENCE. Relies on the device's virtual memory. Called by worker/cell.c after verification.
 */
#include "verify/fence.h"

#include <string.h>

#include "measure/room.h"
#include "verify/timed_check.h"

/* A, B and C of one set, each with fences of its own. */
enum { FENCED_A, FENCED_B, FENCED_C, FENCED };

struct enclosure {
    struct bench *bench;
    struct entrant *entrant;
    struct probe_fence fences[FENCED];
    struct cudal2_operands operands;
};

static void open_up(struct enclosure *e)
{
    struct device *d = e->bench->device;
    for (int i = 0; i < FENCED; i++)
        d->probes->unfence(d, &e->fences[i]);
}

static uint64_t bytes_of(const struct cudal2_problem *p, enum cudal2_layout layout, int matrix)
{
    const struct matrix_extent extents[] = {problem_a(p), problem_b(p, layout), problem_c(p)};
    return extent_elements(&extents[matrix]) * dtype_bytes(p->dtype);
}

/* NaN in the gaps of all three: what is done to those of C the guards have shown. */
static int open_matrix(struct enclosure *e, int matrix, bool at_end, struct error *err)
{
    struct device *d = e->bench->device;
    uint64_t bytes = bytes_of(&e->bench->problem, e->entrant->contender->is.layout, matrix);
    int code = d->probes->fence(d, bytes, at_end, &e->fences[matrix], err);
    const struct probe_region region = {e->fences[matrix].memory, bytes};
    if (code != 0 || problem_is_packed(&e->bench->problem))
        return code;
    return d->probes->pattern(d, &region, 1, PROBE_POISON, err);
}

static int enclose(struct enclosure *e, bool at_end, struct error *err)
{
    struct device *d = e->bench->device;
    const struct cudal2_problem *p = &e->bench->problem;
    bool tn = e->entrant->contender->is.layout == CUDAL2_TN;
    const struct fill fills[] = {
        {FILL_SPREAD_A, p->dtype, 1, 0, p->m, p->k, false, p->lda, bench_pool(e->bench)},
        {FILL_SPREAD_B, p->dtype, 2, 0, p->k, p->n, tn, p->ldb, bench_pool(e->bench)},
        {problem_reads_c(p) ? FILL_NORMAL : FILL_POISON, p->dtype, 0, 0, p->m, p->n, false, p->ldc, 0}};
    int code = 0;
    for (int i = 0; i < FENCED && code == 0; i++)
        code = open_matrix(e, i, at_end, err);
    for (int i = 0; i < FENCED && code == 0; i++)
        code = d->ops->fill(d, e->fences[i].memory, &fills[i], err);
    e->operands =
        (struct cudal2_operands){e->fences[FENCED_A].memory, e->fences[FENCED_B].memory, e->fences[FENCED_C].memory};
    return code == 0 ? d->ops->sync(d, err) : code;
}

/* A state beside the entrant's own. What setup or launch refuse here they were asked before or will be again. */
static int launch_enclosed(struct enclosure *e, struct error *err)
{
    const struct contender *c = e->entrant->contender;
    struct device *d = e->bench->device;
    struct cudal2_setup setup = bench_setup(e->bench, e->entrant, e->entrant->variant[0] ? e->entrant->variant : NULL);
    char why[CUDAL2_WHY];
    void *state = NULL;
    setup.sets = &e->operands;
    setup.n_sets = 1;
    if (c->ops->setup(c, &setup, &state, why) != CUDAL2_OK)
        return 0;
    (void)c->ops->launch(c, state, 0, why);
    int code = d->ops->sync(d, err);
    if (code == 0)
        c->ops->teardown(c, state);
    return code;
}

/* An error of the harness's own calls while the device is well is no reason to end. */
static int try_fences(struct bench *bench, struct entrant *entrant, bool at_end, struct error *err)
{
    struct enclosure e = {.bench = bench, .entrant = entrant};
    struct error settle_error;
    int code = enclose(&e, at_end, err);
    if (code == 0)
        code = launch_enclosed(&e, err);
    if (code != 0 && bench->device->ops->settle(bench->device, &settle_error) != 0) {
        error_wrap(err, "%s beside an unmapped page", entrant->record->name);
        err->code = EXIT_CODE_UNAVAILABLE;
        return err->code;
    }
    open_up(&e);
    return 0;
}

/* After every launch so far. */
static int try_gaps(struct bench *bench, struct entrant *entrant, struct error *err)
{
    const struct probe_region c = operands_output(bench->operands, entrant->first_set);
    char why[RECORD_REASON_MAX];
    uint64_t written = 0;
    int code = gaps_check(bench, c.memory, &written, why, err);
    if (code == 0 && written > 0)
        entrant_refute(bench, entrant, VERDICT_OOB_WRITE, STAGE_FENCE, why);
    return code;
}

/* One launch on the entrant's first set between patterned guards. */
static int try_guards(struct bench *bench, struct entrant *entrant, struct error *err)
{
    struct device *d = bench->device;
    struct probe_region guards[OPERANDS_GUARDS];
    uint64_t before[OPERANDS_GUARDS], after[OPERANDS_GUARDS];
    char why[CUDAL2_WHY];
    size_t n = operands_guards(bench->operands, entrant->first_set, guards);
    int code = d->probes->pattern(d, guards, n, PROBE_GUARD, err);
    if (code == 0)
        code = d->probes->digest(d, guards, n, before, err);
    if (code == 0 && entrant->work.launch(entrant->work.context, 0, why) == CUDAL2_OK)
        code = d->ops->sync(d, err);
    if (code == 0)
        code = d->probes->digest(d, guards, n, after, err);
    if (code != 0)
        return entrant_fault(bench, entrant, STAGE_FENCE, err);
    if (memcmp(before, after, n * sizeof *before) != 0)
        entrant_refute(bench, entrant, VERDICT_OOB_WRITE, STAGE_FENCE,
                       "bytes that border on a matrix are not what they were");
    return entrant->alive && !entrant->record->invalid ? try_gaps(bench, entrant, err) : 0;
}

static bool has_room(struct bench *bench)
{
    uint64_t wanted = 0;
    for (int i = 0; i < FENCED; i++)
        wanted += bytes_of(&bench->problem, CUDAL2_NN, i);
    return wanted < bench_room(bench) / 2;
}

static bool is_wanted(const struct entrant *e)
{
    bool passed = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(e->record->verification, "cached"));
    return e->alive && e->set_up && !e->record->invalid && e->record->candidate && e->record->copy_of[0] == '\0' &&
           !passed;
}

int fence_check(struct bench *bench, struct error *err)
{
    int code = 0;
    if (!bench->config->honesty || bench->device->probes == NULL || bench->device->probes->fence == NULL ||
        !has_room(bench))
        return 0;
    for (size_t i = 0; i < bench->n_entrants && code == 0; i++) {
        struct entrant *e = &bench->entrants[i];
        if (!is_wanted(e))
            continue;
        bench_stage(bench, e, STAGE_FENCE, bench->config->limits.setup_seconds);
        code = try_guards(bench, e, err);
        for (int at_end = 1; at_end >= 0 && code == 0 && is_wanted(e); at_end--)
            code = try_fences(bench, e, at_end, err);
    }
    return code;
}
