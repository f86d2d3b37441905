/*
 * alone.c - times baselines without and with the plugins that raced, each time in fresh workers, and says whom they
 * disturb. Relies on crew.c for the workers and ledger.c for the journal. Called by supervisor.c between measuring and
 * the audit.
 */
#include "run/alone.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "stats/interval.h"

#define CELLS_MOST 16u
#define START_TRIES 2

/* One contender of one cell over the phases. */
struct timed_name {
    char name[RECORD_NAME_MAX];
    bool candidate;
    double ns[ALONE_PHASES]; /* 0: not timed */
};

struct alone_cell {
    size_t cell; /* of the plan */
    bool given;
    size_t n;
    struct timed_name list[RECORD_MAX_CONTENDERS];
};

struct alone {
    const struct alone_request *request;
    unsigned phase;
    size_t n_cells, n_plugins;
    struct exclusion plugins[START_MAX_REFUSED];
    struct alone_cell cells[CELLS_MOST];
};

static bool is_absent(unsigned phase)
{
    return phase % 2 == 0;
}

/* ---- judging ---- */

/* Of the phases of one kind. */
struct phases {
    double mean, squares; /* of logarithms */
    size_t n;
};

static struct phases phases_of(const double ns[ALONE_PHASES], bool absent)
{
    struct phases p = {0};
    for (unsigned i = 0; i < ALONE_PHASES; i++)
        if (is_absent(i) == absent) {
            p.mean += log(ns[i]);
            p.n++;
        }
    p.mean /= (double)p.n;
    for (unsigned i = 0; i < ALONE_PHASES; i++)
        if (is_absent(i) == absent)
            p.squares += pow(log(ns[i]) - p.mean, 2);
    return p;
}

bool alone_interval(const double ns[ALONE_PHASES], size_t rivals, struct alone_interval *out)
{
    for (unsigned i = 0; i < ALONE_PHASES; i++)
        if (!(ns[i] > 0))
            return false;
    struct phases without = phases_of(ns, true), with = phases_of(ns, false);
    double dof = (double)(without.n + with.n - 2);
    double variance = (without.squares + with.squares) / dof * (1.0 / (double)without.n + 1.0 / (double)with.n);
    double half = stats_t(2 * ALONE_ERROR / (double)(rivals > 0 ? rivals : 1), dof) * sqrt(variance);
    *out = (struct alone_interval){expm1(with.mean - without.mean - half), expm1(with.mean - without.mean + half)};
    return true;
}

static size_t count_baselines(const struct alone_cell *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++)
        n += !c->list[i].candidate;
    return n;
}

/* NULL: nobody was. */
static const struct timed_name *disturbed_in(const struct alone_cell *c, struct alone_interval *longer)
{
    size_t rivals = count_baselines(c);
    for (size_t i = 0; i < c->n; i++)
        if (!c->list[i].candidate && alone_interval(c->list[i].ns, rivals, longer) && longer->from > ALONE_MARGIN)
            return &c->list[i];
    return NULL;
}

/* Timed with the plugin and not without it. */
static bool is_the_plugins(const struct timed_name *t)
{
    bool absent = false, present = false;
    for (unsigned i = 0; i < ALONE_PHASES; i++) {
        absent = absent || (is_absent(i) && t->ns[i] > 0);
        present = present || (!is_absent(i) && t->ns[i] > 0);
    }
    return t->candidate && present && !absent;
}

static int convict(struct alone *a, const struct alone_cell *c, struct error *err)
{
    struct alone_interval longer;
    const struct timed_name *rival = disturbed_in(c, &longer);
    if (!rival)
        return 0;
    const struct plan_cell *cell = &a->request->ledger->plan.cells[c->cell];
    char key[RECORD_KEY_MAX], reason[RECORD_REASON_MAX];
    cJSON *line = cJSON_CreateObject(), *list = cJSON_CreateArray();
    record_key(&cell->problem, cell->mode, key);
    snprintf(reason, sizeof reason, "%.60s takes %.0f%% to %.0f%% longer beside this plugin than without it (%.3g us)",
             rival->name, 100 * longer.from, 100 * longer.to, exp(phases_of(rival->ns, true).mean) * 1e-3);
    for (size_t i = 0; i < c->n; i++) {
        if (!is_the_plugins(&c->list[i]))
            continue;
        cJSON *entry = cJSON_CreateObject();
        cJSON_AddStringToObject(entry, "name", c->list[i].name);
        cJSON_AddStringToObject(entry, "status", "rival_disturbed");
        cJSON_AddStringToObject(entry, "reason", reason);
        cJSON_AddItemToArray(list, entry);
    }
    cJSON_AddStringToObject(line, "cell", key);
    cJSON_AddItemToObject(line, "contenders", list);
    return ledger_add_activity(a->request->ledger, line, err);
}

