/*
 * screen_races.c - prints how many algorithms each contender raced and what that took, so that a reader sees whether
 * both sides had the same chance. Relies on `tuning` of the result's contenders. Called by screen.c.
 */
#include "report/screen_races.h"

#include <stdlib.h>
#include <string.h>

#include "stats/interval.h"

/* The races of one contender. */
struct races {
    double *raced; /* of each */
    size_t n;
    double all, seconds, busy_seconds;
};

static void add(struct races *r, const struct result_tuning *tuning)
{
    if (!(tuning->raced > 0))
        return;
    r->raced[r->n++] = tuning->raced;
    r->all += tuning->raced;
    r->seconds += tuning->seconds;
    r->busy_seconds += tuning->busy_seconds;
}

static void collect(struct races *r, const struct result *result, const char *name)
{
    for (size_t i = 0; i < result->n_cells; i++) {
        const struct result_contender *c = result_contender(&result->cells[i], name);
        if (c)
            add(r, &c->tuning);
    }
}

static bool is_first(const struct result *result, size_t cell, const char *name)
{
    for (size_t i = 0; i < cell; i++)
        if (result_contender(&result->cells[i], name))
            return false;
    return true;
}

static void print(struct screen *screen, const struct result_contender *c, double *room, bool *any)
{
    struct races r = {.raced = room};
    collect(&r, screen->result, c->name);
    if (r.n == 0)
        return;
    text_add(&screen->text, "%s  %s: %.0f in %zu cell%s, %.0f in the median; %.1f s, %.1f s of it launches\n",
             *any ? "" : "Algorithms raced before the blocks (searches that made tables are not in it):\n", c->name,
             r.all, r.n, r.n == 1 ? "" : "s", stats_median(r.raced, r.n), r.seconds, r.busy_seconds);
    *any = true;
}

void screen_races(struct screen *screen)
{
    const struct result *result = screen->result;
    double *room = calloc(result->n_cells + 1, sizeof *room);
    bool any = false;
    screen->text.failed |= !room;
    for (size_t i = 0; i < result->n_cells && room; i++)
        for (size_t c = 0; c < result->cells[i].n_contenders; c++)
            if (is_first(result, i, result->cells[i].contenders[c].name))
                print(screen, &result->cells[i].contenders[c], room, &any);
    free(room);
}
