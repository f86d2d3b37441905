/*
 * device.h - one interface over what executes contenders: `cuda` (driver API, events, graphs), `cpu` (host threads,
 * wall time only) and `fake` (a scripted clock, for tests). All times are nanoseconds.
 *
 * The ways to take a timing (model/timing.h, docs/method.md):
 *   by segment  GPU time of a row of launches, launch cost isolated: prepare + measure
 *   by events   the paper's Listing 1: sync, record, launch, record, sync: time_event
 *   by host     host clock around launch and synchronise: time_wall
 * A device that cannot take a timing says so in info.timings and returns EXIT_CODE_UNAVAILABLE for it.
 */
#ifndef CUDAL2_DEVICE_DEVICE_H
#define CUDAL2_DEVICE_DEVICE_H

#include "base/error.h"
#include "device/host_pages.h"
#include "device/host_state.h"
#include "model/health.h"
#include "model/timing.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define DEVICE_OTHERS 128

struct device_info {
    const char *kind;    /* "cuda", "cpu", "fake" */
    uint32_t device_bit; /* CUDAL2_ON_CPU or CUDAL2_ON_CUDA */
    uint32_t timings;    /* CUDAL2_BIT(TIMING_...) it can take */
    int ordinal;
    int threads; /* cpu: threads contenders may use */
    char name[128];
    char uuid[64];
    char driver[32]; /* "580.159.04", or the kernel release on the CPU */
    int cc;          /* 90 for sm_90; 0 on the CPU */
    int sm_count;
    int max_sm_clock_mhz, max_memory_clock_mhz, memory_bus_bits;
    int power_limit_mw;
    uint64_t l2_bytes, memory_bytes;
    double peak_flops;       /* dense fp16/bf16 FLOP/s at the maximum clock; 0 unknown */
    double peak_flops_f32;   /* the same of f32; 0 where it is not told apart */
    double peak_bytes_per_s; /* DRAM at the maximum memory clock; 0 unknown */
    bool holds;              /* graphs can be held (device_ops.held) */
};

/* The peak for products of this dtype. */
static inline double device_peak_flops(const struct device_info *info, enum cudal2_dtype dtype)
{
    return dtype == CUDAL2_F32 && info->peak_flops_f32 > 0 ? info->peak_flops_f32 : info->peak_flops;
}

/* FILL_SPREAD_A and _B make the two matrices of a product, of the seeds s and s + 1, wide in range (fill.h): column k
 * of A is N(0,1) times 2^e, row k of B N(0,1) times 2^-e, so the product is what it would be without. N(0,1) are
 * stretches of the FILL_POOL of seed `pool` with density 0 there, as inputs of timed launches are. On a GPU they are
 * FILL_NORMAL. FILL_POOL, on the CPU alone, is N(0,1) with a share `density` of elements that are much larger, and none
 * so small that a spread loses it. */
enum fill_kind {
    FILL_NORMAL, /* N(0,1) rounded to the dtype */
    FILL_BINARY, /* 1 with probability `density`, else 0 */
    FILL_POISON, /* a NaN pattern in every element */
    FILL_SPREAD_A,
    FILL_SPREAD_B,
    FILL_SPREAD, /* of operands.h alone: both */
    FILL_POOL
};

/* What to write. Element (i, j) of a rows x cols matrix has the value f(seed, i * cols + j) whatever the storage
 * order, so that B row-major and B column-major hold the same matrix. */
struct fill {
    enum fill_kind kind;
    enum cudal2_dtype dtype;
    uint64_t seed;
    double density;
    int64_t rows, cols;
    bool column_major;
    int64_t stride; /* elements from one row (column, if column-major) to the next; 0: no gaps. What is in them stays */
    uint64_t pool;  /* FILL_SPREAD_A, _B on the CPU: the seed of the FILL_POOL that the values come from */
};

struct fill_item {
    void *memory;
    struct fill fill;
};

/* What an output is held against: a reference, row-major m x n without gaps, in fp32 or (wide, instead) in fp64. limit
 * > 0: exact match where |reference| < limit; limit 0: error sums over all elements. */
struct expectation {
    const float *reference;
    double limit;
    const double *wide;
};

/* Comparison of an output with a reference, both row-major m x n, the output as its problem says. */
struct comparison {
    uint64_t checked; /* elements with |reference| < limit, or all when limit is 0 */
    uint64_t covered; /* of those: elements whose reference is not 0 */
    uint64_t
        mismatched; /* of those checked: elements that differ from the reference (limit > 0), or are NaN (limit 0) */
    uint64_t nan_count;
    uint64_t first_index; /* of a mismatch or NaN, row * n + column; UINT64_MAX when none */
    double max_abs_error, sum_sq_error, sum_sq_reference;
};

