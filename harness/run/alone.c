/*
 * alone.c - times baselines without and with the plugins that raced, each time in fresh workers, and says whom they
 * disturb. Relies on crew.c for the workers, alone_cells.c for what is timed and alone_judge.c for what follows. Called
 * by supervisor.c between measuring and the audit.
 */
#include "run/alone.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/random.h"
#include "run/alone_cells.h"

#define START_TRIES 2
/* Of a cell that is timed again. Less than it took in the run: medians of so many blocks differ less than workers. */
#define BLOCKS 32u
#define CELL_SECONDS 1.0
/* What pairs of workers beyond ALONE_LEAST may take: so long, and a share of the run so far. */
#define PAIRS_SECONDS 15.0
#define PAIRS_SHARE 0.5
/* All of them; who is so slow has no verdict. */
#define PAIRS_LONGEST 120.0

#define NOBODY SIZE_MAX

struct alone {
    const struct alone_request *request;
    cJSON *config; /* owned; of the run, with less time for each cell */
    size_t n_cells, n_plugins, asked, disturbed;
    struct exclusion plugins[START_MAX_REFUSED];
    struct alone_cell *cells; /* owned */
    size_t present;           /* the one plugin that the workers load, or NOBODY */
    bool screening, last;     /* the round is the last one: time is up */
    unsigned turn;            /* of screening, or the round */
    unsigned phases;          /* so far, for seeds */
    uint64_t pairs_began_ns;
};

/* ---- workers ---- */

static void on_tell(void *context, struct start_request *out)
{
    const struct alone *a = context;
    *out = *a->request->start;
    out->config = a->config;
    for (size_t i = 0; i < a->n_plugins && out->n_refused < START_MAX_REFUSED; i++)
        if (i != a->present)
            out->refused[out->n_refused++] = a->plugins[i];
}

static enum crew_offer on_take(void *context, struct slot *slot)
{
    struct alone *a = context;
    for (size_t i = 0; i < a->n_cells; i++) {
        const struct plan_cell *cell = &a->request->ledger->plan.cells[a->cells[i].cell];
        if (a->cells[i].given || !a->cells[i].open)
            continue;
        a->cells[i].given = true;
        slot->work = (long)i;
        slot->request = (struct cell_request){
            .problem = cell->problem, .mode = cell->mode, .seed = random_derive(cell->seed, "alone", a->phases)};
        return CREW_WORK;
    }
    return CREW_NONE;
}

static void on_give_back(void *context, const struct slot *slot)
{
    struct alone *a = context;
    a->cells[slot->work].given = false;
}

static void keep_time(const struct alone *a, struct alone_name *name, enum alone_measure measure, double ns)
{
    struct alone_pairs *pairs = &name->pairs[measure];
    if (!a->screening)
        *(a->present == NOBODY ? &pairs->without[a->turn] : &pairs->beside[a->turn]) = ns;
    else if (measure == ALONE_DECILES)
        name->screen_ns[a->turn] = ns;
}

static int on_done(void *context, struct slot *slot, struct slot_event *event, struct error *err)
{
    struct alone *a = context;
    const struct cell_record *record = event->record;
    (void)err;
    for (size_t i = 0; i < record->n_contenders; i++) {
        struct alone_name *name = alone_cells_name(&a->cells[slot->work], &record->contenders[i]);
        if (!name || !(alone_cells_time(record, &record->contenders[i], ALONE_MEDIAN) > 0))
            continue;
        for (enum alone_measure k = 0; k < ALONE_MEASURES; k++)
            keep_time(a, name, k, alone_cells_time(record, &record->contenders[i], k));
        name->without = name->without || a->present == NOBODY;
        name->beside = name->beside || a->present != NOBODY;
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

static bool is_stopped(const struct alone *a)
{
    return crew_stop_signal(a->request->crew) != 0;
}

/* One fresh worker on each device, for the cells that are open. */
static int time_cells(struct alone *a, size_t present, struct error *err)
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
    a->present = present;
    a->phases++;
    for (size_t i = 0; i < a->n_cells; i++)
        a->cells[i].given = false;
    return is_stopped(a) ? 0 : crew_run(a->request->crew, &task, err);
}

/* ---- the first looks ---- */

/* The fastest as it was in the run: what is slower even without the plugins decides no speedup. */
static double fastest_of(const struct alone_cell *c)
{
    double fastest = INFINITY;
    for (size_t i = 0; i < c->n; i++)
        if (!c->list[i].candidate && c->list[i].run_ns > 0)
            fastest = fmin(fastest, c->list[i].run_ns);
    return fastest;
}

static size_t suspect(struct alone_cell *c, size_t looks)
{
    double fastest = fastest_of(c);
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++) {
        struct alone_name *name = &c->list[i];
        name->suspect = !name->candidate && name->run_ns > 0 && name->screen_ns[looks - 1] <= fastest &&
                        alone_is_suspect(name->run_ns, name->screen_ns, looks);
        n += name->suspect;
    }
    c->open = n > 0;
    return n;
}

