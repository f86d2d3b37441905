/*
 * server_work.c - the threads of the server: each takes the next job, compiles or measures it, and says how it ended.
 * Relies on compiling.h and evaluate.h. Called by server.c.
 */
#include "serve/server_state.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/tree.h"
#include "run/warm.h"
#include "serve/compiling.h"
#include "serve/outcome.h"
#include "serve/spent.h"
#include "serve/verdict.h"

#define LOOK_SECONDS 1.0  /* a job that waits for its next try is seen this late */
#define WARM_SECONDS 10.0 /* so long a worker is kept without a job */
#define STACK_BYTES ((size_t)1 << 20)

void server_say(const struct server *s, const char *format, ...)
{
    char line[1024];
    va_list args;
    if (s->options.quiet)
        return;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    fprintf(stderr, "serve: %s\n", line);
}

/* ---- the end of a job ---- */

static cJSON *no_outcome(const struct job *job, const char *reason)
{
    const struct outcome_input in = {.submission = job->submission};
    const struct outcome_failure failure = {VERDICT_FAILED, "serve", reason};
    return outcome_of_failure(&in, &failure);
}

/* Not the candidate's fault: tried again a little later, and given up after some times. The lock is held. */
static void postpone(struct server *s, struct job *job, enum job_state back, const struct error *why)
{
    char reason[900];
    unsigned tries = job->tries++;
    if (why->code == EXIT_CODE_INTERRUPTED) {
        store_remove(&s->store, job->id, STORE_ATTEMPTS);
        job->state = back;
        return;
    }
    server_say(s, "%s: %s", job->id, why->text);
    job->state = back;
    job->not_before_ns = clock_now_ns() + ((uint64_t)1000000000 << (tries < 4 ? tries : 4));
    if (tries + 1 < SERVER_TRIES)
        return;
    snprintf(reason, sizeof reason, "%d tries, the last: %.768s", SERVER_TRIES, why->text);
    cJSON *outcome = no_outcome(job, reason);
    if (outcome)
        server_finish(s, job, outcome);
}

static uint64_t bit_of(int device)
{
    return UINT64_C(1) << device;
}

/* Whether another device shall try what this one could not do: one that has gone would else take one job after the
 * other, faster than the others, and fail each. When none is left that has not, it counts as one of the job's tries.
 * The lock is held. */
static bool hand_on(struct server *s, struct job *job, int device, const struct error *why)
{
    const uint64_t all = (bit_of(s->options.devices->count - 1) << 1) - 1;
    job->failed_on |= bit_of(device);
    if (why->code != EXIT_CODE_UNAVAILABLE || job->failed_on == all) {
        job->failed_on = 0;
        return false;
    }
    server_say(s, "%s: %s", job->id, why->text);
    store_remove(&s->store, job->id, STORE_ATTEMPTS);
    job->state = JOB_READY;
    return true;
}

static void note_device(struct server *s, int device, int code)
{
    if (code == EXIT_CODE_UNAVAILABLE)
        s->failures[device]++;
    else if (code == 0)
        s->failures[device] = 0;
}

/* ---- one step of a job ---- */

struct duty {
    struct server *server;
    struct warm *warm; /* of the device: two of them, owned; the second one watches */
    int device;        /* -1: compiles only */
};

static struct evaluation evaluation_of(struct server *s, const struct job *job, const struct duty *duty)
{
    return (struct evaluation){.store = &s->store,
                               .id = job->id,
                               .submission = job->submission,
                               .code = job->code,
                               .devices = s->options.devices,
                               .device_index = duty ? duty->device : 0,
                               .plugins = s->options.plugins,
                               .kernels = s->options.kernels,
                               .stop = &s->stop,
                               .warm = duty ? duty->warm : NULL};
}

