/*
 * replay_check.h - whether a contender is faster on inputs that it has seen before than on new ones. A contender that
 * keeps its output, and hands it out again for as long as a cheap check finds it right, is right on every input there
 * is, so no look at values can object to it. But it has to multiply once for inputs that it has never seen.
 */
#ifndef CUDAL2_VERIFY_REPLAY_CHECK_H
#define CUDAL2_VERIFY_REPLAY_CHECK_H

#include "verify/timed_check.h"

/* Gives the set of the last fresh inputs values that nobody has seen and times one launch on them, on the rung
 * that is timed; its output must be right within rounding. One such launch that is as fast as the fastest of the latest
 * timed ones is proof enough. If none of several is, the same is done with inputs that the contender has just been
 * launched on many times, written anew so that the pause, the caches and the clocks are the same: who is faster on most
 * of those is convicted (implausible_speed). Who is slow on both is slow after a pause, as a pool of threads may be
 * that has fallen asleep; but where the time has no host in it, on the rungs graph and blocked, launches in a row were
 * not whole. A stranger's candidate is then compared by pairs (known_note.h). The caller brings the group's own inputs
 * back. Errors as device_ops.measure. */
int replay_check(struct timed_check *t, struct error *err);

/* Whether t->alone_ns says the same: that launch was one on new inputs, too. */
bool replay_check_clears(struct timed_check *t);

#endif
