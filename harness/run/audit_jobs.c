/*
 * audit_jobs.c - chooses what is watched: the sample of cells, candidates' variants not seen yet, less what the
 * journal has already. Relies on record/journal.h. Called by audit.c.
 */
#include "run/audit_jobs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "stats/interval.h"

/* What one reading of the journal gathers. */
struct gathering {
    const struct ledger *ledger;
    cJSON **cells; /* of the plan: contenders with an extra "candidate"; NULL where nothing was timed */
    bool *seen;    /* there is a look at it */
};

/* ---- reading ---- */

static cJSON *subject(const struct contender_record *c)
{
    cJSON *o = cJSON_CreateObject();
    const cJSON *variant = cJSON_GetObjectItemCaseSensitive(c->tuning, "variant");
    const struct series *device = &c->timings[TIMING_DEVICE];
    cJSON_AddStringToObject(o, "name", c->name);
    if (cJSON_IsString(variant))
        cJSON_AddStringToObject(o, "variant", variant->valuestring);
    if (device->n > 0)
        json_put_number(o, "timed_ns", stats_median(device->ns, device->n));
    if (c->rung[0])
        cJSON_AddStringToObject(o, "rung", c->rung);
    if (c->candidate)
        cJSON_AddTrueToObject(o, "candidate");
    return o;
}

static int keep_cell(struct gathering *g, const struct cell_record *r, size_t cell, struct error *err)
{
    cJSON *list = cJSON_CreateArray();
    for (size_t i = 0; list && i < r->n_contenders; i++)
        if (r->contenders[i].verdict == VERDICT_OK && !r->contenders[i].copy_of[0])
            cJSON_AddItemToArray(list, subject(&r->contenders[i]));
    if (!list)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for an audit");
    if (cJSON_GetArraySize(list) == 0) {
        cJSON_Delete(list);
        return 0;
    }
    g->cells[cell] = list;
    return 0;
}

static int visit_cell(void *context, const char *kind, struct json_at data, struct error *err)
{
    struct gathering *g = context;
    struct cell_record *record = NULL;
    (void)kind;
    if (record_from_json(data, &record, err))
        return err->code;
    long cell = plan_find(&g->ledger->plan, &record->problem, record->mode);
    int code = cell < 0 || g->cells[cell] ? 0 : keep_cell(g, record, (size_t)cell, err);
    record_free(record);
    return code;
}

static int read_cells(struct gathering *g, struct error *err)
{
    const struct journal_filter cells = {"cell", visit_cell, g};
    struct activity_book book;
    char key[RECORD_KEY_MAX];
    int code = journal_read_kind(g->ledger->journal_path, &cells, err);
    if (code)
        return code;
    code = activity_book_read(g->ledger->journal_path, &book, err);
    for (size_t i = 0; i < g->ledger->plan.n_cells && !code; i++) {
        record_key(&g->ledger->plan.cells[i].problem, g->ledger->plan.cells[i].mode, key);
        g->seen[i] = activity_book_cell(&book, key) != NULL;
    }
    activity_book_free(&book);
    return code;
}

/* ---- choosing ---- */

static const char *text_of(const cJSON *object, const char *key)
{
    const cJSON *node = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsString(node) ? node->valuestring : "";
}

/* Stands for a kernel: a variant of a contender, for one dtype and accumulate type. */
static uint64_t kernel_of(const struct plan_cell *cell, const cJSON *contender)
{
    uint64_t types = (uint64_t)cell->problem.dtype * 2 + (uint64_t)cell->problem.accumulate;
    return random_derive(random_derive(types, text_of(contender, "name"), 0), text_of(contender, "variant"), 0);
}

/* Kernels that are looked at. */
struct kernels {
    uint64_t *list;
    size_t n;
};

static bool is_known(const struct kernels *seen, uint64_t kernel)
{
    for (size_t i = 0; i < seen->n; i++)
        if (seen->list[i] == kernel)
            return true;
    return false;
}

static void know_all(struct kernels *seen, const struct plan_cell *cell, const cJSON *contenders)
{
    const cJSON *c;
    cJSON_ArrayForEach(c, contenders)
    {
        uint64_t kernel = kernel_of(cell, c);
        if (!is_known(seen, kernel))
            seen->list[seen->n++] = kernel;
    }
}

/* Drops what need not be looked at in this cell. */
static void keep_new_candidates(struct kernels *seen, const struct plan_cell *cell, cJSON *contenders)
{
    cJSON *next;
    for (cJSON *c = contenders ? contenders->child : NULL; c; c = next) {
        next = c->next;
        bool candidate = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(c, "candidate"));
        uint64_t kernel = kernel_of(cell, c);
        if (candidate && !is_known(seen, kernel))
            seen->list[seen->n++] = kernel;
        else
            cJSON_Delete(cJSON_DetachItemViaPointer(contenders, c));
    }
}

