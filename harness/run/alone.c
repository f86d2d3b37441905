/*
 * alone.c - times baselines without and with the plugins that raced, each time in fresh workers, and says whom they
 * disturb. Relies on alone_timing.c for the workers, alone_cells.c for what is timed and alone_judge.c for what
 * follows. Called by supervisor.c between measuring and the audit.
 */
#include "run/alone.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/random.h"
#include "run/alone_timing.h"

/* What pairs of workers may take beyond ALONE_LEAST: so long, and a share of the run so far. */
#define PAIRS_SECONDS 5.0
#define PAIRS_SHARE 0.5
/* While they speak against a plugin, or are fewer. */
#define PAIRS_LONGEST 60.0

/* ---- the first looks ---- */

/* The fastest as it was in the run: what is slower even without the plugins decides no speedup. */
static double fastest_of(const struct alone_cell *c, enum alone_measure m)
{
    double fastest = INFINITY;
    for (size_t i = 0; i < c->n; i++)
        if (!c->list[i].candidate && c->list[i].looks[m].run > 0)
            fastest = fmin(fastest, c->list[i].looks[m].run);
    return fastest;
}

static bool is_suspect(const struct alone_cell *c, const struct alone_name *name, size_t n)
{
    bool any = false;
    for (enum alone_measure m = 0; m < ALONE_MEASURES && !name->candidate; m++)
        any = any || (name->looks[m].without[n - 1] <= fastest_of(c, m) && alone_is_suspect(&name->looks[m], n));
    return any;
}

/* Of those that took longer in the run than in n looks the one that decides the speedup. Whether there is any. */
static bool suspect(struct alone_cell *c, size_t n)
{
    struct alone_name *first = NULL;
    for (size_t i = 0; i < c->n; i++) {
        struct alone_name *name = &c->list[i];
        name->suspect = false;
        if (is_suspect(c, name, n) &&
            (!first || name->looks[ALONE_MEDIAN].without[n - 1] < first->looks[ALONE_MEDIAN].without[n - 1]))
            first = name;
    }
    if (first)
        first->suspect = true;
    c->open = first != NULL;
    return c->open;
}

