/*
 * summary.c - rows by group of cells: speedups, A/A, rates, convergence, who was left out, what was watched. Relies on
 * aggregate.c and left_out.c and borrowed_rows.c. Called by make.c and merge.c.
 */
#include "result/summary.h"

#include "analysis/aggregate.h"
#include "result/borrowed_rows.h"
#include "result/left_out.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "record/activity.h"
#include "base/tree.h"
#include "stats/interval.h"

#define KEY_MAX 256

/* Values of one thing over the shapes. What a column holds is up to the collector. */
#define COLUMNS 4
struct bucket {
    char key[KEY_MAX];              /* fields separated by '|' */
    const struct result_cell *cell; /* the first that fell in, and what of it: a pair, a contender ... */
    const void *sample;
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
    struct bucket *grown = grow_for_one(b->list, b->n, &b->capacity, sizeof *grown);
    if (!grown) {
        b->failed = true;
        return NULL;
    }
    b->list = grown;
    struct bucket *new = &b->list[b->n++];
    *new = (struct bucket){0};
    snprintf(new->key, sizeof new->key, "%s", key);
    return new;
}

static void bucket_add(struct buckets *b, const char *key, const struct result_cell *cell, const void *sample,
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

static void group_key(const struct result_cell *cell, char *key, size_t capacity)
{
    snprintf(key, capacity, "%s|%s|%s", cell->group.mode, cell->group.dtype, cell->group.accumulate);
}

/* ---- speedups ---- */

static void collect_pairs(struct buckets *b, const struct result_cell *cell, const struct result_pair *pairs, size_t n)
{
    char group[64];
    char key[KEY_MAX];
    group_key(cell, group, sizeof group);
    for (size_t i = 0; i < n; i++) {
        const struct result_pair *s = &pairs[i];
        const double values[COLUMNS] = {s->mean_of_ratios, s->geomean, s->ci95.low, s->ci95.high};
        snprintf(key, sizeof key, "%s|%s|%s|%s", group, result_timing_name(s->timing), s->candidate, s->reference);
        bucket_add(b, key, cell, s, values);
    }
}

static void collect_speedups(struct buckets *b, const struct result_cell *cell)
{
    collect_pairs(b, cell, cell->speedups, cell->n_speedups);
}

static void collect_equal_path(struct buckets *b, const struct result_cell *cell)
{
    collect_pairs(b, cell, cell->equal_path, cell->n_equal_path);
}

static void speedup_row(const struct bucket *b, void *out)
{
    const struct result_pair *sample = b->sample;
    struct aggregate a;
    struct aggregate_input in = {b->n, b->column[0], b->column[1], b->column[2], b->column[3]};
    aggregate_of(&in, &a);
    *(struct result_speedup_row *)out = (struct result_speedup_row){
        .group = b->cell->group,
        .timing = sample->timing,
        .candidate = sample->candidate,
        .reference = sample->reference,
        .n = (double)a.n,
        .mean = round_to(a.mean, 1e5),
        .ci95 = {round_to(a.low, 1e5), round_to(a.high, 1e5)},
        .sd = round_to(a.sd, 1e5),
        .geomean = round_to(a.geomean, 1e5),
        .median = round_to(a.median, 1e5),
        .wins = (double)a.wins,
        .clear_wins = (double)a.clear_wins,
        .clear_losses = (double)a.clear_losses,
        .mean_of_max = round_to(a.max_mean, 1e5),
    };
}

/* What the means do not count: cells of the group that lack the pair. */
static void add_left_out(const struct result_cell *cells, size_t n, bool equal_path, struct result_speedup_row *row)
{
    const struct left_out_pair pair = {row->candidate, row->reference, row->timing, equal_path};
    row->left_out = 0;
    for (size_t i = 0; i < n; i++)
        row->left_out += result_same_group(&cells[i].group, &row->group) && result_leaves_out(&cells[i], &pair);
    row->geomean_of_all = round_to(result_mean_of_all(row->geomean, row->n, row->left_out), 1e5);
}

/* ---- A/A ---- */

static void collect_aa(struct buckets *b, const struct result_cell *cell)
{
    char group[64];
    char key[KEY_MAX];
    group_key(cell, group, sizeof group);
    for (size_t i = 0; i < cell->n_aa; i++) {
        const struct result_aa *a = &cell->aa[i];
        const double values[COLUMNS] = {log1p(a->geomean), a->excludes_one == ANSWER_YES,
                                        a->excludes_one != ANSWER_NONE, 0};
        snprintf(key, sizeof key, "%s|%s|%s", group, result_timing_name(a->timing), a->contender);
        bucket_add(b, key, cell, a, values);
    }
}

static void aa_row(const struct bucket *b, void *out)
{
    const struct result_aa *sample = b->sample;
    double judged = 0;
    double excluded = 0;
    for (size_t i = 0; i < b->n; i++) {
        excluded += b->column[1][i];
        judged += b->column[2][i];
    }
    *(struct result_aa_row *)out = (struct result_aa_row){
        .group = b->cell->group,
        .timing = sample->timing,
        .contender = sample->contender,
        .n = (double)b->n,
        .with_interval = judged,
        .excludes_one = excluded,
        .false_alarm_rate = judged > 0 ? round_to(excluded / judged, 1e5) : NAN,
        .mean_log_ratio = round_to(stats_mean(b->column[0], b->n), 1e7),
        .sd_log_ratio = round_to(stats_sd(b->column[0], b->n), 1e7),
    };
}

/* ---- contenders: rates, and who was left out why ---- */

/* Cells of the group in which it was entered and has no rate. */
static size_t count_without_rate(const struct result_cell *cells, size_t n, const struct result_rate_row *row)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        const struct result_contender *c = result_contender(&cells[i], row->contender);
        bool rated = c && c->verdict == VERDICT_OK && !isnan(c->tflops);
        count += result_same_group(&cells[i].group, &row->group) && c && !rated;
    }
    return count;
}

