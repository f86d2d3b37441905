/*
 * make.c - makes result.json from a journal. A pure function: the same journal gives the same bytes. Relies on
 * journal.c, cell.c and summary.c. Called by supervisor.c and report/.
 */
#include "result/borrowed_rows.h"
#include "result/make.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "record/activity.h"
#include "record/journal.h"
#include "record/record.h"
#include "result/fields.h"
#include "result/cell.h"
#include "result/summary.h"
#include "result/thin.h"
#include "base/tree.h"

/* What one reading of the journal gathers. */
struct gathered {
    cJSON *run;      /* the journal's run object, plan included */
    cJSON *sittings; /* arrays */
    cJSON *env;
    cJSON *cells;
    cJSON *end;                /* the last one, or NULL */
    struct activity_book book; /* read before everything else: its verdicts decide what is compared */
};

static int keep(cJSON **array, cJSON *item, struct json_at at, struct error *err)
{
    if (tree_append(*array, item))
        return 0;
    *array = NULL;
    return error_set(err, EXIT_CODE_INTERNAL, "%s: out of memory", at.source);
}

static int keep_once(cJSON **place, struct json_at data, struct error *err)
{
    cJSON_Delete(*place);
    *place = cJSON_Duplicate(data.node, true);
    return *place ? 0 : error_set(err, EXIT_CODE_INTERNAL, "%s: out of memory", data.source);
}

static double peak_member(const cJSON *env, const char *key)
{
    const cJSON *device = cJSON_GetObjectItemCaseSensitive(env, "device");
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(device, key);
    return cJSON_IsNumber(value) ? value->valuedouble : 0;
}

static int visit_cell(struct gathered *g, struct json_at data, struct error *err)
{
    struct cell_record *record;
    if (record_from_json(data, &record, err))
        return err->code;
    const cJSON *env = record->worker >= 0 ? cJSON_GetArrayItem(g->env, record->worker) : NULL;
    struct peak peak = {peak_member(env, "peak_flops"), peak_member(env, "peak_flops_f32"),
                        peak_member(env, "peak_bytes_per_s")};
    bool applied = activity_book_apply(&g->book, record);
    int code = keep(&g->cells, applied ? cell_json_of(record, &peak) : NULL, data, err);
    record_free(record);
    return code;
}

static int visit(void *context, const char *kind, struct json_at data, struct error *err)
{
    struct gathered *g = context;
    bool is_run = strcmp(kind, "run") == 0;
    if (is_run == (g->run != NULL))
        return json_fail(data, err, is_run ? "a second \"run\" line" : "a journal begins with a \"run\" line");
    if (is_run)
        return keep_once(&g->run, data, err);
    if (strcmp(kind, "sitting") == 0)
        return keep(&g->sittings, cJSON_Duplicate(data.node, true), data, err);
    if (strcmp(kind, "env") == 0)
        return keep(&g->env, cJSON_Duplicate(data.node, true), data, err);
    if (strcmp(kind, "cell") == 0)
        return visit_cell(g, data, err);
    if (strcmp(kind, "end") == 0)
        return keep_once(&g->end, data, err);
    if (strcmp(kind, ACTIVITY_KIND) == 0 || strcmp(kind, SENTINEL_KIND) == 0)
        return 0; /* activity is in the book */
    return json_fail(data, err, "unknown kind \"%.40s\"", kind);
}

/* ---- plan order ---- */

struct placed {
    const char *key;
    size_t at;
    cJSON *cell;
};

static const char *key_of(const cJSON *cell)
{
    return cJSON_GetObjectItemCaseSensitive(cell, "key")->valuestring;
}

static int by_key(const void *a, const void *b)
{
    return strcmp(((const struct placed *)a)->key, ((const struct placed *)b)->key);
}

static int by_place(const void *a, const void *b)
{
    const struct placed *x = a;
    const struct placed *y = b;
    return x->at != y->at ? (x->at < y->at ? -1 : 1) : strcmp(x->key, y->key);
}

/* Place of each cell in the run's plan; *missing gets the keys that have no cell. Both arrays sorted by key. */
static void match_plan(const struct placed *plan, size_t n_plan, struct placed *cells, size_t n_cells, bool *found)
{
    size_t p = 0;
    for (size_t i = 0; i < n_cells; i++) {
        while (p < n_plan && strcmp(plan[p].key, cells[i].key) < 0)
            p++;
        bool there = p < n_plan && strcmp(plan[p].key, cells[i].key) == 0;
        cells[i].at = there ? plan[p].at : n_plan;
        if (there)
            found[plan[p].at] = true;
    }
}

