/*
 * series_text.h - times as a short string, "<step>:<shortest>:<digits>": the step in ns, the shortest time in steps,
 * then for each time the steps it exceeds the shortest by, in base-64 VLQ.
 *
 * VLQ: a number is cut into groups of 5 bits, the lowest first; each group is one character of A-Z a-z 0-9 + / (values
 * 0 to 63), to which 32 is added where another group follows. Small numbers need one character and no separator.
 */
#ifndef CUDAL2_RECORD_SERIES_TEXT_H
#define CUDAL2_RECORD_SERIES_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#define SERIES_TIME_MAX 1e15 /* ns */

/* The step for times of which this is the shortest, in tenths of a nanosecond: the largest of 1, 2, 5, 10, 20, ... that
 * is at most 1/5000 of it, and at least 1. So rounding changes no time above 0.5 us by more than 0.01%. */
double series_step_tenths(double shortest_ns);

/* A string owned by the caller, NULL out of memory. step_tenths 0: what series_step_tenths says. Times are rounded to
 * steps; reading and writing again changes nothing. */
char *series_text_write(const double *ns, size_t n, double step_tenths);

/* Reading, value by value. */
struct series_text {
    const char *rest;
    double tenths, shortest;
};
/* False when the step or the shortest time is malformed. `text` must outlive *out. */
bool series_text_open(const char *text, struct series_text *out);
/* 1 and the next time in *ns, 0 at the end, -1 at a character that does not belong there or a time above the limit. */
int series_text_next(struct series_text *t, double *ns);

#endif
