/*
 * grow.c - doubles an array that is full. Relies on nothing. Called wherever lists are gathered one by one.
 */
#include "base/grow.h"

#include <stdlib.h>

#define FIRST_CAPACITY 64

void *grow_for_one(void *array, size_t n, size_t *capacity, size_t each)
{
    if (n < *capacity)
        return array;
    size_t wanted = *capacity ? 2 * *capacity : FIRST_CAPACITY;
    void *grown = realloc(array, wanted * each);
    if (grown)
        *capacity = wanted;
    return grown;
}
