/*
 * agree.c - how much runs differ: quantiles of differences, how often an estimate lies in an interval, the prediction
 * interval over runs. Relies on report/load.h. Called by cli/cmd_agree.c.
 */
#include "compare/agree.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/load.h"
#include "stats/interval.h"

/* ---- reading ---- */

struct run {
    struct result *result;            /* owned */
    const struct result_cell **cells; /* owned; sorted by key */
};

/* The BASE runs, and NEW behind them. */
struct runs {
    struct run run[AGREE_BASES_MAX + 1];
    size_t n;
};

static int by_key(const void *a, const void *b)
{
    const struct result_cell *x = *(const struct result_cell *const *)a, *y = *(const struct result_cell *const *)b;
    return strcmp(x->key, y->key);
}

static int load(const char *path, struct run *out, struct error *err)
{
    const char *const paths[] = {path};
    struct load_request request = {.paths = paths, .n = 1};
    if (load_results(&request, &out->result, err))
        return err->code;
    size_t n = out->result->n_cells;
    out->cells = malloc((n + 1) * sizeof(struct result_cell *));
    if (!out->cells)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for the cells of %s", path);
    for (size_t i = 0; i < n; i++)
        out->cells[i] = &out->result->cells[i];
    qsort(out->cells, n, sizeof *out->cells, by_key);
    return 0;
}

static int load_all(const struct agree_request *request, struct runs *out, struct error *err)
{
    int code = 0;
    *out = (struct runs){.n = request->n_bases + 1};
    for (size_t i = 0; i < out->n && !code; i++)
        code = load(i < request->n_bases ? request->bases[i] : request->fresh, &out->run[i], err);
    return code;
}

static void free_all(struct runs *runs)
{
    for (size_t i = 0; i < runs->n; i++) {
        free((void *)runs->run[i].cells);
        result_free(runs->run[i].result);
    }
}

/* `name` is what the message calls the BASE run; values: its device's, and NEW's. */
static int refuse_other(const char *name, const char *what, const char *const values[2], struct error *err)
{
    if (strcmp(values[0], values[1]) == 0)
        return 0;
    return error_set(err, EXIT_CODE_INCOMPARABLE,
                     "the device's %s is \"%s\" in %s and \"%s\" in NEW (--force compares all the same)", what,
                     values[0], name, values[1]);
}

static int refuse_other_device(const char *name, const struct run *base, const struct run *fresh, struct error *err)
{
    const struct result_device *ours = result_device(base->result, 0), *theirs = result_device(fresh->result, 0);
    const char *const names[2] = {ours->name, theirs->name};
    const char *const drivers[2] = {ours->driver, theirs->driver};
    int code = refuse_other(name, "name", names, err);
    return code ? code : refuse_other(name, "driver", drivers, err);
}

/* One run given twice, or two that drew the same inputs, places and orders, would make the interval too narrow; and of
 * several runs NEW is to be one more. A single run may be held against itself. */
static int refuse_same_seed(const struct agree_request *request, const struct runs *runs, struct error *err)
{
    size_t n = request->n_bases > 1 ? request->n_bases + 1 : 1;
    for (size_t i = 1; i < n; i++) {
        const char *seed = runs->run[i].result->run.seed;
        for (size_t j = 0; j < i && seed[0]; j++)
            if (strcmp(seed, runs->run[j].result->run.seed) == 0)
                return error_set(err, EXIT_CODE_INCOMPARABLE,
                                 "%s and %s have the same seed: they are one run, or two that drew the same inputs, "
                                 "places and orders (--force compares all the same)",
                                 request->bases[j], i < request->n_bases ? request->bases[i] : request->fresh);
    }
    return 0;
}

static bool is_by_paper(const struct result *result)
{
    for (size_t i = 0; i < result->n_cells; i++)
        if (result->cells[i].paper_pairs)
            return true;
    return false;
}

/* Its score is a mean of ratios, which has no place among the logarithms of geometric means. */
static int refuse_paper_among_several(const struct agree_request *request, const struct runs *runs, struct error *err)
{
    for (size_t i = 0; request->n_bases > 1 && i < request->n_bases; i++)
        if (is_by_paper(runs->run[i].result))
            return error_set(err, EXIT_CODE_INCOMPARABLE,
                             "%s is by the paper's protocol: of several BASE runs none may be, give it as NEW",
                             request->bases[i]);
    return 0;
}

