#include "compare/agree.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/load.h"
#include "result/tree.h"
#include "stats/interval.h"

/* ---- reading ---- */

static int load(const char *path, cJSON **out, struct error *err)
{
    const char *const paths[] = {path};
    struct load_request request = {.paths = paths, .n = 1};
    return load_results(&request, out, err);
}

static int refuse_other_device(const cJSON *base, const cJSON *fresh, struct error *err)
{
    static const char *const keys[] = {"name", "driver"};
    const cJSON *ours = tree_member(cJSON_GetArrayItem(tree_member(base, "env"), 0), "device");
    const cJSON *theirs = tree_member(cJSON_GetArrayItem(tree_member(fresh, "env"), 0), "device");
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (strcmp(tree_text(ours, keys[i]), tree_text(theirs, keys[i])) != 0)
            return error_set(err, EXIT_CODE_INCOMPARABLE,
                             "the device's %s is \"%s\" in BASE and \"%s\" in NEW (--force compares all the same)",
                             keys[i], tree_text(ours, keys[i]), tree_text(theirs, keys[i]));
    return 0;
}

static int by_key(const void *a, const void *b)
{
    return strcmp(tree_text(*(const cJSON *const *)a, "key"), tree_text(*(const cJSON *const *)b, "key"));
}

/* The cells sorted by key; *n of them, owned. NULL out of memory. */
static const cJSON **sorted_cells(const cJSON *result, size_t *n)
{
    const cJSON *cell, *cells = tree_member(result, "cells");
    const cJSON **list = malloc(((size_t)cJSON_GetArraySize(cells) + 1) * sizeof *list);
    *n = 0;
    if (!list)
        return NULL;
    cJSON_ArrayForEach(cell, cells) list[(*n)++] = cell;
    qsort(list, *n, sizeof *list, by_key);
    return list;
}

static int choice_of(const char *text, const char *const names[])
{
    for (int i = 0; names[i]; i++)
        if (strcmp(names[i], text) == 0)
            return i;
    return -1;
}

/* ---- pairs ---- */

