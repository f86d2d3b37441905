/*
 * fake.c - the scripted device of the tests: a clock that only launches move, host memory, segments that call the
 * launch hooks. Relies on cpu_math.c. Called by unit tests, and by nothing that measures.
 */
#include "device/fake.h"
#include "device/cpu_math.h"
#include "device/host_plain.h"
#include "device/probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADER 256u /* in front of every allocation: its size; keeps the alignment contenders are promised */
#define START_NS 1000000000u
#define DEFAULT_NS 1000.0
#define DEFAULT_MEMORY (1u << 30)

struct fake_device {
    struct device base;
    struct fake_script script;
    struct fake_counts counts;
    struct device_health health;
    size_t in_use;
    double now_ns;  /* host clock */
    double idle_at; /* when the device finishes what it has */
    uint64_t work_count;
    enum timing timing; /* of the work being run */
    bool timed;
    const void *work;
    bool enqueued;
    bool broken;
    char broken_reason[128];
};

struct device_segment {
    struct device_work work;
    bool has_work;
    struct device_shape shape;
    enum device_rung rung;
    const char *reason;
    bool held;
};

static struct fake_device *fake_of(struct device *d)
{
    return (struct fake_device *)d;
}

static int check(struct device *d, struct error *err)
{
    struct fake_device *f = fake_of(d);
    return f->broken ? error_set(err, EXIT_CODE_UNAVAILABLE, "%s", f->broken_reason) : 0;
}

static void fake_close(struct device *d)
{
    free(fake_of(d));
}

static int fake_alloc(struct device *d, size_t bytes, void **out, struct error *err)
{
    struct fake_device *f = fake_of(d);
    *out = NULL;
    if (check(d, err) != 0)
        return err->code;
    if (bytes > f->script.memory_bytes - f->in_use)
        return error_set(err, EXIT_CODE_INTERNAL, "the fake device has no memory for %zu bytes", bytes);
    unsigned char *memory = aligned_alloc(HEADER, HEADER + (bytes + HEADER - 1) / HEADER * HEADER);
    if (!memory)
        return error_set(err, EXIT_CODE_INTERNAL, "no memory for %zu bytes", bytes);
    memcpy(memory, &bytes, sizeof bytes);
    f->in_use += bytes;
    f->counts.allocs++;
    *out = &memory[HEADER];
    return 0;
}

static void fake_release(struct device *d, void *memory)
{
    size_t bytes;
    if (!memory)
        return;
    unsigned char *start = (unsigned char *)memory - HEADER;
    memcpy(&bytes, start, sizeof bytes);
    fake_of(d)->in_use -= bytes;
    free(start);
}

static int fake_memory_free(struct device *d, uint64_t *bytes, struct error *err)
{
    *bytes = fake_of(d)->script.memory_bytes - fake_of(d)->in_use;
    return check(d, err);
}

static int fake_copy(struct device *d, void *to, const void *from, size_t bytes, struct error *err)
{
    if (check(d, err) != 0)
        return err->code;
    memcpy(to, from, bytes);
    return 0;
}

static int fake_fill(struct device *d, void *memory, const struct fill *fill, struct error *err)
{
    fake_of(d)->counts.fills++;
    if (check(d, err) != 0)
        return err->code;
    cpu_fill(1, memory, fill);
    return 0;
}

static int fake_flush(struct device *d, struct error *err)
{
    fake_of(d)->counts.flushes++;
    return check(d, err);
}

static int fake_reference(struct device *d, const struct cudal2_problem *p, enum cudal2_layout layout,
                          const struct cudal2_operands *operands, float *reference, struct error *err)
{
    return check(d, err) != 0 ? err->code : cpu_reference(1, p, layout, operands, reference, err);
}

static int fake_reference_wide(struct device *d, const struct cudal2_problem *p, enum cudal2_layout layout,
                               const struct cudal2_operands *operands, double *reference, struct error *err)
{
    return check(d, err) != 0 ? err->code : cpu_reference_wide(1, p, layout, operands, reference, err);
}

static int fake_compare(struct device *d, const struct cudal2_problem *p, const void *c,
                        const struct expectation *expected, struct comparison *out, struct error *err)
{
    if (check(d, err) != 0)
        return err->code;
    cpu_compare(1, p, c, expected, out);
    return 0;
}

