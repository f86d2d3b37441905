/*
 * grow.h - room for one more element in an array that is kept with its number of elements and its capacity.
 */
#ifndef CUDAL2_BASE_GROW_H
#define CUDAL2_BASE_GROW_H

#include <stddef.h>

/* The array, or a larger one in its place, with room for an element behind its first `n`; `each` is the size of one.
 * NULL: no memory, and all is as it was. The caller owns it as it owned the array (free). */
void *grow_for_one(void *array, size_t n, size_t *capacity, size_t each);

#endif