/* One launch of a contender: enqueues on the device's stream for operand set `set`. Returns 0 or a cudal2_status
 * with one line in `why` (CUDAL2_WHY bytes). */
struct device_work {
    int (*launch)(void *context, size_t set, char *why);
    void *context;
    uint32_t flags; /* enum cudal2_flags of the contender */
};

/* What is enqueued between two launches of a visit. */
struct device_break {
    int (*enqueue)(void *context, size_t set, char *why); /* `set`: of that launch; status and why as of a launch */
    void *context;
    unsigned visit, launch; /* ahead of this launch, untimed ones counted */
};

/* Which full dependencies of a kernel on a kernel become programmatic where overlap is allowed, as if the launch had
 * asked for it: none, those of a launch on the one ahead, or those of what follows a veil (probe.h) on the veil. */
enum device_join { JOIN_NONE, JOIN_LAUNCHES, JOIN_VEILS };

/* What one timed segment is made of: visits to places in memory, one after the other. A visit has n_sets / visits sets
 * of its own, which its launches use in turn from first_set on (0 where there are several visits), and its timed
 * launches stand between events of their own. */
struct device_shape {
    unsigned visits;   /* 0 counts as 1 */
    unsigned launches; /* timed, of all visits: a multiple of their number */
    unsigned primers;  /* untimed, before the timed ones of the first visit */
    unsigned again;    /* untimed, before the timed ones of each further visit */
    size_t first_set, n_sets;
    uint64_t order; /* 0: a visit's sets follow each other as they are numbered; else in an order that this draws */
    const struct device_break *broken; /* NULL: launches follow each other */
    bool loaded;  /* the work has run before: no warm-up launch, unless it cannot be captured without one, and the
                   * caller waits for the first replay */
    bool settled; /* its first replay may count: there is none before */
    bool overlap; /* a launch may begin before the one ahead has ended, if it is made so; else it never does */
    enum device_join join; /* only with overlap, and where nothing is `broken` */
};

#define DEVICE_MAX_VISITS 8u

static inline unsigned device_shape_visits(const struct device_shape *shape)
{
    return shape->visits > 1 ? shape->visits : 1;
}

static inline unsigned device_shape_untimed(const struct device_shape *shape)
{
    return shape->primers + (device_shape_visits(shape) - 1) * shape->again;
}

/* Whether dependencies of the segment may become programmatic. */
static inline bool device_shape_joins(const struct device_shape *shape)
{
    return shape->join != JOIN_NONE && shape->overlap && shape->broken == NULL;
}

/* Whether something comes ahead of launch `i`, untimed ones included, of a visit. */
static inline bool device_shape_breaks(const struct device_shape *shape, unsigned visit, unsigned i)
{
    return shape->broken != NULL && shape->broken->visit == visit && shape->broken->launch == i;
}

/* The set of launch `i`, untimed ones included, of a visit: a visit's sets in turn, over and over. */
size_t device_shape_set(const struct device_shape *shape, unsigned visit, unsigned i);
/* Whether a launch of the segment, timed or not, uses that set. */
bool device_shape_uses(const struct device_shape *shape, size_t set);

/* The plain kernel of a chain (measure/chain.h): bias and clamp between two products, as any library has them. It reads
 * all of C and makes A of the next product of it. Row i of A, column j: the sum of the columns of C that are j modulo k
 * (where k > n, of column j modulo n), scaled so that N(0,1) factors give values of about the size 1, plus a tenth of
 * bias[j], held within PLAIN_CLAMP. NaN stays NaN. */
struct device_plain {
    struct cudal2_problem problem;
    const void *c;    /* m x n */
    const void *bias; /* k values, N(0,1) */
    void *out;        /* m x k */
};
/* With this gain and bound the values of a long chain keep their spread, and its rows do not grow alike. */
#define PLAIN_GAIN 1.15f
#define PLAIN_BIAS 0.1f
#define PLAIN_CLAMP 1.667f

struct device;
struct device_segment; /* a prepared (captured, uploaded) timed segment */

enum device_rung { RUNG_GRAPH = 0, RUNG_BLOCKED = 1, RUNG_EVENTS = 2 };
extern const char *const device_rung_names[]; /* "graph", "blocked", "events" */

/* Every operation but fill, and prepare of what is loaded and not settled, has finished on the device when it returns,
 * so that a timing starts on an idle device.
 * Errors: EXIT_CODE_UNAVAILABLE the device is lost (a sticky error: the worker must end) or cannot take this timing;
 * EXIT_CODE_VERIFICATION the work itself failed, with the contender's own reason in the text;
 * EXIT_CODE_INTERNAL anything else, with the name of the call that failed and its status. */
