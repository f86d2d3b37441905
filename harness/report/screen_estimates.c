/*
 * screen_estimates.c - counts the cells in which the paper's mean lies outside the interval, and names some. Relies on
 * estimates.c. Called by screen.c.
 */
#include "report/screen_estimates.h"

#include <stdlib.h>

#include "report/dataset.h"
#include "report/estimates.h"

#define NAMED 5 /* the furthest apart, unless all are asked for */

struct outlier {
    const struct result_cell *cell;
    const struct result_pair *speedup;
    double distance;
};

struct list {
    struct outlier *items;
    size_t n, cells, pairs; /* pairs: all that were looked at */
};

static bool is_looked_at(const struct result_cell *cell, const struct result_pair *speedup)
{
    return speedup->timing == cell->headline && !dataset_has_layout(speedup->candidate) &&
           !dataset_has_layout(speedup->reference);
}

static int add(struct list *list, const struct outlier *outlier)
{
    struct outlier *grown = realloc(list->items, (list->n + 1) * sizeof *grown);
    if (!grown)
        return -1;
    list->items = grown;
    grown[list->n++] = *outlier;
    return 0;
}

static int look_at(struct list *list, const struct result_cell *cell)
{
    size_t before = list->n;
    int failed = 0;
    for (size_t i = 0; i < cell->n_speedups && !failed; i++) {
        const struct result_pair *speedup = &cell->speedups[i];
        const struct outlier outlier = {cell, speedup, estimates_distance(speedup)};
        if (!is_looked_at(cell, speedup))
            continue;
        list->pairs++;
        failed = outlier.distance > 0 ? add(list, &outlier) : 0;
    }
    list->cells += list->n > before;
    return failed;
}

static int by_distance(const void *a, const void *b)
{
    double x = ((const struct outlier *)a)->distance, y = ((const struct outlier *)b)->distance;
    return (x < y) - (x > y);
}

static void print_one(struct text *out, const struct outlier *outlier)
{
    const struct result_pair *s = outlier->speedup;
    text_add(out, "  %s, %s over %s: mean %+.1f%%, trimmed %+.1f%% ±%.1f\n", outlier->cell->key, s->candidate,
             s->reference, 100 * s->mean_of_ratios, 100 * s->geomean, 50 * (s->ci95.high - s->ci95.low));
}

void screen_estimates(struct screen *screen, const struct result_cell *const *cells, size_t n)
{
    struct list list = {.n = 0};
    for (size_t i = 0; i < n && !screen->text.failed; i++)
        screen->text.failed |= look_at(&list, cells[i]) != 0;
    if (list.n > 0) {
        qsort(list.items, list.n, sizeof *list.items, by_distance);
        text_add(&screen->text,
                 "The paper's mean lies outside the trimmed estimate's interval in %zu of %zu pairs, in %zu cell%s:\n",
                 list.n, list.pairs, list.cells, list.cells == 1 ? "" : "s");
    }
    size_t shown = screen->options->all || list.n < NAMED ? list.n : NAMED;
    for (size_t i = 0; i < shown; i++)
        print_one(&screen->text, &list.items[i]);
    if (shown < list.n)
        text_add(&screen->text, "  and %zu more (report --all)\n", list.n - shown);
    text_add(&screen->text, "%s", list.n > 0 ? "\n" : "");
    free(list.items);
}
