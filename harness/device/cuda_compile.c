/*
 * cuda_compile.c - the harness's own kernels compiled into the cache on disk by several threads, where the first cell
 * would have them compiled one after the other. Relies on compile.h. Called by worker/precompile.c before a worker is
 * ready, by cli/cmd_compile.c and, for the list alone, by worker/behind.c.
 */
#include "device/cuda_device.h"
#include "compile/compile.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define MOST_THREADS 16u

/* What cells ask for (cuda_kernels.c). `typed`: for the run's dtype; `laid`: for each layout; `wide`: in fp64 too;
 * `opening`: opening a device has it compiled, or a chain. */
static const struct {
    const char *file;
    bool typed, laid, wide, opening;
} sources[] = {{"fill", true, false, false, false},    {"flush", false, false, false, false},
               {"reference", true, true, true, false}, {"compare", true, false, true, false},
               {"counts", true, true, false, false},   {"probe", true, false, false, false},
               {"blocker", false, false, false, true}, {"null", false, false, false, true},
               {"plain", true, false, false, true},    {"product", true, false, false, false}};
#define N_SOURCES (sizeof sources / sizeof sources[0])
#define N_FORMS 4u /* by layout and width */

struct compiling {
    const struct cuda_own *own;
    atomic_size_t next;
};

static bool is_wanted(const struct cuda_own *own, size_t source, unsigned form)
{
    bool tn = form % 2, wide = form / 2;
    return (!tn || sources[source].laid) && (!wide || sources[source].wide) && (own->all || !sources[source].opening);
}

static void tell(const struct cuda_own *own, const char *name, const struct compile_result *result, const char *why)
{
    if (own->watch && own->watch->told)
        own->watch->told(own->watch->context, name, result, why);
}

/* What cuda_kernels.c asks the compiler for. */
struct question {
    char path[4096 + 64];
    struct compile_define defines[3];
    struct compile_request request; /* points into the rest */
};

static void ask(const struct cuda_own *own, size_t source, unsigned form, struct question *q)
{
    const struct compile_define defines[] = {
        {"DTYPE", sources[source].typed ? (int64_t)own->dtype : 0}, {"LAYOUT_TN", form % 2}, {"WIDE", form / 2}};
    snprintf(q->path, sizeof q->path, "%s/harness/%s.cu", own->kernel_directory, sources[source].file);
    memcpy(q->defines, defines, sizeof defines);
    q->request = (struct compile_request){q->path, own->kernel_directory, own->cc, q->defines, 3};
}

/* A kernel that does not compile says so where it is used. */
static void compile_one(const struct cuda_own *own, size_t source, unsigned form)
{
    char name[64];
    struct question q;
    struct compile_result result;
    struct error err;
    ask(own, source, form, &q);
    snprintf(name, sizeof name, "harness/%s", sources[source].file);
    int code = compile_cubin(&q.request, &result, &err);
    tell(own, name, &result, code ? err.text : NULL);
    compile_result_free(&result);
}

static void *work(void *context)
{
    struct compiling *c = context;
    for (size_t i; (i = atomic_fetch_add(&c->next, 1)) < N_SOURCES * N_FORMS;)
        if (is_wanted(c->own, i / N_FORMS, (unsigned)(i % N_FORMS)))
            compile_one(c->own, i / N_FORMS, (unsigned)(i % N_FORMS));
    return NULL;
}

static void count(const struct cuda_own *own)
{
    size_t n = 0;
    for (size_t i = 0; i < N_SOURCES * N_FORMS; i++)
        n += is_wanted(own, i / N_FORMS, (unsigned)(i % N_FORMS));
    if (own->watch && own->watch->counted)
        own->watch->counted(own->watch->context, n);
}

void cuda_compile_own(const struct cuda_own *own)
{
    struct compiling c = {.own = own};
    pthread_t started[MOST_THREADS];
    unsigned n = 0;
    count(own);
    while (n < MOST_THREADS && n + 1 < own->threads && pthread_create(&started[n], NULL, work, &c) == 0)
        n++;
    work(&c);
    for (unsigned i = 0; i < n; i++)
        pthread_join(started[i], NULL);
}

static struct cuda_own own_of(const struct cuda_device *c, enum cudal2_dtype dtype)
{
    return (struct cuda_own){.kernel_directory = c->kernel_directory, .cc = c->base.info.cc, .dtype = dtype};
}

void cuda_compile_of(struct device *d, enum cudal2_dtype dtype, unsigned threads)
{
    const struct cuda_device *c = cuda_of(d);
    if (!c)
        return;
    struct cuda_own own = own_of(c, dtype);
    own.threads = threads;
    cuda_compile_own(&own);
}

void cuda_compile_list(struct device *d, enum cudal2_dtype dtype, const struct compile_sink *sink)
{
    const struct cuda_device *c = cuda_of(d);
    const struct cuda_own own = c ? own_of(c, dtype) : (struct cuda_own){0};
    struct question q;
    for (size_t i = 0; c && i < N_SOURCES * N_FORMS; i++) {
        if (!is_wanted(&own, i / N_FORMS, (unsigned)(i % N_FORMS)))
            continue;
        ask(&own, i / N_FORMS, (unsigned)(i % N_FORMS), &q);
        sink->add(sink->context, &q.request);
    }
}
