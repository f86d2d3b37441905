/*
 * operands.h - the matrices of one group of blocks: A, B in the layouts raced, C, in one or more sets, and what fills
 * them. Where C is an input (beta) a set also keeps what C is to hold before each launch: a launch overwrites it, and
 * whoever checks the launch must know it.
 *
 * Each contender has sets of its own, all holding the same values: with shared matrices a kernel's time depends on what
 * its neighbours left in the caches (on an H200 up to 7% at 128x512x1024), and an A/A copy could not be told from a
 * slower kernel. Shared are only matrices that are too large to be cached, with the cache emptied between contenders,
 * and those of the paper's protocol (worker/placement.h). All matrices of a group lie in one allocation, each at a
 * random offset, and not in the one of the group before (arenas.h): where a matrix lies moves a small kernel's time by
 * 1-3%, and an allocator that hands out the same two places in turn would make many groups look like two.
 */
#ifndef CUDAL2_OPERANDS_OPERANDS_H
#define CUDAL2_OPERANDS_OPERANDS_H

#include "device/probe.h"

#define OPERANDS_MAX_SETS 2880

struct operands_request {
    struct cudal2_problem problem;
    size_t n_sets; /* 1 .. OPERANDS_MAX_SETS */
    size_t period; /* sets s and s + period hold the same values: the sets of one contender, >= 1 */
    uint64_t seed; /* of the offsets */
    uint64_t pool; /* FILL_SPREAD: of the pool (struct fill) */
    bool tight;    /* no room to move: where these matrices lie is of no interest */
    uint8_t layouts[OPERANDS_MAX_SETS]; /* of each set: bits of the layouts it has a B in */
};

/* Offsets are multiples of OPERANDS_ALIGNMENT (what allocators give) below a share of 1 / n_sets of the slack: a
 * quarter of what all sets hold, within these bounds. An allocator gives the same pages again and again, so without
 * room to move large matrices would lie in the same place in every group. */
#define OPERANDS_ALIGNMENT 512u
#define OPERANDS_SLACK (16u << 20)
#define OPERANDS_MOST_SLACK (256u << 20)

/* Bytes on either side of every matrix that belong to nobody (an eighth of it with more than 128 sets): what is written
 * there was written out of bounds. */
#define OPERANDS_GUARD 32768u

struct operands {
    struct operands_request request;
    void *arena;                                  /* holds every matrix */
    bool lent;                                    /* the arena is somebody else's (operands_place) */
    struct cudal2_operands nn[OPERANDS_MAX_SETS]; /* b is NULL where the set has no B in this layout */
    struct cudal2_operands tn[OPERANDS_MAX_SETS];
    void *input[OPERANDS_MAX_SETS]; /* what C holds before a launch, lying as C does; NULL where C is no input */
};

/* Bytes that operands_alloc takes on the device, slack and guards included. */
uint64_t operands_bytes(const struct operands_request *request);

/* Allocates all sets on the device (contents undefined, but for gaps between rows: NaN in A and B, PROBE_GUARD in C,
 * and no fill writes there). *out is owned by the caller (operands_free).
 * EXIT_CODE_UNAVAILABLE when the device has too little memory. */
int operands_alloc(struct device *device, const struct operands_request *request, struct operands **out,
                   struct error *err);
void operands_free(struct device *device, struct operands *operands);

/* The same in memory of operands_bytes that outlives *out, which operands_free leaves alone (arenas.h). */
int operands_place(struct device *device, const struct operands_request *request, void *memory, struct operands **out,
                   struct error *err);

/* Of what C holds before a launch, beside the seed of A; seeds of A and B do not come near this bit. */
#define OPERANDS_SEED_C (1ull << 62)

/* Fills A, B and, where it is an input, C of every set, by seed and s modulo the period. density is for FILL_BINARY;
 * FILL_SPREAD is FILL_SPREAD_A and _B, and FILL_NORMAL for C. */
int operands_fill(struct device *device, struct operands *operands, enum fill_kind kind, uint64_t seed, double density,
                  struct error *err);
/* The same for one set. */
struct operands_values {
    enum fill_kind kind;
    uint64_t seed;
    double density;
};
/* What a contender of this layout is handed of a set. */
struct operands_part {
    size_t set;
    enum cudal2_layout layout;
};
/* The other layout's copy of B stays as it is. */
int operands_fill_set(struct device *device, struct operands *operands, const struct operands_values *values,
                      const struct operands_part *part, struct error *err);
/* The same for the set's A or for its B, whichever is smaller. */
int operands_fill_lesser(struct device *device, struct operands *operands, const struct operands_values *values,
                         const struct operands_part *part, struct error *err);
/* The same for every set that holds what set `which` of a contender holds, 0 <= which < period. */
int operands_fill_alike(struct device *device, struct operands *operands, const struct operands_values *values,
                        size_t which, struct error *err);
/* Writes NaN patterns over C of set `set` or, where C is an input, that input again. */
int operands_poison(struct device *device, struct operands *operands, size_t set, struct error *err);

/* The sets as a contender of this layout sees them. */
const struct cudal2_operands *operands_sets(const struct operands *operands, enum cudal2_layout layout);

/* The set as a launch finds it, which overwrites C: where C is an input, `c` is what is kept of it. */
struct cudal2_operands operands_before(const struct operands *operands, enum cudal2_layout layout, size_t set);

/* Where the matrices of a set lie, gaps included: C; A, the copies of B and what is kept of C; and the guards on both
 * sides of all of them, what rounding left included. Return the number. */
#define OPERANDS_INPUTS 4
#define OPERANDS_GUARDS (2 * (OPERANDS_INPUTS + 1))
struct probe_region operands_output(const struct operands *operands, size_t set);
size_t operands_inputs(const struct operands *operands, size_t set, struct probe_region out[OPERANDS_INPUTS]);
size_t operands_guards(const struct operands *operands, size_t set, struct probe_region out[OPERANDS_GUARDS]);

#endif
