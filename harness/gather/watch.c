/*
 * watch.c - reads growing journals of shards. Relies on record/journal.h for lines and run/shard_record.h for the
 * first. Called by cli/cmd_watch.c.
 */
#include "gather/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/tree.h"
#include "gather/shard_paths.h"
#include "record/journal.h"

/* ---- lines ---- */

struct reading {
    struct watch *watch;
    struct watched *journal;
};

static int by_key(const void *a, const void *b)
{
    return strcmp(((const struct watched_cell *)a)->key, ((const struct watched_cell *)b)->key);
}

static int keep_plan(struct watched *j, const struct shard_head *head, struct error *err)
{
    j->plan = cJSON_Duplicate(head->plan, true);
    j->cells = calloc(head->n_cells, sizeof *j->cells);
    if (!j->plan || !j->cells)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for a shard's plan");
    const cJSON *key = j->plan->child, *cost = head->cost_us->child;
    for (size_t i = 0; i < head->n_cells; i++, key = key->next, cost = cost->next) {
        j->cells[i] = (struct watched_cell){key->valuestring, (uint64_t)cost->valuedouble};
        j->cost_us += j->cells[i].cost_us;
    }
    j->n_cells = head->n_cells;
    qsort(j->cells, j->n_cells, sizeof *j->cells, by_key);
    return 0;
}

static int check_same(struct watch *w, const struct watched *j, const struct shard_head *head, struct error *err)
{
    if (w->n_shards == 0) {
        snprintf(w->plan_hash, sizeof w->plan_hash, "%s", head->plan_hash);
        snprintf(w->hash, sizeof w->hash, "%s", head->hash);
        w->n_shards = head->shard.count;
        w->n_whole = head->n_whole;
    }
    if (strcmp(w->plan_hash, head->plan_hash) == 0 && strcmp(w->hash, head->hash) == 0)
        return 0;
    return error_set(err, EXIT_CODE_DATA,
                     "%s is of another run or cut than the journals before it: name the --output of "
                     "one run",
                     j->path);
}

static int visit_run(struct reading *r, struct json_at data, struct error *err)
{
    struct shard_head head;
    bool is_shard;
    if (r->journal->plan)
        return json_fail(data, err, "a second `run` entry");
    if (shard_record_read(data, &is_shard, &head, err))
        return err->code;
    if (!is_shard)
        return json_fail(data, err, "not the journal of a shard (run --shard)");
    r->journal->shard = head.shard;
    int code = check_same(r->watch, r->journal, &head, err);
    return code ? code : keep_plan(r->journal, &head, err);
}

static void count(struct watched *j, const struct cell_record *record)
{
    char key[RECORD_KEY_MAX];
    record_key(&record->problem, record->mode, key);
    const struct watched_cell wanted = {.key = key};
    const struct watched_cell *cell = bsearch(&wanted, j->cells, j->n_cells, sizeof *j->cells, by_key);
    j->n_done++;
    j->n_failed += record->outcome == CELL_FAILED;
    j->cost_done_us += cell ? cell->cost_us : 0;
    for (int phase = 0; phase < PHASE_COUNT; phase++)
        j->seconds += record->phase_seconds[phase];
    for (size_t i = 0; i < record->n_contenders; i++)
        j->n_wrong += verdict_is_refuted(record->contenders[i].verdict);
    if (j->n_done == 1) {
        j->first_failed = j->n_failed;
        j->first_wrong = j->n_wrong;
    }
}

static int visit_cell(struct watched *j, struct json_at data, struct error *err)
{
    struct cell_record *record = NULL;
    if (record_from_json(data, &record, err))
        return err->code;
    count(j, record);
    record_free(record);
    return 0;
}

static int visit(void *context, const char *kind, struct json_at data, struct error *err)
{
    struct reading *r = context;
    struct watched *j = r->journal;
    if (strcmp(kind, "run") == 0)
        return visit_run(r, data, err);
    if (!j->plan)
        return json_fail(data, err, "`%s` before `run`", kind);
    if (strcmp(kind, "cell") == 0)
        return visit_cell(j, data, err);
    if (strcmp(kind, "sitting") == 0) {
        j->starts++;
        snprintf(j->node, sizeof j->node, "%s", tree_text(data.node, "node"));
    }
    if (strcmp(kind, "end") == 0)
        j->state = WATCH_DONE;
    return 0;
}

/* ---- one journal ---- */

