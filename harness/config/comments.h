/*
 * comments.h - what a config may have that JSON has not: comments, from // to the end of the line or between the two
 * marks that C has, and a comma behind the last of a list, so that a line can be commented out. No other file of this
 * project may have either. Used by config.c before it parses.
 */
#ifndef CUDAL2_CONFIG_COMMENTS_H
#define CUDAL2_CONFIG_COMMENTS_H

#include "base/error.h"

#include <stddef.h>

/* Makes spaces of both wherever they are outside a string, so that lines and columns stay what they are. EXIT_CODE_DATA
 * for a comment that never ends: "source: line 3: the comment has no end". */
int comments_blank(char *text, size_t length, const char *source, struct error *err);

#endif
