/*
 * cuda_device.h - the CUDA device from inside: shared by the cuda_*.c files of this room only.
 */
#ifndef CUDAL2_DEVICE_CUDA_DEVICE_H
#define CUDAL2_DEVICE_CUDA_DEVICE_H

#include "model/borrowed.h"
#include "device/cuda.h"
#include "device/driver.h"
#include "device/nvml.h"
#include "device/probe.h"

/* A harness kernel, compiled for one dtype and layout at its first use. */
enum harness_kernel {
    KERNEL_FILL,
    KERNEL_FILL_MANY,
    KERNEL_FLUSH_WRITE,
    KERNEL_FLUSH_READ,
    KERNEL_BLOCKER,
    KERNEL_NULL,
    KERNEL_REFERENCE,
    KERNEL_REFERENCE_WIDE,
    KERNEL_COMPARE,
    KERNEL_COMPARE_WIDE,
    KERNEL_COUNTS,
    KERNEL_DIGEST, /* from here on: probe.cu */
    KERNEL_PATTERN,
    KERNEL_SPRINKLE,
    KERNEL_COUNT_NAN,
    KERNEL_SAMPLES, /* product.cu */
    KERNEL_ROWS_TIMES,
    KERNEL_COLUMNS_TIMES,
    KERNEL_COMPARE_ROWS,
    KERNEL_VEIL, /* probe.cu again */
    KERNEL_UNVEIL,
    KERNEL_DISTURB,
    KERNEL_UPSET,
    KERNEL_COUNT_KEPT,
    KERNEL_PLAIN, /* plain.cu */
    KERNEL_PLAIN_DIFFERS,
    KERNEL_COUNT
};

struct kernel_slot {
    cu_module module;
    cu_function function;
};

#define N_LIMITS 3
#define KEPT_FENCES 3 /* a problem has three matrices */
#define CUDA_PROGRAMMATIC_MOST 32
#define KERNEL_VARIANTS 6 /* dtype * 2 + layout */

/* Host memory that a spinning kernel reads and writes, and what a held stream waits for. */
struct signals {
    volatile uint32_t released, timed_out, handed_over;
};

/* What the calls of the driver are found by is written once. Its pages, of any size up to this, hold nothing else and
 * are read-only then, so that code beside us which puts calls of its own there does so by asking the system first. */
#define DRIVER_PAGES 65536

struct cuda_device {
    struct device base; /* first: a device is cast to this */
    cu_device handle;
    cu_context context;
    cu_stream stream;
    cu_event start, stop; /* of event timing */
    struct nvml *nvml;    /* NULL: health is not known */
    char kernel_directory[1024];
    struct kernel_slot kernels[KERNEL_COUNT][KERNEL_VARIANTS];
    struct signals *signals;
    unsigned captures; /* of work that is loaded and may overlap */
    /* Contexts of work whose latest graph had programmatic edges; `noted` counts those that were put there. */
    const void *programmatic[CUDA_PROGRAMMATIC_MOST];
    unsigned noted;
    struct launch_marks *veil_marks; /* NULL, or where a veil marks its end under capture */
    bool alone;                      /* what is launched now must not begin before what is ahead of it has ended */
    unsigned withheld;               /* launches that were to, since the segment's first one */
    uint32_t hold_count;             /* how often the stream was held; signals->handed_over follows it */
    cu_pointer flush_buffer, compare_parts;
    size_t flush_bytes;
    size_t limits[N_LIMITS]; /* as found when the device was opened */
    struct {
        cu_pointer desk, vectors;
        uint64_t n_doubles; /* of vectors */
    } probes;               /* cuda_probe.c; all made at their first use */
    struct {
        cu_pointer list;
        size_t bytes;     /* of it */
    } fills;              /* cuda_fill.c */
    cu_pointer disturbed; /* room for CUDA_DISTURB_SETS operand sets; cuda_disturb.c */
    struct {
        cu_pointer memory;
        size_t bytes;
    } upsets;                               /* cuda_disturb.c */
    cu_pointer plain_count;                 /* cuda_plain.c */
    struct probe_fence fences[KEPT_FENCES]; /* cuda_fence.c: mapped and not in use */
    union {
        _Alignas(DRIVER_PAGES) struct driver driver;
        char driver_pages[DRIVER_PAGES];
    };
};

