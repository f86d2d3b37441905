/*
 * energy.c - repeats an entrant's segment between two steps of the energy counter and divides. Relies on the device's
 * energy op (NVML behind it). Called by worker/cell.c when the blocks of a cell are done.
 */
#include "measure/energy.h"

#include <math.h>
#include <stdio.h>

/* One entrant's stretch. Marks are what was there at a step: the first one begins it. */
struct stretch {
    struct bench *bench;
    struct entrant *entrant;
    uint64_t counter; /* millijoules, as last read */
    double launches;  /* so far, primers too */
    double busy_ns;   /* of them */
    struct mark {
        uint64_t counter;
        double at_ns, launches, busy_ns;
    } first, last;
    unsigned steps; /* behind the first mark */
    char why[128];  /* it is not measured; "": it is */
};

static double now_ns(const struct bench *bench)
{
    return (double)bench->device->ops->now(bench->device);
}

static struct mark mark_now(const struct stretch *s)
{
    return (struct mark){s->counter, now_ns(s->bench), s->launches, s->busy_ns};
}

/* Segments for as long as between two looks at the counter. */
static int run_some(struct stretch *s, struct error *err)
{
    struct bench *bench = s->bench;
    const struct prepared_row *row = &s->entrant->row;
    double end = s->busy_ns + ENERGY_LOOK_NS, each = (double)(row->shape.launches + device_shape_untimed(&row->shape));
    int code = 0;
    bench_stage(bench, s->entrant, "measure", bench->config->limits.launch_seconds);
    while (code == 0 && s->busy_ns < end) {
        double ns = 0;
        code = bench->device->ops->measure(bench->device, row->segment, &ns, err);
        s->launches += each;
        s->busy_ns += fmax(ns, 1) * each;
    }
    return code;
}

static void give_up(struct stretch *s, const char *why)
{
    snprintf(s->why, sizeof s->why, "%s", why);
}

/* A counter that has wrapped, or was reset with the driver, has fallen. */
static bool look(struct stretch *s)
{
    uint64_t now = 0, before = s->counter;
    if (!s->bench->device->ops->energy(s->bench->device, &now))
        give_up(s, "the GPU's energy counter cannot be read any more");
    else if (now < before)
        give_up(s, "the GPU's energy counter fell");
    s->counter = now;
    return s->why[0] == '\0' && now > before;
}

/* Until the counter has moved. */
static int await_step(struct stretch *s, struct error *err)
{
    double began = now_ns(s->bench);
    bool moved = false;
    int code = 0;
    while (code == 0 && !moved && s->why[0] == '\0') {
        code = run_some(s, err);
        moved = code == 0 && look(s);
        if (!moved && now_ns(s->bench) - began > ENERGY_PATIENCE_NS)
            give_up(s, "the GPU's energy counter stands still");
    }
    return code;
}

static bool is_long_enough(const struct stretch *s)
{
    return s->steps >= ENERGY_STEPS && s->last.at_ns - s->first.at_ns >= ENERGY_STRETCH_NS;
}

static int run_stretch(struct stretch *s, struct error *err)
{
    int code = await_step(s, err);
    s->first = s->last = mark_now(s);
    while (code == 0 && s->why[0] == '\0' && !is_long_enough(s)) {
        code = await_step(s, err);
        s->last = mark_now(s);
        s->steps++;
    }
    return code;
}

static double busy_share(const struct stretch *s)
{
    double took = s->last.at_ns - s->first.at_ns;
    return took > 0 ? (s->last.busy_ns - s->first.busy_ns) / took : 0;
}

static double to_digits(double value)
{
    double step = value > 0 ? pow(10, floor(log10(value)) - 3) : 1;
    return round(value / step) * step;
}

static cJSON *not_measured(const char *why)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "not_measured", why);
    return o;
}

static cJSON *to_json(struct stretch *s)
{
    double launches = s->last.launches - s->first.launches, busy = busy_share(s);
    double joules = 1e-3 * (double)(s->last.counter - s->first.counter) / launches;
    if (s->why[0] == '\0' && busy < ENERGY_LEAST_BUSY)
        snprintf(s->why, sizeof s->why, "launches ran in %.0f%% of the time, at least %.0f%% are needed", 100 * busy,
                 100 * ENERGY_LEAST_BUSY);
    if (s->why[0] != '\0')
        return not_measured(s->why);
    cJSON *o = cJSON_CreateObject();
    json_put_number(o, "joules", to_digits(joules));
    json_put_number(o, "gflop_per_joule", to_digits(1e-9 * problem_flops(&s->bench->problem) / joules));
    json_put_number(o, "launches", launches);
    json_put_number(o, "seconds", round(1e-6 * (s->last.at_ns - s->first.at_ns)) * 1e-3);
    json_put_number(o, "steps", s->steps);
    json_put_number(o, "busy", round(1e3 * busy) * 1e-3);
    return o;
}

static int measure_entrant(struct bench *bench, struct entrant *e, struct error *err)
{
    struct stretch s = {.bench = bench, .entrant = e};
    const struct device_ops *ops = bench->device->ops;
    cJSON **out = &e->record->energy;
    if (ops->energy == NULL || !ops->energy(bench->device, &s.counter))
        *out = not_measured("the device has no energy counter");
    else if (e->row.segment == NULL)
        *out = not_measured("no row of launches was prepared");
    if (*out != NULL)
        return 0;
    int code = run_stretch(&s, err);
    if (code != 0)
        return entrant_fault(bench, e, "measure", err);
    *out = to_json(&s);
    return 0;
}

int energy_measure(struct bench *bench, struct error *err)
{
    int code = 0;
    for (size_t i = 0; i < bench->n_entrants && code == 0; i++)
        if (bench->entrants[i].alive)
            code = measure_entrant(bench, &bench->entrants[i], err);
    return code;
}
