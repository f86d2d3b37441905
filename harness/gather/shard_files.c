/*
 * shard_files.c - finds the journals of shards and reads their first lines. Relies on shard_paths.h, run/shard_record.h
 * and record/journal.h. Called by merge.c and merge_run.c.
 */
#include "gather/shard_files.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "gather/shard_paths.h"
#include "record/journal.h"

/* ---- one journal ---- */

struct first_line {
    struct shard_file *file;
    bool is_there, is_shard;
};

static int visit_run(void *context, const char *kind, struct json_at data, struct error *err)
{
    struct first_line *first = context;
    struct shard_file *f = first->file;
    struct shard_head head;
    (void)kind;
    if (first->is_there)
        return json_fail(data, err, "a second `run` entry");
    first->is_there = true;
    if (shard_record_read(data, &first->is_shard, &head, err) || !first->is_shard)
        return err->code;
    f->shard = head.shard;
    f->n_cells = head.n_cells;
    f->n_whole = head.n_whole;
    f->search = head.search;
    snprintf(f->plan_hash, sizeof f->plan_hash, "%s", head.plan_hash);
    snprintf(f->hash, sizeof f->hash, "%s", head.hash);
    snprintf(f->sentinel, sizeof f->sentinel, "%s", head.sentinel);
    return 0;
}

static int visit_end(void *context, const char *kind, struct json_at data, struct error *err)
{
    struct shard_file *f = context;
    (void)kind;
    (void)data;
    (void)err;
    f->complete = true;
    return 0;
}

static int read_first(struct shard_file *file, struct first_line *first, struct error *err)
{
    const struct journal_filter run = {"run", visit_run, first}, end = {"end", visit_end, file};
    *first = (struct first_line){.file = file};
    err->code = 0;
    int code = journal_read_kind(file->path, &run, err);
    if (!code && first->is_shard)
        code = journal_read_kind(file->path, &end, err);
    return code;
}

/* `named`: by the user, and not found in a directory. */
static int add(struct shard_files *files, const char *path, bool named, FILE *notes, struct error *err)
{
    struct first_line first = {.file = NULL};
    struct shard_file *grown = grow_for_one(files->list, files->n, &files->capacity, sizeof *grown);
    files->list = grown ? grown : files->list;
    char *copy = grown ? strdup(path) : NULL;
    if (!copy)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for the list of journals");
    struct shard_file *file = &files->list[files->n];
    *file = (struct shard_file){.path = copy};
    int code = read_first(file, &first, err);
    if (!code && named && !first.is_shard)
        code = error_set(err, EXIT_CODE_DATA, "%s: %s", path,
                         first.is_there ? "not the journal of a shard (run --shard)" : "no `run` line yet");
    if (!code && first.is_shard)
        files->n++;
    else
        free(copy);
    if (!code && !first.is_there && notes)
        fprintf(notes, "note: %s: no `run` line yet, passed over\n", path);
    return code;
}

/* ---- all of them ---- */

static int by_index(const void *a, const void *b)
{
    const struct shard_file *x = a, *y = b;
    if (x->shard.index != y->shard.index)
        return x->shard.index < y->shard.index ? -1 : 1;
    if (x->complete != y->complete)
        return x->complete ? -1 : 1;
    return strcmp(x->path, y->path);
}

/* The same file by two operands is one. */
static void drop_repeats(struct shard_files *files)
{
    size_t kept = 0;
    for (size_t i = 0; i < files->n; i++) {
        if (kept > 0 && strcmp(files->list[kept - 1].path, files->list[i].path) == 0)
            free(files->list[i].path);
        else
            files->list[kept++] = files->list[i];
    }
    files->n = kept;
}

int shard_files_find(const char *const *operands, FILE *notes, struct shard_files *out, struct error *err)
{
    struct shard_paths paths;
    int code = shard_paths_list(operands, &paths, err);
    *out = (struct shard_files){.n = 0};
    for (size_t i = 0; i < paths.n && !code; i++)
        code = add(out, paths.list[i].path, paths.list[i].named, notes, err);
    shard_paths_free(&paths);
    if (!code && out->n == 0)
        code = error_set(err, EXIT_CODE_DATA,
                         "%s: no journal of a shard (run --shard writes X.shard-I-of-N.journal.jsonl)", operands[0]);
    if (out->n > 0)
        qsort(out->list, out->n, sizeof *out->list, by_index);
    drop_repeats(out);
    return code;
}

void shard_files_free(struct shard_files *files)
{
    for (size_t i = 0; i < files->n; i++)
        free(files->list[i].path);
    free(files->list);
    *files = (struct shard_files){.n = 0};
}

int shard_files_check(const struct shard_files *files, struct error *err)
{
    const struct shard_file *a = &files->list[0];
    for (size_t i = 1; i < files->n; i++) {
        const struct shard_file *b = &files->list[i];
        if (strcmp(a->plan_hash, b->plan_hash) != 0)
            return error_set(err, EXIT_CODE_DATA,
                             "%s and %s are of different runs (plan %.8s and %.8s): merge each alone", a->path, b->path,
                             a->plan_hash, b->plan_hash);
        if (strcmp(a->hash, b->hash) != 0 || a->shard.count != b->shard.count || a->n_whole != b->n_whole)
            return error_set(
                err, EXIT_CODE_DATA,
                "%s and %s are of one plan cut in two ways (%u shards, hash %.8s; %u shards, hash %.8s): take "
                "the journals of one cut",
                a->path, b->path, a->shard.count, a->hash, b->shard.count, b->hash);
    }
    return 0;
}

const struct shard_file *shard_files_of(const struct shard_files *files, unsigned index)
{
    size_t low = 0, high = files->n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (files->list[middle].shard.index < index)
            low = middle + 1;
        else
            high = middle;
    }
    const struct shard_file *found = low < files->n ? &files->list[low] : NULL;
    return found && found->shard.index == index && found->complete ? found : NULL;
}

size_t shard_files_missing(const struct shard_files *files, struct text *out)
{
    size_t missing = 0;
    unsigned count = files->list[0].shard.count;
    for (unsigned i = 0; i < count; i++) {
        unsigned last = i;
        if (shard_files_of(files, i))
            continue;
        while (last + 1 < count && !shard_files_of(files, last + 1))
            last++;
        text_add(out, last > i ? "%s%u-%u" : "%s%u", missing ? "," : "", i, last);
        missing += last - i + 1;
        i = last;
    }
    return missing;
}
