/*
 * block.c - takes one block: the order, the headline timing once or twice, event and wall when they are due, and the
 * load that keeps the device warm. Relies on segment.c. Called by cell_loop.c alone.
 */
#include "measure/block.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/arrivals.h"
#include "measure/chain.h"
#include "measure/parts.h"
#include "measure/segment.h"

#define OTHERS_DEAR_NS 30e3
#define OTHERS_OFTEN 32u
#define OTHERS_DEAR_OFTEN 8u /* the least blocks of a grid's cell: two of them */
/* Launches this long feel the power limit, and a cell's first blocks run cooler than the rest; from the second figure
 * on one block takes long enough to be its own load, and a second segment costs more than it gains. */
#define LASTING_FROM_NS 80e3
#define LASTING_BELOW_NS 1.6e6
/* So long the device is kept busy before the first block of such a cell, and after a check. 75 ms left the next blocks
 * 5 to 9% slower than the later ones, none left them 7 to 8% faster, and 35 ms leave them within 2%. A load as long as
 * a short check left them 2 to 3% faster, and kernels differed by up to 3% in what they gained
 * (docs/lab/trust-details.md). */
#define PREHEAT_NS 35e6
/* Graphs from 20 to 80 us have no first replay (segment.h), so the device comes to their block from milliseconds of
 * idleness: for 1 to 2.7 ms of load launches bound by the memory read 5 to 11% slower. */
#define WAKE_NS 3e6

/* What block_measure carries from one launch to the next. */
struct turn {
    struct bench *bench;
    unsigned block;
    enum timing timing;
    double gap_ns; /* drawn for the block; negative in offline mode */
    unsigned pass, passes;
};

static int keep(struct turn *turn, struct entrant *e, double ns, double gap_ns, struct error *err)
{
    struct contender_record *r = e->record;
    if (!bench_is_plausible(turn->bench, ns)) {
        entrant_refuse_speed(turn->bench, e, turn->timing, ns);
        return 0;
    }
    e->passes_ns = turn->pass == 0 ? ns : e->passes_ns + ns;
    if (turn->pass + 1 < turn->passes || isnan(e->passes_ns)) /* joined in one pass alone (join.h) */
        return 0;
    int failed = series_add(&r->timings[turn->timing], turn->block, e->passes_ns / turn->passes);
    if (gap_ns >= 0 && turn->timing == turn->bench->headline)
        failed |= series_add(&r->gaps, turn->block, gap_ns);
    return failed ? error_set(err, EXIT_CODE_INTERNAL, "out of memory for samples") : 0;
}

static int take(struct turn *turn, struct entrant *e, struct error *err)
{
    double gap_ns = turn->gap_ns;
    double ns = 0;
    bench_stage(turn->bench, e, "measure", turn->bench->config->limits.launch_seconds);
    int code = segment_time(turn->bench, e, turn->timing, &gap_ns, &ns, err);
    if (code != 0)
        return entrant_fault(turn->bench, e, "measure", err);
    return keep(turn, e, ns, gap_ns, err);
}

/* Mode chain: what a layer took, product and plain kernel, in passes_ns until all have been timed. */
static int take_chain(struct turn *turn, struct entrant *e, struct error *err)
{
    double ns = 0;
    bench_stage(turn->bench, e, "measure", turn->bench->config->limits.launch_seconds);
    int code = chain_time(turn->bench, e, turn->timing, &ns, err);
    if (code != 0)
        return entrant_fault(turn->bench, e, "measure", err);
    if (bench_is_plausible(turn->bench, ns))
        e->passes_ns = ns;
    else
        entrant_refuse_speed(turn->bench, e, turn->timing, ns);
    return 0;
}

/* What the products have added: a layer with one, minus one without, by the median of those that this block has timed.
 * Where the noise of a busy host is larger than a product, it has no value in this block. */
static int keep_added(struct turn *turn, struct error *err)
{
    double without = chain_without(turn->bench, turn->timing);
    for (size_t i = 0; i < turn->bench->n_entrants; i++) {
        struct entrant *e = &turn->bench->entrants[i];
        double added = e->passes_ns - without;
        if (e->alive && added > 0 && series_add(&e->record->timings[turn->timing], turn->block, added) != 0)
            return error_set(err, EXIT_CODE_INTERNAL, "out of memory for samples");
    }
    return 0;
}

