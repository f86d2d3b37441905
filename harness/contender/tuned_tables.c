/*
 * tuned_tables.c - the tuning tables of a run: which files, and which of them answers. Relies on tuned.c. Called by
 * worker.c, which opens them, and by measure/variants.c, which asks them.
 */
#include "contender/tuned.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int add(struct tuned_tables *t, const char *path, const struct tuned_request *request, struct error *err)
{
    if (t->n == TUNED_MAX_TABLES)
        return error_set(err, EXIT_CODE_DATA, "more than %d tuning tables", TUNED_MAX_TABLES);
    if (tuned_load(path, &t->tables[t->n], err))
        return err->code;
    const struct tuned_table *table = t->tables[t->n++];
    return request->force ? 0 : tuned_check_device(table, request->device, err);
}

/* Which tables a run wants; those of its device's name are struck off as they are found. */
struct wishes {
    bool open[MODE_COUNT][2]; /* by mode and accumulate type */
};

static int add_named(struct tuned_tables *t, const struct tuned_request *request, const struct cudal2_problem *type,
                     enum mode mode, struct wishes *wishes, struct error *err)
{
    char name[TUNED_NAME_MAX], path[4096];
    tuned_name(request->device, type, mode, name);
    int n = snprintf(path, sizeof path, "%s/tuned/%s.json", request->directory, name);
    if (n <= 0 || (size_t)n >= sizeof path || access(path, F_OK) != 0)
        return 0;
    wishes->open[mode][type->accumulate] = false;
    return add(t, path, request, err);
}

/* bf16 reads f16's where it has none. */
static int add_own(struct tuned_tables *t, const struct tuned_request *request, struct wishes *wishes,
                   struct error *err)
{
    const enum cudal2_dtype types[] = {request->dtype, CUDAL2_F16};
    int n_types = request->dtype == CUDAL2_BF16 ? 2 : 1, code = 0;
    for (int mode = 0; mode < MODE_COUNT; mode++)
        for (int accumulate = 0; accumulate < 2; accumulate++)
            for (int i = 0; i < n_types && code == 0 && wishes->open[mode][accumulate]; i++) {
                const struct cudal2_problem type = {.dtype = types[i],
                                                    .accumulate = (enum cudal2_accumulate)accumulate};
                code = add_named(t, request, &type, (enum mode)mode, wishes, err);
            }
    return code;
}

static bool is_wanted(const struct tuned_table *t, const struct tuned_request *request, enum cudal2_dtype dtype,
                      const struct wishes *wishes)
{
    return t->dtype == dtype && wishes->open[t->mode][t->accumulate] && tuned_is_of_class(t, request->device);
}

static int is_table(const struct dirent *entry)
{
    const char *ending = strrchr(entry->d_name, '.');
    return ending != NULL && strcmp(ending, ".json") == 0;
}

static bool is_loaded(const struct tuned_tables *t, const char *name)
{
    for (size_t i = 0; i < t->n; i++)
        if (strcmp(t->tables[i]->name, name) == 0)
            return true;
    return false;
}

/* What is no table here is somebody else's. */
static void add_if_wanted(struct tuned_tables *t, const struct tuned_request *request, const char *name,
                          enum cudal2_dtype dtype, struct wishes *wishes)
{
    char path[4096];
    struct tuned_table *table = NULL;
    struct error ignored;
    int n = snprintf(path, sizeof path, "%s/tuned/%s", request->directory, name);
    if (t->n == TUNED_MAX_TABLES || n <= 0 || (size_t)n >= sizeof path || tuned_load(path, &table, &ignored) != 0)
        return;
    if (!is_wanted(table, request, dtype, wishes) || is_loaded(t, table->name)) {
        tuned_free(table);
        return;
    }
    wishes->open[table->mode][table->accumulate] = false;
    t->tables[t->n++] = table;
}

static bool any_open(const struct wishes *wishes)
{
    for (int mode = 0; mode < MODE_COUNT; mode++)
        if (wishes->open[mode][0] || wishes->open[mode][1])
            return true;
    return false;
}

/* Tables of other models of the device's class, the first in the order of their names. A CPU is of no class: none is
 * read for it. */
