/*
 * merge.c - copies the lines of all shards' journals into one, each cell once. Relies on shard_files.c for which
 * journals, merge_run.c for the first line, sentinel.c for the hosts. Called by cli/cmd_merge.c.
 */
#include "gather/merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/tree.h"
#include "gather/merge_run.h"
#include "gather/skew.h"
#include "record/activity.h"
#include "record/journal.h"
#include "record/journal_line.h"
#include "worker/environment.h"

/* A cell of the plan of the journal that is being read. */
struct planned {
    const char *key; /* points into the merging's copy of the plan */
    size_t place;
    bool is_there;
};

struct merging {
    const struct merge_request *request;
    struct merge_outcome *out;
    struct shard_files files;
    FILE *to;
    struct text line; /* the one being written, its room kept */
    cJSON *env;       /* the first of all */
    int n_env;        /* in the journals before this one */
    char ended[32];   /* the latest end */
    char now[SKEW_TEXT];
    /* Of the journal that is being read: */
    const struct shard_file *file;
    struct planned *plan; /* by key */
    cJSON *keys;          /* owned; what plan points into */
    cJSON *devices;       /* owned; what each env is on */
    char node[64];
    struct skew skew;
};

/* ---- writing ---- */

static int put(struct merging *m, const char *kind, cJSON *data, struct error *err)
{
    m->line.length = 0;
    int code = data ? journal_line_print(&m->line, kind, data, err)
                    : error_set(err, EXIT_CODE_INTERNAL, "out of memory for the merged journal");
    if (!code && fwrite(m->line.bytes, 1, m->line.length, m->to) != m->line.length)
        code = error_set(err, EXIT_CODE_IO, "%s: cannot write: %s", m->out->journal, strerror(errno));
    cJSON_Delete(data);
    return code;
}

static cJSON *copy_with_shard(const struct merging *m, struct json_at data)
{
    cJSON *copy = cJSON_Duplicate(data.node, true);
    if (!copy)
        return NULL;
    cJSON_DeleteItemFromObjectCaseSensitive(copy, "node");
    cJSON_AddNumberToObject(copy, "shard", m->file->shard.index);
    cJSON_AddStringToObject(copy, "node", m->node);
    return copy;
}

/* ---- one journal ---- */

static int by_key(const void *a, const void *b)
{
    return strcmp(((const struct planned *)a)->key, ((const struct planned *)b)->key);
}

static int visit_run(struct merging *m, struct json_at data, struct error *err)
{
    struct shard_head head;
    bool is_shard;
    if (m->plan)
        return json_fail(data, err, "a second `run` entry");
    if (shard_record_read(data, &is_shard, &head, err))
        return err->code;
    m->keys = cJSON_Duplicate(head.plan, true);
    m->devices = cJSON_CreateArray();
    m->plan = calloc(head.n_cells, sizeof *m->plan);
    if (!m->keys || !m->devices || !m->plan)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for a shard's plan");
    const cJSON *place = head.places->child, *key = m->keys->child;
    for (size_t i = 0; i < head.n_cells; i++, place = place->next, key = key->next)
        m->plan[i] = (struct planned){.key = key->valuestring, .place = (size_t)place->valuedouble};
    qsort(m->plan, head.n_cells, sizeof *m->plan, by_key);
    return 0;
}

/* Nothing depends on dates; who reads them is to know. */
static void check_date(struct merging *m, const cJSON *data)
{
    const char *date = tree_text(data, "time"), *wrong = skew_see(&m->skew, date, m->now);
    if (wrong && m->request->notes)
        fprintf(m->request->notes, "note: shard %u: the clock of %s is off: %.20s %s; times are not affected\n",
                m->file->shard.index, m->node[0] ? m->node : "its host", date, wrong);
}

static int visit_sitting(struct merging *m, struct json_at data, struct error *err)
{
    const cJSON *node = cJSON_GetObjectItemCaseSensitive(data.node, "node");
    snprintf(m->node, sizeof m->node, "%s", cJSON_IsString(node) ? node->valuestring : "");
    check_date(m, data.node);
    return put(m, "sitting", copy_with_shard(m, data), err);
}

