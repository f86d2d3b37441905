/*
 * activity.c - judges what a recorder saw of a contender's launch: other streams, missing kernels, times that differ,
 * overlap. Relies on device/activity.h and watch_state.h. Called by worker/audit.c, never in a process that times.
 */
#include "verify/activity.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stats/interval.h"
#include "verify/watch_state.h"

/* Work may begin this long before the end of what held the stream: the last blocks of one kernel and the first of the
 * next may overlap (programmatic launch). What did not wait began 300 us before. */
#define BEGIN_NS 20000u
/* How far clocks of two streams are apart, and those of host and device. */
#define END_NS 1000u
#define HOST_NS 20000u
/* What CUPTI adds to a short kernel, and clocks: in one cache state. */
#define BUSY_SHARE 1.5
#define BUSY_SLACK_NS 5000.0
#define LATE_NS 1e6
/* How often each kind of launch is watched before anybody is accused; the least of its times counts. */
#define TRIES 3
#define WORK_LISTED 16
#define ROW_LAUNCHES 4u
#define PATHS 2

enum path { PATH_LAUNCH, PATH_GRAPH };

/* ---- one launch ---- */

double activity_busy_ns(const struct activity_log *log)
{
    double busy = 0;
    uint64_t until = 0;
    for (size_t i = 0; i < log->n; i++) {
        const struct activity *a = &log->list[i];
        uint64_t from = a->start_ns > until ? a->start_ns : until;
        if (a->end_ns <= from)
            continue;
        busy += (double)(a->end_ns - from);
        until = a->end_ns;
    }
    return busy;
}

/* "kernel gemm_64x64 in stream 13". */
static void describe(const struct activity *a, char out[120])
{
    if (a->kind == ACTIVITY_KERNEL)
        snprintf(out, 120, "kernel %.80s in stream %u", a->name, a->stream);
    else
        snprintf(out, 120, "a %s in stream %u", a->kind == ACTIVITY_COPY ? "copy" : "memset", a->stream);
}

static enum verdict judge_piece(const struct watched *seen, const struct activity *a, bool graph, char *why)
{
    char what[120];
    describe(a, what);
    if (graph && !a->in_graph && a->stream != seen->stream) {
        snprintf(why, RECORD_REASON_MAX, "%s is no node of the graph and ran beside it", what);
        return VERDICT_STREAM_ESCAPE;
    }
    if (seen->held && a->start_ns + BEGIN_NS < seen->opened_ns) {
        snprintf(why, RECORD_REASON_MAX, "%s began while the stream of the launch (%u) was held", what, seen->stream);
        return VERDICT_STREAM_ESCAPE;
    }
    if (a->end_ns <= seen->closed_ns + END_NS)
        return VERDICT_OK;
    bool late = a->start_ns > seen->returned_ns + HOST_NS && seen->returned_ns > 0;
    snprintf(why, RECORD_REASON_MAX,
             late ? "%s began %.0f us after the launch had been waited for"
                  : "%s ended %.1f us after the stream of the launch had gone on",
             what, 1e-3 * (double)(late ? a->start_ns - seen->returned_ns : a->end_ns - seen->closed_ns));
    return late ? VERDICT_LATE_WORK : VERDICT_STREAM_ESCAPE;
}

static bool is_longer(double busy_ns, double than_ns)
{
    return busy_ns > BUSY_SHARE * than_ns + BUSY_SLACK_NS;
}

static enum verdict judge_time(const struct watched *seen, const struct activity_claim *claim, char *why)
{
    double busy = activity_busy_ns(&seen->log);
    if (claim->timed_ns <= 0 || !is_longer(busy, claim->timed_ns))
        return VERDICT_OK;
    snprintf(why, RECORD_REASON_MAX, "one launch keeps the GPU busy for %.1f us, and was timed at %.1f us", busy * 1e-3,
             claim->timed_ns * 1e-3);
    return VERDICT_IMPLAUSIBLE_SPEED;
}

enum verdict activity_judge(const struct watched *seen, const struct activity_claim *claim, bool graph, char *why)
{
    for (size_t i = 0; i < seen->log.n; i++) {
        enum verdict verdict = judge_piece(seen, &seen->log.list[i], graph, why);
        if (verdict != VERDICT_OK)
            return verdict;
    }
    return graph == claim->graph ? judge_time(seen, claim, why) : VERDICT_OK;
}

