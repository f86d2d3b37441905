/*
 * plugin_server.c - the loop of a plugin's own process: waits for a question in the mailbox, runs the hook by plugin.c,
 * and answers. Relies on plugin.h. Called by plugin_process.c in the process that it has forked.
 */
#include "contender/plugin_server.h"
#include "contender/plugin_place.h"

#include <stdio.h>
#include <stdlib.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* What a setup was handed: it stays valid until teardown. */
struct handed {
    struct handed *next;
    const struct contender *contender;
    void *state;
    struct cudal2_setup setup;
    char variant[sizeof(struct cudal2_variant)];
    struct cudal2_operands sets[];
};

/* Memory that is read again and again while nothing is asked. */
struct watched {
    struct {
        const volatile char *from;
        size_t bytes;
    } parts[CONTENDER_WATCHED];
    size_t n, part, at; /* at: in the part that is read next */
};

struct server {
    struct plugin_mailbox *mailbox;
    struct plugin plugin;
    struct contender contenders[PLUGIN_MAX_CONTENDERS];
    struct handed *handed; /* to those that are set up */
    struct watched watched;
    void (*enter)(void *context);
    void *context;
    bool alone;
};

/* ---- loading ---- */

static void declare(struct server *s, size_t i)
{
    struct mailbox_contender *to = &s->mailbox->plugin.contenders[i];
    struct contender *c = &s->contenders[i];
    plugin_contender(&s->plugin, i, ROLE_CANDIDATE, c);
    to->is = c->is;
    snprintf(to->name, sizeof to->name, "%s", c->name);
    to->lists_variants = c->ops->list_variants != NULL;
}

static int load(struct server *s)
{
    struct mailbox_plugin *m = &s->mailbox->plugin;
    s->enter(s->context);
    if (plugin_open(m->path, &m->device, &s->plugin, &m->err) != 0)
        return m->err.code;
    for (size_t i = 0; i < s->plugin.is->n_contenders; i++)
        declare(s, i);
    snprintf(m->name, sizeof m->name, "%s", s->plugin.is->name);
    snprintf(m->reason, sizeof m->reason, "%s", s->plugin.reason);
    m->n_contenders = (uint32_t)s->plugin.is->n_contenders;
    m->abi = s->plugin.abi;
    m->usable = s->plugin.usable;
    m->tells_versions = s->plugin.is->versions != NULL;
    return 0;
}

/* ---- hooks ---- */

static int versions(const struct server *s)
{
    char *text = s->mailbox->text;
    text[0] = '\0';
    return s->plugin.is->versions(text, MAILBOX_TEXT);
}

static struct handed *take_handed(const struct plugin_mailbox *m)
{
    size_t n = m->setup.n_sets < MAILBOX_SETS ? m->setup.n_sets : MAILBOX_SETS;
    struct handed *h = malloc(sizeof *h + n * sizeof h->sets[0]);
    if (!h)
        return NULL;
    *h = (struct handed){.setup = m->setup};
    memcpy(h->sets, m->sets, n * sizeof h->sets[0]);
    memcpy(h->variant, m->variant, sizeof h->variant);
    h->setup.sets = h->sets;
    h->setup.variant = m->has_variant ? h->variant : NULL;
    return h;
}

static int set_up(struct server *s, const struct contender *c, void **state)
{
    struct handed *h = take_handed(s->mailbox);
    if (!h) {
        snprintf(s->mailbox->why, CUDAL2_WHY, "no memory for what setup is handed");
        return CUDAL2_NO_MEMORY;
    }
    int status = c->ops->setup(c, &h->setup, state, s->mailbox->why);
    if (status != CUDAL2_OK) {
        free(h);
        return status;
    }
    h->contender = c;
    h->state = *state;
    h->next = s->handed;
    s->handed = h;
    return status;
}

static void tear_down(struct server *s, const struct contender *c, void *state)
{
    c->ops->teardown(c, state);
    for (struct handed **at = &s->handed; *at; at = &(*at)->next) {
        struct handed *h = *at;
        if (h->contender != c || h->state != state)
            continue;
        *at = h->next;
        free(h);
        return;
    }
}

static int list_variants(struct server *s, const struct contender *c, size_t capacity)
{
    struct plugin_mailbox *m = s->mailbox;
    struct handed *h = take_handed(m);
    if (!h)
        return -CUDAL2_NO_MEMORY;
    int n = c->ops->list_variants(c, &h->setup, m->variants, capacity, m->why);
    free(h);
    return n;
}

/* ---- watching ---- */

