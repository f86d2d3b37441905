/*
 * screen_seen.c - keeps the names of contenders that a list has told, and lists what is told of them. Relies on the
 * result's cells. Called by screen.c, screen_errors.c and screen_known.c.
 */
#include "report/screen_seen.h"

#include <string.h>

bool seen_first(struct seen *seen, const char *name)
{
    bool found = seen->n == RECORD_MAX_CONTENDERS;
    for (size_t i = 0; i < seen->n && !found; i++)
        found = strcmp(seen->names[i], name) == 0;
    if (!found)
        seen->names[seen->n++] = name;
    return !found;
}

static void add_line(struct screen *screen, const struct screen_remark *remark, const char *name)
{
    double least = 0, most = 0;
    unsigned n = 0;
    for (size_t i = 0; i < screen->result->n_cells; i++) {
        const struct result_contender *c = result_contender(&screen->result->cells[i], name);
        double value = c ? remark->value(c) : -1;
        if (value < 0)
            continue;
        least = n == 0 || value < least ? value : least;
        most = n == 0 || value > most ? value : most;
        n++;
    }
    text_add(&screen->text, "  %s: %.2f", name, least);
    if (most > least)
        text_add(&screen->text, " to %.2f", most);
    text_add(&screen->text, " %s, in %u cell%s\n", remark->unit, n, n == 1 ? "" : "s");
}

void screen_remark(struct screen *screen, const struct screen_remark *remark)
{
    const struct result *result = screen->result;
    struct seen seen = {.n = 0};
    for (size_t i = 0; i < result->n_cells; i++)
        for (size_t k = 0; k < result->cells[i].n_contenders; k++) {
            const struct result_contender *c = &result->cells[i].contenders[k];
            if (remark->value(c) < 0 || !seen_first(&seen, c->name))
                continue;
            if (seen.n == 1)
                text_add(&screen->text, "%s:\n", remark->heading);
            add_line(screen, remark, c->name);
        }
}