static int screen(struct alone *a, struct error *err)
{
    int code = 0;
    a->screening = true;
    a->asked = 1;
    for (a->turn = 0; a->turn < ALONE_SCREENS && a->asked > 0 && !code && !is_stopped(a); a->turn++) {
        code = time_cells(a, NOBODY, err);
        a->asked = 0;
        for (size_t i = 0; i < a->n_cells; i++)
            a->asked += a->cells[i].open ? suspect(&a->cells[i], a->turn + 1) : 0;
    }
    a->screening = false;
    return code;
}

/* ---- pairs ---- */

/* Whether there is anything to time in them. */
static bool begin_pairs(struct alone *a)
{
    bool open = false;
    for (size_t i = 0; i < a->n_cells; i++) {
        a->cells[i].open = false;
        for (size_t k = 0; k < a->cells[i].n; k++) {
            struct alone_name *name = &a->cells[i].list[k];
            name->without = name->beside = false;
            memset(name->pairs, 0, sizeof name->pairs);
            for (enum alone_measure m = 0; m < ALONE_MEASURES; m++)
                name->verdict[m] = name->suspect ? ALONE_OPEN : ALONE_ALIKE;
            a->cells[i].open = a->cells[i].open || name->suspect;
        }
        open = open || a->cells[i].open;
    }
    return open;
}

/* After a round. Whether it is still open. */
static bool judge_name(const struct alone *a, struct alone_name *name)
{
    bool open = false, disturbed = false;
    for (enum alone_measure m = 0; m < ALONE_MEASURES; m++) {
        name->pairs[m].n = a->turn + 1;
        if (name->verdict[m] == ALONE_OPEN)
            name->verdict[m] = alone_judge(&name->pairs[m], a->asked * a->n_plugins, a->last, &name->longer[m]);
        open = open || name->verdict[m] == ALONE_OPEN;
        disturbed = disturbed || name->verdict[m] == ALONE_DISTURBED;
    }
    return open && !disturbed;
}

/* Whether any cell is still open. */
static bool judge_cells(struct alone *a)
{
    bool open = false;
    for (size_t i = 0; i < a->n_cells; i++) {
        struct alone_cell *c = &a->cells[i];
        bool cell_open = false;
        for (size_t k = 0; k < c->n && c->open; k++)
            if (c->list[k].suspect && judge_name(a, &c->list[k]))
                cell_open = true;
        c->open = cell_open;
        open = open || cell_open;
    }
    return open;
}

/* In an order that is drawn, so that whatever else happens on the machine meets both alike. */
static int time_pair(struct alone *a, size_t plugin, struct error *err)
{
    bool plugin_first = random_entropy() & 1u;
    int code = time_cells(a, plugin_first ? plugin : NOBODY, err);
    return code ? code : time_cells(a, plugin_first ? NOBODY : plugin, err);
}

static bool is_too_late(const struct alone *a)
{
    double seconds = 1e-9 * (double)(clock_now_ns() - a->pairs_began_ns);
    double so_far = 1e-9 * (double)(a->pairs_began_ns - a->request->began_ns);
    double most = a->turn + 1 < ALONE_LEAST ? PAIRS_LONGEST : PAIRS_SECONDS + PAIRS_SHARE * so_far;
    return seconds > fmin(most, PAIRS_LONGEST);
}

