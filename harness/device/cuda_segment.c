/*
 * cuda_segment.c - device timing and its ladder. Graph: the launches between two event nodes of one uploaded graph.
 * Blocked: launches and events queued behind a kernel that the host releases once all are enqueued. Events: raw events,
 * for work that synchronises; the host's launch cost is then inside and the rung says so. Relies on cuda_enqueue.c,
 * cuda_capture.c and cuda_hold.c. Called through device.h by measure/segment.c.
 */
#include "device/cuda_device.h"

#include <stdio.h>
#include <stdlib.h>

#define BLOCKER_LIMIT_NS 2000000000u

/* First launches load modules lazily and allocate, which would wait for a blocker for ever: every set once, unblocked.
 */
static int warm(struct cuda_device *c, const struct device_segment *s, struct error *err)
{
    unsigned total = device_shape_untimed(&s->shape) + s->shape.launches;
    struct error launch_error;
    int launched = 0;
    for (size_t set = 0; set < total && (set == 0 || set < s->shape.n_sets) && launched == 0; set++)
        launched = cuda_segment_launch(c, s, set, &launch_error);
    int waited = driver_check(&c->driver, c->driver.context_sync(), err, "cuCtxSynchronize after a warm-up launch");
    if (launched == 0 || waited == EXIT_CODE_UNAVAILABLE)
        return waited;
    *err = launch_error;
    return launched;
}

static int run_events(struct cuda_device *c, struct device_segment *s, struct error *err)
{
    struct error enqueue_error;
    int rc = driver_check(&c->driver, c->driver.context_sync(), err, "cuCtxSynchronize before a segment");
    if (rc != 0)
        return rc;
    int enqueued = cuda_segment_enqueue(c, s, 0, &enqueue_error);
    int waited = driver_check(&c->driver, c->driver.context_sync(), err, "cuCtxSynchronize after a segment");
    if (enqueued == 0 || waited == EXIT_CODE_UNAVAILABLE)
        return waited;
    *err = enqueue_error;
    return enqueued;
}

/* *held is false when the blocker gave up before everything was enqueued. */
static int run_blocked(struct cuda_device *c, struct device_segment *s, bool *held, struct error *err)
{
    struct error enqueue_error;
    int rc = cuda_blocker_start(c, BLOCKER_LIMIT_NS, err);
    if (rc != 0)
        return rc;
    int enqueued = cuda_segment_enqueue(c, s, 0, &enqueue_error);
    cuda_blocker_release(c);
    int waited = driver_check(&c->driver, c->driver.context_sync(), err, "cuCtxSynchronize after a blocked segment");
    *held = c->signals->timed_out == 0;
    if (enqueued == 0 || waited == EXIT_CODE_UNAVAILABLE)
        return waited;
    *err = enqueue_error;
    return enqueued;
}

static void fall(struct device_segment *s, enum device_rung rung, const char *reason)
{
    s->rung = rung;
    if (reason)
        snprintf(s->reason, sizeof s->reason, "%s", reason);
}

static void first_rung(struct device_segment *s, enum device_rung lowest)
{
    uint32_t flags = s->has_work ? s->work.flags : 0;
    s->rung = lowest;
    if ((flags & CUDAL2_SYNCS) != 0 && lowest < RUNG_EVENTS)
        fall(s, RUNG_EVENTS, "the contender synchronises in its launch (host_sync)");
    else if ((flags & CUDAL2_NO_CAPTURE) != 0 && lowest < RUNG_BLOCKED)
        fall(s, RUNG_BLOCKED, "the contender says that its launch cannot be captured");
}

static int try_blocked(struct cuda_device *c, struct device_segment *s, struct error *err)
{
    bool held = true;
    int rc = run_blocked(c, s, &held, err);
    if (rc == 0 && !held)
        fall(s, RUNG_EVENTS, "the launch waits for the stream: the blocking kernel timed out (host_sync)");
    return rc;
}

/* What has run before is captured at once; if that fails, it may be one that allocates in its first launch after every
 * set-up. */
static int try_graph(struct cuda_device *c, struct device_segment *s, bool *captured, struct error *err)
{
    int rc = 0;
    if (s->shape.loaded)
        rc = cuda_capture_segment(c, s, captured, err);
    if (rc != 0 || *captured)
        return rc;
    s->reason[0] = '\0';
    rc = warm(c, s, err);
    return rc == 0 ? cuda_capture_segment(c, s, captured, err) : rc;
}

