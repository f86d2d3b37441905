/*
 * export_github.c - the two lists of github-action-benchmark, smaller is better (times) and bigger is better (TFLOP/s,
 * speedups). Relies on the visitor of exports.c. Called by report.c through its table of exports.
 */
#include <math.h>
#include <stdio.h>

#include "report/exports.h"
#include "base/tree.h"

/* The array becomes NULL out of memory, and stays so. */
struct github {
    cJSON *list;
};

struct entry {
    const char *unit;
    double value;
    char name[320], range[64], extra[96];
};

static void add(struct github *g, const struct entry *entry)
{
    struct tree t = tree_begin();
    tree_put_text(&t, "name", entry->name);
    tree_put_text(&t, "unit", entry->unit);
    tree_put_number(&t, "value", entry->value);
    tree_put_text(&t, "range", entry->range);
    tree_put_text(&t, "extra", entry->extra);
    if (g->list && !tree_append(g->list, tree_finish(&t)))
        g->list = NULL;
}

static void add_time(void *context, const struct export_time *time)
{
    struct entry e = {.unit = "ns", .value = time->median_ns};
    double sd = time->statistics->sd_ns;
    snprintf(e.name, sizeof e.name, "%s/%s", time->cell->key, time->name);
    snprintf(e.extra, sizeof e.extra, "median of %.0f blocks, %s time", time->statistics->n, time->timing);
    if (!isnan(sd))
        snprintf(e.range, sizeof e.range, "± %.6g", sd);
    add(context, &e);
}

static void add_rate(void *context, const struct export_time *time)
{
    struct entry e = {.unit = "TFLOP/s", .value = round_to(time->tflops, 1e6)};
    snprintf(e.name, sizeof e.name, "%s/%s", time->cell->key, time->name);
    snprintf(e.extra, sizeof e.extra, "%s time", time->timing);
    add(context, &e);
}

static void add_speedup(void *context, const struct export_speedup *s)
{
    struct entry e = {.unit = "x", .value = s->ratio};
    snprintf(e.name, sizeof e.name, "%s/%s over %s", s->cell->key, s->candidate, s->reference);
    snprintf(e.extra, sizeof e.extra, "time of the reference over time of the candidate, %s time", s->timing);
    if (!isnan(s->low))
        snprintf(e.range, sizeof e.range, "± %.6g", (s->high - s->low) / 2);
    add(context, &e);
}

static int export_list(const struct export_request *request, const struct export_visitor *visitor, struct text *out,
                       struct error *err)
{
    struct github g = {cJSON_CreateArray()};
    export_walk(request, visitor, &g);
    return export_print(g.list, out, err);
}

int export_github_smaller(const struct export_request *request, struct text *out, struct error *err)
{
    static const struct export_visitor visitor = {add_time, NULL};
    return export_list(request, &visitor, out, err);
}

int export_github_bigger(const struct export_request *request, struct text *out, struct error *err)
{
    static const struct export_visitor visitor = {add_rate, add_speedup};
    return export_list(request, &visitor, out, err);
}
