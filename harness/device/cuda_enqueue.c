/*
 * cuda_enqueue.c - puts the launches and events of a segment into the stream, and the kernel that blocks it meanwhile.
 * Relies on cuda_time.c for one launch, on cuda_edges.c for marks and on cuda_records.c. Called by cuda_segment.c and,
 * under capture, by cuda_capture.c.
 */
#include "device/cuda_device.h"

int cuda_segment_launch(struct cuda_device *c, const struct device_segment *s, size_t set, struct error *err)
{
    int rc = cuda_run_work(c, s->has_work ? &s->work : NULL, set, err);
    return rc == 0 && s->marks ? launch_marks_add(s->marks, c, s->shape.join == JOIN_LAUNCHES, err) : rc;
}

/* What comes between two launches is a part of its own: the launch behind it must not begin before it has ended. */
static int interrupt(struct cuda_device *c, const struct device_segment *s, size_t set, struct error *err)
{
    char why[CUDAL2_WHY] = "";
    int status = s->shape.broken->enqueue(s->shape.broken->context, set, why);
    if (status != CUDAL2_OK)
        return error_set(err, EXIT_CODE_INTERNAL, "between two launches: %s", why);
    return s->marks ? launch_marks_add(s->marks, c, false, err) : 0;
}

static int launch_next(struct cuda_device *c, const struct device_segment *s, unsigned visit, unsigned i,
                       struct error *err)
{
    size_t set = device_shape_set(&s->shape, visit, i);
    int rc = device_shape_breaks(&s->shape, visit, i) ? interrupt(c, s, set, err) : 0;
    return rc == 0 ? cuda_segment_launch(c, s, set, err) : rc;
}

/* A part of its own, too: the launch behind it must not begin before it. */
static int record(struct cuda_device *c, struct device_segment *s, cu_event event, unsigned flags, struct error *err)
{
    struct record_place place = {.known = false};
    if (flags == CU_RECORD_EXTERNAL)
        cuda_records_ahead(c, &place);
    int rc = driver_check(&c->driver, c->driver.event_record(event, c->stream, flags), err, "cuEventRecordWithFlags");
    if (rc == 0)
        cuda_records_behind(c, s, &place);
    return rc == 0 && s->marks ? launch_marks_add(s->marks, c, false, err) : rc;
}

static int enqueue_visit(struct cuda_device *c, struct device_segment *s, unsigned visit, unsigned record_flags,
                         struct error *err)
{
    const struct device_shape *shape = &s->shape;
    unsigned primers = visit == 0 ? shape->primers : shape->again;
    unsigned total = primers + shape->launches / device_shape_visits(shape);
    int rc = 0;
    for (unsigned i = 0; i < primers && rc == 0; i++)
        rc = launch_next(c, s, visit, i, err);
    if (rc == 0)
        rc = record(c, s, s->start[visit], record_flags, err);
    for (unsigned i = primers; i < total && rc == 0; i++)
        rc = launch_next(c, s, visit, i, err);
    if (rc == 0)
        rc = record(c, s, s->stop[visit], record_flags, err);
    return rc;
}

/* Whether a launch has another right ahead of it, not an event. */
static bool has_row(const struct device_shape *shape)
{
    unsigned visits = device_shape_visits(shape);
    return shape->primers > 1 || shape->launches / visits > 1 || (visits > 1 && shape->again > 1);
}

int cuda_segment_enqueue(struct cuda_device *c, struct device_segment *s, unsigned record_flags, struct error *err)
{
    int rc = 0;
    c->alone = !s->shape.overlap;
    c->withheld = 0;
    for (unsigned visit = 0; visit < device_shape_visits(&s->shape) && rc == 0; visit++)
        rc = enqueue_visit(c, s, visit, record_flags, err);
    c->alone = false;
    s->early |= c->withheld > 0 && has_row(&s->shape);
    return rc;
}

int cuda_blocker_start(struct cuda_device *c, uint64_t limit_ns, struct error *err)
{
    volatile uint32_t *released = &c->signals->released, *timed_out = &c->signals->timed_out;
    void *arguments[] = {&released, &timed_out, &limit_ns};
    *released = 0;
    *timed_out = 0;
    return cuda_kernel_run(c, c->kernels[KERNEL_BLOCKER][0].function, 1, 1, arguments, err);
}

void cuda_blocker_release(struct cuda_device *c)
{
    __atomic_store_n(&c->signals->released, 1u, __ATOMIC_RELEASE);
}
