/*
 * block.h - one block: every living entrant once per timing that is due, in a fresh random order.
 */
#ifndef CUDAL2_MEASURE_BLOCK_H
#define CUDAL2_MEASURE_BLOCK_H

#include "measure/bench.h"
#include "stats/order.h"

/* Digits of an order string, one per index into bench->record->contenders. */
#define ORDER_DIGITS "0123456789abcdefghijklmnopqrstuvwxyzABCD"

/* Measures block number `block` and appends to the record: series, gaps, order, the null graph and busy time. `order`
 * gives the balanced order of the headline timing. An entrant that fails is marked and leaves; non-zero only when the
 * worker must end. */
int block_measure(struct bench *bench, unsigned block, struct order *order, struct error *err);

/* Whether the block takes the timings that are not the headline: one in `other_timings_every`, a quarter as often from
 * block 32 on and, where each costs a gap or launches take over 30 us, from block 8 on and half as often before. */
bool block_takes_others(const struct bench *bench, unsigned block);

#endif
