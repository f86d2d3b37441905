/*
 * probe.h - what the honesty checks (verify/honesty.h) need from a device beside device.h: looking at memory,
 * sprinkling poison, holding the stream. All of it is asked between timed segments or in trials of its own; nothing
 * here is timed.
 *
 * A contender's process can hold no answer to compare with, so outputs are checked by Freivalds' method: C x against
 * A (B x) with a random x that is drawn after C was written. x holds odd integers below 2^12 in size, so on {0,1}
 * inputs every sum is an exact integer below 2^53 (for n, k <= 2^20), one wrong element in a row is always seen, and
 * several that cancel pass with a probability below 2^-12.
 */
#ifndef CUDAL2_DEVICE_PROBE_H
#define CUDAL2_DEVICE_PROBE_H

#include "device/device.h"
#include "device/fill.h"

struct probe_region {
    void *memory;
    uint64_t bytes;
};

#define PROBE_MAX_REGIONS 8192
/* Bytes of the patterns: what guards hold, and what makes every element of every dtype a NaN. */
#define PROBE_GUARD 0xa5u
#define PROBE_POISON 0xffu

/* One output in one place. x is drawn from the seed. Errors are also given in units of what they should scale with, the
 * size that a sum of such products with random signs has: of element (i, j) the root of the sum of (a_ik b_kj)^2, of
 * row i of the projection that of (a_ik b_kj x_j)^2, for which a GPU, whose inputs are N(0,1), takes |x| |a_i|; both
 * times |alpha|. `floor` and what beta times an input C adds to the size of an element (or of the row's elements) are
 * added in quadrature: what the smallest numbers of a dtype cannot hold is no error. */
struct probe_renewal;
struct probe_product {
    struct cudal2_problem problem;
    enum cudal2_layout layout;
    const struct cudal2_operands *operands;
    uint64_t seed;
    double floor;
    const struct probe_renewal *renewal; /* of spots: what A and B should hold; NULL: what they hold */
    const void *input; /* where C is an input: what it held before the launch, lying as C does; else NULL */
};

/* One element of C: the caller says where, the device what it should be (in fp64), what its error scales with, and
 * whether its row of A and column of B are not what the renewal made them. */
struct probe_spot {
    uint64_t row, column;
    double expected, scale;
    bool mutated;
};

/* What C holds before a launch. Where C is an input no kind is NaN, for NaN in is NaN out: those two become values of
 * the right size. The spoil is then put into what is kept of that input, and all of C is made that: every kind gives a
 * known input, and what a launch before it has left in C is gone. */
/* The kinds: what was there, NaN in every element or in one of PROBE_SPRINKLE, values of the right
 * size in every one or in some, what was there with some elements a little changed or with elements from elsewhere in
 * it, zeros. renew and disturb write all of C whatever the kind, elements that stay with the bits they have: the caches
 * do not tell it. */
enum probe_spoil {
    SPOIL_NONE,
    SPOIL_NAN,
    SPOIL_SOME_NAN,
    SPOIL_LIKELY,
    SPOIL_SOME_LIKELY,
    SPOIL_NUDGED,
    SPOIL_MOVED,
    SPOIL_ZERO,
    SPOIL_KINDS
};

/* New inputs behind the same pointers, and a spoiled C: what a launch that is timed finds. */
struct probe_renewal {
    struct cudal2_problem problem;
    enum cudal2_layout layout;
    const struct cudal2_operands *operands;
    const void *pool; /* FILL_POOL of the dtype, probe_ops.pool_elements of them; NULL where that is 0 */
    enum probe_spoil spoil;
    bool cold;   /* what was written leaves the caches again */
    bool staged; /* but for A and B: they are delivered later */
    bool sparse; /* a GPU's disturb, where the spoil is of some elements: PROBE_SPARSE are written and no others, so
                  * that the rest of C stays in the caches as it is */
    uint64_t seed;
    void *input; /* where C is an input: what is kept of it (probe_product) */
};

/* A and B of one set: where they are, and where they go. */
struct probe_delivery {
    enum cudal2_layout layout;
    bool cold;
    const void *from_a, *from_b;
    const struct cudal2_operands *to;
};

