/*
 * alone_cells.c - reads what a run has measured out of its journal and draws the cells that alone.c times again.
 * Relies on record/journal.h. Called by alone.c.
 */
#include "run/alone_cells.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "stats/interval.h"

struct drawing {
    const struct ledger *ledger;
    struct random random;
    struct alone_cell *cells;
    size_t n, wanted, seen; /* of those that can be drawn */
};

double alone_cells_time(const struct cell_record *record, const struct contender_record *r, enum alone_measure measure,
                        size_t blocks)
{
    const struct series *s = &r->timings[record->headline];
    size_t n = s->n < blocks ? s->n : blocks;
    double sum = 0;
    if (r->verdict != VERDICT_OK || n == 0)
        return 0;
    if (measure == ALONE_MEDIAN)
        return stats_median(s->ns, n);
    for (int decile = 1; decile <= 9; decile++)
        sum += stats_quantile(s->ns, n, 0.1 * decile);
    return sum / 9;
}

struct alone_name *alone_cells_name(struct alone_cell *c, const struct contender_record *r)
{
    if (r->copy_of[0])
        return NULL;
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->list[i].name, r->name) == 0)
            return &c->list[i];
    if (c->n == RECORD_MAX_CONTENDERS)
        return NULL;
    struct alone_name *name = &c->list[c->n++];
    snprintf(name->name, sizeof name->name, "%s", r->name);
    name->candidate = r->candidate;
    return name;
}

static bool can_be_drawn(const struct cell_record *record)
{
    bool candidate = false, baseline = false;
    for (size_t i = 0; i < record->n_contenders; i++) {
        const struct contender_record *r = &record->contenders[i];
        bool timed = alone_cells_time(record, r, ALONE_MEDIAN, 1) > 0;
        candidate = candidate || (timed && r->candidate);
        baseline = baseline || (timed && !r->candidate);
    }
    return candidate && baseline;
}

static void fill(struct alone_cell *c, size_t cell, const struct cell_record *record)
{
    *c = (struct alone_cell){.cell = cell, .open = true};
    for (size_t i = 0; i < record->n_contenders; i++) {
        struct alone_name *name = alone_cells_name(c, &record->contenders[i]);
        for (enum alone_measure m = 0; name && m < ALONE_MEASURES; m++) {
            name->looks[m].run = alone_cells_time(record, &record->contenders[i], m, SIZE_MAX);
            name->looks[m].early = alone_cells_time(record, &record->contenders[i], m, ALONE_BLOCKS);
        }
    }
}

/* Each cell has the same chance to be among those that are kept (reservoir sampling). */
static int visit_cell(void *context, const char *kind, struct json_at data, struct error *err)
{
    struct drawing *d = context;
    struct cell_record *record = NULL;
    (void)kind;
    if (record_from_json(data, &record, err))
        return err->code;
    long cell = plan_find(&d->ledger->plan, &record->problem, record->mode);
    if (cell >= 0 && can_be_drawn(record)) {
        size_t place = d->n < d->wanted ? d->n++ : (size_t)random_below(&d->random, d->seen + 1);
        d->seen++;
        if (place < d->wanted)
            fill(&d->cells[place], (size_t)cell, record);
    }
    record_free(record);
    return 0;
}

int alone_cells_draw(const struct ledger *ledger, size_t wanted, struct alone_cell **out, size_t *n, struct error *err)
{
    struct drawing d = {.ledger = ledger, .wanted = wanted};
    const struct journal_filter cells = {"cell", visit_cell, &d};
    random_seed(&d.random, random_entropy());
    *out = d.cells = calloc(wanted > 0 ? wanted : 1, sizeof *d.cells);
    if (!d.cells)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory to time baselines again");
    int code = journal_read_kind(ledger->journal_path, &cells, err);
    *n = d.n;
    return code;
}
