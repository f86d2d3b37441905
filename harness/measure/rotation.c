/*
 * rotation.c - decides how rotating keeps operands out of the cache, by their size, by the sets in between or by
 * emptying it, and says so for the record. Relies on the bench's sets and the device's cache size. Called by segment.c
 * and cell.c.
 */
#include "measure/rotation.h"

#include <math.h>

#include "measure/segment.h"
#include "measure/timed.h"

/* A launch over this many caches of its own operands leaves none of what it begins with. */
#define OWN_CACHES 2.0

static bool is_rotated(const struct bench *bench)
{
    return bench->config->cache[bench->mode] == CACHE_ROTATE;
}

/* 0 where the device does not say. */
static double cache_bytes(const struct bench *bench)
{
    return (double)bench->device->info.l2_bytes;
}

static bool drives_itself_out(const struct bench *bench)
{
    return cache_bytes(bench) > 0 && problem_bytes(&bench->problem) >= OWN_CACHES * cache_bytes(bench);
}

static bool do_sets_suffice(const struct bench *bench, double others)
{
    return cache_bytes(bench) > 0 && others * problem_bytes(&bench->problem) >= cache_bytes(bench);
}

/* Sets that have been used since the one that is timed. Ahead of a launch that is timed by itself the contender would
 * know which set is next, and could fetch it: there the cache is emptied. */
static double sets_between(const struct bench *bench, const struct entrant *entrant, enum timing timing)
{
    const struct device_shape *shape = &entrant->row.shape; /* those beside it are as long */
    if (timing_is_segment(timing) && bench->mode != MODE_SERVER)
        return fmin((double)shape->n_sets, (double)(shape->launches + device_shape_untimed(shape))) - 1;
    return 0;
}

bool rotation_is_told(const struct bench *bench, const struct entrant *entrant)
{
    return is_rotated(bench) && entrant->row.segment != NULL &&
           bench->device->ops->rung(entrant->row.segment) != RUNG_GRAPH;
}

bool rotation_empties(const struct bench *bench, const struct entrant *entrant, enum timing timing)
{
    return is_rotated(bench) && !drives_itself_out(bench) &&
           (rotation_is_told(bench, entrant) || !do_sets_suffice(bench, sets_between(bench, entrant, timing)));
}

static void use_no_set_twice(struct device_shape *shape)
{
    unsigned sets = (unsigned)shape->n_sets;
    unsigned most = sets > SEGMENT_LEAST_PRIMERS ? sets - SEGMENT_LEAST_PRIMERS : 1;
    shape->launches = shape->launches < most ? shape->launches : most;
    shape->primers = shape->primers < sets - shape->launches ? shape->primers : sets - shape->launches;
}

void rotation_limit(const struct bench *bench, struct device_shape *shape)
{
    if (is_rotated(bench) && !drives_itself_out(bench) && !do_sets_suffice(bench, (double)shape->n_sets - 1))
        use_no_set_twice(shape);
}

void rotation_limit_told(const struct bench *bench, const struct entrant *entrant, struct device_shape *shape)
{
    if (rotation_is_told(bench, entrant) && !drives_itself_out(bench))
        use_no_set_twice(shape);
}

/* Drawn for each row: with an order that it could foresee a contender would fetch the next launch's operands in time.
 */
uint64_t rotation_order(struct bench *bench)
{
    return is_rotated(bench) ? timed_draw(bench) | 1 : 0;
}

static const char *means(const struct bench *bench)
{
    if (drives_itself_out(bench))
        return "size";
    for (size_t i = 0; i < bench->n_entrants; i++)
        if (rotation_empties(bench, &bench->entrants[i], bench->headline))
            return "flush";
    return "sets";
}

cJSON *rotation_of(const struct bench *bench)
{
    double sets = (double)bench->sets_each;
    bool known = cache_bytes(bench) > 0;
    if (!is_rotated(bench) || bench->mode == MODE_CHAIN) /* which says it in a form of its own */
        return NULL;
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "rotation", known ? "full" : "unknown");
    cJSON_AddStringToObject(object, "by", means(bench));
    json_put_number(object, "sets", sets);
    json_put_number(object, "bytes", sets * problem_bytes(&bench->problem));
    json_put_number(object, "cache_bytes", cache_bytes(bench));
    if (!known)
        cJSON_AddStringToObject(object, "reason", "the device does not say how large its cache is");
    return object;
}