static int judge(struct alone *a, struct error *err)
{
    size_t disturbed = 0;
    struct alone_interval longer;
    int code = 0;
    for (size_t i = 0; i < a->n_cells; i++)
        disturbed += disturbed_in(&a->cells[i], &longer) != NULL;
    if (2 * disturbed <= a->n_cells) {
        crew_note(a->request->crew, "baselines take the same time without the plugins that raced, in %zu cell%s",
                  a->n_cells, a->n_cells == 1 ? "" : "s");
        return 0;
    }
    crew_note(a->request->crew, "baselines are slower beside %s, in %zu of %zu cells",
              a->n_plugins == 1 ? a->plugins[0].name : "one of the plugins that raced (race each alone to see which)",
              disturbed, a->n_cells);
    for (size_t i = 0; i < a->n_cells && !code && a->n_plugins == 1; i++)
        code = convict(a, &a->cells[i], err);
    return code;
}

/* ---- the task ---- */

static void on_tell(void *context, struct start_request *out)
{
    const struct alone *a = context;
    *out = *a->request->start;
    if (!is_absent(a->phase))
        return;
    for (size_t i = 0; i < a->n_plugins && out->n_refused < START_MAX_REFUSED; i++)
        out->refused[out->n_refused++] = a->plugins[i];
}

static enum crew_offer on_take(void *context, struct slot *slot)
{
    struct alone *a = context;
    for (size_t i = 0; i < a->n_cells; i++) {
        const struct plan_cell *cell = &a->request->ledger->plan.cells[a->cells[i].cell];
        if (a->cells[i].given)
            continue;
        a->cells[i].given = true;
        slot->work = (long)i;
        slot->request = (struct cell_request){
            .problem = cell->problem, .mode = cell->mode, .seed = random_derive(cell->seed, "alone", a->phase)};
        return CREW_WORK;
    }
    return CREW_NONE;
}

static void on_give_back(void *context, const struct slot *slot)
{
    struct alone *a = context;
    a->cells[slot->work].given = false;
}

static struct timed_name *name_in(struct alone_cell *c, const struct contender_record *r)
{
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->list[i].name, r->name) == 0)
            return &c->list[i];
    if (c->n == RECORD_MAX_CONTENDERS)
        return NULL;
    struct timed_name *t = &c->list[c->n++];
    snprintf(t->name, sizeof t->name, "%s", r->name);
    t->candidate = r->candidate;
    return t;
}

static int on_done(void *context, struct slot *slot, struct slot_event *event, struct error *err)
{
    struct alone *a = context;
    const struct cell_record *record = event->record;
    (void)err;
    for (size_t i = 0; i < record->n_contenders; i++) {
        const struct contender_record *r = &record->contenders[i];
        const struct series *s = &r->timings[record->headline];
        struct timed_name *t = r->copy_of[0] ? NULL : name_in(&a->cells[slot->work], r);
        if (t && strcmp(r->status, "ok") == 0 && s->n > 0)
            t->ns[a->phase] = stats_median(s->ns, s->n);
    }
    return 0;
}

/* Who costs a worker here has no say in who disturbs whom. */
static bool on_blame(void *context, struct slot *slot, const struct exclusion *blamed)
{
    struct cell_request *r = &slot->request;
    (void)context;
    for (size_t i = 0; i < r->n_exclusions; i++)
        if (strcmp(r->exclusions[i].name, blamed->name) == 0)
            return false;
    if (r->n_exclusions == CELL_MAX_EXCLUSIONS)
        return false;
    r->exclusions[r->n_exclusions++] = *blamed;
    return true;
}

