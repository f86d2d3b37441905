/*
 * figures.c - the CSV tables behind Figures 1, 3, 4 and the ablation. Relies on dataset.c, sizes.c and choices.h.
 * Called by report.c; scripts/figures.sh draws them.
 */
#include "report/figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/choices.h"
#include "report/groups.h"
#include "report/sizes.h"
#include "stats/interval.h"

const char *const figure_names[FIGURE_COUNT] = {
    "figure1", "figure3", "figure3-means", "figure4", "figure4-correlations", "ablation"};

struct sources {
    const struct dataset *dataset;
    struct choices choices;
};

static void add_columns(struct table *s, const char *const *keys)
{
    for (size_t i = 0; keys[i]; i++)
        table_column(s, keys[i], keys[i], true);
}

static void add_text(struct table *s, const char *text)
{
    table_add(s, NAN, "%s", text);
}

/* An empty field where the number is not known. */
static void add_number(struct table *s, double value)
{
    table_add(s, value, "-");
}

/* ---- from speedups: what every row begins with ---- */

#define LINE_COLUMNS "source", "mode", "dtype", "accumulate", "timing", "candidate", "reference"

static void add_line(struct table *s, const struct line *line)
{
    add_text(s, line->source);
    add_text(s, line->mode);
    add_text(s, line->dtype);
    add_text(s, line->accumulate);
    add_text(s, line->timing);
    add_text(s, line->candidate);
    add_text(s, line->reference);
}

/* ---- Figure 1 ---- */

static void add_bar(struct table *s, const struct line *line)
{
    char family[DATASET_NAME_MAX];
    char layout[DATASET_NAME_MAX];
    struct aggregate a;
    line_aggregate(line, &a);
    group_split_name(line->reference, family, layout);
    add_line(s, line);
    add_text(s, family);
    add_text(s, layout);
    add_number(s, (double)a.n);
    add_number(s, a.mean);
    add_number(s, a.low);
    add_number(s, a.high);
    add_number(s, a.geomean);
}

static void fill_figure1(const struct sources *in, struct table *s)
{
    static const char *const columns[] = {LINE_COLUMNS, "family", "layout",  "shapes", "mean",
                                          "low",        "high",   "geomean", NULL};
    const char *references[128];
    const struct dataset *d = in->dataset;
    size_t n = group_references(d, references, 128);
    add_columns(s, columns);
    for (size_t g = 0; g < d->n; g++)
        for (size_t i = 0; i < GROUP_MODES * n && group_is_first(d, g); i++) {
            const struct line *line = group_line(d, &d->lines[g], group_modes[i / n], references[i % n]);
            if (line)
                add_bar(s, line);
        }
}

/* ---- Figure 3 ---- */

static void add_points(struct table *s, const struct line *line)
{
    for (size_t i = 0; i < line->n; i++) {
        const struct shape_value *v = &line->values[i];
        add_line(s, line);
        add_number(s, v->m);
        add_number(s, v->n);
        add_number(s, v->k);
        for (int axis = 0; axis < SIZE_AXES; axis++)
            add_number(s, size_axes[axis].of(v));
        add_number(s, v->mean);
    }
}

static void add_means(struct table *s, const struct line *line)
{
    struct size_bin bins[SIZE_BINS];
    for (int axis = 0; axis < SIZE_AXES; axis++) {
        size_fill_bins(line, &size_axes[axis], bins);
        for (size_t i = 0; i < SIZE_BINS; i++) {
            if (bins[i].n == 0)
                continue;
            add_line(s, line);
            add_text(s, size_axes[axis].key);
            add_number(s, (double)i * size_axes[axis].width);
            add_number(s, ((double)i + 1) * size_axes[axis].width);
            add_number(s, (double)bins[i].n);
            add_number(s, bins[i].sum_at / (double)bins[i].n);
            add_number(s, bins[i].sum / (double)bins[i].n);
        }
    }
}

static void for_last(const struct sources *in, struct table *s, void (*add)(struct table *, const struct line *))
{
    const struct dataset *d = in->dataset;
    for (size_t g = 0; g < d->n; g++)
        for (size_t m = 0; m < GROUP_MODES && group_is_first(d, g); m++) {
            const struct line *line = group_last(d, &d->lines[g], group_modes[m]);
            if (line)
                add(s, line);
        }
}

static void fill_figure3(const struct sources *in, struct table *s)
{
    static const char *const columns[] = {
        LINE_COLUMNS, "m", "n", "k", "log2_mnk", "log2_mean_dimension", "log2_largest_dimension", "speedup", NULL};
    add_columns(s, columns);
    for_last(in, s, add_points);
}

static void fill_figure3_means(const struct sources *in, struct table *s)
{
    static const char *const columns[] = {LINE_COLUMNS, "axis",      "log2_from", "log2_to",
                                          "shapes",     "log2_mean", "mean",      NULL};
    add_columns(s, columns);
    for_last(in, s, add_means);
}

/* ---- Figure 4 ---- */

#define CHOICE_COLUMNS "mode", "dtype", "accumulate", "candidate"

static void add_choice(struct table *s, const struct choice *c)
{
    add_text(s, c->mode);
    add_text(s, c->dtype);
    add_text(s, c->accumulate);
    add_text(s, c->candidate);
}

