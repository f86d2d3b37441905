/*
 * bench.c - what the stages of a cell do to an entrant: set up, describe, tear down, fail or refute it, and the stage
 * page before each of them. Relies on operands and device. Called by race, verification, blocks and the worker's cell.
 */
#include "measure/bench.h"
#include "device/probe.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/digest.h"
#include "contender/plugin_place.h"
#include "measure/arrivals.h"
#include "measure/join.h"
#include "measure/ranges.h"
#include "measure/room.h"

void bench_stage(const struct bench *bench, const struct entrant *entrant, const char *stage, double deadline_seconds)
{
    char tag[VARIANT_TAG_MAX] = "", both[32];
    ranges_turn(entrant == NULL ? "" : entrant->record->name, stage);
    if (bench->report == NULL)
        return;
    deadline_seconds += bench_stage_patience(bench, entrant);
    if (bench->mode == MODE_SERVER) /* the wait before a launch is no contender's fault */
        deadline_seconds += 1e-9 * arrivals_longest(&bench->config->gap);
    if (entrant != NULL && entrant->blame_variant && entrant->variant[0] != '\0')
        variant_tag(entrant->variant, tag);
    else if (entrant != NULL && entrant->joins && strcmp(stage, "measure") == 0)
        snprintf(tag, sizeof tag, JOIN_TAG);
    if (tag[0] != '\0') {
        snprintf(both, sizeof both, "%s:%s", stage, tag);
        stage = both;
    }
    bench->report(bench->report_context, entrant == NULL ? "" : entrant->record->name, stage, deadline_seconds);
}

void variant_tag(const char *key, char tag[VARIANT_TAG_MAX])
{
    snprintf(tag, VARIANT_TAG_MAX, "%06x", (unsigned)(digest_crc32(key, strlen(key)) & 0xffffffu));
}

const struct skipped_variant *bench_skipped(const struct bench *bench, const struct entrant *entrant, const char *tag)
{
    for (size_t i = 0; i < bench->n_skipped; i++) {
        const struct skipped_variant *s = &bench->skipped[i];
        if (strcmp(s->tag, tag) == 0 && strcmp(s->contender, entrant->contender->name) == 0)
            return s;
    }
    return NULL;
}

void entrant_reject_variant(struct entrant *entrant, const char *key, const char *reason)
{
    if (entrant->record->tuning == NULL) /* an A/A copy has raced nothing */
        entrant->record->tuning = cJSON_CreateObject();
    cJSON *rejected = cJSON_GetObjectItemCaseSensitive(entrant->record->tuning, "rejected");
    cJSON *entry = cJSON_CreateObject();
    if (rejected == NULL)
        rejected = cJSON_AddArrayToObject(entrant->record->tuning, "rejected");
    cJSON_AddStringToObject(entry, "key", key);
    cJSON_AddStringToObject(entry, "reason", reason);
    cJSON_AddItemToArray(rejected, entry);
}

#define DEVICE_STATE_CHANGED "device_state_changed"

static int launch(void *context, size_t set, char *why)
{
    const struct entrant *e = context;
    return e->contender->ops->launch(e->contender, e->state, set, why);
}

void entrant_wake(const struct entrant *entrant)
{
    if (entrant->contender->ops->wake)
        entrant->contender->ops->wake(entrant->contender);
}

int entrant_rest(const struct entrant *entrant, int code, struct error *err)
{
    bool in_place = !entrant->contender->ops->rest || entrant->contender->ops->rest(entrant->contender);
    return code != 0 || in_place ? code : error_set(err, EXIT_CODE_VERIFICATION, PLUGIN_ASTRAY);
}

void entrant_fail(struct bench *bench, struct entrant *entrant, enum verdict verdict, const char *stage,
                  const char *reason)
{
    struct contender_record *r = entrant->record;
    if (r->verdict == VERDICT_OK) {
        r->verdict = verdict;
        snprintf(r->stage, sizeof r->stage, "%s", stage);
        snprintf(r->reason, sizeof r->reason, "%s", reason);
    }
    entrant_teardown(bench, entrant);
    entrant->alive = false;
}

