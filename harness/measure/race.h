/*
 * race.h - which variant of a contender is the fastest: cuBLASLt's algorithms (paper 2.2.3, Listing 8) and the
 * configurations of a kernel set are raced alike, by the harness's clock, in the mode and timing that will be scored.
 *
 * Every variant is looked at (prescreen.h), those not far behind the fastest race in heats and a final (race_plan.h).
 * In server mode the final waits gaps, and where launches are long the heats do too. Paper protocol: 50 + 100 rounds,
 * new inputs each round, event timing, nobody leaves. Either way the variants come back ranked, those that stayed
 * longer first and then by median, and the caller verifies them in that order.
 */
#ifndef CUDAL2_MEASURE_RACE_H
#define CUDAL2_MEASURE_RACE_H

#include "measure/variants.h"

/* Ranked variants of one entrant, fastest first; only those that could be set up and timed. */
struct race_result {
    size_t n;
    struct cudal2_variant *ranked; /* owned: free */
    size_t next;                   /* the next one to try when the winner turns out wrong */
};

/* Races the entrant's variants on the current operands and fills record->tuning. A cached winner skips the race (n is
 * then 1, and tuning.variants how many there were when it won). n is 0 when nothing could be set up: the entrant has
 * then failed. Non-zero only when the worker must end. */
int race_run(struct bench *bench, struct entrant *entrant, struct race_result *out, struct error *err);

#endif