static void fill_figure4(const struct sources *in, struct table *s)
{
    static const char *const columns[] = {CHOICE_COLUMNS, "kernel",         "m", "n", "k", "bm", "bn", "bk",
                                          "stages",       "swizzle_stride", NULL};
    add_columns(s, columns);
    for (size_t i = 0; i < in->choices.n; i++) {
        const struct choice *c = &in->choices.items[i];
        add_choice(s, c);
        add_text(s, c->kernel);
        add_number(s, c->m);
        add_number(s, c->n);
        add_number(s, c->k);
        for (int p = 0; p < CHOICE_PARAMETERS; p++)
            add_number(s, c->value[p]);
    }
}

static void add_correlations(const struct choices *all, const struct choice *group, struct choice_points *points,
                             struct table *s)
{
    for (int p = 0; p < CHOICE_PANELS; p++) {
        choice_fill_points(all, group, &choice_panels[p], points);
        add_choice(s, group);
        add_text(s, choice_panels[p].name);
        add_number(s, (double)points->n);
        add_number(s, choice_correlation(stats_pearson, points));
        add_number(s, choice_correlation(stats_spearman, points));
    }
}

static void fill_figure4_correlations(const struct sources *in, struct table *s)
{
    static const char *const columns[] = {CHOICE_COLUMNS, "panel", "shapes", "pearson", "spearman", NULL};
    struct choice_points points;
    add_columns(s, columns);
    if (choice_points_make(&in->choices, &points)) {
        s->failed = true;
        return;
    }
    for (size_t i = 0; i < in->choices.n; i++)
        if (choice_is_first_of_group(&in->choices, i))
            add_correlations(&in->choices, &in->choices.items[i], &points, s);
    choice_points_free(&points);
}

/* ---- 5.2 ---- */

static bool same_cell(const struct choice *a, const struct choice *b)
{
    return a->m == b->m && a->n == b->n && a->k == b->k && strcmp(a->mode, b->mode) == 0 &&
           strcmp(a->dtype, b->dtype) == 0 && strcmp(a->accumulate, b->accumulate) == 0;
}

/* The choices of one cell stand side by side. */
static bool is_ablation(const struct choices *all, size_t index)
{
    const struct choice *c = &all->items[index];
    size_t first = index;
    while (first > 0 && same_cell(&all->items[first - 1], c))
        first--;
    for (size_t i = first; i < all->n && same_cell(&all->items[i], c); i++) {
        const struct choice *other = &all->items[i];
        double bm = other->value[CHOICE_BM];
        if (strcmp(other->kernel, c->kernel) == 0 && fabs(bm - c->value[CHOICE_BM]) > 0)
            return true;
    }
    return false;
}

/* Of the candidate family, against the last baseline, in the paper's order, of the cell's group; NULL when there is
 * none. */
static const struct shape_value *value_of(const struct dataset *d, const struct choice *c, const struct line **line)
{
    for (size_t i = 0; i < d->n; i++) {
        const struct line *l = &d->lines[i];
        char family[DATASET_NAME_MAX];
        char layout[DATASET_NAME_MAX];
        group_split_name(l->candidate, family, layout);
        if (strcmp(family, c->candidate) != 0 || strcmp(l->mode, c->mode) != 0 || strcmp(l->dtype, c->dtype) != 0 ||
            strcmp(l->accumulate, c->accumulate) != 0 || l != group_last(d, l, l->mode))
            continue;
        *line = l;
        for (size_t v = 0; v < l->n; v++)
            if (l->values[v].m == c->m && l->values[v].n == c->n && l->values[v].k == c->k)
                return &l->values[v];
    }
    return NULL;
}

static void fill_ablation(const struct sources *in, struct table *s)
{
    static const char *const columns[] = {LINE_COLUMNS, "kernel", "m", "n", "k", "bm", "speedup", "low", "high", NULL};
    add_columns(s, columns);
    for (size_t i = 0; i < in->choices.n; i++) {
        const struct choice *c = &in->choices.items[i];
        const struct line *line = NULL;
        const struct shape_value *value = is_ablation(&in->choices, i) ? value_of(in->dataset, c, &line) : NULL;
        if (!value)
            continue;
        add_line(s, line);
        add_text(s, c->kernel);
        add_number(s, c->m);
        add_number(s, c->n);
        add_number(s, c->k);
        add_number(s, c->value[CHOICE_BM]);
        add_number(s, value->geomean);
        add_number(s, value->low);
        add_number(s, value->high);
    }
}

int figure_make(enum figure figure, const struct dataset *d, const struct result *result, struct table *s,
                struct error *err)
{
    static void (*const fillers[FIGURE_COUNT])(const struct sources *, struct table *) = {
        fill_figure1, fill_figure3, fill_figure3_means, fill_figure4, fill_figure4_correlations, fill_ablation};
    struct sources in = {.dataset = d};
    if (result && choices_of(result, &in.choices, err))
        return err->code;
    fillers[figure](&in, s);
    choices_free(&in.choices);
    return s->failed ? error_set(err, EXIT_CODE_INTERNAL, "out of memory for the report") : 0;
}
