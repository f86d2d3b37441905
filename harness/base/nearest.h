/*
 * nearest.h - "did you mean": the known word that a misspelt one is closest to. Called by json.c for keys, by cli/ for
 * options, commands and names, and by serve/submission.c.
 */
#ifndef CUDAL2_BASE_NEAREST_H
#define CUDAL2_BASE_NEAREST_H

#include <stddef.h>

#define NEAREST_WORD_MAX 64 /* longer words have no near miss */

/* The word of names[0..count) that is at most two edits away (a letter changed, added or left out, two neighbours
 * swapped, a letter in the wrong case; a quarter of the letters in long words), or that begins with `word` of three
 * letters or more. NULL when none is near. Entries may be NULL. */
const char *nearest_name(const char *word, const char *const names[], size_t count);

#endif
