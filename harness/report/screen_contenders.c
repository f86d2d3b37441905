/*
 * screen_contenders.c - the table of all contenders' medians by shape, as wide as the terminal lets it be. Relies on
 * table.c. Called by screen_rows.c with `--all` or room enough.
 */
#include "report/screen_contenders.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/screen_cells.h"
#include "report/table.h"
#include "record/record.h"

struct names {
    const char *list[2 * RECORD_MAX_CONTENDERS];
    size_t n;
};

static void add_name(struct names *names, const char *name)
{
    for (size_t i = 0; i < names->n; i++)
        if (strcmp(names->list[i], name) == 0)
            return;
    if (names->n < sizeof names->list / sizeof *names->list)
        names->list[names->n++] = name;
}

/* In the order in which cells have them, which is the config's; copies for A/A have lines of their own below. */
static void collect(struct names *names, const struct result_cell *const *cells, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < cells[i]->n_contenders; c++)
            if (cells[i]->contenders[c].role != RESULT_COPY)
                add_name(names, cells[i]->contenders[c].name);
}

/* The time, or why there is none. */
static void add_entry(struct table *s, const struct result_cell *cell, const char *name)
{
    const struct result_contender *contender = result_contender(cell, name);
    if (contender && contender->verdict != VERDICT_OK)
        table_add(s, NAN, "%s", contender->status);
    else
        screen_add_time(s, contender ? screen_median_ns(cell, contender) : (double)NAN);
}

static void fill(struct table *s, const struct result_cell *const *cells, size_t n, const char *const *names,
                 size_t n_names)
{
    table_column(s, "shape", "shape", true);
    for (size_t i = 0; i < n_names; i++)
        table_column(s, names[i], names[i], false);
    for (size_t row = 0; row < n; row++) {
        screen_add_shape(s, cells[row]);
        for (size_t i = 0; i < n_names; i++)
            add_entry(s, cells[row], names[i]);
    }
}

/* How many contenders from `first` on fit beside the shapes; one at least. */
static size_t count_fitting(const struct screen *screen, const struct result_cell *const *cells, size_t n,
                            const struct names *names, size_t first)
{
    unsigned columns = screen->options->columns;
    struct table s = {0};
    size_t most = names->n - first < TABLE_COLUMNS - 1 ? names->n - first : TABLE_COLUMNS - 1, count = 0;
    fill(&s, cells, n, names->list + first, most);
    size_t width = table_column_width(&s, 0);
    while (count < most && (columns == 0 || count == 0 || width + 2 + table_column_width(&s, count + 1) <= columns))
        width += 2 + table_column_width(&s, ++count);
    table_free(&s);
    return count;
}

void screen_contenders(struct screen *screen, const struct result_cell *const *cells, size_t n)
{
    struct names names = {.n = 0};
    collect(&names, cells, n);
    if (names.n <= 2 || n == 0)
        return;
    if (!screen->options->all && count_fitting(screen, cells, n, &names, 0) < names.n) {
        text_add(&screen->text, "Times of all %zu contenders: report --all, or a wider terminal\n\n", names.n);
        return;
    }
    for (size_t first = 0, count; first < names.n; first += count) {
        struct table s = {0};
        count = count_fitting(screen, cells, n, &names, first);
        snprintf(s.title, sizeof s.title, "Every contender's median, %s time%s", result_timing_name(cells[0]->headline),
                 first > 0 ? " (continued)" : "");
        fill(&s, cells, n, names.list + first, count);
        table_print_text(&screen->text, &s, screen->options->colour);
        text_add(&screen->text, "\n");
        screen->text.failed |= s.failed;
        table_free(&s);
    }
}
