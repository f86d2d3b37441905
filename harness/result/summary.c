/*
 * summary.c - rows by group of cells: speedups, A/A, rates, convergence, who was left out, what was watched. Relies on
 * aggregate.c. Called by result.c.
 */
#include "result/summary.h"

#include "analysis/aggregate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/activity.h"
#include "base/tree.h"
#include "stats/interval.h"

#define KEY_MAX 256

/* Values of one thing over the shapes. What a column holds is up to the collector. */
#define COLUMNS 4
struct bucket {
    char key[KEY_MAX];          /* fields separated by '|' */
    const cJSON *cell, *sample; /* the first cell and entry that fell in */
    size_t n, capacity;
    double *column[COLUMNS];
};

struct buckets {
    size_t n, capacity;
    struct bucket *list;
    bool failed;
};

static void buckets_free(struct buckets *b)
{
    for (size_t i = 0; i < b->n; i++)
        for (int c = 0; c < COLUMNS; c++)
            free(b->list[i].column[c]);
    free(b->list);
}

static struct bucket *bucket_at(struct buckets *b, const char *key)
{
    for (size_t i = 0; i < b->n; i++)
        if (strcmp(b->list[i].key, key) == 0)
            return &b->list[i];
    if (b->n == b->capacity) {
        size_t capacity = b->capacity ? 2 * b->capacity : 64;
        struct bucket *grown = realloc(b->list, capacity * sizeof *grown);
        if (!grown) {
            b->failed = true;
            return NULL;
        }
        b->list = grown;
        b->capacity = capacity;
    }
    struct bucket *new = &b->list[b->n++];
    *new = (struct bucket){0};
    snprintf(new->key, sizeof new->key, "%s", key);
    return new;
}

static void bucket_add(struct buckets *b, const char *key, const cJSON *cell, const cJSON *sample,
                       const double values[COLUMNS])
{
    struct bucket *bucket = bucket_at(b, key);
    if (!bucket)
        return;
    if (bucket->n == bucket->capacity) {
        size_t capacity = bucket->capacity ? 2 * bucket->capacity : 64;
        for (int c = 0; c < COLUMNS; c++) {
            double *grown = realloc(bucket->column[c], capacity * sizeof *grown);
            b->failed |= !grown;
            if (grown)
                bucket->column[c] = grown;
        }
        if (b->failed)
            return;
        bucket->capacity = capacity;
    }
    if (!bucket->cell) {
        bucket->cell = cell;
        bucket->sample = sample;
    }
    for (int c = 0; c < COLUMNS; c++)
        bucket->column[c][bucket->n] = values[c];
    bucket->n++;
}

static void put_group(struct tree *t, const cJSON *cell)
{
    tree_put_text(t, "mode", tree_text(cell, "mode"));
    tree_put_text(t, "dtype", tree_text(cell, "dtype"));
    tree_put_text(t, "accumulate", tree_text(cell, "accumulate"));
}

static void group_key(const cJSON *cell, char *key, size_t capacity)
{
    snprintf(key, capacity, "%s|%s|%s", tree_text(cell, "mode"), tree_text(cell, "dtype"),
             tree_text(cell, "accumulate"));
}

/* ---- speedups ---- */

static void collect_from(struct buckets *b, const cJSON *cell, const char *list)
{
    const cJSON *s;
    char group[64];
    char key[KEY_MAX];
    group_key(cell, group, sizeof group);
    cJSON_ArrayForEach(s, tree_member(cell, list))
    {
        const cJSON *ci = tree_member(s, "ci95");
        bool known = cJSON_GetArraySize(ci) == 2;
        double values[COLUMNS] = {tree_number(s, "mean_of_ratios"), tree_number(s, "geomean"),
                                  known ? ci->child->valuedouble : NAN, known ? ci->child->next->valuedouble : NAN};
        snprintf(key, sizeof key, "%s|%s|%s|%s", group, tree_text(s, "timing"), tree_text(s, "candidate"),
                 tree_text(s, "reference"));
        bucket_add(b, key, cell, s, values);
    }
}

static void collect_speedups(struct buckets *b, const cJSON *cell)
{
    collect_from(b, cell, "speedups");
}

static void collect_equal_path(struct buckets *b, const cJSON *cell)
{
    collect_from(b, cell, "equal_path");
}