/* ---- the clock ---- */

static void run_piece(struct fake_device *f, uint32_t id)
{
    double start = f->now_ns > f->idle_at ? f->now_ns : f->idle_at;
    struct fake_moment moment = {.id = id,
                                 .work = f->work,
                                 .count = f->work_count++,
                                 .timing = f->timing,
                                 .timed = f->timed,
                                 .idle_ns = start - f->idle_at,
                                 .now_ns = (uint64_t)start};
    double ns = f->script.duration_ns ? f->script.duration_ns(f->script.context, &moment) : DEFAULT_NS;
    f->idle_at = start + ns;
}

void fake_enqueue(struct device *d, uint32_t id)
{
    fake_of(d)->enqueued = true;
    run_piece(fake_of(d), id);
}

static int launch(struct fake_device *f, const struct device_work *work, size_t set, struct error *err)
{
    char why[CUDAL2_WHY] = "";
    f->work = work ? work->context : NULL;
    f->enqueued = false;
    if (!work) {
        run_piece(f, FAKE_NULL);
        return 0;
    }
    int status = work->launch(work->context, set, why);
    if (status != CUDAL2_OK)
        return error_set(err, EXIT_CODE_VERIFICATION, "launch failed with status %d: %s", status, why);
    if (!f->enqueued)
        run_piece(f, FAKE_UNKNOWN);
    return check(&f->base, err);
}

static void synchronise(struct fake_device *f)
{
    if (f->now_ns < f->idle_at)
        f->now_ns = f->idle_at;
}

/* What a graph waits for after its start event, with nothing of its own between. */
static double wait_for_host(const struct fake_device *f, const struct device_segment *s)
{
    return s->rung == RUNG_GRAPH && s->shape.primers == 0 && !s->held ? f->script.hand_over_ns : 0;
}

static int interrupt(const struct device_segment *s, size_t set, struct error *err)
{
    char why[CUDAL2_WHY] = "";
    int status = s->shape.broken->enqueue(s->shape.broken->context, set, why);
    return status == CUDAL2_OK ? 0 : error_set(err, EXIT_CODE_INTERNAL, "between two launches: %s", why);
}

/* One visit; its span of timed launches is added to *ns. */
static int run_visit(struct fake_device *f, const struct device_segment *s, unsigned visit, double *ns,
                     struct error *err)
{
    const struct device_shape *shape = &s->shape;
    unsigned primers = visit == 0 ? shape->primers : shape->again;
    unsigned total = primers + shape->launches / device_shape_visits(shape);
    double started = f->now_ns, host = s->rung == RUNG_EVENTS ? f->script.launch_ns : 0;
    double late = wait_for_host(f, s);
    bool timed = f->timed;
    for (unsigned i = 0; i < total; i++) {
        f->timed = timed && i >= primers;
        if (i == primers) {
            started = f->now_ns > f->idle_at ? f->now_ns : f->idle_at;
            if (visit == 0 && late > 0)
                f->idle_at = started + late;
        }
        f->idle_at += host;
        if (device_shape_breaks(shape, visit, i) && interrupt(s, device_shape_set(shape, visit, i), err) != 0)
            return err->code;
        if (launch(f, s->has_work ? &s->work : NULL, device_shape_set(shape, visit, i), err) != 0)
            return err->code;
    }
    *ns += f->idle_at - started;
    f->timed = timed;
    return 0;
}

/* Runs the segment once; *ns is the span of the timed launches. */
static int run_segment(struct fake_device *f, const struct device_segment *s, bool timed, double *ns, struct error *err)
{
    *ns = 0;
    f->timing = s->shape.overlap ? TIMING_DEVICE_ROW : TIMING_DEVICE;
    f->timed = timed;
    for (unsigned visit = 0; visit < device_shape_visits(&s->shape); visit++)
        if (run_visit(f, s, visit, ns, err) != 0)
            return err->code;
    synchronise(f);
    return 0;
}

static int fake_sync(struct device *d, struct error *err)
{
    fake_of(d)->counts.syncs++;
    if (check(d, err) != 0)
        return err->code;
    synchronise(fake_of(d));
    return 0;
}