/* One operand set, and the seed of the elements. */
struct probe_veil {
    struct cudal2_problem problem;
    const struct cudal2_operands *operands;
    uint64_t seed;
};

/* What lies between two launches of a row. */
struct probe_upset {
    struct cudal2_problem problem;
    enum cudal2_layout layout;
    const struct cudal2_operands *operands;
    enum probe_spoil spoil; /* one of those of some elements, or none */
    uint64_t lines;         /* of so many rows of A and columns of B one is changed; 0: inputs stay */
    uint64_t seed;
    void *input; /* as in probe_renewal */
};

/* Rows of C x against rows of A (B x). */
struct probe_difference {
    uint64_t differing; /* rows that are not equal, NaN included */
    uint64_t nan_rows;
    uint64_t first_row;                   /* UINT64_MAX: none */
    double sum_sq_error, sum_sq_expected; /* over the rows that are not NaN */
    double sum_sq_scaled, largest; /* of errors in their units (probe_product): sum of squares, and the largest */
};

/* One launch behind a held stream. */
struct probe_trial {
    const struct device_work *work;
    size_t set;
    struct probe_region c;
    double wait_ns;
};

/* Memory beside a page that nobody has. */
struct probe_fence {
    void *memory;                                   /* NULL: none */
    uint64_t base, reserved, start, mapped, handle; /* of the device's own */
};
/* What is fenced keeps this alignment, so up to one byte less of it lies between its end and the page. */
#define PROBE_FENCE_ALIGNMENT 256u

