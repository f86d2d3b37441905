/*
 * screen_each.c - finds each contender once. Relies on result.h. Called by screen_energy.c and
 * screen_invariance.c.
 */
#include "report/screen_each.h"

/* Whether no cell before this one has told of it. */
static bool is_first(const struct result *result, const struct screen_each *rows, size_t cell, const char *name)
{
    for (size_t i = 0; i < cell; i++) {
        const struct result_contender *c = result_contender(&result->cells[i], name);
        if (c && rows->tells(c))
            return false;
    }
    return true;
}

void screen_each(const struct result *result, const struct screen_each *rows, struct table *out)
{
    for (size_t i = 0; i < result->n_cells; i++)
        for (size_t j = 0; j < result->cells[i].n_contenders; j++) {
            const struct result_contender *c = &result->cells[i].contenders[j];
            if (rows->tells(c) && is_first(result, rows, i, c->name))
                rows->add(result, c->name, out);
        }
}
