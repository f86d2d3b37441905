#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "base/problem.h"
#include "report/exports.h"
#include "result/tree.h"

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

static void add_cell_labels(struct text *out, const cJSON *cell, const char *timing)
{
    static const char *const names[] = {"mode", "dtype", "accumulate"};
    static const char *const sizes[] = {"m", "n", "k"};
    for (int i = 0; i < 3; i++) {
        add_label(out, names[i], tree_text(cell, names[i]));
        text_add(out, ",");
    }
    for (int i = 0; i < 3; i++)
        text_add(out, "%s=\"%.0f\",", sizes[i], tree_number(cell, sizes[i]));
    add_label(out, "timing", timing);
    text_add(out, ",");
}

static void add_head(struct text *out, const char *name, const char *help)
{
    text_add(out, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name);
}

static void add_time(void *context, const struct export_time *time)
{
    struct text *out = context;
    text_add(out, "cudal2_bench_time_seconds{");
    add_cell_labels(out, time->cell, time->timing);
    add_label(out, "contender", time->name);
    text_add(out, "} %.9g\n", time->median_ns / 1e9);
}

static void add_rate(void *context, const struct export_time *time)
{
    struct text *out = context;
    text_add(out, "cudal2_bench_flops_per_second{");
    add_cell_labels(out, time->cell, time->timing);
    add_label(out, "contender", time->name);
    text_add(out, "} %.9g\n", 1e12 * time->tflops);
}

static void add_speedup(void *context, const struct export_speedup *s)
{
    struct text *out = context;
    text_add(out, "cudal2_bench_speedup_ratio{");
    add_cell_labels(out, s->cell, s->timing);
    add_label(out, "candidate", s->candidate);
    text_add(out, ",");
    add_label(out, "reference", s->reference);
    text_add(out, "} %.9g\n", s->ratio);
}

static void add_cells_by_status(struct text *out, const cJSON *cells)
{
    static const char *const statuses[] = {"ok", "partial", "skipped", "failed"};
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        const cJSON *cell;
        size_t n = 0;
        cJSON_ArrayForEach(cell, cells) n += strcmp(tree_text(cell, "status"), statuses[i]) == 0;
        text_add(out, "cudal2_bench_cells{status=\"%s\"} %zu\n", statuses[i], n);
    }
}

/* Constant 1, labelled with what the figures depend on: one line for each device and driver. */
static void add_devices(struct text *out, const cJSON *all)
{
    static const char *const keys[] = {"name", "driver"};
    const cJSON *env;
    cJSON_ArrayForEach(env, all)
    {
        const cJSON *device = tree_member(env, "device");
        bool told = false;
        for (const cJSON *before = all->child; before != env && !told; before = before->next) {
            told = true;
            for (int i = 0; i < 2; i++)
                told &= strcmp(tree_text(device, keys[i]), tree_text(tree_member(before, "device"), keys[i])) == 0;
        }
        if (told)
            continue;
        text_add(out, "cudal2_bench_device_info{");
        add_label(out, "device", tree_text(device, "name"));
        text_add(out, ",");
        add_label(out, "driver", tree_text(device, "driver"));
        text_add(out, "} 1\n");
    }
}

int export_prometheus(const struct export_request *request, struct text *out, struct error *err)
{
    static const struct export_visitor times = {add_time, NULL};
    static const struct export_visitor rates = {add_rate, NULL};
    static const struct export_visitor speedups = {NULL, add_speedup};
    add_head(out, "cudal2_bench_device_info", "What was measured on; always 1.");
    add_devices(out, tree_member(request->result, "env"));
    add_head(out, "cudal2_bench_cells", "Cells of the run by status.");
    add_cells_by_status(out, tree_member(request->result, "cells"));
    add_head(out, "cudal2_bench_time_seconds", "Median time of one launch.");
    export_walk(request, &times, out);
    add_head(out, "cudal2_bench_flops_per_second", "Floating-point operations over the median time.");
    export_walk(request, &rates, out);
    add_head(out, "cudal2_bench_speedup_ratio", "Time of the reference over time of the candidate.");
    export_walk(request, &speedups, out);
    return out->failed ? error_set(err, EXIT_CODE_INTERNAL, "out of memory for the report") : 0;
}
