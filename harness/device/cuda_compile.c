/*
 * cuda_compile.c - the harness's own kernels compiled into the cache on disk by several threads, where the first cell
 * would have them compiled one after the other. Relies on compile.h. Called by worker.c before a worker is ready.
 */
#include "device/cuda_device.h"
#include "compile/compile.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define MOST_THREADS 16u

/* What cells ask for (cuda_kernels.c), but for what opening a device has compiled. `typed`: for the run's dtype;
 * `laid`: for each layout; `wide`: in fp64 too. */
static const struct {
    const char *file;
    bool typed, laid, wide;
} sources[] = {{"fill", true, false, false},   {"flush", false, false, false}, {"reference", true, true, true},
               {"compare", true, false, true}, {"counts", true, true, false},  {"probe", true, false, false}};
#define N_SOURCES (sizeof sources / sizeof sources[0])
#define N_FORMS 4u /* by layout and width */

struct compiling {
    const struct cuda_device *device;
    enum cudal2_dtype dtype;
    atomic_size_t next;
};

static bool is_wanted(size_t source, unsigned form)
{
    bool tn = form % 2, wide = form / 2;
    return (!tn || sources[source].laid) && (!wide || sources[source].wide);
}

/* A kernel that does not compile says so where it is used. */
static void compile_one(const struct compiling *c, size_t source, unsigned form)
{
    char path[sizeof c->device->kernel_directory + 64];
    const struct compile_define defines[] = {
        {"DTYPE", sources[source].typed ? (int64_t)c->dtype : 0}, {"LAYOUT_TN", form % 2}, {"WIDE", form / 2}};
    const struct compile_request request = {path, c->device->kernel_directory, c->device->base.info.cc, defines, 3};
    struct compile_result result;
    struct error ignored;
    snprintf(path, sizeof path, "%s/harness/%s.cu", c->device->kernel_directory, sources[source].file);
    (void)compile_cubin(&request, &result, &ignored);
    compile_result_free(&result);
}

static void *work(void *context)
{
    struct compiling *c = context;
    for (size_t i; (i = atomic_fetch_add(&c->next, 1)) < N_SOURCES * N_FORMS;)
        if (is_wanted(i / N_FORMS, (unsigned)(i % N_FORMS)))
            compile_one(c, i / N_FORMS, (unsigned)(i % N_FORMS));
    return NULL;
}

void cuda_compile_own(struct device *d, enum cudal2_dtype dtype, unsigned threads)
{
    struct compiling c = {.device = cuda_of(d), .dtype = dtype};
    pthread_t started[MOST_THREADS];
    unsigned n = 0;
    if (!c.device)
        return;
    while (n < MOST_THREADS && n + 1 < threads && pthread_create(&started[n], NULL, work, &c) == 0)
        n++;
    work(&c);
    for (unsigned i = 0; i < n; i++)
        pthread_join(started[i], NULL);
}
