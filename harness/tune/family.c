/*
 * family.c - one kernel set in a search: its spaces, what is raced for a problem (table, siblings, ranker), what
 * failed, what to compile. Relies on space.c, prune.c and rank.c. Called by tune.c.
 */
#include "tune/family.h"

#include "base/grow.h"
#include "base/text.h"
#include "base/random.h"
#include "choice/cudal2/figures.h"
#include "choice/rank.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PASSES 4
#define MAX_KEYS PRUNE_MAX /* of one problem and layout */
#define TRIES_AT_RANDOM 50 /* draws for each that is wanted: most of a space does not take a given problem */
#define SPILLS "spills"
#define SERIALISED "wgmma serialised"

/* One kernel to compile. */
struct job {
    uint64_t hash; /* of layout and key: a search of hundreds of problems names tens of thousands */
    enum cudal2_layout layout;
    struct cudal2_variant variant;
};

struct compilation {
    struct family *family;
    struct job *jobs;
    size_t n, capacity;
};

/* ---- opening ---- */

static int open_spaces(struct family *f, const char *path, struct error *err)
{
    for (int layout = 0; layout < 2; layout++) {
        const struct space_conditions conditions = {f->dtype, f->accumulate, (enum cudal2_layout)layout,
                                                    &f->described.info};
        if ((f->layouts & CUDAL2_BIT(layout)) && space_open(f->set, path, &conditions, &f->spaces[layout], err))
            return err->code;
    }
    return 0;
}

int family_open(struct family *f, const char *candidate, const char *kernel_directory, bool *has_space,
                struct error *err)
{
    char path[2048];
    struct error ignored; /* the worker says why a candidate is not available */
    *has_space = !text_ends_with(candidate, ".so") &&
                 module_set_open(candidate, kernel_directory, &f->described, &f->set, &ignored) == 0;
    if (*has_space && !space_path(f->set, path, sizeof path)) {
        family_close(f);
        *has_space = false;
    }
    if (*has_space)
        f->trees = rank_trees(f->set, &f->described.info);
    int code = *has_space ? open_spaces(f, path, err) : 0;
    if (code)
        family_close(f);
    return code;
}

void family_close(struct family *f)
{
    for (int layout = 0; layout < 2; layout++)
        space_free(&f->spaces[layout]);
    trees_free(f->trees);
    module_set_close(f->set);
    f->trees = NULL;
    f->set = NULL;
}

/* ---- choosing ---- */

static bool is_there(const struct cudal2_variant *keys, size_t n, const char *key)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(keys[i].key, key) == 0)
            return true;
    return false;
}

/* A configuration of the space that the compiler's verdict has struck off. */
static bool is_rejected(const struct space *s, const char *key)
{
    struct cudal2_variant own;
    for (size_t i = 0; i < s->n_configurations; i++)
        if (s->configurations[i].rejected && space_key(s, &s->configurations[i], own.key, sizeof own.key) == 0 &&
            strcmp(own.key, key) == 0)
            return true;
    return false;
}

/* Adds what may race and is not there yet; returns how many there are then. */
static size_t add_key(const struct family *f, enum cudal2_layout layout, const char *key, struct cudal2_variant *keys,
                      size_t n)
{
    return n < f->breadth && n < MAX_KEYS && module_set_key(f->set, key, &keys[n]) &&
                   !is_rejected(&f->spaces[layout], keys[n].key) && !is_there(keys, n, keys[n].key)
               ? n + 1
               : n;
}

/* What a table has for this very problem: its winner, and a runner-up that was close. Returns how many keys there are
 * then. */
static size_t add_known(const struct family *f, const struct tuned_table *table, const struct tuned_query *query,
                        struct cudal2_variant *keys, size_t n)
{
    const struct tuned_entry *entry = table ? tuned_exact(table, query) : NULL;
    const char *known[2];
    size_t n_known = entry ? tuned_keys(table, entry, known) : 0;
    for (size_t i = 0; i < n_known; i++)
        n = add_key(f, query->layout, known[i], keys, n);
    return n;
}