static void collect_rates(struct buckets *b, const struct result_cell *cell)
{
    char group[64];
    char key[KEY_MAX];
    group_key(cell, group, sizeof group);
    for (size_t i = 0; i < cell->n_contenders; i++) {
        const struct result_contender *c = &cell->contenders[i];
        const double values[COLUMNS] = {c->tflops, c->percent_of_roofline, 0, 0};
        snprintf(key, sizeof key, "%s|%s", group, c->name);
        if (c->verdict == VERDICT_OK && !isnan(c->tflops))
            bucket_add(b, key, cell, c, values);
    }
}

static void rate_row(const struct bucket *b, void *out)
{
    const struct result_contender *sample = b->sample;
    bool known = !isnan(b->column[1][0]);
    *(struct result_rate_row *)out = (struct result_rate_row){
        .group = b->cell->group,
        .contender = sample->name,
        .role = sample->role,
        .n = (double)b->n,
        .median_tflops = round_to(stats_median(b->column[0], b->n), 1e3),
        .max_tflops = round_to(stats_quantile(b->column[0], b->n, 1), 1e3),
        .median_percent_of_roofline = known ? round_to(stats_median(b->column[1], b->n), 1e2) : NAN,
    };
}

static void collect_left_out(struct buckets *b, const struct result_cell *cell)
{
    static const double nothing[COLUMNS] = {0};
    char key[KEY_MAX];
    for (size_t i = 0; i < cell->n_contenders; i++) {
        const struct result_contender *c = &cell->contenders[i];
        snprintf(key, sizeof key, "%.80s|%.31s|%.130s", c->name, c->status, c->reason);
        /* Who is skipped with the cell is told with the cell. */
        if (c->verdict != VERDICT_OK && c->verdict != VERDICT_SKIPPED)
            bucket_add(b, key, cell, c, nothing);
    }
}

static void left_out_row(const struct bucket *b, void *out)
{
    const struct result_contender *sample = b->sample;
    *(struct result_left_out *)out = (struct result_left_out){
        .contender = sample->name,
        .status = sample->status,
        .stage = sample->stage,
        .reason = sample->reason,
        .cells = (double)b->n,
        .first_cell = b->cell->key,
    };
}

/* ---- the whole ---- */

/* How one list of rows is made: what of each cell goes into which bucket, and a row from a bucket. */
struct table {
    void (*collect)(struct buckets *b, const struct result_cell *cell);
    void (*row)(const struct bucket *b, void *out);
    size_t size; /* of a row */
};

/* *n rows, owned by the caller. NULL out of memory. */
static void *rows_of(const struct table *table, const struct result_cell *cells, size_t n_cells, size_t *n)
{
    struct buckets b = {0};
    for (size_t i = 0; i < n_cells; i++)
        table->collect(&b, &cells[i]);
    char *rows = b.failed ? NULL : calloc(b.n + 1, table->size);
    *n = rows ? b.n : 0;
    for (size_t i = 0; i < *n; i++)
        table->row(&b.list[i], rows + i * table->size);
    buckets_free(&b);
    return rows;
}

/* Cells with blocks and not one pair to compare: a single contender, or none on a common rung. */
static bool is_incomparable(const struct result_cell *cell)
{
    return isnan(cell->worst_half_width) && !cell->worst_pair[0];
}

static bool is_measured(const struct result_cell *cell)
{
    return cell->blocks > 0 && !is_incomparable(cell);
}

/* Share of the cells with something to compare that reached the wanted half-width, and the list of those that did not.
 */
