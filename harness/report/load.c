/*
 * load.c - reads the files that a command names, prefers a newer journal, merges several results and refuses what does
 * not belong together. Relies on source.c and beside.c. Called by report.c, `run` and compare's summaries.
 */
#include "report/load.h"

#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "report/journal_freshness.h"
#include "report/source.h"
#include "report/summaries.h"
#include "result/result.h"
#include "base/tree.h"

/* ---- what may stand in one report ---- */

/* A worker start and the file it is from. */
struct seen_device {
    const cJSON *device;
    const char *path;
};

static int refuse_mixed(struct seen_device *first, const cJSON *result, const char *path, struct error *err)
{
    static const char *const keys[] = {"name", "driver"};
    const cJSON *env;
    cJSON_ArrayForEach(env, tree_member(result, "env"))
    {
        const cJSON *device = tree_member(env, "device");
        if (!first->device)
            *first = (struct seen_device){device, path};
        for (size_t k = 0; k < 2 && device && first->device; k++)
            if (strcmp(tree_text(first->device, keys[k]), tree_text(device, keys[k])) != 0)
                return error_set(err, EXIT_CODE_DATA,
                                 "%s: its device has %s \"%s\", that of %s has \"%s\" (--mixed accepts it)", path,
                                 keys[k], tree_text(device, keys[k]), first->path, tree_text(first->device, keys[k]));
    }
    return 0;
}

struct keyed {
    const char *key, *path;
};

static int by_key(const void *a, const void *b)
{
    const struct keyed *x = a;
    const struct keyed *y = b;
    return strcmp(x->key, y->key);
}

static size_t count_cells(cJSON *const *results, size_t n)
{
    size_t total = 0;
    for (size_t i = 0; i < n; i++)
        total += (size_t)cJSON_GetArraySize(tree_member(results[i], "cells"));
    return total;
}

static int refuse_shared_cells(cJSON *const *results, const struct load_request *request, struct error *err)
{
    size_t n = 0;
    int code = 0;
    struct keyed *list = malloc((count_cells(results, request->n) + 1) * sizeof *list);
    if (!list)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for the report");
    for (size_t i = 0; i < request->n; i++) {
        const cJSON *cell;
        cJSON_ArrayForEach(cell, tree_member(results[i], "cells")) list[n++] =
            (struct keyed){tree_text(cell, "key"), request->paths[i]};
    }
    qsort(list, n, sizeof *list, by_key);
    for (size_t i = 1; i < n && code == 0; i++)
        if (strcmp(list[i].key, list[i - 1].key) == 0)
            code = error_set(err, EXIT_CODE_DATA, "cell %s is in %s and in %s", list[i].key, list[i - 1].path,
                             list[i].path);
    free(list);
    return code;
}

/* ---- merging ---- */

/* Moves every element of from[key] to the end of to. */
static void move_all(cJSON *to, cJSON *from, const char *key)
{
    cJSON *array = cJSON_GetObjectItemCaseSensitive(from, key);
    while (array && array->child)
        cJSON_AddItemToArray(to, cJSON_DetachItemViaPointer(array, array->child));
}

static void shift_env(cJSON *result, int by)
{
    cJSON *cell;
    cJSON *cells = cJSON_GetObjectItemCaseSensitive(result, "cells");
    cJSON_ArrayForEach(cell, cells)
    {
        cJSON *env = cJSON_GetObjectItemCaseSensitive(cell, "env");
        if (cJSON_IsNumber(env) && env->valueint >= 0)
            cJSON_SetNumberValue(env, env->valuedouble + by);
    }
}

static cJSON *merged_run(cJSON *const *results, size_t n)
{
    struct tree run = tree_begin();
    cJSON *missing = cJSON_CreateArray();
    double cells = 0;
    bool complete = true;
    for (size_t i = 0; i < n; i++) {
        cJSON *part = cJSON_GetObjectItemCaseSensitive(results[i], "run");
        cells += tree_number(part, "n_cells");
        complete &= tree_true(part, "complete");
        move_all(missing, part, "missing");
    }
    tree_put_number(&run, "n_cells", cells);
    tree_put(&run, "complete", cJSON_CreateBool(complete));
    tree_put(&run, "missing", missing);
    tree_put(&run, "sittings", cJSON_CreateArray());
    return tree_finish(&run);
}

static cJSON *list_files(cJSON *const *results, const struct load_request *request)
{
    cJSON *files = cJSON_CreateArray();
    for (size_t i = 0; i < request->n && files; i++) {
        struct tree file = tree_begin();
        tree_put_text(&file, "path", request->paths[i]);
        tree_put_number(&file, "cells", cJSON_GetArraySize(tree_member(results[i], "cells")));
        if (!tree_append(files, tree_finish(&file)))
            files = NULL;
    }
    return files;
}

