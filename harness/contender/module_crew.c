/*
 * module_crew.c - compiles a list of keys within a patience: by several threads, of which those that are late go on
 * behind the caller's back, so that nobody waits for the slowest kernel. Relies on compile/. Called by
 * measure/choose.c, which waits for the late ones when a cell has chosen, and by module_set.c.
 */
#include "contender/module_set.h"

#include "base/clock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST_THREADS 64u

/* Threads with one list. They read `jobs` and write `good`; the rest is the lock's. */
struct crew {
    struct crew *next;
    const struct module_set *set;
    struct module_identity *jobs;
    size_t n_jobs;
    atomic_size_t turn;
    uint64_t until_ns; /* from here on nothing begins to compile */
    atomic_bool *good; /* of each job */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned working; /* threads */
    bool has_own;     /* one of the first key's layout is ready */
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

static void tell(struct crew *c, bool own, unsigned left)
{
    pthread_mutex_lock(&c->lock);
    c->has_own = c->has_own || own;
    c->working -= left;
    pthread_cond_signal(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

static void *work(void *context)
{
    struct crew *c = context;
    for (size_t i; (i = atomic_fetch_add(&c->turn, 1)) < c->n_jobs;) {
        const struct module_identity *job = &c->jobs[i];
        bool late = clock_now_ns() >= c->until_ns, good = late ? is_kept(c->set, job) : is_made(c->set, job);
        atomic_store(&c->good[i], good);
        if (good && job->layout == c->jobs[0].layout)
            tell(c, true, 0);
    }
    tell(c, false, 1);
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
    free(c->good);
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
    c->jobs = calloc(n + 1, sizeof *c->jobs);
    c->good = calloc(n + 1, sizeof *c->good);
    pthread_mutex_init(&c->lock, NULL);
    pthread_condattr_init(&by_clock);
    pthread_condattr_setclock(&by_clock, CLOCK_MONOTONIC);
    pthread_cond_init(&c->changed, &by_clock);
    pthread_condattr_destroy(&by_clock);
    if (c->jobs && c->good)
        return c;
    crew_free(c);
    return NULL;
}

/* Which job the key is; SIZE_MAX where it cannot be done. */
static size_t take_key(struct crew *c, const struct precompile_key *key, const struct precompile_request *request)
{
    struct module_identity job;
    if (!set_job_of(c->set, key, request, &job))
        return SIZE_MAX;
    for (size_t i = 0; i < c->n_jobs; i++)
        if (set_same_identity(c->set, &c->jobs[i], &job))
            return i;
    c->jobs[c->n_jobs] = job;
    return c->n_jobs++;
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
            tell(c, false, 1);
            break;
        }
        c->n_threads++;
    }
    if (c->n_threads == 0)
        work(c);
    else
        tell(c, false, 1);
}

/* Until all is done, or from end_ns on until something of the caller's own is ready; whether all is done. */
static bool wait_for(struct crew *c, uint64_t end_ns)
{
    struct timespec end = {(time_t)(end_ns / 1000000000u), (long)(end_ns % 1000000000u)};
    pthread_mutex_lock(&c->lock);
    while (c->working > 0 && (!c->has_own || clock_now_ns() < end_ns)) {
        if (clock_now_ns() < end_ns)
            pthread_cond_timedwait(&c->changed, &c->lock, &end);
        else
            pthread_cond_wait(&c->changed, &c->lock);
    }
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
    c->next = crews->first;
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
        start(c, request->threads > 0 ? request->threads : 1);
        done = wait_for(c, later(now, patience->wait));
        for (size_t i = 0; i < request->n_keys; i++)
            ready[i] = job_of[i] != SIZE_MAX && atomic_load(&c->good[job_of[i]]);
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
