/*
 * module_crew.c - compiles a list of keys within a patience: by several threads, of which those that are late go on
 * behind the caller's back, so that nobody waits for the slowest kernel. What such threads compile still, a later list
 * waits for instead of beginning it again. Relies on compile/. Called by measure/choose.c, which waits for the late
 * ones when a cell has chosen, and by module_set.c.
 */
#include "contender/module_set.h"

#include "base/clock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST_THREADS 64u

/* AHEAD: not begun; BEGUN: a thread compiles it. */
enum job_state { JOB_AHEAD, JOB_BEGUN, JOB_READY, JOB_MISSING };

/* Threads with one list. They read `jobs` and write `states`; the rest is the lock's. */
struct crew {
    struct crew *next; /* one that was called earlier */
    const struct module_set *set;
    struct module_identity *jobs;
    size_t n_jobs;
    atomic_size_t look, turn; /* the next job to look for in the cache; to compile */
    uint64_t until_ns;        /* from here on nothing begins to compile */
    atomic_int *states;       /* enum job_state of each job */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned working; /* threads */
    size_t looked;    /* jobs that were looked for in the cache */
    bool has_own;     /* one of the first key's layout is ready... */
    bool first_ended; /* ...and the first of them is, or never will be */
    enum cudal2_layout own;
    size_t first; /* of `own`; n_jobs where there is none */
    pthread_t threads[MOST_THREADS];
    unsigned n_threads;
};

struct compile_crews {
    struct crew *first;
};

/* ---- a thread ---- */

static bool is_kept(const struct module_set *set, const struct module_identity *job)
{
    struct expr_variable names[MANIFEST_MAX_NAMES];
    struct expr_scope scope = {names, 0};
    struct compile_define defines[MANIFEST_MAX_NAMES];
    struct error ignored;
    if (set_names_of(set, job, names, &scope.count, &ignored) != 0)
        return false;
    const struct compile_request request = set_compile_request(set, job, &scope, defines);
    return compile_is_kept(&request);
}

static bool is_made(const struct module_set *set, const struct module_identity *job)
{
    struct compile_result result = {0};
    char why[CUDAL2_WHY];
    bool made = set_compile_identity(set, job, &result, why) == CUDAL2_OK;
    compile_result_free(&result);
    return made;
}

