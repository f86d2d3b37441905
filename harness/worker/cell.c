/*
 * cell.c - conducts one cell: memory, setup, races, verification, blocks, end. Whatever fails in a contender goes into
 * its record; only a lost device ends the worker. Called by worker.c for each request.
 */
#include "worker/cell.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/cell_loop.h"
#include "measure/chain.h"
#include "measure/choose.h"
#include "measure/energy.h"
#include "measure/paper.h"
#include "measure/race.h"
#include "measure/ranges.h"
#include "measure/room.h"
#include "measure/rotation.h"
#include "measure/timed.h"
#include "verify/borrowed_note.h"
#include "verify/fence.h"
#include "verify/honesty.h"
#include "verify/invariance.h"
#include "verify/join_trial.h"
#include "verify/rivals.h"
#include "verify/stage.h"
#include "worker/entrants.h"
#include "worker/placement.h"

static double now_seconds(const struct bench *bench)
{
    return 1e-9 * (double)bench->device->ops->now(bench->device);
}

/* Adds the time since *mark to the phase and moves the mark. */
static void end_phase(struct bench *bench, enum phase phase, double *mark)
{
    double now = now_seconds(bench);
    bench->record->phase_seconds[phase] += now - *mark;
    *mark = now;
}

static enum timing headline_of(const struct cell_context *context, enum mode mode)
{
    uint32_t able = context->device->info.timings;
    enum timing wanted = context->config->headline;
    /* The paper's protocol is event-timed (Listing 1) unless the user says otherwise. */
    if (context->config->protocol == PROTOCOL_PAPER && !context->config->headline_given)
        wanted = TIMING_EVENT;
    return timing_choose(wanted, able, mode);
}

static struct cell_record *new_record(const struct cell_context *context, const struct cell_request *request,
                                      enum timing headline)
{
    struct cell_record *r = record_new();
    if (r == NULL)
        return NULL;
    r->problem = request->problem;
    r->mode = request->mode;
    r->headline = headline;
    r->cache = context->config->cache[request->mode];
    r->alone = true;
    r->worker = context->worker;
    snprintf(r->label, sizeof r->label, "%s", request->label);
    r->outcome = CELL_OK;
    r->phase_seconds[PHASE_SETUP] = context->waited_seconds;
    return r;
}

/* What libraries take for themselves once a launch makes them load kernels and open handles; the contenders' own
 * workspace is ours and counted apart. */
#define LIBRARY_BYTES_CUDA (512ull << 20)
#define LIBRARY_BYTES_CPU (128ull << 20)

/* What the cell holds all the time: matrices, workspace, what empties the cache, the libraries. */
static uint64_t bytes_held(const struct bench *bench)
{
    struct operands_request request;
    bench_operands_request(bench, 0, &request);
    bool on_cuda = bench->device->info.device_bit == CUDAL2_ON_CUDA;
    return operands_bytes(&request) + chain_bytes(bench) + bench->config->workspace_bytes + bench_flush_bytes(bench) +
           (on_cuda ? LIBRARY_BYTES_CUDA : LIBRARY_BYTES_CPU);
}

/* What else it takes for a while: references and a probe while it is verified, or checks while it is timed. */
static uint64_t bytes_taken(const struct bench *bench)
{
    uint64_t references = bench->config->verify ? verify_bytes(&bench->problem) : 0;
    uint64_t checks = bench->config->honesty ? bench_check_bytes(bench) : 0;
    return references > checks ? references : checks;
}

/* Nobody's fault and nobody's result: whoever would have raced is skipped with the cell. */
static void skip_cell(struct bench *bench, uint64_t needed, uint64_t there)
{
    struct cell_record *r = bench->record;
    r->outcome = CELL_SKIPPED;
    snprintf(r->reason, sizeof r->reason, "needs %" PRIu64 " bytes of device memory, %" PRIu64 " are available", needed,
             there);
    for (size_t i = 0; i < bench->n_entrants; i++) {
        struct contender_record *c = bench->entrants[i].record;
        c->verdict = VERDICT_SKIPPED;
        snprintf(c->reason, sizeof c->reason, "%s", r->reason);
    }
}

/* Whether the problem fits; if not, the record says how much it needs. */
static int check_memory(struct bench *bench, bool *fits, struct error *err)
{
    uint64_t needed, there = 0;
    bench->memory_held = bytes_held(bench);
    bench->memory_limit = bench->config->limits.memory_bytes;
    needed = bench->memory_held + bytes_taken(bench);
    int code = bench->device->ops->memory_free(bench->device, &there, err);
    if (code != 0)
        return code;
    if (bench->config->limits.memory_bytes != 0 && bench->config->limits.memory_bytes < there)
        there = bench->config->limits.memory_bytes;
    *fits = needed <= there;
    if (!*fits)
        skip_cell(bench, needed, there);
    return 0;
}