double activity_overlap_ns(const struct activity_log *log)
{
    size_t each = log->n / ROW_LAUNCHES;
    double apart[ROW_LAUNCHES - 1];
    uint64_t ended = 0;
    if (each == 0 || log->n % ROW_LAUNCHES != 0)
        return NAN;
    for (size_t i = 0; i < ROW_LAUNCHES; i++) {
        const struct activity *launch = &log->list[i * each];
        if (i > 0)
            apart[i - 1] = (double)ended - (double)launch->start_ns;
        for (size_t j = 0; j < each; j++)
            ended = launch[j].end_ns > ended ? launch[j].end_ns : ended;
    }
    stats_sort(apart, ROW_LAUNCHES - 1);
    return fmax(apart[(ROW_LAUNCHES - 1) / 2], 0);
}

/* ---- as JSON ---- */

static bool same_work(const struct activity *a, const struct activity *b)
{
    return a->kind == b->kind && a->bytes == b->bytes && memcmp(a->grid, b->grid, sizeof a->grid) == 0 &&
           memcmp(a->block, b->block, sizeof a->block) == 0 && strcmp(a->name, b->name) == 0;
}

static cJSON *piece_to_json(const struct activity *a, unsigned count, double ns)
{
    cJSON *o = cJSON_CreateObject();
    if (a->kind == ACTIVITY_KERNEL) {
        cJSON_AddStringToObject(o, "kernel", a->name);
        cJSON_AddItemToObject(o, "grid", cJSON_CreateIntArray(a->grid, 3));
        cJSON_AddItemToObject(o, "block", cJSON_CreateIntArray(a->block, 3));
    } else {
        cJSON_AddNumberToObject(o, a->kind == ACTIVITY_COPY ? "copy" : "memset", (double)a->bytes);
    }
    cJSON_AddNumberToObject(o, "stream", a->stream);
    cJSON_AddNumberToObject(o, "n", count);
    cJSON_AddNumberToObject(o, "ns", ns);
    return o;
}

/* Pieces that are alike are one entry, in the order in which they first ran. */
static cJSON *log_to_json(const struct activity_log *log)
{
    cJSON *list = cJSON_CreateArray();
    for (size_t i = 0; i < log->n && cJSON_GetArraySize(list) < WORK_LISTED; i++) {
        const struct activity *a = &log->list[i];
        unsigned count = 0;
        double ns = 0;
        bool listed = false;
        for (size_t j = 0; j < log->n && !listed; j++) {
            const struct activity *b = &log->list[j];
            if (!same_work(a, b) || a->stream != b->stream)
                continue;
            listed = j < i;
            count++;
            ns += (double)(b->end_ns - b->start_ns);
        }
        if (!listed)
            cJSON_AddItemToArray(list, piece_to_json(a, count, ns));
    }
    return list;
}

/* The same work, piece by piece, in whatever streams. */
static bool same_logs(const struct activity_log *a, const struct activity_log *b)
{
    bool same = a->n == b->n;
    for (size_t i = 0; i < a->n && same; i++)
        same = same_work(&a->list[i], &b->list[i]);
    return same;
}

/* ---- the tries ---- */

struct sighting {
    struct bench *bench;
    struct entrant *entrant;
    struct watcher *watcher;
    const struct activity_claim *claim;
    struct random random;
    struct device_segment *segment; /* one launch as a graph, or NULL */
    struct watched seen[PATHS], row, again;
    struct watch_state state;
    double least_ns[PATHS]; /* that a launch on new inputs kept the GPU busy, of the tries */
    double overlap_ns;      /* of a row of launches as it was timed; NAN: not known */
    bool done[PATHS];
    enum verdict verdict;
    char why[RECORD_REASON_MAX];
    char unavailable[RECORD_REASON_MAX];
};

static void look_convict(struct sighting *l, enum verdict verdict, const char *why)
{
    if (l->verdict != VERDICT_OK)
        return;
    l->verdict = verdict;
    snprintf(l->why, sizeof l->why, "%s", why);
}

/* C after the launch. Work that nobody saw and that was done all the same was done elsewhere. */
static int judge_output(struct sighting *l, struct timed_check *t, const struct watched *seen, struct error *err)
{
    char why[RECORD_REASON_MAX];
    int code = timed_check_judge_fresh(t, err);
    if (code != 0)
        return code;
    if (t->verdict != VERDICT_OK) {
        snprintf(why, sizeof why, "in a launch that was watched: %.200s", t->reason);
        look_convict(l, t->verdict, why);
    } else if (seen->log.n == 0) {
        look_convict(l, VERDICT_STREAM_ESCAPE, "nothing ran on the GPU in the launch, and C was right");
    }
    return 0;
}

/* One launch, watched, in the state of this arm. */
static int watch_once(struct sighting *l, enum path path, enum watch_arm arm, struct watched *seen, struct error *err)
{
    l->state.segment = path == PATH_GRAPH ? l->segment : NULL;
    int code = watch_state_bring(&l->state, arm, err);
    const struct watch_request request = {.work = &l->entrant->work,
                                          .segment = l->state.segment,
                                          .hold = !l->claim->waits,
                                          .late_ns = LATE_NS,
                                          .seed = random_next(&l->random)};
    if (code == 0)
        code = l->watcher->watch(l->watcher, l->bench->device, &request, seen, err);
    if (code == 0 && !seen->complete)
        snprintf(l->unavailable, sizeof l->unavailable, "the recorder lost work, or stopped recording");
    return code;
}