void entrant_refute(struct bench *bench, struct entrant *entrant, enum verdict verdict, const char *stage,
                    const char *reason)
{
    struct contender_record *r = entrant->record;
    if (!bench->config->time_anyway || bench->config->verify_only || !verdict_is_refuted(verdict)) {
        entrant_fail(bench, entrant, verdict, stage, reason);
        return;
    }
    r->verdict = verdict;
    snprintf(r->stage, sizeof r->stage, "%s", stage);
    snprintf(r->reason, sizeof r->reason, "%s", reason);
    r->invalid = true;
}

/* Some of A and B may outlive a flush, and C need not leave the caches. */
#define FLUSHED_SHARE 0.5

static double traffic_ns(const struct bench *bench)
{
    const struct cudal2_problem *p = &bench->problem;
    double peak = bench->device->info.peak_bytes_per_s;
    double inputs = ((double)p->m + (double)p->n) * (double)p->k * (double)dtype_bytes(p->dtype);
    bool flushed = bench->config->cache[bench->mode] == CACHE_FLUSH;
    return flushed && peak > 0 ? FLUSHED_SHARE * inputs / peak * 1e9 : 0;
}

double bench_floor_ns(const struct bench *bench)
{
    double peak = device_peak_flops(&bench->device->info, bench->problem.dtype);
    double arithmetic = peak > 0 ? problem_flops(&bench->problem) / peak * 1e9 : 0;
    return fmax(arithmetic, traffic_ns(bench));
}

bool bench_is_plausible(const struct bench *bench, double ns)
{
    return ns > 0 && ns >= bench_floor_ns(bench);
}

void entrant_refuse_speed(struct bench *bench, struct entrant *entrant, enum timing timing, double ns)
{
    char reason[RECORD_REASON_MAX];
    snprintf(reason, sizeof reason, "%s time of %.0f ns is under the floor of this device, %.0f ns at its peak rates",
             timing_names[timing], ns, bench_floor_ns(bench));
    entrant_fail(bench, entrant, VERDICT_IMPLAUSIBLE_SPEED, "measure", reason);
}

void bench_operands_request(const struct bench *bench, uint64_t seed, struct operands_request *out)
{
    *out = (struct operands_request){.problem = bench->problem,
                                     .n_sets = bench->n_sets,
                                     .period = bench->sets_each,
                                     .seed = seed,
                                     .pool = bench_pool(bench)};
    for (size_t i = 0; i < bench->n_entrants; i++) {
        const struct entrant *e = &bench->entrants[i];
        for (size_t s = 0; s < e->n_sets; s++)
            out->layouts[e->first_set + s] |= (uint8_t)CUDAL2_BIT(e->contender->is.layout);
    }
}

struct cudal2_setup bench_setup(const struct bench *bench, const struct entrant *entrant, const char *variant)
{
    enum cudal2_layout layout = entrant->contender->is.layout;
    return (struct cudal2_setup){
        .problem = bench->problem,
        .layout = layout,
        .sets = operands_sets(bench->operands, layout) + entrant->first_set,
        .n_sets = entrant->n_sets,
        .workspace = bench->workspace,
        .workspace_bytes = (size_t)bench->config->workspace_bytes,
        .stream = bench->device->stream,
        .device_ordinal = bench->device->info.ordinal,
        .threads = bench->device->info.threads,
        .variant = variant,
    };
}

/* What is changed of the device's process-wide state, "" for nothing; what is found is undone. */
static void take_back(struct bench *bench, char what[128])
{
    struct device *d = bench->device;
    struct error ignored; /* a lost device shows at the next call */
    what[0] = '\0';
    if (bench->config->honesty && d->probes != NULL && d->probes->changes != NULL)
        d->probes->changes(d, what);
    if (what[0] != '\0')
        (void)d->ops->settle(d, &ignored);
}

int entrant_try_setup(struct bench *bench, struct entrant *entrant, const char *variant, char *why)
{
    const struct contender *c = entrant->contender;
    struct cudal2_setup setup = bench_setup(bench, entrant, variant[0] == '\0' ? NULL : variant);
    char changed[128];
    why[0] = '\0';
    if (!bench->in_row || !bench->state_seen)
        take_back(bench, changed); /* whoever it was, it was not this one */
    int status = c->ops->setup(c, &setup, &entrant->state, why);
    entrant->set_up = status == CUDAL2_OK;
    entrant->work = (struct device_work){.launch = launch, .context = entrant, .flags = c->is.flags};
    take_back(bench, changed);
    bench->state_seen = true;
    if (status != CUDAL2_OK || changed[0] == '\0')
        return status;
    entrant_teardown(bench, entrant);
    snprintf(why, CUDAL2_WHY, DEVICE_STATE_CHANGED ": %s", changed);
    return CUDAL2_LIBRARY_ERROR;
}

