/*
 * order.h - in which order the contenders of a block are launched: balanced, so that what a neighbour leaves behind
 * (cache contents, clocks) falls on everyone alike, and random, so that nobody can expect it.
 */
#ifndef CUDAL2_STATS_ORDER_H
#define CUDAL2_STATS_ORDER_H

#include "base/random.h"

#define ORDER_MAX 64

/* A Williams design: n rows for even n, 2n (a square and its mirror) for odd n. Over one whole design every
 * contender follows every other directly equally often, stands in every place equally often, and comes before
 * every other in half of the rows. Each design gets fresh random labels and its rows in random order. */
struct order {
    struct random random;
    unsigned n, rows, next_row;
    unsigned label[ORDER_MAX];
    unsigned row[2 * ORDER_MAX];
};

/* 1 <= n <= ORDER_MAX; the orders are a function of n and seed alone. */
void order_begin(struct order *o, unsigned n, uint64_t seed);

/* Writes the next permutation of 0..n-1 to out[n]; after the last row of a design a new one begins. */
void order_next(struct order *o, unsigned *out);

#endif
