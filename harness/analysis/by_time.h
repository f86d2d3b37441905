/*
 * by_time.h - what many shapes come to when their times count: the sum of times, classes of time, the share that the
 * floor takes, and the slowest launches from idle. Pure functions. Called by report/.
 */
#ifndef CUDAL2_ANALYSIS_BY_TIME_H
#define CUDAL2_ANALYSIS_BY_TIME_H

#include <stddef.h>

/* A mean over shapes says little of the time a program takes: short launches are many, and long ones take it. */
#define TIME_CLASSES 6

struct time_class {
    const char *name;
    double from_ns, to_ns; /* from included, to not */
};
extern const struct time_class time_classes[TIME_CLASSES];

/* Index of the class; TIME_CLASSES for a time that is not above 0. */
size_t time_class_of(double ns);

/* One shape: the reference's time, the candidate's speedup over it (a ratio minus 1), and the least time that
 * arithmetic and memory allow (NaN: not known). */
struct timed_lead {
    double reference_ns, lead, floor_ns;
};

/* Of the shapes of a class. NaN where nothing is known; times only count where both are. */
struct by_time {
    size_t n, wins;
    double geomean;         /* over the shapes, a ratio minus 1 */
    double weighted;        /* sum of the reference's times over that of the candidate's, minus 1 */
    double candidate_floor; /* sum of the floors over that of the times, 0 to 1 */
    double reference_floor;
};

/* The candidate's time is the reference's over 1 + lead, so that it is the estimate that tables show. Shapes of one
 * class of the reference's time, or of all with TIME_CLASSES. */
void by_time_of(const struct timed_lead *leads, size_t n, size_t class, struct by_time *out);

/* Single launches of one contender in one cell. */
struct launch_times {
    double n, p50_ns, p95_ns, p99_ns; /* NaN: not known */
};

struct launch_pair {
    struct launch_times reference, candidate;
};

/* Over cells, geometric means: the candidate's lead at each percentile, and how much slower than its median a
 * launch is at the 99th. NaN where no cell knows both. */
struct launch_tails {
    size_t n;                /* cells with both medians */
    double launches, fewest; /* of the candidate: in all, and in the cell that has the fewest */
    double lead_p50, lead_p95, lead_p99;
    double candidate_tail, reference_tail; /* p99 over p50, minus 1 */
};
void launch_tails_of(const struct launch_pair *pairs, size_t n, struct launch_tails *out);

#endif
