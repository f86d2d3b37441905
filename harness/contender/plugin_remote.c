/*
 * plugin_remote.c - hooks of a plugin in a process of its own: puts what they are handed into the mailbox, asks, and
 * takes copies of what comes back, cut and checked. Relies on plugin_process.c. Called by plugin.c and registry.c.
 */
#include "contender/plugin_remote.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A copy of text that its writer may change at any moment, terminated and one line. */
static void take_text(char *to, size_t capacity, const char *from)
{
    memcpy(to, from, capacity - 1);
    to[capacity - 1] = '\0';
}

static void take_line(char *to, size_t capacity, const char *from)
{
    take_text(to, capacity, from);
    error_one_line(to);
}

/* ---- hooks ---- */

static const struct remote_contender *origin_of(const struct contender *c)
{
    return c->origin;
}

static struct plugin_mailbox *mailbox_of(const struct contender *c)
{
    return plugin_process_mailbox(origin_of(c)->process);
}

static int ask(const struct contender *c, struct mailbox_question *q)
{
    q->contender = origin_of(c)->index;
    return plugin_process_ask(origin_of(c)->process, q);
}

static void put_setup(struct plugin_mailbox *m, const struct cudal2_setup *s)
{
    size_t n = s->n_sets < MAILBOX_SETS ? s->n_sets : MAILBOX_SETS;
    m->setup = *s;
    m->setup.n_sets = n;
    memcpy(m->sets, s->sets, n * sizeof *m->sets);
    m->has_variant = s->variant != NULL;
    snprintf(m->variant, sizeof m->variant, "%s", s->variant ? s->variant : "");
}

static int ask_list_variants(const struct contender *c, const struct cudal2_setup *setup, struct cudal2_variant *out,
                             size_t capacity, char *why)
{
    struct plugin_mailbox *m = mailbox_of(c);
    uint32_t most = capacity < MAILBOX_VARIANTS ? (uint32_t)capacity : MAILBOX_VARIANTS;
    put_setup(m, setup);
    int n = ask(c, &(struct mailbox_question){.hook = MAILBOX_LIST_VARIANTS, .capacity = most});
    take_line(why, CUDAL2_WHY, m->why);
    n = n > (int)most ? (int)most : n;
    for (int i = 0; i < n; i++)
        take_text(out[i].key, sizeof out[i].key, m->variants[i].key);
    return n;
}

static int ask_setup(const struct contender *c, const struct cudal2_setup *setup, void **state, char *why)
{
    struct plugin_mailbox *m = mailbox_of(c);
    put_setup(m, setup);
    int status = ask(c, &(struct mailbox_question){.hook = MAILBOX_SETUP});
    *state = (void *)(uintptr_t)m->answer.state;
    take_line(why, CUDAL2_WHY, m->why);
    return status;
}

/* The timed path. */
static int ask_launch(const struct contender *c, void *state, size_t set, char *why)
{
    const struct mailbox_question q = {
        .hook = MAILBOX_LAUNCH, .contender = origin_of(c)->index, .state = (uint64_t)(uintptr_t)state, .set = set};
    int status = plugin_process_ask(origin_of(c)->process, &q);
    if (status != CUDAL2_OK)
        take_line(why, CUDAL2_WHY, mailbox_of(c)->why);
    return status;
}

static void ask_teardown(const struct contender *c, void *state)
{
    (void)ask(c, &(struct mailbox_question){.hook = MAILBOX_TEARDOWN, .state = (uint64_t)(uintptr_t)state});
}

static int ask_describe(const struct contender *c, void *state, char *out, size_t capacity)
{
    struct plugin_mailbox *m = mailbox_of(c);
    size_t room = capacity < MAILBOX_TEXT ? capacity : MAILBOX_TEXT;
    int status = ask(c, &(struct mailbox_question){
                            .hook = MAILBOX_DESCRIBE, .capacity = (uint32_t)room, .state = (uint64_t)(uintptr_t)state});
    take_text(out, room, m->text);
    return status;
}

static void wake(const struct contender *c)
{
    plugin_process_wake(origin_of(c)->process);
}

static bool rest(const struct contender *c)
{
    plugin_process_rest(origin_of(c)->process);
    return !plugin_process_is_astray(origin_of(c)->process);
}

static void watch(const struct contender *c, const struct contender_range ranges[CONTENDER_WATCHED])
{
    struct plugin_mailbox *m = mailbox_of(c);
    memcpy(m->watch, ranges, sizeof m->watch);
    const struct mailbox_question q = {.hook = MAILBOX_WATCH, .contender = origin_of(c)->index};
    (void)plugin_process_ask(origin_of(c)->process, &q);
}

static bool lend(const struct contender *c, const void *from, const void *to, bool keep)
{
    return plugin_process_lend(origin_of(c)->process, from, to, keep);
}

