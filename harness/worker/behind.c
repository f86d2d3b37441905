/*
 * behind.c - which runs compile beside their cells, on which processors, in what order, and what a cell waits for.
 * Relies on lanes.c and precompile_list.c. Called by worker.c.
 */
#include "worker/behind.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sysfs.h"
#include "compile/nvrtc.h"
#include "device/cuda.h"
#include "worker/caches.h"
#include "worker/confine.h"

#define NICE 10
#define KEPT_FREE 2        /* processors, of whole cores: the worker's thread, and the driver's */
#define WAIT_SECONDS 300.0 /* then the cell compiles by itself */

/* ---- which runs ---- */

/* On every mode's cells the GPU's own time must be what decides. */
static bool is_timed_by_device(const struct config *config)
{
    bool all = true;
    for (int mode = 0; mode < MODE_COUNT; mode++)
        if (config->modes & CUDAL2_BIT(mode))
            all = all && mode != MODE_CHAIN &&
                  timing_is_segment(timing_choose(config->headline, timing_bits(CUDAL2_ON_CUDA), (enum mode)mode));
    return all;
}

bool behind_may(const struct config *config, const char *device, const char *plugin_directory)
{
    return strncmp(device, "cuda", 4) == 0 && config->protocol == PROTOCOL_ADAPTIVE && !config->verify_only &&
           is_timed_by_device(config) && !caches_strangers(config, plugin_directory);
}

/* ---- processors ---- */

unsigned behind_cores(const char *root, const cpu_set_t *usable, cpu_set_t *lanes)
{
    int kept = 0;
    *lanes = *usable;
    for (unsigned first = 0; first < CPU_SETSIZE && kept < KEPT_FREE; first++) {
        if (!CPU_ISSET(first, lanes))
            continue;
        int core = sysfs_core(root, first);
        for (unsigned cpu = first; cpu < CPU_SETSIZE; cpu++)
            if (CPU_ISSET(cpu, lanes) && sysfs_core(root, cpu) == core) {
                CPU_CLR(cpu, lanes);
                kept++;
            }
    }
    unsigned left = (unsigned)CPU_COUNT(lanes);
    return left < BEHIND_LEAST_LANES ? 0 : left;
}

/* ---- lanes ---- */

/* A compiler reads strangers' sources. NVRTC is loaded while the worker opens its device. */
static void begin(void *nothing)
{
    struct confinement c;
    struct error ignored;
    int version[2];
    (void)nothing;
    if (confine_parse(getenv(CONFINE_VARIABLE), &c, &ignored) == 0)
        confine_process(&c);
    (void)nvrtc_version(&version[0], &version[1], &ignored);
}

static bool compile(void *nothing, const struct compile_request *request)
{
    struct compile_result result;
    struct error ignored;
    (void)nothing;
    bool good = compile_cubin(request, &result, &ignored) == 0;
    compile_result_free(&result);
    return good;
}

void behind_compiler(struct lanes_request *out)
{
    out->nice = NICE;
    out->job_seconds = LANES_JOB_SECONDS;
    out->begin = begin;
    out->compile = compile;
}

struct lanes *behind_open(const struct config *config, const char *device, const char *plugin_directory)
{
    cpu_set_t usable, cores;
    struct lanes_request request = {.cores = &cores};
    behind_compiler(&request);
    if (!behind_may(config, device, plugin_directory) || sched_getaffinity(0, sizeof usable, &usable) != 0)
        return NULL;
    request.count = behind_cores("/sys", &usable, &cores);
    return request.count > 0 ? lanes_open(&request) : NULL;
}

/* ---- the list ---- */

static void add(void *context, const struct compile_request *request)
{
    (void)lanes_add(context, request);
}

/* Places in the config that it does not have are passed over. */
static void take_order(struct behind *b, const struct start_request *start)
{
    size_t n = 0, most = (size_t)cJSON_GetArraySize(start->order);
    size_t *given = calloc(most + 1, sizeof *given);
    const cJSON *place;
    free(b->order);
    b->order = start->order && given ? calloc(most + 1, sizeof *b->order) : NULL;
    cJSON_ArrayForEach(place, start->order) if (b->order && place->valueint >= 0 &&
                                                (size_t)place->valueint < b->what.config->n_shapes) given[n++] =
        (size_t)place->valueint;
    if (b->order)
        behind_share(given, n, start->worker, start->workers, b->order);
    b->what.order = b->order;
    b->what.n_order = n;
    free(given);
}

void behind_list(struct behind *b, const struct start_request *start)
{
    const struct precompiling *p = &b->what;
    const struct compile_sink sink = {b->lanes, add};
    struct precompile_question question;
    struct precompile_list list;
    take_order(b, start);
    cuda_compile_list(p->device, config_dtype(p->config, true), &sink);
    b->n_own = lanes_count(b->lanes);
    precompile_ask(p, &question);
    precompile_list_collect(&question.list, &list);
    const struct precompile_request request = precompile_request_for(p, &list);
    registry_list_kernels(p->registry, &request, &sink);
    precompile_list_free(&list);
    lanes_seal(b->lanes);
}

struct found {
    struct lanes *lanes;
    size_t *list;
    size_t n, capacity;
    bool open; /* one is not in the list */
};

static void find(void *context, const struct compile_request *request)
{
    struct found *found = context;
    size_t at = lanes_find(found->lanes, request);
    if (at != LANES_NONE && found->n < found->capacity)
        found->list[found->n++] = at;
    else
        found->open = true;
}

static void find_all(const struct behind *b, const struct precompile_list *list, struct found *out)
{
    const struct compile_sink sink = {out, find};
    struct precompile_request request = precompile_request_for(&b->what, list);
    request.keys_only = true;
    for (size_t i = 0; i < b->n_own; i++)
        out->list[out->n++] = i;
    registry_list_kernels(b->what.registry, &request, &sink);
}

static void wait_for(const struct behind *b, const struct precompile_list *list)
{
    struct found found = {.lanes = b->lanes, .capacity = b->n_own + list->n, .open = list->open};
    found.list = calloc(found.capacity + 1, sizeof *found.list);
    if (found.list && !found.open)
        find_all(b, list, &found);
    if (found.list)
        (void)lanes_wait(b->lanes, found.list, found.n, WAIT_SECONDS);
    if (!found.list || found.open)
        (void)lanes_wait_all(b->lanes, WAIT_SECONDS);
    free(found.list);
}

void behind_wait(struct behind *b, const struct cudal2_problem *problem, enum mode mode)
{
    struct precompile_question question;
    struct precompile_list list;
    if (!b->lanes)
        return;
    precompile_ask(&b->what, &question);
    precompile_list_cell(&question.list, problem, mode, &list);
    wait_for(b, &list);
    precompile_list_free(&list);
    if (lanes_are_done(b->lanes)) {
        lanes_close(b->lanes);
        b->lanes = NULL;
    }
}

void behind_close(struct behind *b)
{
    lanes_close(b->lanes);
    free(b->order);
    *b = (struct behind){0};
}

void behind_share(const size_t *order, size_t n, int worker, int workers, size_t *out)
{
    size_t every = workers > 1 ? (size_t)workers : 1, k = 0;
    size_t own = (size_t)(worker < 0 ? 0 : worker) % every;
    for (size_t i = own; i < n; i += every)
        out[k++] = order[i];
    for (size_t i = 0; i < n; i++)
        if (i % every != own)
            out[k++] = order[i];
}
