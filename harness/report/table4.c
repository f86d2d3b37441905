#include "report/table4.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/choices.h"
#include "stats/interval.h"

/* Points of one panel in one group; y where x is. */
struct points {
    size_t n;
    double *x, *y;
};

static bool same_group(const struct choice *a, const struct choice *b)
{
    return strcmp(a->mode, b->mode) == 0 && strcmp(a->dtype, b->dtype) == 0 &&
           strcmp(a->accumulate, b->accumulate) == 0 && strcmp(a->candidate, b->candidate) == 0;
}

static bool is_first_of_group(const struct choices *all, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (same_group(&all->items[i], &all->items[index]))
            return false;
    return true;
}

static void fill_points(const struct choices *all, const struct choice *group, const struct choice_panel *panel,
                        struct points *out)
{
    out->n = 0;
    for (size_t i = 0; i < all->n; i++) {
        const struct choice *c = &all->items[i];
        double x = panel->x(c);
        double y = panel->y(c);
        if (!same_group(c, group) || isnan(x) || isnan(y))
            continue;
        out->x[out->n] = x;
        out->y[out->n++] = y;
    }
}

static void add_correlation(struct sheet *s, double value, size_t n)
{
    if (isnan(value) || n < 3) /* two points always lie on a line */
        sheet_add(s, NAN, "-");
    else
        sheet_add(s, value, "%+.3f", value);
}

static void describe(const char *what, const struct choice *group, struct sheet *s)
{
    snprintf(s->title, sizeof s->title, "Table 4: %s, %s %s, %s accumulated in %s", what, group->candidate, group->mode,
             group->dtype, group->accumulate);
}

static void correlations(const struct choices *all, const struct choice *group, struct points *points, struct sheet *s)
{
    describe("parameters and problem size", group, s);
    sheet_column(s, "relation", "relation", true);
    sheet_column(s, "shapes", "shapes", false);
    sheet_column(s, "Pearson", "pearson", false);
    sheet_column(s, "Spearman", "spearman", false);
    for (int p = 0; p < CHOICE_PANELS; p++) {
        fill_points(all, group, &choice_panels[p], points);
        sheet_add(s, NAN, "%s", choice_panels[p].name);
        sheet_add(s, (double)points->n, "%zu", points->n);
        add_correlation(s, stats_pearson(points->x, points->y, points->n), points->n);
        add_correlation(s, stats_spearman(points->x, points->y, points->n), points->n);
    }
}

/* ---- by size class ---- */

/* Edges of the classes of log2(MNK) in the paper's 6.3. */
static const double edges[] = {0, 27, 33, 36, INFINITY};
#define CLASSES 4

struct usage {
    size_t shapes, swizzled;
    double sum[CHOICE_PARAMETERS];
    size_t n[CHOICE_PARAMETERS];
};

static void count_usage(const struct choices *all, const struct choice *group, int class, struct usage *out)
{
    *out = (struct usage){0};
    for (size_t i = 0; i < all->n; i++) {
        const struct choice *c = &all->items[i];
        double size = choice_log2_mnk(c);
        if (!same_group(c, group) || !(size >= edges[class] && size < edges[class + 1]))
            continue;
        out->shapes++;
        out->swizzled += c->value[CHOICE_SWIZZLE] > 1;
        for (int p = 0; p < CHOICE_PARAMETERS; p++)
            if (!isnan(c->value[p])) {
                out->sum[p] += c->value[p];
                out->n[p]++;
            }
    }
}

static void add_class_name(struct sheet *s, int class)
{
    if (class == CLASSES - 1)
        sheet_add(s, edges[class], "%.0f and more", edges[class]);
    else
        sheet_add(s, edges[class], "%.0f to %.0f", edges[class], edges[class + 1]);
}

static void add_usage(struct sheet *s, const struct usage *u)
{
    sheet_add(s, (double)u->shapes, "%zu", u->shapes);
    for (int p = 0; p < CHOICE_PARAMETERS; p++) {
        double mean = u->n[p] ? u->sum[p] / (double)u->n[p] : NAN;
        if (isnan(mean))
            sheet_add(s, NAN, "-");
        else
            sheet_add(s, mean, "%.1f", mean);
    }
    double share = (double)u->swizzled / (double)u->shapes;
    sheet_add(s, share, "%.0f%%", 100 * share);
}

static void usage(const struct choices *all, const struct choice *group, struct sheet *s)
{
    static const char *const column_keys[] = {"mean_bm", "mean_bn", "mean_bk", "mean_stages", "mean_swizzle"};
    describe("mean parameters by log2(MNK)", group, s);
    sheet_column(s, "log2(MNK)", "log2_mnk", true);
    sheet_column(s, "shapes", "shapes", false);
    for (int p = 0; p < CHOICE_PARAMETERS; p++)
        sheet_column(s, choice_names[p], column_keys[p], false);
    sheet_column(s, "swizzled", "swizzled", false);
    for (int class = 0; class < CLASSES; class ++) {
        struct usage u;
        count_usage(all, group, class, &u);
        if (u.shapes == 0)
            continue;
        add_class_name(s, class);
        add_usage(s, &u);
    }
}

static int group_sheets(const struct choices *all, const struct choice *group, sheet_sink sink, void *context)
{
    struct sheet sheets[2] = {0};
    struct points points = {0, malloc((all->n + 1) * sizeof(double)), malloc((all->n + 1) * sizeof(double))};
    int code = points.x && points.y ? 0 : -1;
    if (code == 0) {
        correlations(all, group, &points, &sheets[0]);
        usage(all, group, &sheets[1]);
    }
    for (int i = 0; i < 2 && code == 0; i++)
        code = sink(context, 4, &sheets[i]);
    for (int i = 0; i < 2; i++)
        sheet_free(&sheets[i]);
    free(points.x);
    free(points.y);
    return code;
}

int table4_make(const cJSON *result, sheet_sink sink, void *context)
{
    struct choices all;
    struct error err = {0};
    int code = choices_of(result, &all, &err);
    for (size_t i = 0; i < all.n && code == 0; i++)
        if (is_first_of_group(&all, i))
            code = group_sheets(&all, &all.items[i], sink, context);
    choices_free(&all);
    return code;
}