static size_t list_cells(const cJSON *array, struct placed *out)
{
    cJSON *cell;
    size_t n = 0;
    cJSON_ArrayForEach(cell, array) out[n++] = (struct placed){.key = key_of(cell), .cell = cell};
    qsort(out, n, sizeof *out, by_key);
    return n;
}

static size_t list_plan(const cJSON *plan, struct placed *out)
{
    const cJSON *key;
    size_t n = 0;
    size_t at = 0;
    cJSON_ArrayForEach(key, plan)
    {
        if (cJSON_IsString(key))
            out[n++] = (struct placed){.key = key->valuestring, .at = at};
        at++;
    }
    qsort(out, n, sizeof *out, by_key);
    return n;
}

static int refuse_duplicates(const struct placed *cells, size_t n, const char *path, struct error *err)
{
    for (size_t i = 1; i < n; i++)
        if (strcmp(cells[i].key, cells[i - 1].key) == 0)
            return error_set(err, EXIT_CODE_DATA, "%s: cell %s is there twice", path, cells[i].key);
    return 0;
}

/* Links the detached cells into a fresh array in their new order. */
static cJSON *array_of(const struct placed *cells, size_t n)
{
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; array && i < n; i++)
        cJSON_AddItemToArray(array, cells[i].cell);
    return array;
}

static cJSON *missing_keys(const cJSON *plan, const bool *found)
{
    cJSON *array = cJSON_CreateArray();
    const cJSON *key;
    size_t at = 0;
    cJSON_ArrayForEach(key, plan)
    {
        if (!found[at++] && array && cJSON_IsString(key) && !tree_append(array, cJSON_CreateString(key->valuestring)))
            array = NULL;
    }
    return array;
}

/* Puts g->cells in plan order and gives the planned cells that are not there. */
static int order_cells(struct gathered *g, const char *path, cJSON **missing, struct error *err)
{
    const cJSON *plan = cJSON_GetObjectItemCaseSensitive(g->run, "plan");
    size_t n_plan = (size_t)cJSON_GetArraySize(plan);
    size_t n_cells = (size_t)cJSON_GetArraySize(g->cells);
    struct placed *cells = malloc((n_cells + 1) * sizeof *cells);
    struct placed *planned = malloc((n_plan + 1) * sizeof *planned);
    bool *found = calloc(n_plan + 1, sizeof *found);
    int code = error_set(err, EXIT_CODE_INTERNAL, "%s: out of memory", path);
    if (!cells || !planned || !found)
        goto out;
    list_cells(g->cells, cells);
    code = refuse_duplicates(cells, n_cells, path, err);
    if (code)
        goto out;
    match_plan(planned, list_plan(plan, planned), cells, n_cells, found);
    qsort(cells, n_cells, sizeof *cells, by_place);
    while (g->cells->child)
        cJSON_DetachItemViaPointer(g->cells, g->cells->child);
    cJSON *ordered = array_of(cells, n_cells);
    *missing = missing_keys(plan, found);
    if (ordered) {
        cJSON_Delete(g->cells);
        g->cells = ordered;
    }
    if (!ordered || !*missing)
        code = error_set(err, EXIT_CODE_INTERNAL, "%s: out of memory", path);
out:
    free(found);
    free(planned);
    free(cells);
    return code;
}

/* ---- the tree ---- */

/* The journal's run object without its plan (the cells say it again), with what became of it. */
static cJSON *run_tree(struct gathered *g, cJSON *missing)
{
    cJSON_DeleteItemFromObjectCaseSensitive(g->run, "plan");
    struct tree t = {.object = g->run};
    g->run = NULL;
    int n_missing = cJSON_GetArraySize(missing);
    tree_put_number(&t, "n_cells", cJSON_GetArraySize(g->cells) + n_missing);
    tree_put(&t, "complete", cJSON_CreateBool(n_missing == 0 && g->end));
    tree_put(&t, "missing", missing);
    tree_put(&t, "sittings", g->sittings);
    g->sittings = NULL;
    tree_put_copy(&t, "end", g->end);
    if (g->book.recorder || g->book.unavailable)
        tree_put(&t, "activity", activity_book_run(&g->book));
    return tree_finish(&t);
}

static cJSON *result_tree(struct gathered *g, cJSON *missing)
{
    struct tree t = tree_begin();
    tree_put_text(&t, "schema", RESULT_SCHEMA);
    tree_put_number(&t, "schema_version", RESULT_SCHEMA_VERSION);
    tree_put(&t, "run", run_tree(g, missing));
    tree_put(&t, "env", g->env);
    tree_put(&t, "summary", cJSON_CreateObject());
    tree_put(&t, "cells", g->cells);
    g->env = NULL;
    g->cells = NULL;
    return tree_finish(&t);
}