static int refuse(const struct agree_request *request, const struct runs *runs, struct error *err)
{
    int code = refuse_paper_among_several(request, runs, err);
    for (size_t i = 0; i < request->n_bases && !code; i++)
        code = refuse_other_device(request->n_bases == 1 ? "BASE" : request->bases[i], &runs->run[i],
                                   &runs->run[request->n_bases], err);
    return code ? code : refuse_same_seed(request, runs, err);
}

static int mode_of(const char *name)
{
    for (int i = 0; mode_names[i]; i++)
        if (strcmp(mode_names[i], name) == 0)
            return i;
    return -1;
}

/* ---- pairs ---- */

/* A pair of contenders in one run. */
struct sight {
    const struct result_cell *cell;
    const struct result_pair *speedup;
};

/* False when one of the runs has no such pair. */
static bool find_pairs(struct sight *sights, size_t n, const struct result_pair *wanted)
{
    for (size_t i = 0; i < n; i++) {
        sights[i].speedup = result_speedup(sights[i].cell, wanted->timing, wanted->candidate, wanted->reference);
        if (!sights[i].speedup)
            return false;
    }
    return true;
}

/* The same for a cell of this key. */
static bool find_cells(const struct runs *runs, const struct result_cell *wanted, struct sight *out)
{
    for (size_t i = 0; i < runs->n; i++) {
        const struct run *run = &runs->run[i];
        const struct result_cell **cell =
            bsearch(&wanted, run->cells, run->result->n_cells, sizeof *run->cells, by_key);
        if (!cell)
            return false;
        out[i].cell = *cell;
    }
    return true;
}

/* The score of a run by the paper's protocol is the mean of ratios; ours is the geometric mean. */
static double score(const struct sight *at)
{
    return at->cell->paper_pairs ? at->speedup->mean_of_ratios : at->speedup->geomean;
}

/* Where its machine code came from, which the first run compiled and the second had, is no other kernel. */
static bool same_kernel(const cJSON *ours, const cJSON *theirs)
{
    const cJSON *trees[] = {ours, theirs};
    cJSON *copies[2];
    for (int i = 0; i < 2; i++) {
        copies[i] = cJSON_Duplicate(trees[i], true);
        cJSON_DeleteItemFromObjectCaseSensitive(copies[i], "cubin");
    }
    bool same = cJSON_Compare(copies[0], copies[1], true);
    for (int i = 0; i < 2; i++)
        cJSON_Delete(copies[i]);
    return same;
}

static bool differs(const struct result_cell *base, const struct result_cell *fresh, const char *name)
{
    const struct result_contender *ours = result_contender(base, name), *theirs = result_contender(fresh, name);
    return ours && theirs && ours->attributes.json && theirs->attributes.json &&
           !same_kernel(ours->attributes.json, theirs->attributes.json);
}

/* A -max has no attributes of its own: it stands for the layouts of its family. */
static bool is_other_variant(const struct result_cell *base, const struct result_cell *fresh, const char *name)
{
    char twin[RECORD_NAME_MAX + 8];
    size_t length = strlen(name);
    if (length < 4 || strcmp(name + length - 4, "-max") != 0)
        return differs(base, fresh, name);
    for (int layout = 0; layout < 2; layout++) {
        snprintf(twin, sizeof twin, "%.*s-%s", (int)length - 4, name, layout_names[layout]);
        if (differs(base, fresh, twin))
            return true;
    }
    return false;
}

/* Each process counts once, whatever its own interval is: what they differ by is what one more may differ by. */
static void predict(const struct sight *bases, size_t n, struct agree_row *row)
{
    double logs[AGREE_BASES_MAX];
    for (size_t i = 0; i < n; i++)
        logs[i] = log1p(score(&bases[i]));
    double mean = stats_mean(logs, n), reach = stats_prediction(logs, n);
    row->base = expm1(mean);
    row->low = expm1(mean - reach);
    row->high = expm1(mean + reach);
}

static void compare_kinds(const struct sight *base, const struct sight *fresh, struct agree_row *row)
{
    row->other_variant |= is_other_variant(base->cell, fresh->cell, row->candidate) ||
                          is_other_variant(base->cell, fresh->cell, row->reference);
    row->other_start |= timing_is_segment(row->timing) && base->cell->held != fresh->cell->held;
}

