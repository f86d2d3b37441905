/*
 * leak_watch.c - adds up memory that setups take and teardowns do not give back, by contender and by process, and says
 * when both have grown twice. Called by bench.c around each setup and by honesty checks.
 */
#include "measure/leak_watch.h"

static bool is_watched(const struct leak_watch *h, const struct device *d)
{
    return h->cycles < LEAK_WATCH_CYCLES && d->probes != NULL && d->probes->held != NULL;
}

void leak_watch_setup(struct leak_watch *h, struct device *d, bool entering)
{
    if (!is_watched(h, d))
        return;
    uint64_t now = d->probes->held(d);
    if (!entering) {
        h->own = (int64_t)(now - h->before);
        h->open = true;
        return;
    }
    bool process_grew = h->cycles > 0 && now > h->before && now - h->before >= LEAK_WATCH_LEAST;
    bool counts = h->cycles > 1 && h->grew && process_grew;
    h->runs = counts ? h->runs + 1 : 0;
    h->before = now;
}

void leak_watch_teardown(struct leak_watch *h, struct device *d, bool entering)
{
    if (!h->open || !is_watched(h, d))
        return;
    int64_t now = (int64_t)d->probes->held(d);
    h->own += entering ? -now : now;
    if (entering)
        return;
    h->open = false;
    h->grew = h->own >= (int64_t)LEAK_WATCH_LEAST;
    h->cycles++;
}

bool leak_watch_leaks(const struct leak_watch *h)
{
    return h->runs >= 2;
}