/* The first `n` keys' machine code launched otherwise, which costs no compiling; in half of the places that are left at
 * most, so that the model has a say. */
static size_t add_siblings(const struct family *f, const struct tuned_query *query, struct cudal2_variant *keys,
                           size_t n)
{
    struct manifest_conditions on = manifest_conditions_on(&f->described.info, &query->problem, query->layout);
    on.alone = f->alone;
    struct cudal2_variant siblings[MODULE_MAX_SIBLINGS];
    const size_t most = n < f->breadth ? n + (f->breadth - n) / 2 : n;
    for (size_t i = 0, known = n; i < known; i++) {
        size_t n_siblings = module_set_siblings(f->set, keys[i].key, &on, siblings, MODULE_MAX_SIBLINGS);
        for (size_t s = 0; s < n_siblings && n < most; s++)
            n = add_key(f, query->layout, siblings[s].key, keys, n);
    }
    return n;
}

static size_t known_keys(const struct family *f, enum cudal2_layout layout, const struct cudal2_problem *problem,
                         struct cudal2_variant *keys)
{
    const struct tuned_query query = {.family = module_set_name(f->set), .problem = *problem, .layout = layout};
    size_t n = 0;
    for (size_t i = 0; i < FAMILY_TABLES; i++)
        n = add_known(f, f->known[i], &query, keys, n);
    return add_siblings(f, &query, keys, n);
}

static size_t own_entries(const struct family *f, enum cudal2_layout layout, const struct cudal2_problem *problem,
                          struct cudal2_variant *keys, size_t n)
{
    const struct cudal2_setup setup = {
        .problem = *problem, .layout = layout, .workspace_bytes = (size_t)f->workspace_bytes};
    struct cudal2_variant *own = calloc(MAX_KEYS, sizeof *own);
    struct contender c;
    char why[CUDAL2_WHY];
    module_set_contender(f->set, layout, &c);
    int n_own = own ? c.ops->list_variants(&c, &setup, own, f->breadth < MAX_KEYS ? f->breadth : MAX_KEYS, why) : 0;
    for (int i = 0; i < n_own && n < f->breadth; i++)
        if (!is_rejected(&f->spaces[layout], own[i].key) && !is_there(keys, n, own[i].key))
            keys[n++] = own[i];
    free(own);
    return n;
}

static struct prune_request prune_request_of(const struct family *f, enum cudal2_layout layout,
                                             const struct cudal2_problem *problem)
{
    return (struct prune_request){
        .space = &f->spaces[layout],
        .machine = figures_machine(&f->described.info),
        .conditions = {f->dtype, f->accumulate, layout, &f->described.info},
        .m = problem->m,
        .n = problem->n,
        .k = problem->k,
        .workspace_bytes = f->workspace_bytes,
        .breadth = f->breadth,
        .trees = f->trees,
        .idle = f->idle,
        .alone = f->alone && !f->idle,
    };
}

/* As rank.c's, only that what is alike stays together: there is room for more of them. */
static size_t chosen_by(const struct prune_request *request, size_t most, size_t *chosen)
{
    size_t n = prune_choose(request, chosen);
    return n < most ? n : most;
}

static size_t expected(const struct prune_request *request, size_t *chosen)
{
    const struct prune_most most = {PRUNE_MAX, request->breadth / PRUNE_WIDE_EVERY};
    return prune_together(request, chosen_by, &most, chosen);
}

/* Adds the key of a configuration; returns how many there are then. */
static size_t add_configuration(const struct family *f, enum cudal2_layout layout, size_t index,
                                struct cudal2_variant *keys, size_t n)
{
    const struct space *s = &f->spaces[layout];
    if (n == f->breadth || n == MAX_KEYS)
        return n;
    bool good = space_key(s, &s->configurations[index], keys[n].key, sizeof keys[n].key) == 0;
    return good && !is_there(keys, n, keys[n].key) ? n + 1 : n;
}

