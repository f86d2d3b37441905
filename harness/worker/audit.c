/*
 * audit.c - conducts one cell of an audit: sets up the contenders with the variants that were timed and has each
 * watched in one launch. Relies on verify/activity.h. Called by worker.c in an audit worker.
 */
#include "worker/audit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verify/activity.h"
#include "verify/model.h"
#include "worker/protocol.h"

/* A whole cell's matrices are there at once, and libraries want room of their own. */
#define LIBRARY_BYTES (512ull << 20)
/* What of it stays there between two cells, for a worker that waits holds it from who times. */
#define KEPT_BYTES (256ull << 20)

/* One contender of the request. */
struct subject {
    char name[RECORD_NAME_MAX];
    const char *variant; /* NULL: its own choice. Borrowed from the request */
    struct activity_claim claim;
    const struct contender *contender;   /* NULL: cannot be watched */
    char unavailable[RECORD_REASON_MAX]; /* why */
};

struct audit {
    struct audit_memory *memory;
    const struct cell_context *context;
    const struct cell_request *request;
    struct bench *bench;
    struct subject subjects[RECORD_MAX_CONTENDERS];
    size_t n;
};

/* ---- the request ---- */

static int read_rung(struct json_at at, struct activity_claim *claim, struct error *err)
{
    int rung = RUNG_GRAPH;
    if (at.node && json_read_choice(at, device_rung_names, &rung, err))
        return err->code;
    claim->graph = rung == RUNG_GRAPH;
    claim->waits = rung == RUNG_EVENTS;
    return 0;
}

static int read_subject(struct json_at at, struct subject *s, struct error *err)
{
    static const char *const keys[] = {"name", "variant", "timed_ns", "rung", NULL};
    struct json_at variant = json_member(at, "variant"), timed = json_member(at, "timed_ns");
    if (json_only_keys(at, keys, err) || protocol_read_text(json_member(at, "name"), s->name, sizeof s->name, err) ||
        (variant.node && json_read_string(variant, &s->variant, err)) ||
        (timed.node && json_read_number(timed, 0, 1e15, &s->claim.timed_ns, err)))
        return err->code;
    return read_rung(json_member(at, "rung"), &s->claim, err);
}

static int read_subjects(struct audit *a, struct error *err)
{
    struct json_at list = json_root(a->request->audit, "audit"), element;
    const cJSON *node = NULL;
    int index, count;
    int code = json_read_array(list, 1, &count, err);
    if (code == 0 && count > RECORD_MAX_CONTENDERS)
        code = json_fail(list, err, "%d contenders, at most %d", count, RECORD_MAX_CONTENDERS);
    while (code == 0 && json_each(list, &node, &index, &element))
        code = read_subject(element, &a->subjects[a->n++], err);
    return code;
}

/* ---- who can be watched ---- */

static const struct contender *find(const struct registry *registry, const char *name)
{
    for (size_t i = 0; i < registry_count(registry); i++)
        if (strcmp(registry_at(registry, i)->name, name) == 0)
            return registry_at(registry, i);
    return NULL;
}

static const struct exclusion *exclusion_of(const struct cell_request *request, const char *name)
{
    for (size_t i = 0; i < request->n_exclusions; i++)
        if (strcmp(request->exclusions[i].name, name) == 0)
            return &request->exclusions[i];
    return NULL;
}

static void choose(const struct audit *a, struct subject *s)
{
    char why[CUDAL2_WHY] = "";
    const struct contender *c = find(a->context->registry, s->name);
    const struct exclusion *out = exclusion_of(a->request, s->name);
    if (out != NULL)
        snprintf(s->unavailable, sizeof s->unavailable, "%s: %.200s", verdict_name(out->verdict), out->reason);
    else if (c == NULL)
        snprintf(s->unavailable, sizeof s->unavailable, "there is no such contender here");
    else if (!c->available)
        snprintf(s->unavailable, sizeof s->unavailable, "%s", c->reason);
    else if (!contender_supports(c, &a->context->device->info, &a->request->problem, why))
        snprintf(s->unavailable, sizeof s->unavailable, "%s", why);
    else
        s->contender = c;
}

/* ---- the bench ---- */

/* RMS error of products of ten bits, which fp32 problems may come to where the baselines do. */
#define LOOSE_ERROR 1e-3

/* Nothing has been verified in this process: what any class of arithmetic that may have passed loses is allowed. */
static double allowed(const struct cudal2_problem *p)
{
    return MODEL_RMS_MARGIN * fmax(model_narrow(p->dtype, (double)p->k), LOOSE_ERROR);
}

