/*
 * activity.h - what a contender really does in one launch, by a recorder of GPU activity: in a process of its own,
 * after everything has been timed. The launch is watched as the contender makes it, and where it was timed as a graph,
 * as a graph too, each time on fresh inputs into a poisoned C. It is a fault
 *
 *   stream_escape      when work begins while the stream is still held, or goes on after what follows in the stream has
 *                      begun; when a graph is replayed and another stream works beside it; when nothing runs and C is
 *                      right all the same. Another stream that waits for the given one and is waited for is none.
 *   late_work          when work begins after the host has waited for the device
 *   implausible_speed  when its work keeps the GPU busy for more than 1.5 times the time that was taken, and 5 us, in
 * the cache state that was timed (watch_state.h), and not only because inputs are written before wrong_result when C is
 * wrong
 *
 * in every one of three tries (a wrong C in one). What cannot be watched is no fault and says why.
 */
#ifndef CUDAL2_VERIFY_ACTIVITY_H
#define CUDAL2_VERIFY_ACTIVITY_H

#include "device/activity.h"
#include "measure/bench.h"

/* What a timing claims. */
struct activity_claim {
    double timed_ns; /* device time of a launch; 0: not known */
    bool graph;      /* it was, or would be, timed as a graph */
    bool waits;      /* it synchronises in its launch */
};

/* Judges what was seen of one launch. Returns a verdict with the reason in why[RECORD_REASON_MAX], or ok. */
enum verdict activity_judge(const struct watched *seen, const struct activity_claim *claim, bool graph, char *why);

/* How long the GPU was busy with what was seen: overlapping work counts once. */
double activity_busy_ns(const struct activity_log *log);

/* The median, over the three pairs of neighbours in a row of four launches alike, of how long the later one had begun
 * before the one ahead of it had ended; 0 where it began after. NAN where the log is not that of four alike. One pair
 * alone proves nothing, because CUPTI reads begin and end apart: on an H100 single pairs of cuBLAS's kernels, which
 * have no programmatic dependency, seem to overlap by up to 0.5 us. Up to ACTIVITY_CLOCK_NS (record/activity.h) the
 * median is such noise too. */
double activity_overlap_ns(const struct activity_log *log);

/* Watches one launch of an entrant that is set up, on its set 0. *out, owned by the caller, is
 *
 *   {"launch":[work...],"busy_ns":N,"graph":[work...],"graph_busy_ns":N,"ratio":R,"overlap_ns":N,"waits":true,
 *    "status":"...","reason":"..."}
 *   work: {"kernel":"name","grid":[..],"block":[..],"stream":S,"n":N,"ns":N} | {"copy":bytes,...} |
 * {"memset":bytes,...}
 *
 * or {"unavailable":"why"}. `overlap_ns` is of a row of launches as they were timed (offline, as a graph). `graph` is
 * there when it is other work than `launch`; ratio is the GPU's busy time over the time that was taken, where one
 * kernel is the whole launch; `waits` says that the launch waits for its stream, so that it could not be held back.
 * Non-zero only when the worker must end. */
int activity_watch(struct bench *bench, struct entrant *entrant, struct watcher *watcher,
                   const struct activity_claim *claim, cJSON **out, struct error *err);

#endif
