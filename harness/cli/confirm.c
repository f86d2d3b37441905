/*
 * confirm.c - measures suspects again: a config of NEW's with their cells, run in a temporary directory, handed back
 * to compare. Relies on compare/ for who they are. Called by cmd_compare.c.
 */
#include "cli/confirm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/file.h"
#include "report/source.h"
#include "record/journal.h"
#include "run/run_spec.h"

#define NAMES_MAX 1000

static int read_config(const struct side *fresh, struct config *out, struct error *err)
{
    const cJSON *config = fresh->run.config.json;
    char *text = config ? json_print(config, false) : NULL;
    if (!text)
        return error_set(err, EXIT_CODE_DATA, "%s: no config in its journal", fresh->path);
    int code = config_parse(text, strlen(text), fresh->path, out, err);
    free(text);
    return code;
}

static bool is_suspect_shape(const struct compare_runs *runs, const struct shape *shape)
{
    for (size_t i = 0; i < runs->n_rows; i++) {
        const struct cudal2_problem *p = &runs->rows[i].problem;
        const struct cudal2_problem asked = shape_problem(shape, p->dtype, p->accumulate);
        if (judge_suspects(runs->rows[i].verdict) && problem_equal(p, &asked))
            return true;
    }
    return false;
}

static void keep_suspect_shapes(const struct compare_runs *runs, struct config *config)
{
    size_t kept = 0;
    for (size_t i = 0; i < config->n_shapes; i++)
        if (is_suspect_shape(runs, &config->shapes[i]))
            config->shapes[kept++] = config->shapes[i];
    config->n_shapes = kept;
}

/* A dtype that accumulates in one type only has other bits than the config: those stay as they are. */
static void keep_suspect_kinds(const struct compare_runs *runs, struct config *config)
{
    uint32_t modes = 0;
    uint32_t accumulates = 0;
    for (size_t i = 0; i < runs->n_rows; i++)
        if (judge_suspects(runs->rows[i].verdict)) {
            modes |= CUDAL2_BIT(runs->rows[i].mode);
            accumulates |= CUDAL2_BIT(runs->rows[i].problem.accumulate);
        }
    config->modes = modes;
    if (config->accumulates & accumulates)
        config->accumulates &= accumulates;
}

/* ---- one at a time ---- */

/* A file system without locks has none to offer; there the journal, which is created once, tells two apart. */
static int lock_run(const char *path, int *out, struct error *err)
{
    struct source journal;
    if (source_find_journal(path, &journal, err))
        return err->code;
    int fd;
    size_t ignored;
    if (file_open(journal.path, SIZE_MAX, &fd, &ignored, err))
        return err->code;
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        close(fd);
        return error_set(err, EXIT_CODE_TEMPORARY,
                         "%s: another process is measuring its suspects again, or is still writing it", path);
    }
    *out = fd;
    return 0;
}

/* ---- names ---- */

static int stem_length(const char *path)
{
    static const char *const endings[] = {".journal.jsonl", ".jsonl",   ".json", ".journal.jsonl.gz",
                                          ".jsonl.gz",      ".json.gz", "/"};
    size_t stem = strlen(path);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t length = strlen(endings[i]);
        if (stem == strlen(path) && stem > length && strcmp(path + stem - length, endings[i]) == 0)
            stem -= length;
    }
    return (int)stem;
}

/* The output of this number and its journal; false when the path is too long. */
static bool name_output(const char *path, int number, char out[PATH_MAX], char journal[PATH_MAX])
{
    struct error ignored;
    char suffix[24] = "";
    if (number > 1)
        snprintf(suffix, sizeof suffix, "-%d", number);
    int used = snprintf(out, PATH_MAX, "%.*s.confirm%s.json", stem_length(path), path, suffix);
    return used > 0 && used < PATH_MAX && run_journal_path(out, journal, &ignored) == 0;
}

/* A confirmation is a measurement like any other: an earlier one is never overwritten. *number is that of its name. */
static int choose_output(const char *path, char out[PATH_MAX], int *number, struct error *err)
{
    char journal[PATH_MAX];
    for (*number = 1; *number <= NAMES_MAX && name_output(path, *number, out, journal); (*number)++)
        if (access(out, F_OK) != 0 && access(journal, F_OK) != 0)
            return 0;
    return error_set(err, EXIT_CODE_CANTCREATE, "%s: no free name for a confirmation beside it", path);
}

/* ---- going on ---- */

struct earlier {
    cJSON *config; /* owned */
    bool complete;
};

static int visit(void *context, const char *kind, struct json_at data, struct error *err)
{
    struct earlier *earlier = context;
    if (strcmp(kind, "run") == 0 && !earlier->config)
        earlier->config = cJSON_Duplicate(json_member(data, "config").node, true);
    earlier->complete |= strcmp(kind, "end") == 0;
    (void)err;
    return 0;
}

/* Where the journal ends before its first line there is nothing that could be of other suspects. */
static int check_suspects(const struct confirm *c, const struct earlier *earlier, const char *journal,
                          struct error *err)
{
    cJSON *config = config_to_json(&c->made.config);
    bool same = !earlier->config || cJSON_Compare(config, earlier->config, true);
    cJSON_Delete(config);
    return same ? 0
                : error_set(err, EXIT_CODE_DATA,
                            "%s is of other contenders than the suspects named now: without --resume these are "
                            "measured in a new file beside it",
                            journal);
}

/* Takes the second look of this number up again if it is not finished. */
static int take_up(const char *path, int number, struct confirm *c, struct error *err)
{
    char output[PATH_MAX], journal[PATH_MAX];
    struct earlier earlier = {NULL, false};
    if (!name_output(path, number, output, journal) || access(journal, F_OK) != 0)
        return 0;
    int code = journal_read(journal, visit, &earlier, NULL, err);
    if (!code && !earlier.complete) {
        c->resumes = true;
        memcpy(c->output, output, sizeof output);
        code = check_suspects(c, &earlier, journal, err);
    }
    cJSON_Delete(earlier.config);
    return code;
}

/* ---- the whole ---- */

static int fill(const struct compare_runs *runs, bool resume, struct confirm *out, struct error *err)
{
    keep_suspect_shapes(runs, &out->made.config);
    keep_suspect_kinds(runs, &out->made.config);
    out->made.config.activity = ACTIVITY_OFF; /* the first look has had its own */
    out->made.config.seed_given = false;      /* the same inputs and orders would be less than a second look */
    if (out->made.config.n_shapes == 0)
        return error_set(err, EXIT_CODE_DATA, "%s: its config has none of the shapes that it measured",
                         runs->fresh.path);
    int number;
    if (choose_output(runs->fresh.path, out->output, &number, err))
        return err->code;
    return resume && number > 1 ? take_up(runs->fresh.path, number - 1, out, err) : 0;
}

int confirm_prepare(const struct compare_runs *runs, bool resume, struct confirm *out, struct error *err)
{
    memset(out, 0, sizeof *out);
    out->device = runs->fresh.run.device;
    out->lock = -1;
    snprintf(out->made.path, sizeof out->made.path, "%s", runs->fresh.path);
    if (lock_run(runs->fresh.path, &out->lock, err))
        return err->code;
    if (read_config(&runs->fresh, &out->made.config, err)) {
        close(out->lock);
        return err->code;
    }
    int code = fill(runs, resume, out, err);
    if (code)
        confirm_free(out);
    return code;
}

void confirm_free(struct confirm *c)
{
    config_free(&c->made.config);
    close(c->lock);
}
