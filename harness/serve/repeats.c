/*
 * repeats.c - changes of baselines' ratios from one look at a problem to the next, the variance that intervals do not
 * explain, and wider intervals. Relies on analysis/pair.h. Called by evaluate.c and server*.c.
 */
#include "serve/repeats.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/pair.h"
#include "base/tree.h"

/* A change this many deviations large counts as one of just that: a kernel that has two speeds says nothing of others.
 * Of a normal change it takes a thousandth. */
#define CLIP 3.0
#define ROUNDS 8
/* Each is to lie in the other's interval, also in the narrower one: of eight groups 92.0% do without, 95.0% with this.
 */
#define BOTH 1.15

/* ---- looking ---- */

static const struct contender_record *next_baseline(const struct cell_record *r, const struct contender_record *first)
{
    for (size_t i = 0; i < r->n_contenders; i++) {
        const struct contender_record *c = &r->contenders[i];
        bool times = c->verdict == VERDICT_OK && c->timings[r->headline].n > 0;
        if (times && !c->candidate && !c->copy_of[0] &&
            (!first || (c > first && strcmp(c->family, first->family) == 0)))
            return c;
    }
    return NULL;
}

static bool look_at(const struct cell_record *r, const struct contender_record *a, const struct contender_record *b,
                    struct repeat *out)
{
    struct pair pair;
    struct interval interval = {0};
    char key[RECORD_KEY_MAX];
    if (!pair_is_comparable(a, b, r->headline))
        return false;
    if (pair_collect(r, &a->timings[r->headline], &b->timings[r->headline], PAIR_HEALTHY_BLOCKS, &pair) == 0)
        pair_interval(&pair, &interval);
    pair_free(&pair);
    record_key(&r->problem, r->mode, key);
    snprintf(out->key, sizeof out->key, "%s %s %s", a->name, b->name, key);
    out->estimate = interval.estimate;
    out->variance = interval.error * interval.error;
    return interval.valid && isfinite(interval.estimate) && isfinite(interval.error);
}

void repeats_look(struct repeat_log *log, const struct cell_record *record)
{
    const struct contender_record *a = next_baseline(record, NULL), *b = a ? next_baseline(record, a) : NULL;
    if (b && log->n < SUBMISSION_PROBLEMS)
        log->n += look_at(record, a, b, &log->list[log->n]);
}

/* ---- remembering ---- */

static struct repeat *find(struct repeats *r, const char *key)
{
    for (size_t i = 0; i < r->n_latest; i++)
        if (strcmp(r->latest[i].key, key) == 0)
            return &r->latest[i];
    return NULL;
}

/* Room for one more, or the oldest one's. */
static struct repeat *next_place(struct repeats *r)
{
    if (r->n_latest < REPEATS_KEYS)
        return &r->latest[r->n_latest++];
    struct repeat *place = &r->latest[r->oldest];
    r->oldest = (r->oldest + 1) % REPEATS_KEYS;
    return place;
}

static void add_move(struct repeats *r, const struct repeat *before, const struct repeat *after)
{
    double change = after->estimate - before->estimate;
    r->moves[r->next] = (struct repeat_move){change * change, before->variance + after->variance};
    r->next = (r->next + 1) % REPEATS_MOVES;
    r->n_moves += r->n_moves < REPEATS_MOVES;
}

void repeats_add(struct repeats *r, const struct repeat_log *log)
{
    for (size_t i = 0; i < log->n; i++) {
        struct repeat *place = find(r, log->list[i].key);
        if (place)
            add_move(r, place, &log->list[i]);
        else
            place = next_place(r);
        *place = log->list[i];
    }
}

/* ---- what follows ---- */

/* A change is of two jobs: its square is expected to be its variance and twice what is looked for. */
double repeats_deviation(const struct repeats *r)
{
    double first = REPEATS_FIRST_DEVIATION * REPEATS_FIRST_DEVIATION, between = first;
    for (int round = 0; round < ROUNDS; round++) {
        double sum = REPEATS_FIRST_WEIGHT * 2 * first;
        for (size_t i = 0; i < r->n_moves; i++) {
            const struct repeat_move *m = &r->moves[i];
            sum += fmin(m->square, CLIP * CLIP * (m->variance + 2 * between)) - m->variance;
        }
        between = fmax(sum, 0) / (2 * (REPEATS_FIRST_WEIGHT + (double)r->n_moves));
    }
    return sqrt(between);
}

double repeats_half_width(const struct repeats *r, double own)
{
    double t = stats_t95(REPEATS_FIRST_WEIGHT + (double)r->n_moves);
    return sqrt(2) * hypot(BOTH * own, t * repeats_deviation(r));
}

/* What it adds to the ends. */
struct change {
    double low, high;
};

static void set(cJSON *object, const char *key, double value)
{
    cJSON *node = cJSON_GetObjectItemCaseSensitive(object, key);
    if (cJSON_IsNumber(node))
        cJSON_SetNumberValue(node, round_to(value, 1e6));
}

static struct change widen_problem(const struct repeats *r, cJSON *problem)
{
    double ratio = tree_number(problem, "ratio"), low = tree_number(problem, "ratio_low"),
           high = tree_number(problem, "ratio_high");
    if (!(ratio > 0 && low > 0 && high > 0))
        return (struct change){0, 0};
    double half = repeats_half_width(r, log(high / low) / 2);
    const struct change change = {ratio * exp(-half) - low, ratio * exp(half) - high};
    set(problem, "ratio_low", low + change.low);
    set(problem, "ratio_high", high + change.high);
    cJSON_AddNumberToObject(problem, "run_low", low);
    cJSON_AddNumberToObject(problem, "run_high", high);
    return change;
}

static void move_ends(cJSON *object, const char *low, const char *high, const struct change *by)
{
    set(object, low, tree_number(object, low) + by->low);
    set(object, high, tree_number(object, high) + by->high);
}

void repeats_widen(const struct repeats *r, cJSON *outcome)
{
    cJSON *problem, *problems = cJSON_GetObjectItemCaseSensitive(outcome, "problems");
    cJSON *terms = cJSON_GetObjectItemCaseSensitive(outcome, "terms");
    struct change sum = {0, 0};
    double n = (double)cJSON_GetArraySize(problems);
    if (!terms || !(n > 0))
        return;
    cJSON_ArrayForEach(problem, problems)
    {
        const struct change own = widen_problem(r, problem);
        sum.low += own.low / n;
        sum.high += own.high / n;
    }
    move_ends(terms, "ratio_low", "ratio_high", &sum);
    move_ends(cJSON_GetObjectItemCaseSensitive(outcome, "reward"), "low", "high", &sum);
    cJSON_AddNumberToObject(terms, "repeat_deviation", round_to(repeats_deviation(r), 1e6));
}