const char *load_file_of(const cJSON *result, const cJSON *cell)
{
    double before = 0, end = 0;
    const cJSON *file;
    for (const cJSON *at = cell; at != tree_member(result, "cells")->child; at = at->prev)
        before++;
    cJSON_ArrayForEach(file, tree_member(result, "files"))
    {
        end += tree_number(file, "cells");
        if (before < end)
            return tree_text(file, "path");
    }
    return NULL;
}

/* Takes the parts out of results[]; what is left of them is the caller's. */
static cJSON *merge(cJSON *const *results, const struct load_request *request)
{
    size_t n = request->n;
    struct tree all = tree_begin();
    cJSON *runs = cJSON_CreateArray();
    cJSON *env = cJSON_CreateArray();
    cJSON *cells = cJSON_CreateArray();
    cJSON *kept = summaries_to_keep(results, n);
    tree_put_text(&all, "schema", RESULT_SCHEMA);
    tree_put_number(&all, "schema_version", RESULT_SCHEMA_VERSION);
    tree_put(&all, "run", merged_run(results, n));
    tree_put(&all, "files", list_files(results, request));
    for (size_t i = 0; i < n; i++) {
        shift_env(results[i], cJSON_GetArraySize(env));
        cJSON_AddItemToArray(runs, cJSON_DetachItemFromObjectCaseSensitive(results[i], "run"));
        move_all(env, results[i], "env");
        move_all(cells, results[i], "cells");
    }
    tree_put(&all, "runs", runs);
    tree_put(&all, "env", env);
    tree_put(&all, "summary", summaries_merge(cells, kept));
    tree_put(&all, "cells", cells);
    return tree_finish(&all);
}

/* A result whose journal has gone on gives way to it: who names a run by its result wants what was measured. */
static int read_one(const char *path, FILE *notes, cJSON **out, struct error *err)
{
    struct source source, journal;
    struct error note = {0};
    if (source_find(path, &source, err))
        return err->code;
    if (source.journal)
        return result_from_journal(source.path, out, err);
    if (result_read(source.path, out, err))
        return err->code;
    enum beside beside = journal_freshness(source.path, *out, &journal, &note);
    if (beside != BESIDE_NOTHING && notes)
        fprintf(notes, "note: %s\n", note.text);
    if (beside != BESIDE_MORE)
        return 0;
    cJSON_Delete(*out);
    *out = NULL;
    return result_from_journal(journal.path, out, err);
}

static int load_all(const struct load_request *request, cJSON **results, cJSON **out, struct error *err)
{
    struct seen_device first = {0};
    int code = 0;
    for (size_t i = 0; i < request->n && code == 0; i++) {
        code = read_one(request->paths[i], request->notes, &results[i], err);
        if (code == 0 && !request->mixed)
            code = refuse_mixed(&first, results[i], request->paths[i], err);
    }
    if (code == 0)
        code = refuse_shared_cells(results, request, err);
    if (code)
        return code;
    if (request->n == 1) {
        *out = results[0];
        results[0] = NULL;
        return 0;
    }
    *out = merge(results, request);
    return *out ? 0 : error_set(err, EXIT_CODE_INTERNAL, "out of memory for the report");
}

/* ---- the door ---- */

static bool make_plain(char **words)
{
    char *plain = *words && !plain_is(*words) ? plain_copy(*words) : NULL;
    bool failed = *words && !plain && !plain_is(*words);
    if (plain) {
        free(*words);
        *words = plain;
    }
    return !failed;
}

/* Names and words of a whole tree. The reader has bounded its depth. */
static bool make_tree_plain(cJSON *node)
{
    bool done = true;
    for (; node && done; node = node->next) {
        if (!(node->type & cJSON_StringIsConst))
            done = make_plain(&node->string);
        if (done && cJSON_IsString(node))
            done = make_plain(&node->valuestring);
        done = done && make_tree_plain(node->child);
    }
    return done;
}

int load_results(const struct load_request *request, cJSON **out, struct error *err)
{
    cJSON **results = calloc(request->n + 1, sizeof *results);
    *out = NULL;
    if (!results)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for the report");
    int code = load_all(request, results, out, err);
    if (code == 0 && !request->exact && !make_tree_plain(*out))
        code = error_set(err, EXIT_CODE_INTERNAL, "out of memory for the report");
    for (size_t i = 0; i < request->n; i++)
        cJSON_Delete(results[i]);
    free(results);
    return code;
}
