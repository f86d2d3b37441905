/*
 * measured.h - what was measured for each client, found again by the likeness of problems: the retrieved context of an
 * outcome. Holds no lock: server.c does.
 */
#ifndef CUDAL2_SERVE_MEASURED_H
#define CUDAL2_SERVE_MEASURED_H

#include "base/digest.h"
#include "serve/submission.h"

#define MEASURED_MOST 20000u /* pairs of kernel and problem; then the oldest goes */
#define MEASURED_NEAR 4      /* neighbours of an outcome */

struct measured_pair;

/* All zero: nothing. */
struct measured {
    struct measured_pair *pairs; /* owned; n of them */
    size_t n, capacity, oldest;
};

void measured_free(struct measured *m);

/* A job of a client. */
struct measured_job {
    const char *client, *id;
    const struct submission *submission;
};

/* Remembers each problem of the outcome that has a ratio; out of memory it is not remembered. */
void measured_add(struct measured *m, const struct measured_job *job, const cJSON *outcome);

/* The nearest problems that this client had measured against the same baseline in the same way, each with the fastest
 * kernel that it knows for it: nearest first, by the distance of log2 M, N and K from the job's first problem. Owned by
 * the caller; NULL when there are none. */
cJSON *measured_near(const struct measured *m, const struct measured_job *job);

#endif