static void enter(struct bench *bench, const struct subject *s)
{
    struct contender_record *r = &bench->record->contenders[bench->record->n_contenders++];
    struct entrant *e = &bench->entrants[bench->n_entrants++];
    snprintf(r->name, sizeof r->name, "%s", s->name);
    r->verdict = VERDICT_OK;
    *e = (struct entrant){.contender = s->contender, .record = r, .alive = true, .n_sets = 1};
    e->error_allowed = allowed(&bench->problem);
    if (s->variant != NULL)
        snprintf(e->variant, sizeof e->variant, "%s", s->variant);
}

static uint64_t held(const struct audit_memory *memory)
{
    return memory->matrices.bytes + memory->workspace.bytes;
}

/* What is there serves where it is large enough. */
static int make_room(struct audit_room *room, struct device *d, uint64_t bytes, struct error *err)
{
    if (room->bytes >= bytes)
        return 0;
    if (room->memory != NULL)
        d->ops->release(d, room->memory);
    *room = (struct audit_room){0};
    int code = d->ops->alloc(d, (size_t)bytes, &room->memory, err);
    room->bytes = code == 0 ? bytes : 0;
    return code;
}

static void give_room_back(struct audit_room *room, struct device *d)
{
    if (room->memory != NULL)
        d->ops->release(d, room->memory);
    *room = (struct audit_room){0};
}

void audit_memory_free(struct audit_memory *memory, struct device *device)
{
    give_room_back(&memory->matrices, device);
    give_room_back(&memory->workspace, device);
}

static int place(struct audit *a, const struct operands_request *request, struct error *err)
{
    struct bench *bench = a->bench;
    struct audit_memory *m = a->memory;
    if (make_room(&m->matrices, bench->device, operands_bytes(request), err) != 0 ||
        make_room(&m->workspace, bench->device, bench->config->workspace_bytes, err) != 0)
        return err->code;
    bench->workspace = m->workspace.memory;
    return operands_place(bench->device, request, m->matrices.memory, &bench->operands, err);
}

/* One set of matrices for all: nobody is raced. */
static int open_bench(struct audit *a, struct error *err)
{
    struct bench *bench = a->bench;
    struct operands_request request;
    uint64_t there = 0;
    bench_operands_request(bench, random_derive(bench->seed, "activity", 1), &request);
    bench_stage(bench, NULL, "operands", bench->config->limits.setup_seconds);
    int code = bench->device->ops->memory_free(bench->device, &there, err);
    uint64_t needed = operands_bytes(&request) + bench->config->workspace_bytes + LIBRARY_BYTES;
    there += held(a->memory);
    if (code == 0 && needed > there && bench->device->info.device_bit == CUDAL2_ON_CUDA)
        return error_set(err, EXIT_CODE_INCOMPARABLE, "needs %.1f GiB of device memory, %.1f are available",
                         (double)needed / 0x1p30, (double)there / 0x1p30);
    if (code == 0)
        code = place(a, &request, err);
    return code == 0 ? bench_fill(bench, "activity", 2, err) : code;
}

static void close_bench(struct bench *bench)
{
    for (size_t i = 0; i < bench->n_entrants; i++)
        entrant_teardown(bench, &bench->entrants[i]);
    operands_free(bench->device, bench->operands);
}

/* ---- the look ---- */

static cJSON *cannot(const char *why)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "unavailable", why);
    return o;
}

/* On fresh inputs, as it is timed: what counts is one launch and nothing of the harness's. */
static int profile_entrant(struct audit *a, struct entrant *e, cJSON **out, struct error *err)
{
    struct device *d = a->bench->device;
    double ns;
    bench_stage(a->bench, e, "profile", a->bench->config->limits.launch_seconds);
    int code = d->ops->profiled ? d->ops->profiled(d, &e->work, 0, err) : d->ops->time_wall(d, &e->work, 0, &ns, err);
    if (code == EXIT_CODE_VERIFICATION) {
        *out = cannot(err->text);
        return 0;
    }
    *out = cJSON_CreateObject();
    cJSON_AddTrueToObject(*out, "launched");
    return code;
}