/* Of n, the one whose name begins the text; VERDICT_COUNT when none does. */
static enum verdict told_of(const char *text, const enum verdict *told, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strncmp(text, verdict_name(told[i]), strlen(verdict_name(told[i]))) == 0)
            return told[i];
    return VERDICT_COUNT;
}

/* Of a setup that said no: a module tells its own. */
static enum verdict setup_verdict(int status, const char *why)
{
    static const enum verdict told[] = {VERDICT_COMPILE_ERROR, VERDICT_LOAD_ERROR, VERDICT_DEVICE_STATE_CHANGED};
    enum verdict own = told_of(why, told, sizeof told / sizeof *told);
    if (own != VERDICT_COUNT)
        return own;
    if (status == CUDAL2_UNSUPPORTED)
        return VERDICT_UNSUPPORTED;
    return status == CUDAL2_NO_MEMORY ? VERDICT_OUT_OF_MEMORY : VERDICT_SETUP_ERROR;
}

unsigned bench_threads(const struct bench *bench)
{
    const struct probe_ops *probes = bench->device->probes;
    return probes != NULL && probes->threads != NULL ? probes->threads() : 0;
}

void entrant_threads(const struct bench *bench, struct entrant *entrant, unsigned before)
{
    unsigned now = before == 0 ? 0 : bench_threads(bench);
    if (now > before && now - before > entrant->threads)
        entrant->threads = now - before;
}

/* Its memory is no author's: kernels that the harness loads take none that it does not give back. */
static bool may_leak(const struct bench *bench, const struct entrant *entrant)
{
    return bench->config->honesty && !entrant->contender->ops->device_only;
}

bool entrant_setup(struct bench *bench, struct entrant *entrant)
{
    char why[CUDAL2_WHY];
    bool counted = bench->config->honesty && bench->record->groups <= 1; /* counting takes some 20 us */
    bench_stage(bench, entrant, "setup", bench->config->limits.setup_seconds);
    if (leak_watch_leaks(&entrant->leaks)) {
        entrant_fail(bench, entrant, VERDICT_LEAK, "setup", "each setup takes memory that no teardown gives back");
        return false;
    }
    bench->leak_meter.known &= may_leak(bench, entrant);
    if (may_leak(bench, entrant))
        leak_watch_setup(&entrant->leaks, &bench->leak_meter, bench->device, true);
    unsigned threads = counted ? bench_threads(bench) : 0;
    int status = entrant_try_setup(bench, entrant, entrant->variant, why);
    entrant_threads(bench, entrant, threads);
    if (may_leak(bench, entrant) && status == CUDAL2_OK)
        leak_watch_setup(&entrant->leaks, &bench->leak_meter, bench->device, false);
    if (status == CUDAL2_OK)
        return true;
    entrant_fail(bench, entrant, setup_verdict(status, why), "setup", why);
    return false;
}

int entrant_begin(struct bench *bench, struct entrant *entrant, struct error *err)
{
    struct device *d = bench->device;
    (void)entrant_setup(bench, entrant);
    if (!entrant->record->candidate || entrant->contender->ops->device_only)
        return 0;
    bench_stage(bench, entrant, "setup", bench->config->limits.setup_seconds);
    int code = d->ops->sync(d, err);
    return code == 0 ? 0 : entrant_fault(bench, entrant, "setup", err);
}

int entrant_ask(const struct bench *bench, const struct entrant *entrant, char *out, size_t capacity)
{
    const struct contender *c = entrant->contender;
    out[0] = '\0';
    bench_stage(bench, entrant, "setup", bench->config->limits.setup_seconds);
    memset(out, 0, capacity);
    int status = c->ops->describe == NULL ? CUDAL2_UNSUPPORTED : c->ops->describe(c, entrant->state, out, capacity);
    bench_stage(bench, NULL, "setup", bench->config->limits.setup_seconds);
    return status;
}