/* False when one of the runs has no figure. */
static bool read_row(const struct sight *sights, size_t n_bases, struct agree_row *row)
{
    const struct sight *fresh = &sights[n_bases];
    int mode = mode_of(fresh->cell->group.mode);
    *row = (struct agree_row){.base = score(&sights[0]),
                              .fresh = score(fresh),
                              .low = sights[0].speedup->ci95.low,
                              .high = sights[0].speedup->ci95.high,
                              .timing = fresh->speedup->timing};
    if (n_bases > 1)
        predict(sights, n_bases, row);
    if (mode < 0 || row->timing == TIMING_COUNT || isnan(row->base) || isnan(row->fresh))
        return false;
    row->mode = (enum mode)mode;
    snprintf(row->key, sizeof row->key, "%s", fresh->cell->key);
    snprintf(row->candidate, sizeof row->candidate, "%s", fresh->speedup->candidate);
    snprintf(row->reference, sizeof row->reference, "%s", fresh->speedup->reference);
    for (size_t i = 0; i < n_bases; i++)
        compare_kinds(&sights[i], fresh, row);
    return true;
}

static int add_cell(struct agreement *a, struct sight *sights)
{
    const struct result_cell *first = sights[0].cell;
    struct agree_row *grown = realloc(a->rows, (a->n_rows + first->n_speedups + 1) * sizeof *grown);
    if (!grown)
        return -1;
    a->rows = grown;
    for (size_t i = 0; i < first->n_speedups; i++)
        if (find_pairs(sights, a->n_bases + 1, &first->speedups[i]) &&
            read_row(sights, a->n_bases, &a->rows[a->n_rows]))
            a->n_other_starts += a->rows[a->n_rows++].other_start;
    a->n_cells++;
    for (size_t i = 0; i <= a->n_bases; i++)
        a->seconds[i == a->n_bases] += sights[i].cell->wall_seconds;
    return 0;
}

static int add_cells(struct agreement *a, const struct runs *runs)
{
    const struct run *first = &runs->run[0];
    struct sight sights[AGREE_BASES_MAX + 1];
    for (size_t i = 0; i < first->result->n_cells; i++)
        if (find_cells(runs, first->cells[i], sights) && add_cell(a, sights))
            return -1;
    return 0;
}

/* ---- what they come to ---- */

static double difference(const struct agree_row *row)
{
    return fabs(row->fresh - row->base);
}

static int by_difference(const void *a, const void *b)
{
    const struct agree_row *x = a, *y = b;
    double dx = difference(x), dy = difference(y);
    return (dx < dy) - (dx > dy);
}

bool agree_is_inside(const struct agree_row *row)
{
    return row->fresh >= row->low && row->fresh <= row->high;
}

/* `differences` has room for every row. */
static void add_group(struct agreement *a, int mode, int timing, double *differences)
{
    struct agree_group g = {.mode = (enum mode)mode, .timing = (enum timing)timing};
    for (size_t i = 0; i < a->n_rows; i++) {
        const struct agree_row *row = &a->rows[i];
        if ((int)row->mode != mode || (int)row->timing != timing)
            continue;
        differences[g.n++] = difference(row);
        g.with_interval += isnan(row->low) ? 0 : 1;
        g.inside += agree_is_inside(row) ? 1 : 0;
    }
    if (g.n == 0)
        return;
    g.median = stats_median(differences, g.n);
    g.p90 = stats_quantile(differences, g.n, 0.9);
    g.p95 = stats_quantile(differences, g.n, 0.95);
    g.most = stats_quantile(differences, g.n, 1);
    a->groups[a->n_groups++] = g;
}

static int summarise(struct agreement *a)
{
    double *differences = malloc((a->n_rows + 1) * sizeof *differences);
    if (!differences)
        return -1;
    if (a->n_rows > 0) /* else there is no list to hand over */
        qsort(a->rows, a->n_rows, sizeof *a->rows, by_difference);
    for (int mode = 0; mode < MODE_COUNT; mode++)
        for (int timing = 0; timing < TIMING_COUNT; timing++)
            add_group(a, mode, timing, differences);
    free(differences);
    return 0;
}

int agree_open(const struct agree_request *request, struct agreement *out, struct error *err)
{
    struct runs runs;
    *out = (struct agreement){.n_bases = request->n_bases};
    int code = load_all(request, &runs, err);
    if (!code && !request->force)
        code = refuse(request, &runs, err);
    if (!code && (add_cells(out, &runs) || summarise(out)))
        code = error_set(err, EXIT_CODE_INTERNAL, "out of memory for the comparison");
    if (!code && out->n_rows == 0)
        code = error_set(err, EXIT_CODE_INCOMPARABLE, "%s%s and %s have no pair of contenders in common",
                         request->bases[0], request->n_bases > 1 ? ", the other BASE runs" : "", request->fresh);
    if (code)
        agree_free(out);
    free_all(&runs);
    return code;
}

