/*
 * journal_freshness.c - looks whether the journal beside a result has more cells or looks than the result tells, and
 * whether it is of the same run. Relies on record/journal.h. Called by load.c.
 */
#include "report/journal_freshness.h"

#include <string.h>

#include "record/activity.h"
#include "record/journal.h"
#include "base/tree.h"

/* What of a journal tells its length, and whose it is. */
struct extent {
    const cJSON *result_run;
    int cells, looks; /* cells measured, cells whose launches were watched */
    bool ended, same_run;
};

static bool is_same_run(const cJSON *a, const cJSON *b)
{
    static const char *const keys[] = {"started", "plan_hash", "seed"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(tree_text(a, keys[i]), tree_text(b, keys[i])) != 0)
            return false;
    return true;
}

static int visit(void *context, const char *kind, struct json_at data, struct error *err)
{
    struct extent *e = context;
    (void)err;
    if (strcmp(kind, "run") == 0)
        e->same_run = is_same_run(e->result_run, data.node);
    e->cells += strcmp(kind, "cell") == 0;
    e->looks += strcmp(kind, ACTIVITY_KIND) == 0 && tree_member(data.node, "cell");
    e->ended |= strcmp(kind, "end") == 0;
    return 0;
}

/* By what the lines hold and not by the files' times, which a copy or a checkout changes. A start of the program that
 * measured nothing adds lines, too, and makes no figure older. */
static bool has_more(const struct extent *journal, const cJSON *result)
{
    const cJSON *run = tree_member(result, "run"), *looks = tree_member(tree_member(run, "activity"), "cells");
    return journal->cells > cJSON_GetArraySize(tree_member(result, "cells")) ||
           journal->looks > (cJSON_IsNumber(looks) ? looks->valueint : 0) ||
           (journal->ended && !tree_member(run, "end"));
}

enum beside journal_freshness(const char *path, const cJSON *result, struct source *journal, struct error *note)
{
    struct extent e = {.result_run = tree_member(result, "run")};
    struct error why = {0};
    int cells = cJSON_GetArraySize(tree_member(result, "cells"));
    if (source_find_journal(path, journal, &why) || strcmp(journal->path, path) == 0)
        return BESIDE_NOTHING;
    if (journal_read(journal->path, visit, &e, NULL, &why)) {
        error_set(note, 0, "shown is %s; the journal beside it cannot be read: %s", path, why.text);
        return BESIDE_UNREADABLE;
    }
    if (!e.same_run) {
        error_set(note, 0, "shown is %s; the journal beside it, %s, is of another run", path, journal->path);
        return BESIDE_OTHER_RUN;
    }
    if (!has_more(&e, result))
        return BESIDE_NOTHING;
    error_set(note, 0, "shown is the journal %s (cells: %d); the result %s is older (%d)", journal->path, e.cells, path,
              cells);
    return BESIDE_MORE;
}
