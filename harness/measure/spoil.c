/*
 * spoil.c - draws the kind of a spoil, and tells where it has to be sparse. Relies on probe.h for the kinds. Called by
 * timed.c and verify/timed_check.c.
 */
#include "measure/spoil.h"

#define SPARSE_SHARE 4u /* of the L2: a smaller C lies in it whoever wrote it */

enum probe_spoil spoil_draw(struct random *random)
{
    return (enum probe_spoil)random_below(random, SPOIL_KINDS);
}

enum probe_spoil spoil_draw_some(struct random *random)
{
    static const enum probe_spoil some[] = {SPOIL_SOME_NAN, SPOIL_SOME_LIKELY, SPOIL_NUDGED, SPOIL_MOVED};
    return some[random_below(random, sizeof some / sizeof some[0])];
}

bool spoil_is_sparse(const struct bench *bench)
{
    const struct cudal2_problem *p = &bench->problem;
    uint64_t bytes = (uint64_t)p->m * (uint64_t)p->n * dtype_bytes(p->dtype);
    return bench->mode == MODE_SERVER && bytes > bench->device->info.l2_bytes / SPARSE_SHARE;
}
