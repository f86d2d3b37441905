/*
 * cuda_watch.c - records one launch between two marker kernels, finds the markers among CUPTI's records and reports
 * what ran inside and outside of them. Relies on cupti.c. Called by audit workers only.
 */
#include "device/cuda_watch.h"
#include "base/clock.h"
#include "device/cuda_device.h"
#include "device/fill.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A launch that takes longer than this on the host waits for the stream, which is then let go. */
#define HOLD_LIMIT_NS 100000000u
/* How long the stream stays held behind a launch, so that what does not wait for it has begun. */
#define HOLD_BEHIND_NS 300000u
/* Sizes that tell the brackets from everything else. */
#define BRACKET_GRIDS 900u
#define BRACKET_WARPS 32u

struct cuda_watcher {
    struct watcher base; /* first */
    struct cupti *cupti;
};

/* The empty kernel in a size that nobody can guess. */
struct bracket {
    unsigned blocks, threads;
};

static struct bracket bracket_of(uint64_t seed, uint64_t which)
{
    uint64_t bits = fill_bits(fill_key(seed), which);
    return (struct bracket){2 + (unsigned)(bits % BRACKET_GRIDS) * 2 + (unsigned)which,
                            32 * (1 + (unsigned)(bits >> 32) % BRACKET_WARPS)};
}

static int put_bracket(struct cuda_device *c, const struct bracket *b, struct error *err)
{
    return cuda_kernel_run(c, c->kernels[KERNEL_NULL][0].function, b->blocks, b->threads, NULL, err);
}

static bool is_bracket(const struct activity *a, const struct bracket *b, uint32_t stream)
{
    return a->kind == ACTIVITY_KERNEL && a->stream == stream && a->grid[0] == (int)b->blocks &&
           a->block[0] == (int)b->threads && strcmp(a->name, "null_kernel") == 0;
}

/* ---- the launch ---- */

static int sync_context(struct cuda_device *c, struct error *err)
{
    return driver_check(&c->driver, c->driver.context_sync(), err, "cuCtxSynchronize around a watched launch");
}

static int run(struct cuda_device *c, const struct watch_request *request, struct error *err)
{
    double ns;
    return request->segment != NULL ? cuda_measure(&c->base, request->segment, &ns, err)
                                    : cuda_run_work(c, request->work, request->set, err);
}

/* The first bracket and the hold, the launch, the second bracket. A failure of the launch is told when all is quiet. */
static int run_between(struct cuda_device *c, const struct watch_request *request, const struct bracket b[2],
                       struct watched *out, struct error *err)
{
    struct error launch_error;
    bool hold = request->hold && request->segment == NULL;
    int code = put_bracket(c, &b[0], err);
    if (code == 0 && hold)
        code = cuda_blocker_start(c, HOLD_LIMIT_NS, err);
    if (code != 0)
        return code;
    int launched = run(c, request, &launch_error);
    if (launched == 0)
        launched = put_bracket(c, &b[1], &launch_error);
    if (hold) {
        clock_wait_until(clock_now_ns() + HOLD_BEHIND_NS);
        out->held = c->signals->timed_out == 0;
        cuda_blocker_release(c);
    }
    code = sync_context(c, err);
    if (code == 0 && launched != 0) {
        *err = launch_error;
        code = launched;
    }
    return code;
}

/* ---- what was recorded ---- */

static void drop(struct activity_log *log, size_t at)
{
    memmove(&log->list[at], &log->list[at + 1], (log->n - at - 1) * sizeof log->list[0]);
    log->n--;
}

/* Takes the first of these out of the log and copies it to *out; false when there is none. */
static bool pick_bracket(struct watched *w, const struct bracket *b, struct activity *out)
{
    for (size_t i = 0; i < w->log.n; i++) {
        if (!is_bracket(&w->log.list[i], b, w->stream))
            continue;
        *out = w->log.list[i];
        drop(&w->log, i);
        return true;
    }
    return false;
}

/* The kernel that held the stream: the first one of its name behind the bracket. */
static bool pick_holder(struct watched *w, uint64_t after, struct activity *out)
{
    for (size_t i = 0; i < w->log.n; i++) {
        const struct activity *a = &w->log.list[i];
        if (a->stream != w->stream || a->start_ns < after || strcmp(a->name, "blocker") != 0)
            continue;
        *out = *a;
        drop(&w->log, i);
        return true;
    }
    return false;
}

static void find_brackets(struct watched *w, const struct watch_request *request, const struct bracket b[2])
{
    struct activity opening = {0}, holder = {0}, closing = {0};
    bool hold = request->hold && request->segment == NULL;
    w->complete = pick_bracket(w, &b[0], &opening);
    w->opened_ns = opening.end_ns;
    if (w->complete && hold && (w->complete = pick_holder(w, opening.end_ns, &holder)))
        w->opened_ns = holder.end_ns;
    w->complete = pick_bracket(w, &b[1], &closing) && w->complete && w->log.lost == 0;
    w->closed_ns = closing.start_ns;
}

static int watch(struct watcher *watcher, struct device *d, const struct watch_request *request, struct watched *out,
                 struct error *err)
{
    struct cuda_watcher *w = (struct cuda_watcher *)watcher;
    struct cuda_device *c = cuda_of(d);
    const struct bracket b[2] = {bracket_of(request->seed, 0), bracket_of(request->seed, 1)};
    out->complete = out->held = false;
    out->log.n = out->log.lost = 0;
    if (c == NULL)
        return error_set(err, EXIT_CODE_INTERNAL, "only a CUDA device can be watched");
    int code = sync_context(c, err);
    if (code == 0)
        code = cupti_stream(w->cupti, c->context, c->stream, &out->stream, err);
    if (code == 0)
        code = cupti_start(w->cupti, err);
    if (code == 0)
        code = run_between(c, request, b, out, err);
    if (code != 0)
        return code;
    out->returned_ns = cupti_now(w->cupti);
    clock_wait_until(clock_now_ns() + (uint64_t)request->late_ns);
    code = sync_context(c, err);
    if (code == 0)
        code = cupti_take(w->cupti, &out->log, err);
    if (code == 0)
        find_brackets(out, request, b);
    return code;
}

/* ---- opening ---- */

int cuda_watcher_over(struct cupti *cupti, struct watcher **out, struct error *err)
{
    struct cuda_watcher *w = calloc(1, sizeof *w);
    *out = NULL;
    if (w == NULL) {
        cupti_close(cupti);
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for a watcher");
    }
    w->base.watch = watch;
    w->base.version = cupti_version(cupti);
    snprintf(w->base.path, sizeof w->base.path, "%s", cupti_path(cupti));
    w->cupti = cupti;
    *out = &w->base;
    return 0;
}

int cuda_watcher_open(struct watcher **out, struct error *err)
{
    struct cupti *cupti = NULL;
    *out = NULL;
    int code = cupti_open(&cupti, err);
    return code == 0 ? cuda_watcher_over(cupti, out, err) : code;
}