void entrant_describe(const struct bench *bench, struct entrant *entrant)
{
    char text[4096];
    struct contender_record *r = entrant->record;
    struct error why = {.text = ""};
    cJSON *said = NULL;
    if (r->attributes != NULL || r->copy_of[0] != '\0' || entrant_ask(bench, entrant, text, sizeof text) != CUDAL2_OK ||
        text[0] == '\0')
        return;
    text[sizeof text - 1] = '\0';
    int code = json_parse(text, strlen(text), sizeof text, "describe", &said, &why);
    if (code == 0 && !cJSON_IsObject(said))
        code = json_fail(json_root(said, "describe"), &why, "expected an object");
    if (code == 0) {
        r->attributes = said;
        return;
    }
    cJSON_Delete(said);
    r->attributes = cJSON_CreateObject();
    cJSON_AddStringToObject(r->attributes, "describe_error", why.text);
}

enum timing bench_row_timing(const struct bench *bench)
{
    return timing_is_segment(bench->headline) ? bench->headline : TIMING_DEVICE;
}

struct prepared_row *bench_row(const struct bench *bench, struct entrant *entrant, enum timing timing)
{
    return timing == bench_row_timing(bench) ? &entrant->row : &entrant->beside[timing];
}

/* Where a graph holds one launch, as with an emptied cache, nothing can overlap it. */
bool bench_takes_beside(const struct bench *bench, enum timing timing)
{
    const struct timing_info *info = &timing_table[timing];
    uint32_t taken = bench->device->info.timings & bench->config->timings;
    bool single = bench->config->cache[bench->mode] == CACHE_FLUSH;
    return timing != bench->headline && (taken & CUDAL2_BIT(timing)) != 0 &&
           (info->modes & CUDAL2_BIT(bench->mode)) != 0 && !(info->overlaps && single);
}

static void release_segment(struct bench *bench, struct device_segment **segment)
{
    if (*segment != NULL)
        bench->device->ops->release_segment(bench->device, *segment);
    *segment = NULL;
}

static void release_launches(struct bench *bench, struct entrant *entrant)
{
    release_segment(bench, &entrant->row.segment);
    for (int t = 0; t < TIMING_COUNT; t++) {
        release_segment(bench, &entrant->beside[t].segment);
        release_segment(bench, &entrant->chains[t]);
    }
    if (entrant->has_graph_work)
        bench->device->ops->release_graph_work(bench->device, &entrant->graph_work);
    entrant->has_graph_work = false;
}

/* Names the entrant, and leaves its name there. False where there was nothing to tear down. */
static bool tear_down(struct bench *bench, struct entrant *entrant)
{
    bool any = entrant->set_up;
    release_launches(bench, entrant);
    if (any) {
        bench_stage(bench, entrant, "teardown", bench->config->limits.setup_seconds);
        leak_watch_teardown(&entrant->leaks, &bench->leak_meter, bench->device, true);
        bench->state_seen = false;
        entrant->contender->ops->teardown(entrant->contender, entrant->state);
        leak_watch_teardown(&entrant->leaks, &bench->leak_meter, bench->device, false);
    }
    entrant->set_up = false;
    entrant->state = NULL;
    return any;
}

/* Whoever was torn down must not answer for a hang behind it. */
static void leave_teardown(const struct bench *bench)
{
    bench_stage(bench, NULL, "teardown", bench->config->limits.setup_seconds);
}

void entrant_teardown(struct bench *bench, struct entrant *entrant)
{
    if (tear_down(bench, entrant))
        leave_teardown(bench);
}

const char *bench_identity(const struct bench *bench, const struct contender *contender)
{
    bool library = contender->role == ROLE_BASELINE && contender->is.launch != NULL;
    return library && bench->library_identity ? bench->library_identity : bench->identity;
}

/* What was captured goes first: between two teardowns nothing else gives back memory. Each is named until the next one
 * is, as with setups in a row: what its hook has changed is looked for once, when its name goes. */
void bench_teardown_all(struct bench *bench)
{
    bool any = false;
    for (size_t i = 0; i < bench->n_entrants; i++)
        release_launches(bench, &bench->entrants[i]);
    leak_meter_begin_row(&bench->leak_meter);
    for (size_t i = 0; i < bench->n_entrants; i++)
        any |= tear_down(bench, &bench->entrants[i]);
    leak_meter_end_row(&bench->leak_meter);
    if (any)
        leave_teardown(bench);
}

