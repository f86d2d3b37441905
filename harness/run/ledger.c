/*
 * ledger.c - opens or resumes a journal, knows which cells are done, adds records, environments and audits, and gives
 * the run's verdict. Relies on record/journal.h and plan.c. Called by supervisor.c and audit.c.
 */
#include "run/ledger.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/random.h"
#include "run/mismatch.h"
#include "run/shard_record.h"
#include "worker/environment.h"

#define CHECK_NS 500000000ull /* between two looks at the journal */
#define LOCK_PAUSE_US 100000  /* between two tries to lock it */

/* What this start is; a journal to be continued must have been started alike. */
struct identity {
    cJSON *config;
    char config_hash[DIGEST_HEX], program_hash[DIGEST_HEX];
    const char *device;
};

struct opening {
    const struct run_spec *spec;
    struct ledger *ledger;
    struct identity id;
    bool has_run;
};

/* ---- before it begins ---- */

/* Before anything is measured: a run of hours must not end with "no such directory". */
static int check_output(const char *output, struct error *err)
{
    struct stat st;
    char copy[PATH_MAX];
    snprintf(copy, sizeof copy, "%s", output);
    const char *directory = dirname(copy);
    if (stat(output, &st) == 0 && !S_ISREG(st.st_mode))
        return error_set(err, EXIT_CODE_CANTCREATE, "output %s exists and is not a regular file", output);
    if (stat(directory, &st) != 0 || !S_ISDIR(st.st_mode))
        return error_set(err, EXIT_CODE_CANTCREATE, "output %s: no directory %s", output, directory);
    if (access(directory, W_OK) != 0)
        return error_set(err, EXIT_CODE_CANTCREATE, "output %s: cannot write to directory %s: %s", output, directory,
                         strerror(errno));
    return 0;
}

static int refuse_existing(const struct run_spec *spec, struct error *err)
{
    const char *output = spec->output, *journal = spec->journal;
    if (access(journal, F_OK) == 0)
        return error_set(err, EXIT_CODE_CANTCREATE, "%s exists: go on with --resume, or %s", journal,
                         spec->extends ? "remove it" : "choose another --output");
    if (!spec->extends && access(output, F_OK) == 0)
        return error_set(err, EXIT_CODE_CANTCREATE, "%s exists: choose another --output, or remove it", output);
    return 0;
}

/* ---- identity ---- */

static int identity_make(const struct run_spec *spec, struct identity *id, struct error *err)
{
    id->device = spec->devices.on_cuda ? "cuda" : "cpu";
    id->config = config_to_json(spec->config);
    char *text = id->config ? json_print(id->config, false) : NULL;
    if (!text)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for the config");
    struct digest d;
    digest_start(&d);
    digest_add_string(&d, text);
    digest_finish(&d, id->config_hash);
    free(text);
    return environment_program_hash(id->program_hash, err);
}

static int build_plan(struct opening *o, struct error *err)
{
    struct ledger *l = o->ledger;
    if (plan_build(o->spec->config, o->spec->devices.on_cuda, l->seed, &l->plan, err))
        return err->code;
    if (o->spec->shard.count && shard_take(&l->plan, &o->spec->shard, &l->cut, err))
        return err->code;
    l->done = calloc(l->plan.n_cells, sizeof *l->done);
    return l->done ? 0 : error_set(err, EXIT_CODE_INTERNAL, "out of memory for the plan");
}

/* ---- what the journal already says ---- */

static int check_text(struct json_at data, const char *key, const char *mine, const char *what, struct error *err)
{
    const char *theirs = NULL;
    if (json_read_string(json_member(data, key), &theirs, err))
        return err->code;
    if (strcmp(theirs, mine) == 0)
        return 0;
    return error_set(err, EXIT_CODE_DATA, "cannot resume: %s (%s then, %s now)", what, theirs, mine);
}

