/*
 * plugin_isolation.h - goes on in a child process that plugins may take with them: the parent watches, and starts
 * another child without the plugin that was being loaded when the last one died.
 */
#ifndef CUDAL2_CLI_PLUGIN_ISOLATION_H
#define CUDAL2_CLI_PLUGIN_ISOLATION_H

#include "run/death.h"
#include "contender/contender.h"

#include <sys/types.h>

#define ISOLATION_MAX_REFUSED 64

struct plugin_isolation {
    double seconds;  /* a plugin may take to load */
    int pipe;        /* in the child: where the plugin's name goes */
    int printed;     /* in the child: for stdout of the parent, which plugins do not have */
    size_t children; /* that a plugin has ended */
    size_t n_refused;
    struct plugin_refusal refused[ISOLATION_MAX_REFUSED];
    char names[ISOLATION_MAX_REFUSED][CONTENDER_NAME_MAX], reasons[ISOLATION_MAX_REFUSED][DEATH_REASON_MAX];
};

/* Returns in the child with *child true, to go on with isolation_watch's request; and once in the parent with *child
 * false, when a child has ended by itself, with its exit code (which has been explained). EXIT_CODE_UNAVAILABLE when no
 * child can be started or one dies of nobody's doing. */
int isolation_fork(struct plugin_isolation *trial, bool *child, struct error *err);

/* Fills in the request's `loading` and `refused`. */
void isolation_watch(const struct plugin_isolation *trial, struct registry_request *request);

#endif
