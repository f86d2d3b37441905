/*
 * screen_seen.c - keeps the names of contenders that a list has told. Called by screen.c and screen_errors.c.
 */
#include "report/screen_seen.h"

#include <string.h>

bool seen_first(struct seen *seen, const char *name)
{
    bool found = seen->n == RECORD_MAX_CONTENDERS;
    for (size_t i = 0; i < seen->n && !found; i++)
        found = strcmp(seen->names[i], name) == 0;
    if (!found)
        seen->names[seen->n++] = name;
    return !found;
}