/* The device as a CUDA device, or NULL when it is another kind. */
static inline struct cuda_device *cuda_of(struct device *d)
{
    return d->cuda;
}

static inline int cuda_stream_wait(struct cuda_device *c, struct error *err)
{
    return driver_check(&c->driver, c->driver.stream_sync(c->stream), err, "cuStreamSynchronize");
}

/* device_open_cuda on any resolver: tests bring a driver of their own. */
int cuda_open_with(driver_resolver resolve, int ordinal, struct device **out, struct error *err);

/* cuda_kernels.c: the harness's own kernels. */
int cuda_kernel_get(struct cuda_device *c, enum harness_kernel which, int variant, cu_function *out, struct error *err);
/* Enqueues a harness kernel. */
int cuda_kernel_run(struct cuda_device *c, cu_function function, unsigned blocks, unsigned threads, void **arguments,
                    struct error *err);
/* Enqueues the empty kernel; compiled and warmed when the device was opened. */
int cuda_null_run(struct cuda_device *c, struct error *err);
void cuda_kernels_close(struct cuda_device *c);
/* Blocks of a grid-stride kernel: enough to fill the GPU eight times over, never more than there is work for. */
unsigned cuda_grid_for(const struct cuda_device *c, uint64_t items, unsigned threads);
int cuda_flush(struct device *d, struct error *err);
int cuda_reference(struct device *d, const struct cudal2_problem *p, enum cudal2_layout layout,
                   const struct cudal2_operands *operands, float *reference, struct error *err);
int cuda_reference_binary(struct device *d, const struct cudal2_problem *p, enum cudal2_layout layout,
                          const struct cudal2_operands *operands, float *reference, struct error *err);
int cuda_reference_wide(struct device *d, const struct cudal2_problem *p, enum cudal2_layout layout,
                        const struct cudal2_operands *operands, double *reference, struct error *err);
int cuda_compare(struct device *d, const struct cudal2_problem *p, const void *c, const struct expectation *expected,
                 struct comparison *out, struct error *err);

/* cuda_fill.c */
int cuda_fill(struct device *d, void *memory, const struct fill *fill, struct error *err);
int cuda_fill_many(struct device *d, const struct fill_item *items, size_t n, struct error *err);
void cuda_fills_close(struct cuda_device *c);
/* At most so many sets at once. */
#define CUDA_DISTURB_SETS 4096u
int cuda_disturb(struct device *d, const struct probe_renewal *renewal, size_t n, struct error *err);
int cuda_upset(struct device *d, const struct probe_upset *upset, char *why);
int cuda_count_kept(struct device *d, const struct probe_upset *upset, char *why);
int cuda_read_kept(struct device *d, uint64_t *kept, struct error *err);
void cuda_disturb_close(struct cuda_device *c);
/* Bytes that a probe takes when it needs so many: at once what all but the largest problems do, for to give memory back
 * waits for the device and asks the driver. */
#define CUDA_PROBE_ROOM ((uint64_t)8 << 20)
static inline uint64_t cuda_probe_room(uint64_t bytes)
{
    return bytes > CUDA_PROBE_ROOM ? bytes : CUDA_PROBE_ROOM;
}

/* cuda_plain.c: device_ops of these names. */
int cuda_plain(struct device *d, const struct device_plain *plain, char *why);
int cuda_plain_differs(struct device *d, const struct device_plain *plain, uint64_t *elements, struct error *err);
void cuda_plain_close(struct cuda_device *c);

