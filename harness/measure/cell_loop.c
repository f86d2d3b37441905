/*
 * cell_loop.c - opens groups (new inputs, places, setups, graphs), runs their blocks and asks stop.c after each.
 * Samples health and runs the checks between blocks. Called by worker/cell.c once a cell.
 */
#include "measure/cell_loop.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/block.h"
#include "measure/chain.h"
#include "measure/parts.h"
#include "measure/segment.h"
#include "measure/stop.h"

#define COOLED_AFTER_NS 3e6

/* The first group's is waited for. From then on the device fills while the host sets contenders up and captures their
 * launches, all of which come behind it in the stream; prepare_group waits for everything before anything is timed. */
static int fill_group(struct bench *bench, unsigned group, struct error *err)
{
    bench_stage(bench, NULL, "operands", bench->config->limits.setup_seconds);
    if (group > 0)
        bench_teardown_all(bench);
    parts_end(bench, PART_TEARDOWN);
    int code = group == 0 ? 0 : bench_move(bench, random_derive(bench->seed, "addresses", group), err);
    parts_end(bench, PART_PLACES);
    if (code == 0)
        code = group == 0 ? bench_fill(bench, "group", group, err) : bench_begin_fill(bench, "group", group, err);
    parts_end(bench, PART_FILL);
    return code;
}

static double fastest_estimate(const struct bench *bench)
{
    double fastest = INFINITY;
    for (size_t i = 0; i < bench->n_entrants; i++)
        if (bench->entrants[i].alive)
            fastest = fmin(fastest, bench->entrants[i].estimate_ns);
    return fastest;
}

/* A kernel that is a library's by its name; of CUTLASS, which anybody may build, only where there is no other. */
static void keep_borrowed(const struct bench *bench, struct entrant *e)
{
    const char *kernel = bench->device->ops->borrowed ? bench->device->ops->borrowed(e->row.segment) : "";
    const char *library = borrowed_kernel(kernel);
    bool better = e->borrowed[0] == '\0' || strncmp(e->borrowed, "CUTLASS", 7) == 0;
    if (library && better)
        snprintf(e->borrowed, sizeof e->borrowed, "%s: %.100s", library, kernel);
}

static void keep_segment(const struct bench *bench, struct entrant *e)
{
    if (e->row.segment == NULL)
        return;
    unsigned visits = device_shape_visits(&e->row.shape);
    if (visits > 1 && visits > bench->record->visits)
        bench->record->visits = visits;
    enum device_rung rung = bench->device->ops->rung(e->row.segment);
    snprintf(e->record->rung, sizeof e->record->rung, "%s", device_rung_names[rung]);
    /* A later group begins on the rung that the first one came down to, and gives no reason. */
    const char *reason = bench->device->ops->rung_reason(e->row.segment);
    if (reason[0] != '\0')
        snprintf(e->record->rung_reason, sizeof e->record->rung_reason, "%s", reason);
    e->record->host_sync = rung == RUNG_EVENTS;
    e->record->early |= bench->device->ops->early != NULL && bench->device->ops->early(e->row.segment);
    keep_borrowed(bench, e);
}

static bool group_takes_others(const struct bench *bench)
{
    bool wanted = false;
    for (unsigned i = 0; i < bench->config->stop.group_blocks; i++)
        wanted = wanted || block_takes_others(bench, bench->record->blocks + i);
    return wanted;
}

/* Before any segment: each ends by waiting for the device, which would be for the segments' first replays. */
static void prepare_equal_paths(struct bench *bench)
{
    bool wanted = group_takes_others(bench);
    for (size_t i = 0; i < bench->n_entrants && wanted; i++)
        if (bench->entrants[i].alive)
            segment_prepare_equal_path(bench, &bench->entrants[i]);
}

/* In an order of the group's own: what was prepared last has run last, and always preparing the A/A copy last made it
 * 0.06% faster than its original on average of the grid. */
static int prepare_group(struct bench *bench, unsigned group, struct error *err)
{
    bool others = group_takes_others(bench);
    unsigned order[RECORD_MAX_CONTENDERS];
    struct random random;
    int code = 0;
    random_seed(&random, random_derive(bench->seed, "prepare", group));
    for (unsigned i = 0; i < bench->n_entrants; i++)
        order[i] = i;
    random_shuffle(&random, order, bench->n_entrants);
    prepare_equal_paths(bench);
    for (size_t i = 0; i < bench->n_entrants && code == 0; i++) {
        struct entrant *e = &bench->entrants[order[i]];
        if (e->alive)
            code = segment_prepare(bench, e, SEGMENT_TARGET_NS, bench->fastest_ns, err);
        if (e->alive && code == 0 && others)
            code = segment_prepare_null(bench, e, err);
        if (e->alive && code == 0 && others)
            code = segment_prepare_beside(bench, e, err);
        if (e->alive && code == 0 && bench->chain != NULL)
            code = chain_prepare(bench, e, err);
        if (e->alive && code == 0)
            keep_segment(bench, e);
    }
    segment_note_held(bench);
    if (code == 0)
        code = bench->device->ops->sync(bench->device, err);
    parts_end(bench, PART_GRAPHS);
    return code;
}

/* Whoever is alive, set up on the group's matrices: one right behind the other, so that what a setup may leave changed
 * is looked for once between two of them. */
static int set_up_group(struct bench *bench, struct error *err)
{
    int code = 0;
    bench->in_row = true;
    bench->state_seen = false;
    leak_meter_begin_row(&bench->leak_meter);
    for (size_t i = 0; i < bench->n_entrants && code == 0; i++)
        if (bench->entrants[i].alive && !bench->entrants[i].set_up)
            code = entrant_begin(bench, &bench->entrants[i], err);
    leak_meter_end_row(&bench->leak_meter);
    bench->in_row = false;
    return code;
}

