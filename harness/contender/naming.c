/*
 * naming.c - compares the names that a file declares with those that there are and with the tables' own words. Relies
 * on contender.h. Called by registry.c, which leaves the file out and goes on.
 */
#include "contender/naming.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

const struct contender *naming_called(const struct contender *list, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcasecmp(list[i].name, name) == 0)
            return &list[i];
    return NULL;
}

void naming_apart(const struct contender *list, size_t n, char name[CONTENDER_NAME_MAX])
{
    char stem[CONTENDER_NAME_MAX - 12];
    snprintf(stem, sizeof stem, "%.*s", (int)sizeof stem - 1, name);
    for (unsigned i = 2; naming_called(list, n, name); i++)
        snprintf(name, CONTENDER_NAME_MAX, "%s~%u", stem, i);
}

/* The faster layout of a family, and the fastest baseline. */
static bool is_reserved(const struct contender *c)
{
    size_t length = strlen(c->name);
    bool faster = !c->has_layout_suffix && length > 4 && strcasecmp(c->name + length - 4, "-max") == 0;
    return faster || strcasecmp(c->family, "strongest") == 0;
}

static const struct contender *taken_from(const struct contender *list, size_t n, const struct contender *c)
{
    const struct contender *other = naming_called(list, n, c->name);
    for (size_t i = 0; i < n && !other; i++)
        if (list[i].role != c->role && strcasecmp(list[i].family, c->family) == 0)
            other = &list[i];
    return other;
}

bool naming_is_wrong(const struct contender *list, size_t n, const struct contender *c, char reason[CUDAL2_WHY])
{
    const struct contender *other = taken_from(list, n, c);
    bool reserved = is_reserved(c);
    if (reserved)
        snprintf(reason, CUDAL2_WHY, "it calls a contender \"%s\", which tables say of others: rename it", c->name);
    else if (other)
        snprintf(reason, CUDAL2_WHY, "it calls a contender \"%s\", beside another source's \"%s\": rename it", c->name,
                 other->name);
    return reserved || other;
}
