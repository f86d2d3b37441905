/*
 * race_plan.h - how long a race is and who leaves when, as plain numbers: no clock and no device.
 *
 * A race starts with a look at every variant, goes on in rounds on short segments (heats) and ends in rounds on full
 * ones (the final). Offline by device time, 12 rounds asked for:
 *
 *   a launch takes     starts below    heats                     final
 *   under 30 us        2.0 x fastest   2; 1.2 after the first    6 of within 1.10, the first six; 3%
 *   under 200 us       1.5             2; the same               the same; 4%
 *   more               1.3             1 of one launch           5 of within 1.10, the first eight; 6%
 *
 * Under 200 us all matrices move to other places after the final's first round (after half of a final that loses
 * nobody), and every finalist is set up anew: some variants take 1.4 times as long with half of all allocations, and
 * the fastest of one is often one of those. In the final those leave whose median of n times is behind the best by more
 * than that percentage over sqrt(n - 1), or that are not among the first 5 (n = 2), 4 (n = 3) or 3. The times of single
 * launches are kept from heat to final. What is timed launch by launch (event and wall, server mode, a flushed cache)
 * scatters more: it has more rounds and loses nobody in the final. In server mode the final waits a tenth of the cell's
 * gaps; from 200 us on heats and final wait all of them, and twelve reach the final. The paper's protocol loses nobody.
 * docs/method.md, section 2, has the measurements.
 */
#ifndef CUDAL2_MEASURE_RACE_PLAN_H
#define CUDAL2_MEASURE_RACE_PLAN_H

#include <stdbool.h>
#include <stddef.h>

/* What the plan follows from. */
struct race_terms {
    bool paper;
    bool segments; /* offline device time of launches in a row: not flushed in between */
    bool server;
    unsigned rounds; /* asked for, >= 1; under the paper's protocol what it says, discarded ones included */
};

struct race_plan {
    double start_cut;       /* times the fastest look */
    unsigned heats, finals; /* rounds; finals may be 0 */
    double heat_cut;        /* leave between heats; INFINITY: nobody does */
    double final_cut;       /* of the best median: who reaches the final, among the first... */
    size_t finalists;       /* ...so many */
    double spread;          /* of one time, generously; 0: nobody leaves in the final */
    bool keeps_times;       /* heat and final time the same */
    unsigned moves_at;      /* the round that begins with matrices at other places; 0: none does */
    double gap_share;       /* of the cell's gaps, before each launch of the final; 0: it waits for nothing */
    bool heats_rest;        /* so do the heats */
};

/* fastest_ns: the fastest look. */
struct race_plan race_plan(const struct race_terms *terms, double fastest_ns);

/* Most rounds that race_plan gives for these terms, whatever the fastest look. */
unsigned race_most_rounds(const struct race_terms *terms);

/* How one stands after a round. */
struct race_standing {
    unsigned round; /* heats first, from 0 */
    bool first;     /* of the contender's list: its library's own choice, against which no race should lose */
    size_t place;   /* 0: the best median */
    double ratio;   /* its median over the best */
    size_t n;       /* times in that median */
};

/* Whether it goes on. Not asked after the last round. The first of the list reaches the final unless it is farther
 * behind between heats than heat_cut allows. */
bool race_goes_on(const struct race_plan *plan, const struct race_standing *standing);

#endif
