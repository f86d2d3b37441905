/*
 * rivals.h - no contender slows the others: between two blocks the harness computes by itself for some milliseconds, in
 * a turn that bears a contender's name, and looks whose threads compute beside it. Honest pools sleep by then; a thread
 * that was left behind to burn the others' time does not.
 *
 * On a GPU where a stranger's plugin is in the process (worker.c asks for a table of threads there): a thread that
 * feeds a stream of its own, or takes the host's time, computes while everybody else's work is over, in which a
 * library's thread waits for nothing. Nobody is held for threads that cannot be told whose they are.
 */
#ifndef CUDAL2_VERIFY_RIVALS_H
#define CUDAL2_VERIFY_RIVALS_H

#include "measure/bench.h"

#define RIVALS_LONGEST_NS 20000000000u /* of one look; then nothing is proved: the machine hardly runs anybody */

/* Whether threads are looked at in this cell. */
bool rivals_are_watched(const struct bench *bench);

/* Whether threads of that owner are the entrant's: made in its turns, or by its plugin's constructor. */
bool rivals_is_of(const struct entrant *e, const char *owner);

/* Marks what threads have computed so far; at the beginning of a cell. */
void rivals_begin(struct bench *bench);

/* Does nothing unless threads of contenders have computed since. Who disturbs is put on the stage page, and the worker
 * ends at the next stage: rivals are measured again without them. On a GPU what is nobody's is let be. */
void rivals_check(struct bench *bench);

/* Computes some 20 ms, longer where there is something to see. True when threads of one contender took a fifth of a
 * processor beside it, or waited for one, in each window of 10 ms, and more processor time in all than any pool spins:
 * *owner. */
bool rivals_look(struct host_threads *threads, char owner[HOST_THREADS_NAME]);

/* The same of this device: a GPU's driver and libraries make threads when they like, so what is nobody's is let be. */
bool rivals_find(struct host_threads *threads, const struct device *device, char owner[HOST_THREADS_NAME]);

#endif
