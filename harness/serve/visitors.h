/*
 * visitors.h - the connections of a server that have not asked for anything yet: whoever takes too long to say what he
 * wants, byte by byte, is shown out, for there are so many connections and no more. Called by http.c.
 */
#ifndef CUDAL2_SERVE_VISITORS_H
#define CUDAL2_SERVE_VISITORS_H

#include <stdint.h>

#include "base/error.h"

#define VISITORS_SECONDS 60.0 /* from the connection, or its last reply, to the end of a request's headers */

struct visitors; /* all of them, and the thread that looks after them */
struct visitor;  /* one connection */

int visitors_open(struct visitors **out, struct error *err);
/* All must have left. NULL: nothing. */
void visitors_close(struct visitors *v);

/* A connection on this socket, which stays open until visitors_leave. NULL out of memory: nobody watches it. */
struct visitor *visitors_come(struct visitors *v, int socket, uint64_t now_ns);
void visitors_leave(struct visitors *v, struct visitor *who);

/* It has asked: no hurry until it has been answered. NULL: nobody. */
void visitors_asked(struct visitors *v, struct visitor *who);
void visitors_answered(struct visitors *v, struct visitor *who, uint64_t now_ns);

/* Shuts the sockets of those whose time is up; how many. The thread calls it every few seconds. */
unsigned visitors_show_out(struct visitors *v, uint64_t now_ns);

#endif
