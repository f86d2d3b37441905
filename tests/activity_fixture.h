/* Logs of watched launches that a test makes itself. Used by test_activity.c and test_activity_judge.c. */
#ifndef ACTIVITY_FIXTURE_H
#define ACTIVITY_FIXTURE_H

#include <stdio.h>

#include "verify/activity.h"

#define OWN 13u
#define OTHER 14u

/* The stream lets go at 100 us and goes on at 200 us; the host has waited until 300 us. */
static inline struct watched bracketed(void)
{
    return (struct watched){
        .complete = true, .held = true, .stream = OWN, .opened_ns = 100000, .closed_ns = 200000, .returned_ns = 300000};
}

static inline void add(struct watched *w, uint32_t stream, uint64_t start, uint64_t end)
{
    struct activity *a = &w->log.list[w->log.n++];
    *a = (struct activity){.kind = ACTIVITY_KERNEL, .stream = stream, .start_ns = start, .end_ns = end};
    snprintf(a->name, sizeof a->name, "gemm");
}

static const struct activity_claim no_claim = {.timed_ns = 0};

#endif
