/*
 * choices.c - the parameters of the winning layout on each shape, by name, from attributes.parameters. Relies on
 * record/parameters.h. Called by table4.c and figures.c.
 */
#include "report/choices.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "record/parameters.h"

const char *const choice_names[CHOICE_PARAMETERS] = {"BM", "BN", "BK", "stages", "swizzle stride"};

/* As the manifests under kernels/ spell them. */
static const char *const keys[CHOICE_PARAMETERS] = {"BM", "BN", "BK", "STAGES", "RASTER"};

double choice_log2_mnk(const struct choice *c)
{
    return log2(c->m) + log2(c->n) + log2(c->k);
}

/* ---- panels ---- */

static double log2_m(const struct choice *c)
{
    return log2(c->m);
}

static double log2_n(const struct choice *c)
{
    return log2(c->n);
}

static double log2_k(const struct choice *c)
{
    return log2(c->k);
}

static double bm(const struct choice *c)
{
    return c->value[CHOICE_BM];
}

static double bn(const struct choice *c)
{
    return c->value[CHOICE_BN];
}

static double bk(const struct choice *c)
{
    return c->value[CHOICE_BK];
}

static double stages(const struct choice *c)
{
    return c->value[CHOICE_STAGES];
}

static double swizzle(const struct choice *c)
{
    return c->value[CHOICE_SWIZZLE];
}

const struct choice_panel choice_panels[CHOICE_PANELS] = {
    {"BM by M", log2_m, bm}, {"BN by N", log2_n, bn},         {"BK by K", log2_k, bk},
    {"BM by BN", bn, bm},    {"stages by K", log2_k, stages}, {"swizzle stride by MNK", choice_log2_mnk, swizzle},
};

/* ---- reading ---- */

static bool is_candidate_with_parameters(const struct result_contender *c)
{
    return c->role == RESULT_CANDIDATE && c->verdict == VERDICT_OK && c->attributes.parameters[0] != '\0';
}

/* The faster of this contender's family; the first when two are equal. */
static bool is_fastest_of_family(const struct result_cell *cell, const struct result_contender *contender)
{
    double own = result_headline(cell, contender)->median_ns;
    for (size_t i = 0; i < cell->n_contenders; i++) {
        const struct result_contender *other = &cell->contenders[i];
        if (other == contender || !is_candidate_with_parameters(other) || strcmp(other->family, contender->family) != 0)
            continue;
        double ns = result_headline(cell, other)->median_ns;
        if (ns < own || (ns == own && other < contender))
            return false;
    }
    return !isnan(own);
}

static struct choice choice_from(const struct result_cell *cell, const struct result_contender *contender)
{
    struct choice c = {
        .mode = cell->group.mode,
        .dtype = cell->group.dtype,
        .accumulate = cell->group.accumulate,
        .candidate = contender->family,
        .kernel = contender->attributes.kernel,
        .m = cell->m,
        .n = cell->n,
        .k = cell->k,
    };
    for (int p = 0; p < CHOICE_PARAMETERS; p++)
        c.value[p] = parameters_value(contender->attributes.parameters, keys[p]);
    return c;
}

static size_t count_contenders(const struct result *result)
{
    size_t n = 0;
    for (size_t i = 0; i < result->n_cells; i++)
        n += result->cells[i].n_contenders;
    return n;
}

int choices_of(const struct result *result, struct choices *out, struct error *err)
{
    *out = (struct choices){.items = malloc((count_contenders(result) + 1) * sizeof *out->items)};
    if (!out->items)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for the report");
    for (size_t i = 0; i < result->n_cells; i++) {
        const struct result_cell *cell = &result->cells[i];
        for (size_t c = 0; c < cell->n_contenders; c++) {
            const struct result_contender *contender = &cell->contenders[c];
            if (is_candidate_with_parameters(contender) && is_fastest_of_family(cell, contender))
                out->items[out->n++] = choice_from(cell, contender);
        }
    }
    return 0;
}

void choices_free(struct choices *c)
{
    free(c->items);
    *c = (struct choices){0};
}

/* ---- points ---- */

bool choice_same_group(const struct choice *a, const struct choice *b)
{
    return strcmp(a->mode, b->mode) == 0 && strcmp(a->dtype, b->dtype) == 0 &&
           strcmp(a->accumulate, b->accumulate) == 0 && strcmp(a->candidate, b->candidate) == 0;
}

bool choice_is_first_of_group(const struct choices *all, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (choice_same_group(&all->items[i], &all->items[index]))
            return false;
    return true;
}

int choice_points_make(const struct choices *all, struct choice_points *out)
{
    *out = (struct choice_points){0, malloc((all->n + 1) * sizeof(double)), malloc((all->n + 1) * sizeof(double))};
    if (out->x && out->y)
        return 0;
    choice_points_free(out);
    return -1;
}

void choice_points_free(struct choice_points *points)
{
    free(points->x);
    free(points->y);
    *points = (struct choice_points){0};
}

void choice_fill_points(const struct choices *all, const struct choice *group, const struct choice_panel *panel,
                        struct choice_points *out)
{
    out->n = 0;
    for (size_t i = 0; i < all->n; i++) {
        const struct choice *c = &all->items[i];
        double x = panel->x(c);
        double y = panel->y(c);
        if (!choice_same_group(c, group) || isnan(x) || isnan(y))
            continue;
        out->x[out->n] = x;
        out->y[out->n++] = y;
    }
}

double choice_correlation(double (*of)(const double *, const double *, size_t), const struct choice_points *points)
{
    return points->n < 3 ? (double)NAN : of(points->x, points->y, points->n);
}