struct device_ops {
    void (*close)(struct device *d);
    int (*alloc)(struct device *d, size_t bytes, void **out, struct error *err);
    /* The same for what no contender is handed: references, what inputs are made of. Where contenders run in processes
     * of their own they cannot read it. NULL: alloc. */
    int (*alloc_own)(struct device *d, size_t bytes, void **out, struct error *err);
    /* The same for what each contender has of its own: who runs in a process of its own sees what is lent to it
     * (contender_ops.lend), and nobody else does. NULL: alloc. */
    int (*alloc_apart)(struct device *d, size_t bytes, void **out, struct error *err);
    void (*release)(struct device *d, void *memory); /* of any */
    int (*memory_free)(struct device *d, uint64_t *bytes, struct error *err);
    int (*upload)(struct device *d, void *to, const void *from, size_t bytes, struct error *err);
    int (*download)(struct device *d, void *to, const void *from, size_t bytes, struct error *err);
    /* Enqueued on the device's stream like a launch: sync before anything else looks at the memory. */
    int (*fill)(struct device *d, void *memory, const struct fill *fill, struct error *err);
    /* The same for n matrices of one dtype, none of them empty, at the cost of one launch and of making what several
     * hold once. NULL: one by one. */
    int (*fill_many)(struct device *d, const struct fill_item *items, size_t n, struct error *err);
    int (*sync)(struct device *d, struct error *err);
    /* Evicts the caches: reads more than the L2 holds. */
    int (*flush)(struct device *d, struct error *err);
    /* fp32 reference of alpha*A*B + beta*C (fp32 accumulate, C as operands.c holds it now) into reference[m*n], which
     * has no gaps; operands.b is in `layout`. */
    int (*reference)(struct device *d, const struct cudal2_problem *p, enum cudal2_layout layout,
                     const struct cudal2_operands *operands, float *reference, struct error *err);
    /* The same, faster, for inputs that are all 0 or 1 and k <= 2^24, where every sum is a count. NULL where reference
     * has to do. */
    int (*reference_binary)(struct device *d, const struct cudal2_problem *p, enum cudal2_layout layout,
                            const struct cudal2_operands *operands, float *reference, struct error *err);
    /* The same in fp64, for any inputs: exact products, fp64 sums. */
    int (*reference_wide)(struct device *d, const struct cudal2_problem *p, enum cudal2_layout layout,
                          const struct cudal2_operands *operands, double *reference, struct error *err);
    /* Compares the output c, row-major m x n of the problem's dtype. */
    int (*compare)(struct device *d, const struct cudal2_problem *p, const void *c, const struct expectation *expected,
                   struct comparison *out, struct error *err);
    /* Prepares a device-timed segment on the lowest rung that works (`lowest` is where to start; the caller
     * raises it to compare a pair on a common rung). Warms every path first, but for what the shape says has been
     * warmed. work NULL: an empty kernel. */
    int (*prepare)(struct device *d, const struct device_work *work, const struct device_shape *shape,
                   enum device_rung lowest, struct device_segment **out, struct error *err);
    enum device_rung (*rung)(const struct device_segment *segment);
    /* Why the segment is not on the rung it was asked for; "" when it is. Lives as long as the segment. */
    const char *(*rung_reason)(const struct device_segment *segment);
    /* On the rung graph: whether the device begins when the host has handed all of the graph over. Else it begins with
     * what is there first, and where that is the start event (a shape without primers) how long the host takes over the
     * rest is part of the time. */
    bool (*held)(const struct device_segment *segment);
    /* Whether the contender's launches are made so that one may begin before the one ahead of it has ended
     * (programmatic dependencies between launches, not those inside a launch of several kernels; the contender must
     * wait for that end itself, see probe.h, veil). Where the shape allows no overlap they were so until the device
     * made full dependencies of them. Of launches that the harness does not make itself it is seen on the rung graph
     * alone. NULL: never. */
    bool (*early)(const struct device_segment *segment);
    /* Whether some dependency became programmatic by device_shape.join. NULL: never. */
    bool (*joined)(const struct device_segment *segment);
    /* The name of a kernel in it that is a library's (model/borrowed.h), which lives as long as the segment; "": none
     * is known. Of the rung graph alone. NULL: there are no kernels. */
    const char *(*borrowed)(const struct device_segment *segment);
    /* From now on launches use their sets in this order (device_shape.order). On the rung graph they stay as they were
     * captured. */
    void (*reorder)(struct device_segment *segment, uint64_t order);
    /* Runs the segment once and returns mean ns of one launch (elapsed / launches). */
    int (*measure)(struct device *d, struct device_segment *segment, double *ns, struct error *err);
    void (*release_segment)(struct device *d, struct device_segment *segment);
    int (*time_event)(struct device *d, const struct device_work *work, size_t set, double *ns, struct error *err);
    int (*time_wall)(struct device *d, const struct device_work *work, size_t set, double *ns, struct error *err);
    /* One launch that a profiler may profile alone: between its start and its stop, and waited for. NULL: there is no
     * profiler for this device. */
    int (*profiled)(struct device *d, const struct device_work *work, size_t set, struct error *err);
    /* One launch of `work` on set 0 captured as a graph, so that it can be timed by time_event and time_wall with the
     * launch path of a graph. *out launches it and is owned by the caller (release_graph_work). NULL op, or
     * EXIT_CODE_UNAVAILABLE, where the device or this work has no graph. */
    int (*graph_work)(struct device *d, const struct device_work *work, struct device_work *out, struct error *err);
    void (*release_graph_work)(struct device *d, struct device_work *graph);
    /* The plain kernel, enqueued on the device's stream as a launch is; the first call for a dtype must not be under
     * capture. Returns a cudal2_status, with the reason in why. NULL: chains are not possible. */
    int (*plain)(struct device *d, const struct device_plain *plain, char *why);
    /* Elements of out that are not what the plain kernel makes of what C holds now. Goes with plain. */
    int (*plain_differs)(struct device *d, const struct device_plain *plain, uint64_t *elements, struct error *err);
    /* Undoes what a contender may have left: persisting L2, sticky state. EXIT_CODE_UNAVAILABLE when the device
     * is lost (sticky error): the worker must end. */
    int (*settle)(struct device *d, struct error *err);
    void (*health)(struct device *d, struct device_health *out);
    /* What slows it alone (known, throttle_reasons, slowdown), one question to the driver instead of health's five.
     * NULL: health costs nothing. */
    void (*throttle)(struct device *d, struct device_health *out);
    /* What the device has used so far, in steps of tens of milliseconds; false where that is not known. NULL: never. */
    bool (*energy)(struct device *d, uint64_t *millijoules);
    uint64_t (*now)(struct device *d);
    uint64_t (*wait_until)(struct device *d, uint64_t deadline_ns);
};