static void mapped(const struct contender *c, struct mapped *out)
{
    plugin_process_mapped(origin_of(c)->process, out);
}

static const struct contender_ops remote_ops = {
    .list_variants = ask_list_variants,
    .setup = ask_setup,
    .launch = ask_launch,
    .teardown = ask_teardown,
    .describe = ask_describe,
    .wake = wake,
    .rest = rest,
    .watch = watch,
    .lend = lend,
    .mapped = mapped,
};

static const struct contender_ops remote_ops_single = {
    .setup = ask_setup,
    .launch = ask_launch,
    .teardown = ask_teardown,
    .describe = ask_describe,
    .wake = wake,
    .rest = rest,
    .watch = watch,
    .lend = lend,
    .mapped = mapped,
};

const struct contender_ops *remote_plugin_ops(const struct remote_plugin *plugin, size_t index)
{
    return plugin->lists_variants[index] ? &remote_ops : &remote_ops_single;
}

int remote_plugin_versions(const struct remote_plugin *plugin, char *out, size_t capacity)
{
    const struct mailbox_question q = {.hook = MAILBOX_VERSIONS};
    if (!plugin->tells_versions)
        return CUDAL2_OK;
    int status = plugin_process_ask(plugin->process, &q);
    take_text(out, capacity < MAILBOX_TEXT ? capacity : MAILBOX_TEXT, plugin_process_mailbox(plugin->process)->text);
    return status;
}

/* ---- loading ---- */

static void take_contender(struct remote_plugin *r, size_t i, const struct mailbox_contender *from)
{
    struct cudal2_contender *to = &r->contenders[i];
    *to = from->is;
    take_line(r->names[i], sizeof r->names[i], from->name);
    to->name = r->names[i];
    to->list_variants = NULL;
    to->setup = NULL;
    to->launch = NULL;
    to->teardown = NULL;
    to->describe = NULL;
    r->lists_variants[i] = from->lists_variants;
    r->remote[i] = (struct remote_contender){r->process, (uint32_t)i};
}

/* The declarations were checked over there, by code that shares its memory with the plugin: once more. */
static int take_plugin(struct remote_plugin *r, struct plugin *out, struct error *err)
{
    const struct mailbox_plugin *m = &plugin_process_mailbox(r->process)->plugin;
    uint32_t n = m->n_contenders;
    if (n == 0 || n > PLUGIN_MAX_CONTENDERS)
        return error_set(err, EXIT_CODE_DATA, "%s: declares %u contenders (1 to %d expected)", out->path, n,
                         PLUGIN_MAX_CONTENDERS);
    for (size_t i = 0; i < n; i++)
        take_contender(r, i, &m->contenders[i]);
    take_line(r->name, sizeof r->name, m->name);
    r->tells_versions = m->tells_versions;
    r->is = (struct cudal2_plugin){.name = r->name, .contenders = r->contenders, .n_contenders = n};
    out->is = &r->is;
    out->abi = m->abi;
    out->usable = m->usable;
    take_line(out->reason, sizeof out->reason, m->reason);
    out->remote = r;
    return plugin_check(out, err);
}

static int load(struct remote_plugin *r, const char *path, const struct device_info *device, struct error *err)
{
    struct plugin_mailbox *m = plugin_process_mailbox(r->process);
    const struct mailbox_question q = {.hook = MAILBOX_LOAD};
    snprintf(m->plugin.path, sizeof m->plugin.path, "%s", path);
    m->plugin.device = *device;
    int code = plugin_process_ask(r->process, &q);
    char text[sizeof m->plugin.err.text];
    take_line(text, sizeof text, m->plugin.err.text);
    return code == 0 ? 0 : error_set(err, code == EXIT_CODE_DATA ? EXIT_CODE_DATA : EXIT_CODE_UNAVAILABLE, "%s", text);
}

int remote_plugin_open(struct plugin_processes *all, const char *path, const struct device_info *device,
                       struct plugin *out, struct error *err)
{
    struct remote_plugin *r = calloc(1, sizeof *r);
    if (!r)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory");
    memset(out, 0, sizeof *out);
    int code = 0;
    if ((size_t)snprintf(out->path, sizeof out->path, "%s", path) >= sizeof out->path)
        code = error_set(err, EXIT_CODE_DATA, "%.100s...: the path is too long", path);
    if (!code && !(r->process = plugin_processes_begin(all, path, err)))
        code = err->code;
    if (!code)
        code = load(r, path, device, err);
    if (!code)
        code = take_plugin(r, out, err);
    if (code) {
        out->remote = NULL;
        free(r);
    }
    return code;
}

void remote_plugin_close(struct plugin *plugin)
{
    free(plugin->remote);
    plugin->remote = NULL;
}
