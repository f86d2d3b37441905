/*
 * screen_errors.c - tells whose timed outputs are off by another error than verification saw (verification.timed,
 * measure/timed_error.h). Relies on the result's cells. Called by screen.c.
 */
#include "report/screen_errors.h"

#include <math.h>

#include "base/tree.h"
#include "report/screen_seen.h"

static const cJSON *timed_of(const struct result_contender *c)
{
    const cJSON *timed = tree_member(c->verification, "timed");
    return tree_true(timed, "error_changes") ? timed : NULL;
}

static double ratio_of(const cJSON *timed)
{
    double ratio = tree_number(timed, "error");
    return isnan(ratio) ? 0 : ratio;
}

/* All of its cells. */
static void print(struct screen *screen, const char *name)
{
    double least = 0, most = 0;
    unsigned n = 0;
    for (size_t i = 0; i < screen->result->n_cells; i++) {
        const struct result_contender *c = result_contender(&screen->result->cells[i], name);
        const cJSON *timed = c ? timed_of(c) : NULL;
        double ratio = timed ? ratio_of(timed) : 0;
        least = timed && (n == 0 || ratio < least) ? ratio : least;
        most = timed && (n == 0 || ratio > most) ? ratio : most;
        n += timed != NULL;
    }
    text_add(&screen->text, "  %s: %.2f", name, least);
    if (most > least)
        text_add(&screen->text, " to %.2f", most);
    text_add(&screen->text, " times, in %u cell%s\n", n, n == 1 ? "" : "s");
}

void screen_errors(struct screen *screen)
{
    const struct result *result = screen->result;
    struct seen seen = {.n = 0};
    for (size_t i = 0; i < result->n_cells; i++)
        for (size_t k = 0; k < result->cells[i].n_contenders; k++) {
            const struct result_contender *c = &result->cells[i].contenders[k];
            if (!timed_of(c) || !seen_first(&seen, c->name))
                continue;
            if (seen.n == 1)
                text_add(&screen->text,
                         "Timed with other arithmetic than verified (RMS error over that of verification):\n");
            print(screen, c->name);
        }
}
