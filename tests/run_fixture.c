/*
 * run_fixture.c - a run in a temporary directory with a scripted worker, and what its journal and result say. Relies
 * on fake_worker.h. Linked into the tests of run/.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "run_fixture.h"
#include "result/journal.h"

#define CONFIG                                                                                                         \
    "{\"schema\":\"cudal2-bench/"                                                                                      \
    "config\",\"schema_version\":1,\"name\":\"t\",\"shapes\":[{\"m\":32,\"n\":32,\"k\":32},{\"m\":64,\"n\":32,\"k\":"  \
    "32,\"label\":\"two\"},"                                                                                           \
    "{\"m\":96,\"n\":32,\"k\":32}],\"dtype\":\"f32\",\"accumulate\":[\"f32\"],\"modes\":[\"offline\",\"server\"],"     \
    "\"baselines\":[\"beta\"],\"candidates\":[\"alpha\"]}"
struct run_fixture t;

static void on_cell(void *context, const struct cell_record *record, size_t done, double eta)
{
    (void)context;
    assert_non_null(record);
    assert_true(eta >= 0);
    if (t.stop_after && (int)done == t.stop_after)
        t.stop = t.stop_value;
}

static void on_stage(void *context, int worker, const char *cell, const char *contender, const char *stage)
{
    (void)context;
    (void)worker;
    assert_true(cell[0] != '\0' && stage[0] != '\0' && contender != NULL);
    if (t.stop_after < 0)
        t.stop = t.stop_value;
}

static void on_note(void *context, const char *line)
{
    (void)context;
    t.n_notes++;
    snprintf(t.last_note, sizeof t.last_note, "%s", line);
    if (t.stop_at_note && strstr(line, t.stop_at_note))
        t.stop = t.stop_value;
}

int set_up(void **state)
{
    (void)state;
    memset(&t, 0, sizeof t);
    snprintf(t.directory, sizeof t.directory, "/tmp/cudal2-supervisor-XXXXXX");
    if (!mkdtemp(t.directory))
        return -1;
    snprintf(t.output, sizeof t.output, "%s/r.json", t.directory);
    snprintf(t.journal, sizeof t.journal, "%s/r.journal.jsonl", t.directory);
    setenv("CUDAL2_FAKE_DIR", t.directory, 1);
    unsetenv("CUDAL2_FAKE");
    unsetenv("CUDAL2_FAKE_DRIVER");
    static char *argv[] = {(char *)"test", NULL};
    t.options = (struct run_options){
        .config = &t.config, .config_path = "t.json", .device = "cpu", .output = t.output, .argc = 1, .argv = argv};
    return config_parse(CONFIG, strlen(CONFIG), "t.json", &t.config, &t.err);
}

int tear_down(void **state)
{
    char command[128];
    (void)state;
    config_free(&t.config);
    snprintf(command, sizeof command, "rm -rf %s", t.directory);
    return system(command);
}

int go(const char *script)
{
    struct run_observer observer = {.cell = on_cell, .stage = on_stage, .note = on_note};
    if (script)
        setenv("CUDAL2_FAKE", script, 1);
    t.stop = 0;
    memset(&t.err, 0, sizeof t.err);
    int code = run_supervise(&t.options, &observer, &t.stop, &t.err);
    assert_int_equal(code, t.err.code);
    return code;
}

/* ---- reading back what it left ---- */

static int view_entry(void *context, const char *kind, struct json_at data, struct error *err)
{
    struct journal_view *v = context;
    v->runs += strcmp(kind, "run") == 0;
    v->sittings += strcmp(kind, "sitting") == 0;
    v->envs += strcmp(kind, "env") == 0;
    v->ends += strcmp(kind, "end") == 0;
    if (strcmp(kind, "cell") != 0)
        return 0;
    struct cell_record *r = NULL;
    if (record_from_json(data, &r, err))
        return err->code;
    int index = (int)r->mode * 3 + (int)(r->problem.m / 32) - 1;
    assert_in_range(index, 0, N_CELLS - 1);
    v->cells++;
    v->of_cell[index]++;
    record_free(v->records[index]);
    v->records[index] = r;
    return 0;
}

struct journal_view view(void)
{
    struct journal_view v = {0};
    bool torn = true;
    assert_int_equal(journal_read(t.journal, view_entry, &v, &torn, &t.err), 0);
    assert_false(torn);
    assert_int_equal(v.runs, 1);
    for (int i = 0; i < N_CELLS; i++)
        assert_in_range(v.of_cell[i], 0, 1);
    return v;
}

void free_view(struct journal_view *v)
{
    for (int i = 0; i < N_CELLS; i++)
        record_free(v->records[i]);
}

struct journal_view complete_view(void)
{
    struct journal_view v = view();
    assert_int_equal(v.cells, N_CELLS);
    assert_int_equal(v.ends, 1);
    assert_int_equal(access(t.output, F_OK), 0);
    return v;
}

long starts(void)
{
    char path[128];
    struct stat st;
    snprintf(path, sizeof path, "%s/starts", t.directory);
    return stat(path, &st) == 0 ? (long)st.st_size : 0;
}