#define WATCH_LINES 8 /* between two looks at the question */

/* What the harness has put there while the plugin stood still. */
static void watch(struct server *s)
{
    struct watched *w = &s->watched;
    for (size_t i = 0; i < CONTENDER_WATCHED; i++) {
        const struct contender_range range = s->mailbox->watch[i];
        if (range.bytes == 0)
            continue;
        w->parts[w->n].from = range.from;
        w->parts[w->n++].bytes = range.bytes;
    }
}

/* Reads a few lines. What is written there meanwhile comes from the writer's cache now, not in the launch. */
__attribute__((always_inline)) static inline void look_at_watched(struct watched *w)
{
    for (int i = 0; i < WATCH_LINES; i++) {
        (void)w->parts[w->part].from[w->at];
        w->at += MAILBOX_LINE;
        if (w->at < w->parts[w->part].bytes)
            continue;
        w->at = 0;
        w->part = (w->part + 1) % w->n;
    }
}

static int run_hook(struct server *s, const struct mailbox_question *q, void **state)
{
    struct plugin_mailbox *m = s->mailbox;
    const struct contender *c = &s->contenders[q->contender];
    switch ((enum mailbox_hook)q->hook) {
    case MAILBOX_LAUNCH:
        return c->ops->launch(c, *state, q->set, m->why);
    case MAILBOX_LOAD:
        return load(s);
    case MAILBOX_VERSIONS:
        return versions(s);
    case MAILBOX_LIST_VARIANTS:
        return list_variants(s, c, q->capacity);
    case MAILBOX_SETUP:
        return set_up(s, c, state);
    case MAILBOX_TEARDOWN:
        tear_down(s, c, *state);
        return CUDAL2_OK;
    case MAILBOX_DESCRIBE:
        return c->ops->describe(c, *state, m->text, q->capacity);
    case MAILBOX_WATCH:
        watch(s);
        break;
    case MAILBOX_HELLO:
        break;
    }
    return CUDAL2_OK;
}

/* Inlined, so that the thread waits in one frame, and nothing that a hook could change leads it out of here. */
__attribute__((always_inline)) static inline uint32_t
wait_for_question(struct server *s, const struct plugin_mailbox *m, uint32_t answered)
{
    uint32_t number = answered;
    for (unsigned i = 1; number == answered; i++) {
        if (s->watched.n > 0 && !s->alone)
            look_at_watched(&s->watched);
        else
            plugin_wait_a_moment(s->alone, i);
        number = atomic_load_explicit(&m->question.number, memory_order_acquire);
    }
    s->watched = (struct watched){0};
    return number;
}

/* A hook may have let its thread take signals that the worker blocks. Their handlers would run when the process goes on
 * after a stop, ahead of the start stamp, and warm code and caches for the launch. Behind the answer, so in no time
 * that counts. Not behind what runs none of the plugin's code: a timed launch may be the next question. */
static void block_signals_again(enum mailbox_hook hook, const sigset_t *at_start)
{
    if (hook != MAILBOX_HELLO && hook != MAILBOX_WATCH)
        (void)pthread_sigmask(SIG_SETMASK, at_start, NULL);
}

/* Stores past the caches keep no order with others: those of a launch are to be seen no later than its answer. */
static void drain_stores(void)
{
#ifdef __x86_64__
    __builtin_ia32_sfence();
#endif
}

_Noreturn void plugin_serve(struct plugin_mailbox *mailbox, bool alone, void (*enter)(void *context), void *context)
{
    static struct server server; /* too large for a stack */
    sigset_t at_start;
    (void)pthread_sigmask(SIG_SETMASK, NULL, &at_start);
    server = (struct server){.mailbox = mailbox, .enter = enter, .context = context, .alone = alone};
    mailbox->stack = plugin_place_stack();
    const uint64_t key = mailbox->key;
    for (uint32_t answered = 0;;) {
        answered = wait_for_question(&server, mailbox, answered);
        void *state = (void *)(uintptr_t)mailbox->question.state;
        enum mailbox_hook hook = (enum mailbox_hook)mailbox->question.hook;
        int status = run_hook(&server, &mailbox->question, &state);
        if (hook != MAILBOX_HELLO) { /* the answer to the hook before is still to be read */
            mailbox->answer.status = status;
            mailbox->answer.state = (uint64_t)(uintptr_t)state;
        }
        drain_stores();
        atomic_store_explicit(&mailbox->answer.word, mailbox_word(key, answered), memory_order_release);
        block_signals_again(hook, &at_start);
    }
}
