/*
 * timed_early.h - elements of C that are read as soon as the clock has stopped. Which ones is drawn ahead of the
 * launch, so that nothing comes between: who answers that C is complete and goes on writing it is found by these. In
 * one process with the harness a contender could read which they are; the others (timed.c) are drawn behind the launch.
 */
#ifndef CUDAL2_MEASURE_TIMED_EARLY_H
#define CUDAL2_MEASURE_TIMED_EARLY_H

#include "measure/bench.h"

/* Draws them for the next launch of the entrant's first set. Nothing where the device has no `spots`, whose memory the
 * host cannot read, or where no launch is judged. */
void timed_early_draw(struct bench *bench, const struct entrant *entrant);

/* Reads them, right behind the launch that they were drawn for: behind another one their C may be gone. */
void timed_early_read(struct bench *bench);

/* Puts them at the head of the launch's spots and says how many there are. They serve once. */
size_t timed_early_take(struct bench *bench);

#endif
