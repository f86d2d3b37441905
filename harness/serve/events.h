/*
 * events.h - a job's way to its outcome as a stream of server-sent events (WHATWG HTML, "Server-sent events"): what a
 * client reads in place of asking again and again. Called by api.c and http.c.
 *
 *     event: state                                            at once, at each change, and every two seconds
 *     data: {"id":"...","state":"queued","ahead":3}
 *
 *     event: outcome                                          the last one
 *     data: {"verdict":"ok",...}
 */
#ifndef CUDAL2_SERVE_EVENTS_H
#define CUDAL2_SERVE_EVENTS_H

#include "serve/server.h"

struct events;

/* The stream of a client's job; `server` must outlive it. An HTTP status: 200, 404, 429 or 500 with the line in err. */
int events_open(struct server *server, const char *client, const char *id, struct events **out, struct error *err);

/* Waits for the next event: its text, good until the next call; NULL when there is none any more, as after the outcome,
 * or when the server ends. */
const char *events_next(struct events *e);

/* Whatever has ended it. NULL: nothing. */
void events_close(struct events *e);

#endif
