#include "report/tables.h"

#include "report/aa.h"
#include "report/table4.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows in the paper's order, then what the paper does not have. */
static const char *const known_references[] = {"torch.matmul",
                                               "cublas-nn",
                                               "cublas-tn",
                                               "cublas-max",
                                               "cublaslt-heuristic-nn",
                                               "cublaslt-heuristic-tn",
                                               "cublaslt-heuristic-max",
                                               "cublaslt-autotuning-nn",
                                               "cublaslt-autotuning-tn",
                                               "cublaslt-autotuning-max"};
#define N_KNOWN (sizeof known_references / sizeof *known_references)

static const char *const modes[] = {"offline", "server"};
#define N_MODES 2

/* What stands in one table: everything of a line's identity but mode and reference. */
static bool same_group(const struct line *a, const struct line *b)
{
    return strcmp(a->source, b->source) == 0 && strcmp(a->dtype, b->dtype) == 0 &&
           strcmp(a->accumulate, b->accumulate) == 0 && strcmp(a->timing, b->timing) == 0 &&
           strcmp(a->candidate, b->candidate) == 0;
}

static bool is_first_of_group(const struct dataset *d, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (same_group(&d->lines[i], &d->lines[index]))
            return false;
    return true;
}

static const struct line *line_of(const struct dataset *d, const struct line *group, const char *mode,
                                  const char *reference)
{
    struct line like = *group;
    snprintf(like.mode, sizeof like.mode, "%s", mode);
    snprintf(like.reference, sizeof like.reference, "%s", reference);
    const struct line *line = dataset_find(d, &like);
    return line && line->n > 0 ? line : NULL;
}

/* Names of all references of the dataset in row order; at most capacity. */
static size_t list_references(const struct dataset *d, const char **out, size_t capacity)
{
    size_t n = 0;
    for (size_t i = 0; i < N_KNOWN; i++)
        for (size_t l = 0; l < d->n; l++)
            if (strcmp(d->lines[l].reference, known_references[i]) == 0) {
                out[n++] = known_references[i];
                break;
            }
    for (size_t l = 0; l < d->n && n < capacity; l++) {
        bool listed = false;
        for (size_t i = 0; i < n; i++)
            listed |= strcmp(out[i], d->lines[l].reference) == 0;
        if (!listed)
            out[n++] = d->lines[l].reference;
    }
    return n;
}

static void add_percent(struct sheet *s, double value, bool sign)
{
    if (isnan(value))
        sheet_add(s, NAN, "-");
    else
        sheet_add(s, value, sign ? "%+.2f%%" : "%.2f%%", 100 * value);
}

static void add_wins(struct sheet *s, const struct aggregate *a)
{
    if (a->n == 0)
        sheet_add(s, NAN, "-");
    else
        sheet_add(s, (double)a->wins, "%zu/%zu", a->wins, a->n);
}

static void aggregate_or_nothing(const struct line *line, struct aggregate *out)
{
    *out = (struct aggregate){.mean = NAN, .sd = NAN, .low = NAN, .high = NAN, .geomean = NAN, .median = NAN};
    out->max_mean = NAN;
    if (line)
        line_aggregate(line, out);
}

static void mode_column(struct sheet *s, const char *mode, const char *what, const char *key)
{
    char head[64];
    char full_key[48];
    snprintf(head, sizeof head, "%s %s", mode, what);
    snprintf(full_key, sizeof full_key, "%s_%s", mode, key);
    sheet_column(s, head, full_key, false);
}

static void describe(const char *name, const struct line *group, struct sheet *s)
{
    snprintf(s->title, sizeof s->title, "%s: %s, %s over each baseline, %s accumulated in %s, %s time", name,
             group->candidate, group->source, group->dtype, group->accumulate, group->timing);
}

/* ---- Table 1 ---- */

static void table1_columns(struct sheet *s)
{
    static const char *const what[][2] = {{"mean", "mean"}, {"wins", "wins"},       {"median", "median"},
                                          {"std", "std"},   {"geomean", "geomean"}, {"95% of mean", "mean_ci95"}};
    sheet_column(s, "baseline", "baseline", true);
    for (size_t m = 0; m < N_MODES; m++)
        for (size_t w = 0; w < sizeof what / sizeof *what; w++)
            mode_column(s, modes[m], what[w][0], what[w][1]);
}