static int time_pairs(struct alone *a, size_t plugin, struct error *err)
{
    int code = 0;
    bool open = begin_pairs(a);
    for (a->turn = 0; a->turn < ALONE_ROUNDS && open && !code && !is_stopped(a); a->turn++) {
        code = time_pair(a, plugin, err);
        a->last = is_too_late(a);
        open = !code && !is_stopped(a) && judge_cells(a);
    }
    return code;
}

/* ---- what follows ---- */

/* The measure that shows it; ALONE_MEASURES: none. */
static enum alone_measure shown_by(const struct alone_name *name)
{
    enum alone_measure m = 0;
    while (m < ALONE_MEASURES && name->verdict[m] != ALONE_DISTURBED)
        m++;
    return m;
}

static const struct alone_name *disturbed_in(const struct alone_cell *c)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->list[i].suspect && shown_by(&c->list[i]) != ALONE_MEASURES)
            return &c->list[i];
    return NULL;
}

static cJSON *verdict_of(const struct alone_name *name, const char *reason)
{
    cJSON *entry = cJSON_CreateObject();
    cJSON_AddStringToObject(entry, "name", name->name);
    cJSON_AddStringToObject(entry, "status", "rival_disturbed");
    cJSON_AddStringToObject(entry, "reason", reason);
    return entry;
}

/* The contenders that were timed where the plugin was loaded, and never where it was not. */
static int convict(struct alone *a, const struct alone_cell *c, const struct alone_name *rival, struct error *err)
{
    const struct plan_cell *cell = &a->request->ledger->plan.cells[c->cell];
    char key[RECORD_KEY_MAX], reason[RECORD_REASON_MAX];
    cJSON *line = cJSON_CreateObject(), *list = cJSON_CreateArray();
    enum alone_measure shown = shown_by(rival);
    record_key(&cell->problem, cell->mode, key);
    snprintf(
        reason, sizeof reason,
        "%.60s takes %.0f%% to %.0f%% longer beside this plugin than without it (%.3g us), in %zu pairs of workers",
        rival->name, 100 * rival->longer[shown].from, 100 * rival->longer[shown].to,
        1e-3 * rival->screen_ns[ALONE_SCREENS - 1], rival->pairs[shown].n);
    for (size_t i = 0; i < c->n; i++)
        if (c->list[i].candidate && c->list[i].beside && !c->list[i].without)
            cJSON_AddItemToArray(list, verdict_of(&c->list[i], reason));
    cJSON_AddStringToObject(line, "cell", key);
    cJSON_AddItemToObject(line, "contenders", list);
    a->disturbed++;
    crew_note(a->request->crew, "%s: %s", key, reason);
    return ledger_add_activity(a->request->ledger, line, err);
}

static int try_plugin(struct alone *a, size_t plugin, struct error *err)
{
    int code = time_pairs(a, plugin, err);
    for (size_t i = 0; i < a->n_cells && !code && !is_stopped(a); i++) {
        const struct alone_name *rival = disturbed_in(&a->cells[i]);
        if (!rival)
            continue;
        code = convict(a, &a->cells[i], rival, err);
        for (size_t k = 0; k < a->cells[i].n; k++) /* one verdict is enough for a cell */
            a->cells[i].list[k].suspect = false;
    }
    return code;
}

/* The run's own time was longer, and nobody is named: it may have been the machine. */
static void say_unproven(const struct alone *a, const struct alone_name *name)
{
    char pairs[96] = "";
    struct alone_interval longer;
    const struct alone_pairs *p = &name->pairs[ALONE_MEDIAN];
    if (alone_interval(p, 0.025, &longer))
        snprintf(pairs, sizeof pairs, " (%+.0f%% to %+.0f%% in %zu pairs of workers)", 100 * longer.from,
                 100 * longer.to, p->n);
    crew_note(a->request->crew,
              "%s took %.0f%% longer in the run than without the plugins, and no plugin is proved to do it%s: was the "
              "machine used by others?",
              name->name, 100 * (name->run_ns / name->screen_ns[ALONE_SCREENS - 1] - 1), pairs);
}

