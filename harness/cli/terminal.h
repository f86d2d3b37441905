/*
 * terminal.h - what may be sent to a stream besides text.
 */
#ifndef CUDAL2_CLI_TERMINAL_H
#define CUDAL2_CLI_TERMINAL_H

#include <stdbool.h>

/* A terminal that moves its cursor: not TERM=dumb. */
bool terminal_is_live(int fd);

/* Colour on a live terminal, unless NO_COLOR is set to something (an empty one counts for nothing: no-color.org). */
bool terminal_has_colour(int fd);

#endif