/* One launch on new inputs, watched and judged. */
static int look_once(struct sighting *l, enum path path, struct error *err)
{
    struct timed_check t = {.bench = l->bench, .entrant = l->entrant, .random = &l->random};
    struct watched *seen = &l->seen[path];
    char why[RECORD_REASON_MAX];
    int code = watch_once(l, path, WATCH_NEW, seen, err);
    if (code != 0)
        return code;
    l->done[path] = seen->complete;
    if (!seen->complete)
        return 0;
    l->least_ns[path] = fmin(l->least_ns[path], activity_busy_ns(&seen->log));
    enum verdict verdict = activity_judge(seen, l->claim, path == PATH_GRAPH, why);
    if (verdict != VERDICT_OK)
        look_convict(l, verdict, why);
    return judge_output(l, &t, seen, err);
}

static bool is_settled(const struct sighting *l)
{
    return l->verdict == VERDICT_OK || l->verdict == VERDICT_WRONG_RESULT;
}

static bool is_about_time(const struct sighting *l)
{
    return l->verdict == VERDICT_IMPLAUSIBLE_SPEED;
}

/* The least that a launch of this arm keeps the GPU busy. */
static int watch_least(struct sighting *l, enum path path, enum watch_arm arm, double *least_ns, struct error *err)
{
    int code = 0;
    *least_ns = INFINITY;
    for (int i = 0; i < TRIES && code == 0 && l->unavailable[0] == '\0'; i++) {
        code = watch_once(l, path, arm, &l->again, err);
        if (code == 0)
            *least_ns = fmin(*least_ns, activity_busy_ns(&l->again.log));
    }
    return code;
}

/* Every launch on new inputs took longer than was timed. That convicts whom it takes longer in the very state that was
 * timed, who does not run what ran then; and whom nothing but news makes slower, who remembers or skips. It does not
 * convict whom the writing of the inputs makes as slow as new ones do: then it is the caches. */
static int confirm(struct sighting *l, enum path path, struct error *err)
{
    double timed_ns = 0, same_ns = 0;
    int code = watch_least(l, path, WATCH_TIMED, &timed_ns, err);
    if (code != 0 || is_longer(timed_ns, l->claim->timed_ns))
        return code;
    code = watch_least(l, path, WATCH_SAME, &same_ns, err);
    bool remembers = is_longer(l->least_ns[path], same_ns);
    if (remembers)
        snprintf(l->why, sizeof l->why,
                 "one launch keeps the GPU busy for %.1f us on new inputs and for %.1f us on known ones, and was timed "
                 "at %.1f us",
                 l->least_ns[path] * 1e-3, same_ns * 1e-3, l->claim->timed_ns * 1e-3);
    else
        l->verdict = VERDICT_OK;
    return code;
}

static int try_path(struct sighting *l, enum path path, struct error *err)
{
    int code = 0;
    for (int i = 0; i < TRIES && code == 0 && (i == 0 || !is_settled(l)) && l->unavailable[0] == '\0'; i++) {
        l->verdict = VERDICT_OK;
        code = look_once(l, path, err);
    }
    return code == 0 && is_about_time(l) ? confirm(l, path, err) : code;
}

/* One launch outside of everything, so that nothing is loaded under watch; and the graph. */
static int prepare(struct sighting *l, struct error *err)
{
    struct device *d = l->bench->device;
    struct entrant *e = l->entrant;
    const struct device_shape shape = {.launches = 1, .n_sets = 1};
    char why[CUDAL2_WHY] = "";
    int status = e->work.launch(e->work.context, 0, why);
    int code = d->ops->sync(d, err);
    if (code == 0 && status != CUDAL2_OK)
        code = error_set(err, EXIT_CODE_VERIFICATION, "launch failed with status %d: %s", status, why);
    if (code == 0 && l->claim->graph)
        code = d->ops->prepare(d, &e->work, &shape, RUNG_GRAPH, &l->segment, err);
    if (code == 0 && l->segment != NULL && d->ops->rung(l->segment) != RUNG_GRAPH) {
        d->ops->release_segment(d, l->segment);
        l->segment = NULL;
    }
    e->row.shape = shape; /* what timed_check_judge_fresh asks: every set is written */
    return code;
}

