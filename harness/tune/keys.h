/*
 * keys.h - variants' keys in the words of the kernels that are there: a table may have been written before a parameter
 * came, and leaves it out where another names its default, or name one that has gone.
 */
#ifndef CUDAL2_TUNE_KEYS_H
#define CUDAL2_TUNE_KEYS_H

#include <stdbool.h>

#include "abi/contender.h"
#include "base/error.h"

struct key_sets;

/* The kernel sets among the candidates (a config's, NULL-terminated), of which nothing is compiled and for which no
 * device is needed; what is no set, or cannot be read, is passed over. Close in every case. */
int keys_open(char *const *candidates, const char *kernel_directory, struct key_sets **out, struct error *err);
void keys_close(struct key_sets *keys);

/* The key with every parameter named, as the family's set writes it; false when no kernel of the set knows it. Of a
 * family that is no set here, as it stands: plugins name their variants as they like. `keys` may be NULL: no sets. */
bool keys_write(const struct key_sets *keys, const char *family, const char *key, struct cudal2_variant *out);

#endif
