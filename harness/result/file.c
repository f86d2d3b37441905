/*
 * file.c - a result from a file, or from the journal of its run. Relies on read.c and make.c. Called by report/load.c
 * and compare/.
 */
#include "result/result.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/gzip_read.h"
#include "result/make.h"

static int check_schema(struct json_at root, struct error *err)
{
    static const char *const schemas[] = {RESULT_SCHEMA, NULL};
    int which;
    int64_t version;
    if (json_read_choice(json_member(root, "schema"), schemas, &which, err))
        return err->code;
    if (json_read_int(json_member(root, "schema_version"), 1, INT32_MAX, &version, err))
        return err->code;
    if (version == RESULT_SCHEMA_VERSION)
        return 0;
    return json_fail(json_member(root, "schema_version"), err,
                     "this is version %d of the result file, and this program reads version %d: use the program that "
                     "wrote it, or make the result again from its journal",
                     (int)version, RESULT_SCHEMA_VERSION);
}

static int by_key(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int refuse_cells_twice(const struct result *r, const char *source, struct error *err)
{
    int code = 0;
    const char **keys = malloc((r->n_cells + 1) * sizeof *keys);
    if (!keys)
        return error_set(err, EXIT_CODE_INTERNAL, "%s: out of memory", source);
    for (size_t i = 0; i < r->n_cells; i++)
        keys[i] = r->cells[i].key;
    qsort(keys, r->n_cells, sizeof *keys, by_key);
    for (size_t i = 1; i < r->n_cells && code == 0; i++)
        if (strcmp(keys[i], keys[i - 1]) == 0)
            code = error_set(err, EXIT_CODE_DATA, "%s: cell %s is there twice", source, keys[i]);
    free(keys);
    return code;
}

int result_parse(const char *source, const char *text, size_t length, struct result **out, struct error *err)
{
    cJSON *json = NULL;
    *out = NULL;
    if (json_parse(text, length, RESULT_FILE_MAX_BYTES, source, &json, err))
        return err->code;
    if (check_schema(json_root(json, source), err)) {
        cJSON_Delete(json);
        return err->code;
    }
    int code = result_open(json, source, true, out, err);
    if (code == 0)
        code = refuse_cells_twice(*out, source, err);
    if (code) {
        result_free(*out);
        *out = NULL;
    }
    return code;
}

int result_read(const char *path, struct result **out, struct error *err)
{
    char *bytes = NULL;
    size_t length;
    *out = NULL;
    if (gzip_read_file(path, RESULT_FILE_MAX_BYTES, &bytes, &length, err))
        return err->code;
    int code = result_parse(path, bytes, length, out, err);
    free(bytes);
    return code;
}

int result_from_journal(const char *journal_path, struct result **out, struct error *err)
{
    cJSON *json = NULL;
    *out = NULL;
    int code = result_json_from_journal(journal_path, &json, err);
    return code ? code : result_open(json, journal_path, false, out, err);
}
