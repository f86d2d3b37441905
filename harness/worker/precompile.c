/*
 * precompile.c - has the kernels of a run's cells compiled at once. Relies on precompile_list.c for which they are and
 * on the registry. Called by worker.c before a worker is ready.
 */
#include "worker/precompile.h"

#include <sched.h>

#include "contender/module.h"
#include "device/cuda.h"

#define COMPILE_THREADS 32 /* 150 MB each */

unsigned precompile_threads(void)
{
    cpu_set_t usable;
    int cpus = sched_getaffinity(0, sizeof usable, &usable) == 0 ? CPU_COUNT(&usable) : 1;
    return cpus < 1 ? 1 : cpus > COMPILE_THREADS ? COMPILE_THREADS : (unsigned)cpus;
}

void precompile_ask(const struct precompiling *p, struct precompile_question *out)
{
    enum cudal2_dtype dtype = config_dtype(p->config, true);
    out->list =
        (struct precompile_list_request){.config = p->config,
                                         .families = out->families,
                                         .n_families = registry_sets(p->registry, out->families, PRECOMPILE_SETS_MOST),
                                         .dtype = dtype,
                                         .accumulates = config_accumulates(p->config, dtype),
                                         .tuned = p->tuned,
                                         .chooses = p->ranked && choice_races(p->config->choice),
                                         .order = p->order,
                                         .n_order = p->n_order};
}

struct precompile_request precompile_request_for(const struct precompiling *p, const struct precompile_list *list)
{
    enum cudal2_dtype dtype = config_dtype(p->config, true);
    return (struct precompile_request){
        .dtype = dtype,
        .accumulates = config_accumulates(p->config, dtype),
        .layouts = p->config->layouts,
        .threads = p->threads,
        .turn = p->turn,
        .keys_only = !list->own && !p->config->verify_only, /* which verifies all that a set lists */
        .keys = list->keys,
        .n_keys = list->n,
    };
}

void precompile(const struct precompiling *p)
{
    struct precompile_question question;
    struct precompile_list wanted;
    precompile_ask(p, &question);
    precompile_list_collect(&question.list, &wanted);
    const struct precompile_request request = precompile_request_for(p, &wanted);
    if (p->own)
        cuda_compile_of(p->device, request.dtype, p->threads);
    registry_precompile(p->registry, &request);
    precompile_list_free(&wanted);
}
