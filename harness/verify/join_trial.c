/*
 * join_trial.c - tries each contender of a cell some times, and whether the trial can tell at all. Relies on
 * timed_check.c. Called by measure/cell_loop.c through a hook of the bench.
 */
#include "verify/join_trial.h"

#include <stdio.h>

#include "measure/join.h"
#include "measure/timed.h"
#include "verify/timed_check.h"

/* Of each contender so many, and up to so many more. */
#define TRIALS_LEAST 3u
#define TRIALS_MORE 3u

/* ---- the trap ---- */

/* Counts, right behind a veil, what it hides of A. */
struct bait {
    const struct bench *bench;
    const struct cudal2_operands *operands;
    uint64_t seed;
};

static int count_behind_veil(void *context, size_t set, char *why)
{
    struct bait *b = context;
    struct device *d = b->bench->device;
    const struct cudal2_problem *p = &b->bench->problem;
    const struct probe_veil veil = {*p, b->operands, ++b->seed};
    (void)set;
    int status = d->probes->veil(d, &veil, why);
    return status == CUDAL2_OK ? d->probes->count(d, b->operands->a, p->dtype, (uint64_t)(p->m * p->k), why) : status;
}

static int run_bait(struct bait *b, bool *joined, struct error *err)
{
    struct device *d = b->bench->device;
    const struct device_work work = {count_behind_veil, b, 0};
    const struct device_shape shape = {
        .launches = 1, .n_sets = 1, .loaded = true, .settled = true, .overlap = true, .join = JOIN_VEILS};
    struct device_segment *segment = NULL;
    double ns;
    int code = d->ops->prepare(d, &work, &shape, RUNG_GRAPH, &segment, err);
    *joined = code == 0 && d->ops->joined(segment);
    if (code == 0)
        code = d->ops->measure(d, segment, &ns, err);
    if (segment != NULL)
        d->ops->release_segment(d, segment);
    return code;
}

/* Whether a kernel that does not wait sees what a veil hides. Once outside a capture first. */
static int try_trap(struct bench *bench, bool *works, struct error *err)
{
    struct device *d = bench->device;
    struct bait bait = {bench, operands_sets(bench->operands, bench->entrants[0].contender->is.layout),
                        timed_draw(bench)};
    char why[CUDAL2_WHY] = "";
    uint64_t seen = 0;
    if (count_behind_veil(&bait, 0, why) != CUDAL2_OK)
        return error_set(err, EXIT_CODE_INTERNAL, "trying a veil: %s", why);
    int code = d->probes->read_count(d, &seen, err);
    if (code == 0)
        code = run_bait(&bait, works, err);
    if (code == 0)
        code = d->probes->read_count(d, &seen, err);
    *works = *works && seen > 0;
    return code;
}

/* ---- contenders ---- */

static int try_once(struct bench *bench, struct entrant *e, struct random *random, const char **why, struct error *err)
{
    struct timed_check t = {.bench = bench, .entrant = e, .random = random, .veiled = true};
    static const char *const found[] = {
        [TIMED_CHECK_PLAIN] = "no kernel of its own comes first in a launch",
        [TIMED_CHECK_EARLY] = "it asks for overlap itself",
    };
    int code = timed_check_between(&t, err);
    if (code == 0 && t.edges != TIMED_CHECK_JOINED)
        *why = found[t.edges];
    else if (code == 0 && t.verdict != VERDICT_OK)
        *why = "it does not wait for the launch ahead before it reads";
    return code == 0 ? timed_check_restore(&t, err) : code;
}

/* A worker that it costs is the trial's fault (JOIN_TAG). */
static int try_entrant(struct bench *bench, struct entrant *e, struct random *random, struct error *err)
{
    unsigned trials = TRIALS_LEAST + (unsigned)random_below(random, TRIALS_MORE + 1);
    const struct skipped_variant *lost = bench_skipped(bench, e, JOIN_TAG);
    const char *why = lost != NULL ? lost->reason : NULL;
    int code = 0;
    e->joins = why == NULL;
    bench_stage(bench, e, "measure", bench->config->limits.launch_seconds);
    for (unsigned i = 0; i < trials && code == 0 && why == NULL; i++)
        code = try_once(bench, e, random, &why, err);
    e->record->joined = code == 0 && why == NULL;
    return e->record->joined ? 0 : join_end(bench, e, code != 0 ? err->text : why, err);
}

/* What no contender is tried for, or NULL. A C that is an input, or has gaps, is none that a veil hides. */
static const char *why_not(const struct bench *bench)
{
    const struct device *d = bench->device;
    if (d->probes == NULL || d->probes->veil == NULL || d->ops->joined == NULL)
        return "nothing can overlap on this device";
    if (bench->timed == NULL)
        return "results of timed launches are not checked (verify)";
    if (problem_reads_c(&bench->problem) || !problem_is_packed(&bench->problem))
        return "not tried with a C that is read, or with leading dimensions";
    return NULL;
}

static bool is_tried(const struct entrant *e)
{
    return e->alive && e->set_up && !e->record->invalid;
}

static int refuse_all(struct bench *bench, const char *why)
{
    for (size_t i = 0; i < bench->n_entrants; i++)
        snprintf(bench->entrants[i].record->join_reason, RECORD_REASON_MAX, "%s", why);
    return 0;
}

int join_trial_all(struct bench *bench, struct error *err)
{
    struct random random;
    bool works = false;
    if (!join_is_wanted(bench) || bench->n_entrants == 0)
        return 0;
    const char *why = why_not(bench);
    if (why != NULL)
        return refuse_all(bench, why);
    random_seed(&random, timed_draw(bench));
    bench_stage(bench, NULL, "measure", bench->config->limits.launch_seconds);
    int code = try_trap(bench, &works, err);
    if (code == 0 && !works)
        return refuse_all(bench, "what does not wait is not seen here: a trial would tell nothing");
    for (size_t i = 0; i < bench->n_entrants && code == 0; i++)
        if (is_tried(&bench->entrants[i]))
            code = try_entrant(bench, &bench->entrants[i], &random, err);
    return code;
}
