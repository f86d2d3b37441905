/*
 * screen_seen.h - names of contenders, each once, and what is told of each over all of its cells. Private to screen*.c.
 */
#ifndef CUDAL2_REPORT_SCREEN_SEEN_H
#define CUDAL2_REPORT_SCREEN_SEEN_H

#include <stdbool.h>
#include <stddef.h>

#include "record/record.h"
#include "report/screen_rows.h"

struct seen {
    const char *names[RECORD_MAX_CONTENDERS]; /* borrowed */
    size_t n;
};

/* Whether the name is met for the first time; it is kept then. Beyond RECORD_MAX_CONTENDERS names none is new. */
bool seen_first(struct seen *seen, const char *name);

struct screen_remark {
    const char *heading, *unit;                        /* "times" */
    double (*value)(const struct result_contender *c); /* below 0: this cell tells nothing */
};

/* The heading, and a line for each contender: the least and the most, and in how many cells. Nothing where none is
 * told. */
void screen_remark(struct screen *screen, const struct screen_remark *remark);

#endif
