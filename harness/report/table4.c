/*
 * table4.c - correlations of parameters with sizes and means by size class. Relies on choices.c and stats/rank.c.
 * Called by tables.c.
 */
#include "report/table4.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/choices.h"
#include "stats/interval.h"

static void add_correlation(struct table *s, double value)
{
    if (isnan(value))
        table_add(s, NAN, "-");
    else
        table_add(s, value, "%+.3f", value);
}

static void describe(const char *name, const char *what, const struct choice *group, struct table *s)
{
    snprintf(s->name, sizeof s->name, "table4-%s", name);
    snprintf(s->label, sizeof s->label, "table4-%s-%s-%s-%s-%s", name, group->candidate, group->mode, group->dtype,
             group->accumulate);
    snprintf(s->title, sizeof s->title, "Table 4: %s, %s %s, %s accumulated in %s", what, group->candidate, group->mode,
             group->dtype, group->accumulate);
}

static void correlations(const struct choices *all, const struct choice *group, struct choice_points *points,
                         struct table *s)
{
    describe("relations", "parameters and problem size", group, s);
    table_column(s, "relation", "relation", true);
    table_column(s, "shapes", "shapes", false);
    table_column(s, "Pearson", "pearson", false);
    table_column(s, "Spearman", "spearman", false);
    for (int p = 0; p < CHOICE_PANELS; p++) {
        choice_fill_points(all, group, &choice_panels[p], points);
        table_add(s, NAN, "%s", choice_panels[p].name);
        table_add(s, (double)points->n, "%zu", points->n);
        add_correlation(s, choice_correlation(stats_pearson, points));
        add_correlation(s, choice_correlation(stats_spearman, points));
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
        if (!choice_same_group(c, group) || !(size >= edges[class] && size < edges[class + 1]))
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

static void add_class_name(struct table *s, int class)
{
    if (class == CLASSES - 1)
        table_add(s, edges[class], "%.0f and more", edges[class]);
    else
        table_add(s, edges[class], "%.0f to %.0f", edges[class], edges[class + 1]);
}

static void add_usage(struct table *s, const struct usage *u)
{
    table_add(s, (double)u->shapes, "%zu", u->shapes);
    for (int p = 0; p < CHOICE_PARAMETERS; p++) {
        double mean = u->n[p] ? u->sum[p] / (double)u->n[p] : NAN;
        if (isnan(mean))
            table_add(s, NAN, "-");
        else
            table_add(s, mean, "%.1f", mean);
    }
    double share = (double)u->swizzled / (double)u->shapes;
    table_add(s, share, "%.0f%%", 100 * share);
}

static void usage(const struct choices *all, const struct choice *group, struct table *s)
{
    static const char *const column_keys[] = {"mean_bm", "mean_bn", "mean_bk", "mean_stages", "mean_swizzle"};
    describe("classes", "mean parameters by log2(MNK)", group, s);
    table_column(s, "log2(MNK)", "log2_mnk", true);
    table_column(s, "shapes", "shapes", false);
    for (int p = 0; p < CHOICE_PARAMETERS; p++)
        table_column(s, choice_names[p], column_keys[p], false);
    table_column(s, "swizzled", "swizzled", false);
    for (int class = 0; class < CLASSES; class ++) {
        struct usage u;
        count_usage(all, group, class, &u);
        if (u.shapes == 0)
            continue;
        add_class_name(s, class);
        add_usage(s, &u);
    }
}

static int group_tables(const struct choices *all, const struct choice *group, table_sink sink, void *context)
{
    struct table tables[2] = {0};
    struct choice_points points;
    int code = choice_points_make(all, &points);
    if (code == 0) {
        correlations(all, group, &points, &tables[0]);
        usage(all, group, &tables[1]);
    }
    for (int i = 0; i < 2 && code == 0; i++)
        code = sink(context, 4, &tables[i]);
    for (int i = 0; i < 2; i++)
        table_free(&tables[i]);
    choice_points_free(&points);
    return code;
}

int table4_make(const struct result *result, table_sink sink, void *context)
{
    struct choices all;
    struct error err = {0};
    int code = choices_of(result, &all, &err);
    for (size_t i = 0; i < all.n && code == 0; i++)
        if (choice_is_first_of_group(&all, i))
            code = group_tables(&all, &all.items[i], sink, context);
    choices_free(&all);
    return code;
}