/* Two hashes tell nobody what to change back: the journal has the config itself. */
static int check_config(struct json_at data, const struct identity *id, struct error *err)
{
    char what[500];
    const char *hash = NULL;
    if (json_read_string(json_member(data, "config_hash"), &hash, err))
        return err->code;
    if (strcmp(hash, id->config_hash) == 0)
        return 0;
    mismatch_describe(json_member(data, "config").node, id->config, what, sizeof what);
    return error_set(err, EXIT_CODE_DATA, "cannot resume, the config differs: %s",
                     what[0] ? what : "the journal does not say in what");
}

static int visit_run(struct opening *o, struct json_at data, struct error *err)
{
    if (o->has_run)
        return json_fail(data, err, "a second `run` entry");
    o->has_run = true;
    if (check_text(data, "device", o->id.device, "the device kind differs", err) ||
        check_text(data, "program_hash", o->id.program_hash, "the program is another build", err) ||
        check_config(data, &o->id, err) || json_read_u64(json_member(data, "seed"), &o->ledger->seed, err) ||
        build_plan(o, err))
        return err->code;
    if (check_text(data, "plan_hash", o->ledger->plan.hash, "the plan of cells differs", err))
        return err->code;
    return shard_record_check(data, &o->spec->shard, &o->ledger->cut, err);
}

static int visit_env(struct opening *o, struct json_at data, struct error *err)
{
    o->ledger->n_env++;
    if (o->ledger->env)
        return 0;
    o->ledger->env = cJSON_Duplicate(data.node, true);
    return o->ledger->env ? 0 : error_set(err, EXIT_CODE_INTERNAL, "out of memory");
}

static void count_verdicts(struct ledger *l, const char *key, const struct cell_record *r)
{
    if (r->outcome == CELL_FAILED)
        l->failed_cells++;
    if (r->outcome == CELL_SKIPPED && l->skipped_cells++ == 0)
        snprintf(l->first_skipped, sizeof l->first_skipped, "%s: %s", key, r->reason);
    offenders_count(&l->offenders, r);
    named_count(&l->named, r);
    l->timed_cells += r->blocks > 0 || r->paper_pairs;
    l->compared_cells += r->worst_pair[0] != '\0';
    for (size_t i = 0; i < r->n_contenders; i++) {
        const struct contender_record *c = &r->contenders[i];
        l->candidates += c->candidate;
        l->measured_candidates += c->candidate && c->verdict == VERDICT_OK;
        if (verdict_is_refuted(c->verdict) && l->wrong_results++ == 0)
            snprintf(l->first_wrong, sizeof l->first_wrong, "%s: %s at %s", record_verdict(c), c->name, key);
    }
}

static int visit_cell(struct opening *o, struct json_at data, struct error *err)
{
    struct cell_record *record = NULL;
    struct ledger *l = o->ledger;
    char key[RECORD_KEY_MAX];
    if (record_from_json(data, &record, err))
        return err->code;
    int code = 0;
    record_key(&record->problem, record->mode, key);
    long cell = plan_find(&l->plan, &record->problem, record->mode);
    if (cell < 0 || l->done[cell]) {
        code = json_fail(data, err, cell < 0 ? "cell %s is not in the plan" : "cell %s is there twice", key);
    } else {
        l->done[cell] = true;
        l->n_done++;
        count_verdicts(l, key, record);
    }
    record_free(record);
    return code;
}

/* A watcher's verdicts are as good as those of the cells. */
static int count_activity(struct ledger *l, struct json_at line, struct error *err)
{
    const cJSON *seen;
    if (activity_check(line, err))
        return err->code;
    const cJSON *cell = json_member(line, "cell").node;
    cJSON_ArrayForEach(seen, json_member(line, "contenders").node)
    {
        const cJSON *status = cJSON_GetObjectItemCaseSensitive(seen, "status");
        if (status && l->wrong_results++ == 0)
            snprintf(l->first_wrong, sizeof l->first_wrong, "%s: %.63s at %.80s", status->valuestring,
                     cJSON_GetObjectItemCaseSensitive(seen, "name")->valuestring, cell->valuestring);
    }
    return 0;
}

