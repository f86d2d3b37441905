/*
 * optional.c - who of a config's contenders may be left out where this machine cannot run them: its `optional`, and
 * every default. Who is named and not optional must be measured somewhere, or the run's exit code says so. Called by
 * contenders.c, write.c and run/named.c.
 */
#include "config/config.h"
#include "config/fields.h"

#include <string.h>

static int place_of(char *const names[], const char *name)
{
    for (int i = 0; names[i]; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

static int add(struct json_at at, const char *name, struct config *c, struct error *err)
{
    int baseline = place_of(c->baselines, name), candidate = place_of(c->candidates, name);
    if (baseline < 0 && candidate < 0)
        return json_fail(at, err, "\"%.60s\" is neither a baseline nor a candidate of this config", name);
    if (baseline >= 0)
        c->optional_baselines |= CUDAL2_BIT(baseline);
    if (candidate >= 0)
        c->optional_candidates |= CUDAL2_BIT(candidate);
    return 0;
}

static int read_one(struct json_at at, struct config *c, struct error *err)
{
    const char *name;
    return json_read_string(at, &name, err) ? err->code : add(at, name, c, err);
}

void config_read_optional(struct json_at root, struct config *c, struct faults *faults)
{
    struct json_at element, at = json_member(root, "optional");
    const cJSON *node = NULL;
    struct error err;
    int count, index;
    if (!at.node || !faults_none(faults, json_read_array(at, 0, &count, &err), &err))
        return;
    while (json_each(at, &node, &index, &element))
        faults_none(faults, read_one(element, c, &err), &err);
}

bool config_is_optional(const struct config *c, const char *name)
{
    int baseline = place_of(c->baselines, name), candidate = place_of(c->candidates, name);
    return (baseline >= 0 && (c->optional_baselines & CUDAL2_BIT(baseline))) ||
           (candidate >= 0 && (c->optional_candidates & CUDAL2_BIT(candidate)));
}

void config_put_optional(cJSON *root, const struct config *c)
{
    char *const *const lists[] = {c->baselines, c->candidates};
    cJSON *array = cJSON_CreateArray();
    for (int list = 0; list < 2; list++)
        for (int i = 0; lists[list][i]; i++)
            if (config_is_optional(c, lists[list][i]))
                cJSON_AddItemToArray(array, cJSON_CreateString(lists[list][i]));
    if (cJSON_GetArraySize(array) > 0)
        cJSON_AddItemToObject(root, "optional", array);
    else
        cJSON_Delete(array);
}