static void table1_cells(struct sheet *s, const struct line *line)
{
    struct aggregate a;
    aggregate_or_nothing(line, &a);
    add_percent(s, a.mean, true);
    add_wins(s, &a);
    add_percent(s, a.median, true);
    add_percent(s, a.sd, false);
    add_percent(s, a.geomean, true);
    if (isnan(a.low))
        sheet_add(s, NAN, "-");
    else
        sheet_add(s, NAN, "[%+.2f, %+.2f]", 100 * a.low, 100 * a.high);
}

static int table1_of_group(const struct dataset *d, const struct line *group, sheet_sink sink, void *context)
{
    const char *references[128];
    struct sheet s = {0};
    size_t n = list_references(d, references, 128);
    describe("Table 1", group, &s);
    table1_columns(&s);
    for (size_t i = 0; i < n; i++) {
        const struct line *lines[N_MODES] = {line_of(d, group, modes[0], references[i]),
                                             line_of(d, group, modes[1], references[i])};
        if (!lines[0] && !lines[1])
            continue;
        sheet_add(&s, NAN, "%s", references[i]);
        table1_cells(&s, lines[0]);
        table1_cells(&s, lines[1]);
    }
    int code = sink(context, 1, &s);
    sheet_free(&s);
    return code;
}

/* ---- claimed next to measured ---- */

static void side_cells(struct sheet *s, const struct line *line)
{
    struct aggregate a;
    aggregate_or_nothing(line, &a);
    add_percent(s, a.mean, true);
    add_wins(s, &a);
}

static int side_by_side(const struct dataset *d, const struct line *measured, const struct line *claimed,
                        sheet_sink sink, void *context)
{
    const struct line *const sides[] = {measured, claimed};
    const char *references[128];
    struct sheet s = {0};
    size_t n = list_references(d, references, 128);
    snprintf(s.title, sizeof s.title, "Table 1: claimed (%s) next to measured (%s), accumulate %s", claimed->candidate,
             measured->candidate, measured->accumulate);
    sheet_column(&s, "baseline", "baseline", true);
    for (size_t m = 0; m < N_MODES; m++) {
        mode_column(&s, modes[m], "measured", "measured_mean");
        mode_column(&s, modes[m], "wins", "measured_wins");
        mode_column(&s, modes[m], "claimed", "claimed_mean");
        mode_column(&s, modes[m], "wins", "claimed_wins");
    }
    for (size_t i = 0; i < n; i++) {
        sheet_add(&s, NAN, "%s", references[i]);
        for (size_t m = 0; m < N_MODES; m++)
            for (size_t side = 0; side < 2; side++)
                side_cells(&s, line_of(d, sides[side], modes[m], references[i]));
    }
    int code = sink(context, 1, &s);
    sheet_free(&s);
    return code;
}

static int all_side_by_side(const struct dataset *d, sheet_sink sink, void *context)
{
    int code = 0;
    for (size_t i = 0; i < d->n && code == 0; i++)
        for (size_t j = 0; j < d->n && code == 0; j++) {
            const struct line *a = &d->lines[i];
            const struct line *b = &d->lines[j];
            bool pair = strcmp(a->source, "measured") == 0 && strcmp(b->source, "claimed") == 0;
            bool firsts = is_first_of_group(d, i) && is_first_of_group(d, j);
            if (pair && firsts && strcmp(a->accumulate, b->accumulate) == 0)
                code = side_by_side(d, a, b, sink, context);
        }
    return code;
}

/* ---- Table 2 ---- */

static int table2_of_group(const struct dataset *d, const struct line *group, sheet_sink sink, void *context)
{
    const char *references[128];
    struct sheet s = {0};
    size_t n = list_references(d, references, 128);
    describe("Table 2: the better of candidate and baseline", group, &s);
    sheet_column(&s, "baseline", "baseline", true);
    for (size_t m = 0; m < N_MODES; m++)
        mode_column(&s, modes[m], "mean of max", "mean_of_max");
    for (size_t i = 0; i < n; i++) {
        struct aggregate a[N_MODES];
        for (size_t m = 0; m < N_MODES; m++)
            aggregate_or_nothing(line_of(d, group, modes[m], references[i]), &a[m]);
        if (a[0].n + a[1].n == 0)
            continue;
        sheet_add(&s, NAN, "%s", references[i]);
        add_percent(&s, a[0].max_mean, true);
        add_percent(&s, a[1].max_mean, true);
    }
    int code = sink(context, 2, &s);
    sheet_free(&s);
    return code;
}

/* ---- Table 3 ---- */

static double log2_mnk(const struct shape_value *v)
{
    return log2(v->m) + log2(v->n) + log2(v->k);
}

static double mean_dimension(const struct shape_value *v)
{
    return log2((v->m + v->n + v->k) / 3);
}

