/*
 * export_bencher.c - Bencher Metric Format: latency, TFLOP/s and speedups with bounds, a benchmark for each cell and
 * contender. Relies on the visitor of exports.c. Called by report.c through its table of exports.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/exports.h"
#include "base/tree.h"

/* A measure's name: at most 64 characters of a slug. */
#define MEASURE_MAX 64

struct bencher {
    struct tree all;
    const struct result_cell *cell;
    cJSON *first;     /* benchmark of the cell; NULL when there is none yet */
    cJSON *benchmark; /* that is being filled */
};

/* A candidate's times and speedups belong to one benchmark, which is then among those of the cell. */
static void open_benchmark(struct bencher *b, const struct result_cell *cell, const char *contender)
{
    char name[256];
    snprintf(name, sizeof name, "%s/%s", cell->key, contender);
    if (cell != b->cell)
        b->first = NULL;
    b->cell = cell;
    b->benchmark = b->first;
    while (b->benchmark && strcmp(b->benchmark->string, name) != 0)
        b->benchmark = b->benchmark->next;
    if (b->benchmark || b->all.failed)
        return;
    b->benchmark = cJSON_CreateObject();
    tree_put(&b->all, name, b->benchmark);
    b->first = b->first ? b->first : b->benchmark;
}

static void add_measure(struct bencher *b, const char *name, double value, double low, double high)
{
    struct tree measure;
    if (b->all.failed)
        return;
    measure = tree_begin();
    tree_put_number(&measure, "value", value);
    if (!isnan(low) && !isnan(high)) {
        tree_put_number(&measure, "lower_value", low);
        tree_put_number(&measure, "upper_value", high);
    }
    struct tree benchmark = {b->benchmark, false};
    tree_put(&benchmark, name, tree_finish(&measure));
    b->all.failed |= benchmark.failed;
}

static void add_time(void *context, const struct export_time *time)
{
    struct bencher *b = context;
    open_benchmark(b, time->cell, time->name);
    add_measure(b, "latency", time->median_ns, NAN, NAN);
    add_measure(b, "tflops", round_to(time->tflops, 1e6), NAN, NAN);
}

static void add_speedup(void *context, const struct export_speedup *s)
{
    struct bencher *b = context;
    char measure[MEASURE_MAX];
    snprintf(measure, sizeof measure, "speedup-over-%s", s->reference);
    for (char *c = measure; *c; c++)
        *c = isalnum((unsigned char)*c) ? (char)tolower((unsigned char)*c) : '-';
    open_benchmark(b, s->cell, s->candidate);
    add_measure(b, measure, s->ratio, s->low, s->high);
}

int export_bencher(const struct export_request *request, struct text *out, struct error *err)
{
    static const struct export_visitor visitor = {add_time, add_speedup};
    struct bencher b = {.all = tree_begin()};
    export_walk(request, &visitor, &b);
    return export_print(tree_finish(&b.all), out, err);
}