/* Common head of every device; implementations embed it first. */
struct device {
    const struct device_ops *ops;
    struct cuda_device *cuda; /* what this is the base of, opened by device_open_cuda; else NULL */
    struct device_info info;
    void *stream;                   /* CUstream for contenders; NULL on the CPU */
    const struct probe_ops *probes; /* device/probe.h: what the honesty checks ask; NULL: they are not possible */
    struct host_state host;         /* of the process, when the device was opened */
    struct host_pages *pages;       /* that alloc takes from, on the CPU; NULL: from the allocator */
    pid_t others[DEVICE_OTHERS];    /* processes that contenders run in, on the CPU; none: they run in this one */
    size_t n_others;
};

/* device_ops.alloc_own, or alloc. */
static inline int device_alloc_own(struct device *d, size_t bytes, void **out, struct error *err)
{
    return d->ops->alloc_own ? d->ops->alloc_own(d, bytes, out, err) : d->ops->alloc(d, bytes, out, err);
}

/* Times one launch on operand set `set` by a timing that is no segment's. */
int device_time_single(struct device *d, enum timing timing, const struct device_work *work, size_t set, double *ns,
                       struct error *err);

/* Opens "cuda:N", "cpu" or "auto" (cuda:0 if a usable GPU is there, else cpu; `why_not` then says why not the GPU,
 * 256 bytes, may be NULL). EXIT_CODE_UNAVAILABLE with the reason otherwise. */
int device_open(const char *spec, char *why_not, struct device **out, struct error *err);

/* The openers behind it, one per implementation. */
int device_open_cuda(int ordinal, struct device **out, struct error *err);
int device_open_cpu(struct device **out, struct error *err);
/* Of the CPU device that has given out nothing yet: its matrices shall lie in one stretch of addresses (host_pages.h),
 * which processes can share. device_open_cpu has done it, but under a sanitizer. False where no addresses are to be
 * had, as with a limit of them: matrices lie where the allocator puts them. */
bool device_cpu_reserve(struct device *d);

#define DEVICE_BUS 24
#define DEVICE_GPUS 64
struct device_gpu {
    char uuid[64];        /* names its lock; "" not known */
    char bus[DEVICE_BUS]; /* where it is plugged in, "0000:3b:00.0"; "" not known */
};

/* GPUs that the driver shows, in CUDA's order, without creating a context (NVML, by dlopen); 0 when there is no driver.
 * Safe in the supervisor. One NVML session, which takes longer the more GPUs a host has: ask once. */
int device_gpus(struct device_gpu list[DEVICE_GPUS]);
int device_count_gpus(void);
/* The compute capability of GPU `ordinal`, 90 for sm_90, from NVML; 0 where that is not known. */
int device_gpu_capability(int ordinal);

#endif
