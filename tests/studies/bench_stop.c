/*
 * bench_stop - what a stop rule would have made of a run that is there: reads its journal, looks at each cell as the
 * rule would have (measure/stop.h), and stops where that says so. No GPU.
 *
 *   bench_stop JOURNAL MIN_BLOCKS LOOK_EVERY MAX_SECONDS [HOPELESS_SHARE [HOPELESS_WITHIN [MAX_BLOCKS [NEAR
 *       [LEAST [LONG [LEAD]]]]]]]
 *
 * MAX_BLOCKS is 512, as in configs/grid.json, where it is not given (what method.md quotes had 192). NEAR is
 * near_baselines, LEAST least_blocks, LONG offline_long_half_width, LEAD offline_lead_half_width; 0 where they are not
 * given.
 *
 * Prints a CSV line with the cells that converge, those that are stopped at the cap, those whose blocks end before that
 * ("open": the run itself stopped earlier), the blocks and seconds of measuring of all, and how many A/A pairs there
 * are and exclude 0 where they stop. "Expected" are the cells that would converge, and all seconds, if the intervals of
 * the open ones went on to narrow with the square root of the blocks.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/stop.h"
#include "record/journal.h"
#include "analysis/pair.h"
#include "stats/interval.h"

struct tally {
    struct stop_config stop;
    double seconds, expected_seconds;
    unsigned long cells, converged, capped, open, expected, blocks, copies, excluded;
};

/* A record's blocks, and how many values of the headline timing each contender has. */
struct extent {
    unsigned blocks;
    size_t n[RECORD_MAX_CONTENDERS];
};

static struct extent extent_of(const struct cell_record *r)
{
    struct extent all = {.blocks = r->blocks};
    for (size_t i = 0; i < r->n_contenders; i++)
        all.n[i] = r->contenders[i].timings[r->headline].n;
    return all;
}

/* The record as it was after so many blocks. */
static void cut(struct cell_record *r, const struct extent *all, unsigned blocks)
{
    r->blocks = blocks;
    for (size_t i = 0; i < r->n_contenders; i++) {
        struct series *s = &r->contenders[i].timings[r->headline];
        for (s->n = all->n[i]; s->n > 0 && s->block[s->n - 1] >= blocks;)
            s->n--;
    }
}

static void judge_copies(struct tally *t, const struct cell_record *r)
{
    for (size_t i = 0; i < r->n_contenders; i++) {
        const struct contender_record *copy = &r->contenders[i], *original = record_contender(r, copy->copy_of);
        struct pair pair;
        struct interval interval;
        if (original == NULL || pair_collect(r, &original->timings[r->headline], &copy->timings[r->headline],
                                             PAIR_HEALTHY_BLOCKS, &pair) != 0)
            continue;
        stats_interval(pair.log_ratio, pair.group, pair.n, &interval);
        pair_free(&pair);
        t->copies += interval.valid;
        t->excluded += interval.valid && fabs(interval.estimate) > interval.half_width;
    }
}

static double block_seconds(const struct cell_record *r)
{
    return r->phase_seconds[PHASE_MEASURE] / r->blocks;
}

/* How many blocks the rule takes; the record is left as it was then, and *end says why it stops. */
static unsigned play(const struct tally *t, struct cell_record *r, unsigned cap, enum stop_decision *end)
{
    double seconds = block_seconds(r);
    const struct extent all = extent_of(r);
    unsigned blocks = 0;
    *end = STOP_CONTINUE;
    while (*end == STOP_CONTINUE && blocks < all.blocks && blocks < cap) {
        cut(r, &all, ++blocks);
        *end = stop_decide(&t->stop, r);
        if (*end == STOP_CONTINUE && blocks >= t->stop.least_blocks && stop_is_hopeless(&t->stop, r, blocks * seconds))
            *end = STOP_CAPPED;
    }
    if (*end == STOP_CONTINUE && blocks == cap)
        *end = STOP_CAPPED;
    return blocks;
}