/* From the whole space, the same for a problem each time: a search that goes on draws what it drew before. */
static size_t add_random(const struct family *f, const struct prune_request *request, struct cudal2_variant *keys,
                         size_t n)
{
    const struct space *s = request->space;
    struct random random;
    uint64_t seed = random_derive((uint64_t)request->m, "explore", (uint64_t)request->n);
    random_seed(&random, random_derive(seed, "k", (uint64_t)request->k * 2 + request->conditions.layout));
    for (size_t i = 0; i < TRIES_AT_RANDOM * f->at_random && n < f->breadth && s->n_configurations > 0; i++) {
        size_t index = (size_t)random_below(&random, s->n_configurations);
        if (prune_takes(request, &s->configurations[index]))
            n = add_configuration(f, request->conditions.layout, index, keys, n);
    }
    return n;
}

static size_t choose(const struct family *f, enum cudal2_layout layout, const struct cudal2_problem *problem,
                     struct cudal2_variant *keys)
{
    const struct prune_request request = prune_request_of(f, layout, problem);
    size_t chosen[PRUNE_MAX], n_chosen = expected(&request, chosen);
    size_t n = own_entries(f, layout, problem, keys, known_keys(f, layout, problem, keys));
    size_t room = f->breadth - f->at_random; /* for those that are not drawn */
    for (size_t i = 0; i < n_chosen && n < room; i++)
        n = add_configuration(f, layout, chosen[i], keys, n);
    return f->at_random > 0 ? add_random(f, &request, keys, n) : n;
}

cJSON *family_choose(const struct family *f, enum cudal2_layout layout, const struct cudal2_problem *problem)
{
    struct cudal2_variant *keys = calloc(MAX_KEYS, sizeof *keys);
    cJSON *list = cJSON_CreateArray();
    size_t n = keys ? choose(f, layout, problem, keys) : 0;
    for (size_t i = 0; i < n; i++)
        cJSON_AddItemToArray(list, cJSON_CreateString(keys[i].key));
    free(keys);
    return list;
}

/* ---- compiling ---- */

/* "ptxas info : (C7511) Potential Performance Loss: wgmma.mma_async instructions are serialized due to ..." */
static bool is_serialised(const char *log, char code[8])
{
    const char *line = strstr(log, "wgmma.mma_async instructions are serialized");
    const char *open = line;
    while (open && open > log && *open != '(' && *open != '\n')
        open--;
    snprintf(code, 8, "%.*s", open && *open == '(' ? (int)strcspn(open + 1, ")") : 0, open ? open + 1 : "");
    return line != NULL;
}

const char *family_objection(const char *log, const char *entry, char *why)
{
    struct compile_usage usage = compile_usage_of(log, entry);
    int bytes = usage.spill_store_bytes + usage.spill_load_bytes;
    char code[8];
    if (log && is_serialised(log, code))
        snprintf(why, CUDAL2_WHY, SERIALISED " (%s)", code);
    else if (usage.stack_bytes > 0 || bytes > 0)
        snprintf(why, CUDAL2_WHY, SPILLS " %d bytes, stack of %d", bytes, usage.stack_bytes);
    else
        return NULL;
    return why;
}

/* In a child process. */
static bool compile_job(void *context, size_t at, char *why)
{
    const struct compilation *c = context;
    const struct family *f = c->family;
    const struct job *job = &c->jobs[at];
    const struct module_compile_request request = {
        .key = job->variant.key, .type = {.dtype = f->dtype, .accumulate = f->accumulate}, .layout = job->layout};
    char kernel[MANIFEST_NAME_MAX];
    struct compile_result result;
    snprintf(kernel, sizeof kernel, "%.*s", (int)strcspn(job->variant.key, ":"), job->variant.key);
    const struct manifest *m = module_set_manifest(f->set, kernel);
    bool good = m && module_set_compile(f->set, &request, &result, why) == CUDAL2_OK;
    if (good)
        good = family_objection(result.log, m->entry, why) == NULL;
    if (m)
        compile_result_free(&result);
    return good;
}

static uint64_t job_hash(enum cudal2_layout layout, const char *key)
{
    uint64_t hash = random_derive(0, "job", layout);
    return random_derive(hash, key, 0);
}

