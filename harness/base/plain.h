/*
 * plain.h - words from outside (names, labels, reasons, versions, paths) made one harmless line of UTF-8. What would
 * move a cursor, end a line, turn the reading order round or hide itself is written out: "\x1b", "\u202e", and
 * "\xff" for a byte that is no part of a character. Called at the door of every report and by every printer; doing it
 * twice changes nothing.
 */
#ifndef CUDAL2_BASE_PLAIN_H
#define CUDAL2_BASE_PLAIN_H

#include "base/text.h"

/* Bytes of the harmless character that begins here, 0 where there is none. */
size_t plain_length(const char *at, size_t left);

/* Bytes of what begins here, harmless or not: a whole character, or one byte that is part of none. */
size_t plain_next(const char *at, size_t left);

bool plain_is(const char *words);

/* Appends the words with what does harm written out. */
void plain_add(struct text *out, const char *words);
/* The same as a string of the caller's (free); NULL out of memory. */
char *plain_copy(const char *words);

/* The last door before a terminal: of all that does harm, only line ends and our own colours (ESC [ digits m) stay. */
void plain_for_terminal(struct text *t);

/* In place: every character that does harm becomes '?'. */
void plain_mask(char *text);

#endif