static int visit(void *context, const char *kind, struct json_at data, struct error *err)
{
    struct opening *o = context;
    if (strcmp(kind, "run") == 0)
        return visit_run(o, data, err);
    if (!o->has_run)
        return json_fail(data, err, "`%s` before `run`", kind);
    if (strcmp(kind, "env") == 0)
        return visit_env(o, data, err);
    if (strcmp(kind, "cell") == 0)
        return visit_cell(o, data, err);
    if (strcmp(kind, ACTIVITY_KIND) == 0)
        return count_activity(o->ledger, data, err);
    o->ledger->complete |= strcmp(kind, "end") == 0;
    return 0;
}

/* ---- what this start adds ---- */

static cJSON *argv_to_json(const struct run_spec *spec)
{
    cJSON *list = cJSON_CreateArray();
    for (int i = 0; i < spec->argc; i++)
        cJSON_AddItemToArray(list, cJSON_CreateString(spec->argv[i]));
    return list;
}

static cJSON *plan_to_json(const struct plan *plan)
{
    cJSON *list = cJSON_CreateArray();
    for (size_t i = 0; i < plan->n_cells; i++) {
        char key[RECORD_KEY_MAX];
        record_key(&plan->cells[i].problem, plan->cells[i].mode, key);
        cJSON_AddItemToArray(list, cJSON_CreateString(key));
    }
    return list;
}

/* Appends and deletes `data`. */
static int append(struct ledger *l, const char *kind, cJSON *data, struct error *err)
{
    int code = data ? journal_append(l->journal, kind, data, err)
                    : error_set(err, EXIT_CODE_INTERNAL, "out of memory for the journal");
    cJSON_Delete(data);
    l->lost = l->lost || journal_is_lost(l->journal);
    return code;
}

static int append_run(struct opening *o, struct error *err)
{
    char now[21];
    cJSON *build = NULL, *run = cJSON_CreateObject();
    if (environment_build(&build, err)) {
        cJSON_Delete(run);
        return err->code;
    }
    clock_utc(now);
    cJSON_AddStringToObject(run, "started", now);
    cJSON_AddItemToObject(run, "argv", argv_to_json(o->spec));
    cJSON_AddStringToObject(run, "config_path", o->spec->config_path ? o->spec->config_path : "");
    cJSON_AddStringToObject(run, "config_hash", o->id.config_hash);
    cJSON_AddStringToObject(run, "plan_hash", o->ledger->plan.hash);
    cJSON_AddStringToObject(run, "program_hash", o->id.program_hash);
    cJSON_AddStringToObject(run, "device", o->id.device);
    json_put_u64(run, "seed", o->ledger->seed);
    cJSON_AddItemToObject(run, "build", build);
    cJSON_AddItemReferenceToObject(run, "config", o->id.config);
    cJSON_AddItemToObject(run, "plan", plan_to_json(&o->ledger->plan));
    if (o->spec->shard.count)
        cJSON_AddItemToObject(run, "shard", shard_record_json(o->spec, &o->ledger->cut, &o->ledger->plan));
    return append(o->ledger, "run", run, err);
}

static int append_sitting(struct opening *o, struct error *err)
{
    char now[21];
    cJSON *sitting = cJSON_CreateObject();
    clock_utc(now);
    cJSON_AddStringToObject(sitting, "time", now);
    cJSON_AddItemToObject(sitting, "argv", argv_to_json(o->spec));
    cJSON_AddNumberToObject(sitting, "done", (double)o->ledger->n_done);
    cJSON_AddItemToObject(sitting, "host", environment_host());
    if (o->spec->shard.count)
        shard_record_node(sitting);
    return append(o->ledger, "sitting", sitting, err);
}

