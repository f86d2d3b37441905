/*
 * module_precompile.c - fills the cubin cache for a list of kernels, by several threads, before the first race. Relies
 * on compile/. Called by registry.c, tune/family.c and the command `compile`; the list alone goes to
 * worker/behind.c, through registry.c.
 */
#include "contender/module_set.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_THREADS 64u
#define GOLDEN 0.6180339887498949 /* its multiples lie spread over the circle, however many there are */

struct precompilation {
    const struct module_set *set;
    struct module_identity *jobs;
    size_t n_jobs, first;
    atomic_size_t next, done;
    const struct compile_watch *watch;
};

/* ---- what there is to compile ---- */

static bool can_do(const struct module_set *set, const struct module_identity *job)
{
    const struct manifest *m = set->kernels[job->kernel];
    int cc = set->device->info.cc;
    return (m->dtypes & CUDAL2_BIT(job->dtype)) && (m->accumulates & CUDAL2_BIT(job->accumulate)) &&
           (m->layouts & CUDAL2_BIT(job->layout)) && cc >= m->arch_min && (m->arch_max == 0 || cc <= m->arch_max);
}

size_t set_add_job(const struct module_set *set, struct module_identity *jobs, size_t *n,
                   const struct module_identity *job)
{
    for (size_t i = 0; i < *n; i++)
        if (set_same_identity(set, &jobs[i], job))
            return i;
    jobs[*n] = *job;
    return (*n)++;
}

static void add_entry(struct precompilation *p, const struct set_entry *entry, const struct precompile_request *request)
{
    struct module_identity job = {.kernel = entry->kernel, .dtype = (int)request->dtype};
    memcpy(job.values, entry->values, sizeof job.values);
    for (job.layout = 0; job.layout < 2; job.layout++)
        for (job.accumulate = 0; job.accumulate < 2; job.accumulate++)
            if ((request->layouts & CUDAL2_BIT(job.layout)) && (request->accumulates & CUDAL2_BIT(job.accumulate)) &&
                can_do(p->set, &job))
                set_add_job(p->set, p->jobs, &p->n_jobs, &job);
}

bool set_job_of(const struct module_set *set, const struct precompile_key *key,
                const struct precompile_request *request, struct module_identity *out)
{
    char why[CUDAL2_WHY];
    *out = (struct module_identity){
        .dtype = (int)request->dtype, .accumulate = (int)key->accumulate, .layout = (int)key->layout};
    return strcmp(key->family, set->name) == 0 && set_find_key(set, key->key, out, why) == CUDAL2_OK &&
           can_do(set, out);
}

/* ---- compiling ---- */

int set_names_of(const struct module_set *set, const struct module_identity *job, struct expr_variable *names,
                 size_t *n, struct error *err)
{
    const struct cudal2_problem any =
        problem_any((enum cudal2_dtype)job->dtype, (enum cudal2_accumulate)job->accumulate);
    const struct manifest_conditions conditions =
        manifest_conditions_on(&set->device->info, &any, (enum cudal2_layout)job->layout);
    return manifest_names(set->kernels[job->kernel], &conditions, job->values, names, n, err);
}

int set_compile_identity(const struct module_set *set, const struct module_identity *job, struct compile_result *out,
                         char *why)
{
    struct expr_variable names[MANIFEST_MAX_NAMES];
    struct expr_scope scope = {names, 0};
    struct error err;
    if (set_names_of(set, job, names, &scope.count, &err) == 0)
        return set_compile(set, job, &scope, out, why);
    snprintf(why, CUDAL2_WHY, "compile_error: %.220s", err.text);
    return CUDAL2_LIBRARY_ERROR;
}

int module_set_compile(const struct module_set *set, const struct module_compile_request *request,
                       struct compile_result *out, char *why)
{
    struct module_identity job = {
        .dtype = (int)request->type.dtype, .accumulate = (int)request->type.accumulate, .layout = (int)request->layout};
    *out = (struct compile_result){0};
    int status = set_find_key(set, request->key, &job, why);
    return status == CUDAL2_OK ? set_compile_identity(set, &job, out, why) : status;
}