static void add_of_class(struct tuned_tables *t, const struct tuned_request *request, struct wishes *wishes)
{
    const enum cudal2_dtype types[] = {request->dtype, CUDAL2_F16};
    char directory[4096];
    struct dirent **entries = NULL;
    int n = -1, n_types = request->dtype == CUDAL2_BF16 ? 2 : 1;
    if (any_open(wishes) && request->device->cc > 0 && request->device->sm_count > 0 &&
        snprintf(directory, sizeof directory, "%s/tuned", request->directory) < (int)sizeof directory)
        n = scandir(directory, &entries, is_table, alphasort);
    for (int i = 0; i < n_types * n; i++)
        if (any_open(wishes))
            add_if_wanted(t, request, entries[i % n]->d_name, types[i / n], wishes);
    for (int i = 0; i < n; i++)
        free(entries[i]);
    free(entries);
}

/* A server run takes the offline table where it has none of its own, so both are loaded for it. Those of the class come
 * behind: for problems that the device's own lack. */
static int add_all(struct tuned_tables *t, const struct tuned_request *request, struct error *err)
{
    struct wishes wishes = {0}, of_class;
    bool server = (request->modes & CUDAL2_BIT(MODE_SERVER)) != 0;
    for (int accumulate = 0; accumulate < 2; accumulate++) {
        bool asked = (request->accumulates & CUDAL2_BIT(accumulate)) != 0;
        wishes.open[MODE_OFFLINE][accumulate] = asked;
        wishes.open[MODE_SERVER][accumulate] = asked && server;
    }
    of_class = wishes;
    int code = add_own(t, request, &wishes, err);
    if (code == 0)
        add_of_class(t, request, &of_class);
    return code;
}

int tuned_tables_open(const struct tuned_request *request, struct tuned_tables *out, struct error *err)
{
    int code = 0;
    *out = (struct tuned_tables){0};
    if (request->none)
        return 0;
    if (!request->files || !request->files[0])
        return request->directory ? add_all(out, request, err) : 0;
    for (size_t i = 0; request->files[i] && !code; i++)
        code = add(out, request->files[i], request, err);
    return code;
}

void tuned_tables_close(struct tuned_tables *t)
{
    for (size_t i = 0; i < t->n; i++)
        tuned_free(t->tables[i]);
    *t = (struct tuned_tables){0};
}

/* What a table is worth for a query: 0 nothing, and the very problem more than the very mode, which is more than the
 * very type. */
#define WORTH_EXACT 4 /* the rest adds up to this at most, so what is worth more has the very problem */
static int worth_of(const struct tuned_table *t, const struct tuned_query *query, enum mode mode)
{
    if (!tuned_knows(t, query))
        return 0;
    return 1 + (t->dtype == query->problem.dtype) + 2 * (t->mode == mode) +
           WORTH_EXACT * (tuned_exact(t, query) != NULL);
}

const struct tuned_table *tuned_tables_find(const struct tuned_tables *t, const struct tuned_query *query,
                                            enum mode mode)
{
    const struct tuned_table *found = NULL;
    int best = 0;
    for (size_t i = 0; i < t->n; i++) {
        const struct tuned_table *table = t->tables[i];
        int worth = worth_of(table, query, mode);
        bool larger = found && worth == best && worth <= WORTH_EXACT && table->n_entries > found->n_entries;
        if (worth > best || larger) {
            best = worth;
            found = table;
        }
    }
    return found;
}

cJSON *tuned_tables_versions(const struct tuned_tables *t)
{
    cJSON *all = t->n > 0 ? cJSON_CreateObject() : NULL;
    for (size_t i = 0; i < t->n; i++) {
        cJSON *one = cJSON_AddObjectToObject(all, t->tables[i]->name);
        cJSON_AddStringToObject(one, "hash", t->tables[i]->hash);
        cJSON_AddStringToObject(one, "device", t->tables[i]->device);
        cJSON_AddStringToObject(one, "commit", t->tables[i]->commit);
    }
    return all;
}

void tuned_request_digest(const struct tuned_request *request, char hex[DIGEST_HEX])
{
    struct digest d;
    const uint32_t numbers[] = {request->none, request->force, (uint32_t)request->dtype, request->accumulates,
                                request->modes};
    digest_start(&d);
    digest_add(&d, numbers, sizeof numbers);
    digest_add_string(&d, request->directory ? request->directory : "");
    for (size_t i = 0; request->files && request->files[i]; i++)
        digest_add_string(&d, request->files[i]);
    digest_finish(&d, hex);
}
