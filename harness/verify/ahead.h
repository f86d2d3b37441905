/*
 * ahead.h - no contender works before it is launched: a helper that sees new inputs may multiply them while they are
 * still written, and before the clock is started. Between two blocks, when the contender's threads sleep, one of its
 * sets gets new inputs as before a timed launch, nothing is launched, and the processor time of its threads is looked
 * at. Honest threads have no reason to wake.
 *
 * On the CPU device, where inputs are renewed before every timed launch.
 */
#ifndef CUDAL2_VERIFY_AHEAD_H
#define CUDAL2_VERIFY_AHEAD_H

#include "verify/timed_check.h"

/* So often in each check of an entrant that has threads; in a cell, threads must have worked so often, and at two
 * thirds of all: what wakes by itself for a tenth of the time is not told that. */
#define AHEAD_TRIALS 6u
#define AHEAD_HITS 6u

/* Convicts (early_work) whose threads compute for 60 us longer when inputs are new than in as long a time before, and a
 * fifth of the time. Nothing is found where they take a fifth of a processor all the time: that is for rivals.h to
 * judge. C of the set is spoiled. */
int ahead_check(struct timed_check *t, struct error *err);

#endif
