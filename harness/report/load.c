/*
 * load.c - reads the files that a command names, prefers a newer journal, puts several results together and refuses
 * what does not belong together. Relies on source.c and journal_freshness.c. Called by report.c, `run` and compare/.
 */
#include "report/load.h"

#include <stdlib.h>
#include <string.h>

#include "report/journal_freshness.h"
#include "report/source.h"
#include "result/merge.h"

/* ---- what may stand in one report ---- */

/* A worker start and the file it is from. */
struct seen_device {
    const struct result_device *device;
    const char *path;
};

static int refuse_other(const struct seen_device *first, const char *what, const char *const values[2],
                        const char *path, struct error *err)
{
    if (strcmp(values[0], values[1]) == 0)
        return 0;
    return error_set(err, EXIT_CODE_DATA, "%s: its device has %s \"%s\", that of %s has \"%s\" (--mixed accepts it)",
                     path, what, values[1], first->path, values[0]);
}

static int refuse_mixed(struct seen_device *first, const struct result *result, const char *path, struct error *err)
{
    int code = 0;
    for (size_t i = 0; i < result->n_env && code == 0; i++) {
        const struct result_device *device = &result->env[i].device;
        if (!device->json)
            continue;
        if (!first->device)
            *first = (struct seen_device){device, path};
        const char *const names[2] = {first->device->name, device->name};
        const char *const drivers[2] = {first->device->driver, device->driver};
        code = refuse_other(first, "name", names, path, err);
        if (code == 0)
            code = refuse_other(first, "driver", drivers, path, err);
    }
    return code;
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

static int refuse_shared_cells(struct result *const *results, const struct load_request *request, struct error *err)
{
    size_t n = 0, total = 0;
    int code = 0;
    for (size_t i = 0; i < request->n; i++)
        total += results[i]->n_cells;
    struct keyed *list = malloc((total + 1) * sizeof *list);
    if (!list)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for the report");
    for (size_t i = 0; i < request->n; i++)
        for (size_t c = 0; c < results[i]->n_cells; c++)
            list[n++] = (struct keyed){results[i]->cells[c].key, request->paths[i]};
    qsort(list, n, sizeof *list, by_key);
    for (size_t i = 1; i < n && code == 0; i++)
        if (strcmp(list[i].key, list[i - 1].key) == 0)
            code = error_set(err, EXIT_CODE_DATA, "cell %s is in %s and in %s", list[i].key, list[i - 1].path,
                             list[i].path);
    free(list);
    return code;
}

const char *load_file_of(const struct result *result, const struct result_cell *cell)
{
    double before = (double)(cell - result->cells), end = 0;
    for (size_t i = 0; i < result->n_files; i++) {
        end += result->files[i].cells;
        if (before < end)
            return result->files[i].path;
    }
    return NULL;
}

/* ---- reading ---- */

/* A result whose journal has gone on gives way to it: who names a run by its result wants what was measured. */
static int read_one(const char *path, FILE *notes, struct result **out, struct error *err)
{
    struct source source, journal;
    struct error note = {0};
    if (source_find(path, &source, err))
        return err->code;
    if (source.journal)
        return result_from_journal(source.path, out, err);
    if (result_read(source.path, out, err))
        return err->code;
    enum freshness freshness = journal_freshness(source.path, *out, &journal, &note);
    if (freshness != JOURNAL_HAS_NO_MORE && notes)
        fprintf(notes, "note: %s\n", note.text);
    if (freshness != JOURNAL_HAS_MORE)
        return 0;
    result_free(*out);
    return result_from_journal(journal.path, out, err);
}

static int load_all(const struct load_request *request, struct result **results, struct result **out, struct error *err)
{
    struct seen_device first = {0};
    int code = 0;
    for (size_t i = 0; i < request->n && code == 0; i++) {
        code = read_one(request->paths[i], request->notes, &results[i], err);
        if (code == 0 && !request->exact)
            code = result_make_plain(results[i], err);
        if (code == 0 && !request->mixed)
            code = refuse_mixed(&first, results[i], request->paths[i], err);
    }
    if (code == 0)
        code = refuse_shared_cells(results, request, err);
    if (code)
        return code;
    if (request->n > 1)
        return result_merge(results, request->paths, request->n, out, err);
    *out = results[0];
    results[0] = NULL;
    return 0;
}

int load_results(const struct load_request *request, struct result **out, struct error *err)
{
    struct result **results = calloc(request->n + 1, sizeof(struct result *));
    *out = NULL;
    if (!results)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for the report");
    int code = load_all(request, results, out, err);
    for (size_t i = 0; i < request->n; i++)
        result_free(results[i]);
    free((void *)results);
    return code;
}