static void leave(struct crew *c)
{
    pthread_mutex_lock(&c->lock);
    c->working--;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

static void end_job(struct crew *c, size_t i, bool good)
{
    atomic_store(&c->states[i], good ? JOB_READY : JOB_MISSING);
    pthread_mutex_lock(&c->lock);
    c->has_own = c->has_own || (good && c->jobs[i].layout == (int)c->own);
    c->first_ended = c->first_ended || i == c->first;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

/* All jobs are looked for in the cache before any is compiled: that takes no time, and nobody is called late for it. */
static void look(struct crew *c)
{
    for (size_t i; (i = atomic_fetch_add(&c->look, 1)) < c->n_jobs;) {
        if (is_kept(c->set, &c->jobs[i]))
            end_job(c, i, true);
        pthread_mutex_lock(&c->lock);
        c->looked++;
        pthread_cond_broadcast(&c->changed);
        pthread_mutex_unlock(&c->lock);
    }
    pthread_mutex_lock(&c->lock);
    while (c->looked < c->n_jobs)
        pthread_cond_wait(&c->changed, &c->lock);
    pthread_mutex_unlock(&c->lock);
}

static bool has_begun(struct crew *c, size_t i)
{
    return atomic_load(&c->states[i]) == JOB_BEGUN;
}

/* Waits for the job where an earlier crew compiles it still; whether it is there then. */
static bool is_awaited(const struct crew *c, const struct module_identity *job)
{
    for (struct crew *e = c->next; e; e = e->next)
        for (size_t i = 0; i < e->n_jobs; i++) {
            if (!has_begun(e, i) || !set_same_identity(c->set, &e->jobs[i], job))
                continue;
            pthread_mutex_lock(&e->lock);
            while (has_begun(e, i))
                pthread_cond_wait(&e->changed, &e->lock);
            pthread_mutex_unlock(&e->lock);
            return atomic_load(&e->states[i]) == JOB_READY;
        }
    return false;
}

static void do_job(struct crew *c, size_t i)
{
    const struct module_identity *job = &c->jobs[i];
    bool good = is_awaited(c, job);
    if (!good && clock_now_ns() < c->until_ns) {
        atomic_store(&c->states[i], JOB_BEGUN);
        good = is_made(c->set, job);
    }
    end_job(c, i, good || is_kept(c->set, job));
}

static void *work(void *context)
{
    struct crew *c = context;
    look(c);
    for (size_t i; (i = atomic_fetch_add(&c->turn, 1)) < c->n_jobs;)
        if (atomic_load(&c->states[i]) == JOB_AHEAD)
            do_job(c, i);
    leave(c);
    return NULL;
}

/* ---- a crew ---- */

static void crew_free(struct crew *c)
{
    for (unsigned i = 0; i < c->n_threads; i++)
        pthread_join(c->threads[i], NULL);
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
    free(c->jobs);
    free(c->states);
    free(c);
}

/* With room for n jobs; NULL: no memory. */
static struct crew *crew_new(const struct module_set *set, size_t n)
{
    pthread_condattr_t by_clock;
    struct crew *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->set = set;
    c->next = set->crews ? set->crews->first : NULL;
    c->jobs = calloc(n + 1, sizeof *c->jobs);
    c->states = calloc(n + 1, sizeof *c->states);
    pthread_mutex_init(&c->lock, NULL);
    pthread_condattr_init(&by_clock);
    pthread_condattr_setclock(&by_clock, CLOCK_MONOTONIC);
    pthread_cond_init(&c->changed, &by_clock);
    pthread_condattr_destroy(&by_clock);
    if (c->jobs && c->states)
        return c;
    crew_free(c);
    return NULL;
}

/* Which job the key is; SIZE_MAX where it cannot be done. */
static size_t take_key(struct crew *c, const struct precompile_key *key, const struct precompile_request *request)
{
    struct module_identity job;
    return set_job_of(c->set, key, request, &job) ? set_add_job(c->set, c->jobs, &c->n_jobs, &job) : SIZE_MAX;
}

/* Where no thread can be started the caller does it all. */
static void start(struct crew *c, unsigned threads)
{
    c->working = 1;
    while (c->n_threads < MOST_THREADS && c->n_threads < threads && c->n_threads < c->n_jobs) {
        pthread_mutex_lock(&c->lock);
        c->working++;
        pthread_mutex_unlock(&c->lock);
        if (pthread_create(&c->threads[c->n_threads], NULL, work, c) != 0) {
            leave(c);
            break;
        }
        c->n_threads++;
    }
    if (c->n_threads == 0)
        work(c);
    else
        leave(c);
}

static bool has_enough(const struct crew *c)
{
    return c->working == 0 || (c->looked == c->n_jobs && c->has_own && c->first_ended);
}

/* Until all is done, or from end_ns on until the cache was asked for all and the first of the caller's own is ready, or
 * where it cannot be, another one; whether all is done. */
static bool wait_for(struct crew *c, uint64_t end_ns)
{
    struct timespec end = {(time_t)(end_ns / 1000000000u), (long)(end_ns % 1000000000u)};
    pthread_mutex_lock(&c->lock);
    while (c->working > 0 && clock_now_ns() < end_ns)
        pthread_cond_timedwait(&c->changed, &c->lock, &end);
    while (!has_enough(c))
        pthread_cond_wait(&c->changed, &c->lock);
    bool done = c->working == 0;
    pthread_mutex_unlock(&c->lock);
    return done;
}

/* Those that are not done are kept where they are waited for. */
static void let_go(struct crew *c, bool done)
{
    struct compile_crews *crews = c->set->crews;
    if (done || !crews) {
        crew_free(c);
        return;
    }
    crews->first = c;
}

static uint64_t later(uint64_t now, double seconds)
{
    return now + (uint64_t)((seconds > 0 ? seconds : 0) * 1e9);
}

void module_set_compile_keys(const struct module_set *set, const struct precompile_request *request,
                             const struct module_patience *patience, bool *ready)
{
    uint64_t now = clock_now_ns();
    struct crew *c = crew_new(set, request->n_keys);
    size_t *job_of = calloc(request->n_keys + 1, sizeof *job_of);
    bool done = true;
    memset(ready, 0, request->n_keys * sizeof *ready);
    if (c && job_of) {
        c->until_ns = later(now, patience->begin);
        for (size_t i = 0; i < request->n_keys; i++)
            job_of[i] = take_key(c, &request->keys[i], request);
        c->own = request->n_keys > 0 ? request->keys[0].layout : 0;
        while (c->first < c->n_jobs && c->jobs[c->first].layout != (int)c->own)
            c->first++;
        start(c, request->threads > 0 ? request->threads : 1);
        done = wait_for(c, later(now, patience->wait));
        for (size_t i = 0; i < request->n_keys; i++)
            ready[i] = job_of[i] != SIZE_MAX && atomic_load(&c->states[job_of[i]]) == JOB_READY;
    }
    if (c)
        let_go(c, done);
    free(job_of);
}

/* ---- who is late ---- */

struct compile_crews *compile_crews_new(void)
{
    return calloc(1, sizeof(struct compile_crews));
}

static void settle(struct compile_crews *crews)
{
    while (crews && crews->first) {
        struct crew *c = crews->first;
        crews->first = c->next;
        crew_free(c);
    }
}

void compile_crews_free(struct compile_crews *crews)
{
    settle(crews);
    free(crews);
}

void module_set_settle(const struct module_set *set)
{
    settle(set->crews);
}
