/*
 * one_launch.c - launches contenders once each in this process, between a profiler's start and its stop, with nothing
 * verified or timed. Relies on worker/audit.h, which sets up the very variant that was timed. Called by cmd_verify.c;
 * run/counters.h starts such a command under ncu.
 */
#include "cli/one_launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/tree.h"
#include "cli/here.h"
#include "run/plan.h"
#include "worker/audit.h"

#define SEED 1u

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
static cJSON *subjects(const struct options *options, const struct registry *registry)
{
    cJSON *list = cJSON_CreateArray();
    if (list == NULL)
        return NULL;
    if (options->one_launch[0] != '\0')
        return add_named(list, options->one_launch) ? list : NULL;
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

static int launch_in(const struct cell_context *context, const struct plan_cell *cell, const cJSON *list,
                     struct error *told, struct error *err)
{
    cJSON *seen = NULL;
    struct cell_request *request = calloc(1, sizeof *request);
    if (request == NULL)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for a request");
    request->problem = cell->problem;
    request->mode = cell->mode;
    request->seed = cell->seed;
    request->audit = list;
    int code = audit_conduct(context, request, &seen, err);
    if (code == 0)
        tell(&cell->problem, seen, told);
    cJSON_Delete(seen);
    free(request);
    return code;
}

static int launch_all(const struct options *options, const struct config *config, const struct here *here,
                      struct error *err)
{
    const struct cell_context context = {
        .config = config, .device = here->device, .registry = here->registry, .identity = "", .profile = true};
    struct error told = {.code = 0};
    struct plan plan = {0};
    cJSON *list = subjects(options, here->registry);
    if (list == NULL)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for a launch");
    uint64_t seed = config->seed_given ? config->seed : SEED;
    int code = plan_build(config, here->device->info.device_bit == CUDAL2_ON_CUDA, seed, &plan, err);
    for (size_t i = 0; i < plan.n_cells && code == 0; i++)
        code = launch_in(&context, &plan.cells[i], list, &told, err);
    if (code == 0 && told.code != 0) {
        *err = told;
        code = err->code;
    }
    plan_free(&plan);
    cJSON_Delete(list);
    return code;
}

int one_launch(const struct options *options, const struct config *config, struct error *err)
{
    struct here here;
    int code = here_open(options, config, &here, err);
    if (code == 0)
        code = launch_all(options, config, &here, err);
    here_close(&here);
    return code;
}
