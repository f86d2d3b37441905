/*
 * export_prometheus.c - gauges in Prometheus' text format, in base units and with escaped labels. Relies on the
 * visitor of exports.c. Called by report.c through its table of exports.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "model/problem.h"
#include "report/exports.h"
#include "report/load.h"
#include "report/outcome.h"

/* In a label's value quote and backslash are escaped; what does harm (newlines, too) is written out before. */
static void add_label(struct text *out, const char *name, const char *value)
{
    char *plain = plain_copy(value);
    text_add(out, "%s=\"", name);
    for (const char *c = plain; c && *c; c++)
        text_add(out, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
    text_add(out, "\"");
    out->failed |= !plain;
    free(plain);
}

struct prometheus {
    struct text *out;
    const struct export_request *request;
    const struct result_cell *cell; /* the last one that a series was of, and its run: cells come in their order */
    char run[256];
};

static bool ends_with(const char *text, size_t length, const char *ending)
{
    size_t n = strlen(ending);
    return length > n && strncmp(text + length - n, ending, n) == 0;
}

/* "nightly" for runs/nightly.json, "h200" for h200/result.json.gz: the same in every night's file, another in the file
 * of another run beside it. */
static void name_of_run(const char *path, char *out, size_t capacity)
{
    static const char *const endings[] = {".gz", ".jsonl", ".json", ".journal", "/result", "/journal", "/"};
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (ends_with(path, length, endings[i]))
            length -= strlen(endings[i]);
    size_t first = length;
    while (first > 0 && path[first - 1] != '/')
        first--;
    snprintf(out, capacity, "%.*s", (int)(length - first), path + first);
}

static void find_run(const struct prometheus *p, const struct result_cell *cell, char *out, size_t capacity)
{
    const char *path = load_file_of(p->request->result, cell);
    name_of_run(path ? path : p->request->n > 0 ? p->request->paths[0] : "", out, capacity);
}

static const char *run_of(struct prometheus *p, const struct result_cell *cell)
{
    if (cell != p->cell)
        find_run(p, cell, p->run, sizeof p->run);
    p->cell = cell;
    return p->run;
}

/* What every series has: two files in one directory never say the same of different things. */
static void add_group_labels(struct prometheus *p, const struct result_cell *cell)
{
    add_label(p->out, "run", run_of(p, cell));
    text_add(p->out, ",");
    add_label(p->out, "mode", cell->group.mode);
    text_add(p->out, ",");
    add_label(p->out, "dtype", cell->group.dtype);
    text_add(p->out, ",");
    add_label(p->out, "accumulate", cell->group.accumulate);
}

static void add_cell_labels(struct prometheus *p, const struct result_cell *cell, const char *timing)
{
    add_group_labels(p, cell);
    text_add(p->out, ",m=\"%.0f\",n=\"%.0f\",k=\"%.0f\",", cell->m, cell->n, cell->k);
    if (cell->args[0]) {
        add_label(p->out, "args", cell->args);
        text_add(p->out, ",");
    }
    add_label(p->out, "timing", timing);
    text_add(p->out, ",");
}

static void add_head(struct text *out, const char *name, const char *help)
{
    text_add(out, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name);
}

static void add_time(void *context, const struct export_time *time)
{
    struct prometheus *p = context;
    text_add(p->out, "cudal2_bench_time_seconds{");
    add_cell_labels(p, time->cell, time->timing);
    add_label(p->out, "contender", time->name);
    text_add(p->out, "} %.9g\n", time->median_ns / 1e9);
}

static void add_rate(void *context, const struct export_time *time)
{
    struct prometheus *p = context;
    text_add(p->out, "cudal2_bench_flops_per_second{");
    add_cell_labels(p, time->cell, time->timing);
    add_label(p->out, "contender", time->name);
    text_add(p->out, "} %.9g\n", 1e12 * time->tflops);
}

static void add_speedup(void *context, const struct export_speedup *s)
{
    struct prometheus *p = context;
    text_add(p->out, "cudal2_bench_speedup_ratio{");
    add_cell_labels(p, s->cell, s->timing);
    add_label(p->out, "candidate", s->candidate);
    text_add(p->out, ",");
    add_label(p->out, "reference", s->reference);
    text_add(p->out, "} %.9g\n", s->ratio);
}

/* ---- cells and devices, by run ---- */

/* Cells that have labels in common, with one of them. */
struct share {
    const struct result_cell *cell;
    char run[256];
    size_t count[CELL_STATUS_COUNT];
};

struct shares {
    struct share *list;
    size_t n;
};

/* What there is of a cell's device; the first one's where no worker measured the cell. */
static const struct result_device *device_of(const struct prometheus *p, const struct result_cell *cell)
{
    return result_device(p->request->result, cell->env > 0 ? cell->env : 0);
}

static bool same_group(const struct prometheus *p, const struct result_cell *a, const struct result_cell *b)
{
    (void)p;
    return result_same_group(&a->group, &b->group);
}

static bool same_device(const struct prometheus *p, const struct result_cell *a, const struct result_cell *b)
{
    const struct result_device *x = device_of(p, a), *y = device_of(p, b);
    return strcmp(x->name, y->name) == 0 && strcmp(x->driver, y->driver) == 0;
}

typedef bool (*sameness)(const struct prometheus *p, const struct result_cell *a, const struct result_cell *b);

/* NULL out of memory. */
static struct share *share_of(struct prometheus *p, struct shares *shares, const struct result_cell *cell,
                              sameness same)
{
    const char *run = run_of(p, cell);
    for (size_t i = 0; i < shares->n; i++)
        if (strcmp(shares->list[i].run, run) == 0 && same(p, shares->list[i].cell, cell))
            return &shares->list[i];
    struct share *grown = realloc(shares->list, (shares->n + 1) * sizeof *grown);
    if (!grown)
        return NULL;
    shares->list = grown;
    grown[shares->n] = (struct share){.cell = cell};
    memcpy(grown[shares->n].run, p->run, sizeof p->run);
    return &grown[shares->n++];
}

static void count_shares(struct prometheus *p, struct shares *shares, sameness same)
{
    for (size_t i = 0; i < p->request->result->n_cells; i++) {
        const struct result_cell *cell = &p->request->result->cells[i];
        struct share *share = share_of(p, shares, cell, same);
        p->out->failed |= !share;
        if (share && cell->outcome < CELL_STATUS_COUNT)
            share->count[cell->outcome]++;
    }
}

static void add_cells_by_status(struct prometheus *p)
{
    struct shares shares = {NULL, 0};
    count_shares(p, &shares, same_group);
    for (size_t i = 0; i < CELL_STATUS_COUNT * shares.n; i++) {
        const struct share *share = &shares.list[i / CELL_STATUS_COUNT];
        size_t status = i % CELL_STATUS_COUNT;
        text_add(p->out, "cudal2_bench_cells{");
        add_group_labels(p, share->cell);
        text_add(p->out, ",status=\"%s\"} %zu\n", cell_status_names[status], share->count[status]);
    }
    free(shares.list);
}

/* Constant 1, labelled with what the figures depend on: one line for each run, device and driver. */
static void add_devices(struct prometheus *p)
{
    struct shares shares = {NULL, 0};
    count_shares(p, &shares, same_device);
    for (size_t i = 0; i < shares.n; i++) {
        const struct result_device *device = device_of(p, shares.list[i].cell);
        text_add(p->out, "cudal2_bench_device_info{");
        add_label(p->out, "run", shares.list[i].run);
        text_add(p->out, ",");
        add_label(p->out, "device", device->name);
        text_add(p->out, ",");
        add_label(p->out, "driver", device->driver);
        text_add(p->out, "} 1\n");
    }
    free(shares.list);
}

int export_prometheus(const struct export_request *request, struct text *out, struct error *err)
{
    static const struct export_visitor times = {add_time, NULL};
    static const struct export_visitor rates = {add_rate, NULL};
    static const struct export_visitor speedups = {NULL, add_speedup};
    struct prometheus p = {.out = out, .request = request};
    add_head(out, "cudal2_bench_device_info", "What was measured on; always 1.");
    add_devices(&p);
    add_head(out, "cudal2_bench_cells", "Cells of the run by status.");
    add_cells_by_status(&p);
    add_head(out, "cudal2_bench_time_seconds", "Median time of one launch.");
    export_walk(request, &times, &p);
    add_head(out, "cudal2_bench_flops_per_second", "Floating-point operations over the median time.");
    export_walk(request, &rates, &p);
    add_head(out, "cudal2_bench_speedup_ratio", "Time of the reference over time of the candidate.");
    export_walk(request, &speedups, &p);
    return out->failed ? error_set(err, EXIT_CODE_INTERNAL, "out of memory for the report") : 0;
}
