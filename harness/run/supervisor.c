/*
 * supervisor.c - a run from its first line to its last: opens the journal, has a crew measure and then audit, writes
 * the result, concludes. Relies on ledger.c, measuring.c and audit.c. Called by cmd_run.c for run, tune, verify and
 * compare.
 */
#include "run/supervisor.h"

#include <stdlib.h>

#include "result/make.h"
#include "run/alone.h"
#include "run/audit.h"
#include "run/end_record.h"
#include "run/measuring.h"
#include "run/memory.h"
#include "run/timeline.h"

struct run {
    const struct run_spec *spec;
    const struct run_hooks *hooks;
    struct ledger ledger;
    struct crew crew;
    struct measuring measuring;
    struct audit_request audit_request;
    struct audit *audit;        /* owned; NULL where nothing is watched */
    struct start_request start; /* of workers that time alone */
    struct memory_use memory;   /* of measuring */
    struct timeline timeline;
    cJSON *looks; /* owned; of the check between devices */
};

/* It may be due when everything is timed. */
static int plan_audit(struct run *run, struct error *err)
{
    run->audit_request = (struct audit_request){.config = run->spec->config,
                                                .ledger = &run->ledger,
                                                .crew = &run->crew,
                                                .measuring = &run->measuring,
                                                .advice = end_record_advice(run->spec),
                                                .warm = run->hooks->watcher};
    if (run->spec->config->activity == ACTIVITY_OFF)
        return 0;
    run->audit = audit_new(&run->audit_request);
    if (!run->audit)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for an audit");
    /* What runs on a CPU may be timed alone first (alone.h), beside nobody. */
    run->measuring.behind = run->spec->devices.on_cuda && !run->measuring.checking ? audit_task(run->audit) : NULL;
    return 0;
}

static int audit(struct run *run, struct error *err)
{
    if (!run->audit || !audit_is_due(run->spec->config, &run->ledger))
        return 0;
    timeline_mark(&run->timeline);
    int code = audit_run(run->audit, err);
    timeline_add(&run->timeline, "watch", &run->crew);
    return code;
}

static int alone(struct run *run, struct error *err)
{
    const struct alone_request request = {.config = run->spec->config,
                                          .ledger = &run->ledger,
                                          .crew = &run->crew,
                                          .start = &run->start,
                                          .began_ns = run->timeline.began_ns,
                                          .on_cuda = run->spec->devices.on_cuda};
    if (run->hooks->director || !alone_is_due(&request))
        return 0;
    measuring_tell(&run->measuring, &run->start);
    timeline_mark(&run->timeline);
    int code = alone_run(&request, err);
    timeline_add(&run->timeline, "alone", &run->crew);
    return code;
}

/* Of a finished run, whether what it measured is what is here: it is asked to go on by somebody who may have another
 * kernel under the same name by now. */
static int check_or_measure(struct run *run, struct error *err)
{
    const struct crew *crew = &run->crew;
    timeline_mark(&run->timeline);
    int code = measuring_run(&run->measuring, err);
    timeline_add(&run->timeline, "measure", &run->crew);
    run->looks = between_take(&run->measuring.between);
    run->memory = memory_used(run->measuring.worker_ready_bytes, crew->leaving.peak_bytes);
    if (!code && run->measuring.checking && crew->slots[0].state == SLOT_RETIRED && crew->last.code)
        *err = crew->last, code = err->code;
    if (!code)
        code = alone(run, err);
    return code ? code : audit(run, err);
}

static int work(struct run *run, struct error *err)
{
    struct measuring *m = &run->measuring;
    const struct ledger *ledger = &run->ledger;
    m->spec = run->spec;
    m->hooks = run->hooks;
    m->ledger = &run->ledger;
    m->crew = &run->crew;
    m->checking = ledger->n_done == ledger->plan.n_cells && !audit_is_due(run->spec->config, ledger);
    int code = plan_audit(run, err);
    if (!code)
        code = measuring_open(m, err);
    if (!code && !(m->checking && run->hooks->director)) {
        code = crew_open(&run->crew, err);
        if (!code)
            code = check_or_measure(run, err);
        crew_close(&run->crew); /* the journal is read again, and nobody may be there who could write to it */
    }
    measuring_close(m);
    audit_free(run->audit);
    return code;
}

/* GPU runs alone: on a CPU there is little but cells. */
static void say_time(const struct run *run, const cJSON *spent)
{
    char line[512];
    if (!spent || !run->spec->devices.on_cuda)
        return;
    timeline_say(spent, line, sizeof line);
    crew_note(&run->crew, "where the time went: %s", line);
}

static int finish(struct run *run, struct error *err)
{
    cJSON *spent = timeline_finish(&run->timeline);
    say_time(run, spent);
    const struct run_end ending = {run->memory, spent, run->looks};
    int code = ledger_finish(&run->ledger, &ending, err);
    if (run->hooks->spent)
        *run->hooks->spent = spent;
    else
        cJSON_Delete(spent);
    return code;
}

static int write_output(const struct run *run, struct error *err)
{
    const struct run_director *director = run->hooks->director;
    const char *journal = run->ledger.journal_path, *output = run->spec->output;
    return director ? director->write(director->context, journal, output, err) : result_write(journal, output, err);
}

static bool has_output(const struct run *run)
{
    return run->ledger.n_done > 0 && !run->ledger.lost && !run->spec->journal_only;
}

/* The result is written whatever ended the run; the first error is the one reported. */
static int conclude(struct run *run, int code, struct error *err)
{
    struct error second = {0};
    if (!code)
        code = finish(run, err);
    if (has_output(run) && write_output(run, &second) && !code) {
        *err = second;
        return err->code;
    }
    return code ? code : end_record_of(&run->ledger, run->spec, crew_stop_signal(&run->crew), &run->crew.last, err);
}

static int supervise(struct run *run, struct error *err)
{
    const struct run_observer *observer = run->hooks->observer;
    const struct crew_setup setup = {.spec = run->spec,
                                     .stop = run->hooks->stop,
                                     .warm = run->hooks->warm,
                                     .note = observer ? observer->note : NULL,
                                     .note_context = observer ? observer->context : NULL};
    if (ledger_open(run->spec, &run->ledger, err))
        return err->code;
    crew_init(&run->crew, &setup);
    int code = work(run, err);
    code = conclude(run, code, err);
    ledger_close(&run->ledger);
    return code;
}

int run_supervise(const struct run_spec *spec, const struct run_hooks *hooks, struct error *err)
{
    struct run *run = calloc(1, sizeof *run);
    if (!run)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for a run");
    run->spec = spec;
    run->hooks = hooks;
    timeline_begin(&run->timeline);
    int code = supervise(run, err);
    cJSON_Delete(run->timeline.parts);
    cJSON_Delete(run->looks);
    free(run);
    return code;
}
