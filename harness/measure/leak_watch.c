/*
 * leak_watch.c - adds up memory that setups take and teardowns do not give back, by contender and by process, and says
 * when both have grown twice. Called by bench.c around each setup and by honesty checks.
 */
#include "measure/leak_watch.h"

void leak_meter_begin_row(struct leak_meter *meter)
{
    *meter = (struct leak_meter){.in_row = true};
}

void leak_meter_end_row(struct leak_meter *meter)
{
    *meter = (struct leak_meter){0};
}

/* Ahead of a contender's code, or behind it. */
static uint64_t ask(struct leak_meter *meter, struct device *d, bool entering)
{
    if (!entering || !meter->known)
        meter->bytes = d->probes->held(d);
    meter->known = meter->in_row && !entering;
    return meter->bytes;
}

static bool is_watched(const struct leak_watch *h, const struct device *d)
{
    return !h->cleared && h->cycles < LEAK_WATCH_CYCLES && d->probes != NULL && d->probes->held != NULL;
}

/* The watch is too short for two other cycles: who has not grown in one that counts cannot be told any more. */
static void clear_unless(struct leak_watch *h, bool grew)
{
    h->cleared = h->cycles > 1 && !grew;
}

/* What the cycle takes and gives back is asked for by the setup behind it, and not behind the first. */
static bool is_weighed(const struct leak_watch *h)
{
    return h->cycles > 0 && h->cycles + 1 < LEAK_WATCH_CYCLES;
}

static void enter_setup(struct leak_watch *h, uint64_t now)
{
    bool process_grew = now > h->before && now - h->before >= LEAK_WATCH_LEAST;
    bool counts = h->cycles > 1 && h->grew && process_grew;
    h->runs = counts ? h->runs + 1 : 0;
    h->before = now;
    clear_unless(h, counts);
}

void leak_watch_setup(struct leak_watch *h, struct leak_meter *meter, struct device *d, bool entering)
{
    if (is_watched(h, d) && entering && h->cycles > 0)
        enter_setup(h, ask(meter, d, true));
    if (is_watched(h, d) && !entering) {
        h->own = is_weighed(h) ? (int64_t)(ask(meter, d, false) - h->before) : 0;
        h->open = true;
    }
    if (entering)
        meter->known = false;
}

void leak_watch_teardown(struct leak_watch *h, struct leak_meter *meter, struct device *d, bool entering)
{
    bool asked = h->open && is_watched(h, d) && is_weighed(h);
    int64_t now = asked ? (int64_t)ask(meter, d, entering) : 0;
    if (entering)
        meter->known = false;
    h->own += entering ? -now : now;
    if (entering || !h->open || !is_watched(h, d))
        return;
    h->open = false;
    h->grew = h->own >= (int64_t)LEAK_WATCH_LEAST;
    h->cycles++;
    clear_unless(h, h->grew);
}

bool leak_watch_leaks(const struct leak_watch *h)
{
    return h->runs >= 2;
}
