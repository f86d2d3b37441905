/*
 * run_info.c - reads what a run was asked for and ran with, and finds a library or a table by its name. Relies on
 * fields.c and read.c. Called by compare/ and report/.
 */
#include "result/run_info.h"

#include <string.h>

#include "result/fields.h"

void run_info_clear(struct run_info *out)
{
    *out = (struct run_info){0};
    result_clear(run_info_fields, out);
}

void env_info_clear(struct env_info *out)
{
    *out = (struct env_info){0};
    result_clear(env_info_fields, out);
}

int run_info_read(struct json_at at, struct run_info *out, struct error *err)
{
    run_info_clear(out);
    int code = result_read_struct(at, run_info_fields, out, err);
    if (code)
        run_info_free(out);
    return code;
}

int env_info_read(struct json_at at, struct env_info *out, struct error *err)
{
    env_info_clear(out);
    int code = result_read_struct(at, env_info_fields, out, err);
    if (code)
        env_info_free(out);
    return code;
}

void run_info_free(struct run_info *info)
{
    result_free_lists(run_info_fields, info);
    run_info_clear(info);
}

void env_info_free(struct env_info *info)
{
    result_free_lists(env_info_fields, info);
    env_info_clear(info);
}

const struct result_library *env_info_library(const struct env_info *env, const char *name)
{
    for (size_t i = 0; i < env->libraries.n; i++)
        if (strcmp(env->libraries.list[i].name, name) == 0)
            return &env->libraries.list[i];
    return NULL;
}

const struct result_table *env_info_table(const struct env_info *env, const char *name)
{
    for (size_t i = 0; i < env->libraries.n_tables; i++)
        if (strcmp(env->libraries.tables[i].name, name) == 0)
            return &env->libraries.tables[i];
    return NULL;
}

const cJSON *result_member_find(const struct result_member *list, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i].name, name) == 0)
            return list[i].json;
    return NULL;
}
