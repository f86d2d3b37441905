/*
 * manifest_values.c - parameter values of a variant and the key that names them, both ways. Relies on manifest.c.
 * Called by module_set.c and choice/.
 */
#include "contender/manifest.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool manifest_value_listed(const struct manifest_parameter *p, int64_t value)
{
    for (size_t i = 0; i < p->n_values; i++)
        if (p->values[i] == value)
            return true;
    return false;
}

void manifest_defaults(const struct manifest *m, int64_t *values)
{
    for (size_t i = 0; i < m->n_parameters; i++)
        values[i] = m->parameters[i].fallback;
}

int manifest_find_parameter(const struct manifest *m, const char *name, size_t length)
{
    for (size_t i = 0; i < m->n_parameters; i++)
        if (strlen(m->parameters[i].name) == length && strncmp(m->parameters[i].name, name, length) == 0)
            return (int)i;
    return -1;
}

int manifest_read_values(const struct manifest *m, struct json_at at, int64_t *values, struct error *err)
{
    manifest_defaults(m, values);
    if (!at.node)
        return 0;
    if (!cJSON_IsObject(at.node))
        return json_fail(at, err, "expected an object of parameter values");
    for (const cJSON *child = at.node->child; child; child = child->next) {
        struct json_at member = json_member(at, child->string);
        int index = manifest_find_parameter(m, child->string, strlen(child->string));
        if (index < 0)
            return json_fail(member, err, "kernel %s has no parameter of this name", m->name);
        if (json_read_int(member, INT32_MIN, INT32_MAX, &values[index], err) != 0)
            return err->code;
        if (!manifest_value_listed(&m->parameters[index], values[index]))
            return json_fail(member, err, "%lld is not among the values of kernel %s", (long long)values[index],
                             m->name);
    }
    return 0;
}

int manifest_key(const struct manifest *m, const int64_t *values, char *out, size_t capacity)
{
    int used = snprintf(out, capacity, "%s", m->name);
    for (size_t i = 0; i < m->n_parameters && used >= 0 && (size_t)used < capacity; i++)
        used += snprintf(out + used, capacity - (size_t)used, "%c%s=%lld", i ? ',' : ':', m->parameters[i].name,
                         (long long)values[i]);
    return used >= 0 && (size_t)used < capacity ? 0 : -1;
}

bool manifest_parse_key(const struct manifest *m, const char *key, int64_t *values)
{
    size_t name = strlen(m->name);
    bool seen[MANIFEST_MAX_PARAMETERS] = {false};
    if (strncmp(key, m->name, name) != 0 || (key[name] != ':' && key[name] != 0))
        return false;
    manifest_defaults(m, values);
    for (const char *at = key + name; *at != 0;) {
        const char *equals = strchr(++at, '=');
        int index = equals ? manifest_find_parameter(m, at, (size_t)(equals - at)) : -1;
        char *end = NULL;
        if (index < 0 || seen[index] || !(isdigit((unsigned char)equals[1]) || equals[1] == '-'))
            return false;
        values[index] = strtoll(equals + 1, &end, 10);
        seen[index] = true;
        if (!manifest_value_listed(&m->parameters[index], values[index]) || (*end != ',' && *end != 0))
            return false;
        at = end;
    }
    return true;
}