struct probe_ops {
    /* A digest of each region's bytes, into out[n]. */
    int (*digest)(struct device *d, const struct probe_region *regions, size_t n, uint64_t *out, struct error *err);
    /* Sets every byte of the regions. */
    int (*pattern)(struct device *d, const struct probe_region *regions, size_t n, unsigned char byte,
                   struct error *err);
    /* Bytes between the rows of C that are not PROBE_GUARD, with which they were filled (operands/operands.h). NULL
     * where there are no such problems. */
    int (*gaps)(struct device *d, const struct cudal2_problem *p, const void *c, uint64_t *written, struct error *err);
    int (*product)(struct device *d, const struct probe_product *product, struct probe_difference *out,
                   struct error *err);
    /* Elements against their sums in fp64. NULL where the device has no such check. */
    int (*spots)(struct device *d, const struct probe_product *product, struct probe_spot *spots, size_t n,
                 struct error *err);
    /* All elements of rows [first, first + rows) of C against fp64 sums; out->nan_rows counts elements here,
     * out->differing is not set. NULL as above. */
    int (*band)(struct device *d, const struct probe_product *product, int64_t first, int64_t rows,
                struct probe_difference *out, struct error *err);
    /* Has finished when it returns. NULL where inputs cannot be renewed before a launch. */
    int (*renew)(struct device *d, const struct probe_renewal *renewal, struct error *err);
    /* Moves A and B that renew has put elsewhere (`from`) to where the contender finds them, the gaps between rows left
     * as they are, and out of the caches if `cold`: as fast as memory takes them, for who is awake may begin to work on
     * them. NULL: nobody is asleep. */
    void (*deliver)(const struct cudal2_problem *p, const struct probe_delivery *delivery);
    uint64_t pool_elements;
    /* Before a segment: of each of `n` sets at `renewal->operands` one element in every row of A and column of B
     * becomes another N(0,1) value, and C is spoiled. Needs no pool, knows no `cold`. Has finished when it returns. */
    int (*disturb)(struct device *d, const struct probe_renewal *renewal, size_t n, struct error *err);
    /* The next two are enqueued on the device's stream, can be captured, and write their reason to why (CUDAL2_WHY)
     * when they fail. sprinkle makes one element of every PROBE_SPRINKLE a NaN, at places drawn from the seed; count
     * adds the NaN elements of c, gaps included, to a counter that read_count reads and clears. */
    int (*sprinkle)(struct device *d, void *c, enum cudal2_dtype dtype, uint64_t elements, uint64_t seed, char *why);
    int (*count)(struct device *d, const void *c, enum cudal2_dtype dtype, uint64_t elements, char *why);
    int (*read_count)(struct device *d, uint64_t *nans, struct error *err);
    /* Enqueued and captured as sprinkle is. upset changes one element in some rows of A and columns of B to another
     * N(0,1) value and one of every PROBE_SPRINKLE of C, to a value that is off what was there by more than rounding;
     * count_kept adds those elements of C that still hold just what the latest upset, of the same description, put
     * there, to a counter that read_kept reads and clears. The first call for a problem must not be under capture. */
    int (*upset)(struct device *d, const struct probe_upset *upset, char *why);
    int (*count_kept)(struct device *d, const struct probe_upset *upset, char *why);
    int (*read_kept)(struct device *d, uint64_t *kept, struct error *err);
    /* A trap for what begins before the work ahead of it in the stream has ended; enqueued and captured as sprinkle is.
     * One element of every PROBE_SPRINKLE of A and B is set aside, a NaN in its place. Then a kernel that lets the next
     * one begin at once, where that was launched so (programmatic stream serialization), brings them back some
     * microseconds later and sprinkles C: what has read or written by then is told by the NaN it leaves. The first call
     * for a problem must not be under capture. NULL where nothing can begin early. */
    int (*veil)(struct device *d, const struct probe_veil *veil, char *why);
    /* Launches `work` on `set` behind a kernel that holds the device's stream, waits wait_ns and looks whether the
     * region has changed all the same: then the work does not run in the stream it was given. *escaped is false too
     * when nothing can be told, because the launch waited for the stream. NULL where there is no stream. */
    int (*escape)(struct device *d, const struct probe_trial *trial, bool *escaped, struct error *err);
    /* `bytes` bytes, aligned to PROBE_FENCE_ALIGNMENT, whose end (or start) borders on an unmapped page. unfence gives
     * them back; nothing for a fence without memory. NULL where there are no such pages. */
    int (*fence)(struct device *d, uint64_t bytes, bool at_end, struct probe_fence *out, struct error *err);
    void (*unfence)(struct device *d, struct probe_fence *fence);
    /* What a contender has changed of the process-wide state of the device or the host (host_state.h) since the last
     * settle, one line in what (128 bytes); "" when nothing. Undoes nothing. NULL where there is no such state. */
    void (*changes)(struct device *d, char what[128]);
    /* Bytes that this process holds of what a leak would take: device memory, or the resident set of the CPU device. */
    uint64_t (*held)(struct device *d);
    /* Threads of this process; 0 unknown. NULL on a device with a clock of its own. */
    unsigned (*threads)(void);
    /* A clock that does not go through libc, for comparison with now; NULL on a device with a clock of its own. */
    uint64_t (*raw_now)(void);
};

#define PROBE_SPRINKLE 256u
#define PROBE_SPARSE 4096u
/* Of the size of an element, sqrt(k): what an upset changes one by at least, and by when it is nudged (beside 3% of
 * itself). probe.cu has the same. */
#define PROBE_UNLIKE 0.0625f
#define PROBE_NUDGE 0.01f

/* x[j] of the key fill_key(seed), and the element that a stretch of PROBE_SPRINKLE from `first` on has poisoned.
 * kernels/harness/probe.cu holds the same text. */
static inline double probe_sample(uint64_t key, uint64_t j)
{
    uint64_t bits = fill_bits(key, j);
    double size = (double)((bits >> 40 & 0xfff) | 1);
    return bits >> 63 ? -size : size;
}

static inline uint64_t probe_place(uint64_t key, uint64_t first, uint64_t elements)
{
    uint64_t left = elements - first;
    return first + fill_bits(key, first) % (left < PROBE_SPRINKLE ? left : PROBE_SPRINKLE);
}

extern const struct probe_ops probe_host;          /* for devices whose memory is the host's */
extern const struct probe_ops probe_host_scripted; /* the same without a raw clock */
extern const struct probe_ops probe_cuda;

#endif
