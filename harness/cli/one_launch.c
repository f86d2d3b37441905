/*
 * one_launch.c - launches contenders once each in this process, between a profiler's start and its stop, with nothing
 * verified or timed: one choice on every problem, or a file's list of problems and choices. Relies on worker/audit.h,
 * which sets up the very variant that was timed. Called by cmd_verify.c; run/counters.h starts such a command under
 * ncu.
 */
#include "cli/one_launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/tree.h"
#include "cli/here.h"
#include "run/plan.h"
#include "worker/audit.h"

#define SEED 1u
#define LIST_BYTES ((size_t)16 << 20)

struct launching {
    struct cell_context context;
    struct plan plan;
    struct audit_memory memory; /* of all launches */
    struct error told;          /* the first that was not launched */
};

static bool add_subject(cJSON *list, const char *name, const char *variant)
{
    struct tree t = tree_begin();
    tree_put_text(&t, "name", name);
    tree_put_text(&t, "variant", variant);
    return tree_append(list, tree_finish(&t));
}

/* "NAME=VARIANT": a variant's key may have further '='. */
static bool add_named(cJSON *list, const char *named)
{
    char name[RECORD_NAME_MAX];
    size_t length = strcspn(named, "=");
    snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), named);
    return add_subject(list, name, named[length] == '=' ? named + length + 1 : "");
}

/* Owned by the caller; NULL out of memory. */
static cJSON *named(const char *choice)
{
    cJSON *list = cJSON_CreateArray();
    if (list == NULL || add_named(list, choice))
        return list;
    cJSON_Delete(list);
    return NULL;
}

static cJSON *subjects(const struct options *options, const struct registry *registry)
{
    cJSON *list = options->one_launch[0] == '\0' ? cJSON_CreateArray() : named(options->one_launch);
    if (options->one_launch[0] != '\0')
        return list;
    for (size_t i = 0; i < registry_count(registry) && list != NULL; i++)
        if (registry_at(registry, i)->role == ROLE_CANDIDATE && !add_subject(list, registry_at(registry, i)->name, ""))
            list = NULL;
    return list;
}

/* Keeps the first reason in err. */
static void tell(const struct cudal2_problem *problem, const cJSON *seen, struct error *err)
{
    char key[PROBLEM_KEY_MAX];
    const cJSON *one;
    problem_key(problem, key);
    cJSON_ArrayForEach(one, seen)
    {
        const char *why = tree_text(one, "unavailable");
        printf("%-28s %-24s %s%s\n", key, tree_text(one, "name"), why[0] ? "not launched: " : "launched once", why);
        if (why[0] && err->code == 0)
            error_set(err, EXIT_CODE_INCOMPARABLE, "verify --one-launch: %s at %s: %s", tree_text(one, "name"), key,
                      why);
    }
}

static int launch_in(struct launching *l, const struct plan_cell *cell, const cJSON *list, struct error *err)
{
    cJSON *seen = NULL;
    struct cell_request *request = calloc(1, sizeof *request);
    if (request == NULL)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for a request");
    request->problem = cell->problem;
    request->mode = cell->mode;
    request->seed = cell->seed;
    request->audit = list;
    int code = audit_conduct(&l->context, request, &seen, err);
    if (code == 0)
        tell(&cell->problem, seen, &l->told);
    fflush(stdout); /* a kernel that ends the program has not undone the others */
    cJSON_Delete(seen);
    free(request);
    return code;
}

static int launch_all(struct launching *l, const struct options *options, struct error *err)
{
    int code = 0;
    cJSON *list = subjects(options, l->context.registry);
    if (list == NULL)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for a launch");
    for (size_t i = 0; i < l->plan.n_cells && code == 0; i++)
        code = launch_in(l, &l->plan.cells[i], list, err);
    cJSON_Delete(list);
    return code;
}

/* ---- a list ---- */

static const struct plan_cell *cell_of(const struct plan *plan, const char *shape)
{
    char key[64];
    for (size_t i = 0; i < plan->n_cells; i++) {
        const struct cudal2_problem *p = &plan->cells[i].problem;
        snprintf(key, sizeof key, "%lldx%lldx%lld", (long long)p->m, (long long)p->n, (long long)p->k);
        if (strcmp(key, shape) == 0)
            return &plan->cells[i];
    }
    return NULL;
}

/* The empty kernel: whoever reads the profile sees where one launch has ended. */
static int launch_mark(const struct launching *l, struct error *err)
{
    struct device *d = l->context.device;
    return d->ops->profiled ? d->ops->profiled(d, NULL, 0, err) : 0;
}

/* "MxNxK NAME[=VARIANT]", or "-". */
static int launch_line(struct launching *l, char *line, struct error *err)
{
    char *choice = strchr(line, ' ');
    if (strcmp(line, "-") == 0)
        return launch_mark(l, err);
    if (choice == NULL)
        return error_set(err, EXIT_CODE_DATA,
                         "verify --one-launch: expected \"MxNxK NAME=VARIANT\" or \"-\", found "
                         "\"%.60s\"",
                         line);
    *choice++ = '\0';
    const struct plan_cell *cell = cell_of(&l->plan, line);
    if (cell == NULL)
        return error_set(err, EXIT_CODE_DATA, "verify --one-launch: the config has no shape %.60s", line);
    cJSON *list = named(choice);
    int code = list ? launch_in(l, cell, list, err) : error_set(err, EXIT_CODE_INTERNAL, "out of memory for a launch");
    cJSON_Delete(list);
    return code;
}

static int launch_list(struct launching *l, const char *path, struct error *err)
{
    char *text = NULL, *rest = NULL;
    size_t length;
    int code = file_read(path, LIST_BYTES, &text, &length, err);
    for (char *line = text ? strtok_r(text, "\n", &rest) : NULL; line && code == 0; line = strtok_r(NULL, "\n", &rest))
        code = launch_line(l, line, err);
    free(text);
    return code;
}

/* ---- the whole ---- */

static int launch(struct launching *l, const struct options *options, struct error *err)
{
    const struct config *config = l->context.config;
    bool on_cuda = l->context.device->info.device_bit == CUDAL2_ON_CUDA;
    int code = plan_build(config, on_cuda, config->seed_given ? config->seed : SEED, &l->plan, err);
    if (code != 0)
        return code;
    code = options->one_launch[0] == '@' ? launch_list(l, options->one_launch + 1, err) : launch_all(l, options, err);
    if (code == 0 && l->told.code != 0) {
        *err = l->told;
        code = err->code;
    }
    return code;
}

int one_launch(const struct options *options, const struct config *config, struct error *err)
{
    struct here here;
    struct launching l;
    int code = here_open(options, config, &here, err);
    memset(&l, 0, sizeof l);
    l.context = (struct cell_context){.config = config,
                                      .device = here.device,
                                      .registry = here.registry,
                                      .identity = "",
                                      .kept = &l.memory,
                                      .profile = true};
    if (code == 0)
        code = launch(&l, options, err);
    plan_free(&l.plan);
    if (here.device != NULL)
        audit_memory_free(&l.memory, here.device);
    here_close(&here);
    return code;
}
