/*
 * registry.c - all contenders of a run: families looked for in the plugin directory, kernel sets and paths from the
 * config, with the reason for each that is missing. libtorch is opened first. Called by worker.c and `list`.
 */
#include "base/text.h"
#include "base/digest.h"
#include "base/file.h"
#include "base/grow.h"
#include "base/json.h"
#include "contender/module.h"
#include "contender/naming.h"
#include "contender/plugin.h"
#include "contender/plugin_exports.h"
#include "contender/plugin_remote.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define MAX_SOURCES 96
#define VERSIONS_BYTES 8192

/* What one request entry turned out to be. Plugins are shared by the families that live in one file. */
struct loaded_plugin {
    struct plugin plugin;
    char name[CONTENDER_NAME_MAX]; /* what it is announced as: the file's, told apart from others of the same */
    bool opened;
    char reason[CUDAL2_WHY]; /* when not opened */
    enum verdict verdict;
};

struct registry {
    struct device *device;
    uint32_t layouts;
    char plugin_directory[PLUGIN_PATH_MAX];
    const struct registry_request *request; /* while registry_open runs */
    const char *asked;                      /* the name of it that is being looked up */
    void (*loading)(void *context, const char *plugin);
    void *loading_context;
    const char *kernel_directory;
    struct loaded_plugin *plugins[MAX_SOURCES];
    size_t n_plugins;
    struct module_set *sets[MAX_SOURCES];
    size_t n_sets;
    struct contender *contenders;
    size_t n_contenders, capacity;
};

/* --- names and paths --- */

/* File name without directories and extension: what an unloadable path is called in the results. */
static void stem_of(const char *path, char *out, size_t capacity)
{
    const char *slash = strrchr(path, '/');
    snprintf(out, capacity, "%s", slash ? slash + 1 : path);
    char *dot = strrchr(out, '.');
    if (dot && (strcmp(dot, ".so") == 0 || strcmp(dot, ".json") == 0))
        *dot = '\0';
}

/* The file that holds a family: <family>.so, or <word>.so where the word ends at the first '-' or '.', so that
 * cublaslt-heuristic and cublaslt-autotuning share cublaslt.so and torch.matmul is in torch.so. False when neither
 * exists; `path` then names the second. */
static bool plugin_file(const struct registry *r, const char *family, char *path, size_t capacity)
{
    const int lengths[] = {(int)strlen(family), (int)strcspn(family, "-.")};
    for (size_t i = 0; i < 2; i++) {
        int n = snprintf(path, capacity, "%s/%.*s.so", r->plugin_directory, lengths[i], family);
        if (n > 0 && (size_t)n < capacity && access(path, R_OK) == 0)
            return true;
    }
    return false;
}

/* --- growing the list --- */

static int add(struct registry *r, const struct contender *c, struct error *err)
{
    if (naming_called(r->contenders, r->n_contenders, c->name))
        return error_set(err, EXIT_CODE_DATA, "two contenders are called \"%s\": name each family once", c->name);
    struct contender *grown = grow_for_one(r->contenders, r->n_contenders, &r->capacity, sizeof *grown);
    if (!grown)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory");
    r->contenders = grown;
    r->contenders[r->n_contenders] = *c;
    r->contenders[r->n_contenders++].asked = r->asked;
    return 0;
}

static struct contender unavailable(const char *request, enum contender_role role, const char *reason)
{
    struct contender c = {.role = role};
    stem_of(request, c.name, sizeof c.name);
    snprintf(c.family, sizeof c.family, "%s", c.name);
    snprintf(c.reason, sizeof c.reason, "%s", reason);
    return c;
}

static int add_unavailable(struct registry *r, const char *request, enum contender_role role, const char *reason,
                           struct error *err)
{
    struct contender c = unavailable(request, role, reason);
    if (text_is_contender_file(request))
        naming_apart(r->contenders, r->n_contenders, c.name);
    return add(r, &c, err);
}

/* --- plugins --- */

static void announce(const struct registry *r, const char *plugin)
{
    if (r->loading)
        r->loading(r->loading_context, plugin);
}