/* Cells drawn for a whole look: *chosen, of the plan's length. */
static void draw_cells(const struct gathering *g, unsigned *order, bool *chosen)
{
    struct random random;
    size_t n = 0;
    for (size_t i = 0; i < g->ledger->plan.n_cells; i++)
        if (g->cells[i])
            order[n++] = (unsigned)i;
    size_t wanted = (size_t)ceil(AUDIT_SAMPLE_SHARE * (double)n);
    if (wanted < AUDIT_SAMPLE_LEAST)
        wanted = AUDIT_SAMPLE_LEAST;
    random_seed(&random, random_derive(g->ledger->seed, "activity", 0));
    random_shuffle(&random, order, n);
    for (size_t i = 0; i < n && i < wanted; i++)
        chosen[order[i]] = true;
}

static size_t count_contenders(const struct gathering *g)
{
    size_t n = 0;
    for (size_t i = 0; i < g->ledger->plan.n_cells; i++)
        n += (size_t)cJSON_GetArraySize(g->cells[i]);
    return n;
}

static int sample(struct gathering *g, struct error *err)
{
    size_t n = g->ledger->plan.n_cells;
    struct kernels seen = {.list = malloc((count_contenders(g) + 1) * sizeof *seen.list)};
    unsigned *order = malloc((n + 1) * sizeof *order);
    bool *chosen = calloc(n + 1, sizeof *chosen);
    int code = 0;
    if (!seen.list || !order || !chosen) {
        code = error_set(err, EXIT_CODE_INTERNAL, "out of memory for an audit");
        goto out;
    }
    draw_cells(g, order, chosen);
    for (size_t i = 0; i < n; i++)
        if (chosen[i])
            know_all(&seen, &g->ledger->plan.cells[i], g->cells[i]);
    for (size_t i = 0; i < n; i++)
        if (!chosen[i])
            keep_new_candidates(&seen, &g->ledger->plan.cells[i], g->cells[i]);
out:
    free(seen.list);
    free(order);
    free(chosen);
    return code;
}

/* ---- jobs ---- */

static int take_jobs(struct gathering *g, struct audit_jobs *out, struct error *err)
{
    cJSON *c;
    out->list = calloc(g->ledger->plan.n_cells + 1, sizeof *out->list);
    if (!out->list)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for an audit");
    for (size_t i = 0; i < g->ledger->plan.n_cells; i++) {
        if (g->seen[i] || cJSON_GetArraySize(g->cells[i]) == 0)
            continue;
        cJSON_ArrayForEach(c, g->cells[i]) cJSON_DeleteItemFromObjectCaseSensitive(c, "candidate");
        double each = g->ledger->plan.cells[i].cost_seconds;
        out->list[out->n++] =
            (struct audit_job){.cell = i, .seconds = each * cJSON_GetArraySize(g->cells[i]), .contenders = g->cells[i]};
        g->cells[i] = NULL;
    }
    return 0;
}

int audit_jobs_make(const struct ledger *ledger, enum activity_choice choice, struct audit_jobs *out, struct error *err)
{
    size_t n = ledger->plan.n_cells;
    struct gathering g = {
        .ledger = ledger, .cells = calloc(n + 1, sizeof *g.cells), .seen = calloc(n + 1, sizeof *g.seen)};
    int code = 0;
    *out = (struct audit_jobs){0};
    if (!g.cells || !g.seen)
        code = error_set(err, EXIT_CODE_INTERNAL, "out of memory for an audit");
    if (!code)
        code = read_cells(&g, err);
    if (!code && choice == ACTIVITY_SAMPLE)
        code = sample(&g, err);
    if (!code)
        code = take_jobs(&g, out, err);
    for (size_t i = 0; g.cells && i < n; i++)
        cJSON_Delete(g.cells[i]);
    free(g.cells);
    free(g.seen);
    return code;
}

static int by_seconds(const void *a, const void *b)
{
    const struct audit_job *x = a, *y = b;
    if (x->seconds != y->seconds)
        return x->seconds > y->seconds ? -1 : 1;
    return (x->cell > y->cell) - (x->cell < y->cell);
}

void audit_jobs_sort(struct audit_jobs *jobs)
{
    if (jobs->n > 1)
        qsort(jobs->list, jobs->n, sizeof *jobs->list, by_seconds);
}

void audit_jobs_free(struct audit_jobs *jobs)
{
    for (size_t i = 0; i < jobs->n; i++)
        cJSON_Delete(jobs->list[i].contenders);
    free(jobs->list);
    *jobs = (struct audit_jobs){0};
}
