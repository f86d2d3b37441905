/*
 * skew.h - clocks of hosts that do not agree, as the dates in a shard's journal show them. Times that were measured are
 * of each host's monotonic clock and do not suffer; dates are for people.
 */
#ifndef CUDAL2_GATHER_SKEW_H
#define CUDAL2_GATHER_SKEW_H

#include <stdbool.h>

#define SKEW_SECONDS 60 /* that a clock may be off before anybody is told */
#define SKEW_TEXT 24    /* "2026-01-31T12:00:00Z" */

/* One journal's dates, in its order. Set to 0 before the first. */
struct skew {
    char latest[SKEW_TEXT];
    bool told; /* once for a journal is enough */
};

/* Takes the next date; `now` is this host's. Returns what is wrong, a constant in words, or NULL: it lies more than
 * SKEW_SECONDS before the one ahead of it in the journal, or after now. What is no date is passed over. */
const char *skew_see(struct skew *skew, const char *date, const char *now);

#endif
