#include "cli/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "cli/known.h"
#include "contender/contender.h"

#define VERSIONS_MAX_BYTES (1u << 20)

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

static void print_contender(const struct contender *c)
{
    struct text dtypes = {0}, accumulates = {0};
    add_bits(&dtypes, c->is.dtypes, dtype_names);
    add_bits(&accumulates, c->is.accumulates, accumulate_names);
    bool known = c->is.dtypes != 0; /* a contender that could not be loaded declares nothing */
    printf("%-28s %-9s %-6s %-13s %-9s %s%s\n", c->name, c->role == ROLE_CANDIDATE ? "candidate" : "baseline",
           known ? layout_names[c->is.layout] : "-", dtypes.bytes ? dtypes.bytes : "", accumulates.bytes,
           c->available ? "available" : "not available: ", c->available ? "" : c->reason);
    text_free(&dtypes);
    text_free(&accumulates);
}

static void print_versions(const struct registry *registry)
{
    cJSON *all = NULL;
    struct error ignored;
    char *text = registry_versions(registry);
    if (text && !json_parse(text, strlen(text), VERSIONS_MAX_BYTES, "versions", &all, &ignored)) {
        printf("\nversions\n");
        for (const cJSON *plugin = all->child; plugin; plugin = plugin->next) {
            char *versions = json_print(plugin, false);
            printf("  %-20s %s\n", plugin->string, versions ? versions : "");
            free(versions);
        }
    }
    cJSON_Delete(all);
    free(text);
}

static void print_registry(const struct device *device, const struct registry *registry)
{
    printf("device: %s (%s)\n\n", device->info.name, device->info.kind);
    printf("%-28s %-9s %-6s %-13s %-9s %s\n", "contender", "role", "layout", "dtypes", "accum.", "here");
    for (size_t i = 0; i < registry_count(registry); i++)
        print_contender(registry_at(registry, i));
    print_versions(registry);
}

int command_list(const struct options *options, struct error *err)
{
    struct device *device = NULL;
    struct registry *registry = NULL;
    struct names candidates = {0};
    known_candidates(options, &candidates);
    struct registry_request request = {
        .baselines = family_names,
        .candidates = (const char *const *)candidates.list,
        .layouts = CUDAL2_BIT(CUDAL2_NN) | CUDAL2_BIT(CUDAL2_TN),
        .plugin_directory = options->plugins,
        .kernel_directory = options->kernels,
    };
    int code = device_open(options->device, NULL, &device, err);
    if (!code)
        code = registry_open(&request, device, &registry, err);
    if (!code)
        print_registry(device, registry);
    if (registry)
        registry_close(registry);
    if (device)
        device->ops->close(device);
    names_free(&candidates);
    return code;
}
