/*
 * side.c - reads one run's journal into cells and group values. Relies on record/journal.h, result/run_info.h and
 * report/source.h. Called by compare.c, provenance.c and rows.c.
 */
#include "compare/side.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "compare/side_cell.h"
#include "report/source.h"
#include "record/journal.h"
#include "result/result.h"

/* ---- the journal's lines ---- */

/* *data is the copy from here on, and may be pointed into. */
static int keep(cJSON **place, struct json_at *data, struct error *err)
{
    *place = cJSON_Duplicate(data->node, true);
    data->node = *place;
    return *place ? 0 : error_set(err, EXIT_CODE_INTERNAL, "%s: out of memory", data->source);
}

/* No run of this program writes a line that its readers refuse. */
static int say_what_to_do(int code, struct error *err)
{
    size_t used = strlen(err->text);
    if (code == EXIT_CODE_DATA)
        snprintf(err->text + used, sizeof err->text - used, "; the journal was edited, or is no run's: measure again");
    return code;
}

static int keep_run(struct side *s, struct json_at data, struct error *err)
{
    int code = keep(&s->run_line, &data, err);
    return code ? code : say_what_to_do(run_info_read(data, &s->run, err), err);
}

static int keep_env(struct side *s, struct json_at data, struct error *err)
{
    int code = keep(&s->first_env, &data, err);
    return code ? code : say_what_to_do(env_info_read(data, &s->env, err), err);
}

static int add_aa(struct side *s, enum mode mode, double value)
{
    double *grown = realloc(s->aa[mode].values, (s->aa[mode].n + 1) * sizeof *grown);
    if (!grown)
        return -1;
    s->aa[mode].values = grown;
    grown[s->aa[mode].n++] = value;
    return 0;
}

static int read_aa(struct side *s, const struct cell_record *r)
{
    int failed = 0;
    for (size_t i = 0; i < r->n_contenders && !failed; i++) {
        double value = NAN;
        failed = side_cell_aa(r, &r->contenders[i], &value);
        if (!failed && !isnan(value))
            failed = add_aa(s, r->mode, value);
    }
    return failed;
}

static void note_wrong_results(struct side *s, const struct cell_record *r, const char *key)
{
    for (size_t i = 0; i < r->n_contenders; i++)
        if (verdict_is_refuted(r->contenders[i].verdict) && s->wrong_results++ == 0)
            snprintf(s->first_wrong, sizeof s->first_wrong, "%s in %s", r->contenders[i].name, key);
}

static struct side_cell *next_cell(struct side *s)
{
    struct side_cell *grown = grow_for_one(s->cells, s->n_cells, &s->capacity, sizeof *grown);
    if (!grown)
        return NULL;
    s->cells = grown;
    return &s->cells[s->n_cells];
}

static int visit_cell(struct side *s, struct json_at data, struct error *err)
{
    struct cell_record *record = NULL;
    if (record_from_json(data, &record, err))
        return err->code;
    struct side_cell *cell = activity_book_apply(&s->book, record) ? next_cell(s) : NULL;
    int code = cell ? side_cell_fill(record, cell, data, err)
                    : error_set(err, EXIT_CODE_INTERNAL, "%s: out of memory", data.source);
    if (code == 0) {
        s->n_cells++;
        note_wrong_results(s, record, cell->key);
        if (read_aa(s, record))
            code = error_set(err, EXIT_CODE_INTERNAL, "%s: out of memory", data.source);
    }
    record_free(record);
    return code;
}

static int visit(void *context, const char *kind, struct json_at data, struct error *err)
{
    struct side *s = context;
    bool is_run = strcmp(kind, "run") == 0;
    if (is_run == (s->run_line != NULL))
        return json_fail(data, err, is_run ? "a second \"run\" line" : "a journal begins with a \"run\" line");
    if (is_run)
        return keep_run(s, data, err);
    if (strcmp(kind, "env") == 0)
        return s->first_env ? 0 : keep_env(s, data, err);
    if (strcmp(kind, "cell") == 0)
        return visit_cell(s, data, err);
    s->complete |= strcmp(kind, "end") == 0;
    return 0;
}

/* ---- which journal ---- */

/* A result is read, too: for its schema, and to know its journal again. */
static int find_journal(const char *path, struct source *journal, struct result **result, struct error *err)
{
    struct source named;
    int code = source_find(path, &named, err);
    if (code == 0 && !named.journal)
        code = result_read(named.path, result, err);
    return code ? code : source_find_journal(path, journal, err);
}

