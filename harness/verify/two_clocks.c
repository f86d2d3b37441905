/*
 * two_clocks.c - a timed segment held against the host's two clocks: both must agree, and the host may wait no longer
 * than what the device counted takes (timed_check.h, timed_check_time). Relies on segment.c. Called by honesty.c.
 */
#include <math.h>

#include "measure/arrivals.h"
#include "measure/segment.h"
#include "measure/timed.h"
#include "verify/timed_check.h"

/* Host time beyond what the device says, for a segment that is a graph: this, and as much again as the device's. So
 * many tries, of which the least counts: a host with more work than processors keeps this thread waiting at most ends.
 * One with compilers on all of them does so at every end: whoever is over it is held against so many times what the
 * host waits beyond an empty graph. */
#define ESCAPED_NS 500e3
#define ESCAPED_TRIES 24
#define ESCAPED_TIMES_EMPTY 4
/* Two clocks over the same span, beyond what may have passed between reading one and the other: this apart, and 5%. */
#define CLOCKS_APART_NS 40e3
#define CLOCKS_APART_SHARE 0.05

/* Both clocks at one moment, one of them read before the other and after it. Read again when something came between; on
 * a busy machine that may be each time, and then the closest reading serves. */
struct moment {
    double now, before, after; /* before, after: by the raw clock */
    double first, last;        /* all readings that it took: from when to when, by the raw clock */
};

static struct moment read_both(struct device *d)
{
    bool both = d->probes->raw_now != NULL;
    double before = both ? (double)d->probes->raw_now() : 0, now = (double)d->ops->now(d);
    double after = both ? (double)d->probes->raw_now() : now;
    before = both ? before : now;
    return (struct moment){now, before, after, before, after};
}

static struct moment moment_of(struct device *d)
{
    struct moment closest = read_both(d);
    for (int i = 0; i < 20 && closest.after - closest.before >= 3e3; i++) {
        struct moment m = read_both(d);
        double first = closest.first;
        closest = m.after - m.before < closest.after - closest.before ? m : closest;
        closest.first = first;
        closest.last = m.after;
    }
    return closest;
}

static void compare_clocks(struct timed_check *t, const struct moment *from, const struct moment *to)
{
    double now = to->now - from->now, least = to->before - from->after, most = to->after - from->before;
    double slack = CLOCKS_APART_NS + CLOCKS_APART_SHARE * most;
    if (now > most + slack || now < least - slack)
        timed_check_convict(t, VERDICT_TAMPER_SUSPECTED, "the program's clock counted %.0f us of %.0f us", now * 1e-3,
                            most * 1e-3);
}

/* As its blocks draw them. A baseline gains nothing by looking fast: it is tried behind the least of several. */
#define BASELINE_GAPS 4

static double draw_gap(const struct timed_check *t)
{
    const struct gap_config *gap = &t->bench->config->gap;
    double least = arrivals_draw(gap, t->random);
    for (int i = 1; i < BASELINE_GAPS && !t->entrant->record->candidate; i++)
        least = fmin(least, arrivals_draw(gap, t->random));
    return least;
}

/* One timed segment under both clocks. *host_ns: what passed, the gap left out. */
static int time_once(struct timed_check *t, double *ns, double *host_ns, struct error *err)
{
    struct bench *bench = t->bench;
    struct device *d = bench->device;
    double gap_ns = bench->mode == MODE_SERVER ? draw_gap(t) : -1;
    double spent = timed_spent(bench);
    struct moment from = moment_of(d);
    int code = segment_time(bench, t->entrant, bench->headline, &gap_ns, ns, err);
    if (code == 0)
        code = d->ops->sync(d, err);
    struct moment to = moment_of(d);
    *host_ns = to.first - from.last - fmax(gap_ns, 0) - (timed_spent(bench) - spent);
    if (code == 0)
        compare_clocks(t, &from, &to);
    return code;
}

/* Untimed ones ahead of those that are timed (measure/segment.c). */
static double untimed_launches(const struct timed_check *t)
{
    const struct bench *bench = t->bench;
    enum cache_state cache = bench->config->cache[bench->mode];
    if (segment_primed(bench, t->entrant, bench->headline) || cache == CACHE_FLUSH || cache == CACHE_LEFT)
        return 0;
    return cache == CACHE_ROTATE ? (double)bench->sets_each : 1;
}

/* A graph's launches take what the device says and a little; if the host had to wait much longer, work went where the
 * events do not see it. What it waited beyond twice what the device says; -INFINITY: no graph, or no second clock. */
static double waited_beyond(const struct timed_check *t, double ns, double host_ns)
{
    const struct entrant *e = t->entrant;
    if (!timing_is_segment(t->bench->headline) || e->row.segment == NULL ||
        t->bench->device->ops->rung(e->row.segment) != RUNG_GRAPH || t->bench->device->probes->raw_now == NULL)
        return -INFINITY;
    double device_ns = ns * ((double)e->row.shape.launches + device_shape_untimed(&e->row.shape) + untimed_launches(t));
    return host_ns - 2 * device_ns;
}

/* What the host waits at least beyond an empty graph, by as many tries. */
static int empty_waits(struct device *d, double *least_ns, struct error *err)
{
    const struct device_shape one = {.visits = 1, .launches = 1, .n_sets = 1};
    struct device_segment *empty = NULL;
    int code = d->ops->prepare(d, NULL, &one, RUNG_GRAPH, &empty, err);
    *least_ns = INFINITY;
    for (int i = 0; i < ESCAPED_TRIES && code == 0; i++) {
        double ns = 0;
        struct moment from = moment_of(d);
        code = d->ops->measure(d, empty, &ns, err);
        if (code == 0)
            code = d->ops->sync(d, err);
        *least_ns = fmin(*least_ns, moment_of(d).first - from.last - ns);
    }
    if (empty != NULL)
        d->ops->release_segment(d, empty);
    return code;
}

/* beyond_ns: the least that the host waited too long. Nobody is convicted of what an empty graph shows too. */
static int judge_wait(struct timed_check *t, double beyond_ns, double ns, struct error *err)
{
    const struct device_shape *shape = &t->entrant->row.shape;
    double empty_ns = 0;
    int code = empty_waits(t->bench->device, &empty_ns, err);
    if (code == 0 && beyond_ns > ESCAPED_NS + ESCAPED_TIMES_EMPTY * fmax(empty_ns, 0))
        timed_check_convict(t, VERDICT_STREAM_ESCAPE,
                            "the device counted %.1f us a launch, and for %u launches the host waited %.0f us beyond "
                            "twice that",
                            ns * 1e-3, shape->launches + device_shape_untimed(shape), beyond_ns * 1e-3);
    return code;
}

int timed_check_time(struct timed_check *t, double *segment_ns, struct error *err)
{
    double ns = 0, host_ns = 0, least = INFINITY;
    int code = 0;
    for (int i = 0; i < ESCAPED_TRIES && least > ESCAPED_NS && code == 0; i++) {
        code = time_once(t, &ns, &host_ns, err);
        least = fmin(least, waited_beyond(t, ns, host_ns));
    }
    bool segment = timing_is_segment(t->bench->headline);
    *segment_ns = ns * (segment ? (double)t->entrant->row.shape.launches : 1);
    return code == 0 && least > ESCAPED_NS ? judge_wait(t, least, ns, err) : code;
}