static int screen(struct alone *a, struct error *err)
{
    int code = 0;
    a->screening = true;
    a->asked = 1;
    for (a->turn = 0; a->turn < ALONE_SCREENS && a->asked > 0 && !code && !alone_is_stopped(a); a->turn++) {
        code = alone_time_cells(a, ALONE_NOBODY, err);
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
            for (enum alone_measure m = 0; m < ALONE_MEASURES; m++) {
                name->pairs[m].n = 0;
                name->verdict[m] = name->suspect ? ALONE_OPEN : ALONE_ALIKE;
            }
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
    int code = alone_time_cells(a, plugin_first ? plugin : ALONE_NOBODY, err);
    return code ? code : alone_time_cells(a, plugin_first ? ALONE_NOBODY : plugin, err);
}

/* Whether the pairs so far speak against the plugin by the 95% that an honest one seldom shows. */
static bool is_promising(const struct alone_name *name, size_t n)
{
    for (enum alone_measure m = 0; m < ALONE_MEASURES; m++) {
        struct alone_pairs pairs = name->pairs[m];
        struct alone_interval longer;
        pairs.n = n;
        if (name->verdict[m] == ALONE_OPEN && alone_interval(&pairs, 0.025, &longer) && longer.from > ALONE_MARGIN)
            return true;
    }
    return false;
}

static bool is_any_promising(const struct alone *a)
{
    for (size_t i = 0; i < a->n_cells; i++)
        for (size_t k = 0; k < a->cells[i].n; k++)
            if (a->cells[i].list[k].suspect && is_promising(&a->cells[i].list[k], a->turn + 1))
                return true;
    return false;
}

static bool is_too_late(const struct alone *a)
{
    double seconds = 1e-9 * (double)(clock_now_ns() - a->pairs_began_ns);
    double so_far = 1e-9 * (double)(a->pairs_began_ns - a->request->began_ns);
    bool patient = a->turn + 1 < ALONE_LEAST || is_any_promising(a);
    return seconds > (patient ? PAIRS_LONGEST : fmin(PAIRS_SECONDS + PAIRS_SHARE * so_far, PAIRS_LONGEST));
}

static int time_pairs(struct alone *a, size_t plugin, struct error *err)
{
    int code = 0;
    bool open = begin_pairs(a);
    for (a->turn = 0; a->turn < ALONE_ROUNDS && open && !code && !alone_is_stopped(a); a->turn++) {
        code = time_pair(a, plugin, err);
        a->last = is_too_late(a);
        open = !code && !alone_is_stopped(a) && judge_cells(a);
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

static cJSON *conviction_of(const struct alone_name *name, const char *reason)
{
    cJSON *entry = cJSON_CreateObject();
    cJSON_AddStringToObject(entry, "name", name->name);
    cJSON_AddStringToObject(entry, "status", verdict_name(VERDICT_RIVAL_DISTURBED));
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
        1e-3 * rival->looks[shown].without[ALONE_SCREENS - 1], rival->pairs[shown].n);
    for (size_t i = 0; i < c->n; i++)
        if (c->list[i].candidate && c->list[i].beside && !c->list[i].without)
            cJSON_AddItemToArray(list, conviction_of(&c->list[i], reason));
    cJSON_AddStringToObject(line, "cell", key);
    cJSON_AddItemToObject(line, "contenders", list);
    a->disturbed++;
    crew_note(a->request->crew, "%s: %s", key, reason);
    return ledger_add_activity(a->request->ledger, line, err);
}

static int try_plugin(struct alone *a, size_t plugin, struct error *err)
{
    int code = time_pairs(a, plugin, err);
    for (size_t i = 0; i < a->n_cells && !code && !alone_is_stopped(a); i++) {
        const struct alone_name *rival = disturbed_in(&a->cells[i]);
        if (!rival)
            continue;
        code = convict(a, &a->cells[i], rival, err);
        for (size_t k = 0; k < a->cells[i].n; k++) /* one verdict is enough for a cell */
            a->cells[i].list[k].suspect = false;
    }
    return code;
}

static bool is_plain(const struct alone_name *name)
{
    for (enum alone_measure m = 0; m < ALONE_MEASURES; m++)
        if (alone_is_plain(&name->looks[m]))
            return true;
    return false;
}

/* The run's own time was longer, and nobody is named. */
static void say_unproven(const struct alone *a, const struct alone_name *name)
{
    const struct alone_pairs *p = &name->pairs[ALONE_MEDIAN];
    const struct alone_looks *l = &name->looks[ALONE_MEDIAN];
    struct alone_interval longer;
    char pairs[96] = "";
    if (alone_interval(p, 0.025, &longer))
        snprintf(pairs, sizeof pairs, " (%+.0f%% to %+.0f%% in %zu pairs of workers)", 100 * longer.from,
                 100 * longer.to, p->n);
    crew_note(a->request->crew, "%s took %.3g us in the run and %.3g and %.3g us without the plugins: %s%s", name->name,
              1e-3 * l->run, 1e-3 * l->without[0], 1e-3 * l->without[1],
              p->n == 0 ? "the machine is too busy to tell whether a plugin slows it"
                        : "that a plugin slows it is not proved",
              pairs);
}

/* Those suspects stay of which something may be proved. */
static void keep_plain(struct alone *a)
{
    a->asked = 0;
    for (size_t i = 0; i < a->n_cells; i++)
        for (size_t k = 0; k < a->cells[i].n; k++) {
            struct alone_name *name = &a->cells[i].list[k];
            if (name->suspect && !is_plain(name))
                say_unproven(a, name);
            name->suspect = name->suspect && is_plain(name);
            a->asked += name->suspect;
        }
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
    keep_plain(a);
    if (a->asked == 0)
        return 0;
    crew_note(a->request->crew, "baselines took longer beside the plugins: timing them in pairs of fresh workers");
    cJSON_Delete(a->config);
    a->config = alone_config(a->request, true);
    if (!a->config)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory to time baselines again");
    a->pairs_began_ns = clock_now_ns();
    for (size_t i = 0; i < a->n_plugins && !code && !alone_is_stopped(a); i++)
        code = try_plugin(a, i, err);
    if (!code && !alone_is_stopped(a))
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
        e->verdict = VERDICT_UNSUPPORTED;
        snprintf(e->stage, sizeof e->stage, "load");
        snprintf(e->reason, sizeof e->reason, "left out, to time the others alone");
    }
}

/* On a GPU, unless a config asks for it, a look is to be a hundredth of the run. */
static bool is_cheap(const struct alone_request *r)
{
    return !r->on_cuda || 1e-9 * (double)(clock_now_ns() - r->began_ns) >= ALONE_GPU_SECONDS;
}

static bool is_wanted(const struct alone_request *r)
{
    const struct config *c = r->config;
    return c->rivals > 0 && (c->rivals_given || is_cheap(r)) && c->honesty && !c->verify_only &&
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

/* Cells in which a baseline that was timed in the run was timed again. */
static size_t count_timed(const struct alone *a)
{
    size_t n = 0;
    for (size_t i = 0; i < a->n_cells; i++) {
        bool timed = false;
        for (size_t k = 0; k < a->cells[i].n; k++)
            timed = timed || (a->cells[i].list[k].looks[0].run > 0 && a->cells[i].list[k].looks[0].without[0] > 0);
        n += timed;
    }
    return n;
}

static int work(struct alone *a, struct error *err)
{
    struct crew *crew = a->request->crew;
    if (a->n_cells == 0) /* nobody counts beside a baseline anywhere */
        return 0;
    crew_note(crew, "everything is timed; timing baselines again without the plugins that raced");
    int code = screen(a, err);
    if (code || alone_is_stopped(a))
        return code;
    size_t timed = count_timed(a);
    if (timed < a->n_cells)
        crew_note(crew,
                  "%zu of %zu cells: no baseline could be timed without the plugins, so whether they slow any is not "
                  "known",
                  a->n_cells - timed, a->n_cells);
    if (a->asked > 0)
        return accuse(a, err);
    if (timed > 0)
        crew_note(crew, "baselines take the same time without the plugins that raced, in %zu cell%s", timed,
                  timed == 1 ? "" : "s");
    return code;
}

int alone_run(const struct alone_request *request, struct error *err)
{
    struct alone *a = calloc(1, sizeof *a);
    int code = EXIT_CODE_INTERNAL;
    if (a) {
        a->request = request;
        a->config = alone_config(request, false);
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