static cJSON *speedup_row(const struct bucket *b)
{
    struct aggregate a;
    struct aggregate_input in = {b->n, b->column[0], b->column[1], b->column[2], b->column[3]};
    aggregate_of(&in, &a);
    struct tree t = tree_begin();
    put_group(&t, b->cell);
    tree_put_text(&t, "timing", tree_text(b->sample, "timing"));
    tree_put_text(&t, "candidate", tree_text(b->sample, "candidate"));
    tree_put_text(&t, "reference", tree_text(b->sample, "reference"));
    tree_put_number(&t, "n", (double)a.n);
    tree_put_number(&t, "mean", round_to(a.mean, 1e5));
    double ends[2] = {round_to(a.low, 1e5), round_to(a.high, 1e5)};
    tree_put(&t, "ci95", isnan(a.low) ? cJSON_CreateNull() : cJSON_CreateDoubleArray(ends, 2));
    tree_put_number(&t, "sd", round_to(a.sd, 1e5));
    tree_put_number(&t, "geomean", round_to(a.geomean, 1e5));
    tree_put_number(&t, "median", round_to(a.median, 1e5));
    tree_put_number(&t, "wins", (double)a.wins);
    tree_put_number(&t, "clear_wins", (double)a.clear_wins);
    tree_put_number(&t, "clear_losses", (double)a.clear_losses);
    tree_put_number(&t, "mean_of_max", round_to(a.max_mean, 1e5));
    return tree_finish(&t);
}

/* ---- A/A ---- */

static void collect_aa(struct buckets *b, const cJSON *cell)
{
    const cJSON *a;
    char group[64];
    char key[KEY_MAX];
    group_key(cell, group, sizeof group);
    cJSON_ArrayForEach(a, tree_member(cell, "aa"))
    {
        const cJSON *excludes = tree_member(a, "excludes_one");
        double values[COLUMNS] = {log1p(tree_number(a, "geomean")), cJSON_IsTrue(excludes), cJSON_IsBool(excludes), 0};
        snprintf(key, sizeof key, "%s|%s|%s", group, tree_text(a, "timing"), tree_text(a, "contender"));
        bucket_add(b, key, cell, a, values);
    }
}

static cJSON *aa_row(const struct bucket *b)
{
    double judged = 0;
    double excluded = 0;
    for (size_t i = 0; i < b->n; i++) {
        excluded += b->column[1][i];
        judged += b->column[2][i];
    }
    struct tree t = tree_begin();
    put_group(&t, b->cell);
    tree_put_text(&t, "timing", tree_text(b->sample, "timing"));
    tree_put_text(&t, "contender", tree_text(b->sample, "contender"));
    tree_put_number(&t, "n", (double)b->n);
    tree_put_number(&t, "with_interval", judged);
    tree_put_number(&t, "excludes_one", excluded);
    tree_put_number(&t, "false_alarm_rate", judged > 0 ? round_to(excluded / judged, 1e5) : NAN);
    tree_put_number(&t, "mean_log_ratio", round_to(stats_mean(b->column[0], b->n), 1e7));
    tree_put_number(&t, "sd_log_ratio", round_to(stats_sd(b->column[0], b->n), 1e7));
    return tree_finish(&t);
}

/* ---- contenders: rates, and who was left out why ---- */

static void collect_rates(struct buckets *b, const cJSON *cell)
{
    const cJSON *c;
    char group[64];
    char key[KEY_MAX];
    group_key(cell, group, sizeof group);
    tree_each(c, tree_member(cell, "contenders"))
    {
        double tflops = tree_number(c, "tflops");
        const double values[COLUMNS] = {tflops, tree_number(c, "percent_of_roofline"), 0, 0};
        snprintf(key, sizeof key, "%s|%s", group, c->string);
        if (strcmp(tree_text(c, "status"), "ok") == 0 && !isnan(tflops))
            bucket_add(b, key, cell, c, values);
    }
}

static cJSON *rate_row(const struct bucket *b)
{
    struct tree t = tree_begin();
    put_group(&t, b->cell);
    tree_put_text(&t, "contender", b->sample->string);
    tree_put_text(&t, "role", tree_text(b->sample, "role"));
    tree_put_number(&t, "n", (double)b->n);
    tree_put_number(&t, "median_tflops", round_to(stats_median(b->column[0], b->n), 1e3));
    tree_put_number(&t, "max_tflops", round_to(stats_quantile(b->column[0], b->n, 1), 1e3));
    bool known = !isnan(b->column[1][0]);
    tree_put_number(&t, "median_percent_of_roofline", known ? round_to(stats_median(b->column[1], b->n), 1e2) : NAN);
    return tree_finish(&t);
}

