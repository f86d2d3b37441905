/*
 * peers.h - jobs of other servers, whose --output directories lie in one directory that all of them reach: what any of
 * them was given, every one can tell. Only reads, and holds no lock for longer than a look.
 */
#ifndef CUDAL2_SERVE_PEERS_H
#define CUDAL2_SERVE_PEERS_H

#include "serve/store.h"

struct peer_job {
    char *submission; /* owned; its content, as submission_to_json has it */
    char *outcome;    /* owned; NULL: it is not done */
    bool at_work;     /* its server runs */
};

/* Whether a server of `directory` other than the one that keeps `own` has this client's job; *out is to be freed then.
 * Of several, one that is done before one that is at work. */
bool peers_find(const char *directory, const struct store *own, const char *client, const char *id,
                struct peer_job *out);
void peer_job_free(struct peer_job *job);

#endif