/* A set's matrices, with the guards around them. What C holds before a launch is the harness's own. */
static bool lend_set(const struct bench *bench, const struct contender *c, size_t set)
{
    struct probe_region guards[OPERANDS_GUARDS];
    size_t n = operands_guards(bench->operands, set, guards) / 2;
    bool keep = !problem_is_packed(&bench->problem), lent = true;
    for (size_t i = 0; i < n && lent; i++) {
        const char *from = guards[2 * i].memory, *matrix = from + guards[2 * i].bytes, *end = guards[2 * i + 1].memory;
        if (matrix != bench->operands->input[set])
            lent = c->ops->lend(c, from, end + guards[2 * i + 1].bytes, keep);
    }
    return lent;
}

static int lend_all(const struct bench *bench, struct error *err)
{
    for (size_t i = 0; i < bench->n_entrants && bench->arenas.apart; i++) {
        const struct entrant *e = &bench->entrants[i];
        for (size_t s = 0; s < bench->sets_each && e->contender->ops->lend != NULL; s++)
            if (!lend_set(bench, e->contender, e->first_set + s))
                return error_set(err, EXIT_CODE_UNAVAILABLE, "no memory for matrices that a plugin's process shares");
    }
    return 0;
}

int bench_move(struct bench *bench, uint64_t seed, struct error *err)
{
    struct operands_request request;
    void *memory = NULL;
    bench_operands_request(bench, seed, &request);
    bench_teardown_all(bench);
    operands_free(bench->device, bench->operands);
    bench->operands = NULL;
    struct arenas_move move = {.bytes = operands_bytes(&request), .seed = seed};
    if (!arenas_full(&bench->arenas, move.bytes))
        move.room = bench_room(bench);
    int code = arenas_move(&bench->arenas, bench->device, &move, &memory, err);
    if (code != 0)
        return error_wrap(err, "operands of %llu bytes", (unsigned long long)move.bytes);
    code = operands_place(bench->device, &request, memory, &bench->operands, err);
    return code == 0 ? lend_all(bench, err) : code;
}

void bench_release_operands(struct bench *bench)
{
    operands_free(bench->device, bench->operands);
    bench->operands = NULL;
    arenas_free(&bench->arenas, bench->device);
}

uint64_t bench_values(const struct bench *bench, const char *purpose, uint64_t index)
{
    return random_derive(bench->seed, purpose, index) >> 8; /* sets count up from it */
}

int bench_begin_fill(struct bench *bench, const char *purpose, uint64_t index, struct error *err)
{
    uint64_t seed = bench_values(bench, purpose, index);
    return operands_fill(bench->device, bench->operands, bench_inputs(bench), seed, 0, err);
}

int bench_fill(struct bench *bench, const char *purpose, uint64_t index, struct error *err)
{
    int code = bench_begin_fill(bench, purpose, index, err);
    return code == 0 ? bench->device->ops->sync(bench->device, err) : code;
}

/* The verdict that begins the text, as a check of a timed launch says it (measure/timed.h), or a stream that escaped.
 * Anything else is a launch error. */
static enum verdict told_verdict(const char *text)
{
    static const enum verdict told[] = {VERDICT_WRONG_RESULT,         VERDICT_INPUT_MUTATED, VERDICT_LATE_WORK,
                                        VERDICT_DEVICE_STATE_CHANGED, VERDICT_STREAM_ESCAPE, VERDICT_TAMPER_SUSPECTED};
    enum verdict own = told_of(text, told, sizeof told / sizeof *told);
    return own == VERDICT_COUNT ? VERDICT_LAUNCH_ERROR : own;
}

int entrant_fault(struct bench *bench, struct entrant *entrant, const char *stage, struct error *err)
{
    struct error settle_err;
    if (bench->device->ops->settle(bench->device, &settle_err) != 0) {
        error_wrap(err, "%s at %s", entrant->record->name, stage);
        err->code = EXIT_CODE_UNAVAILABLE;
        bench->report = NULL; /* the page keeps this name: whatever is torn down from here on did not do it */
        return err->code;
    }
    enum verdict verdict = told_verdict(err->text);
    if (verdict == VERDICT_LAUNCH_ERROR || verdict == VERDICT_STREAM_ESCAPE)
        entrant_fail(bench, entrant, verdict, stage, err->text);
    else
        entrant_refute(bench, entrant, verdict, stage, err->text + strlen(verdict_name(verdict)) + strlen(": "));
    return 0;
}
