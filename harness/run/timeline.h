/*
 * timeline.h - where a run's time went: its parts one after the other (cells are measured, launches are watched), and
 * in each what every worker did meanwhile.
 */
#ifndef CUDAL2_RUN_TIMELINE_H
#define CUDAL2_RUN_TIMELINE_H

#include "run/crew.h"

struct timeline {
    uint64_t began_ns, marked_ns; /* the run, the part that is going on */
    cJSON *parts;                 /* owned */
};

void timeline_begin(struct timeline *t);

/* A part has ended: takes over what its workers spent, so that the next part begins with nothing. */
void timeline_add(struct timeline *t, const char *name, struct crew *crew);
/* The next part begins now. */
void timeline_mark(struct timeline *t);

/* {"seconds", "parts": [{"part", "seconds", "workers": [{"device", "start", "work", "idle", "quit"}]}]}: owned by the
 * caller; NULL where there is no part. */
cJSON *timeline_finish(struct timeline *t);

/* The same in a line: of each part the mean over its workers. */
void timeline_say(const cJSON *finished, char *line, size_t capacity);

#endif