static enum device_rung start_rung(const struct device_work *work, enum device_rung lowest, const char **reason)
{
    uint32_t flags = work ? work->flags : 0;
    *reason = "";
    if (flags & CUDAL2_SYNCS && lowest < RUNG_EVENTS) {
        *reason = "the contender synchronises";
        return RUNG_EVENTS;
    }
    if (flags & CUDAL2_NO_CAPTURE && lowest < RUNG_BLOCKED) {
        *reason = "the contender cannot be captured";
        return RUNG_BLOCKED;
    }
    return lowest;
}

static int fake_prepare(struct device *d, const struct device_work *work, const struct device_shape *shape,
                        enum device_rung lowest, struct device_segment **out, struct error *err)
{
    struct fake_device *f = fake_of(d);
    double ignored;
    *out = NULL;
    f->counts.prepares++;
    if (check(d, err) != 0)
        return err->code;
    if (!timing_any_segment(d->info.timings))
        return error_set(err, EXIT_CODE_UNAVAILABLE, "the script has no device timing");
    struct device_segment *s = calloc(1, sizeof *s);
    if (!s)
        return error_set(err, EXIT_CODE_INTERNAL, "no memory for a segment");
    s->has_work = work != NULL;
    if (work)
        s->work = *work;
    s->shape = *shape;
    s->rung = start_rung(work, lowest, &s->reason);
    s->held = f->script.holds && s->rung == RUNG_GRAPH;
    if (run_segment(f, s, false, &ignored, err) != 0) {
        free(s);
        return err->code;
    }
    f->counts.live_segments++;
    *out = s;
    return 0;
}

static enum device_rung fake_rung(const struct device_segment *segment)
{
    return segment->rung;
}

static void fake_reorder(struct device_segment *segment, uint64_t order)
{
    if (segment->rung != RUNG_GRAPH)
        segment->shape.order = order;
}

static const char *fake_rung_reason(const struct device_segment *segment)
{
    return segment->reason;
}

static bool fake_held(const struct device_segment *segment)
{
    return segment->held;
}

static bool fake_joined(const struct device_segment *segment)
{
    return segment->has_work && segment->rung == RUNG_GRAPH && device_shape_joins(&segment->shape);
}

static int fake_measure(struct device *d, struct device_segment *segment, double *ns, struct error *err)
{
    struct fake_device *f = fake_of(d);
    double span;
    f->counts.measures++;
    if (check(d, err) != 0 || run_segment(f, segment, true, &span, err) != 0)
        return err->code;
    *ns = span / segment->shape.launches;
    return 0;
}

static void fake_release_segment(struct device *d, struct device_segment *segment)
{
    if (segment)
        fake_of(d)->counts.live_segments--;
    free(segment);
}

/* The clock runs on by the host's cost before the device sees the work. */
static int time_one(struct fake_device *f, const struct device_work *work, size_t set, enum timing timing,
                    struct error *err)
{
    f->timing = timing;
    f->timed = true;
    f->now_ns += f->script.launch_ns;
    return launch(f, work, set, err);
}

static int fake_time_event(struct device *d, const struct device_work *work, size_t set, double *ns, struct error *err)
{
    struct fake_device *f = fake_of(d);
    double started = f->now_ns;
    f->counts.events++;
    if (check(d, err) != 0)
        return err->code;
    if (!(d->info.timings & CUDAL2_BIT(TIMING_EVENT)))
        return error_set(err, EXIT_CODE_UNAVAILABLE, "the script has no event timing");
    if (time_one(f, work, set, TIMING_EVENT, err) != 0)
        return err->code;
    *ns = f->idle_at - started;
    synchronise(f);
    return 0;
}

static int fake_time_wall(struct device *d, const struct device_work *work, size_t set, double *ns, struct error *err)
{
    struct fake_device *f = fake_of(d);
    double started = f->now_ns;
    f->counts.walls++;
    if (check(d, err) != 0)
        return err->code;
    if (time_one(f, work, set, TIMING_WALL, err) != 0)
        return err->code;
    synchronise(f);
    f->now_ns += f->script.sync_ns;
    *ns = f->now_ns - started;
    return 0;
}

