/*
 * leaving.h - workers that have been told to quit and are on their way out, while their slots have others already: what
 * libraries and driver clean up takes a quarter of a second. One for each device of a crew. Called by crew.c.
 */
#ifndef CUDAL2_RUN_LEAVING_H
#define CUDAL2_RUN_LEAVING_H

#include "run/devices.h"
#include "run/slot.h"

/* Of the task that dismissed a worker: it is told of the end, as of any other worker's (crew.h). */
struct leaving_witness {
    void (*lost)(void *context, const struct slot *slot, const struct slot_event *event); /* may be NULL */
    void *context;
};

struct leaving {
    struct slot *list; /* borrowed; without a process where nobody leaves */
    struct leaving_witness witness[DEVICES_MAX];
    uint64_t peak_bytes; /* the most memory that one of them had */
    int n;
};

/* Makes `list` n slots without a process. */
void leaving_begin(struct leaving *l, struct slot *list, int n);

/* Moves the process of a slot that has been told to quit; the slot is empty then. False, and nothing changed, where
 * another one still leaves. */
bool leaving_take(struct leaving *l, int number, struct slot *slot, const struct leaving_witness *witness);

/* Whether the last one of this device has not ended yet. */
bool leaving_still(const struct leaving *l, int number);

/* Sees who has ended, or has not in his time. */
void leaving_look(struct leaving *l);

/* Waits for all, at most as long as each has to quit; `at_once` kills them. */
void leaving_end(struct leaving *l, bool at_once);

#endif