static void collect_left_out(struct buckets *b, const cJSON *cell)
{
    static const double nothing[COLUMNS] = {0};
    const cJSON *c;
    char key[KEY_MAX];
    tree_each(c, tree_member(cell, "contenders"))
    {
        snprintf(key, sizeof key, "%.80s|%.31s|%.130s", c->string, tree_text(c, "status"), tree_text(c, "reason"));
        /* Who is skipped with the cell is told with the cell. */
        if (strcmp(tree_text(c, "status"), "ok") != 0 && strcmp(tree_text(c, "status"), "skipped") != 0)
            bucket_add(b, key, cell, c, nothing);
    }
}

static cJSON *left_out_row(const struct bucket *b)
{
    struct tree t = tree_begin();
    tree_put_text(&t, "contender", b->sample->string);
    tree_put_text(&t, "status", tree_text(b->sample, "status"));
    tree_put_text(&t, "stage", tree_text(b->sample, "stage"));
    tree_put_text(&t, "reason", tree_text(b->sample, "reason"));
    tree_put_number(&t, "cells", (double)b->n);
    tree_put_text(&t, "first_cell", tree_text(b->cell, "key"));
    return tree_finish(&t);
}

/* ---- the whole ---- */

typedef void (*collector)(struct buckets *b, const cJSON *cell);
typedef cJSON *(*row_maker)(const struct bucket *b);

static cJSON *table(const cJSON *cells, collector collect, row_maker row)
{
    struct buckets b = {0};
    const cJSON *cell;
    cJSON *array = cJSON_CreateArray();
    cJSON_ArrayForEach(cell, cells) collect(&b, cell);
    for (size_t i = 0; i < b.n && array && !b.failed; i++)
        if (!tree_append(array, row(&b.list[i])))
            array = NULL;
    if (b.failed) {
        cJSON_Delete(array);
        array = NULL;
    }
    buckets_free(&b);
    return array;
}

static cJSON *unconverged_row(const cJSON *cell)
{
    struct tree t = tree_begin();
    tree_put_text(&t, "cell", tree_text(cell, "key"));
    tree_put_number(&t, "half_width", tree_number(cell, "worst_half_width"));
    tree_put_text(&t, "pair", tree_text(cell, "worst_pair"));
    return tree_finish(&t);
}

/* Cells with blocks and not one pair to compare: a single contender, or none on a common rung. */
static bool is_incomparable(const cJSON *cell)
{
    return isnan(tree_number(cell, "worst_half_width")) && !tree_text(cell, "worst_pair")[0];
}

static bool is_measured(const cJSON *cell)
{
    return tree_number(cell, "blocks") > 0 && !is_incomparable(cell);
}

/* Share of the cells with something to compare that reached the wanted half-width, and the list of those that did not.
 */
static cJSON *convergence(const cJSON *cells)
{
    const cJSON *cell;
    double measured = 0;
    double converged = 0;
    double incomparable = 0;
    cJSON *list = cJSON_CreateArray();
    cJSON_ArrayForEach(cell, cells)
    {
        bool reached = tree_true(cell, "converged");
        measured += is_measured(cell);
        incomparable += tree_number(cell, "blocks") > 0 && is_incomparable(cell);
        converged += is_measured(cell) && reached;
        if (list && is_measured(cell) && !reached && !tree_append(list, unconverged_row(cell)))
            list = NULL;
    }
    struct tree t = tree_begin();
    tree_put_number(&t, "measured", measured);
    tree_put_number(&t, "converged", converged);
    tree_put_number(&t, "share", measured > 0 ? round_to(converged / measured, 1e5) : NAN);
    tree_put_count(&t, "incomparable", incomparable);
    tree_put(&t, "not_converged", list);
    return tree_finish(&t);
}

