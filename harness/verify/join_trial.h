/*
 * join_trial.h - which contenders' launches may be joined in a row (measure/join.h): those whose kernel waits for the
 * grid ahead of it before it reads, whether it was launched so or not. Tried behind veils (probe.h) that it is let
 * begin under: who does not wait reads hidden operands, and C is wrong. A trial finds out and convicts nobody. The
 * trap itself is tried first, with a kernel of the harness's that does not wait.
 */
#ifndef CUDAL2_VERIFY_JOIN_TRIAL_H
#define CUDAL2_VERIFY_JOIN_TRIAL_H

#include "measure/bench.h"

/* A bench's try_joins: says in entrant.joins, and in the record with the reason, who is joined. Nothing where that is
 * not wanted (join_is_wanted). Non-zero only when the worker must end. */
int join_trial_all(struct bench *bench, struct error *err);

#endif