/* A task that was killed may leave its run behind, which holds the journal until its cell is done: the task that takes
 * its place waits for it. */
static int resume_journal(struct opening *o, struct error *err)
{
    struct ledger *l = o->ledger;
    double seconds = o->spec->shard.count ? o->spec->lock_seconds : 0;
    uint64_t deadline = clock_now_ns() + (uint64_t)(seconds * 1e9);
    int code;
    while ((code = journal_resume(l->journal_path, visit, o, &l->journal, err)) == EXIT_CODE_TEMPORARY) {
        bool told = usleep(LOCK_PAUSE_US) != 0; /* to stop, by a signal */
        if (told || clock_now_ns() >= deadline)
            return seconds > 0 ? error_set(err, code, "%s: another task is writing this journal (waited %.0f s)",
                                           l->journal_path, seconds)
                               : code;
    }
    return code;
}

static int open_journal(struct opening *o, struct error *err)
{
    struct ledger *l = o->ledger;
    const struct run_spec *spec = o->spec;
    if (spec->resume && access(l->journal_path, F_OK) == 0)
        return resume_journal(o, err);
    if (refuse_existing(spec, err))
        return err->code;
    if ((spec->journal_only ? journal_create_passing : journal_create)(l->journal_path, &l->journal, err))
        return err->code;
    l->created = true;
    return 0;
}

static int start_run(struct opening *o, struct error *err)
{
    const struct config *config = o->spec->config;
    if (config->seed_given)
        o->ledger->seed = config->seed;
    else /* every shard draws the same */
        o->ledger->seed = o->spec->shard.count ? random_derive(0, o->id.config_hash, 0) : random_entropy();
    if (build_plan(o, err))
        return err->code;
    return append_run(o, err);
}

int ledger_open(const struct run_spec *spec, struct ledger *out, struct error *err)
{
    *out = (struct ledger){0};
    memcpy(out->journal_path, spec->journal, sizeof out->journal_path);
    struct opening o = {.spec = spec, .ledger = out};
    int code = check_output(spec->output, err);
    if (!code)
        code = identity_make(spec, &o.id, err);
    if (!code)
        code = open_journal(&o, err);
    if (!code && !o.has_run)
        code = start_run(&o, err);
    if (!code && !out->complete)
        code = append_sitting(&o, err);
    cJSON_Delete(o.id.config);
    if (code)
        ledger_close(out);
    return code;
}

int ledger_add_env(struct ledger *ledger, const cJSON *env, int *index, struct error *err)
{
    if (ledger->env && environment_check_same(ledger->env, env, err))
        return error_wrap(err, "%s was measured in another environment", ledger->journal_path);
    if (ledger->complete) { /* it was asked for this alone */
        *index = 0;
        return 0;
    }
    if (append(ledger, "env", cJSON_Duplicate(env, true), err))
        return err->code;
    if (!ledger->env)
        ledger->env = cJSON_Duplicate(env, true);
    *index = ledger->n_env++;
    return 0;
}

int ledger_add_cell(struct ledger *ledger, size_t cell, const struct cell_record *record, struct error *err)
{
    char key[RECORD_KEY_MAX];
    record_key(&record->problem, record->mode, key);
    if (cell >= ledger->plan.n_cells || ledger->done[cell])
        return error_set(err, EXIT_CODE_INTERNAL, "cell %s came twice", key);
    if (append(ledger, "cell", record_to_json(record), err))
        return err->code;
    ledger->done[cell] = true;
    ledger->n_done++;
    count_verdicts(ledger, key, record);
    return 0;
}

int ledger_add_activity(struct ledger *ledger, cJSON *line, struct error *err)
{
    if (line && count_activity(ledger, json_root(line, "a look"), err)) {
        cJSON_Delete(line);
        return err->code;
    }
    return append(ledger, ACTIVITY_KIND, line, err);
}

