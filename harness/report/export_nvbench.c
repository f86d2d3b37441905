/*
 * export_nvbench.c - the JSON that nvbench writes, for its compare script: a benchmark for each mode, types and
 * contender, a state for each shape. Relies on exports.c. Called by report.c through its table of exports.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/tree.h"
#include "report/exports.h"

#define TEXT_MAX 192

struct nvbench {
    cJSON *benchmarks; /* NULL out of memory, and stays so */
    int device;        /* of all states: cells of one result share it */
    bool failed;       /* a state is missing */
};

/* nvbench writes numbers of named values as strings. */
static cJSON *named_value(const char *name, const char *type, const char *value)
{
    struct tree t = tree_begin();
    tree_put_text(&t, "name", name);
    tree_put_text(&t, "type", type);
    tree_put(&t, "value", value ? cJSON_CreateString(value) : cJSON_CreateNull());
    return tree_finish(&t);
}

static cJSON *list_of(cJSON *item)
{
    cJSON *list = cJSON_CreateArray();
    return list && tree_append(list, item) ? list : NULL;
}

/* One figure of a state; what is not known is null, which the script takes as infinite noise. */
static cJSON *summary(const char *tag, const char *name, double value)
{
    char text[32];
    struct tree t = tree_begin();
    snprintf(text, sizeof text, "%.9g", value);
    tree_put_text(&t, "tag", tag);
    tree_put_text(&t, "name", name);
    tree_put(&t, "data", list_of(named_value("value", "float64", isfinite(value) ? text : NULL)));
    return tree_finish(&t);
}

static cJSON *summaries_of(const struct result_timing *s)
{
    cJSON *list = cJSON_CreateArray();
    bool whole = list && tree_append(list, summary("nv/cold/time/gpu/mean", "GPU Time", s->mean_ns / 1e9)) &&
                 tree_append(list, summary("nv/cold/time/gpu/stdev/relative", "Noise", s->sd_ns / s->mean_ns)) &&
                 tree_append(list, summary("nv/cold/sample_size", "Samples", s->n));
    return whole ? list : NULL;
}

static const char *const axes[] = {"M", "N", "K"};

static cJSON *axis_values(const struct result_cell *cell)
{
    const double sizes[] = {cell->m, cell->n, cell->k};
    cJSON *list = cJSON_CreateArray();
    for (int i = 0; i < 3 && list; i++) {
        char text[32];
        snprintf(text, sizeof text, "%.0f", sizes[i]);
        if (!tree_append(list, named_value(axes[i], "int64", text)))
            list = NULL;
    }
    return list;
}

static cJSON *state_of(const struct nvbench *x, const struct export_time *time)
{
    char name[TEXT_MAX];
    struct tree t = tree_begin();
    snprintf(name, sizeof name, "Device=%d M=%.0f N=%.0f K=%.0f%s%s", x->device, time->cell->m, time->cell->n,
             time->cell->k, time->cell->args[0] ? " " : "", time->cell->args);
    tree_put_text(&t, "name", name);
    tree_put_number(&t, "device", x->device);
    tree_put_number(&t, "type_config_index", 0);
    tree_put(&t, "axis_values", axis_values(time->cell));
    tree_put(&t, "summaries", summaries_of(time->statistics));
    tree_put(&t, "is_skipped", cJSON_CreateFalse());
    return tree_finish(&t);
}

static cJSON *axes_of_all(void)
{
    cJSON *list = cJSON_CreateArray();
    for (int i = 0; i < 3 && list; i++) {
        struct tree t = tree_begin();
        tree_put_text(&t, "name", axes[i]);
        tree_put_text(&t, "type", "int64");
        tree_put(&t, "flags", cJSON_CreateString(""));
        tree_put(&t, "values", cJSON_CreateArray());
        if (!tree_append(list, tree_finish(&t)))
            list = NULL;
    }
    return list;
}

static cJSON *new_benchmark(const struct nvbench *x, const char *name)
{
    struct tree t = tree_begin();
    tree_put_text(&t, "name", name);
    tree_put_number(&t, "index", cJSON_GetArraySize(x->benchmarks));
    tree_put(&t, "devices", list_of(cJSON_CreateNumber(x->device)));
    tree_put(&t, "axes", axes_of_all());
    tree_put(&t, "states", cJSON_CreateArray());
    return tree_finish(&t);
}

static cJSON *benchmark_of(struct nvbench *x, const char *name)
{
    for (cJSON *b = x->benchmarks->child; b; b = b->next)
        if (strcmp(tree_text(b, "name"), name) == 0)
            return b;
    cJSON *made = new_benchmark(x, name);
    if (tree_append(x->benchmarks, made))
        return made;
    x->benchmarks = NULL;
    return NULL;
}

static void add_time(void *context, const struct export_time *time)
{
    struct nvbench *x = context;
    const struct result_group *group = &time->cell->group;
    char name[TEXT_MAX];
    snprintf(name, sizeof name, "%s/%s-%s/%s/%s", group->mode, group->dtype, group->accumulate, time->name,
             time->timing);
    cJSON *b = x->benchmarks ? benchmark_of(x, name) : NULL;
    cJSON *state = b ? state_of(x, time) : NULL;
    if (!state || !cJSON_AddItemToArray(cJSON_GetObjectItemCaseSensitive(b, "states"), state)) {
        cJSON_Delete(state);
        x->failed = true;
    }
}

static cJSON *meta_of(void)
{
    struct tree json = tree_begin(), version = tree_begin(), t = tree_begin();
    tree_put_number(&json, "major", 1);
    tree_put_number(&json, "minor", 0);
    tree_put_number(&json, "patch", 0);
    tree_put_text(&json, "string", "1.0.0");
    tree_put(&version, "json", tree_finish(&json));
    tree_put(&t, "argv", list_of(cJSON_CreateString("cudal2-bench")));
    tree_put(&t, "version", tree_finish(&version));
    return tree_finish(&t);
}

static cJSON *device_of(const struct result *result)
{
    const struct result_device *device = result_device(result, 0);
    struct tree t = tree_begin();
    tree_put_number(&t, "id", 0);
    tree_put_text(&t, "name", device->name);
    return tree_finish(&t);
}

int export_nvbench(const struct export_request *request, struct text *out, struct error *err)
{
    static const struct export_visitor visitor = {add_time, NULL};
    struct nvbench x = {.benchmarks = cJSON_CreateArray()};
    struct tree t = tree_begin();
    export_walk(request, &visitor, &x);
    tree_put(&t, "meta", meta_of());
    tree_put(&t, "devices", list_of(device_of(request->result)));
    tree_put(&t, "benchmarks", x.benchmarks);
    t.failed |= x.failed;
    return export_print(tree_finish(&t), out, err);
}
