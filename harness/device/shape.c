/*
 * shape.c - which set of operands each launch of a segment uses. Relies on fill.h's mixing. Called where a segment is
 * enqueued (cuda_enqueue.c, fake.c) and where its output is judged (measure/timed.c, verify/timed_check.c).
 */
#include "device/device.h"
#include "device/fill.h"

#define ROUNDS 4u

static unsigned half_bits(size_t n)
{
    unsigned bits = 1;
    while ((size_t)1 << 2 * bits < n)
        bits++;
    return bits;
}

/* A permutation of [0, n) by a Feistel network on the next power of four; what falls outside walks on. */
static size_t permuted(size_t at, size_t n, uint64_t order)
{
    unsigned bits = half_bits(n);
    uint64_t mask = ((uint64_t)1 << bits) - 1, x = at;
    do {
        uint64_t left = x >> bits, right = x & mask;
        for (unsigned round = 0; round < ROUNDS; round++) {
            uint64_t next = left ^ (fill_mix(order + round * FILL_GOLDEN + right) & mask);
            left = right;
            right = next;
        }
        x = left << bits | right;
    } while (x >= n);
    return (size_t)x;
}

size_t device_shape_set(const struct device_shape *shape, unsigned visit, unsigned i)
{
    size_t own = shape->n_sets > 0 ? shape->n_sets / device_shape_visits(shape) : 1;
    size_t at = (shape->first_set + i) % own;
    return visit * own + (shape->order == 0 ? at : permuted(at, own, shape->order));
}

bool device_shape_uses(const struct device_shape *shape, size_t set)
{
    unsigned visits = device_shape_visits(shape);
    size_t own = shape->n_sets > 0 ? shape->n_sets / visits : 1, visit = set / own;
    if (visit >= visits)
        return false;
    unsigned total = (visit == 0 ? shape->primers : shape->again) + shape->launches / visits;
    bool uses = total >= own; /* each has its turn */
    for (unsigned i = 0; i < total && !uses; i++)
        uses = device_shape_set(shape, (unsigned)visit, i) == set;
    return uses;
}
