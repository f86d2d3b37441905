/*
 * manifest_read.h - pieces of reading a manifest. Shared by manifest.c, manifest_arguments.c and manifest_maps.c only.
 */
#ifndef CUDAL2_CONTENDER_MANIFEST_READ_H
#define CUDAL2_CONTENDER_MANIFEST_READ_H

#include "contender/manifest.h"

/* A number, or a string with an expression. */
int manifest_read_expr(struct json_at at, struct expr **out, struct error *err);
/* The array "arguments", into m->arguments. */
int manifest_read_arguments(struct json_at at, struct manifest *m, struct error *err);

/* The object of a tensor map, but for its operand; *out is the manifest's, by manifest_map_free. */
int manifest_read_map(struct json_at at, struct manifest_map **out, struct error *err);
void manifest_map_free(struct manifest_map *map);
/* What of the maps in "arguments" no problem can make right, by the constants among their expressions. */
int manifest_check_constant_maps(const struct manifest *m, struct json_at at, struct error *err);

#endif
