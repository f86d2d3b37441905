/*
 * cmd_list.c - the command `list`: contenders, versions, and why each is or is not available. Plugins are loaded in a
 * child (plugin_isolation.c). Called by main.c.
 */
#include "cli/commands.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/plain.h"
#include "base/text.h"
#include "base/width.h"
#include "cli/name_check.h"
#include "cli/plugin_isolation.h"
#include "compile/kernels.h"
#include "contender/contender.h"
#include "worker/confine.h"

#define VERSIONS_MAX_BYTES (1u << 20)
#define LOAD_SECONDS 60.0 /* libtorch from a cold network disk takes a while */

/* ---- the table ---- */

static void add_bits(struct text *out, uint32_t bits, const char *const names[])
{
    bool any = false;
    for (unsigned i = 0; names[i]; i++)
        if (bits & CUDAL2_BIT(i)) {
            text_add(out, "%s%s", any ? "," : "", names[i]);
            any = true;
        }
    if (!any)
        text_add(out, "-");
}

/* Names, reasons and versions come from plugins and kernels: what does harm in them is written out. */
static void add_column(struct text *out, const char *words, size_t columns)
{
    char *plain = plain_copy(words);
    width_add_padded(out, plain ? plain : "", columns);
    text_add(out, " ");
    free(plain);
}

static void add_contender(struct text *out, const struct contender *c)
{
    struct text dtypes = {0}, accumulates = {0};
    add_bits(&dtypes, c->is.dtypes, dtype_names);
    add_bits(&accumulates, c->is.accumulates, accumulate_names);
    bool known = c->is.dtypes != 0; /* a contender that could not be loaded declares nothing */
    add_column(out, c->name, 28);
    text_add(out, "%-9s %-6s %-13s %-9s %s", c->role == ROLE_CANDIDATE ? "candidate" : "baseline",
             known ? layout_names[c->is.layout] : "-", dtypes.bytes ? dtypes.bytes : "", accumulates.bytes,
             c->available ? "available" : "not available: ");
    plain_add(out, c->available ? "" : c->reason);
    text_add(out, "\n");
    text_free(&dtypes);
    text_free(&accumulates);
}

/* "torch 1.13.0, path /usr/lib/libtorch_cpu.so": texts as they are, anything else as JSON. */
static void add_plugin(struct text *out, const cJSON *plugin)
{
    text_add(out, "  ");
    add_column(out, plugin->string, 20);
    for (const cJSON *member = plugin->child; member; member = member->next) {
        char *value = cJSON_IsString(member) ? NULL : json_print(member, false);
        text_add(out, "%s ", member == plugin->child ? "" : ",");
        plain_add(out, member->string);
        text_add(out, " ");
        plain_add(out, cJSON_IsString(member) ? member->valuestring : value ? value : "");
        free(value);
    }
    text_add(out, "\n");
}

static void add_versions(struct text *out, const char *text)
{
    cJSON *all = NULL;
    struct error ignored;
    if (text && !json_parse(text, strlen(text), VERSIONS_MAX_BYTES, "versions", &all, &ignored)) {
        text_add(out, "\nversions\n");
        for (const cJSON *plugin = all->child; plugin; plugin = plugin->next)
            add_plugin(out, plugin);
    }
    cJSON_Delete(all);
}

/* Where kernels are; without that place every kernel set is missing from the table below. */
static void add_kernels(struct text *out, const char *given)
{
    char directory[PATH_MAX];
    struct error err;
    bool found = kernel_directory_find(given, directory, sizeof directory, &err) == 0;
    text_add(out, "kernels: ");
    plain_add(out, found ? directory : err.text);
    text_add(out, found ? "\n\n" : "; no kernel set is listed (set CUDAL2_KERNELS or --kernels to one)\n\n");
}

/* What no time is believed to beat. */
static void add_peak(struct text *out, const struct device_info *info)
{
    bool cpu = info->peak_flops_f32 > 0;
    double peak = device_peak_flops(info, cpu ? CUDAL2_F32 : CUDAL2_F16);
    if (peak > 0)
        text_add(out, ", at most %.4g TFLOPS of %s", peak / 1e12, cpu ? "f32" : "f16");
}

/* False: the parent has not got it all. */
static bool print(const struct text *out, int fd)
{
    for (size_t at = 0; at < out->length;) {
        ssize_t wrote = write(fd, out->bytes + at, out->length - at);
        if (wrote <= 0 && errno != EINTR)
            return false;
        at += wrote > 0 ? (size_t)wrote : 0;
    }
    return !out->failed;
}

static bool print_registry(const struct device *device, const struct registry *registry, const char *kernels, int fd)
{
    char *versions = registry_versions(registry); /* first: asking for them may be the end of this process */
    struct text out = {0};
    text_add(&out, "device: ");
    plain_add(&out, device->info.name);
    text_add(&out, " (%s)", device->info.kind);
    add_peak(&out, &device->info);
    text_add(&out, "\n");
    add_kernels(&out, kernels);
    text_add(&out, "%-28s %-9s %-6s %-13s %-9s %s\n", "contender", "role", "layout", "dtypes", "accum.", "here");
    for (size_t i = 0; i < registry_count(registry); i++)
        add_contender(&out, registry_at(registry, i));
    add_versions(&out, versions);
    bool all = print(&out, fd);
    text_free(&out);
    free(versions);
    return all;
}

/* Everybody's plugins are loaded here: as confined as a worker is. */
static int open_confined(const struct options *options, struct device **device, struct error *err)
{
    struct confinement confinement;
    int code = confine_parse(getenv(CONFINE_VARIABLE), &confinement, err);
    if (!code)
        code = device_open(options->device, NULL, device, err);
    confinement.caches = CONFINE_CACHES_NONE;
    if (!code)
        confine_process(&confinement);
    return code;
}

static int list(const struct options *options, const struct plugin_isolation *trial, struct error *err)
{
    struct device *device = NULL;
    struct registry *registry = NULL;
    struct names candidates = {0};
    name_check_candidates(options, &candidates);
    struct registry_request request = {
        .baselines = family_names,
        .candidates = (const char *const *)candidates.list,
        .layouts = CUDAL2_BIT(CUDAL2_NN) | CUDAL2_BIT(CUDAL2_TN),
        .plugin_directory = options->plugins,
        .kernel_directory = options->kernels,
    };
    isolation_watch(trial, &request);
    int code = open_confined(options, &device, err);
    if (!code)
        code = registry_open(&request, device, &registry, err);
    if (!code && !print_registry(device, registry, options->kernels, trial->printed))
        code = error_set(err, EXIT_CODE_UNAVAILABLE, "the list of contenders could not be handed over");
    if (registry)
        registry_close(registry);
    if (device)
        device->ops->close(device);
    names_free(&candidates);
    return code;
}

int command_list(const struct options *options, struct error *err)
{
    bool child = false;
    if (name_check_options(options, NULL, err))
        return err->code;
    struct plugin_isolation *trial = calloc(1, sizeof *trial); /* too large for a small stack */
    if (!trial)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for the names of plugins");
    trial->seconds = LOAD_SECONDS;
    int code = isolation_fork(trial, &child, err);
    if (child)
        code = list(options, trial, err);
    free(trial);
    return code;
}