static cJSON *counts(const cJSON *cells)
{
    static const char *const statuses[] = {"ok", "partial", "skipped", "failed", NULL};
    const cJSON *cell;
    double count[4] = {0};
    double slowed = 0;
    double dropped = 0;
    double busy = 0;
    double wall = 0;
    cJSON_ArrayForEach(cell, cells)
    {
        for (int i = 0; statuses[i]; i++)
            count[i] += strcmp(tree_text(cell, "status"), statuses[i]) == 0;
        slowed += tree_number(cell, "dropped_blocks") > 0;
        dropped += tree_number(cell, "dropped_blocks");
        busy += tree_number(cell, "busy_seconds");
        wall += tree_number(cell, "wall_seconds");
    }
    struct tree t = tree_begin();
    tree_put_number(&t, "cells", cJSON_GetArraySize(cells));
    for (int i = 0; statuses[i]; i++)
        tree_put_number(&t, statuses[i], count[i]);
    tree_put_number(&t, "cells_with_slowdown", slowed);
    tree_put_number(&t, "dropped_blocks", dropped);
    tree_put_number(&t, "busy_seconds", round_to(busy, 1e3));
    tree_put_number(&t, "wall_seconds", round_to(wall, 1e3));
    return tree_finish(&t);
}

/* ---- activity ---- */

/* What the looks of a run came to; contenders that nobody looked at have none. */
struct looks {
    size_t launches, unavailable, refuted, n_ratios;
    double *ratios;
};

static void count_look(struct looks *l, const cJSON *contender)
{
    const cJSON *activity = tree_member(contender, "activity");
    double ratio = tree_number(activity, "ratio");
    if (!activity)
        return;
    bool unseen = tree_text(activity, "unavailable")[0] != '\0';
    l->unavailable += unseen;
    l->launches += !unseen;
    l->refuted += strcmp(tree_text(contender, "stage"), ACTIVITY_STAGE) == 0;
    /* What is launched early sets itself up beside the launch ahead, which a launch alone cannot. */
    if (!isnan(ratio) && !tree_true(contender, "early"))
        l->ratios[l->n_ratios++] = ratio;
}

static cJSON *ratios_tree(const struct looks *l)
{
    struct tree t = tree_begin();
    tree_put_number(&t, "n", (double)l->n_ratios);
    tree_put_number(&t, "median", round_to(stats_median(l->ratios, l->n_ratios), 1e3));
    tree_put_number(&t, "min", stats_quantile(l->ratios, l->n_ratios, 0));
    tree_put_number(&t, "max", stats_quantile(l->ratios, l->n_ratios, 1));
    return tree_finish(&t);
}

static cJSON *looks_tree(const struct looks *l)
{
    struct tree t = tree_begin();
    tree_put_number(&t, "launches", (double)l->launches);
    tree_put_count(&t, "unavailable", (double)l->unavailable);
    tree_put_number(&t, "refuted", (double)l->refuted);
    if (l->n_ratios > 0)
        tree_put(&t, "ratio", ratios_tree(l));
    return tree_finish(&t);
}

static size_t count_contenders(const cJSON *cells)
{
    const cJSON *cell;
    size_t n = 0;
    cJSON_ArrayForEach(cell, cells) n += (size_t)cJSON_GetArraySize(tree_member(cell, "contenders"));
    return n;
}

/* Nothing where nobody looked. */
static void put_activity(struct tree *t, const cJSON *cells)
{
    const cJSON *cell, *contender;
    struct looks l = {.ratios = malloc((count_contenders(cells) + 1) * sizeof *l.ratios)};
    t->failed |= !l.ratios;
    if (t->failed) {
        free(l.ratios);
        return;
    }
    cJSON_ArrayForEach(cell, cells)
    {
        cJSON_ArrayForEach(contender, tree_member(cell, "contenders")) count_look(&l, contender);
    }
    if (l.launches + l.unavailable > 0)
        tree_put(t, "activity", looks_tree(&l));
    free(l.ratios);
}

cJSON *summary_of(const cJSON *cells)
{
    struct tree t = tree_begin();
    tree_put(&t, "counts", counts(cells));
    tree_put(&t, "convergence", convergence(cells));
    tree_put(&t, "speedups", table(cells, collect_speedups, speedup_row));
    tree_put(&t, "equal_path", table(cells, collect_equal_path, speedup_row));
    tree_put(&t, "rates", table(cells, collect_rates, rate_row));
    tree_put(&t, "aa", table(cells, collect_aa, aa_row));
    tree_put(&t, "left_out", table(cells, collect_left_out, left_out_row));
    put_activity(&t, cells);
    return tree_finish(&t);
}