/* Two files of one name in different directories must not answer for each other. */
static void name_plugin(const struct registry *r, const char *path, char name[CONTENDER_NAME_MAX])
{
    unsigned before = 0;
    char stem[CONTENDER_NAME_MAX - 4], other[sizeof stem];
    stem_of(path, stem, sizeof stem);
    for (size_t i = 0; i < r->n_plugins; i++) {
        stem_of(r->plugins[i]->plugin.path, other, sizeof other);
        before += strcmp(stem, other) == 0;
    }
    snprintf(name, CONTENDER_NAME_MAX, before > 0 ? "%s~%u" : "%s", stem, before + 1);
}

/* True when the request says not to load it, with the reason why. */
static bool refused(const struct registry *r, struct loaded_plugin *loaded)
{
    for (size_t i = 0; i < r->request->n_refused; i++) {
        const struct plugin_refusal *refusal = &r->request->refused[i];
        if (strcmp(refusal->name, loaded->name) != 0)
            continue;
        loaded->verdict = refusal->verdict;
        snprintf(loaded->reason, sizeof loaded->reason, "while it was loaded: %s", refusal->reason);
        return true;
    }
    return false;
}

static void load(struct registry *r, const char *path, struct loaded_plugin *loaded)
{
    struct error err;
    snprintf(loaded->plugin.path, sizeof loaded->plugin.path, "%s", path);
    if (refused(r, loaded))
        return;
    announce(r, loaded->name);
    int code = r->request->processes
                   ? remote_plugin_open(r->request->processes, path, &r->device->info, &loaded->plugin, &err)
                   : plugin_open(path, &r->device->info, &loaded->plugin, &err);
    loaded->opened = code == 0;
    announce(r, "");
    if (!loaded->opened)
        snprintf(loaded->reason, sizeof loaded->reason, "%.*s", (int)sizeof loaded->reason - 1, err.text);
}

static struct loaded_plugin *open_plugin(struct registry *r, const char *path)
{
    for (size_t i = 0; i < r->n_plugins; i++)
        if (strcmp(r->plugins[i]->plugin.path, path) == 0)
            return r->plugins[i];
    struct loaded_plugin *loaded = r->n_plugins < MAX_SOURCES ? calloc(1, sizeof *loaded) : NULL;
    if (!loaded)
        return NULL;
    name_plugin(r, path, loaded->name);
    load(r, path, loaded);
    r->plugins[r->n_plugins++] = loaded;
    return loaded;
}

static bool has_misnamed(const struct registry *r, const struct loaded_plugin *loaded, enum contender_role role,
                         char reason[CUDAL2_WHY])
{
    bool any = false;
    for (size_t i = 0; i < loaded->plugin.is->n_contenders && !any; i++) {
        struct contender c;
        plugin_contender(&loaded->plugin, i, role, &c);
        any = naming_is_wrong(r->contenders, r->n_contenders, &c, reason);
    }
    return any;
}

/* Adds the plugin's contenders of `family` (NULL: of every family) in the layouts asked for. */
static int add_of_plugin(struct registry *r, const struct loaded_plugin *loaded, const char *family,
                         enum contender_role role, struct error *err)
{
    size_t known = 0;
    for (size_t i = 0; i < loaded->plugin.is->n_contenders; i++) {
        struct contender c;
        plugin_contender(&loaded->plugin, i, role, &c);
        if (family && strcmp(family, c.family) != 0)
            continue;
        known++;
        if (c.has_layout_suffix && !(r->layouts & CUDAL2_BIT(c.is.layout)))
            continue;
        if (c.available)
            c.available = contender_runs_on(&c, &r->device->info, c.reason);
        int rc = add(r, &c, err);
        if (rc)
            return rc;
    }
    if (known > 0)
        return 0;
    char reason[CUDAL2_WHY];
    snprintf(reason, sizeof reason, "%.180s has no contender family of this name", loaded->plugin.path);
    return add_unavailable(r, family, role, reason, err);
}

static int add_plugin(struct registry *r, const char *request, const char *path, enum contender_role role,
                      struct error *err)
{
    struct loaded_plugin *loaded = open_plugin(r, path);
    if (!loaded)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory, or more than %d plugins", MAX_SOURCES);
    if (!loaded->opened) {
        struct contender c = unavailable(request, role, loaded->reason);
        c.verdict = loaded->verdict;
        return add(r, &c, err);
    }
    char reason[CUDAL2_WHY];
    if (text_is_contender_file(request) && has_misnamed(r, loaded, role, reason))
        return add_unavailable(r, request, role, reason, err);
    return add_of_plugin(r, loaded, text_is_contender_file(request) ? NULL : request, role, err);
}

