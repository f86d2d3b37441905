/*
 * api_gym.h - the requests that KernelGYM's clients send: /evaluate, /evaluate/batch, /status, /results. Private to
 * api.c.
 */
#ifndef CUDAL2_SERVE_API_GYM_H
#define CUDAL2_SERVE_API_GYM_H

#include "serve/api.h"

#define API_GYM_BATCH 100 /* tasks of a batch, as KernelGYM has it */

/* Waits for the outcome, as KernelGYM does; what is not done by then is asked for at /results. */
void api_gym_evaluate(struct server *server, const struct api_request *request, struct api_reply *out);

/* The same for all tasks of a batch. Each stands for itself: one that is refused is a failed one of the answer. */
void api_gym_batch(struct server *server, const struct api_request *request, struct api_reply *out);

/* How far a task is, when it is done or after `seconds`. */
void api_gym_look(struct server *server, const struct api_request *request, const char *task, double seconds,
                  struct api_reply *out);

#endif
