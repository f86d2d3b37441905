/*
 * segment.h - one entrant timed once: the six ways of mode x timing (docs/method.md, section 3). Called by block.c,
 * paper.c, race.c, prescreen.c and cell_loop.c, and by verify/timed_check.c.
 */
#ifndef CUDAL2_MEASURE_SEGMENT_H
#define CUDAL2_MEASURE_SEGMENT_H

#include "measure/bench.h"

/* Length of a device-timed segment, ns, and the most launches in it. Offline mode times a graph of
 * L = clamp(ceil(200 us / t), 1, 64) launches, rounded up to as many at each place: 200 us is 6000 ticks of the 32 ns
 * event clock, and long against the graph's own head. */
#define SEGMENT_TARGET_NS 200e3
#define SEGMENT_MAX_LAUNCHES 64u
/* Untimed launches before the timed ones where t < 200 us: an eighth of L, at least 2 and one for each set. With a
 * single primer an A/A copy on operands of its own read 1.4% slower than its original over 64 groups: one pass does not
 * bring the L2 to its steady state. */
#define SEGMENT_PRIMER_SHARE 8u
#define SEGMENT_LEAST_PRIMERS 2u
/* The same at each further place that a segment visits, one for each of the visit's sets. */
#define SEGMENT_AGAIN SEGMENT_LEAST_PRIMERS
/* Of launches this short a cell has so few blocks that a third place costs more than it tells. */
#define SEGMENT_FEW_VISITS_NS 8e3
#define SEGMENT_FEW_VISITS 2.0
/* Whose graph is timed offline without a first replay, by the fastest of the cell. Shorter ones scatter ten times as
 * much without it; from 20 to 80 us it takes a quarter of a block's time and scatters a tenth less; above, up to 200
 * us, it takes less and keeps the clock where it is. */
#define SEGMENT_SETTLED_FROM_NS 20e3
#define SEGMENT_SETTLED_BELOW_NS 80e3
/* A slow contender in a cell of fast ones gets fewer launches, so that it does not own the cell's time. */
#define SEGMENT_LONGEST_NS 4e6

/* Shape of the headline segment of an entrant for a segment of target_ns (SEGMENT_TARGET_NS when measuring), from the
 * fastest estimate in the cell (one length for all, so that the graph's head weighs alike) and the entrant's own. */
struct device_shape segment_shape(const struct bench *bench, double target_ns, double fastest_ns, double own_ns);

/* Times one launch for a first estimate with the headline timing, a short one three times, of which the least counts;
 * by event or wall time after an untimed one, which may load its code. In blocks of a problem that takes
 * SEGMENT_TARGET_NS at the device's peak it is the graph's first replay, and nothing comes before. A contender's fault
 * makes it fail; non-zero only when the worker must end. */
int segment_estimate(struct bench *bench, struct entrant *entrant, struct error *err);

/* Prepares the device-timed segment (nothing for other timings). Errors as segment_estimate. */
int segment_prepare(struct bench *bench, struct entrant *entrant, double target_ns, double fastest_ns,
                    struct error *err);

/* Says in the record whether the graphs that are prepared, where they begin with their start event (no primers), are
 * all held until the host has handed them over (device_ops.held): else the host is in the time. On an H200
 * (results/h200/2026-11-22b-studies) the middle nine tenths of a kernel's launches from idle lie within 0.6 and 2.4 us
 * without and 0.03 us with it, as the kernel itself does. */
void segment_note_held(struct bench *bench);

/* Prepares the rows of the other timings by segments that the cell takes beside the headline (bench_takes_beside). One
 * that does not come to the headline's rung is not taken: its time would hold other things. */
int segment_prepare_beside(struct bench *bench, struct entrant *entrant, struct error *err);

/* The entrant's launches are joined no more (join_end), and what of its rows was is prepared again with full
 * dependencies. */
int segment_part(struct bench *bench, struct entrant *entrant, const char *why, struct error *err);

/* Whether segment_time can take this timing: what is timed as a segment has been prepared for it. */
bool segment_is_ready(const struct bench *bench, struct entrant *entrant, enum timing timing);

/* Captures the entrant's launch as a graph of one for the equal-launch-path figure (raced contenders only: AutoTuning
 * and the candidates that stand against it; not in mode chain, nor where the fastest takes EQUAL_PATH_BELOW_NS: some
 * microseconds of launch path are nothing there). Not capturable is no fault: the figure is then missing. */
#define EQUAL_PATH_BELOW_NS 1.6e6
void segment_prepare_equal_path(struct bench *bench, struct entrant *entrant);

/* Whether a launch under this timing needs no untimed launch before it: an offline device segment carries its own
 * primers, and what runs for 200 us makes its own cache state. */
bool segment_primed(const struct bench *bench, const struct entrant *entrant, enum timing timing);
/* Whether such an untimed launch comes behind what timed_disturb changes, which is ahead of an emptied cache: it meets
 * the inputs of the timed one. */
bool segment_is_led_on_disturbed(const struct bench *bench, const struct entrant *entrant, enum timing timing);

/* Takes one time of the entrant: empties the cache where the config says flush, where contenders share
 * their matrices in blocks, or where rotate needs it, else brings it to the state `warm` means where the
 * segment has no primer of its own (server mode, and event and wall in both modes): the entrant's own untimed launch,
 * of the very graph where a graph is timed, finished before the gap begins, so that no contender inherits what its
 * neighbour left (not under the paper's protocol, whose iterations are two timed launches and nothing else). Waits the
 * gap in server mode (gap_ns >= 0; the actual gap comes back in *gap_ns), launches, reads. *ns is the time of one
 * launch. What all launches of it kept the device busy for is added to the record. Errors are the entrant's unless the
 * device is lost; a joined row in which there is one is parted, and timed again (join.h). */
int segment_time(struct bench *bench, struct entrant *entrant, enum timing timing, double *gap_ns, double *ns,
                 struct error *err);

/* Event or wall time of the entrant's graph of one; gap as above. */
int segment_time_equal_path(struct bench *bench, struct entrant *entrant, enum timing timing, double gap_ns, double *ns,
                            struct error *err);

/* The empty kernel in the topology of the entrant's row, for a group in which it will be timed; nothing where it is
 * there or the entrant has no row. */
int segment_prepare_null(struct bench *bench, const struct entrant *entrant, struct error *err);

/* Times the empty kernel in the headline's topology: in server mode after a replay of its own where entrants have one
 * (warm), and the gap. *ns NaN where the device has none. */
int segment_null(struct bench *bench, double gap_ns, double *ns, struct error *err);

/* One launch of work that launches the entrant, by the headline timing, which is no segment's; its process is awake. */
int segment_time_work(struct bench *bench, const struct entrant *entrant, const struct device_work *work, size_t set,
                      double *ns, struct error *err);

#endif
