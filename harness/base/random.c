/*
 * random.c - xoshiro256** seeded by splitmix64, and seeds derived from a run's one seed by a word and a number, so
 * that each decision has a stream of its own. Called by plan, operands, orders, gaps and checks.
 */
#include "base/random.h"

#include <math.h>
#include <sys/random.h>

#include "base/clock.h"

static uint64_t rotate_left(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

static uint64_t splitmix(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15u;
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

void random_seed(struct random *r, uint64_t seed)
{
    for (int i = 0; i < 4; i++)
        r->s[i] = splitmix(&seed);
}

uint64_t random_derive(uint64_t seed, const char *label, uint64_t index)
{
    uint64_t state = seed;
    uint64_t mixed = splitmix(&state);
    for (const char *c = label; *c; c++) {
        state ^= (uint64_t)(unsigned char)*c * 0x100000001b3u;
        mixed ^= splitmix(&state);
    }
    state ^= index;
    return mixed ^ splitmix(&state);
}

uint64_t random_next(struct random *r)
{
    uint64_t *s = r->s;
    uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

uint64_t random_below(struct random *r, uint64_t bound)
{
    uint64_t limit = UINT64_MAX - UINT64_MAX % bound;
    uint64_t x;
    do {
        x = random_next(r);
    } while (x >= limit);
    return x % bound;
}

double random_unit(struct random *r)
{
    return (double)(random_next(r) >> 11) * 0x1.0p-53;
}

double random_exponential(struct random *r, double mean)
{
    return -mean * log1p(-random_unit(r));
}

void random_shuffle(struct random *r, unsigned *items, size_t count)
{
    for (size_t i = count; i > 1; i--) {
        size_t j = (size_t)random_below(r, i);
        unsigned t = items[i - 1];
        items[i - 1] = items[j];
        items[j] = t;
    }
}

uint64_t random_entropy(void)
{
    uint64_t value = 0;
    if (getrandom(&value, sizeof value, 0) != (ssize_t)sizeof value)
        value = clock_now_ns();
    return value;
}
