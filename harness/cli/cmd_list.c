#include "cli/commands.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "compile/kernels.h"
#include "contender/contender.h"

/* Every baseline family the project has; whether it is built here, the registry says. */
static const char *const families[] = {"torch.matmul",        "cublas",   "cublaslt-heuristic",
                                       "cublaslt-autotuning", "openblas", NULL};

#define VERSIONS_MAX_BYTES (1u << 20)

/* ---- what to ask for ---- */

struct names {
    char *names[CONFIG_NAMES_MAX + 1]; /* owned */
    size_t count;
};

static void names_add(struct names *n, const char *text, size_t length)
{
    if (n->count < CONFIG_NAMES_MAX)
        n->names[n->count] = strndup(text, length);
    n->count += n->count < CONFIG_NAMES_MAX && n->names[n->count];
}

static void names_free(struct names *n)
{
    for (size_t i = 0; i < n->count; i++)
        free(n->names[i]);
}

/* Calls names_add for every file of `directory` with this ending, in alphabetical order, without the ending. */
static void add_files(const char *directory, const char *ending, struct names *out)
{
    struct dirent **entries = NULL;
    int count = scandir(directory, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        size_t length = strlen(name), tail = strlen(ending);
        if (length > tail && strcmp(name + length - tail, ending) == 0)
            names_add(out, name, length - tail);
        free(entries[i]);
    }
    free(entries);
}

/* Whether families[] already brings this plugin in: its name is a family's, or a family's first word. */
static bool is_baseline(const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; families[i]; i++)
        if (strncmp(families[i], name, length) == 0 && strchr("-.", families[i][length]))
            return true;
    return false;
}

static void add_kernel_sets(const struct options *options, struct names *out)
{
    char directory[4096], sets[4096 + 8];
    struct error ignored;
    if (kernel_directory_find(options->kernels, directory, sizeof directory, &ignored))
        return;
    snprintf(sets, sizeof sets, "%s/sets", directory);
    add_files(sets, ".json", out);
}

static void add_plugins(const struct options *options, struct names *out)
{
    char directory[4096], plugins[4096 + 16];
    struct names found = {0};
    struct error ignored;
    if (file_executable_directory(directory, sizeof directory, &ignored))
        return;
    snprintf(plugins, sizeof plugins, "%s/plugins", directory);
    add_files(options->plugins ? options->plugins : plugins, ".so", &found);
    for (size_t i = 0; i < found.count; i++)
        if (!is_baseline(found.names[i]))
            names_add(out, found.names[i], strlen(found.names[i]));
    names_free(&found);
}

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
    add_kernel_sets(options, &candidates);
    add_plugins(options, &candidates);
    for (size_t i = 0; options->candidates[i]; i++)
        names_add(&candidates, options->candidates[i], strlen(options->candidates[i]));
    struct registry_request request = {
        .baselines = families,
        .candidates = (const char *const *)candidates.names,
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