static void compile_job(struct server *s, struct job *job)
{
    const struct evaluation e = evaluation_of(s, job, NULL);
    const struct compiling c = {
        .job = &e, .arch = s->options.arch, .program = "/proc/self/exe", .seconds = COMPILE_SECONDS};
    cJSON *code = NULL, *outcome = NULL;
    struct error err;
    uint64_t began = clock_now_ns();
    pthread_mutex_unlock(&s->lock);
    int failed = compile_submission(&c, &code, &outcome, &err);
    pthread_mutex_lock(&s->lock);
    job->compile_seconds = (double)(clock_now_ns() - began) * 1e-9;
    s->counts.compiling_seconds += job->compile_seconds;
    if (failed) {
        postpone(s, job, JOB_QUEUED, &err);
        return;
    }
    job->code = code;
    job->tries = 0;
    job->state = JOB_READY;
    if (outcome)
        server_finish(s, job, outcome);
}

/* ---- which lines of parameters are watched ---- */

/* Of the job's line; `key` is "" where every job is watched. */
struct earlier_watch {
    char key[DIGEST_HEX];
    bool tried, seen; /* in an earlier job */
};

static void find_earlier(struct server *s, const struct evaluation *e, struct earlier_watch *out)
{
    *out = (struct earlier_watch){.key = ""};
    if (!watched_key(e, out->key))
        return;
    pthread_mutex_lock(&s->lock);
    const struct watched_line *line = watched_find(&s->watched, out->key);
    out->tried = line != NULL;
    out->seen = line && line->seen;
    pthread_mutex_unlock(&s->lock);
}

/* A quick look is not watched, and what failed has not come to it. */
static void note_watched(struct server *s, const struct earlier_watch *earlier, cJSON *outcome)
{
    bool now = strcmp(tree_text(outcome, "watched"), OUTCOME_WATCHED_NOW) == 0;
    bool due = s->options.devices->on_cuda && !tree_true(outcome, "screened");
    if (earlier->seen && !now && cJSON_HasObjectItem(outcome, "watched"))
        cJSON_ReplaceItemInObjectCaseSensitive(outcome, "watched", cJSON_CreateString(OUTCOME_WATCHED_BEFORE));
    if (!earlier->key[0] || earlier->tried || !due || verdict_of_outcome(outcome) != VERDICT_OK)
        return;
    pthread_mutex_lock(&s->lock);
    watched_add(&s->watched, earlier->key, now);
    pthread_mutex_unlock(&s->lock);
}

static int evaluate_watched(struct server *s, const struct evaluation *e, cJSON **outcome, struct error *err)
{
    struct earlier_watch earlier;
    struct evaluation with = *e;
    find_earlier(s, e, &earlier);
    with.watch = !earlier.tried;
    int code = evaluate(&with, outcome, err);
    if (code == 0)
        note_watched(s, &earlier, *outcome);
    return code;
}

/* A job that takes the server with it each time must not do so for ever. */
static int try_job(struct server *s, const struct evaluation *e, cJSON **outcome, struct error *err)
{
    unsigned begun;
    store_attempt(&s->store, e->id, &begun);
    if (begun <= SERVER_ATTEMPTS)
        return evaluate_watched(s, e, outcome, err);
    const struct outcome_input in = {.submission = e->submission};
    const struct outcome_failure failure = {VERDICT_FAILED, "serve",
                                            "the server ended several times while it was measured"};
    *outcome = outcome_of_failure(&in, &failure);
    return *outcome ? 0 : error_set(err, EXIT_CODE_INTERNAL, "out of memory for an outcome");
}

/* `seconds`: its share of the device's time since `began`. */
static void put_spent(const struct job *job, const struct spent *spent, uint64_t began, double seconds, cJSON *outcome)
{
    double before = (double)(began - job->received_ns) * 1e-9;
    cJSON *tree = spent_tree(spent, before - job->compile_seconds, job->compile_seconds, seconds);
    cJSON_AddNumberToObject(outcome, "measuring_seconds", round_to(seconds, 1e3));
    if (tree && !cJSON_AddItemToObject(outcome, "spent", tree))
        cJSON_Delete(tree);
}

static double seconds_since(uint64_t began)
{
    return (double)(clock_now_ns() - began) * 1e-9;
}

