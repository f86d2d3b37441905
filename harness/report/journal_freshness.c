/*
 * journal_freshness.c - looks whether the journal beside a result has more cells or looks than the result tells, and
 * whether it is of the same run. Relies on record/journal.h and result/run_info.h. Called by load.c.
 */
#include "report/journal_freshness.h"

#include <math.h>
#include <string.h>

#include "record/activity.h"
#include "record/journal.h"
#include "result/run_info.h"
#include "base/tree.h"

/* What of a journal tells its length, and whose it is. */
struct extent {
    const struct result *result;
    size_t cells; /* measured */
    double looks; /* cells whose launches were watched */
    bool ended, same_run;
};

static bool is_same_run(const struct result_run *a, const struct run_info *b)
{
    return strcmp(a->started, b->started) == 0 && strcmp(a->plan_hash, b->plan_hash) == 0 &&
           strcmp(a->seed, b->seed) == 0;
}

static int visit_run(struct extent *e, struct json_at data, struct error *err)
{
    struct run_info info;
    if (run_info_read(data, &info, err))
        return err->code;
    e->same_run = is_same_run(&e->result->run, &info);
    run_info_free(&info);
    return 0;
}

static int visit(void *context, const char *kind, struct json_at data, struct error *err)
{
    struct extent *e = context;
    if (strcmp(kind, "run") == 0)
        return visit_run(e, data, err);
    e->cells += strcmp(kind, "cell") == 0;
    e->looks += strcmp(kind, ACTIVITY_KIND) == 0 && tree_member(data.node, "cell");
    e->ended |= strcmp(kind, "end") == 0;
    return 0;
}

/* By what the lines hold and not by the files' times, which a copy or a checkout changes. A start of the program that
 * measured nothing adds lines, too, and makes no figure older. */
static bool has_more(const struct extent *journal)
{
    const struct result_run *run = &journal->result->run;
    double looks = isnan(run->activity.cells) ? 0 : run->activity.cells;
    return journal->cells > journal->result->n_cells || journal->looks > looks || (journal->ended && !run->end.json);
}

enum freshness journal_freshness(const char *path, const struct result *result, struct source *journal,
                                 struct error *note)
{
    struct extent e = {.result = result};
    struct error why = {0};
    if (source_find_journal(path, journal, &why) || strcmp(journal->path, path) == 0)
        return JOURNAL_HAS_NO_MORE;
    if (journal_read(journal->path, visit, &e, NULL, &why)) {
        error_set(note, 0, "shown is %s; the journal beside it cannot be read: %s", path, why.text);
        return JOURNAL_UNREADABLE;
    }
    if (!e.same_run) {
        error_set(note, 0, "shown is %s; the journal beside it, %s, is of another run", path, journal->path);
        return JOURNAL_OF_OTHER_RUN;
    }
    if (!has_more(&e))
        return JOURNAL_HAS_NO_MORE;
    error_set(note, 0, "shown is the journal %s (cells: %zu); the result %s is older (%zu)", journal->path, e.cells,
              path, result->n_cells);
    return JOURNAL_HAS_MORE;
}
