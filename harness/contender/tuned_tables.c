/* The tuning tables of a run: which files, and which of them answers. */
#include "contender/tuned.h"

#include <stdio.h>
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

static int add_own(struct tuned_tables *t, const struct tuned_request *request, int accumulate, int mode,
                   struct error *err)
{
    char name[TUNED_NAME_MAX], path[4096];
    const struct cudal2_problem type = {.dtype = request->dtype, .accumulate = (enum cudal2_accumulate)accumulate};
    tuned_name(request->device, &type, (enum mode)mode, name);
    int n = snprintf(path, sizeof path, "%s/tuned/%s.json", request->directory, name);
    bool there = n > 0 && (size_t)n < sizeof path && access(path, F_OK) == 0;
    return there ? add(t, path, request, err) : 0;
}

/* A server run takes the offline table where it has none of its own, so both are loaded for it. */
static int add_all_own(struct tuned_tables *t, const struct tuned_request *request, struct error *err)
{
    int last = (request->modes & CUDAL2_BIT(MODE_SERVER)) ? MODE_SERVER : MODE_OFFLINE;
    int code = 0;
    for (int mode = MODE_OFFLINE; mode <= last; mode++)
        for (int accumulate = 0; accumulate < 2 && !code; accumulate++)
            if (request->accumulates & CUDAL2_BIT(accumulate))
                code = add_own(t, request, accumulate, mode, err);
    return code;
}

int tuned_tables_open(const struct tuned_request *request, struct tuned_tables *out, struct error *err)
{
    int code = 0;
    *out = (struct tuned_tables){0};
    if (request->none)
        return 0;
    if (!request->files || !request->files[0])
        return request->directory ? add_all_own(out, request, err) : 0;
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

/* What a table is worth for a query: 0 nothing, and the very problem more than the very mode. */
static int worth_of(const struct tuned_table *t, const struct tuned_query *query, enum mode mode)
{
    if (!tuned_knows(t, query))
        return 0;
    return 1 + (t->mode == mode) + 2 * (tuned_exact(t, query) != NULL);
}

const struct tuned_table *tuned_tables_find(const struct tuned_tables *t, const struct tuned_query *query,
                                            enum mode mode)
{
    const struct tuned_table *found = NULL;
    int best = 0;
    for (size_t i = 0; i < t->n; i++) {
        int worth = worth_of(t->tables[i], query, mode);
        if (worth > best) {
            best = worth;
            found = t->tables[i];
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
