/*
 * kept.h - what is kept on disk of a compilation: the cubin, and the log with the line that names its instructions.
 * Shared by compile.c and binary.c.
 */
#ifndef CUDAL2_COMPILE_KEPT_H
#define CUDAL2_COMPILE_KEPT_H

#include "compile/compile.h"

#define KEPT_FORM "instructions 1" /* part of each key: an older entry lacks what is read from it */

/* Fills cubin, length and log by out->key; false: there is none, and nothing is owned. */
bool kept_get(struct compile_result *out);
/* Failure is none: what is not kept is made again. */
void kept_put(const struct compile_result *out);
/* Adds the line of compile_instructions_of to the log (NULL: ""). */
int kept_note(char **log, const char *ptx, struct error *err);
/* out->hash, of the cubin. */
void kept_hash(struct compile_result *out);

#endif
