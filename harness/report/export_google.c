/*
 * export_google.c - the JSON of Google Benchmark, a repetition for each round where a journal is there. Relies on
 * exports.c and rounds.c. Called by report.c through its table of exports.
 */
#include <stdio.h>
#include <string.h>

#include "model/problem.h"
#include "report/exports.h"
#include "report/rounds.h"
#include "report/source.h"
#include "base/tree.h"

/* The array becomes NULL out of memory, and stays so. */
struct google {
    cJSON *list;
    char name[256]; /* of the benchmark that is being filled */
    int family, repetition;
};

struct entry {
    const char *name;
    size_t repetitions, iterations;
    double ns;
};

static void add(struct google *g, const struct entry *entry)
{
    struct tree t = tree_begin();
    tree_put_text(&t, "name", entry->name);
    tree_put_number(&t, "family_index", g->family);
    tree_put_number(&t, "per_family_instance_index", 0);
    tree_put_text(&t, "run_name", entry->name);
    tree_put_text(&t, "run_type", "iteration");
    tree_put_number(&t, "repetitions", (double)entry->repetitions);
    tree_put_number(&t, "repetition_index", g->repetition);
    tree_put_number(&t, "threads", 1);
    tree_put_number(&t, "iterations", (double)entry->iterations);
    tree_put_number(&t, "real_time", entry->ns);
    tree_put_number(&t, "cpu_time", entry->ns);
    tree_put_text(&t, "time_unit", "ns");
    if (g->list && !tree_append(g->list, tree_finish(&t)))
        g->list = NULL;
}

/* ---- a repetition for each round ---- */

static int add_round(void *context, const struct round *r, struct error *err)
{
    struct google *g = context;
    char key[RECORD_KEY_MAX];
    char name[sizeof g->name];
    if (r->slowed || r->contender->copy_of[0])
        return 0;
    record_key(&r->cell->problem, r->cell->mode, key);
    snprintf(name, sizeof name, "%s/%s", key, r->contender->name);
    if (strcmp(name, g->name) == 0) {
        g->repetition++;
    } else {
        g->family += g->name[0] != '\0';
        g->repetition = 0;
        memcpy(g->name, name, sizeof name);
    }
    const struct entry entry = {name, r->n_healthy, r->blocks, r->median_ns};
    add(g, &entry);
    return g->list ? 0 : error_set(err, EXIT_CODE_INTERNAL, "out of memory for the report");
}

static bool all_are_journals(const struct export_request *request)
{
    struct source source;
    struct error ignored;
    for (size_t i = 0; i < request->n; i++)
        if (source_find(request->paths[i], &source, &ignored) || !source.journal)
            return false;
    return true;
}

/* ---- or the median alone ---- */

static void add_time(void *context, const struct export_time *time)
{
    struct google *g = context;
    snprintf(g->name, sizeof g->name, "%s/%s", time->cell->key, time->name);
    const struct entry entry = {g->name, 1, time->statistics->n > 0 ? (size_t)time->statistics->n : 0, time->median_ns};
    add(g, &entry);
    g->family++;
}

/* ---- the whole ---- */

/* What compare.py and its fellows look for; the processor says nothing about a GPU's time. */
static cJSON *context_of(const struct result *result)
{
    struct tree t = tree_begin();
    const struct result_run *run = result->n_runs > 0 ? &result->runs[0] : &result->run;
    const struct result_device *device = result_device(result, 0);
    tree_put(&t, "date", cJSON_CreateString(run->started));
    tree_put_text(&t, "executable", "cudal2-bench");
    tree_put_text(&t, "device", device->name);
    tree_put_text(&t, "driver", device->driver);
    tree_put_number(&t, "num_cpus", 1);
    tree_put_number(&t, "mhz_per_cpu", 0);
    tree_put(&t, "cpu_scaling_enabled", cJSON_CreateFalse());
    tree_put(&t, "caches", cJSON_CreateArray());
    tree_put(&t, "load_avg", cJSON_CreateArray());
    tree_put_text(&t, "library_build_type", "release");
    return tree_finish(&t);
}

int export_google(const struct export_request *request, struct text *out, struct error *err)
{
    static const struct export_visitor visitor = {add_time, NULL};
    struct google g = {.list = cJSON_CreateArray()};
    struct tree all = tree_begin();
    int code = 0;
    if (all_are_journals(request))
        for (size_t i = 0; i < request->n && code == 0; i++)
            code = rounds_visit(request->paths[i], request->timing, add_round, &g, err);
    else
        export_walk(request, &visitor, &g);
    tree_put(&all, "context", context_of(request->result));
    tree_put(&all, "benchmarks", g.list);
    cJSON *tree = tree_finish(&all);
    if (code) {
        cJSON_Delete(tree);
        return code;
    }
    return export_print(tree, out, err);
}
