/*
 * timing.h - how a launch can be timed: one list of names and one table of what each timing is. Whatever asks "is it
 * device time?" asks the table, so that a timing more is a line here, a row in timing.c and a way to take it.
 */
#ifndef CUDAL2_MODEL_TIMING_H
#define CUDAL2_MODEL_TIMING_H

#include "model/problem.h"

/* In the order of tables and files. Names are keys in journals and results, words of --timing, and what tables say. */
#define TIMING_LIST(X)                                                                                                 \
    X(DEVICE, "device")                                                                                                \
    X(DEVICE_ROW, "device-row")                                                                                        \
    X(EVENT, "event")                                                                                                  \
    X(WALL, "wall")

#define TIMING_ID(id, name) TIMING_##id,
enum timing { TIMING_LIST(TIMING_ID) TIMING_COUNT };
#undef TIMING_ID

/* How the time comes about (device.h): a row of launches that is prepared and timed as one, events around one launch,
 * or the host's clock around one. */
enum timing_way { TIMING_BY_SEGMENT, TIMING_BY_EVENTS, TIMING_BY_HOST };

struct timing_info {
    const char *help;    /* what the time is, for help and notes of tables; no full stop */
    uint32_t devices;    /* CUDAL2_ON_... that can take it */
    uint32_t modes;      /* bits of the modes in which it is a time of its own */
    enum timing_way way; /* also: whose clock it is. Only segments stand on a rung of the ladder */
    bool overlaps;       /* a launch may begin before the one ahead has ended, if it is made so */
    bool by_default;     /* taken unless asked otherwise; in results it is there even where it was not taken (null) */
};

extern const char *const timing_names[];        /* NULL-terminated, indexed by enum timing */
extern const char *const timing_equal_names[];  /* its key in a record, of a graph of one: "equal_path_event" */
extern const struct timing_info timing_table[]; /* indexed by enum timing */

/* What a launch may share its time with, as records of before device-row say it, and older configs. */
enum overlap { OVERLAP_NONE = 0, OVERLAP_LAUNCHES = 1 };
extern const char *const overlap_names[]; /* "none", "launches", NULL */

static inline bool timing_is_segment(enum timing timing)
{
    return timing_table[timing].way == TIMING_BY_SEGMENT;
}

/* Whether a launch by itself is timed, so that it can be that of a graph of one as well (the equal launch path). */
static inline bool timing_is_single(enum timing timing)
{
    return !timing_is_segment(timing);
}

/* Bits (CUDAL2_BIT) of the timings that a device of this CUDAL2_ON_... can take. */
uint32_t timing_bits(uint32_t device);
/* Of the timings that are taken without being asked for. */
uint32_t timing_defaults(void);
/* Whether any of these bits is timed by segments. */
bool timing_any_segment(uint32_t bits);

/* The timing that stands for `wanted` on a device that can take those of `able`, in this mode: itself, or the first in
 * order that is taken by default. */
enum timing timing_choose(enum timing wanted, uint32_t able, enum mode mode);

/* -1 where no timing has this name (NULL: none). */
int timing_find(const char *name);

/* How tables call a time of `timing` in a record whose launches could overlap though it does not say device-row. */
const char *timing_overlapping_name(const char *name);

#endif
