/*
 * features.c - the numbers that the trees are asked about, in the order of their names. Relies on model.h. Called by
 * rank.c and the study that training reads.
 */
#include "choice/cudal2/features.h"

#include <math.h>
#include <stddef.h>

#define PIECE_MAX 6.0 /* log2 of a size's largest power of two; beyond a line of 128 bytes nothing changes */

const char *const feature_names[] = {
    "log_m",   "log_n",    "log_k",     "piece_m",  "piece_n", "piece_k",   "nn",     "f32",     "idle",    "alone",
    "log_us",  "products", "traffic",   "in_l2",    "waves",   "last_wave", "ctas",   "spare_m", "spare_n", "spare_k",
    "steps",   "rows",     "columns",   "tile_m",   "tile_n",  "step_k",    "stages", "split",   "cluster", "per_sm",
    "warps",   "a_reads",  "b_reads",   "slices",   "band",    "down",      "wgmma",  "direct",  "evicts",  "own_rows",
    "overlap", "streams",  "fetch",     "exchange", "copied",  "early",     "fits",   "queue",   "abreast", "tail",
    "keeps",   "kept_for", "streams_k", "across",   "peek",    "narrow",    NULL};

static double ceil_div(double a, double b)
{
    return ceil(a / b);
}

/* log2 of the largest power of two in a size: what decides how its rows lie. */
static double piece(int64_t size)
{
    double log = 0;
    while (log < PIECE_MAX && size % 2 == 0) {
        size /= 2;
        log++;
    }
    return log;
}

/* Of the last wave, more than 0 and at most 1. */
static double last_part(double waves)
{
    double part = waves - floor(waves);
    return part > 0 ? part : 1.0;
}

static double bytes_of(double m, double n, double k)
{
    return 2.0 * (m * n + n * k + m * k);
}

struct shape_of_work {
    double m, n, k, rows, columns, steps, ctas, waves;
};

static struct shape_of_work shape_of(const struct feature_query *q, const struct model_tile *t)
{
    const struct cudal2_problem *p = &q->problem;
    struct shape_of_work s = {.m = (double)p->m, .n = (double)p->n, .k = (double)p->k};
    s.rows = model_tiles(s.m, t->m, t->b_readers);
    s.columns = model_tiles(s.n, t->n, t->a_readers);
    s.steps = ceil_div(ceil_div(s.k, t->split), t->step_k);
    s.ctas = s.rows * s.columns * t->split;
    s.waves = model_waves(q->machine, p, t);
    return s;
}

/* The problem, and how it meets the tile and the machine. */
static size_t add_work(const struct feature_query *q, const struct model_tile *t, double seconds, double *out)
{
    const struct cudal2_problem *p = &q->problem;
    const struct model_machine *machine = q->machine;
    const struct shape_of_work s = shape_of(q, t);
    const double bytes = bytes_of(s.m, s.n, s.k);
    const double values[] = {
        log2(s.m),
        log2(s.n),
        log2(s.k),
        piece(p->m),
        piece(p->n),
        piece(p->k),
        q->layout == CUDAL2_NN,
        p->accumulate == CUDAL2_ACC_F32 || p->dtype == CUDAL2_BF16,
        q->idle,
        q->alone,
        log2(1e6 * seconds),
        log2(2.0 * s.m * s.n * s.k / machine->flops / seconds),
        log2(bytes / machine->memory_bytes_per_s / seconds),
        log2(bytes / machine->l2_bytes),
        log2(s.waves),
        last_part(s.waves),
        log2(s.ctas / machine->sm_count),
        log2(s.rows * t->m / s.m),
        log2(s.columns * t->n / s.n),
        log2(s.steps * t->step_k * t->split / s.k),
        log2(s.steps),
        log2(s.rows),
        log2(s.columns),
    };
    const size_t n = sizeof values / sizeof *values;
    for (size_t i = 0; i < n; i++)
        out[i] = values[i];
    return n;
}

static double band_of(const struct feature_query *q, const struct model_tile *t)
{
    double across = t->down ? ceil_div((double)q->problem.m, t->m) : ceil_div((double)q->problem.n, t->n);
    return log2(fmin(t->band, across));
}

/* The configuration. */
static void add_tile(const struct feature_query *q, const struct model_tile *t, double *out)
{
    const double values[] = {
        log2(t->m),      log2(t->n),
        log2(t->step_k), t->stages,
        log2(t->split),  log2(t->cluster),
        t->per_sm,       t->warps,
        t->a_readers,    t->b_readers,
        t->slices,       band_of(q, t),
        t->down,         t->wgmma,
        t->direct,       t->evicts,
        t->own_rows,     t->overlaps,
        t->streams,      t->fetch,
        t->exchange,     t->copied_n > 0 ? t->copied_n / t->n : 1.0,
        t->early,        t->fits,
        t->queue,        t->abreast,
        t->tail,         t->keeps,
        t->kept_for,     t->streams_k,
        t->across,       t->peek,
        t->narrow,
    };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        out[i] = values[i];
}

void features_of(const struct feature_query *query, const struct model_tile *tile, double seconds, float *out)
{
    double values[FEATURES_COUNT] = {0};
    add_tile(query, tile, values + add_work(query, tile, seconds, values));
    for (size_t i = 0; i < FEATURES_COUNT; i++)
        out[i] = isfinite(values[i]) ? (float)values[i] : 0.0f;
}