void agree_free(struct agreement *a)
{
    free(a->rows);
    *a = (struct agreement){0};
}

/* ---- in words ---- */

void agree_between(const struct agreement *a, char *out, size_t capacity)
{
    size_t used = (size_t)snprintf(out, capacity, "between runs 95%% of speedups differ by up to");
    int told = -1; /* groups of one mode follow each other */
    for (size_t i = 0; i < a->n_groups && used < capacity; i++) {
        const struct agree_group *g = &a->groups[i];
        if ((int)g->mode == told)
            continue;
        used += (size_t)snprintf(out + used, capacity - used, "%s %.2f points (%s, %s time, %zu of them)",
                                 told < 0 ? "" : ",", 100 * g->p95, mode_names[g->mode], timing_names[g->timing], g->n);
        told = (int)g->mode;
    }
}

/* ---- tables ---- */

void agree_groups_table(const struct agreement *a, struct table *s)
{
    if (a->n_bases == 1)
        snprintf(s->title, sizeof s->title,
                 "Absolute difference of a speedup between the two runs, in percentage points");
    else
        snprintf(s->title, sizeof s->title,
                 "Absolute difference of a speedup between NEW and the mean of %zu BASE runs, in percentage points",
                 a->n_bases);
    table_column(s, "mode", "mode", true);
    table_column(s, "timing", "timing", true);
    table_column(s, "pairs", "n", false);
    table_column(s, "median", "median", false);
    table_column(s, "90th percentile", "p90", false);
    table_column(s, "largest", "most", false);
    table_column(s, a->n_bases == 1 ? "in BASE's interval" : "inside", "inside", false);
    for (size_t i = 0; i < a->n_groups; i++) {
        const struct agree_group *g = &a->groups[i];
        table_add(s, NAN, "%s", mode_names[g->mode]);
        table_add(s, NAN, "%s", timing_names[g->timing]);
        table_add(s, (double)g->n, "%zu", g->n);
        table_add(s, g->median, "%.2f", 100 * g->median);
        table_add(s, g->p90, "%.2f", 100 * g->p90);
        table_add(s, g->most, "%.2f", 100 * g->most);
        table_add(s, (double)g->inside, "%zu/%zu", g->inside, g->with_interval);
    }
}

static void add_row(struct table *s, const struct agree_row *row, bool several)
{
    table_add(s, NAN, "%s", row->key);
    table_add(s, NAN, "%s", timing_names[row->timing]);
    table_add(s, NAN, "%s", row->candidate);
    table_add(s, NAN, "%s", row->reference);
    table_add(s, row->base, "%+.2f%%", 100 * row->base);
    if (isnan(row->low) || isnan(row->high))
        table_add(s, NAN, "-");
    else
        table_add(s, NAN, "%+.2f%% to %+.2f%%", 100 * row->low, 100 * row->high);
    table_add(s, row->fresh, "%+.2f%%", 100 * row->fresh);
    table_add(s, difference(row), "%.2f", 100 * difference(row));
    const char *place = isnan(row->low) ? "no interval" : agree_is_inside(row) ? "inside" : "outside";
    const char *held = several ? ", held in some" : ", held in one";
    table_add(s, NAN, "%s%s%s", place, row->other_variant ? ", another variant" : "", row->other_start ? held : "");
}

void agree_rows_table(const struct agreement *a, struct table *s)
{
    size_t shown = a->n_rows < AGREE_LISTED ? a->n_rows : AGREE_LISTED;
    if (shown < a->n_rows)
        snprintf(s->title, sizeof s->title, "The %zu largest differences of %zu", shown, a->n_rows);
    else
        snprintf(s->title, sizeof s->title, "Every pair, the largest difference first");
    table_column(s, "cell", "cell", true);
    table_column(s, "timing", "timing", true);
    table_column(s, "candidate", "candidate", true);
    table_column(s, "against", "reference", true);
    table_column(s, a->n_bases == 1 ? "BASE" : "mean of BASE", "base", false);
    table_column(s, a->n_bases == 1 ? "its 95% interval" : "one more run's 95% interval", "ci95", false);
    table_column(s, "NEW", "new", false);
    table_column(s, "difference", "difference", false);
    table_column(s, "NEW is", "place", true);
    for (size_t i = 0; i < shown; i++)
        add_row(s, &a->rows[i], a->n_bases > 1);
}
