/*
 * precompile.c - has the kernels of a run's cells compiled at once. Relies on precompile_list.c for which they are and
 * on the registry. Called by worker.c before a worker is ready.
 */
#include "worker/precompile.h"

#include <sched.h>

#include "contender/module.h"
#include "device/cuda.h"
#include "worker/precompile_list.h"

#define MAX_SETS 64u
#define COMPILE_THREADS 32 /* 150 MB each */

unsigned precompile_threads(void)
{
    cpu_set_t usable;
    int cpus = sched_getaffinity(0, sizeof usable, &usable) == 0 ? CPU_COUNT(&usable) : 1;
    return cpus < 1 ? 1 : cpus > COMPILE_THREADS ? COMPILE_THREADS : (unsigned)cpus;
}

void precompile(const struct precompiling *p)
{
    const char *families[MAX_SETS];
    size_t n_families = registry_sets(p->registry, families, MAX_SETS);
    enum cudal2_dtype dtype = config_dtype(p->config, true);
    const struct precompile_list_request question = {p->config,
                                                     families,
                                                     n_families,
                                                     dtype,
                                                     config_accumulates(p->config, dtype),
                                                     p->tuned,
                                                     p->ranked && p->config->choice == CHOICE_RACE};
    struct precompile_list wanted;
    precompile_list_collect(&question, &wanted);
    const struct precompile_request request = {
        .dtype = question.dtype,
        .accumulates = question.accumulates,
        .layouts = p->config->layouts,
        .threads = p->threads,
        .turn = p->turn,
        .keys_only = !wanted.own && !p->config->verify_only, /* which verifies all that a set lists */
        .keys = wanted.keys,
        .n_keys = wanted.n,
    };
    if (p->own)
        cuda_compile_of(p->device, dtype, p->threads);
    registry_precompile(p->registry, &request);
    precompile_list_free(&wanted);
}
