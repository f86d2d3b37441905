/*
 * clients.h - who may use the server: a file of names and bearer tokens.
 */
#ifndef CUDAL2_SERVE_CLIENTS_H
#define CUDAL2_SERVE_CLIENTS_H

#include "base/error.h"
#include "serve/jobs.h"

#define CLIENT_TOKEN_MAX 128
#define CLIENT_TOKEN_MIN 16

struct clients {
    struct client {
        char name[JOBS_CLIENT_MAX];
        char token[CLIENT_TOKEN_MAX + 1];
    } * list; /* owned */
    size_t n;
};

/* Lines "NAME TOKEN"; empty ones and those that begin with '#' are passed over. A file that others may read is refused:
 * EXIT_CODE_DATA with file and line. */
int clients_read(const char *path, struct clients *out, struct error *err);
void clients_free(struct clients *c);

/* The name behind a header "Bearer TOKEN"; NULL for a token that nobody has, and for none. Takes equally long wherever
 * the tokens differ. */
const char *clients_find(const struct clients *c, const char *authorization);

#endif