int ledger_check(struct ledger *ledger, struct error *err)
{
    if (!ledger->lost && clock_now_ns() - ledger->checked_ns < CHECK_NS)
        return 0;
    ledger->checked_ns = clock_now_ns();
    ledger->lost = journal_check(ledger->journal, err) != 0;
    return ledger->lost ? err->code : 0;
}

int ledger_turn(void *ledger, struct error *err)
{
    return ledger_check(ledger, err);
}

static cJSON *memory_to_json(const struct memory_use *memory)
{
    cJSON *object = cJSON_CreateObject();
    cJSON_AddNumberToObject(object, "supervisor_peak_bytes", (double)memory->supervisor_peak);
    cJSON_AddNumberToObject(object, "worker_peak_bytes", (double)memory->worker_peak);
    cJSON_AddNumberToObject(object, "worker_ready_bytes", (double)memory->worker_ready);
    return object;
}

int ledger_finish(struct ledger *ledger, const struct run_end *ending, struct error *err)
{
    char now[21];
    if (ledger->complete || ledger->n_done < ledger->plan.n_cells)
        return 0;
    ledger->lost = journal_check_all(ledger->journal, err) != 0;
    if (ledger->lost)
        return err->code;
    clock_utc(now);
    cJSON *end = cJSON_CreateObject();
    cJSON_AddStringToObject(end, "time", now);
    cJSON_AddNumberToObject(end, "cells", (double)ledger->n_done);
    if (ending->memory.worker_peak > 0)
        cJSON_AddItemToObject(end, "memory", memory_to_json(&ending->memory));
    if (ending->spent)
        cJSON_AddItemToObject(end, "time_spent", cJSON_Duplicate(ending->spent, true));
    if (ending->looks)
        cJSON_AddItemToObject(end, "between_devices", cJSON_Duplicate(ending->looks, true));
    int code = append(ledger, "end", end, err);
    ledger->complete = code == 0;
    return code;
}

/* A run of one contender is there for its times; with more there is something to compare. */
static bool names_more_than_one(const struct config *config)
{
    return config->baselines[0] && (config->baselines[1] || config->candidates[0]);
}

int ledger_verdict(const struct ledger *l, const struct config *config, struct error *err)
{
    const cJSON *named = cJSON_GetObjectItemCaseSensitive(l->env, "named");
    if (l->wrong_results)
        return error_set(err, EXIT_CODE_VERIFICATION, "%s (%zu failed verification in all)", l->first_wrong,
                         l->wrong_results);
    if (l->skipped_cells == l->plan.n_cells)
        return error_set(err, EXIT_CODE_INCOMPARABLE, "nothing was measured, every cell was skipped; the first: %s",
                         l->first_skipped);
    if (named_verdict(&l->named, named, config, err))
        return err->code;
    if (l->failed_cells)
        return error_set(err, EXIT_CODE_INCOMPARABLE, "%zu of %zu cell%s failed; the table says why", l->failed_cells,
                         l->plan.n_cells, l->plan.n_cells == 1 ? "" : "s");
    if (l->candidates > 0 && l->measured_candidates == 0)
        return error_set(err, EXIT_CODE_INCOMPARABLE, "no candidate was measured in any cell; the table says why");
    if (l->timed_cells > 0 && l->compared_cells == 0 && names_more_than_one(config))
        return error_set(err, EXIT_CODE_INCOMPARABLE, "nothing could be compared in any cell; the table says why");
    return 0;
}

void ledger_close(struct ledger *ledger)
{
    if (ledger->created && ledger->n_done == 0 && !ledger->lost)
        unlink(ledger->journal_path);
    if (ledger->journal)
        journal_close(ledger->journal);
    plan_free(&ledger->plan);
    free(ledger->done);
    cJSON_Delete(ledger->env);
    *ledger = (struct ledger){0};
}