static void measure_job(struct server *s, struct job *job, const struct duty *duty)
{
    struct evaluation e = evaluation_of(s, job, duty);
    struct spent spent = {0};
    struct repeat_log looks = {0};
    cJSON *outcome = NULL;
    struct error err;
    uint64_t began = clock_now_ns();
    e.spent = &spent;
    e.looks = &looks;
    pthread_mutex_unlock(&s->lock);
    int failed = try_job(s, &e, &outcome, &err);
    pthread_mutex_lock(&s->lock);
    s->counts.measuring_seconds += seconds_since(began);
    s->counts.busy_seconds += spent.busy;
    note_device(s, duty->device, failed);
    if (failed && hand_on(s, job, duty->device, &err))
        return;
    if (failed) {
        postpone(s, job, JOB_READY, &err);
        return;
    }
    put_spent(job, &spent, began, seconds_since(began), outcome);
    repeats_add(&s->repeats, &looks);
    server_found(s, job, outcome);
}

/* ---- several jobs at once ---- */

/* Jobs that are measured in the same cells, the first of them by whose turn it was. */
struct party {
    struct job *jobs[EVALUATE_MOST];
    struct evaluation list[EVALUATE_MOST];
    struct earlier_watch earlier[EVALUATE_MOST];
    cJSON *outcomes[EVALUATE_MOST];
    struct spent spent;
    struct repeat_log looks;
    size_t n;
};

/* Takes those that may be measured with the job; false: there is none. The lock is held. */
static bool party_gather(struct server *s, struct job *job, struct party *p)
{
    size_t others = jobs_together(&s->jobs, job, clock_now_ns(), p->jobs + 1, EVALUATE_MOST - 1);
    if (job->alone || job->tries > 0 || others == 0)
        return false;
    p->jobs[0] = job;
    p->n = 1 + others;
    for (size_t i = 1; i < p->n; i++)
        p->jobs[i]->state = JOB_MEASURING;
    return true;
}

static int party_evaluate(struct server *s, struct party *p, const struct duty *duty, struct error *err)
{
    bool watch = false;
    for (size_t i = 0; i < p->n; i++) {
        unsigned ignored;
        p->list[i] = evaluation_of(s, p->jobs[i], duty);
        store_attempt(&s->store, p->jobs[i]->id, &ignored);
        find_earlier(s, &p->list[i], &p->earlier[i]);
        watch = watch || !p->earlier[i].tried;
    }
    p->list[0].watch = watch;
    p->list[0].spent = &p->spent;
    p->list[0].looks = &p->looks;
    int code = evaluate_together(p->list, p->n, p->outcomes, err);
    for (size_t i = 0; i < p->n; i++)
        if (p->outcomes[i])
            note_watched(s, &p->earlier[i], p->outcomes[i]);
    return code;
}

/* Each has its share of the time; what has no outcome is measured by itself. The lock is held. */
static void party_end(struct server *s, struct party *p, uint64_t began, int code, const struct error *err)
{
    double seconds = seconds_since(began);
    s->counts.measuring_seconds += seconds;
    s->counts.busy_seconds += p->spent.busy;
    spent_share(&p->spent, p->n);
    repeats_add(&s->repeats, &p->looks);
    for (size_t i = 0; i < p->n; i++) {
        struct job *job = p->jobs[i];
        if (code == EXIT_CODE_INTERRUPTED) {
            postpone(s, job, JOB_READY, err);
        } else if (p->outcomes[i]) {
            put_spent(job, &p->spent, began, seconds / (double)p->n, p->outcomes[i]);
            server_found(s, job, p->outcomes[i]);
        } else {
            job->alone = true;
            job->state = JOB_READY;
        }
    }
}

static void measure_jobs(struct server *s, struct job *job, const struct duty *duty)
{
    struct party *p = calloc(1, sizeof *p);
    struct error err;
    if (!p || !party_gather(s, job, p)) {
        free(p);
        measure_job(s, job, duty);
        return;
    }
    uint64_t began = clock_now_ns();
    pthread_cond_broadcast(&s->news);
    pthread_mutex_unlock(&s->lock);
    int code = party_evaluate(s, p, duty, &err);
    pthread_mutex_lock(&s->lock);
    note_device(s, duty->device, code);
    party_end(s, p, began, code, &err);
    free(p);
}

/* ---- threads ---- */