/* --- kernel sets --- */

static int add_set(struct registry *r, const char *request, enum contender_role role, struct error *err)
{
    struct module_set *set;
    struct error why;
    if (r->n_sets == MAX_SOURCES)
        return error_set(err, EXIT_CODE_DATA, "more than %d kernel sets", MAX_SOURCES);
    if (module_set_open(request, r->kernel_directory, r->device, &set, &why) != 0) {
        why.text[CUDAL2_WHY - 1] = '\0';
        return add_unavailable(r, request, role, why.text, err);
    }
    r->sets[r->n_sets++] = set;
    struct contender named;
    char reason[CUDAL2_WHY];
    module_set_contender(set, CUDAL2_NN, &named);
    named.role = role;
    if (text_is_contender_file(request) && naming_is_wrong(r->contenders, r->n_contenders, &named, reason))
        return add_unavailable(r, request, role, reason, err);
    for (unsigned layout = CUDAL2_NN; layout <= CUDAL2_TN; layout++) {
        struct contender c;
        if (!(r->layouts & CUDAL2_BIT(layout)))
            continue;
        module_set_contender(set, (enum cudal2_layout)layout, &c);
        c.role = role;
        int rc = add(r, &c, err);
        if (rc)
            return rc;
    }
    return 0;
}

/* --- the request --- */

static int add_request(struct registry *r, const char *request, enum contender_role role, struct error *err)
{
    char path[PLUGIN_PATH_MAX];
    if (text_ends_with(request, ".so")) {
        /* A bare file name would make the loader search the system's library directories. */
        snprintf(path, sizeof path, "%s%s", strchr(request, '/') ? "" : "./", request);
        return add_plugin(r, request, path, role, err);
    }
    bool in_plugin =
        !text_ends_with(request, ".json") && !strchr(request, '/') && plugin_file(r, request, path, sizeof path);
    if (in_plugin)
        return add_plugin(r, request, path, role, err);
    if (role == ROLE_CANDIDATE || text_ends_with(request, ".json") ||
        module_set_installed(request, r->kernel_directory))
        return add_set(r, request, role, err);
    char reason[CUDAL2_WHY];
    snprintf(reason, sizeof reason, "not built: there is no %.120s (make probe says which library is missing)", path);
    return add_unavailable(r, request, role, reason, err);
}

/* libtorch is loaded before the cuBLAS plugins whenever both are raced: both want a library called libcublas.so.N,
 * the first one mapped serves everybody, and libtorch does not load with one older than its own. */
static void open_torch_first(struct registry *r, const char *const *baselines)
{
    char path[PLUGIN_PATH_MAX];
    for (size_t i = 0; baselines && baselines[i]; i++)
        if (strncmp(baselines[i], "torch.", 6) == 0 && !text_ends_with(baselines[i], ".so") &&
            plugin_file(r, baselines[i], path, sizeof path))
            open_plugin(r, path);
}

static int add_all(struct registry *r, const char *const *requests, enum contender_role role, struct error *err)
{
    for (size_t i = 0; requests && requests[i]; i++) {
        r->asked = requests[i];
        int rc = add_request(r, requests[i], role, err);
        if (rc)
            return rc;
    }
    return 0;
}

static int choose_plugin_directory(struct registry *r, const char *given, struct error *err)
{
    char here[PLUGIN_PATH_MAX - 16];
    if (given) {
        snprintf(r->plugin_directory, sizeof r->plugin_directory, "%s", given);
        return 0;
    }
    int rc = file_executable_directory(here, sizeof here, err);
    if (rc == 0)
        snprintf(r->plugin_directory, sizeof r->plugin_directory, "%s/plugins", here);
    return rc;
}

int registry_open(const struct registry_request *request, struct device *device, struct registry **out,
                  struct error *err)
{
    struct registry *r = calloc(1, sizeof *r);
    if (!r)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory");
    r->device = device;
    r->layouts = request->layouts;
    r->kernel_directory = request->kernel_directory;
    r->request = request;
    r->loading = request->loading;
    r->loading_context = request->loading_context;
    int rc = choose_plugin_directory(r, request->plugin_directory, err);
    if (rc == 0) {
        open_torch_first(r, request->baselines);
        rc = add_all(r, request->baselines, ROLE_BASELINE, err);
    }
    if (rc == 0)
        rc = add_all(r, request->candidates, ROLE_CANDIDATE, err);
    r->request = NULL;
    if (rc) {
        registry_close(r);
        r = NULL;
    }
    *out = r;
    return rc;
}

