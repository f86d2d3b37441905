/*
 * terminal.h - what may be sent to a stream besides text.
 */
#ifndef CUDAL2_CLI_TERMINAL_H
#define CUDAL2_CLI_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

/* A terminal that moves its cursor: not TERM=dumb. */
bool terminal_is_live(int fd);

/* Colour on a live terminal, unless NO_COLOR is set to something (an empty one counts for nothing: no-color.org). */
bool terminal_has_colour(int fd);

/* How wide a table on standard output may be. COLUMNS goes before what the terminal says, as with other programs. 0, no
 * limit, where there is neither: a file has room, and whoever reads it later cannot ask for more. */
unsigned terminal_columns(void);

/* One line: what is ours, then words from outside, of which what does harm (base/plain.h) is written out. */
void terminal_say(FILE *out, const char *ours, const char *words);

#endif
