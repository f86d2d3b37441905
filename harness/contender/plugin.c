/*
 * plugin.c - opens a plugin: checks its exports first, then dlopen, ABI number, declarations and probe, and wraps its
 * hooks as struct contender. Relies on plugin_exports.c. Called by registry.c in the worker.
 */
#include "contender/plugin.h"
#include "base/stack_guard.h"
#include "contender/plugin_exports.h"
#include "contender/plugin_remote.h"

#include <dlfcn.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>

/* --- hooks of a plugin's contender behind contender_ops --- */

static const struct cudal2_contender *hooks_of(const struct contender *c)
{
    return c->origin;
}

/* A hook that fails without a reason still gets one line, and one that wrote too much is cut. */
static int with_reason(int status, const char *hook, char *why)
{
    why[CUDAL2_WHY - 1] = '\0';
    if (status != CUDAL2_OK && why[0] == '\0')
        snprintf(why, CUDAL2_WHY, "%s returned status %d and gave no reason", hook, status);
    error_one_line(why);
    return status;
}

/* ---- what a hook is handed ---- */

/* The setup of ABI 1, whose problem is shorter. */
struct setup_abi1 {
    struct {
        int64_t m, n, k;
        enum cudal2_dtype dtype;
        enum cudal2_accumulate accumulate;
    } problem;
    enum cudal2_layout layout;
    const struct cudal2_operands *sets;
    size_t n_sets;
    void *workspace;
    size_t workspace_bytes;
    void *stream;
    int device_ordinal;
    int threads;
    const char *variant;
};

/* Either of them, for as long as the call lasts. */
union handed {
    struct cudal2_setup now;
    struct setup_abi1 old;
};

static const struct cudal2_setup *hand(const struct contender *c, const struct cudal2_setup *s, union handed *out)
{
    const struct cudal2_problem *p = &s->problem;
    if (!c->old_abi) {
        out->now = *s;
        out->now.problem = problem_full(p, s->layout);
        return &out->now;
    }
    out->old = (struct setup_abi1){.problem = {p->m, p->n, p->k, p->dtype, p->accumulate},
                                   .layout = s->layout,
                                   .sets = s->sets,
                                   .n_sets = s->n_sets,
                                   .workspace = s->workspace,
                                   .workspace_bytes = s->workspace_bytes,
                                   .stream = s->stream,
                                   .device_ordinal = s->device_ordinal,
                                   .threads = s->threads,
                                   .variant = s->variant};
    return &out->now;
}

static int call_list_variants(const struct contender *c, const struct cudal2_setup *setup, struct cudal2_variant *out,
                              size_t capacity, char *why)
{
    why[0] = '\0';
    union handed handed;
    int n = hooks_of(c)->list_variants(hand(c, setup, &handed), out, capacity, why);
    if (n < 0)
        return with_reason(n, "list_variants", why);
    size_t count = (size_t)n > capacity ? capacity : (size_t)n;
    for (size_t i = 0; i < count; i++)
        out[i].key[sizeof out[i].key - 1] = '\0';
    return (int)count;
}

static int call_setup(const struct contender *c, const struct cudal2_setup *setup, void **state, char *why)
{
    why[0] = '\0';
    *state = NULL;
    union handed handed;
    return with_reason(hooks_of(c)->setup(hand(c, setup, &handed), state, why), "setup", why);
}

/* The timed path: nothing but the call. There a device guards the stack, and this guard does nothing. */
static int call_launch(const struct contender *c, void *state, size_t set, char *why)
{
    struct stack_guard guard;
    stack_guard_begin(&guard, __builtin_frame_address(0), why, CUDAL2_WHY);
    int status = hooks_of(c)->launch(state, set, why);
    (void)stack_guard_end(&guard);
    return status;
}

/* malloc may keep what was freed and take new memory at the next setup. What a contender holds is measured behind a
 * teardown, and memory that it has freed is not held. On a GPU the device's memory is measured. */
static void give_back_freed(const struct cudal2_contender *hooks)
{
    if (hooks->devices & CUDAL2_ON_CPU)
        (void)malloc_trim(0);
}

static void call_teardown(const struct contender *c, void *state)
{
    hooks_of(c)->teardown(state);
    give_back_freed(hooks_of(c));
}

static int call_describe(const struct contender *c, void *state, char *out, size_t capacity)
{
    if (!hooks_of(c)->describe) {
        snprintf(out, capacity, "{}");
        return CUDAL2_OK;
    }
    out[0] = '\0';
    int status = hooks_of(c)->describe(state, out, capacity);
    out[capacity - 1] = '\0';
    return status;
}

static const struct contender_ops plugin_ops = {
    .list_variants = call_list_variants,
    .setup = call_setup,
    .launch = call_launch,
    .teardown = call_teardown,
    .describe = call_describe,
};

/* Without the hook a contender has one way to do a problem and nothing to race. */
static const struct contender_ops plugin_ops_single = {
    .setup = call_setup,
    .launch = call_launch,
    .teardown = call_teardown,
    .describe = call_describe,
};

/* --- declarations --- */

static bool is_good_name(const char *name)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    size_t length = name ? strlen(name) : 0;
    return length > 0 && length < CONTENDER_NAME_MAX && strspn(name, allowed) == length;
}

static const char *wrong_declaration(const struct cudal2_contender *c, bool here)
{
    if (here && (!c->setup || !c->launch || !c->teardown))
        return "lacks setup, launch or teardown";
    if (c->layout != CUDAL2_NN && c->layout != CUDAL2_TN)
        return "declares an unknown layout";
    if (c->devices == 0 || c->dtypes == 0 || c->accumulates == 0)
        return "declares no device, dtype or accumulate";
    if (c->m_multiple < 0 || c->n_multiple < 0 || c->k_multiple < 0 || c->min_cc < 0 || c->max_cc < 0)
        return "declares a negative limit";
    return NULL;
}

