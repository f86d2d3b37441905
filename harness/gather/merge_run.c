/*
 * merge_run.c - puts the shards' plans together. Relies on run/shard_record.h. Called by merge.c.
 */
#include "gather/merge_run.h"

#include <stdlib.h>
#include <string.h>

#include "base/tree.h"
#include "record/journal.h"

#define PLAN_MAX_BYTES (JOURNAL_MAX_LINE - (1u << 20)) /* the rest is for the config and the like */

struct whole {
    char **keys; /* by place; owned */
    size_t n, taken;
    size_t bytes; /* of them as JSON */
    const struct shard_file *file;
    cJSON *run; /* the first shard's */
    char started[32];
};

static int take_cell(struct whole *w, const struct shard_head *head, const char *key, size_t place, struct error *err)
{
    bool is_sentinel = strcmp(key, head->sentinel) == 0;
    if (w->keys[place] && is_sentinel && strcmp(w->keys[place], key) == 0)
        return 0;
    if (w->keys[place])
        return error_set(err, EXIT_CODE_DATA,
                         "%s: %s has the place of %s in the plan: the cut is not the one its hash says", w->file->path,
                         key, w->keys[place]);
    w->keys[place] = strdup(key);
    w->bytes += strlen(key) + 3;
    w->taken++;
    return w->keys[place] ? 0 : error_set(err, EXIT_CODE_INTERNAL, "out of memory for a plan of %zu cells", w->n);
}

static int take_plan(struct whole *w, const struct shard_head *head, struct error *err)
{
    const cJSON *place = head->places->child;
    const cJSON *key;
    cJSON_ArrayForEach(key, head->plan)
    {
        if (take_cell(w, head, key->valuestring, (size_t)place->valuedouble, err))
            return err->code;
        place = place->next;
    }
    return 0;
}

static int visit(void *context, const char *kind, struct json_at data, struct error *err)
{
    struct whole *w = context;
    struct shard_head head;
    bool is_shard;
    const char *started;
    (void)kind;
    if (shard_record_read(data, &is_shard, &head, err) ||
        json_read_string(json_member(data, "started"), &started, err) || take_plan(w, &head, err))
        return err->code;
    if (!w->started[0] || strcmp(started, w->started) < 0)
        snprintf(w->started, sizeof w->started, "%s", started);
    if (!w->run)
        w->run = cJSON_Duplicate(data.node, true);
    return w->run ? 0 : error_set(err, EXIT_CODE_INTERNAL, "out of memory for the run");
}

static int read_all(struct whole *w, const struct shard_files *files, struct error *err)
{
    const struct journal_filter run = {"run", visit, w};
    for (unsigned i = 0; i < files->list[0].shard.count; i++) {
        w->file = shard_files_of(files, i);
        if (journal_read_kind(w->file->path, &run, err))
            return err->code;
    }
    if (w->taken == w->n)
        return 0;
    return error_set(err, EXIT_CODE_DATA, "%s and the other shards have %zu of the plan's %zu cells",
                     files->list[0].path, w->taken, w->n);
}

static cJSON *merged_member(const struct shard_file *first)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddNumberToObject(o, "shards", first->shard.count);
    cJSON_AddStringToObject(o, "hash", first->hash);
    cJSON_AddStringToObject(o, "sentinel", first->sentinel);
    return o;
}

static cJSON *plan_member(const struct whole *w)
{
    cJSON *list = cJSON_CreateArray();
    for (size_t i = 0; i < w->n && list; i++)
        if (!tree_append(list, cJSON_CreateString(w->keys[i])))
            list = NULL;
    return list;
}

static cJSON *finish(struct whole *w, const struct shard_file *first)
{
    cJSON_DeleteItemFromObjectCaseSensitive(w->run, "shard");
    cJSON_DeleteItemFromObjectCaseSensitive(w->run, "plan");
    cJSON_DeleteItemFromObjectCaseSensitive(w->run, "started");
    struct tree t = {.object = w->run};
    w->run = NULL;
    tree_put_text(&t, "started", w->started);
    if (w->bytes <= PLAN_MAX_BYTES)
        tree_put(&t, "plan", plan_member(w));
    tree_put(&t, "merged", merged_member(first));
    return tree_finish(&t);
}

int merge_run_line(const struct shard_files *files, cJSON **out, struct error *err)
{
    const struct shard_file *first = &files->list[0];
    struct whole w = {.keys = calloc(first->n_whole, sizeof(char *)), .n = first->n_whole};
    *out = NULL;
    int code = w.keys ? read_all(&w, files, err) : error_set(err, EXIT_CODE_INTERNAL, "out of memory for the plan");
    if (!code) {
        *out = finish(&w, first);
        code = *out ? 0 : error_set(err, EXIT_CODE_INTERNAL, "out of memory for the plan");
    }
    cJSON_Delete(w.run);
    for (size_t i = 0; i < w.n && w.keys; i++)
        free(w.keys[i]);
    free((void *)w.keys);
    return code;
}
