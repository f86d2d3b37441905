/*
 * inspect_list.c - the variants of a set or of a manifest alone, bounded: a product of many parameters is walked with a
 * stride, so that what is taken lies spread over it. Relies on manifest.h. Called by inspect.c.
 */
#include "contender/inspect_list.h"

#include <stdlib.h>
#include <string.h>

#define LOOKS 20000u /* combinations looked at, at least */
#define LOOKS_EACH 20u
#define MOST_COMBINATIONS ((uint64_t)1 << 40)
#define NEAR 2u /* parameters that differ from the defaults, in a product that is not walked whole */
#define GOLDEN 0.6180339887498949

void inspect_list_free(struct inspect_list *list)
{
    free(list->jobs);
    free(list->whens);
    free(list->first);
    *list = (struct inspect_list){0};
}

static bool is_asked(const struct inspect_request *request, const struct module_identity *job)
{
    return (request->dtypes & CUDAL2_BIT(job->dtype)) && (request->accumulates & CUDAL2_BIT(job->accumulate)) &&
           (request->layouts & CUDAL2_BIT(job->layout));
}

static bool can_take(const struct manifest *m, const struct module_identity *job)
{
    bool narrow = job->accumulate == CUDAL2_ACC_F16 && job->dtype != CUDAL2_F16; /* there is no such product */
    return !narrow && (m->dtypes & CUDAL2_BIT(job->dtype)) && (m->accumulates & CUDAL2_BIT(job->accumulate)) &&
           (m->layouts & CUDAL2_BIT(job->layout));
}

static bool is_legal(const struct module_set *set, const struct module_identity *job, struct inspect_list *list)
{
    const struct cudal2_problem any =
        problem_any((enum cudal2_dtype)job->dtype, (enum cudal2_accumulate)job->accumulate);
    const struct manifest_conditions conditions =
        manifest_conditions_on(&set->device->info, &any, (enum cudal2_layout)job->layout);
    return manifest_check(set->kernels[job->kernel], &conditions, job->values, list->none) == CUDAL2_OK;
}

static void add(const struct module_set *set, const struct module_identity *job, const struct expr *when,
                struct inspect_list *list)
{
    list->legal++;
    if (list->n == list->capacity)
        return;
    list->jobs[list->n] = *job;
    list->whens[list->n] = when;
    size_t first = 0;
    while (!set_same_identity(set, &list->jobs[first], job))
        first++;
    list->first[list->n++] = first;
}

/* The values in each type and layout of the kernel. */
static void add_forms(const struct module_set *set, const struct inspect_request *request, struct module_identity *job,
                      const struct expr *when, struct inspect_list *list)
{
    for (job->dtype = 0; job->dtype <= CUDAL2_F32; job->dtype++)
        for (job->accumulate = 0; job->accumulate < 2; job->accumulate++)
            for (job->layout = 0; job->layout < 2; job->layout++)
                if (is_asked(request, job) && can_take(set->kernels[job->kernel], job) && is_legal(set, job, list))
                    add(set, job, when, list);
}

/* ---- the product of a manifest's parameters ---- */

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b > 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* A stride that meets every number below `total` once, and far apart. */
static uint64_t stride_of(uint64_t total)
{
    uint64_t stride = (uint64_t)(GOLDEN * (double)total);
    if (stride == 0)
        stride = 1;
    while (common_divisor(stride, total) != 1)
        stride++;
    return stride;
}

/* How many combinations there are of the first parameters; those behind keep their defaults where that is too many. */
static uint64_t count_combinations(const struct manifest *m, size_t *n_parameters)
{
    uint64_t total = 1;
    size_t i = 0;
    for (; i < m->n_parameters && total <= MOST_COMBINATIONS; i++)
        total *= m->parameters[i].n_values;
    *n_parameters = i;
    return total;
}

static void values_at(const struct manifest *m, size_t n_parameters, uint64_t index, int64_t *values)
{
    manifest_defaults(m, values);
    for (size_t i = 0; i < n_parameters; i++) {
        values[i] = m->parameters[i].values[index % m->parameters[i].n_values];
        index /= m->parameters[i].n_values;
    }
}

static size_t count_differences(const struct manifest *m, const int64_t *values, const int64_t *defaults)
{
    size_t n = 0;
    for (size_t i = 0; i < m->n_parameters; i++)
        n += values[i] != defaults[i];
    return n;
}

/* What is being walked. */
struct walk {
    const struct module_set *set;
    const struct inspect_request *request;
    struct inspect_list *list;
    int64_t defaults[MANIFEST_MAX_PARAMETERS];
};

/* The values of parameter `at` and of those behind it, `depth` of them at most changed. In a product too large to be
 * walked whole, these are the combinations that are most often legal. */
static void list_near(const struct walk *w, struct module_identity *job, size_t at, unsigned depth)
{
    const struct manifest *m = w->set->kernels[0];
    for (size_t p = at; p < m->n_parameters; p++) {
        for (size_t v = 0; v < m->parameters[p].n_values; v++) {
            job->values[p] = m->parameters[p].values[v];
            if (job->values[p] == w->defaults[p])
                continue;
            if (depth == 1)
                add_forms(w->set, w->request, job, NULL, w->list);
            else
                list_near(w, job, p + 1, depth - 1);
        }
        job->values[p] = w->defaults[p];
    }
}

static void list_product(const struct module_set *set, const struct inspect_request *request, struct inspect_list *list)
{
    const struct manifest *m = set->kernels[0];
    struct walk w = {.set = set, .request = request, .list = list};
    struct module_identity job = {.kernel = 0};
    size_t n_parameters;
    const uint64_t total = count_combinations(m, &n_parameters), stride = stride_of(total);
    const uint64_t wanted = (uint64_t)request->most * LOOKS_EACH, looks = wanted > LOOKS ? wanted : LOOKS;
    list->all_seen = total <= looks && n_parameters == m->n_parameters;
    const unsigned near = list->all_seen ? 0 : NEAR;
    manifest_defaults(m, w.defaults);
    memcpy(job.values, w.defaults, sizeof job.values);
    add_forms(set, request, &job, NULL, list);
    for (unsigned depth = 1; depth <= near; depth++)
        list_near(&w, &job, 0, depth);
    for (uint64_t i = 0, index = 0; i < total && i < looks; i++, index = (index + stride) % total) {
        values_at(m, n_parameters, index, job.values);
        if (count_differences(m, job.values, w.defaults) > near)
            add_forms(set, request, &job, NULL, list);
    }
}

static void list_entries(const struct module_set *set, const struct inspect_request *request, struct inspect_list *list)
{
    for (size_t i = 0; i < set->n_entries; i++) {
        struct module_identity job = {.kernel = set->entries[i].kernel};
        memcpy(job.values, set->entries[i].values, sizeof job.values);
        add_forms(set, request, &job, set->entries[i].when, list);
    }
    list->all_seen = true;
}

int inspect_list_make(const struct module_set *set, const struct inspect_request *request, struct inspect_list *out,
                      struct error *err)
{
    *out = (struct inspect_list){.capacity = request->most};
    out->jobs = calloc(request->most + 1, sizeof *out->jobs);
    out->whens = calloc(request->most + 1, sizeof *out->whens);
    out->first = calloc(request->most + 1, sizeof *out->first);
    if (!out->jobs || !out->whens || !out->first)
        return error_set(err, EXIT_CODE_INTERNAL, "no memory for a list of %zu variants", request->most);
    if (set->single)
        list_product(set, request, out);
    else
        list_entries(set, request, out);
    return 0;
}