static int check_belongs(const struct side *s, const char *journal, const struct result *result, struct error *err)
{
    const char *other = NULL;
    if (!result)
        return 0;
    if (strcmp(result->run.started, s->run.started) != 0)
        other = "started";
    else if (strcmp(result->run.plan_hash, s->run.plan_hash) != 0)
        other = "plan_hash";
    else if (strcmp(result->run.seed, s->run.seed) != 0)
        other = "seed";
    return other ? error_set(err, EXIT_CODE_DATA, "%s: the journal beside it, %s, is of another run (%s differs)",
                             s->path, journal, other)
                 : 0;
}

/* ---- the whole ---- */

static int by_key(const void *a, const void *b)
{
    return strcmp(((const struct side_cell *)a)->key, ((const struct side_cell *)b)->key);
}

static int check_cells(struct side *s, struct error *err)
{
    if (!s->run_line)
        return error_set(err, EXIT_CODE_DATA, "%s: no \"run\" line: not a journal, or nothing was measured", s->path);
    if (s->n_cells == 0)
        return error_set(err, EXIT_CODE_DATA, "%s: no cell was measured", s->path);
    qsort(s->cells, s->n_cells, sizeof *s->cells, by_key);
    for (size_t i = 1; i < s->n_cells; i++)
        if (strcmp(s->cells[i].key, s->cells[i - 1].key) == 0)
            return error_set(err, EXIT_CODE_DATA, "%s: cell %s is there twice", s->path, s->cells[i].key);
    return 0;
}

int side_read(const char *path, struct side *out, struct error *err)
{
    struct source journal;
    struct result *result = NULL;
    *out = (struct side){0};
    run_info_clear(&out->run);
    env_info_clear(&out->env);
    snprintf(out->path, sizeof out->path, "%s", path);
    int code = find_journal(path, &journal, &result, err);
    if (!code)
        code = activity_book_read(journal.path, &out->book, err);
    if (!code)
        code = journal_read(journal.path, visit, out, NULL, err);
    if (!code)
        code = check_cells(out, err);
    if (!code)
        code = check_belongs(out, journal.path, result, err);
    result_free(result);
    if (code)
        side_free(out);
    return code;
}

void side_free(struct side *s)
{
    for (size_t i = 0; i < s->n_cells; i++)
        side_cell_free(&s->cells[i]);
    free(s->cells);
    run_info_free(&s->run);
    env_info_free(&s->env);
    cJSON_Delete(s->run_line);
    cJSON_Delete(s->first_env);
    activity_book_free(&s->book);
    for (int mode = 0; mode < MODE_COUNT; mode++)
        free(s->aa[mode].values);
    *s = (struct side){0};
}

const struct side_cell *side_find_cell(const struct side *s, const char *key)
{
    struct side_cell wanted = {.n_candidates = 0};
    snprintf(wanted.key, sizeof wanted.key, "%s", key);
    return s->n_cells ? bsearch(&wanted, s->cells, s->n_cells, sizeof *s->cells, by_key) : NULL;
}

const struct side_candidate *side_find_candidate(const struct side_cell *cell, const char *name)
{
    for (size_t i = 0; cell && i < cell->n_candidates; i++)
        if (strcmp(cell->candidates[i].name, name) == 0)
            return &cell->candidates[i];
    return NULL;
}

const struct side_pair *side_find_pair(const struct side_candidate *candidate, const char *reference)
{
    for (size_t i = 0; candidate && i < candidate->n_pairs; i++)
        if (strcmp(candidate->pairs[i].reference, reference) == 0)
            return &candidate->pairs[i];
    return NULL;
}

/* ---- what is not there ---- */

bool side_was_absent(const struct side_cell *cell, const char *name)
{
    for (size_t i = 0; i < cell->n_absent; i++)
        if (strcmp(cell->absent[i].name, name) == 0)
            return true;
    return false;
}

/* "mine" for "mine-nn". */
static bool may_hold(const struct side_absent *absent, const char *candidate)
{
    size_t length = strlen(absent->name);
    return strncmp(absent->name, candidate, length) == 0 && strchr("-.", candidate[length]);
}

void side_tell_absent(const struct side_cell *base, const struct side_cell *cell, const char *candidate,
                      char out[SIDE_WHY_MAX])
{
    const struct side_absent *found = NULL;
    for (size_t i = 0; i < cell->n_absent; i++) {
        const struct side_absent *absent = &cell->absent[i];
        bool better = !found || (may_hold(absent, candidate) && !may_hold(found, candidate));
        if (better && !side_was_absent(base, absent->name))
            found = absent;
    }
    out[0] = '\0';
    if (found)
        snprintf(out, SIDE_WHY_MAX, "%s: %s", found->name, found->reason);
    else if (cell->reason[0] && cell->outcome != CELL_OK)
        snprintf(out, SIDE_WHY_MAX, "%s: %s", cell->word, cell->reason);
}
