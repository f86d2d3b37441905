/*
 * audit.h - one cell of an audit: its contenders are watched in one launch each, with the very variants that were timed
 * (verify/activity.h): what escapes the stream or differs from what was timed is found there. Runs in a worker of its
 * own, which times nothing. Called by worker.c for requests of run/audit.c, and by cli/one_launch.c for one launch of
 * each that a profiler counts.
 */
#ifndef CUDAL2_WORKER_AUDIT_H
#define CUDAL2_WORKER_AUDIT_H

#include "worker/cell.h"

/* Device memory that an audit's cells use one after the other, unless it is much: to take it and to give it back costs
 * milliseconds, whatever its size, and a look at a launch takes few more. All zero: none. */
struct audit_memory {
    struct audit_room {
        void *memory;
        uint64_t bytes;
    } matrices, workspace;
};
void audit_memory_free(struct audit_memory *memory, struct device *device);

/* request->audit names the contenders: [{"name":"cudal2-nn","variant":"...","timed_ns":2600,"rung":"graph"}], all but
 * the name where it is known. *out, owned by the caller, is the array of what was seen: {"name":"..."} with the members
 * of activity_watch, or under context->profile with "launched":true. Contenders that cannot be watched say why;
 * non-zero only when the worker must end. */
int audit_conduct(const struct cell_context *context, const struct cell_request *request, cJSON **out,
                  struct error *err);

#endif