size_t registry_sets(const struct registry *r, const char **names, size_t capacity)
{
    size_t n = 0;
    while (n < r->n_sets && n < capacity) {
        names[n] = module_set_name(r->sets[n]);
        n++;
    }
    return n;
}

size_t registry_precompile(const struct registry *r, const struct precompile_request *request)
{
    size_t n = 0;
    for (size_t i = 0; i < r->n_sets; i++)
        n += module_set_precompile(r->sets[i], request);
    return n;
}

void registry_list_kernels(const struct registry *r, const struct precompile_request *request,
                           const struct compile_sink *sink)
{
    for (size_t i = 0; i < r->n_sets; i++)
        module_set_list(r->sets[i], request, sink);
}

void registry_close(struct registry *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->n_sets; i++)
        module_set_close(r->sets[i]);
    for (size_t i = 0; i < r->n_plugins; i++) {
        remote_plugin_close(&r->plugins[i]->plugin);
        free(r->plugins[i]);
    }
    free(r->contenders);
    free(r);
}

size_t registry_count(const struct registry *r)
{
    return r->n_contenders;
}

const struct contender *registry_at(const struct registry *r, size_t index)
{
    return &r->contenders[index];
}

/* --- versions --- */

/* Parses what a plugin wrote; an object that says so when it is not JSON. */
static cJSON *versions_object(const char *text, const char *source)
{
    cJSON *object = NULL;
    struct error err = {0};
    if (text && json_parse(text, strlen(text), VERSIONS_BYTES, source, &object, &err) == 0 && cJSON_IsObject(object))
        return object;
    cJSON_Delete(object);
    object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "error", err.text[0] ? err.text : "gave no versions");
    return object;
}

/* The plugin file's content identifies a candidate as a source hash does for a kernel. */
static void put_file_digest(cJSON *object, const char *path)
{
    char *bytes;
    size_t length;
    struct error ignored;
    if (file_read(path, PLUGIN_MAX_BYTES, &bytes, &length, &ignored) != 0)
        return;
    struct digest digest;
    char hex[DIGEST_HEX];
    digest_start(&digest);
    digest_add(&digest, bytes, length);
    digest_finish(&digest, hex);
    cJSON_AddStringToObject(object, "plugin_digest", hex);
    free(bytes);
}

static cJSON *versions_of(const struct registry *r, const struct loaded_plugin *loaded)
{
    char text[VERSIONS_BYTES] = "{}";
    const struct plugin *plugin = &loaded->plugin;
    announce(r, loaded->name);
    bool given = plugin_versions(plugin, text, sizeof text) == CUDAL2_OK;
    announce(r, "");
    text[sizeof text - 1] = '\0';
    cJSON *object = versions_object(given ? text : NULL, plugin->path);
    put_file_digest(object, plugin->path);
    if (strcmp(loaded->name, plugin->is->name) != 0) /* by which a worker may be told to leave it out */
        cJSON_AddStringToObject(object, "plugin_name", loaded->name);
    return object;
}

/* Two files may hold plugins of one name, two builds of it for one: the second goes by its path. */
static const char *key_of(const cJSON *all, const struct plugin *plugin)
{
    return cJSON_GetObjectItem(all, plugin->is->name) ? plugin->path : plugin->is->name;
}

char *registry_versions(const struct registry *r)
{
    char text[VERSIONS_BYTES];
    cJSON *all = cJSON_CreateObject();
    for (size_t i = 0; i < r->n_plugins; i++)
        if (r->plugins[i]->opened)
            cJSON_AddItemToObject(all, key_of(all, &r->plugins[i]->plugin), versions_of(r, r->plugins[i]));
    for (size_t i = 0; i < r->n_sets; i++) {
        const char *name = module_set_name(r->sets[i]);
        bool given = module_set_versions(r->sets[i], text, sizeof text) == 0;
        cJSON_AddItemToObject(all, name, versions_object(given ? text : NULL, name));
    }
    char *printed = json_print(all, false);
    cJSON_Delete(all);
    return printed;
}