static int add_job(struct compilation *c, enum cudal2_layout layout, const char *key, struct error *err)
{
    const uint64_t hash = job_hash(layout, key);
    for (size_t i = 0; i < c->n; i++)
        if (c->jobs[i].hash == hash && c->jobs[i].layout == layout && strcmp(c->jobs[i].variant.key, key) == 0)
            return 0;
    struct job *grown = grow_for_one(c->jobs, c->n, &c->capacity, sizeof *grown);
    if (!grown)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for a list of kernels");
    c->jobs = grown;
    struct job *job = &c->jobs[c->n++];
    *job = (struct job){.hash = hash, .layout = layout};
    snprintf(job->variant.key, sizeof job->variant.key, "%s", key);
    return 0;
}

/* The keys that the problems will race and that are not in the list yet. */
static int add_wanted(struct compilation *c, const struct family_problems *problems, struct error *err)
{
    struct cudal2_variant *keys = calloc(MAX_KEYS, sizeof *keys);
    int code = keys ? 0 : error_set(err, EXIT_CODE_INTERNAL, "out of memory for a list of kernels");
    for (size_t p = 0; p < problems->n && !code; p++) {
        for (int layout = 0; layout < 2 && !code; layout++) {
            if (!(c->family->layouts & CUDAL2_BIT(layout)))
                continue;
            size_t n = choose(c->family, (enum cudal2_layout)layout, &problems->problems[p], keys);
            for (size_t i = 0; i < n && !code; i++)
                code = add_job(c, (enum cudal2_layout)layout, keys[i].key, err);
        }
    }
    free(keys);
    return code;
}

/* An own entry of the set outside the space is not struck off here; the race refuses what does not compile, and the
 * table passes over what spills. */
static void reject(struct family *f, const struct job *job)
{
    struct space *s = &f->spaces[job->layout];
    struct cudal2_variant own;
    for (size_t i = 0; i < s->n_configurations; i++)
        if (space_key(s, &s->configurations[i], own.key, sizeof own.key) == 0 && strcmp(own.key, job->variant.key) == 0)
            s->configurations[i].rejected = true;
}

static void count(struct family_compiled *out, const struct pool_verdict *v)
{
    if (v->good)
        out->compiled++;
    else if (strncmp(v->why, SPILLS, strlen(SPILLS)) == 0)
        out->spilled++;
    else if (strncmp(v->why, SERIALISED, strlen(SERIALISED)) == 0)
        out->serialised++;
    else if (out->failed++ == 0 || v->why[0])
        snprintf(out->last_failure, sizeof out->last_failure, "%s", v->why);
}

/* Jobs from `first` on. */
static int compile_some(struct compilation *c, size_t first, const struct pool_request *pool,
                        struct family_compiled *out, struct error *err)
{
    struct pool_request request = *pool;
    struct compilation part = {.family = c->family, .jobs = c->jobs + first, .n = c->n - first};
    struct pool_verdict *verdicts = calloc(part.n + 1, sizeof *verdicts);
    if (!verdicts)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for a list of kernels");
    request.n_jobs = part.n;
    request.work = compile_job;
    request.context = &part;
    int code = pool_run(&request, verdicts, err);
    for (size_t i = 0; i < part.n && !code; i++) {
        if (!verdicts[i].done)
            continue;
        count(out, &verdicts[i]);
        if (!verdicts[i].good)
            reject(c->family, &part.jobs[i]);
    }
    free(verdicts);
    return code;
}

int family_compile(struct family *f, const struct family_problems *problems, const struct pool_request *pool,
                   struct family_compiled *out, struct error *err)
{
    struct compilation c = {.family = f};
    int code = 0;
    *out = (struct family_compiled){0};
    /* What is rejected makes room for others, which must be compiled in turn. */
    for (int pass = 0; pass < MAX_PASSES && !code; pass++) {
        size_t before = c.n;
        code = add_wanted(&c, problems, err);
        if (c.n == before)
            break;
        if (!code)
            code = compile_some(&c, before, pool, out, err);
    }
    free(c.jobs);
    return code;
}
