/*
 * stamp.h - when something began, kept while a stranger's code runs in this process. The stack above that code can be
 * searched for values that look like a time of just now, and they be moved. The stamp that counts looks like none; the
 * one that looks like it is there to be compared. (Who knows this file can move both: docs/trust.md.)
 */
#ifndef CUDAL2_BASE_STAMP_H
#define CUDAL2_BASE_STAMP_H

#include <stdbool.h>
#include <stdint.h>

#define STAMP_MOVED "tamper_suspected: the stamp of when a launch began was changed while it ran"

struct stamp {
    uint64_t mask, masked; /* the one that counts */
    uint64_t shown;
};

/* Reads clock_now_ns() last of all. */
void stamp_take(struct stamp *stamp);

/* ns from the stamp to end_ns of clock_now_ns(), in *ns; false: it was changed in between. */
bool stamp_until(const volatile struct stamp *stamp, uint64_t end_ns, double *ns);

#endif