/* All living entrants once, in the given order; their digits go to text. */
static int take_all(struct turn *turn, const unsigned *order, char **text, struct error *err)
{
    bool chained = turn->bench->chain != NULL;
    int code = 0;
    for (size_t i = 0; i < turn->bench->n_entrants && chained; i++)
        turn->bench->entrants[i].passes_ns = NAN;
    for (size_t i = 0; i < turn->bench->n_entrants && code == 0; i++) {
        struct entrant *e = &turn->bench->entrants[order[i]];
        if (!e->alive || !segment_is_ready(turn->bench, e, turn->timing))
            continue;
        *(*text)++ = ORDER_DIGITS[e->record - turn->bench->record->contenders];
        code = chained ? take_chain(turn, e, err) : take(turn, e, err);
    }
    return code == 0 && chained ? keep_added(turn, err) : code;
}

static bool is_sustained(const struct bench *bench)
{
    return bench->mode == MODE_OFFLINE && timing_is_segment(bench->headline);
}

/* Long launches feel the power limit: over the segments of a block the clock drifts, and the first one after the
 * preparations of a group starts at another clock than the rest. The second pass in reverse order cancels the drift, an
 * untimed segment ahead takes the first place. */
static bool is_lasting(const struct bench *bench)
{
    return is_sustained(bench) && bench->fastest_ns >= LASTING_FROM_NS && bench->fastest_ns < LASTING_BELOW_NS;
}

static unsigned passes_of(const struct bench *bench)
{
    return is_lasting(bench) ? 2 : 1;
}

static int take_lead(struct turn *turn, struct entrant *e, struct error *err)
{
    double gap_ns = -1, ns = 0;
    if (!e->alive)
        return 0;
    bench_stage(turn->bench, e, "measure", turn->bench->config->limits.launch_seconds);
    int code = segment_time(turn->bench, e, turn->timing, &gap_ns, &ns, err);
    return code == 0 ? 0 : entrant_fault(turn->bench, e, "measure", err);
}

/* Untimed segments of all in turn for so long. */
static int keep_busy(struct turn *turn, const unsigned *order, double ns, struct error *err)
{
    struct bench *bench = turn->bench;
    double now = (double)bench->device->ops->now(bench->device), deadline = now + ns, before = 0;
    int code = 0;
    while (code == 0 && before < now && now < deadline) { /* no time passes when nobody is left */
        before = now;
        for (size_t i = 0; i < bench->n_entrants && code == 0 && now < deadline; i++) {
            code = take_lead(turn, &bench->entrants[order[i]], err);
            now = (double)bench->device->ops->now(bench->device);
        }
    }
    return code;
}

/* The clock of long work is what the power limit leaves of it: on an H200 the first three or four blocks of a cell of
 * 0.1 ms to 1 ms, and two after a check, ran up to 18% faster than all others, and contenders differ in what they gain
 * by that. What is measured is work that lasts. */
static int preheat(struct turn *turn, const unsigned *order, struct error *err)
{
    struct bench *bench = turn->bench;
    bool wanted = bench->cooled && is_lasting(bench);
    if (wanted)
        bench->cooled = false;
    return wanted ? keep_busy(turn, order, PREHEAT_NS, err) : 0;
}

/* What a block begins with, so that its first places are like the others. */
static int lead(struct turn *turn, const unsigned *order, struct error *err)
{
    struct bench *bench = turn->bench;
    if (!is_sustained(bench) || bench->fastest_ns < SEGMENT_SETTLED_FROM_NS)
        return 0;
    if (bench->fastest_ns < LASTING_FROM_NS)
        return keep_busy(turn, order, WAKE_NS, err);
    return take_lead(turn, &bench->entrants[order[0]], err);
}

static void reverse(unsigned *order, size_t n)
{
    for (size_t i = 0; i < n / 2; i++) {
        unsigned other = order[n - 1 - i];
        order[n - 1 - i] = order[i];
        order[i] = other;
    }
}

/* The headline timing of all; *text gets the order of the first pass. */
static int take_headline(struct turn *turn, unsigned *order, char **text, struct error *err)
{
    struct bench *bench = turn->bench;
    char unwritten[RECORD_MAX_CONTENDERS + 1];
    turn->passes = passes_of(bench);
    bench->record->passes = turn->passes > 1 ? turn->passes : 0;
    int code = preheat(turn, order, err);
    if (code == 0)
        code = lead(turn, order, err);
    parts_end(bench, PART_LOAD);
    for (turn->pass = 0; turn->pass < turn->passes && code == 0; turn->pass++) {
        char *nowhere = unwritten;
        code = take_all(turn, order, turn->pass == 0 ? text : &nowhere, err);
        reverse(order, bench->n_entrants);
    }
    turn->pass = 0;
    turn->passes = 1;
    parts_end(bench, PART_HEADLINE);
    return code;
}

/* In server mode each of the other timings costs gaps, and of long launches each costs as much as a segment. They stop
 * nothing: a cell of many blocks has enough of them. */
