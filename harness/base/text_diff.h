/*
 * text_diff.h - two texts that differ, short enough for one line.
 */
#ifndef CUDAL2_BASE_TEXT_DIFF_H
#define CUDAL2_BASE_TEXT_DIFF_H

#include <stddef.h>

/* Both as they are where they fit into `capacity` bytes (at least 16); else what both show begins early enough to hold
 * the first difference, with "..." for what is left out on either side. UTF-8 characters stay whole. */
void text_diff(const char *a, const char *b, size_t capacity, char *out_a, char *out_b);

#endif
