/*
 * visitors.h - the connections of a server that have not asked for anything yet: whoever takes too long to say what he
 * wants, byte by byte, is shown out, and sooner when others need the place, for there are so many connections and no
 * more. Called by http.c.
 */
#ifndef CUDAL2_SERVE_VISITORS_H
#define CUDAL2_SERVE_VISITORS_H

#include <stdint.h>

#include "base/error.h"

#define VISITORS_SECONDS 60.0 /* from the connection, or its last reply, to a request's head, and on to its end */
#define VISITORS_PLACES 384   /* when more have come, the one that has been idle for longest is shown out, */
#define VISITORS_IDLE 64      /* while more than these are: where many wait for answers, a newcomer has time to ask */

struct visitors; /* all of them, and the thread that looks after them */
struct visitor;  /* one connection */

int visitors_open(struct visitors **out, struct error *err);
/* All must have left. NULL: nothing. */
void visitors_close(struct visitors *v);

/* A connection on this socket, which stays open until visitors_leave; another one may be shown out for it. NULL out of
 * memory: nobody watches it. */
struct visitor *visitors_come(struct visitors *v, int socket, uint64_t now_ns);
void visitors_leave(struct visitors *v, struct visitor *who);

/* It has sent a request's head, or been answered: its time for what comes next begins. NULL: nobody, here and below. */
void visitors_next(struct visitors *v, struct visitor *who, uint64_t now_ns);
/* It has asked, to the last byte: no hurry until it has been answered. */
void visitors_asked(struct visitors *v, struct visitor *who);

/* Shuts the sockets of those whose time is up; how many. The thread calls it every few seconds. */
unsigned visitors_show_out(struct visitors *v, uint64_t now_ns);

#endif