int plugin_check(const struct plugin *plugin, struct error *err)
{
    const struct cudal2_plugin *p = plugin->is;
    const char *path = plugin->path;
    if (!p || !is_good_name(p->name))
        return error_set(err, EXIT_CODE_DATA, "%s: cudal2_plugin() gives no plugin with a proper name", path);
    if (!p->contenders || p->n_contenders == 0 || p->n_contenders > PLUGIN_MAX_CONTENDERS)
        return error_set(err, EXIT_CODE_DATA, "%s: declares %zu contenders (1 to %d expected)", path, p->n_contenders,
                         PLUGIN_MAX_CONTENDERS);
    for (size_t i = 0; i < p->n_contenders; i++) {
        if (!is_good_name(p->contenders[i].name))
            return error_set(err, EXIT_CODE_DATA, "%s: contender %zu has no proper name", path, i);
        const char *wrong = wrong_declaration(&p->contenders[i], plugin->remote == NULL);
        if (wrong)
            return error_set(err, EXIT_CODE_DATA, "%s: contender %s %s", path, p->contenders[i].name, wrong);
    }
    return 0;
}

/* --- loading --- */

static int open_object(const char *path, void **handle, struct error *err)
{
    *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (*handle)
        return 0;
    const char *reason = dlerror();
    return error_set(err, EXIT_CODE_UNAVAILABLE, "cannot be loaded: %.600s", reason ? reason : path);
}

static int check_abi(const char *path, void *handle, uint32_t *out, struct error *err)
{
    const uint32_t *abi = dlsym(handle, "cudal2_plugin_abi");
    if (!abi)
        return error_set(err, EXIT_CODE_DATA, "%s: no symbol cudal2_plugin_abi", path);
    if (*abi < CUDAL2_ABI_OLDEST || *abi > CUDAL2_ABI)
        return error_set(err, EXIT_CODE_DATA,
                         "%s: built for plugin ABI %u, this program speaks %u to %u: rebuild the plugin", path,
                         (unsigned)*abi, (unsigned)CUDAL2_ABI_OLDEST, (unsigned)CUDAL2_ABI);
    *out = *abi;
    return 0;
}

static int call_entry(const char *path, void *handle, const struct cudal2_plugin **out, struct error *err)
{
    const struct cudal2_plugin *(*entry)(void);
    void *symbol = dlsym(handle, "cudal2_plugin");
    if (!symbol)
        return error_set(err, EXIT_CODE_DATA, "%s: no symbol cudal2_plugin", path);
    memcpy(&entry, &symbol, sizeof entry); /* ISO C has no cast from object to function pointer */
    *out = entry();
    return 0;
}

static void probe(struct plugin *plugin, const struct device_info *device)
{
    plugin->usable = true;
    plugin->reason[0] = '\0';
    if (!plugin->is->probe)
        return;
    int status = plugin->is->probe(device->device_bit, device->ordinal, plugin->reason);
    plugin->usable = with_reason(status, "probe", plugin->reason) == CUDAL2_OK;
}

int plugin_open(const char *path, const struct device_info *device, struct plugin *out, struct error *err)
{
    memset(out, 0, sizeof *out);
    if ((size_t)snprintf(out->path, sizeof out->path, "%s", path) >= sizeof out->path)
        return error_set(err, EXIT_CODE_DATA, "%.100s...: the path is too long", path);
    void *handle;
    int rc = plugin_check_exports(path, err);
    if (rc == 0)
        rc = open_object(path, &handle, err);
    if (rc == 0)
        rc = check_abi(path, handle, &out->abi, err);
    if (rc == 0)
        rc = call_entry(path, handle, &out->is, err);
    if (rc == 0)
        rc = plugin_check(out, err);
    if (rc == 0)
        probe(out, device);
    return rc;
}

int plugin_versions(const struct plugin *plugin, char *out, size_t capacity)
{
    if (plugin->remote)
        return remote_plugin_versions(plugin->remote, out, capacity);
    return plugin->is->versions ? plugin->is->versions(out, capacity) : CUDAL2_OK;
}

bool plugin_family(const struct cudal2_contender *c, char *family)
{
    static const char *const suffixes[] = {[CUDAL2_NN] = "-nn", [CUDAL2_TN] = "-tn"};
    snprintf(family, CONTENDER_NAME_MAX, "%s", c->name);
    size_t length = strlen(family);
    if (length <= 3 || strcmp(family + length - 3, suffixes[c->layout]) != 0)
        return false;
    family[length - 3] = '\0';
    return true;
}

void plugin_contender(const struct plugin *plugin, size_t index, enum contender_role role, struct contender *out)
{
    const struct cudal2_contender *is = &plugin->is->contenders[index];
    memset(out, 0, sizeof *out);
    snprintf(out->name, sizeof out->name, "%s", is->name);
    out->has_layout_suffix = plugin_family(is, out->family);
    out->role = role;
    out->is = *is;
    out->old_abi = plugin->abi < CUDAL2_ABI;
    if (out->old_abi) /* what it could not know of it does not mean */
        out->is.flags &= ~(uint32_t)(CUDAL2_STRIDES | CUDAL2_SCALES);
    if (plugin->remote) {
        out->ops = remote_plugin_ops(plugin->remote, index);
        out->origin = &plugin->remote->remote[index];
    } else {
        out->ops = is->list_variants ? &plugin_ops : &plugin_ops_single;
        out->origin = is;
    }
    out->available = plugin->usable;
    snprintf(out->reason, sizeof out->reason, "%s", plugin->reason);
}