static int fake_plain(struct device *d, const struct device_plain *plain, char *why)
{
    (void)why;
    host_plain(plain);
    fake_enqueue(d, FAKE_PLAIN);
    return CUDAL2_OK;
}

static int fake_plain_differs(struct device *d, const struct device_plain *plain, uint64_t *elements, struct error *err)
{
    return check(d, err) != 0 ? err->code : host_plain_differs(plain, elements, err);
}

static int fake_settle(struct device *d, struct error *err)
{
    return check(d, err);
}

static void fake_health(struct device *d, struct device_health *out)
{
    fake_of(d)->counts.healths++;
    *out = fake_of(d)->health;
}

static void fake_throttle(struct device *d, struct device_health *out)
{
    const struct device_health *h = &fake_of(d)->health;
    fake_of(d)->counts.throttles++;
    *out = (struct device_health){.known = h->known, .throttle_reasons = h->throttle_reasons, .slowdown = h->slowdown};
}

static uint64_t fake_now(struct device *d)
{
    return (uint64_t)fake_of(d)->now_ns;
}

static uint64_t fake_wait_until(struct device *d, uint64_t deadline_ns)
{
    struct fake_device *f = fake_of(d);
    if (f->now_ns < (double)deadline_ns)
        f->now_ns = (double)deadline_ns;
    return (uint64_t)f->now_ns;
}

static const struct device_ops fake_ops = {
    .close = fake_close,
    .alloc = fake_alloc,
    .release = fake_release,
    .memory_free = fake_memory_free,
    .upload = fake_copy,
    .download = fake_copy,
    .fill = fake_fill,
    .sync = fake_sync,
    .flush = fake_flush,
    .reference = fake_reference,
    .reference_wide = fake_reference_wide,
    .compare = fake_compare,
    .prepare = fake_prepare,
    .rung = fake_rung,
    .rung_reason = fake_rung_reason,
    .reorder = fake_reorder,
    .held = fake_held,
    .joined = fake_joined,
    .measure = fake_measure,
    .release_segment = fake_release_segment,
    .time_event = fake_time_event,
    .time_wall = fake_time_wall,
    .plain = fake_plain,
    .plain_differs = fake_plain_differs,
    .settle = fake_settle,
    .health = fake_health,
    .throttle = fake_throttle,
    .now = fake_now,
    .wait_until = fake_wait_until,
};

int fake_open(const struct fake_script *script, struct device **out, struct error *err)
{
    struct fake_device *f = calloc(1, sizeof *f);
    *out = NULL;
    if (!f)
        return error_set(err, EXIT_CODE_INTERNAL, "no memory for the fake device");
    uint32_t all = timing_bits(CUDAL2_ON_CUDA);
    f->base.ops = &fake_ops;
    f->base.probes = &probe_host_scripted;
    f->script = *script;
    if (f->script.memory_bytes == 0)
        f->script.memory_bytes = DEFAULT_MEMORY;
    f->now_ns = f->idle_at = START_NS;
    f->base.info = (struct device_info){.kind = "fake",
                                        .device_bit = CUDAL2_ON_CUDA,
                                        .timings = script->timings ? script->timings : all,
                                        .threads = 1,
                                        .holds = script->holds,
                                        .name = "fake device",
                                        .uuid = "FAKE-0",
                                        .driver = "0",
                                        .cc = 90,
                                        .sm_count = 132,
                                        .l2_bytes = 60u << 20,
                                        .memory_bytes = f->script.memory_bytes};
    *out = &f->base;
    return 0;
}

void fake_break(struct device *d, const char *reason)
{
    struct fake_device *f = fake_of(d);
    f->broken = true;
    snprintf(f->broken_reason, sizeof f->broken_reason, "%s", reason);
}

void fake_set_health(struct device *d, const struct device_health *health)
{
    fake_of(d)->health = *health;
}

size_t fake_bytes_in_use(const struct device *d)
{
    return ((const struct fake_device *)d)->in_use;
}

struct fake_counts fake_counts(const struct device *d)
{
    return ((const struct fake_device *)d)->counts;
}