/* A row of launches as they were timed: did they overlap? */
static int look_at_row(struct sighting *l, struct error *err)
{
    struct device *d = l->bench->device;
    struct device_segment *segment = NULL;
    const struct device_shape shape = {.launches = ROW_LAUNCHES, .n_sets = 1}; /* as `device` times them */
    int code = d->ops->prepare(d, &l->entrant->work, &shape, RUNG_GRAPH, &segment, err);
    const struct watch_request request = {
        .work = &l->entrant->work, .segment = segment, .seed = random_next(&l->random)};
    if (code == 0 && d->ops->rung(segment) == RUNG_GRAPH) {
        code = l->watcher->watch(l->watcher, d, &request, &l->row, err);
        if (code == 0 && l->row.complete)
            l->overlap_ns = activity_overlap_ns(&l->row.log);
    }
    if (segment != NULL)
        d->ops->release_segment(d, segment);
    return code;
}

static int run_looks(struct sighting *l, struct error *err)
{
    int code = prepare(l, err);
    if (code == 0)
        code = try_path(l, PATH_LAUNCH, err);
    if (code == 0 && l->segment != NULL && l->verdict == VERDICT_OK && l->unavailable[0] == '\0')
        code = try_path(l, PATH_GRAPH, err);
    if (code == 0 && l->done[PATH_GRAPH] && l->verdict == VERDICT_OK && l->bench->mode != MODE_SERVER)
        code = look_at_row(l, err);
    return code;
}

static void put_ratio(const struct sighting *l, cJSON *o)
{
    const struct activity_log *log = &l->seen[l->done[PATH_GRAPH] ? PATH_GRAPH : PATH_LAUNCH].log;
    if (log->n == 1 && log->list[0].kind == ACTIVITY_KERNEL && l->claim->timed_ns > 0)
        json_put_number(o, "ratio", round(1e3 * activity_busy_ns(log) / l->claim->timed_ns) / 1e3);
}

static cJSON *look_to_json(const struct sighting *l)
{
    const struct activity_log *launch = &l->seen[PATH_LAUNCH].log, *graph = &l->seen[PATH_GRAPH].log;
    cJSON *o = cJSON_CreateObject();
    if (l->done[PATH_LAUNCH]) {
        cJSON_AddItemToObject(o, "launch", log_to_json(launch));
        cJSON_AddNumberToObject(o, "busy_ns", activity_busy_ns(launch));
    }
    if (l->done[PATH_GRAPH] && !same_logs(launch, graph))
        cJSON_AddItemToObject(o, "graph", log_to_json(graph));
    if (l->done[PATH_GRAPH])
        cJSON_AddNumberToObject(o, "graph_busy_ns", activity_busy_ns(graph));
    if (l->done[PATH_LAUNCH])
        put_ratio(l, o);
    if (!isnan(l->overlap_ns))
        cJSON_AddNumberToObject(o, "overlap_ns", l->overlap_ns);
    if (l->done[PATH_LAUNCH] && !l->seen[PATH_LAUNCH].held)
        cJSON_AddTrueToObject(o, "waits");
    if (l->unavailable[0] != '\0')
        cJSON_AddStringToObject(o, "unavailable", l->unavailable);
    else if (l->verdict != VERDICT_OK) {
        cJSON_AddStringToObject(o, "status", verdict_name(l->verdict));
        cJSON_AddStringToObject(o, "reason", l->why);
    }
    return o;
}

/* A launch that fails, or that a capture finds to escape, has failed the entrant by now. */
static void take_fault(struct sighting *l)
{
    const struct contender_record *r = l->entrant->record;
    if (verdict_is_refuted(r->verdict))
        look_convict(l, r->verdict, r->reason);
    else
        snprintf(l->unavailable, sizeof l->unavailable, "%s: %.200s", record_verdict(r), r->reason);
}

int activity_watch(struct bench *bench, struct entrant *entrant, struct watcher *watcher,
                   const struct activity_claim *claim, cJSON **out, struct error *err)
{
    struct sighting *l = calloc(1, sizeof *l);
    *out = NULL;
    if (l == NULL)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for a look");
    l->bench = bench;
    l->entrant = entrant;
    l->watcher = watcher;
    l->claim = claim;
    l->overlap_ns = NAN;
    l->least_ns[PATH_LAUNCH] = l->least_ns[PATH_GRAPH] = INFINITY;
    l->state = (struct watch_state){.bench = bench, .entrant = entrant, .random = &l->random};
    random_seed(&l->random, random_derive(bench->seed, "activity", 0));
    bench_stage(bench, entrant, "activity", bench->config->limits.launch_seconds);
    int code = run_looks(l, err);
    if (l->segment != NULL)
        bench->device->ops->release_segment(bench->device, l->segment);
    if (code != 0 && (code = entrant_fault(bench, entrant, "activity", err)) == 0)
        take_fault(l);
    if (code == 0)
        *out = look_to_json(l);
    free(l);
    return code;
}