/* On the CPU device a compiler beside a measurement would be in its way: its one thread does both. */
static struct job *take(struct server *s, int device)
{
    uint64_t now = clock_now_ns();
    bool compiles = device < 0 || s->n_compilers == 0;
    struct job *ready = device >= 0 ? jobs_next(&s->jobs, JOB_READY, device, now) : NULL;
    struct job *source = compiles ? jobs_next(&s->jobs, JOB_QUEUED, -1, now) : NULL;
    struct job *job = ready ? ready : source;
    if (ready && source && jobs_is_ahead(source, ready))
        job = source;
    if (job)
        job->state = job->state == JOB_READY ? JOB_MEASURING : JOB_COMPILING;
    return job;
}

static void wait_for_work(struct server *s)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += (time_t)LOOK_SECONDS;
    pthread_cond_timedwait(&s->work, &s->lock, &until);
}

static void duty_free(struct duty *duty)
{
    if (duty)
        free(duty->warm);
    free(duty);
}

static struct duty *duty_new(struct server *s, int device)
{
    struct duty *duty = calloc(1, sizeof *duty);
    if (!duty)
        return NULL;
    *duty = (struct duty){.server = s, .warm = calloc(2, sizeof *duty->warm), .device = device};
    if (!duty->warm) {
        duty_free(duty);
        return NULL;
    }
    duty->warm->watcher = duty->warm + 1;
    return duty;
}

/* Workers that wait hold memory of the device, and its lock from who measures by hand. */
static void rest(struct server *s, struct warm *warm)
{
    wait_for_work(s);
    if (!warm_any(warm) || (double)(clock_now_ns() - warm->kept_ns) * 1e-9 < WARM_SECONDS)
        return;
    pthread_mutex_unlock(&s->lock);
    warm_end(warm);
    pthread_mutex_lock(&s->lock);
}

static void *serve_duty(void *context)
{
    struct duty *duty = context;
    struct server *s = duty->server;
    pthread_mutex_lock(&s->lock);
    while (!s->draining) {
        struct job *job = take(s, duty->device);
        if (!job) {
            rest(s, duty->warm);
            continue;
        }
        pthread_cond_broadcast(&s->news);
        if (job->state == JOB_COMPILING)
            compile_job(s, job);
        else
            measure_jobs(s, job, duty);
        pthread_cond_broadcast(&s->work);
    }
    s->n_finders -= duty->device >= 0;
    pthread_cond_signal(&s->found);
    pthread_mutex_unlock(&s->lock);
    warm_end(duty->warm);
    duty_free(duty);
    return NULL;
}

static int start_thread(struct server *s, void *(*work)(void *context), void *context, struct error *err)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    int failed = pthread_create(&s->threads[s->n_threads], &attributes, work, context);
    pthread_attr_destroy(&attributes);
    if (failed)
        return error_set(err, EXIT_CODE_UNAVAILABLE, "serve: no thread: %s", strerror(failed));
    s->n_threads++;
    return 0;
}

static void count_finder(struct server *s, int by)
{
    pthread_mutex_lock(&s->lock);
    s->n_finders += (size_t)by;
    pthread_cond_signal(&s->found);
    pthread_mutex_unlock(&s->lock);
}

static int start_duty(struct server *s, int device, struct error *err)
{
    struct duty *duty = duty_new(s, device);
    if (!duty)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for a thread");
    count_finder(s, device >= 0);
    int code = start_thread(s, serve_duty, duty, err);
    if (code) {
        count_finder(s, -(device >= 0));
        duty_free(duty);
    }
    return code;
}

/* One processor for each device is left to what measures on it. */
static size_t compilers_for(int devices, long processors)
{
    long most = (long)devices * SERVER_COMPILERS, left = processors - devices;
    return left < 1 ? 1 : (size_t)(left < most ? left : most);
}

int server_work_start(struct server *s, struct error *err)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    int code = start_thread(s, server_keep_found, s, err);
    if (s->options.devices->on_cuda)
        s->n_compilers = compilers_for(s->options.devices->count, cpus);
    for (size_t i = 0; i < s->n_compilers && !code; i++)
        code = start_duty(s, -1, err);
    for (int i = 0; i < s->options.devices->count && !code; i++)
        code = start_duty(s, i, err);
    return code;
}