/* The summary is of the cells as they are read: rounded as in the file. */
static int put_summary(cJSON *result, const char *source, struct error *err)
{
    struct result_cells cells = {NULL, 0};
    struct result_summary summary = {.json = NULL};
    cJSON *json = NULL;
    const cJSON *env;
    int code = result_read_cells(tree_member(result, "cells"), source, &cells, err);
    bool made = code == 0 && summary_of(cells.list, cells.n, &summary);
    cJSON_ArrayForEach(env, tree_member(result, "env")) borrowed_declare(summary.borrowed, summary.n_borrowed, env);
    if (made)
        json = summary_to_json(&summary);
    if (code == 0 && (!json || !cJSON_ReplaceItemInObjectCaseSensitive(result, "summary", json)))
        code = error_set(err, EXIT_CODE_INTERNAL, "%s: out of memory", source);
    result_free_summary(&summary);
    result_free_cells(&cells);
    return code;
}

static void gathered_free(struct gathered *g)
{
    cJSON_Delete(g->run);
    cJSON_Delete(g->sittings);
    cJSON_Delete(g->env);
    cJSON_Delete(g->cells);
    cJSON_Delete(g->end);
    activity_book_free(&g->book);
}

static struct gathered gathered_begin(void)
{
    return (struct gathered){.sittings = cJSON_CreateArray(), .env = cJSON_CreateArray(), .cells = cJSON_CreateArray()};
}

/* The tree of what was gathered; `code` is that of the gathering. Frees the rest. */
static int conclude(struct gathered *g, const char *source, int code, cJSON **out, struct error *err)
{
    cJSON *missing = NULL;
    if (code == 0 && !g->run)
        code = error_set(err, EXIT_CODE_DATA, "%s: no \"run\" line: not a journal, or nothing was measured", source);
    if (code == 0)
        code = order_cells(g, source, &missing, err);
    if (code == 0) {
        *out = result_tree(g, missing);
        code = *out ? put_summary(*out, source, err) : error_set(err, EXIT_CODE_INTERNAL, "%s: out of memory", source);
    }
    if (code) {
        cJSON_Delete(*out);
        *out = NULL;
    }
    gathered_free(g);
    return code;
}

int result_json_from_journal(const char *journal_path, cJSON **out, struct error *err)
{
    struct gathered g = gathered_begin();
    *out = NULL;
    int code = activity_book_read(journal_path, &g.book, err);
    if (code == 0)
        code = journal_read(journal_path, visit, &g, NULL, err);
    return conclude(&g, journal_path, code, out, err);
}

int result_json_from_text(const struct journal_text *text, cJSON **out, struct error *err)
{
    struct gathered g = gathered_begin();
    *out = NULL;
    int code = activity_book_parse(text, &g.book, err);
    if (code == 0)
        code = journal_parse(text, visit, &g, NULL, err);
    return conclude(&g, text->source, code, out, err);
}

/* ---- the file ---- */

static void print_node(struct text *out, const cJSON *node)
{
    char *printed = node ? json_print(node, false) : NULL;
    if (printed)
        text_add_bytes(out, printed, strlen(printed));
    else
        out->failed = true;
    free(printed);
}

/* The key too is somebody's text: a file that was read may have any. */
static void print_key(struct text *out, const char *key)
{
    cJSON *name = cJSON_CreateString(key);
    print_node(out, name);
    text_add(out, ":");
    cJSON_Delete(name);
}

/* One item a line. */
static void print_items(struct text *out, const cJSON *array)
{
    const cJSON *item;
    text_add(out, "[");
    cJSON_ArrayForEach(item, array)
    {
        text_add(out, item == array->child ? "\n" : ",\n");
        print_node(out, item);
    }
    text_add(out, "]");
}

char *result_print(const cJSON *result)
{
    struct text out = {0};
    const cJSON *member;
    text_add(&out, "{");
    tree_each(member, result)
    {
        text_add(&out, member == result->child ? "\n" : ",\n");
        print_key(&out, member->string);
        if (cJSON_IsArray(member))
            print_items(&out, member);
        else
            print_node(&out, member);
    }
    text_add(&out, "\n}\n");
    if (!out.failed)
        return out.bytes;
    text_free(&out);
    return NULL;
}

int result_write(const char *journal_path, const char *result_path, struct error *err)
{
    cJSON *tree = NULL;
    if (result_json_from_journal(journal_path, &tree, err))
        return err->code;
    result_thin(tree);
    char *text = result_print(tree);
    cJSON_Delete(tree);
    int code = text ? file_write_atomic(result_path, text, strlen(text), err)
                    : error_set(err, EXIT_CODE_INTERNAL, "%s: out of memory", result_path);
    free(text);
    return code;
}