/* By the kernel's name and the parameters that are compiled in. */
static void tell(const struct precompilation *p, const struct module_identity *job, const struct compile_result *result,
                 const char *why)
{
    struct cudal2_variant variant = {.key = ""};
    char name[sizeof variant.key + 32];
    if (!p->watch || !p->watch->told)
        return;
    (void)manifest_key(p->set->kernels[job->kernel], job->values, variant.key, sizeof variant.key);
    snprintf(name, sizeof name, "%s (%s, %s)", variant.key, layout_names[job->layout],
             accumulate_names[job->accumulate]);
    p->watch->told(p->watch->context, name, result, why);
}

static void compile_job(struct precompilation *p, const struct module_identity *job)
{
    struct compile_result result = {0};
    char why[CUDAL2_WHY];
    bool good = set_compile_identity(p->set, job, &result, why) == CUDAL2_OK;
    if (good)
        atomic_fetch_add(&p->done, 1);
    tell(p, job, &result, good ? NULL : why);
    compile_result_free(&result);
}

static void *work(void *context)
{
    struct precompilation *p = context;
    for (size_t i; (i = atomic_fetch_add(&p->next, 1)) < p->n_jobs;)
        compile_job(p, &p->jobs[(p->first + i) % p->n_jobs]);
    return NULL;
}

/* The caller is one of the threads, so that there is one where none can be started. */
static void run_threads(struct precompilation *p, unsigned threads)
{
    pthread_t started[MAX_THREADS];
    unsigned n = 0;
    while (n < MAX_THREADS && n + 1 < threads && n + 1 < p->n_jobs && pthread_create(&started[n], NULL, work, p) == 0)
        n++;
    work(p);
    for (unsigned i = 0; i < n; i++)
        pthread_join(started[i], NULL);
}

/* The keys first: they are in the order in which they are wanted. False: out of memory. */
static bool list_jobs(struct precompilation *p, const struct precompile_request *request)
{
    const struct module_set *set = p->set;
    p->jobs = malloc((4 * set->n_entries + request->n_keys + 1) * sizeof *p->jobs);
    struct module_identity job;
    for (size_t i = 0; p->jobs && i < request->n_keys; i++)
        if (set_job_of(set, &request->keys[i], request, &job))
            set_add_job(set, p->jobs, &p->n_jobs, &job);
    for (size_t i = 0; p->jobs && i < set->n_entries && !request->keys_only; i++)
        add_entry(p, &set->entries[i], request);
    return p->jobs != NULL;
}

void module_set_list(const struct module_set *set, const struct precompile_request *request,
                     const struct compile_sink *sink)
{
    struct precompilation p = {.set = set};
    struct expr_variable names[MANIFEST_MAX_NAMES];
    struct compile_define defines[MANIFEST_MAX_NAMES];
    struct error ignored; /* whoever sets it up is told */
    bool listed = list_jobs(&p, request);
    for (size_t i = 0; listed && i < p.n_jobs; i++) {
        struct expr_scope scope = {names, 0};
        if (set_names_of(set, &p.jobs[i], names, &scope.count, &ignored))
            continue;
        const struct compile_request one = set_compile_request(set, &p.jobs[i], &scope, defines);
        sink->add(sink->context, &one);
    }
    free(p.jobs);
}

size_t module_set_precompile(const struct module_set *set, const struct precompile_request *request)
{
    struct precompilation p = {.set = set, .watch = request->watch};
    if (!list_jobs(&p, request))
        return 0;
    p.first = (size_t)(fmod(GOLDEN * request->turn, 1.0) * (double)p.n_jobs);
    if (p.watch && p.watch->counted)
        p.watch->counted(p.watch->context, p.n_jobs);
    run_threads(&p, request->threads);
    free(p.jobs);
    return p.done;
}