/* cuda_time.c: launching a contender and the two timings with one launch. */
int cuda_run_work(struct cuda_device *c, const struct device_work *work, size_t set, struct error *err);
int cuda_time_event(struct device *d, const struct device_work *work, size_t set, double *ns, struct error *err);
int cuda_time_wall(struct device *d, const struct device_work *work, size_t set, double *ns, struct error *err);
int cuda_profiled(struct device *d, const struct device_work *work, size_t set, struct error *err);

/* cuda_fence.c: as probe_ops.fence. What is given back may stay mapped for the next. */
int cuda_fence(struct device *d, uint64_t bytes, bool at_end, struct probe_fence *out, struct error *err);
void cuda_unfence(struct device *d, struct probe_fence *fence);
void cuda_fences_close(struct cuda_device *c);

/* cuda_probe.c */
void cuda_probes_close(struct cuda_device *c);

/* Device timing, from the bottom: cuda_enqueue.c, cuda_capture.c and cuda_hold.c, cuda_segment.c, cuda_try_hold.c. */
/* Holds the stream until it is released or limit_ns have passed; signals->timed_out says which. */
int cuda_blocker_start(struct cuda_device *c, uint64_t limit_ns, struct error *err);
void cuda_blocker_release(struct cuda_device *c);
#define SEGMENT_REASON 256

/* Where an event was recorded under capture: its node, and what that waits for. */
struct record_place {
    bool known;
    cu_node node;
    size_t n_ahead;
    uintptr_t ahead; /* the sum of their addresses */
};

#define CUDA_RECORDS_MOST (2 * DEVICE_MAX_VISITS)

struct device_segment {
    struct device_work work;
    bool has_work;
    struct device_shape shape;
    enum device_rung rung;
    char reason[SEGMENT_REASON];
    cu_event start[DEVICE_MAX_VISITS], stop[DEVICE_MAX_VISITS]; /* one pair a visit */
    cu_graph graph;
    cu_graph_exec exec;
    bool held;                                      /* on the rung graph: as device_ops.held */
    bool early, joined;                             /* as device_ops.early and joined */
    size_t lost;                                    /* of its graph: work that nothing waits for */
    char borrowed[BORROWED_TEXT];                   /* as device_ops.borrowed */
    struct launch_marks *marks;                     /* NULL, or what notes where each launch ends under capture */
    struct record_place records[CUDA_RECORDS_MOST]; /* of the start and the stop of each visit, in turn */
    size_t n_records;                               /* 0: the driver cannot tell, or no capture */
    bool moved;                                     /* some did not stand when the graph was whole */
};

/* Whether its dependencies may become programmatic. */
static inline bool segment_joins(const struct device_segment *s)
{
    return s->has_work && device_shape_joins(&s->shape);
}

int cuda_prepare(struct device *d, const struct device_work *work, const struct device_shape *shape,
                 enum device_rung lowest, struct device_segment **out, struct error *err);
enum device_rung cuda_rung(const struct device_segment *segment);
const char *cuda_rung_reason(const struct device_segment *segment);
int cuda_measure(struct device *d, struct device_segment *segment, double *ns, struct error *err);
void cuda_release_segment(struct device *d, struct device_segment *segment);
/* Holds the stream, by its front end alone: nothing runs on the device, and what is enqueued from here on begins when
 * cuda_hand_over says that all of it is there. Every hold that succeeds needs one. */
int cuda_hold(struct cuda_device *c, struct error *err);
void cuda_hand_over(struct cuda_device *c);
/* Finds out by doing it whether a graph can be held: the driver may not have the call for this device, and one that
 * serialises launches (CUDA_LAUNCH_BLOCKING, a tool) would never come back from them. Says it in info.holds. */
