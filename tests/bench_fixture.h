/*
 * bench_fixture.h - a bench on the scripted device with contenders that really multiply, for the tests of measure/ and
 * verify/.
 */
#ifndef CUDAL2_TESTS_BENCH_FIXTURE_H
#define CUDAL2_TESTS_BENCH_FIXTURE_H

#include "device/fake.h"
#include "measure/bench.h"

/* What a scripted contender does; one per contender, given as contender.origin. */
struct actor {
    uint32_t id;            /* of its work on the fake device */
    double duration_ns;     /* of one launch without variants */
    bool wrong;             /* leaves its last element unwritten */
    int half_step;          /* rounds its sums to fp16 after so many products; 0: sums in fp32 */
    double stretch;         /* multiplies its outputs by 1 + this where the inputs are not all 0 or 1 */
    double stray;           /* adds this to its last element there */
    int fail_launches_from; /* launch hooks from this count on return an error; 0 never */
    int refuse_setups_from; /* setups from this count on are refused; 0 never */
    int break_from;         /* the launch hook of this count loses the device; 0 never */
    char instructions[32];  /* it says it multiplies with */
    size_t n_variants;
    double variant_ns[8];        /* duration of variant i, key "v<i>" */
    double variant_first_ns[8];  /* the same on set 0, where that is another; 0: it is not */
    double variant_moved_ns[8];  /* the same where matrices lie elsewhere than at its first setup; 0: no difference */
    double variant_rested_ns[8]; /* the same after over a millisecond of idleness; 0: no difference */
    const void *first_place;     /* of A of its first set, at its first setup */
    bool variant_wrong[8];
    int variant_half_step[8];
    double variant_load_ns[8]; /* the host spends on its first launch after a setup */
    unsigned setups, teardowns, launches;
};

struct fixture {
    struct device *device;
    struct config config;
    struct bench bench;
    struct contender contenders[8];
    struct actor actors[8];
    double noise[1024];     /* factors on durations, by count of the work; all 1 at first */
    double idle_penalty_ns; /* added to a launch after any idle time */
};

/* n contenders "a-nn", "b-nn", ... the first a candidate, the rest baselines; config with small defaults. Problem
 * 8x8x16 f16. */
void fixture_open(struct fixture *f, size_t n);
/* The same on a device that can hold graphs, or cannot, and whose host takes hand_over_ns over the rest of one. */
void fixture_open_held(struct fixture *f, size_t n, bool holds, double hand_over_ns);
/* Allocates operands and sets every entrant up. */
void fixture_start(struct fixture *f);
void fixture_close(struct fixture *f);

/* n contenders of the same duration, prepared for their first block: fixture_open, fixture_start and what cell_loop
 * does before it. */
void fixture_open_block(struct fixture *f, size_t n, double duration_ns);

#endif
