/*
 * screen_seen.h - names of contenders, each once. Private to screen*.c.
 */
#ifndef CUDAL2_REPORT_SCREEN_SEEN_H
#define CUDAL2_REPORT_SCREEN_SEEN_H

#include <stdbool.h>
#include <stddef.h>

#include "record/record.h"

struct seen {
    const char *names[RECORD_MAX_CONTENDERS]; /* borrowed */
    size_t n;
};

/* Whether the name is met for the first time; it is kept then. Beyond RECORD_MAX_CONTENDERS names none is new. */
bool seen_first(struct seen *seen, const char *name);

#endif
