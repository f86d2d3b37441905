/*
 * screen_uneven.c - names the pairs in which the candidate's launches are uneven, so that their speedup is of means.
 * Called by screen.c.
 */
#include "report/screen_uneven.h"

#include <math.h>

#define NAMED 5 /* unless all are asked for */

void screen_uneven(struct screen *screen)
{
    const struct result *result = screen->result;
    size_t told = 0;
    for (size_t i = 0; i < result->n_cells; i++)
        for (size_t k = 0; k < result->cells[i].n_speedups; k++) {
            const struct result_cell *cell = &result->cells[i];
            const struct result_pair *s = &cell->speedups[k];
            if (isnan(s->uneven) || s->timing != cell->headline || (told++ >= NAMED && !screen->options->all))
                continue;
            if (told == 1)
                text_add(&screen->text, "Some launches take far longer than most; the speedup is of means there:\n");
            text_add(&screen->text, "  %s, %s over %s: its launches are uneven, mean %+.0f%% over the median\n",
                     cell->key, s->candidate, s->reference, 100 * s->uneven);
        }
    if (told > NAMED && !screen->options->all)
        text_add(&screen->text, "  and %zu more (report --all)\n", told - NAMED);
}
