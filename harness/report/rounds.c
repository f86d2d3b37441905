/*
 * rounds.c - medians by round from the journals of the sources. Relies on record/journal.h. Called by the exports that
 * have rounds.
 */
#include "report/rounds.h"

#include <stdlib.h>
#include <string.h>

#include "report/journal_freshness.h"
#include "report/source.h"
#include "record/activity.h"
#include "record/journal.h"
#include "result/result.h"
#include "stats/interval.h"

struct reading {
    int timing;
    round_visitor visit;
    void *context;
    struct activity_book book;
};

/* Values of one series stand in block order, and groups never fall: each group is one run of values. How many values
 * the run has that begins at `first`. */
static size_t run_length(const struct cell_record *cell, const struct series *series, size_t first)
{
    size_t n = 1;
    unsigned group = cell->group_of[series->block[first]];
    while (first + n < series->n && cell->group_of[series->block[first + n]] == group)
        n++;
    return n;
}

static size_t count_healthy(const struct cell_record *cell, const struct series *series)
{
    size_t n = 0;
    for (size_t i = 0; i < series->n; i += run_length(cell, series, i))
        n += !record_block_dropped(cell, series->block[i]);
    return n;
}

static int visit_series(const struct reading *r, struct round *round, struct error *err)
{
    const struct series *series = &round->contender->timings[round->timing];
    int code = 0;
    round->n_healthy = count_healthy(round->cell, series);
    for (size_t i = 0; i < series->n && code == 0; i += round->blocks) {
        round->group = round->cell->group_of[series->block[i]];
        round->blocks = run_length(round->cell, series, i);
        round->median_ns = stats_median(series->ns + i, round->blocks);
        round->slowed = record_block_dropped(round->cell, series->block[i]);
        code = r->visit(r->context, round, err);
    }
    return code;
}

static int visit_cell(const struct reading *r, const struct cell_record *cell, struct error *err)
{
    int code = 0;
    for (size_t i = 0; i < cell->n_contenders && code == 0; i++) {
        const struct contender_record *contender = &cell->contenders[i];
        struct round round = {.cell = cell, .contender = contender};
        round.timing = r->timing < 0 ? cell->headline : (enum timing)r->timing;
        if (contender->verdict == VERDICT_OK)
            code = visit_series(r, &round, err);
    }
    return code;
}

static int visit_line(void *context, const char *kind, struct json_at data, struct error *err)
{
    const struct reading *reading = context;
    struct cell_record *cell = NULL;
    if (strcmp(kind, "cell") != 0)
        return 0;
    if (record_from_json(data, &cell, err))
        return err->code;
    int code = activity_book_apply(&reading->book, cell)
                   ? visit_cell(reading, cell, err)
                   : error_set(err, EXIT_CODE_INTERNAL, "%s: out of memory", data.source);
    record_free(cell);
    return code;
}

/* A round of another run would stand under this one's name. */
static int find_journal(const char *path, struct source *journal, struct error *err)
{
    struct source named;
    struct error note = {0};
    struct result *result = NULL;
    if (source_find(path, &named, err) || source_find_journal(path, journal, err))
        return err->code;
    if (named.journal)
        return 0;
    if (result_read(named.path, &result, err))
        return err->code;
    enum freshness freshness = journal_freshness(named.path, result, journal, &note);
    result_free(result);
    if (freshness == JOURNAL_OF_OTHER_RUN)
        return error_set(err, EXIT_CODE_DATA, "%s: the journal beside it, %s, is of another run", path, journal->path);
    return 0;
}

int rounds_visit(const char *path, int timing, round_visitor visit, void *context, struct error *err)
{
    struct reading reading = {.timing = timing, .visit = visit, .context = context};
    struct source journal;
    if (find_journal(path, &journal, err))
        return err->code;
    int code = activity_book_read(journal.path, &reading.book, err);
    if (code == 0)
        code = journal_read(journal.path, visit_line, &reading, NULL, err);
    activity_book_free(&reading.book);
    return code;
}
