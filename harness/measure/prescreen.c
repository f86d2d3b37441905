/*
 * prescreen.c - one or three launches of a variant for a first estimate, again where the first loaded code, and the
 * segment for its heats made of it. Relies on segment.c. Called by race.c.
 */
#include "measure/prescreen.h"

#include <math.h>

#include "measure/segment.h"

/* A launch under watch: how long it keeps the host. */
struct watched {
    const struct device_work *work;
    struct device *device;
    double host_ns;
};

static int launch_watched(void *context, size_t set, char *why)
{
    struct watched *w = context;
    uint64_t from = w->device->ops->now(w->device);
    int status = w->work->launch(w->work->context, set, why);
    w->host_ns = (double)(w->device->ops->now(w->device) - from);
    return status;
}

/* Once by events; *settled is false when the launch was busy loading. */
static int time_launch(struct bench *bench, struct entrant *entrant, double *ns, bool *settled, struct error *err)
{
    struct watched watched = {.work = &entrant->work, .device = bench->device};
    const struct device_work work = {launch_watched, &watched, entrant->work.flags};
    int code = bench->device->ops->time_event(bench->device, &work, 0, ns, err);
    *settled = watched.host_ns < PRESCREEN_LOADS_NS || watched.host_ns < PRESCREEN_LOADS_SHARE * *ns;
    if (code == 0 && *settled) /* else it is the loading that takes the time */
        bench->record->busy_seconds += 1e-9 * *ns;
    return code;
}

static bool by_events(const struct bench *bench)
{
    return timing_is_segment(bench->headline) && (bench->device->info.timings & CUDAL2_BIT(TIMING_EVENT)) != 0;
}

static int look(struct bench *bench, struct entrant *entrant, struct error *err)
{
    bool settled = false;
    double ns = 0;
    bench_stage(bench, entrant, "tune", bench->config->limits.tune_seconds);
    int code = time_launch(bench, entrant, &ns, &settled, err);
    if (code == 0 && !settled)
        code = time_launch(bench, entrant, &ns, &settled, err);
    entrant->estimate_ns = ns;
    return code == 0 ? 0 : entrant_fault(bench, entrant, "tune", err);
}

/* The graph of one launch, which segment_estimate takes as it is and times; its kernel is loaded already. */
static int look_closely(struct bench *bench, struct entrant *entrant, struct error *err)
{
    const struct device_shape one = {
        .visits = 1, .launches = 1, .n_sets = bench->sets_each, .loaded = true, .settled = true};
    struct device *d = bench->device;
    int code = d->ops->prepare(d, &entrant->work, &one, RUNG_GRAPH, &entrant->row.segment, err);
    entrant->row.shape = one;
    if (code != 0)
        return entrant_fault(bench, entrant, "tune", err);
    return segment_estimate(bench, entrant, err);
}

int prescreen_first(struct bench *bench, struct entrant *entrant, struct error *err)
{
    if (!by_events(bench))
        return segment_estimate(bench, entrant, err);
    int code = look(bench, entrant, err);
    if (code != 0 || !entrant->alive || entrant->estimate_ns >= PRESCREEN_ENOUGH_NS)
        return code;
    return look_closely(bench, entrant, err);
}

int prescreen_again(struct bench *bench, struct entrant *entrant, struct error *err)
{
    double before = entrant->estimate_ns;
    int code = by_events(bench) ? look(bench, entrant, err) : segment_estimate(bench, entrant, err);
    if (code == 0 && entrant->alive)
        entrant->estimate_ns = fmax(before, entrant->estimate_ns);
    return code;
}

static bool same_shape(const struct device_shape *a, const struct device_shape *b)
{
    return a->launches == b->launches && a->primers == b->primers && a->n_sets == b->n_sets;
}

int prescreen_prepare(struct bench *bench, struct entrant *entrant, double target_ns, double fastest_ns,
                      struct error *err)
{
    struct device *d = bench->device;
    struct device_shape shape = segment_shape(bench, target_ns, fastest_ns, entrant->estimate_ns);
    shape.loaded = shape.settled = true;
    bool segments = timing_is_segment(bench->headline);
    entrant->record->launches = segments ? shape.launches : 1;
    entrant->record->primers = segments ? device_shape_untimed(&shape) : 0;
    if (!segments || (entrant->row.segment != NULL && same_shape(&shape, &entrant->row.shape)))
        return 0;
    if (entrant->row.segment != NULL)
        d->ops->release_segment(d, entrant->row.segment);
    entrant->row.segment = NULL;
    entrant->row.shape = shape;
    bench_stage(bench, entrant, "tune", bench->config->limits.tune_seconds);
    int code = d->ops->prepare(d, &entrant->work, &shape, RUNG_GRAPH, &entrant->row.segment, err);
    return code == 0 ? 0 : entrant_fault(bench, entrant, "tune", err);
}
