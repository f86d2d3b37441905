/*
 * counted.c - has one launch of a candidate counted for each problem of its outcome. Relies on run/counters.h. Called
 * by evaluate.c.
 */
#include "serve/counted.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/tree.h"
#include "run/counters.h"
#include "serve/verdict.h"

struct names {
    char kernel[PATH_MAX], contender[COUNTERS_CHOICE_MAX];
};

static cJSON *count(const struct evaluation *e, const cJSON *problem, struct names *names)
{
    struct error err;
    const char *variant = tree_text(problem, "variant");
    snprintf(names->contender, sizeof names->contender, "%s%s%s", tree_text(problem, "contender"),
             variant[0] ? "=" : "", variant);
    if (evaluate_candidate(e, names->kernel, &err))
        return NULL;
    const struct counters_request request = {.kernel = names->kernel,
                                             .contender = names->contender,
                                             .problem = tree_text(problem, "problem"),
                                             .accumulate = accumulate_names[e->submission->accumulate],
                                             .device = e->devices->spec[e->device_index],
                                             .lock = e->devices->lock[e->device_index],
                                             .plugins = e->plugins,
                                             .kernels = e->kernels,
                                             .metrics = e->submission->counters,
                                             .stop = e->stop,
                                             .seconds = COUNTERS_SECONDS};
    return counters_take(&request);
}

/* Of a reason, no directory of the server's. */
static void hide(const struct evaluation *e, cJSON *counters)
{
    char directory[PATH_MAX], *why = strdup(tree_text(counters, "unavailable"));
    struct error ignored;
    if (why && why[0]) {
        if (store_path(e->store, e->id, "kernel", directory, &ignored) == 0)
            verdict_hide(why, directory);
        if (e->kernels)
            verdict_hide(why, e->kernels);
        cJSON_ReplaceItemInObjectCaseSensitive(counters, "unavailable", cJSON_CreateString(why));
    }
    free(why);
}

/* Plugins have code on the host; kernel sets have none. A name is a plugin's where contender/registry.c finds one: by
 * the whole name, or by its part before the first '-' or '.'. */
static bool is_plugin(const struct evaluation *e)
{
    char here[PATH_MAX / 2] = "", path[PATH_MAX];
    const char *name = e->submission->name;
    const int lengths[] = {(int)strlen(name), (int)strcspn(name, "-.")};
    struct error ignored;
    if (e->submission->kind != CANDIDATE_NAMED)
        return false;
    if (!e->plugins && file_executable_directory(here, sizeof here, &ignored))
        return true;
    for (size_t i = 0; i < 2; i++) {
        int made = snprintf(path, sizeof path, "%s%s/%.*s.so", e->plugins ? e->plugins : here,
                            e->plugins ? "" : "/plugins", lengths[i], name);
        if (made >= (int)sizeof path || access(path, F_OK) == 0)
            return true;
    }
    return false;
}

/* Why ncu is not even tried; NULL: it is. */
static const char *refusal(const struct evaluation *e, const cJSON *outcome)
{
    if (tree_true(outcome, "screened"))
        return "the quick look was enough";
    return e->devices->on_cuda && is_plugin(e) ? "a plugin's code on the host runs in a worker only, where ncu cannot"
                                               : NULL;
}

static cJSON *refuse(const char *why)
{
    struct tree t = tree_begin();
    tree_put_text(&t, "unavailable", why);
    return tree_finish(&t);
}

void counted_add(const struct evaluation *e, cJSON *outcome)
{
    cJSON *problem;
    const char *why = refusal(e, outcome);
    struct names *names = calloc(1, sizeof *names);
    if (names && e->submission->counters && verdict_of_outcome(outcome) == VERDICT_OK)
        cJSON_ArrayForEach(problem, cJSON_GetObjectItemCaseSensitive(outcome, "problems"))
        {
            cJSON *counters = why ? refuse(why) : count(e, problem, names);
            if (counters)
                hide(e, counters);
            if (counters && !cJSON_AddItemToObject(problem, "counters", counters))
                cJSON_Delete(counters);
        }
    free(names);
}
