/*
 * waits.h - how many requests wait for an outcome, of each client and of all: long polls, streams of events,
 * KernelGYM's evaluations. Each holds a connection of the transport, of which there are so many and no more. Holds no
 * lock: the server does.
 */
#ifndef CUDAL2_SERVE_WAITS_H
#define CUDAL2_SERVE_WAITS_H

#include <stdbool.h>
#include <stddef.h>

#include "serve/jobs.h"

#define WAITS_OF_ONE 128u /* of a client at most, */
#define WAITS_OF_ALL 384u /* and of all: of the transport's 512 connections the others are for who asks and goes */

/* All zero: nobody waits. */
struct waits {
    struct waiting_client {
        char name[JOBS_CLIENT_MAX];
        size_t n; /* never 0 */
    } list[WAITS_OF_ALL];
    size_t n_clients, all;
};

/* One more of this client; false: there is no room, and nothing was counted. */
bool waits_begin(struct waits *w, const char *client);
/* One less. */
void waits_end(struct waits *w, const char *client);

#endif