static int watch_entrant(struct audit *a, struct entrant *e, const struct subject *s, cJSON **out, struct error *err)
{
    char why[RECORD_REASON_MAX];
    struct activity_claim claim = s->claim;
    claim.waits = claim.waits || (s->contender->is.flags & CUDAL2_SYNCS) != 0;
    claim.graph = claim.graph && !claim.waits && (s->contender->is.flags & CUDAL2_NO_CAPTURE) == 0;
    if (!entrant_setup(a->bench, e)) {
        snprintf(why, sizeof why, "%s: %.200s", record_verdict(e->record), e->record->reason);
        *out = cannot(why);
        return 0;
    }
    int code = a->context->profile ? profile_entrant(a, e, out, err)
                                   : activity_watch(a->bench, e, a->context->watcher, &claim, out, err);
    if (code == 0)
        entrant_teardown(a->bench, e);
    return code;
}

/* Under verify.time_anyway what is refuted keeps its times, marked. */
static void put_subject(const struct audit *a, const struct subject *s, cJSON *seen, cJSON *list)
{
    cJSON *entry = cJSON_CreateObject();
    cJSON_AddStringToObject(entry, "name", s->name);
    while (seen != NULL && seen->child != NULL) {
        cJSON *member = cJSON_DetachItemViaPointer(seen, seen->child);
        cJSON_AddItemToObject(entry, member->string, member);
    }
    cJSON_Delete(seen);
    if (cJSON_GetObjectItemCaseSensitive(entry, "status") && a->bench->config->time_anyway)
        cJSON_AddTrueToObject(entry, "invalid");
    cJSON_AddItemToArray(list, entry);
}

static int watch_all(struct audit *a, cJSON *list, struct error *err)
{
    size_t entrant = 0;
    int code = 0;
    for (size_t i = 0; i < a->n && code == 0; i++) {
        const struct subject *s = &a->subjects[i];
        cJSON *seen = NULL;
        if (s->contender == NULL)
            seen = cannot(s->unavailable);
        else
            code = watch_entrant(a, &a->bench->entrants[entrant++], s, &seen, err);
        if (code == 0)
            put_subject(a, s, seen, list);
    }
    return code;
}

/* A cell that does not fit into memory is one that cannot be watched. */
static void give_up(struct audit *a, const struct error *err)
{
    for (size_t i = 0; i < a->n; i++) {
        struct subject *s = &a->subjects[i];
        if (s->contender != NULL)
            snprintf(s->unavailable, sizeof s->unavailable, "%.255s", err->text);
        s->contender = NULL;
    }
}

static int conduct(struct audit *a, cJSON *list, struct error *err)
{
    int code = read_subjects(a, err);
    if (code != 0)
        return code;
    for (size_t i = 0; i < a->n; i++) {
        choose(a, &a->subjects[i]);
        if (a->subjects[i].contender != NULL)
            enter(a->bench, &a->subjects[i]);
    }
    if (a->bench->n_entrants > 0)
        code = open_bench(a, err);
    if (code == EXIT_CODE_INCOMPARABLE) {
        give_up(a, err);
        code = 0;
    }
    if (code == 0)
        code = watch_all(a, list, err);
    if (code != 0)
        a->bench->report = NULL; /* who was running when the device was lost stays on the stage page */
    return code;
}

int audit_conduct(const struct cell_context *context, const struct cell_request *request, cJSON **out,
                  struct error *err)
{
    struct audit_memory own = {.matrices = {0}};
    struct audit *a = calloc(1, sizeof *a);
    struct bench *bench = calloc(1, sizeof *bench);
    struct cell_record *record = record_new();
    cJSON *list = cJSON_CreateArray();
    int code = 0;
    *out = NULL;
    if (a == NULL || bench == NULL || record == NULL || list == NULL) {
        code = error_set(err, EXIT_CODE_INTERNAL, "out of memory for an audit");
        goto out;
    }
    *bench = (struct bench){.config = context->config,
                            .device = context->device,
                            .problem = request->problem,
                            .mode = request->mode,
                            .headline = TIMING_DEVICE,
                            .seed = request->seed,
                            .sets_each = 1,
                            .n_sets = 1,
                            .shared_sets = true,
                            .record = record,
                            .identity = context->identity,
                            .report = context->report,
                            .report_context = context->report_context};
    random_seed(&bench->random, random_derive(request->seed, "activity", 3));
    *a = (struct audit){
        .memory = context->kept ? context->kept : &own, .context = context, .request = request, .bench = bench};
    code = conduct(a, list, err);
    close_bench(bench);
    audit_memory_free(held(a->memory) > KEPT_BYTES ? a->memory : &own, context->device);
    if (code == 0)
        *out = list;
out:
    if (code != 0)
        cJSON_Delete(list);
    record_free(record);
    free(bench);
    free(a);
    return code;
}