static bool converge(const struct result_cell *cells, size_t n, struct result_convergence *out)
{
    out->not_converged = calloc(n + 1, sizeof *out->not_converged);
    for (size_t i = 0; i < n && out->not_converged; i++) {
        const struct result_cell *cell = &cells[i];
        out->measured += is_measured(cell);
        out->incomparable += cell->blocks > 0 && is_incomparable(cell);
        out->converged += is_measured(cell) && cell->converged;
        if (is_measured(cell) && !cell->converged)
            out->not_converged[out->n_not_converged++] =
                (struct result_unconverged){cell->key, cell->worst_pair, cell->worst_half_width};
    }
    out->share = out->measured > 0 ? round_to(out->converged / out->measured, 1e5) : NAN;
    return out->not_converged != NULL;
}

static struct result_counts count(const struct result_cell *cells, size_t n)
{
    struct result_counts c = {.cells = (double)n};
    for (size_t i = 0; i < n; i++) {
        c.ok += cells[i].outcome == CELL_OK;
        c.partial += cells[i].outcome == CELL_PARTIAL;
        c.skipped += cells[i].outcome == CELL_SKIPPED;
        c.failed += cells[i].outcome == CELL_FAILED;
        c.cells_with_slowdown += cells[i].dropped_blocks > 0;
        c.dropped_blocks += cells[i].dropped_blocks;
        c.busy_seconds += cells[i].busy_seconds;
        c.wall_seconds += cells[i].wall_seconds;
    }
    c.busy_seconds = round_to(c.busy_seconds, 1e3);
    c.wall_seconds = round_to(c.wall_seconds, 1e3);
    return c;
}

/* ---- activity ---- */

/* What the looks of a run came to; contenders that nobody looked at have none. */
static void count_look(struct result_looks *l, const struct result_contender *c, double *ratios, size_t *n)
{
    if (!c->activity.json)
        return;
    bool unseen = c->activity.unavailable[0] != '\0';
    l->unavailable += unseen;
    l->launches += !unseen;
    l->refuted += strcmp(c->stage, ACTIVITY_STAGE) == 0;
    /* What is launched early sets itself up beside the launch ahead, which a launch alone cannot. */
    if (!isnan(c->activity.ratio) && !c->early)
        ratios[(*n)++] = c->activity.ratio;
}

static size_t count_contenders(const struct result_cell *cells, size_t n)
{
    size_t contenders = 0;
    for (size_t i = 0; i < n; i++)
        contenders += cells[i].n_contenders;
    return contenders;
}

static bool look(const struct result_cell *cells, size_t n, struct result_looks *out)
{
    size_t known = 0;
    double *ratios = malloc((count_contenders(cells, n) + 1) * sizeof *ratios);
    for (size_t i = 0; i < n && ratios; i++)
        for (size_t c = 0; c < cells[i].n_contenders; c++)
            count_look(out, &cells[i].contenders[c], ratios, &known);
    if (known > 0)
        out->ratio = (struct result_ratios){.n = (double)known,
                                            .median = round_to(stats_median(ratios, known), 1e3),
                                            .min = stats_quantile(ratios, known, 0),
                                            .max = stats_quantile(ratios, known, 1)};
    free(ratios);
    return ratios != NULL;
}

bool summary_of(const struct result_cell *cells, size_t n, struct result_summary *out)
{
    static const struct table speedups = {collect_speedups, speedup_row, sizeof(struct result_speedup_row)};
    static const struct table equal_path = {collect_equal_path, speedup_row, sizeof(struct result_speedup_row)};
    static const struct table rates = {collect_rates, rate_row, sizeof(struct result_rate_row)};
    static const struct table aa = {collect_aa, aa_row, sizeof(struct result_aa_row)};
    static const struct table left_out = {collect_left_out, left_out_row, sizeof(struct result_left_out)};
    *out = (struct result_summary){.counts = count(cells, n)};
    out->speedups = rows_of(&speedups, cells, n, &out->n_speedups);
    out->equal_path = rows_of(&equal_path, cells, n, &out->n_equal_path);
    out->rates = rows_of(&rates, cells, n, &out->n_rates);
    out->aa = rows_of(&aa, cells, n, &out->n_aa);
    out->left_out = rows_of(&left_out, cells, n, &out->n_left_out);
    for (size_t i = 0; i < out->n_speedups; i++)
        add_left_out(cells, n, false, &out->speedups[i]);
    for (size_t i = 0; i < out->n_equal_path; i++)
        add_left_out(cells, n, true, &out->equal_path[i]);
    for (size_t i = 0; i < out->n_rates; i++)
        out->rates[i].left_out = (double)count_without_rate(cells, n, &out->rates[i]);
    bool made = converge(cells, n, &out->convergence) && look(cells, n, &out->activity);
    made = made && borrowed_rows(cells, n, &out->borrowed, &out->n_borrowed);
    return made && out->speedups && out->equal_path && out->rates && out->aa && out->left_out;
}