static int visit_env(struct merging *m, struct json_at data, struct error *err)
{
    const cJSON *device = json_member(data, "device").node;
    const char *uuid = tree_text(device, "uuid");
    if (!m->env)
        m->env = cJSON_Duplicate(data.node, true);
    if (!m->env)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for an environment");
    if (!m->request->mixed && environment_check_same(m->env, data.node, err))
        return error_wrap(err, "%s (--mixed accepts it): the shards before it were measured in another environment",
                          m->file->path);
    cJSON_AddItemToArray(m->devices, cJSON_CreateString(uuid[0] ? uuid : tree_text(device, "name")));
    return put(m, "env", copy_with_shard(m, data), err);
}

static int put_sentinel(struct merging *m, const struct cell_record *record, struct error *err)
{
    struct sentinels *all = &m->out->sentinels;
    const cJSON *device = cJSON_GetArrayItem(m->devices, record->worker);
    struct sentinel where = {.shard = m->file->shard.index};
    snprintf(where.node, sizeof where.node, "%s", m->node);
    snprintf(where.device, sizeof where.device, "%.47s", device ? device->valuestring : "");
    if (sentinels_add(all, &where, record, err))
        return err->code;
    return put(m, SENTINEL_KIND, sentinel_line(&all->list[all->n - 1], m->file->sentinel), err);
}

static int put_cell(struct merging *m, struct json_at data, int worker, struct error *err)
{
    cJSON *copy = cJSON_Duplicate(data.node, true);
    cJSON *number = cJSON_CreateNumber(m->n_env + worker);
    m->out->n_cells++;
    if (copy && number && cJSON_ReplaceItemInObjectCaseSensitive(copy, "worker", number))
        return put(m, "cell", copy, err);
    cJSON_Delete(copy);
    cJSON_Delete(number);
    return error_set(err, EXIT_CODE_INTERNAL, "out of memory for a cell");
}

/* The sentinel is a cell of shard 0, and beside that a `sentinel` line of everybody's. */
static int take_record(struct merging *m, struct json_at data, const struct cell_record *record, struct error *err)
{
    char key[RECORD_KEY_MAX];
    record_key(&record->problem, record->mode, key);
    const struct planned wanted = {.key = key};
    struct planned *found = bsearch(&wanted, m->plan, m->file->n_cells, sizeof *m->plan, by_key);
    if (!found || found->is_there)
        return json_fail(data, err, found ? "cell %s is there twice" : "cell %s is not in the shard's plan", key);
    if (record->worker < 0 || record->worker >= cJSON_GetArraySize(m->devices))
        return json_fail(data, err, "cell %s names a worker that the journal has no env line of", key);
    found->is_there = true;
    bool is_sentinel = strcmp(key, m->file->sentinel) == 0;
    if (is_sentinel && put_sentinel(m, record, err))
        return err->code;
    return is_sentinel && m->file->shard.index > 0 ? 0 : put_cell(m, data, record->worker, err);
}

static int visit_cell(struct merging *m, struct json_at data, struct error *err)
{
    struct cell_record *record = NULL;
    if (record_from_json(data, &record, err))
        return err->code;
    int code = take_record(m, data, record, err);
    record_free(record);
    return code;
}

static int visit_activity(struct merging *m, struct json_at data, struct error *err)
{
    bool is_sentinel = strcmp(tree_text(data.node, "cell"), m->file->sentinel) == 0;
    if (is_sentinel && m->file->shard.index > 0)
        return 0;
    return put(m, ACTIVITY_KIND, cJSON_Duplicate(data.node, true), err);
}

static int visit_end(struct merging *m, struct json_at data)
{
    const char *time = tree_text(data.node, "time");
    check_date(m, data.node);
    if (strcmp(time, m->ended) > 0)
        snprintf(m->ended, sizeof m->ended, "%s", time);
    return 0;
}