/* A cell without a time tells nothing. */
static int on_fail(void *context, struct slot *slot, const char *reason, struct error *err)
{
    const struct alone *a = context;
    (void)err;
    crew_note(a->request->crew, "%s: baselines were not timed again: %s", slot->device, reason);
    return 0;
}

static int on_ready(void *context, struct slot *slot, const cJSON *env, struct error *err)
{
    (void)context, (void)slot, (void)env, (void)err;
    return 0;
}

static int run_phase(struct alone *a, struct error *err)
{
    const struct crew_task task = {.context = a,
                                   .tell = on_tell,
                                   .take = on_take,
                                   .give_back = on_give_back,
                                   .ready = on_ready,
                                   .done = on_done,
                                   .blame = on_blame,
                                   .fail = on_fail,
                                   .turn = ledger_turn,
                                   .turn_context = a->request->ledger,
                                   .start_tries = START_TRIES,
                                   .proven = true};
    for (size_t i = 0; i < a->n_cells; i++)
        a->cells[i].given = false;
    return crew_run(a->request->crew, &task, err);
}

/* ---- what is timed ---- */

/* Of candidates those with host code: the name that a worker announces its plugin under. */
static void list_plugins(struct alone *a)
{
    char *const *paths = a->request->config->candidates;
    for (size_t i = 0; paths && paths[i] && a->n_plugins < START_MAX_REFUSED; i++) {
        const char *slash = strrchr(paths[i], '/'), *name = slash ? slash + 1 : paths[i];
        size_t length = strlen(name);
        if (length <= 3 || strcmp(name + length - 3, ".so") != 0)
            continue;
        struct exclusion *e = &a->plugins[a->n_plugins++];
        snprintf(e->name, sizeof e->name, "%.*s", (int)(length - 3), name);
        snprintf(e->status, sizeof e->status, "unsupported");
        snprintf(e->stage, sizeof e->stage, "load");
        snprintf(e->reason, sizeof e->reason, "left out, to time the others alone");
    }
}

static int draw_cells(struct alone *a, struct error *err)
{
    const struct ledger *l = a->request->ledger;
    struct random random;
    size_t wanted = a->request->config->rivals < CELLS_MOST ? a->request->config->rivals : CELLS_MOST;
    unsigned *order = malloc((l->plan.n_cells + 1) * sizeof *order);
    if (!order)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory to time baselines again");
    for (unsigned i = 0; i < l->plan.n_cells; i++)
        order[i] = i;
    random_seed(&random, random_derive(l->seed, "alone", 0));
    random_shuffle(&random, order, l->plan.n_cells);
    for (size_t i = 0; i < l->plan.n_cells && a->n_cells < wanted; i++)
        a->cells[a->n_cells++].cell = order[i];
    free(order);
    return 0;
}

bool alone_is_due(const struct alone_request *r)
{
    struct activity_book book;
    struct error ignored;
    struct alone *a = calloc(1, sizeof *a);
    bool due = a && r->config->rivals > 0 && !r->ledger->complete && r->ledger->n_done == r->ledger->plan.n_cells;
    if (due) {
        a->request = r;
        list_plugins(a);
        due = a->n_plugins > 0 && activity_book_read(r->ledger->journal_path, &book, &ignored) == 0;
        due = due && !book.cells && !book.recorder && !book.unavailable;
        if (a->n_plugins > 0)
            activity_book_free(&book);
    }
    free(a);
    return due;
}

int alone_run(const struct alone_request *request, struct error *err)
{
    struct alone *a = calloc(1, sizeof *a);
    if (!a)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory to time baselines again");
    a->request = request;
    list_plugins(a);
    int code = draw_cells(a, err);
    if (!code)
        crew_note(request->crew, "everything is timed; timing baselines again without the plugins that raced");
    for (a->phase = 0; a->phase < ALONE_PHASES && !code && crew_stop_signal(request->crew) == 0; a->phase++)
        code = run_phase(a, err);
    if (!code && crew_stop_signal(request->crew) == 0)
        code = judge(a, err);
    free(a);
    return code;
}