static int climb_down(struct cuda_device *c, struct device_segment *s, enum device_rung lowest, struct error *err)
{
    bool captured = false;
    int rc = 0;
    first_rung(s, lowest);
    if (s->rung == RUNG_GRAPH) {
        rc = try_graph(c, s, &captured, err);
        if (rc == 0 && !captured)
            fall(s, RUNG_BLOCKED, NULL); /* the reason is there already */
    } else {
        rc = warm(c, s, err);
    }
    if (rc == 0 && s->rung == RUNG_BLOCKED)
        rc = try_blocked(c, s, err);
    if (rc == 0 && s->rung == RUNG_EVENTS)
        rc = run_events(c, s, err);
    return rc;
}

int cuda_prepare(struct device *d, const struct device_work *work, const struct device_shape *shape,
                 enum device_rung lowest, struct device_segment **out, struct error *err)
{
    struct cuda_device *c = cuda_of(d);
    const struct driver *cu = &c->driver;
    struct device_segment *s = calloc(1, sizeof *s);
    *out = NULL;
    if (!s)
        return error_set(err, EXIT_CODE_INTERNAL, "no memory for a segment");
    s->shape = *shape;
    s->has_work = work != NULL;
    if (work)
        s->work = *work;
    int rc = 0;
    for (unsigned i = 0; i < device_shape_visits(shape) && rc == 0; i++) {
        rc = driver_check(cu, cu->event_create(&s->start[i], 0), err, "cuEventCreate(start)");
        if (rc == 0)
            rc = driver_check(cu, cu->event_create(&s->stop[i], 0), err, "cuEventCreate(stop)");
    }
    if (rc == 0)
        rc = climb_down(c, s, lowest, err);
    if (rc == 0)
        *out = s;
    else
        cuda_release_segment(d, s);
    return rc;
}

enum device_rung cuda_rung(const struct device_segment *segment)
{
    return segment->rung;
}

const char *cuda_rung_reason(const struct device_segment *segment)
{
    return segment->reason;
}

void cuda_reorder(struct device_segment *segment, uint64_t order)
{
    if (segment->rung != RUNG_GRAPH)
        segment->shape.order = order;
}

bool cuda_segment_held(const struct device_segment *segment)
{
    return segment->held;
}

bool cuda_segment_early(const struct device_segment *segment)
{
    return segment->early;
}

const char *cuda_segment_borrowed(const struct device_segment *segment)
{
    return segment->borrowed;
}

bool cuda_segment_joined(const struct device_segment *segment)
{
    return segment->rung == RUNG_GRAPH && segment->joined;
}

static int run_graph(struct cuda_device *c, const struct device_segment *s, struct error *err)
{
    int rc = s->held ? cuda_hold(c, err) : 0;
    if (rc == 0)
        rc = driver_check(&c->driver, c->driver.graph_launch(s->exec, c->stream), err, "cuGraphLaunch");
    if (s->held)
        cuda_hand_over(c);
    return rc == 0 ? cuda_stream_wait(c, err) : rc;
}

int cuda_measure(struct device *d, struct device_segment *segment, double *ns, struct error *err)
{
    struct cuda_device *c = cuda_of(d);
    double milliseconds = 0;
    int rc = 0;
    if (segment->rung == RUNG_GRAPH)
        rc = run_graph(c, segment, err);
    else if (segment->rung == RUNG_BLOCKED)
        rc = try_blocked(c, segment, err);
    /* Also when the blocker has just timed out: what it measured is void. */
    if (rc == 0 && segment->rung == RUNG_EVENTS)
        rc = run_events(c, segment, err);
    for (unsigned i = 0; i < device_shape_visits(&segment->shape) && rc == 0; i++) {
        float span = 0;
        rc = driver_check(&c->driver, c->driver.event_elapsed(&span, segment->start[i], segment->stop[i]), err,
                          "cuEventElapsedTime of a %s segment", device_rung_names[segment->rung]);
        milliseconds += (double)span;
    }
    *ns = milliseconds * 1e6 / (segment->shape.launches ? segment->shape.launches : 1);
    return rc;
}

void cuda_release_segment(struct device *d, struct device_segment *s)
{
    const struct driver *cu = &cuda_of(d)->driver;
    if (!s)
        return;
    if (s->exec)
        cu->graph_exec_destroy(s->exec);
    if (s->graph)
        cu->graph_destroy(s->graph);
    for (unsigned i = 0; i < DEVICE_MAX_VISITS; i++) {
        if (s->start[i])
            cu->event_destroy(s->start[i]);
        if (s->stop[i])
            cu->event_destroy(s->stop[i]);
    }
    free(s);
}