static int visit(void *context, const char *kind, struct json_at data, struct error *err)
{
    struct merging *m = context;
    if (strcmp(kind, "run") == 0)
        return visit_run(m, data, err);
    if (!m->plan)
        return json_fail(data, err, "`%s` before `run`", kind);
    if (strcmp(kind, "sitting") == 0)
        return visit_sitting(m, data, err);
    if (strcmp(kind, "env") == 0)
        return visit_env(m, data, err);
    if (strcmp(kind, "cell") == 0)
        return visit_cell(m, data, err);
    if (strcmp(kind, ACTIVITY_KIND) == 0)
        return visit_activity(m, data, err);
    return strcmp(kind, "end") == 0 ? visit_end(m, data) : json_fail(data, err, "unknown kind \"%.40s\"", kind);
}

static int check_cells(const struct merging *m, struct error *err)
{
    for (size_t i = 0; i < m->file->n_cells; i++)
        if (!m->plan[i].is_there)
            return error_set(err, EXIT_CODE_DATA, "%s: it has its end, and no cell %s", m->file->path, m->plan[i].key);
    return 0;
}

static int take_journal(struct merging *m, const struct shard_file *file, struct error *err)
{
    bool torn = false;
    m->file = file;
    m->node[0] = '\0';
    m->skew = (struct skew){.told = false};
    int code = journal_read(file->path, visit, m, &torn, err);
    if (!code)
        code = check_cells(m, err);
    if (torn && m->request->notes)
        fprintf(m->request->notes, "note: %s: a torn last line behind its end is left out\n", file->path);
    m->n_env += cJSON_GetArraySize(m->devices);
    cJSON_Delete(m->devices);
    cJSON_Delete(m->keys);
    free(m->plan);
    m->devices = m->keys = NULL;
    m->plan = NULL;
    return code;
}

/* ---- the whole ---- */

static int put_end(struct merging *m, struct error *err)
{
    cJSON *end = cJSON_CreateObject();
    cJSON_AddStringToObject(end, "time", m->ended);
    cJSON_AddNumberToObject(end, "cells", (double)m->out->n_cells);
    return put(m, "end", end, err);
}

static int put_all(struct merging *m, struct error *err)
{
    cJSON *run = NULL;
    int code = merge_run_line(&m->files, &run, err);
    if (!code)
        code = put(m, "run", run, err);
    for (unsigned i = 0; i < m->out->n_shards && !code; i++)
        code = take_journal(m, shard_files_of(&m->files, i), err);
    return code ? code : put_end(m, err);
}

static int write_journal(struct merging *m, struct error *err)
{
    char path[PATH_MAX + 32];
    snprintf(path, sizeof path, "%s.tmp.%ld", m->out->journal, (long)getpid());
    m->to = fopen(path, "we");
    if (!m->to)
        return error_set(err, EXIT_CODE_CANTCREATE, "%s: %s", path, strerror(errno));
    int code = put_all(m, err);
    if (!code && (fflush(m->to) != 0 || fsync(fileno(m->to)) != 0))
        code = error_set(err, EXIT_CODE_IO, "%s: cannot write: %s", path, strerror(errno));
    if (fclose(m->to) != 0 && !code)
        code = error_set(err, EXIT_CODE_IO, "%s: cannot write: %s", path, strerror(errno));
    if (!code && rename(path, m->out->journal) != 0)
        code = error_set(err, EXIT_CODE_IO, "%s: cannot be renamed: %s", path, strerror(errno));
    if (code)
        unlink(path);
    return code;
}

/* "x.shard-3-of-8.journal.jsonl" is of "x.json". */
static int name_output(struct merging *m, struct error *err)
{
    struct merge_outcome *out = m->out;
    const struct shard_file *first = &m->files.list[0];
    char ending[64];
    snprintf(ending, sizeof ending, ".shard-%u-of-%u.journal.jsonl", first->shard.index, first->shard.count);
    size_t stem = strlen(first->path) - (text_ends_with(first->path, ending) ? strlen(ending) : 0);
    int length = m->request->output ? snprintf(out->output, sizeof out->output, "%s", m->request->output)
                                    : snprintf(out->output, sizeof out->output, "%.*s.json", (int)stem, first->path);
    if (length >= (int)sizeof out->output)
        return error_set(err, EXIT_CODE_USAGE, "--output: the path is too long");
    return run_journal_path(out->output, out->journal, err);
}