static void forget(struct watched *j)
{
    cJSON_Delete(j->plan);
    free(j->cells);
    *j = (struct watched){.path = j->path};
}

/* Up to the last newline: a line may be in the middle of being written. */
static int read_new(struct reading *r, int fd, long long size, struct error *err)
{
    struct watched *j = r->journal;
    size_t length = (size_t)(size - j->offset), got = 0;
    char *bytes = malloc(length + 1);
    if (!bytes)
        return error_set(err, EXIT_CODE_INTERNAL, "%s: out of memory", j->path);
    for (ssize_t n = 1; n > 0 && got<length; got += n> 0 ? (size_t)n : 0)
        n = pread(fd, bytes + got, length - got, j->offset + (off_t)got);
    while (got > 0 && bytes[got - 1] != '\n')
        got--;
    const struct journal_text text = {j->path, bytes, got};
    int code = got ? journal_parse(&text, visit, r, NULL, err) : 0;
    j->offset += (long long)got;
    free(bytes);
    return code;
}

/* A shared lock that is granted says that nobody writes. It is held for a moment: a task that starts then waits. */
static bool is_written(int fd)
{
    if (flock(fd, LOCK_SH | LOCK_NB) != 0)
        return errno == EWOULDBLOCK;
    flock(fd, LOCK_UN);
    return false;
}

static int read_journal(struct reading *r, struct error *err)
{
    struct watched *j = r->journal;
    struct stat st;
    int code = 0, fd = open(j->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size > (off_t)JOURNAL_MAX_BYTES)
        code = error_set(err, EXIT_CODE_DATA, "%s: cannot be read as a journal: %s", j->path,
                         fd < 0 ? strerror(errno) : "not a file, or too large");
    if (!code && st.st_size < j->offset) /* a torn end was cut off, or the file replaced */
        forget(j);
    if (!code && st.st_size > j->offset)
        code = read_new(r, fd, st.st_size, err);
    if (!code && j->state != WATCH_DONE)
        j->state = is_written(fd) ? WATCH_RUNNING : WATCH_STOPPED;
    if (fd >= 0)
        close(fd);
    return code;
}

/* ---- all of them ---- */

static struct watched *find(struct watch *w, const char *path)
{
    for (size_t i = 0; i < w->n; i++)
        if (strcmp(w->list[i].path, path) == 0)
            return &w->list[i];
    return NULL;
}

static struct watched *add(struct watch *w, const char *path)
{
    struct watched *grown = grow_for_one(w->list, w->n, &w->capacity, sizeof *grown);
    if (!grown)
        return NULL;
    w->list = grown;
    struct watched *j = &w->list[w->n];
    *j = (struct watched){.path = strdup(path)};
    w->n += j->path != NULL;
    return j->path ? j : NULL;
}

/* Other journals in a directory are a whole run's or a merged one's. */
static bool is_of_a_shard(const struct shard_path *p)
{
    return p->named || strstr(p->path, ".shard-");
}

int watch_poll(struct watch *w, const char *const *operands, struct error *err)
{
    struct shard_paths paths;
    int code = shard_paths_list(operands, &paths, err);
    for (size_t i = 0; i < paths.n && !code; i++) {
        if (!is_of_a_shard(&paths.list[i]))
            continue;
        struct watched *j =
            i < w->n && strcmp(w->list[i].path, paths.list[i].path) == 0 ? &w->list[i] : find(w, paths.list[i].path);
        if (!j)
            j = add(w, paths.list[i].path);
        struct reading r = {w, j};
        if (!j)
            code = error_set(err, EXIT_CODE_INTERNAL, "out of memory for the journals");
        else if (j->state != WATCH_DONE)
            code = read_journal(&r, err);
    }
    shard_paths_free(&paths);
    return code;
}

const struct watched *watch_of(const struct watch *w, unsigned index)
{
    const struct watched *best = NULL;
    for (size_t i = 0; i < w->n; i++) {
        const struct watched *j = &w->list[i];
        if (j->plan && j->shard.index == index &&
            (!best || j->state > best->state || (j->state == best->state && j->n_done > best->n_done)))
            best = j;
    }
    return best;
}

void watch_free(struct watch *w)
{
    for (size_t i = 0; i < w->n; i++) {
        forget(&w->list[i]);
        free(w->list[i].path);
    }
    free(w->list);
    *w = (struct watch){.n = 0};
}
