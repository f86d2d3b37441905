/*
 * borrowed_rows.c - counts cells by candidate and library. Relies on model/borrowed.h for names. Called by summary.c.
 */
#include "result/borrowed_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/tree.h"
#include "model/borrowed.h"

struct rows {
    struct result_borrowed *list;
    size_t n, capacity;
    bool failed;
};

/* The row of this contender and library, made when it is not there. NULL out of memory. */
static struct result_borrowed *row_at(struct rows *r, const char *contender, const char *library)
{
    for (size_t i = 0; i < r->n; i++)
        if (strcmp(r->list[i].contender, contender) == 0 && strcmp(r->list[i].library, library) == 0)
            return &r->list[i];
    struct result_borrowed *grown = grow_for_one(r->list, r->n, &r->capacity, sizeof *grown);
    r->failed |= !grown;
    if (!grown)
        return NULL;
    r->list = grown;
    r->list[r->n] = (struct result_borrowed){.contender = contender, .library = library, .seen = "", .declared = true};
    return &r->list[r->n++];
}

static bool says_itself(const struct result_contender *c, const char *library)
{
    char *text = c->attributes.json ? cJSON_PrintUnformatted(c->attributes.json) : NULL;
    bool said = borrowed_is_said(c->name, library) || (text && borrowed_is_said(text, library));
    cJSON_free(text);
    return said;
}

/* Of one cell. */
static void add(struct rows *r, const struct result_contender *c, const char *library, const char *seen)
{
    struct result_borrowed *row = row_at(r, c->name, library);
    if (!row)
        return;
    row->seen = row->seen[0] ? row->seen : seen;
    row->declared &= says_itself(c, library);
    row->cells++;
}

/* By the words behind which it is: several files of one library are one. */
static bool is_first(const cJSON *list, const cJSON *one, const char *library)
{
    bool first = true;
    for (const cJSON *before = list->child; before != one && first; before = before->next) {
        const char *other = cJSON_IsString(before) ? borrowed_library(before->valuestring) : NULL;
        first = !other || strcmp(other, library) != 0;
    }
    return first;
}

static size_t add_listed(struct rows *r, const struct result_contender *c)
{
    const cJSON *list = tree_member(c->verification, "borrowed"), *one;
    size_t n = 0;
    cJSON_ArrayForEach(one, list)
    {
        const char *library = cJSON_IsString(one) ? borrowed_library(one->valuestring) : NULL;
        if (!library || !is_first(list, one, library))
            continue;
        add(r, c, library, one->valuestring + strlen(library) + 2);
        n++;
    }
    return n;
}

/* Where the record lists none: the first watched kernel that is a library's; of CUTLASS where there is no other. */
static void add_watched(struct rows *r, const struct result_contender *c)
{
    const cJSON *one;
    const char *seen = NULL, *library = NULL;
    cJSON_ArrayForEach(one, tree_member(c->activity.json, "launch"))
    {
        const char *name = tree_text(one, "kernel"), *whose = name ? borrowed_kernel(name) : NULL;
        bool better = !library || strcmp(library, "CUTLASS") == 0;
        seen = whose && better ? name : seen;
        library = whose && better ? whose : library;
    }
    if (library)
        add(r, c, library, seen);
}

bool borrowed_rows(const struct result_cell *cells, size_t n, struct result_borrowed **rows, size_t *rows_n)
{
    struct rows r = {.list = NULL};
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < cells[i].n_contenders; k++) {
            const struct result_contender *c = &cells[i].contenders[k];
            if (c->role == RESULT_CANDIDATE && add_listed(&r, c) == 0)
                add_watched(&r, c);
        }
    *rows = r.list;
    *rows_n = r.n;
    return !r.failed;
}

/* ---- versions ---- */

/* Without directories and ".so". */
static size_t stem_of(const char *path, const char **stem)
{
    const char *slash = strrchr(path, '/');
    *stem = slash ? slash + 1 : path;
    size_t length = strlen(*stem);
    return length > 3 && strcmp(*stem + length - 3, ".so") == 0 ? length - 3 : length;
}

/* Whether the contender came of this request: {"./a.so": ["a-nn"]}. */
static bool came_of(const cJSON *named, const char *contender)
{
    const cJSON *one;
    bool found = false;
    cJSON_ArrayForEach(one, named) found |= cJSON_IsString(one) && strcmp(one->valuestring, contender) == 0;
    return found;
}

/* Whether `libraries` has this plugin by that file: its key is the path or the plugin's name, which is the file's where
 * `plugin_name` does not say another. */
static bool is_of_file(const cJSON *library, const char *path)
{
    const char *stem, *other = tree_text(library, "plugin_name");
    const char *name = other && other[0] ? other : library->string;
    size_t length = stem_of(path, &stem);
    return strcmp(library->string, path) == 0 || (strncmp(name, stem, length) == 0 && name[length] == '\0');
}

static bool versions_say(const cJSON *library, const char *name)
{
    const cJSON *one;
    bool said = false;
    cJSON_ArrayForEach(one, library)
    {
        bool ours = strcmp(one->string, "plugin_digest") == 0 || strcmp(one->string, "plugin_name") == 0;
        said |= !ours && (borrowed_is_said(one->string, name) ||
                          (cJSON_IsString(one) && borrowed_is_said(one->valuestring, name)));
    }
    return said;
}

void borrowed_declare(struct result_borrowed *rows, size_t n, const cJSON *env)
{
    const cJSON *libraries = tree_member(env, "libraries"), *named = tree_member(env, "named"), *request, *library;
    for (size_t i = 0; i < n; i++)
        cJSON_ArrayForEach(request, named)
        {
            if (!came_of(request, rows[i].contender))
                continue;
            cJSON_ArrayForEach(library, libraries) rows[i].declared |= cJSON_IsObject(library) &&
                                                                       is_of_file(library, request->string) &&
                                                                       versions_say(library, rows[i].library);
        }
}
