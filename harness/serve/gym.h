/*
 * gym.h - KernelGYM's /evaluate: its request read as a submission, an outcome written as its response. What it has and
 * this server cannot use (trials) is passed over; what this server needs, a submission without its source, stands in
 * the member "cudal2", or in the text of reference_code from its first '{' on. Pure.
 */
#ifndef CUDAL2_SERVE_GYM_H
#define CUDAL2_SERVE_GYM_H

#include "serve/submission.h"

#define GYM_TASK_MAX 101

struct gym_request {
    struct submission submission;
    char task[GYM_TASK_MAX];
    double timeout_seconds; /* of the answer, the queue included */
};

/* EXIT_CODE_DATA with the JSON path. *out is to be freed (its submission) only after success. */
int gym_read(struct json_at at, const struct submission_rules *rules, struct gym_request *out, struct error *err);

/* The response for a task that was refused. */
cJSON *gym_refusal(const char *task, const char *why);

/* The response for a batch. Takes the array of its tasks' responses over; NULL out of memory. */
cJSON *gym_batch_response(const char *batch, cJSON *results);

/* The response for a job in this state; outcome is NULL until it is done. Owned by the caller; NULL out of memory. */
cJSON *gym_response(const char *task, const char *state, const cJSON *outcome);

#endif
