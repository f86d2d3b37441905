/*
 * screen_errors.c - tells whose timed outputs are off by another error than verification saw (verification.timed,
 * measure/timed_error.h). Relies on the result's cells. Called by screen.c.
 */
#include "report/screen_errors.h"

#include <string.h>

static const cJSON *timed_of(const struct result_contender *c)
{
    const cJSON *timed = c->verification ? cJSON_GetObjectItemCaseSensitive(c->verification, "timed") : NULL;
    return timed && cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(timed, "error_changes")) ? timed : NULL;
}

static bool is_first(const struct result *result, size_t cell, const char *name)
{
    bool first = true;
    for (size_t i = 0; i < cell && first; i++) {
        const struct result_contender *c = result_contender(&result->cells[i], name);
        first = !c || !timed_of(c);
    }
    return first;
}

static double ratio_of(const cJSON *timed)
{
    const cJSON *ratio = cJSON_GetObjectItemCaseSensitive(timed, "error");
    return cJSON_IsNumber(ratio) ? ratio->valuedouble : 0;
}

/* Its cells from `cell` on, the first. */
static void print(struct screen *screen, size_t cell, const char *name)
{
    double least = 0, most = 0;
    unsigned n = 0;
    for (size_t i = cell; i < screen->result->n_cells; i++) {
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
    bool any = false;
    for (size_t i = 0; i < result->n_cells; i++)
        for (size_t k = 0; k < result->cells[i].n_contenders; k++) {
            const struct result_contender *c = &result->cells[i].contenders[k];
            if (!timed_of(c) || !is_first(result, i, c->name))
                continue;
            if (!any)
                text_add(&screen->text,
                         "Timed with other arithmetic than verified (RMS error over that of verification):\n");
            any = true;
            print(screen, i, c->name);
        }
}
