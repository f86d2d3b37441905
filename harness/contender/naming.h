/*
 * naming.h - which names strangers' files may give their contenders, so that no reader takes one for another. Called by
 * registry.c.
 */
#ifndef CUDAL2_CONTENDER_NAMING_H
#define CUDAL2_CONTENDER_NAMING_H

#include "abi/contender.h"
#include "contender/contender.h"

/* Of n contenders the one of this name, NULL: none. Case does not count: names are keys of the result, and no object
 * may have keys that differ in nothing else. */
const struct contender *naming_called(const struct contender *list, size_t n, const char *name);

/* Changes a name that one of them has ("x~2"). */
void naming_apart(const struct contender *list, size_t n, char name[CONTENDER_NAME_MAX]);

/* Whether a file's contender takes a word of the tables ("x-max", "strongest"), the name of one of them, or the family
 * of one in another role: it would count in a baseline's -max. `reason` says so. */
bool naming_is_wrong(const struct contender *list, size_t n, const struct contender *c, char reason[CUDAL2_WHY]);

#endif