static double largest_dimension(const struct shape_value *v)
{
    return log2(fmax(v->m, fmax(v->n, v->k)));
}

static const struct {
    const char *head, *key;
    double (*of)(const struct shape_value *v);
    double width;  /* of a bin, in powers of two */
    bool exponent; /* bins are named by the exponent, not the size */
} size_axes[] = {
    {"log2(MNK)", "log2_mnk", log2_mnk, 2, true},
    {"mean dimension", "mean_dimension", mean_dimension, 1, false},
    {"largest dimension", "largest_dimension", largest_dimension, 1, false},
};
#define N_AXES (sizeof size_axes / sizeof *size_axes)
#define BINS_MAX 64

struct bin {
    size_t n, wins;
    double sum, sum_log;
};

static void fill_bins(const struct line *line, size_t axis, struct bin *bins)
{
    for (size_t i = 0; i < line->n; i++) {
        const struct shape_value *v = &line->values[i];
        double at = floor((size_axes[axis].of(v) + 1e-9) / size_axes[axis].width);
        if (!(at >= 0 && at < BINS_MAX))
            continue;
        struct bin *bin = &bins[(size_t)at];
        bin->n++;
        bin->wins += v->geomean > 0;
        bin->sum += v->mean;
        bin->sum_log += log1p(v->geomean);
    }
}

static void add_bin_name(struct sheet *s, size_t axis, size_t index)
{
    double from = (double)index * size_axes[axis].width;
    double to = from + size_axes[axis].width;
    if (size_axes[axis].exponent)
        sheet_add(s, from, "%.0f to %.0f", from, to);
    else
        sheet_add(s, exp2(from), "%.0f to %.0f", exp2(from), exp2(to));
}

static int table3_sheet(const struct line *line, size_t axis, sheet_sink sink, void *context)
{
    struct bin bins[BINS_MAX] = {0};
    struct sheet s = {0};
    fill_bins(line, axis, bins);
    snprintf(s.title, sizeof s.title, "Table 3: %s over %s by %s, %s %s, accumulate %s", line->candidate,
             line->reference, size_axes[axis].head, line->source, line->mode, line->accumulate);
    sheet_column(&s, size_axes[axis].head, size_axes[axis].key, true);
    sheet_column(&s, "shapes", "shapes", false);
    sheet_column(&s, "mean", "mean", false);
    sheet_column(&s, "geomean", "geomean", false);
    sheet_column(&s, "wins", "wins", false);
    for (size_t i = 0; i < BINS_MAX; i++) {
        if (bins[i].n == 0)
            continue;
        double n = (double)bins[i].n;
        add_bin_name(&s, axis, i);
        sheet_add(&s, n, "%zu", bins[i].n);
        add_percent(&s, bins[i].sum / n, true);
        add_percent(&s, expm1(bins[i].sum_log / n), true);
        sheet_add(&s, (double)bins[i].wins, "%zu", bins[i].wins);
    }
    int code = sink(context, 3, &s);
    sheet_free(&s);
    return code;
}

/* The last row of Table 1 that this group has: cuBLASLt-AutoTuning-max where it is there. */
static const struct line *strongest(const struct dataset *d, const struct line *group, const char *mode)
{
    for (size_t i = N_KNOWN; i-- > 0;) {
        const struct line *line = line_of(d, group, mode, known_references[i]);
        if (line)
            return line;
    }
    return NULL;
}

static int table3_of_group(const struct dataset *d, const struct line *group, sheet_sink sink, void *context)
{
    int code = 0;
    for (size_t m = 0; m < N_MODES; m++) {
        const struct line *line = strongest(d, group, modes[m]);
        for (size_t axis = 0; line && axis < N_AXES && code == 0; axis++)
            code = table3_sheet(line, axis, sink, context);
    }
    return code;
}

int tables_make(const struct dataset *d, const cJSON *result, int table, sheet_sink sink, void *context)
{
    static int (*const makers[])(const struct dataset *, const struct line *, sheet_sink,
                                 void *) = {NULL, table1_of_group, table2_of_group, table3_of_group};
    int code = 0;
    if (table == 4)
        return result ? table4_make(result, sink, context) : 0;
    for (size_t i = 0; i < d->n && code == 0; i++)
        if (is_first_of_group(d, i))
            code = makers[table](d, &d->lines[i], sink, context);
    if (code == 0 && table == 1)
        code = all_side_by_side(d, sink, context);
    return code || table != 1 || !result ? code : aa_make(result, sink, context);
}