static void say_all_unproven(const struct alone *a)
{
    for (size_t i = 0; i < a->n_cells; i++)
        for (size_t k = 0; k < a->cells[i].n; k++)
            if (a->cells[i].list[k].suspect)
                say_unproven(a, &a->cells[i].list[k]);
}

static int accuse(struct alone *a, struct error *err)
{
    int code = 0;
    crew_note(a->request->crew, "baselines took longer beside the plugins: timing them in pairs of fresh workers");
    a->pairs_began_ns = clock_now_ns();
    for (size_t i = 0; i < a->n_plugins && !code && !is_stopped(a); i++)
        code = try_plugin(a, i, err);
    if (!code && !is_stopped(a))
        say_all_unproven(a);
    return code;
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

static void set(cJSON *object, const char *key, double value)
{
    cJSON_SetNumberValue(cJSON_GetObjectItemCaseSensitive(object, key), value);
}

/* Fewer blocks, as many in every cell: nothing is to converge. */
static cJSON *shorter_config(const struct alone_request *r)
{
    const struct stop_config *stop = &r->config->stop;
    cJSON *config = cJSON_Duplicate(r->start->config, true);
    cJSON *section = cJSON_GetObjectItemCaseSensitive(config, "stop");
    unsigned groups = (BLOCKS + stop->group_blocks - 1) / stop->group_blocks;
    unsigned blocks = (groups > 2 ? groups : 2) * stop->group_blocks;
    if (blocks < stop->max_blocks && stop->least_blocks <= blocks) {
        set(section, "min_blocks", blocks);
        set(section, "look_every", blocks);
        set(section, "max_blocks", blocks);
    }
    if (stop->max_cell_seconds[MODE_OFFLINE] > CELL_SECONDS)
        set(section, "max_cell_seconds", CELL_SECONDS);
    return config;
}

static bool is_wanted(const struct alone_request *r)
{
    const struct config *c = r->config;
    return c->rivals > 0 && (c->rivals_given || !r->on_cuda) && c->honesty && !c->verify_only &&
           c->protocol == PROTOCOL_ADAPTIVE && !r->ledger->complete && r->ledger->n_done == r->ledger->plan.n_cells;
}

bool alone_is_due(const struct alone_request *r)
{
    struct activity_book book = {0};
    struct error ignored;
    struct alone *a = is_wanted(r) ? calloc(1, sizeof *a) : NULL;
    bool due = false;
    if (a) {
        a->request = r;
        list_plugins(a);
        due = a->n_plugins > 0 && activity_book_read(r->ledger->journal_path, &book, &ignored) == 0;
        due = due && !book.cells && !book.recorder && !book.unavailable;
    }
    activity_book_free(&book);
    free(a);
    return due;
}

static int work(struct alone *a, struct error *err)
{
    struct crew *crew = a->request->crew;
    if (a->n_cells == 0) /* nobody counts beside a baseline anywhere */
        return 0;
    crew_note(crew, "everything is timed; timing baselines again without the plugins that raced");
    int code = screen(a, err);
    if (!code && !is_stopped(a) && a->asked > 0)
        return accuse(a, err);
    if (!code && !is_stopped(a))
        crew_note(crew, "baselines take the same time without the plugins that raced, in %zu cell%s", a->n_cells,
                  a->n_cells == 1 ? "" : "s");
    return code;
}

int alone_run(const struct alone_request *request, struct error *err)
{
    struct alone *a = calloc(1, sizeof *a);
    int code = EXIT_CODE_INTERNAL;
    if (a) {
        a->request = request;
        a->config = shorter_config(request);
        list_plugins(a);
        code = alone_cells_draw(request->ledger, request->config->rivals, &a->cells, &a->n_cells, err);
    }
    if (!a || !a->config)
        code = error_set(err, EXIT_CODE_INTERNAL, "out of memory to time baselines again");
    if (!code)
        code = work(a, err);
    if (a) {
        cJSON_Delete(a->config);
        free(a->cells);
    }
    free(a);
    return code;
}