static int take_memory(struct bench *bench, struct error *err)
{
    bench_stage(bench, NULL, "operands", bench->config->limits.setup_seconds);
    bench->arenas.most = bench->device->info.device_bit == CUDAL2_ON_CUDA ? ARENAS_MOST : 1;
    bench->arenas.apart = !bench->shared_sets;
    int code = bench_move(bench, random_derive(bench->seed, "addresses", 0), err);
    if (code == 0 && bench->config->workspace_bytes > 0)
        code = bench->device->ops->alloc(bench->device, (size_t)bench->config->workspace_bytes, &bench->workspace, err);
    return code == 0 ? bench_fill(bench, "tune", 0, err) : code;
}

/* The next one of a search's ranking, for an entrant that stands for a place behind the winner. */
static void take_place(struct bench *bench, struct entrant *e, struct race_result *race)
{
    if (race->next < race->n)
        snprintf(e->variant, sizeof e->variant, "%s", race->ranked[race->next++].key);
    else
        entrant_fail(bench, e, VERDICT_UNSUPPORTED, "tune", "no further variant came through the race");
}

/* Sets up those with one way to do it, races the variants of the others and sets their winners up. An A/A copy takes
 * its original's winner: it is the same contender, on other operands. */
static int set_up_all(struct bench *bench, struct race_result *races, double *mark, struct error *err)
{
    int code = 0;
    for (size_t i = 0; i < bench->n_entrants && code == 0; i++) {
        struct entrant *e = &bench->entrants[i];
        if (e->shares_ranking > 0) {
            take_place(bench, e, &races[e->shares_ranking - 1]);
        } else if (e->has_variants && e->record->copy_of[0] == '\0') {
            end_phase(bench, PHASE_SETUP, mark);
            code = bench->config->verify_only ? verify_list_variants(bench, e, &races[i], err)
                                              : race_run(bench, e, &races[i], err);
            end_phase(bench, PHASE_TUNE, mark);
            if (races[i].n > 0)
                snprintf(e->variant, sizeof e->variant, "%s", races[i].ranked[races[i].next++].key);
        }
    }
    choose_settle(bench);
    for (size_t i = 0; i < bench->n_entrants && code == 0; i++)
        if (bench->entrants[i].alive && bench->entrants[i].record->copy_of[0] == '\0')
            code = entrant_begin(bench, &bench->entrants[i], err);
    end_phase(bench, PHASE_SETUP, mark);
    return code;
}

/* The copy starts with its original's winner, or leaves with it. Should verification strike that winner off, the copy
 * follows its original to the next. */
static int set_up_copy(struct bench *bench, struct error *err)
{
    int code = 0;
    for (size_t i = 0; i < bench->n_entrants && code == 0; i++) {
        struct entrant *copy = &bench->entrants[i];
        if (copy->record->copy_of[0] == '\0')
            continue;
        for (size_t j = 0; j < bench->n_entrants && code == 0; j++) {
            const struct entrant *original = &bench->entrants[j];
            if (strcmp(original->record->name, copy->record->copy_of) != 0)
                continue;
            memcpy(copy->variant, original->variant, sizeof copy->variant);
            if (original->alive)
                code = entrant_begin(bench, copy, err);
            else
                entrant_fail(bench, copy, original->record->verdict, "setup", "the original failed");
        }
    }
    return code;
}

/* Who is being timed, by the key that brings it back: a search and an audit ask for it again. */
static void say_variants(struct bench *bench)
{
    for (size_t i = 0; i < bench->n_entrants; i++) {
        const struct entrant *e = &bench->entrants[i];
        if (!e->alive || e->variant[0] == '\0' || e->record->copy_of[0] != '\0')
            continue;
        if (e->record->tuning == NULL)
            e->record->tuning = cJSON_CreateObject();
        cJSON_AddStringToObject(e->record->tuning, "variant", e->variant);
    }
}

/* Behind everything that is timed. */
static int measure_energy(struct bench *bench, double *mark, struct error *err)
{
    bool wanted = bench->config->energy && bench->mode == MODE_OFFLINE && !bench->config->verify_only;
    if (!wanted)
        return 0;
    int code = energy_measure(bench, err);
    end_phase(bench, PHASE_OTHER, mark);
    return code;
}