/* Blocks until the interval of an open cell is narrow enough, or `cap`. */
static double expected_blocks(const struct tally *t, struct cell_record *r, unsigned cap)
{
    stop_judge(&t->stop, r);
    double wide = r->worst_half_width / stop_wanted(&t->stop, r), wanted = r->blocks * wide * wide;
    return wanted <= cap ? wanted : cap;
}

static void add(struct tally *t, struct cell_record *r)
{
    enum stop_decision end;
    const struct extent all = extent_of(r);
    double seconds = block_seconds(r);
    unsigned in_time = (unsigned)fmax(ceil(stop_cell_seconds(&t->stop, r->mode) / seconds),
                                      fmax(t->stop.min_blocks, t->stop.least_blocks));
    unsigned cap = in_time < t->stop.max_blocks ? in_time : t->stop.max_blocks;
    unsigned blocks = play(t, r, cap, &end);
    t->cells++;
    t->converged += end == STOP_CONVERGED;
    t->capped += end == STOP_CAPPED;
    t->open += end == STOP_CONTINUE;
    double expected = end == STOP_CONTINUE ? expected_blocks(t, r, cap) : blocks;
    t->expected += end == STOP_CONVERGED || (end == STOP_CONTINUE && expected < cap);
    t->expected_seconds += expected * seconds;
    t->blocks += blocks;
    t->seconds += blocks * seconds;
    judge_copies(t, r);
    cut(r, &all, all.blocks);
}

static int read_cell(void *context, const char *kind, struct json_at data, struct error *err)
{
    struct cell_record *r = NULL;
    (void)kind;
    int code = record_from_json(data, &r, err);
    if (code == 0 && r->blocks > 0)
        add(context, r);
    record_free(r);
    return code;
}

int main(int argc, char **argv)
{
    struct error err = {0};
    if (argc < 5 || argc > 12) {
        fputs("usage: bench_stop JOURNAL MIN_BLOCKS LOOK_EVERY MAX_SECONDS [HOPELESS_SHARE [HOPELESS_WITHIN "
              "[MAX_BLOCKS [NEAR [LEAST [LONG [LEAD]]]]]]]\n",
              stderr);
        return EXIT_CODE_USAGE;
    }
    struct tally t = {.stop = {.min_blocks = (unsigned)atoi(argv[2]),
                               .look_every = (unsigned)atoi(argv[3]),
                               .max_blocks = argc > 7 ? (unsigned)atoi(argv[7]) : 512,
                               .near_baselines = argc > 8 ? atof(argv[8]) : 0,
                               .least_blocks = argc > 9 ? (unsigned)atoi(argv[9]) : 0,
                               .long_delta = argc > 10 ? atof(argv[10]) : 0,
                               .lead_delta = argc > 11 ? atof(argv[11]) : 0,
                               .delta = {0.005, 0.02},
                               .max_cell_seconds = {atof(argv[4]), atof(argv[4])},
                               .hopeless_share = argc > 5 ? atof(argv[5]) : 0}};
    t.stop.hopeless_within[MODE_OFFLINE] = t.stop.hopeless_within[MODE_SERVER] = argc > 6 ? atof(argv[6]) : 0;
    const struct journal_filter cells = {"cell", read_cell, &t};
    int code = journal_read_kind(argv[1], &cells, &err);
    if (code != 0)
        fprintf(stderr, "bench_stop: %s\n", err.text);
    else
        printf("%s,%s,%s,%s,%g,cells %lu,converged %lu,capped %lu,open %lu,expected %lu,blocks %lu,seconds %.0f,"
               "expected %.0f,copies %lu,excluded %lu\n",
               argv[1], argv[2], argv[3], argv[4], t.stop.hopeless_share, t.cells, t.converged, t.capped, t.open,
               t.expected, t.blocks, t.seconds, t.expected_seconds, t.copies, t.excluded);
    return code;
}