static int visit_merged(void *context, const char *kind, struct json_at data, struct error *err)
{
    bool *merged = context;
    (void)kind;
    (void)err;
    *merged = json_member(data, "merged").node != NULL;
    return 0;
}

/* A merge that is done again takes the place of the one before, and of nothing else. */
static int refuse_existing(const struct merge_outcome *out, struct error *err)
{
    bool merged = false;
    struct error ignored;
    const struct journal_filter run = {"run", visit_merged, &merged};
    bool journal = access(out->journal, F_OK) == 0, result = access(out->output, F_OK) == 0;
    if (journal)
        (void)journal_read_kind(out->journal, &run, &ignored);
    if ((!journal && !result) || merged)
        return 0;
    return error_set(err, EXIT_CODE_CANTCREATE, "%s exists and was not merged: choose another --output, or remove it",
                     journal ? out->journal : out->output);
}

static int count_cell(void *context, const char *kind, struct json_at data, struct error *err)
{
    (void)data;
    (void)err;
    *(size_t *)context += strcmp(kind, "cell") == 0;
    return 0;
}

/* Who is not at its end, and how far it is; who is there twice. */
static void tell(const struct merging *m, const struct shard_file *file)
{
    size_t cells = 0;
    bool torn = false;
    struct error problem = {0};
    const struct shard_file *taken = shard_files_of(&m->files, file->shard.index);
    if (taken == file)
        return;
    if (taken) {
        fprintf(m->request->notes, "note: shard %u is there twice: %s is taken, %s is not\n", file->shard.index,
                taken->path, file->path);
        return;
    }
    journal_read(file->path, count_cell, &cells, &torn, &problem);
    fprintf(m->request->notes, "note: shard %u is not at its end: %s has %zu of %zu cells%s%s%s\n", file->shard.index,
            file->path, cells, file->n_cells, torn ? ", the last line is torn" : "", problem.code ? "; " : "",
            problem.text);
}

static int find_missing(struct merging *m, struct error *err)
{
    struct merge_outcome *out = m->out;
    const struct shard_file *first = &m->files.list[0];
    out->n_shards = first->shard.count;
    out->search = first->search;
    snprintf(out->sentinel, sizeof out->sentinel, "%s", first->sentinel);
    for (size_t i = 0; i < m->files.n && m->request->notes; i++)
        tell(m, &m->files.list[i]);
    out->n_missing = shard_files_missing(&m->files, &out->missing);
    if (out->n_missing == 0)
        return 0;
    return error_set(err, EXIT_CODE_INCOMPARABLE,
                     "%zu of %u shards are missing or not at their end: run those again, with CUDAL2_SHARDS=%u",
                     out->n_missing, out->n_shards, out->n_shards);
}

int merge_shards(const struct merge_request *request, struct merge_outcome *out, struct error *err)
{
    struct merging m = {.request = request, .out = out};
    memset(out, 0, sizeof *out);
    clock_utc(m.now);
    int code = shard_files_find(request->sources, request->notes, &m.files, err);
    if (!code)
        code = shard_files_check(&m.files, err);
    if (!code)
        code = find_missing(&m, err);
    if (!code)
        code = name_output(&m, err);
    if (!code)
        code = refuse_existing(out, err);
    if (!code)
        code = write_journal(&m, err);
    if (!code)
        sentinels_rate(&out->sentinels);
    cJSON_Delete(m.env);
    text_free(&m.line);
    shard_files_free(&m.files);
    return code;
}

void merge_outcome_free(struct merge_outcome *out)
{
    text_free(&out->missing);
    sentinels_free(&out->sentinels);
}
