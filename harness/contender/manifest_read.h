/*
 * manifest_read.h - pieces of reading a manifest. Shared by manifest.c and manifest_arguments.c only.
 */
#ifndef CUDAL2_CONTENDER_MANIFEST_READ_H
#define CUDAL2_CONTENDER_MANIFEST_READ_H

#include "contender/manifest.h"

/* A number, or a string with an expression. */
int manifest_read_expr(struct json_at at, struct expr **out, struct error *err);
/* The array "arguments", into m->arguments. */
int manifest_read_arguments(struct json_at at, struct manifest *m, struct error *err);

#endif