int cuda_try_hold(struct cuda_device *c, struct error *err);
void cuda_reorder(struct device_segment *segment, uint64_t order);
bool cuda_segment_held(const struct device_segment *segment);
bool cuda_segment_early(const struct device_segment *segment);
bool cuda_segment_joined(const struct device_segment *segment);
const char *cuda_segment_borrowed(const struct device_segment *segment);
/* One launch of its work, with a mark behind it where marks are kept. */
int cuda_segment_launch(struct cuda_device *c, const struct device_segment *s, size_t set, struct error *err);
/* Enqueues primers, start event, launches, stop event of each visit; the flags say whether the events become nodes of a
 * graph. */
int cuda_segment_enqueue(struct cuda_device *c, struct device_segment *s, unsigned record_flags, struct error *err);
/* Captures, checks, instantiates, uploads and replays once. 0 with *captured false and the reason in s->reason when
 * the work cannot be a graph; an error when the device failed or the work escapes the stream. */
int cuda_capture_segment(struct cuda_device *c, struct device_segment *s, bool *captured, struct error *err);

/* cuda_records.c: whether the events of a segment stand where they were recorded. Ahead of a record under capture, and
 * behind it; otherwise nothing is noted. */
void cuda_records_ahead(const struct cuda_device *c, struct record_place *place);
void cuda_records_behind(const struct cuda_device *c, struct device_segment *s, struct record_place *place);
/* Of a whole graph, before its edges are changed: each is its node's event, and waits for what it waited for. */
bool cuda_records_stand(const struct cuda_device *c, const struct device_segment *s);
/* Whether the node records an event of the segment's. */
bool cuda_records_are_of(const struct cuda_device *c, const struct device_segment *s, cu_node node);

/* cuda_edges.c: what comes next on the stream waits for these nodes; false where nothing is captured, or the driver
 * cannot tell. */
bool cuda_capture_ends(const struct cuda_device *c, const cu_node **ends, size_t *n);
/* Which nodes of a captured graph belong to which launch, and the edges between launches. */
struct launch_marks;
/* NULL out of memory. */
struct launch_marks *launch_marks_new(void);
void launch_marks_free(struct launch_marks *marks);
/* Under capture, behind each launch or event: what is new in the stream is the next part. `loose`: the kernel behind it
 * may begin before this part has ended. */
int launch_marks_add(struct launch_marks *marks, struct cuda_device *c, bool loose, struct error *err);
/* Whether work of this graph may begin before what is ahead of it has ended, inside a launch or between two: an edge is
 * programmatic, or nodes are no chain. Of an older driver's graph no edge can be seen. */
int launch_edges_unusual(struct cuda_device *c, cu_graph graph, bool *any, struct error *err);
/* What was found of such edges. */
struct launch_edges {
    bool any;        /* as above */
    size_t between;  /* programmatic ones between parts */
    size_t loosened; /* full ones that became so; not among the others */
    size_t missing;  /* from a part's end to what begins the next part */
    size_t lost;     /* kernels, copies and memsets that nothing waits for */
};
/* Counts them by s->marks. Those between parts become full dependencies where launches are to be alone, and those that
 * are missing are added there. Where overlap is allowed those of a kernel on the kernel that a loose part ends with
 * become programmatic first. */
int launch_marks_apply(struct cuda_device *c, const struct device_segment *s, struct launch_edges *out,
                       struct error *err);

/* cuda_graph_work.c */
int cuda_graph_work(struct device *d, const struct device_work *work, struct device_work *out, struct error *err);
void cuda_release_graph_work(struct device *d, struct device_work *graph);

/* cuda_health.c */
/* As probe_ops.changes. */
void cuda_changes(struct device *d, char what[128]);
int cuda_settle(struct device *d, struct error *err);
void cuda_health(struct device *d, struct device_health *out);
bool cuda_energy(struct device *d, uint64_t *millijoules);
void cuda_throttle(struct device *d, struct device_health *out);
void cuda_remember_limits(struct cuda_device *c);
void cuda_read_info(struct cuda_device *c, int ordinal);

#endif
