/*
 * screen_races.c - prints how many algorithms each contender raced and what that took, so that a reader sees whether
 * both sides had the same chance. Relies on contender_sums.h. Called by screen.c.
 */
#include "report/screen_races.h"

#include "report/contender_sums.h"

static bool is_first(const struct result *result, size_t cell, const char *name)
{
    for (size_t i = 0; i < cell; i++)
        if (result_contender(&result->cells[i], name))
            return false;
    return true;
}

static void print(struct screen *screen, const struct result_contender *c, bool *any)
{
    struct race_sums r;
    screen->text.failed |= !sum_races(screen->result, NULL, c->name, &r);
    if (r.cells == 0)
        return;
    text_add(&screen->text, "%s  %s: %.0f in %zu cell%s, %.0f in the median; %.1f s, %.1f s of it launches\n",
             *any ? "" : "Algorithms raced before the blocks (searches that made tables are not in it):\n", c->name,
             r.all, r.cells, r.cells == 1 ? "" : "s", r.median, r.seconds, r.busy_seconds);
    *any = true;
}

void screen_races(struct screen *screen)
{
    const struct result *result = screen->result;
    bool any = false;
    for (size_t i = 0; i < result->n_cells; i++)
        for (size_t c = 0; c < result->cells[i].n_contenders; c++)
            if (is_first(result, i, result->cells[i].contenders[c].name))
                print(screen, &result->cells[i].contenders[c], &any);
}
