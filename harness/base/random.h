/*
 * random.h - xoshiro256** seeded by splitmix64: every random decision of a run comes from one recorded seed.
 */
#ifndef CUDAL2_BASE_RANDOM_H
#define CUDAL2_BASE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

struct random {
    uint64_t s[4];
};

void random_seed(struct random *r, uint64_t seed);
/* A child stream that does not depend on how much of the parent was used: seed of (seed, label, index). */
uint64_t random_derive(uint64_t seed, const char *label, uint64_t index);
uint64_t random_next(struct random *r);
/* Uniform in [0, bound), unbiased; bound > 0. */
uint64_t random_below(struct random *r, uint64_t bound);
/* Uniform in [0, 1). */
double random_unit(struct random *r);
/* Exponential with the given mean (> 0). */
double random_exponential(struct random *r, double mean);
/* Fisher-Yates of items[0..count). */
void random_shuffle(struct random *r, unsigned *items, size_t count);
/* 64 bits from the operating system (a run's seed when none is given). */
uint64_t random_entropy(void);

#endif