bool block_takes_others(const struct bench *bench, unsigned block)
{
    bool dear = bench->mode == MODE_SERVER || bench->fastest_ns > OTHERS_DEAR_NS;
    unsigned rarer = block >= (dear ? OTHERS_DEAR_OFTEN : OTHERS_OFTEN) ? 4 : dear ? 2 : 1;
    return block % (bench->config->other_timings_every * rarer) == 0;
}

static bool is_due(const struct bench *bench, enum timing timing, unsigned block)
{
    bool stream = bench->mode == MODE_CHAIN && timing_table[timing].way == TIMING_BY_EVENTS; /* the other half of it */
    return bench_takes_beside(bench, timing) && (stream || block_takes_others(bench, block));
}

static int take_others(struct turn *turn, char **text, struct error *err)
{
    unsigned order[RECORD_MAX_CONTENDERS];
    struct bench *bench = turn->bench;
    int code = 0;
    for (unsigned i = 0; i < bench->n_entrants; i++)
        order[i] = i;
    for (int t = 0; t < TIMING_COUNT && code == 0; t++) {
        if (!is_due(bench, (enum timing)t, turn->block))
            continue;
        random_shuffle(&bench->random, order, bench->n_entrants);
        turn->timing = (enum timing)t;
        *(*text)++ = '.';
        code = take_all(turn, order, text, err);
    }
    return code;
}

/* Event and wall times over the graph of one, for those that have it. */
static int take_equal_path(struct turn *turn, struct entrant *e, struct error *err)
{
    struct bench *bench = turn->bench;
    for (int t = 0; t < TIMING_COUNT && e->alive; t++) {
        double ns = 0;
        if (!timing_is_single((enum timing)t))
            continue;
        bench_stage(bench, e, "measure", bench->config->limits.launch_seconds);
        int code = segment_time_equal_path(bench, e, (enum timing)t, turn->gap_ns, &ns, err);
        if (code != 0)
            return entrant_fault(bench, e, "measure", err);
        if (series_add(&e->record->equal_path[t], turn->block, ns) != 0)
            return error_set(err, EXIT_CODE_INTERNAL, "out of memory for samples");
    }
    return 0;
}

static int take_equal_paths(struct turn *turn, struct error *err)
{
    unsigned order[RECORD_MAX_CONTENDERS];
    struct bench *bench = turn->bench;
    int code = 0;
    if (!block_takes_others(bench, turn->block))
        return 0;
    for (unsigned i = 0; i < bench->n_entrants; i++)
        order[i] = i;
    random_shuffle(&bench->random, order, bench->n_entrants);
    for (size_t i = 0; i < bench->n_entrants && code == 0; i++)
        if (bench->entrants[order[i]].alive && bench->entrants[order[i]].has_graph_work)
            code = take_equal_path(turn, &bench->entrants[order[i]], err);
    return code;
}

static int take_null(struct turn *turn, struct error *err)
{
    struct bench *bench = turn->bench;
    double ns = NAN;
    if (!block_takes_others(bench, turn->block))
        return 0;
    bench_stage(bench, NULL, "measure", bench->config->limits.launch_seconds);
    int code = segment_null(bench, turn->gap_ns, &ns, err);
    if (code == 0 && !isnan(ns) && series_add(&bench->record->null_graph, turn->block, ns) != 0)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for samples");
    return code;
}

static int append_order(struct cell_record *record, const char *digits, struct error *err)
{
    size_t n = (size_t)record->blocks + 1;
    char **order = realloc(record->order, n * sizeof *order);
    if (order != NULL)
        record->order = order;
    unsigned *group_of = realloc(record->group_of, n * sizeof *group_of);
    if (group_of != NULL)
        record->group_of = group_of;
    char *copy = strdup(digits);
    if (order == NULL || group_of == NULL || copy == NULL) {
        free(copy);
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for block orders");
    }
    order[record->blocks] = copy;
    group_of[record->blocks] = record->groups - 1;
    record->blocks++;
    return 0;
}

int block_measure(struct bench *bench, unsigned block, struct order *order, struct error *err)
{
    unsigned headline_order[RECORD_MAX_CONTENDERS];
    char digits[TIMING_COUNT * (RECORD_MAX_CONTENDERS + 1) + 1];
    char *text = digits;
    struct turn turn = {.bench = bench, .block = block, .timing = bench->headline, .gap_ns = -1};
    if (bench->mode == MODE_SERVER)
        turn.gap_ns = arrivals_draw(&bench->config->gap, &bench->random);
    order_next(order, headline_order);
    int code = take_headline(&turn, headline_order, &text, err);
    if (code == 0)
        code = take_others(&turn, &text, err);
    if (code == 0)
        code = take_equal_paths(&turn, err);
    if (code == 0)
        code = take_null(&turn, err);
    parts_end(bench, PART_OTHERS);
    if (code != 0)
        return code;
    *text = '\0';
    return append_order(bench->record, digits, err);
}
