/*
 * relay.h - what a process that runs code of strangers writes to its output: it gets a pipe in place of our terminal
 * or file, and what it writes there is passed on as lines with nothing in them that a terminal obeys, up to a bound.
 * Called by run/process.c and cli/plugin_isolation.c.
 */
#ifndef CUDAL2_BASE_RELAY_H
#define CUDAL2_BASE_RELAY_H

#include <stddef.h>

#define RELAY_LINE 2048
#define RELAY_MOST (256u << 10) /* bytes; the rest is read and left out, and a line says so */

struct relay {
    int fd;             /* our end, non-blocking; 0: none, or all of it has come */
    int to;             /* descriptor that lines go to */
    const char *before; /* what each line begins with */
    size_t passed, held;
    char line[RELAY_LINE]; /* that has not ended yet */
};

/* Returns the other end, closed on exec and above the standard descriptors; -1 and errno where there is none. */
int relay_open(struct relay *r, int to, const char *before);
/* What to wait for; -1: nothing comes any more. */
int relay_wait_fd(const struct relay *r);
/* Passes on what is there by now, without waiting. */
void relay_pass(struct relay *r);
/* The same, with a line that has not ended, and closes our end. */
void relay_close(struct relay *r);

#endif
