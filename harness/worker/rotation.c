/*
 * rotation.c - says in a cell's record whether rotating operands kept them out of the cache: sets, bytes, cache, and
 * why not. Relies on the bench's sets and the device's cache size. Called by cell.c.
 */
#include "worker/rotation.h"

#include "measure/segment.h"

/* Launches this long follow one another on one set (measure/segment.c). */
static bool has_long_launches(const struct bench *bench)
{
    for (size_t i = 0; i < bench->n_entrants; i++)
        if (bench->entrants[i].estimate_ns >= SEGMENT_TARGET_NS)
            return true;
    return false;
}

cJSON *rotation_of(const struct bench *bench)
{
    double set = problem_bytes(&bench->problem), cache = (double)bench->device->info.l2_bytes;
    double sets = (double)bench->sets_each, between = (sets - 1) * set;
    const char *state = "full", *reason = "";
    if (bench->config->cache[bench->mode] != CACHE_ROTATE)
        return NULL;
    if (set >= 2 * cache) { /* a launch drives its own operands out */
        reason = "";
    } else if (has_long_launches(bench)) {
        state = "none";
        reason = "launches of 200 us and more follow one another on one set";
    } else if (between < cache) {
        state = sets > 1 ? "partial" : "none";
        reason = "the most sets that a contender may have hold less than the cache";
    }
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "rotation", state);
    json_put_number(object, "sets", sets);
    json_put_number(object, "bytes", sets * set);
    json_put_number(object, "cache_bytes", cache);
    if (reason[0])
        cJSON_AddStringToObject(object, "reason", reason);
    return object;
}