static bool same_pair(const cJSON *a, const cJSON *b)
{
    static const char *const keys[] = {"timing", "candidate", "reference"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (strcmp(tree_text(a, keys[i]), tree_text(b, keys[i])) != 0)
            return false;
    return true;
}

static const cJSON *find_pair(const cJSON *cell, const cJSON *wanted)
{
    const cJSON *speedup;
    cJSON_ArrayForEach(speedup, tree_member(cell, "speedups")) if (same_pair(speedup, wanted)) return speedup;
    return NULL;
}

/* The score of a run by the paper's protocol is the mean of ratios; ours is the geometric mean. */
static double score(const cJSON *cell, const cJSON *speedup)
{
    return tree_number(speedup, tree_member(cell, "paper_pairs") ? "mean_of_ratios" : "geomean");
}

/* A -max has no attributes of its own: nothing is said about it. */
static bool is_other_variant(const cJSON *base, const cJSON *fresh, const char *name)
{
    const cJSON *ours = tree_member(tree_member(tree_member(base, "contenders"), name), "attributes");
    const cJSON *theirs = tree_member(tree_member(tree_member(fresh, "contenders"), name), "attributes");
    return ours && theirs && !cJSON_Compare(ours, theirs, true);
}

static void read_interval(const cJSON *speedup, struct agree_row *row)
{
    const cJSON *ci = tree_member(speedup, "ci95");
    bool known = cJSON_GetArraySize(ci) == 2;
    row->low = known && cJSON_IsNumber(ci->child) ? ci->child->valuedouble : NAN;
    row->high = known && cJSON_IsNumber(ci->child->next) ? ci->child->next->valuedouble : NAN;
}

/* False when one of the runs has no figure. */
static bool read_row(const cJSON *base, const cJSON *fresh, const cJSON *ours, const cJSON *theirs,
                     struct agree_row *row)
{
    const char *candidate = tree_text(ours, "candidate"), *reference = tree_text(ours, "reference");
    int mode = choice_of(tree_text(base, "mode"), mode_names);
    int timing = choice_of(tree_text(ours, "timing"), timing_names);
    *row = (struct agree_row){.base = score(base, ours), .fresh = score(fresh, theirs)};
    if (mode < 0 || timing < 0 || isnan(row->base) || isnan(row->fresh))
        return false;
    row->mode = (enum mode)mode;
    row->timing = (enum timing)timing;
    snprintf(row->key, sizeof row->key, "%s", tree_text(base, "key"));
    snprintf(row->candidate, sizeof row->candidate, "%s", candidate);
    snprintf(row->reference, sizeof row->reference, "%s", reference);
    read_interval(ours, row);
    row->other_variant = is_other_variant(base, fresh, candidate) || is_other_variant(base, fresh, reference);
    row->other_start = row->timing == TIMING_DEVICE && tree_true(base, "held") != tree_true(fresh, "held");
    return true;
}

static int add_cell(struct agreement *a, const cJSON *base, const cJSON *fresh)
{
    const cJSON *ours;
    size_t more = (size_t)cJSON_GetArraySize(tree_member(base, "speedups"));
    struct agree_row *grown = realloc(a->rows, (a->n_rows + more + 1) * sizeof *grown);
    if (!grown)
        return -1;
    a->rows = grown;
    cJSON_ArrayForEach(ours, tree_member(base, "speedups"))
    {
        const cJSON *theirs = find_pair(fresh, ours);
        if (!theirs || !read_row(base, fresh, ours, theirs, &a->rows[a->n_rows]))
            continue;
        a->n_other_starts += a->rows[a->n_rows++].other_start;
    }
    a->n_cells++;
    a->seconds[0] += tree_number(base, "wall_seconds");
    a->seconds[1] += tree_number(fresh, "wall_seconds");
    return 0;
}

static int add_cells(struct agreement *a, const cJSON *base, const cJSON *fresh)
{
    size_t n[2];
    const cJSON **ours = sorted_cells(base, &n[0]), **theirs = sorted_cells(fresh, &n[1]);
    int failed = !ours || !theirs ? -1 : 0;
    for (size_t i = 0, j = 0; !failed && i < n[0] && j < n[1];) {
        int order = by_key(&ours[i], &theirs[j]);
        if (order == 0)
            failed = add_cell(a, ours[i], theirs[j]);
        i += order <= 0;
        j += order >= 0;
    }
    free(ours);
    free(theirs);
    return failed;
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
    cJSON *base = NULL, *fresh = NULL;
    *out = (struct agreement){0};
    int code = load(request->base, &base, err);
    if (!code)
        code = load(request->fresh, &fresh, err);
    if (!code && !request->force)
        code = refuse_other_device(base, fresh, err);
    if (!code && (add_cells(out, base, fresh) || summarise(out)))
        code = error_set(err, EXIT_CODE_INTERNAL, "out of memory for the comparison");
    if (!code && out->n_rows == 0)
        code = error_set(err, EXIT_CODE_INCOMPARABLE, "%s and %s have no pair of contenders in common", request->base,
                         request->fresh);
    if (code)
        agree_free(out);
    cJSON_Delete(base);
    cJSON_Delete(fresh);
    return code;
}

void agree_free(struct agreement *a)
{
    free(a->rows);
    *a = (struct agreement){0};
}

/* ---- tables ---- */

void agree_groups_sheet(const struct agreement *a, struct sheet *s)
{
    snprintf(s->title, sizeof s->title, "Absolute difference of a speedup between the two runs, in percentage points");
    sheet_column(s, "mode", "mode", true);
    sheet_column(s, "timing", "timing", true);
    sheet_column(s, "pairs", "n", false);
    sheet_column(s, "median", "median", false);
    sheet_column(s, "90th percentile", "p90", false);
    sheet_column(s, "largest", "most", false);
    sheet_column(s, "in BASE's interval", "inside", false);
    for (size_t i = 0; i < a->n_groups; i++) {
        const struct agree_group *g = &a->groups[i];
        sheet_add(s, NAN, "%s", mode_names[g->mode]);
        sheet_add(s, NAN, "%s", timing_names[g->timing]);
        sheet_add(s, (double)g->n, "%zu", g->n);
        sheet_add(s, g->median, "%.2f", 100 * g->median);
        sheet_add(s, g->p90, "%.2f", 100 * g->p90);
        sheet_add(s, g->most, "%.2f", 100 * g->most);
        sheet_add(s, (double)g->inside, "%zu/%zu", g->inside, g->with_interval);
    }
}

static void add_row(struct sheet *s, const struct agree_row *row)
{
    sheet_add(s, NAN, "%s", row->key);
    sheet_add(s, NAN, "%s", timing_names[row->timing]);
    sheet_add(s, NAN, "%s", row->candidate);
    sheet_add(s, NAN, "%s", row->reference);
    sheet_add(s, row->base, "%+.2f%%", 100 * row->base);
    if (isnan(row->low) || isnan(row->high))
        sheet_add(s, NAN, "-");
    else
        sheet_add(s, NAN, "%+.2f%% to %+.2f%%", 100 * row->low, 100 * row->high);
    sheet_add(s, row->fresh, "%+.2f%%", 100 * row->fresh);
    sheet_add(s, difference(row), "%.2f", 100 * difference(row));
    const char *place = isnan(row->low) ? "no interval" : agree_is_inside(row) ? "inside" : "outside";
    sheet_add(s, NAN, "%s%s%s", place, row->other_variant ? ", another variant" : "",
              row->other_start ? ", held in one" : "");
}

void agree_rows_sheet(const struct agreement *a, struct sheet *s)
{
    size_t shown = a->n_rows < AGREE_LISTED ? a->n_rows : AGREE_LISTED;
    if (shown < a->n_rows)
        snprintf(s->title, sizeof s->title, "The %zu largest differences of %zu", shown, a->n_rows);
    else
        snprintf(s->title, sizeof s->title, "Every pair, the largest difference first");
    sheet_column(s, "cell", "cell", true);
    sheet_column(s, "timing", "timing", true);
    sheet_column(s, "candidate", "candidate", true);
    sheet_column(s, "against", "reference", true);
    sheet_column(s, "BASE", "base", false);
    sheet_column(s, "its 95% interval", "ci95", false);
    sheet_column(s, "NEW", "new", false);
    sheet_column(s, "difference", "difference", false);
    sheet_column(s, "NEW is", "place", true);
    for (size_t i = 0; i < shown; i++)
        add_row(s, &a->rows[i]);
}