static int open_group(struct bench *bench, unsigned group, struct error *err)
{
    int code = fill_group(bench, group, err);
    if (bench->null_segment != NULL)
        bench->device->ops->release_segment(bench->device, bench->null_segment);
    bench->null_segment = NULL;
    bench->record->groups = group + 1;
    bench->warmed = group > 0;
    if (code == 0)
        code = set_up_group(bench, err);
    for (size_t i = 0; i < bench->n_entrants && code == 0; i++) {
        struct entrant *e = &bench->entrants[i];
        if (e->alive && group == 0)
            code = segment_estimate(bench, e, err);
        if (e->alive && code == 0)
            entrant_describe(bench, e);
    }
    if (code == 0 && group == 0 && bench->try_joins != NULL)
        code = bench->try_joins(bench, err);
    bench->fastest_ns = fastest_estimate(bench);
    parts_end(bench, PART_SETUP);
    return code == 0 ? prepare_group(bench, group, err) : code;
}

/* Whether a sample tells anything that the one kept before it does not: a change of the throttle reasons. */
static bool is_news(const struct cell_record *r, const struct device_health *health)
{
    if (r->n_health == 0 || health->slowdown)
        return true;
    return r->health[r->n_health - 1].health.throttle_reasons != health->throttle_reasons;
}

/* The whole of a GPU's health is five questions to the driver, and only news are kept: of most groups one is enough.
 * Where that has no answer, the first sample stands for all. */
static bool may_be_news(const struct bench *bench)
{
    struct device_health brief;
    const struct device_ops *ops = bench->device->ops;
    if (ops->throttle == NULL || bench->record->n_health == 0)
        return true;
    ops->throttle(bench->device, &brief);
    return brief.known && is_news(bench->record, &brief);
}

static int sample_health(struct bench *bench, unsigned block, struct error *err)
{
    struct cell_record *r = bench->record;
    struct health_sample sample = {.block = block};
    if (!may_be_news(bench))
        return 0;
    bench->device->ops->health(bench->device, &sample.health);
    if (!sample.health.known || !is_news(r, &sample.health))
        return 0;
    struct health_sample *grown = realloc(r->health, (r->n_health + 1) * sizeof *grown);
    if (grown == NULL)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for health samples");
    r->health = grown;
    r->health[r->n_health++] = sample;
    if (sample.health.slowdown)
        r->dropped_blocks += bench->config->stop.group_blocks;
    return 0;
}

static bool anyone_alive(const struct bench *bench)
{
    for (size_t i = 0; i < bench->n_entrants; i++)
        if (bench->entrants[i].alive)
            return true;
    return false;
}

/* A check takes long enough for the device to cool. */
static int look_between(struct bench *bench, struct error *err)
{
    double before = (double)bench->device->ops->now(bench->device);
    int code = bench->between_blocks != NULL ? bench->between_blocks(bench, err) : 0;
    if ((double)bench->device->ops->now(bench->device) - before > COOLED_AFTER_NS)
        bench->cooled = true;
    return code;
}

/* The cap is reached, or the wanted width will not be reached by then. */
static bool is_time_up(const struct bench *bench, double start)
{
    const struct stop_config *stop = &bench->config->stop;
    double seconds = 1e-9 * ((double)bench->device->ops->now(bench->device) - start);
    bool up = seconds > stop_cell_seconds(stop, bench->mode) || stop_is_hopeless(stop, bench->record, seconds);
    return up && bench->record->blocks >= stop->least_blocks;
}

/* The health of a group is known when it has ended, after a decision that may rest on its blocks. */
static void reconsider(const struct stop_config *stop, struct cell_record *record, enum stop_decision *decision)
{
    stop_judge(stop, record);
    if (!record->converged)
        *decision = STOP_CONTINUE;
}

/* All blocks of one group; *decision says whether more are wanted. */
static int run_group(struct bench *bench, struct order *order, double start, enum stop_decision *decision,
                     struct error *err)
{
    const struct stop_config *stop = &bench->config->stop;
    unsigned dropped = bench->record->dropped_blocks;
    int code = 0;
    for (unsigned i = 0; i < stop->group_blocks && code == 0 && *decision == STOP_CONTINUE; i++) {
        code = block_measure(bench, bench->record->blocks, order, err);
        if (code == 0)
            code = look_between(bench, err);
        parts_skip(bench);
        if (code == 0)
            *decision = stop_decide(stop, bench->record);
        parts_end(bench, PART_DECIDE);
    }
    if (code == 0)
        code = sample_health(bench, bench->record->blocks - 1, err);
    parts_end(bench, PART_DECIDE);
    if (code == 0 && *decision == STOP_CONVERGED && bench->record->dropped_blocks > dropped)
        reconsider(stop, bench->record, decision);
    if (code == 0 && *decision == STOP_CONTINUE && (is_time_up(bench, start) || !anyone_alive(bench))) {
        *decision = STOP_CAPPED;
        stop_judge(stop, bench->record);
    }
    return code;
}

int cell_loop_run(struct bench *bench, struct error *err)
{
    struct order order;
    enum stop_decision decision = anyone_alive(bench) ? STOP_CONTINUE : STOP_CAPPED;
    double start = (double)bench->device->ops->now(bench->device);
    int code = 0;
    parts_skip(bench);
    bench->in_blocks = true;
    bench->cooled = true;
    order_begin(&order, (unsigned)bench->n_entrants, random_derive(bench->seed, "order", 0));
    for (unsigned group = 0; decision == STOP_CONTINUE && code == 0; group++) {
        code = open_group(bench, group, err);
        if (code == 0)
            code = run_group(bench, &order, start, &decision, err);
    }
    return code;
}
