/*
 * trial.h - goes on in a child process that plugins may take with them: the parent watches, and starts another child
 * without the plugin that was being loaded when the last one died.
 */
#ifndef CUDAL2_CLI_TRIAL_H
#define CUDAL2_CLI_TRIAL_H

#include "run/death.h"
#include "contender/contender.h"

#include <sys/types.h>

#define TRIAL_MAX_REFUSED 64

struct trial {
    double seconds; /* a plugin may take to load */
    int pipe;       /* in the child: where the plugin's name goes */
    size_t n_refused;
    struct plugin_refusal refused[TRIAL_MAX_REFUSED];
    char names[TRIAL_MAX_REFUSED][CONTENDER_NAME_MAX], reasons[TRIAL_MAX_REFUSED][DEATH_REASON_MAX];
};

/* Returns in the child with *child true, to go on with trial_watch's request; and once in the parent with *child false,
 * when a child has ended by itself, with its exit code (which has been explained). EXIT_CODE_UNAVAILABLE when no child
 * can be started or one dies of nobody's doing. */
int trial_fork(struct trial *trial, bool *child, struct error *err);

/* Fills in the request's `loading` and `refused`. */
void trial_watch(const struct trial *trial, struct registry_request *request);

#endif
