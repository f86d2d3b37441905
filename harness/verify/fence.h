/*
 * fence.h - one launch of every candidate on matrices that border on pages nobody has: at their end, then at their
 * start.
 *
 * What reads or writes beyond a matrix there ends the worker (a segmentation fault, or an illegal address on a GPU),
 * and the supervisor writes oob_read for whoever was at stage STAGE_FENCE (run/death.h; no other end proves it). Writes
 * beside a matrix are looked for first in the guards of the operands, which costs no worker: oob_write. Baselines are
 * spared, for a fault of theirs would take a cell's references away; they write past no guard while they are timed
 * (honesty.h).
 */
#ifndef CUDAL2_VERIFY_FENCE_H
#define CUDAL2_VERIFY_FENCE_H

#include "measure/bench.h"

/* Tries every living candidate that is set up and did not pass in an earlier run, where honesty checks are on and the
 * memory suffices. Non-zero only when the worker must end. */
int fence_check(struct bench *bench, struct error *err);

#endif
