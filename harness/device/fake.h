/*
 * fake.h - a device with a scripted clock: tests decide how long each launch takes, and no real time passes. Memory is
 * host memory; fills, the reference product and comparison are real, so a contender that computes in its launch hook
 * can be verified as on the CPU. Launch hooks are called again at every measure (a graph's replay), always on the
 * caller's thread.
 */
#ifndef CUDAL2_DEVICE_FAKE_H
#define CUDAL2_DEVICE_FAKE_H

#include "device/device.h"

/* Id of a launch whose hook did not call fake_enqueue. */
#define FAKE_UNKNOWN UINT32_MAX
#define FAKE_NULL (UINT32_MAX - 1)  /* the empty kernel of a segment without work */
#define FAKE_PLAIN (UINT32_MAX - 2) /* the plain kernel of a chain */

/* One piece of GPU work at the moment it starts. */
struct fake_moment {
    uint32_t id;        /* as given to fake_enqueue */
    const void *work;   /* device_work.context, NULL for the empty kernel */
    uint64_t count;     /* pieces of work before this one on the device */
    enum timing timing; /* how it is being timed */
    bool timed;         /* false for warm-up, primers and replays before the first measure */
    double idle_ns;     /* how long the device had been idle; 0 behind other work */
    uint64_t now_ns;
};

/* Zeroed fields mean nothing extra. Copied by fake_open; the context must outlive the device. */
struct fake_script {
    double (*duration_ns)(void *context, const struct fake_moment *moment); /* NULL: 1000 ns each */
    void *context;
    double launch_ns;      /* host cost of one launch: seen by event and wall */
    double sync_ns;        /* host cost of a synchronise: seen by wall */
    double hand_over_ns;   /* the host hands the rest of a graph over so long after its start: in the device timing of
                            * what has no primers, unless it is held */
    bool holds;            /* info.holds */
    uint32_t timings;      /* bits of enum timing it can take; 0: all */
    uint64_t memory_bytes; /* what memory_free reports and alloc grants in total; 0: 1 GiB */
};

/* The device calls itself "fake", cc 90, 132 SMs, on CUDAL2_ON_CUDA; tests may write other values into info. */
int fake_open(const struct fake_script *script, struct device **out, struct error *err);

/* From inside a launch hook: one piece of work of this id. */
void fake_enqueue(struct device *d, uint32_t id);

/* From now on every operation fails with EXIT_CODE_UNAVAILABLE, as after a sticky CUDA error. */
void fake_break(struct device *d, const char *reason);

/* Reported by health from now on. */
void fake_set_health(struct device *d, const struct device_health *health);

/* Bytes that are allocated and not yet released; operations counted since the device was opened. */
size_t fake_bytes_in_use(const struct device *d);
struct fake_counts {
    uint64_t fills, flushes, prepares, measures, events, walls;
    uint64_t syncs, allocs, healths, throttles;
    uint64_t live_segments;
};
struct fake_counts fake_counts(const struct device *d);

#endif