static int run_stages(struct bench *bench, struct race_result *races, struct error *err)
{
    double mark = now_seconds(bench);
    int code = take_memory(bench, err);
    end_phase(bench, PHASE_OPERANDS, &mark);
    if (code == 0)
        code = timed_open(bench, err);
    if (code == 0)
        code = chain_open(bench, err);
    if (code == 0)
        code = set_up_all(bench, races, &mark, err);
    if (code == 0)
        code = set_up_copy(bench, err);
    if (code == 0 && bench->config->verify)
        code = verify_entrants(bench, races, err);
    if (code == 0 && bench->config->verify)
        code = fence_check(bench, err);
    if (code == 0 && bench->config->verify)
        code = invariance_check(bench, err);
    if (code == 0 && bench->config->verify)
        code = chain_verify(bench, err);
    say_variants(bench);
    bench->judging = true;
    end_phase(bench, PHASE_VERIFY, &mark);
    rivals_begin(bench);
    if (code == 0 && !bench->config->verify_only)
        code = bench->config->protocol == PROTOCOL_PAPER ? paper_run(bench, err) : cell_loop_run(bench, err);
    if (code == 0 && !bench->config->verify_only)
        code = honesty_finish(bench, err);
    timed_note(bench);
    borrowed_note(bench);
    end_phase(bench, PHASE_MEASURE, &mark);
    if (code == 0)
        code = measure_energy(bench, &mark, err);
    if (!bench->config->verify_only) {
        bench->record->rotation = rotation_of(bench);
        bench->record->chain = chain_of(bench);
    }
    return code;
}

static void close_bench(struct bench *bench, struct race_result *races)
{
    for (size_t i = 0; i < bench->n_entrants; i++) {
        entrant_teardown(bench, &bench->entrants[i]);
        free(races[i].ranked);
    }
    if (bench->null_segment != NULL)
        bench->device->ops->release_segment(bench->device, bench->null_segment);
    timed_close(bench);
    chain_close(bench);
    bench_release_operands(bench);
    if (bench->workspace != NULL)
        bench->device->ops->release(bench->device, bench->workspace);
}

/* A cell whose contenders did not all get to the end says so in its own status. */
static void settle_status(struct cell_record *r)
{
    size_t raced = 0;
    bool faults = false;
    for (size_t i = 0; i < r->n_contenders; i++) {
        enum verdict v = r->contenders[i].verdict;
        raced += v == VERDICT_OK;
        faults = faults || (v != VERDICT_OK && v != VERDICT_UNAVAILABLE && v != VERDICT_UNSUPPORTED);
    }
    if (r->outcome != CELL_OK)
        return;
    if (raced == 0) {
        r->outcome = CELL_FAILED;
        snprintf(r->reason, sizeof r->reason, "no contender could be measured");
    } else if (faults) {
        r->outcome = CELL_PARTIAL;
    }
}

static int conduct(const struct cell_context *context, const struct cell_request *request, struct bench *bench,
                   struct error *err)
{
    struct race_result races[RECORD_MAX_CONTENDERS] = {0};
    struct skipped_variant *skipped = calloc(CELL_MAX_EXCLUSIONS, sizeof *skipped);
    bool fits = false;
    if (skipped == NULL)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for a cell");
    bench->threads = context->threads;
    bench->filled = context->filled;
    bench->skipped = skipped;
    bench->n_skipped = entrants_skipped(request, skipped);
    int code = entrants_choose(context, request, bench, err);
    if (code == 0 && bench->n_entrants > 0)
        code = check_memory(bench, &fits, err);
    if (code == 0 && fits)
        code = run_stages(bench, races, err);
    if (code != 0)
        bench->report = NULL; /* who was running when the device was lost stays on the stage page */
    close_bench(bench, races);
    free(skipped);
    settle_status(bench->record);
    return code;
}

int cell_conduct(const struct cell_context *context, const struct cell_request *request, struct cell_record **out,
                 struct error *err)
{
    struct bench *bench = calloc(1, sizeof *bench);
    enum timing headline = headline_of(context, request->mode);
    char key[RECORD_KEY_MAX];
    int code = 0;
    *out = bench == NULL ? NULL : new_record(context, request, headline);
    if (*out == NULL) {
        code = error_set(err, EXIT_CODE_INTERNAL, "out of memory for a cell");
        goto out;
    }
    bench->config = context->config;
    bench->device = context->device;
    bench->problem = request->problem;
    bench->mode = request->mode;
    bench->headline = headline;
    bench->seed = request->seed;
    struct placement places =
        placement_choose(context->config, &context->device->info, &request->problem, request->mode, headline);
    bench->visits = places.visits;
    bench->sets_each = places.sets_each;
    bench->shared_sets = places.shared;
    bench->record = *out;
    bench->report = context->report;
    bench->report_context = context->report_context;
    bench->identity = context->identity;
    bench->library_identity = context->library_identity;
    bench->between_blocks = honesty_after_block;
    bench->try_joins = join_trial_all;
    bench->tuned = context->tuned;
    bench->ranker = context->ranker;
    bench->search = request->search;
    random_seed(&bench->random, random_derive(request->seed, "cell", 0));
    record_key(&request->problem, request->mode, key);
    ranges_begin_cell(key);
    code = conduct(context, request, bench, err);
    ranges_end_cell();
out:
    if (code != 0) {
        record_free(*out);
        *out = NULL;
    }
    free(bench);
    return code;
}
