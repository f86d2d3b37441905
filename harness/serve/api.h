/*
 * api.h - the protocol without its transport: a request in, a reply out. docs/serve.md has the table of paths. Called
 * by http.c, tests and the fuzzer.
 */
#ifndef CUDAL2_SERVE_API_H
#define CUDAL2_SERVE_API_H

#include "serve/events.h"
#include "serve/server.h"

#define API_WAIT_SECONDS 300 /* a request waits no longer for an outcome */

struct api_request {
    const char *method, *path; /* path without the query */
    const char *client;        /* who asks; NULL: nobody that is known (only /health answers) */
    const char *wait;          /* value of ?wait=, or NULL */
    const char *body;          /* NUL-terminated */
    size_t length;
    bool (*gone)(const void *connection); /* the client has left; NULL: nobody can tell */
    const void *connection;
};

struct api_reply {
    int status;
    const char *type;      /* of the body */
    char *body;            /* owned */
    struct events *events; /* owned; in place of a body, sent as they come */
};

/* Always gives a reply; without events its body is NULL only out of memory. */
void api_handle(struct server *server, const struct api_request *request, struct api_reply *out);
void api_reply_free(struct api_reply *reply);

/* The request's body as JSON, at most 8 MiB; *out is the caller's. EXIT_CODE_DATA. */
int api_parse(const struct api_request *request, cJSON **out, struct error *err);

/* So many seconds, while the client of the request is there. */
struct server_wait api_wait(const struct api_request *request, double seconds);

/* The tree, taken over, with the status; 500 for NULL. */
void api_answer(int status, cJSON *tree, struct api_reply *out);

/* {"error": "..."} with the status. */
void api_refuse(int status, const char *why, struct api_reply *out);

#endif
