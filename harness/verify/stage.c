/*
 * stage.c - runs the checks of a cell in order, strikes variants off, gives the verdicts and keeps the bounds. Relies
 * on exact, deviation, probe and instructions. Called by worker/cell.c before anything is timed.
 */
#include "verify/stage.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/cpu_math.h"
#include "measure/timed_error.h"
#include "verify/exact.h"
#include "verify/instructions.h"
#include "verify/probe.h"
#include "verify/verified.h"

/* The stage's own state: what each entrant still has to show, and what it has shown. */
struct stage {
    struct bench *bench;
    struct race_result *races;
    bool wanted[RECORD_MAX_CONTENDERS];
    char before[RECORD_MAX_CONTENDERS][sizeof(((struct entrant *)0)->variant)]; /* this pass */
    struct deviation deviations[RECORD_MAX_CONTENDERS];
    unsigned draws[RECORD_MAX_CONTENDERS]; /* sets of inputs that the last judgement of the deviation took */
    struct model_calibration calibration;
    struct yardstick yardstick;
    /* verify_only: what the first variant that failed was told, and how many did */
    size_t n_rejected[RECORD_MAX_CONTENDERS];
    enum verdict first_verdict[RECORD_MAX_CONTENDERS];
    char first_reason[RECORD_MAX_CONTENDERS][RECORD_REASON_MAX];
};

static bool is_baseline(const struct entrant *entrant)
{
    return entrant->contender->role == ROLE_BASELINE;
}

/* ---- failing ---- */

/* The next variant to try; NULL when there is none. An A/A copy has no ranking of its own: it follows its original,
 * which comes before it and may just have fallen back from the same variant. */
static const char *next_variant(const struct bench *bench, const struct entrant *entrant, struct race_result *race)
{
    if (race->next < race->n)
        return race->ranked[race->next++].key;
    for (size_t i = 0; i < bench->n_entrants; i++) {
        const struct entrant *e = &bench->entrants[i];
        bool original = strcmp(e->record->name, entrant->record->copy_of) == 0;
        if (original && e->alive && strcmp(e->variant, entrant->variant) != 0)
            return e->variant;
    }
    return NULL;
}

static void refuse(struct bench *bench, struct entrant *entrant, enum verdict verdict, const char *reason)
{
    entrant_refute(bench, entrant, verdict, "verify", reason);
}

/* What one variant showed says nothing about the next. */
static void forget_shown(struct stage *s, size_t i)
{
    struct contender_record *r = s->bench->entrants[i].record;
    cJSON_Delete(r->verification);
    cJSON_Delete(r->deviation);
    r->verification = r->deviation = NULL;
    s->deviations[i] = (struct deviation){.profile = NAN};
}

static void note_rejected(struct stage *s, size_t i, enum verdict verdict, const char *reason)
{
    if (s->n_rejected[i]++ > 0)
        return;
    s->first_verdict[i] = verdict;
    snprintf(s->first_reason[i], sizeof s->first_reason[i], "variant %.100s: %.140s", s->bench->entrants[i].variant,
             reason);
}

static struct race_result *ranking_of(struct stage *s, size_t i)
{
    unsigned shared = s->bench->entrants[i].shares_ranking;
    return &s->races[shared > 0 ? shared - 1 : i];
}

static bool switch_variant(struct stage *s, size_t i, const char *next)
{
    struct entrant *entrant = &s->bench->entrants[i];
    entrant_teardown(s->bench, entrant);
    snprintf(entrant->variant, sizeof entrant->variant, "%s", next);
    forget_shown(s, i);
    return entrant_setup(s->bench, entrant);
}

/* True when another variant took over and must be checked from the first seed. */
static bool fall_back(struct stage *s, size_t i, enum verdict verdict, const char *reason)
{
    struct bench *bench = s->bench;
    struct entrant *entrant = &bench->entrants[i];
    const char *next = NULL;
    if (entrant->has_variants) {
        entrant_reject_variant(entrant, entrant->variant, reason);
        note_rejected(s, i, verdict, reason);
        next = next_variant(bench, entrant, ranking_of(s, i));
    }
    if (next == NULL) {
        if (entrant->blame_variant) /* of a search the variant was wrong; the contender has others */
            entrant_fail(bench, entrant, VERDICT_UNSUPPORTED, "verify", reason);
        else
            refuse(bench, entrant, verdict, reason);
        return false;
    }
    return switch_variant(s, i, next);
}

/* ---- exact match ---- */

static int check_seed(struct stage *s, uint64_t seed, struct error *err)
{
    struct bench *bench = s->bench;
    struct exact_case exact;
    int code = exact_prepare(bench, seed, &exact, err);
    for (size_t i = 0; i < bench->n_entrants && code == 0; i++) {
        struct entrant *e = &bench->entrants[i];
        char why[CUDAL2_WHY] = "";
        enum verdict verdict = VERDICT_OK;
        if (!e->alive || !s->wanted[i])
            continue;
        code = exact_check(bench, e, &exact, &verdict, why, err);
        if (code != 0)
            code = entrant_fault(bench, e, "verify", err);
        else if (verdict != VERDICT_OK)
            s->wanted[i] = fall_back(s, i, verdict, why);
    }
    exact_release(bench, &exact);
    return code;
}

/* ---- deviation and accumulator class ---- */

/* fall_back forgets what was shown, and with it the reason. */
static bool refuse_launch(struct stage *s, size_t i)
{
    char why[CUDAL2_WHY];
    memcpy(why, s->deviations[i].why, sizeof why);
    return fall_back(s, i, VERDICT_LAUNCH_ERROR, why);
}

/* Everyone on the same inputs in every pass: what a baseline showed in the first bounds who comes in the second. */
static int measure_all(struct stage *s, bool *changed, struct error *err)
{
    struct bench *bench = s->bench;
    struct normal_case normal;
    int code = normal_prepare(bench, random_derive(bench->seed, "deviation", 0) >> 8, &normal, err);
    for (size_t i = 0; i < bench->n_entrants && code == 0; i++) {
        struct entrant *e = &bench->entrants[i];
        if (!e->alive || !s->wanted[i] || changed[i])
            continue;
        code = normal_measure(bench, e, &normal, &s->deviations[i], err);
        if (code != 0)
            code = entrant_fault(bench, e, "verify", err);
        else if (!s->deviations[i].measured)
            changed[i] = refuse_launch(s, i);
    }
    normal_release(bench, &normal);
    return code;
}

/* A kernel billed f32 on a problem that cannot show what it accumulates in shows it on a longer one. */
static int classify_by_probe(struct stage *s, size_t i, struct error *err)
{
    struct bench *bench = s->bench;
    struct deviation *d = &s->deviations[i];
    const struct cudal2_problem longer = probe_problem(bench);
    double k = (double)longer.k, profile = NAN;
    double threshold = model_class_threshold(longer.dtype, k, &s->calibration, s->calibration.wide);
    int code = threshold > 0 ? probe_profile(bench, &bench->entrants[i], &longer, &profile, d->why, err) : 0;
    deviation_class(d, profile, k, threshold);
    return code == 0 ? 0 : entrant_fault(bench, &bench->entrants[i], "verify", err);
}

static int classify(struct stage *s, size_t i, struct error *err)
{
    struct deviation *d = &s->deviations[i];
    const struct cudal2_problem *p = &s->bench->problem;
    deviation_class(d, d->profile, (double)p->k, s->yardstick.threshold);
    if (!d->classed && p->accumulate == CUDAL2_ACC_F32 && !is_baseline(&s->bench->entrants[i]))
        return classify_by_probe(s, i, err);
    return 0;
}

/* Adds class, width beyond the bill and numbers to the entrant's record. */
static void keep(const struct stage *s, size_t i)
{
    const struct entrant *e = &s->bench->entrants[i];
    const struct deviation *d = &s->deviations[i];
    struct contender_record *r = e->record;
    bool billed_half = s->bench->problem.accumulate == CUDAL2_ACC_F16;
    if (r->verification == NULL)
        r->verification = cJSON_CreateObject();
    if (d->classed)
        cJSON_AddStringToObject(r->verification, "class", d->wide ? "f32" : "f16");
    else if (!billed_half && !is_baseline(e))
        cJSON_AddStringToObject(r->verification, "class", "untested");
    if (!d->classed && !billed_half && !is_baseline(e) && d->why[0] != '\0')
        cJSON_AddStringToObject(r->verification, "class_reason", d->why);
    if (d->classed && d->wide && billed_half && (e->contender->is.flags & CUDAL2_ACC_WIDER) == 0)
        cJSON_AddBoolToObject(r->verification, "wider", true);
    if (s->draws[i] > 1)
        cJSON_AddNumberToObject(r->verification, "draws", s->draws[i]);
    cJSON_Delete(r->deviation);
    r->deviation = deviation_to_json(d);
}

/* The numbers first; where they leave it open, the instructions that the kernel is made of. */
static enum verdict judge(const struct stage *s, size_t i, char *why)
{
    const struct entrant *e = &s->bench->entrants[i];
    const struct deviation *d = &s->deviations[i];
    const struct cudal2_problem *p = &s->bench->problem;
    enum verdict verdict = deviation_judge(p, is_baseline(e), d, &s->yardstick, why);
    if (verdict == VERDICT_OK && !is_baseline(e) && p->accumulate == CUDAL2_ACC_F32 && !(d->classed && d->wide))
        verdict = instructions_judge(s->bench, e, why);
    return verdict;
}

/* Another set of inputs for this entrant, whose class is known. */
static int draw_again(struct stage *s, size_t i, struct error *err)
{
    struct bench *bench = s->bench;
    struct deviation *d = &s->deviations[i], before = *d;
    struct normal_case normal;
    int code = normal_prepare(bench, random_derive(bench->seed, "deviation", s->draws[i]++) >> 8, &normal, err);
    if (code != 0)
        return code;
    code = normal_measure(bench, &bench->entrants[i], &normal, d, err);
    normal_release(bench, &normal);
    if (code != 0)
        return entrant_fault(bench, &bench->entrants[i], "verify", err);
    d->classed = before.classed;
    d->wide = before.wide;
    if (d->why[0] == '\0')
        memcpy(d->why, before.why, sizeof d->why);
    return 0;
}

static bool needs_another_draw(const struct stage *s, size_t i, enum verdict verdict)
{
    return verdict == VERDICT_WRONG_RESULT && !is_baseline(&s->bench->entrants[i]) && s->draws[i] < MODEL_DRAWS &&
           deviation_is_doubtful(&s->bench->problem, &s->deviations[i], &s->yardstick);
}

/* A verdict from the numbers. Who is over a bound by little is wrong only if other inputs say so too (model.h). */
static int judge_draws(struct stage *s, size_t i, enum verdict *verdict, char *why, struct error *err)
{
    const struct entrant *e = &s->bench->entrants[i];
    const struct deviation *d = &s->deviations[i];
    int code = classify(s, i, err);
    s->draws[i] = 1;
    *verdict = judge(s, i, why);
    while (code == 0 && e->alive && needs_another_draw(s, i, *verdict)) {
        code = draw_again(s, i, err);
        *verdict = d->measured ? judge(s, i, why) : VERDICT_LAUNCH_ERROR;
    }
    if (!d->measured)
        memcpy(why, d->why, sizeof d->why);
    else if (*verdict == VERDICT_WRONG_RESULT && s->draws[i] > 1)
        snprintf(why + strlen(why), CUDAL2_WHY - strlen(why), "; so on %u sets of inputs", s->draws[i]);
    return code;
}

static int check_normal(struct stage *s, struct error *err)
{
    struct bench *bench = s->bench;
    bool changed[RECORD_MAX_CONTENDERS] = {false};
    int code = measure_all(s, changed, err);
    yardstick_take(bench, s->deviations, &s->calibration, &s->yardstick);
    for (size_t i = 0; i < bench->n_entrants && code == 0; i++) {
        struct entrant *e = &bench->entrants[i];
        char why[CUDAL2_WHY] = "";
        if (!e->alive || !s->wanted[i] || changed[i] || !s->deviations[i].measured)
            continue;
        enum verdict verdict = VERDICT_OK;
        code = judge_draws(s, i, &verdict, why, err);
        if (code != 0 || !e->alive)
            continue;
        keep(s, i);
        if (verdict != VERDICT_OK)
            fall_back(s, i, verdict, why);
    }
    return code;
}

/* ---- the stage ---- */

static bool any(const bool *flags, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (flags[i])
            return true;
    return false;
}

/* Only a winner that passed may skip the race of the next run; one that was cached and failed would do so for ever. */
static void settle_cache(const struct bench *bench, const struct entrant *entrant)
{
    bool cached = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(entrant->record->tuning, "cached"));
    bool passed = entrant->alive && !entrant->record->invalid;
    if (passed && entrant->has_variants)
        race_remember(bench, entrant);
    else if (cached)
        race_forget(bench, entrant);
}

/* With verify_only a candidate whose variant has passed shows its next one. */
static void go_on(struct stage *s, size_t i)
{
    const struct entrant *e = &s->bench->entrants[i];
    struct race_result *race = ranking_of(s, i);
    if (s->bench->config->verify_only && e->alive && e->has_variants && !is_baseline(e) && race->next < race->n)
        switch_variant(s, i, race->ranked[race->next++].key);
}

/* One bad variant is a bad kernel, whatever the others are. */
static void settle_variants(struct stage *s, size_t i)
{
    struct entrant *e = &s->bench->entrants[i];
    if (s->bench->config->verify_only && e->alive && s->n_rejected[i] > 0)
        entrant_fail(s->bench, e, s->first_verdict[i], "verify", s->first_reason[i]);
}

/* Checks the wanted entrants on everything; those whose variant changed on the way are wanted again. */
static int run_pass(struct stage *s, uint64_t pass, struct error *err)
{
    struct bench *bench = s->bench;
    int code = 0;
    for (size_t i = 0; i < bench->n_entrants; i++)
        memcpy(s->before[i], bench->entrants[i].variant, sizeof s->before[i]);
    for (unsigned seed = 0; seed < bench->config->verify_seeds && code == 0; seed++)
        code = check_seed(s, random_derive(bench->seed, "verify", pass * 1000 + seed) >> 8, err);
    /* Who has changed its variant has not seen every seed: it waits for the next pass. */
    for (size_t i = 0; i < bench->n_entrants; i++)
        s->wanted[i] = s->wanted[i] && strcmp(s->before[i], bench->entrants[i].variant) == 0;
    if (code == 0)
        code = check_normal(s, err);
    for (size_t i = 0; i < bench->n_entrants; i++) {
        const struct entrant *e = &bench->entrants[i];
        if (code == 0 && s->wanted[i] && strcmp(s->before[i], e->variant) == 0)
            go_on(s, i);
        s->wanted[i] = e->alive && strcmp(s->before[i], e->variant) != 0;
    }
    return code;
}

/* Everyone who has not passed before is wanted. */
static void begin(struct stage *s)
{
    struct bench *bench = s->bench;
    for (size_t i = 0; i < bench->n_entrants; i++) {
        struct entrant *e = &bench->entrants[i];
        s->deviations[i] = (struct deviation){.profile = NAN};
        s->wanted[i] = e->alive && !verified_recall(bench, e, &s->deviations[i]);
    }
}

/* In float the order of the sums is all of the error, and a library may choose another order from launch to launch: on
 * a busy machine OpenBLAS was seen at 5 times what it had shown. The least cheat of precision there, inputs rounded to
 * 16 bits of mantissa, is 30 times as far off. */
#define FLOAT_WIDER 3.0

/* Of a candidate never more than its bound, times FLOAT_WIDER in float. Who accumulates in 16 bits and rounds after
 * every product comes near that bound, and single errors there are many times their RMS (model_tail): it needs all of
 * its margin, which puts the largest at 24 times the RMS, one element in 1e11. */
static double most_allowed(const struct stage *s, double wider)
{
    double margin = s->bench->problem.accumulate == CUDAL2_ACC_F16 ? MODEL_RMS_MARGIN : 1;
    return margin * wider * s->yardstick.bound[1];
}

/* The RMS error that it has shown against fp64 sums, where these were taken; NaN: not measured. */
static double shown(const struct deviation *d)
{
    return !d->measured || !isfinite(d->rms) ? NAN : isfinite(d->profile) ? d->profile : d->rms;
}

/* What timed launches are held against: what the contender has shown, or what float arithmetic costs, with the margin
 * of the bounds. */
static double allow(const struct stage *s, size_t i)
{
    const struct cudal2_problem *p = &s->bench->problem;
    const struct deviation *d = &s->deviations[i];
    if (isnan(shown(d)))
        return 0;
    double wider = p->dtype == CUDAL2_F32 ? FLOAT_WIDER : 1;
    double allowed = wider * MODEL_RMS_MARGIN * fmax(shown(d), model_wide(p->dtype, (double)p->k));
    return is_baseline(&s->bench->entrants[i]) ? allowed : fmin(allowed, most_allowed(s, wider));
}

static void finish(struct stage *s)
{
    struct bench *bench = s->bench;
    yardstick_take(bench, s->deviations, &s->calibration, &s->yardstick);
    bench->record->verification = yardstick_to_json(&s->yardstick);
    for (size_t i = 0; i < bench->n_entrants; i++) {
        struct entrant *e = &bench->entrants[i];
        settle_variants(s, i);
        e->error_allowed = allow(s, i);
        e->error_bound = is_baseline(e) ? 0 : s->yardstick.bound[1];
        e->error_shown = fmax(shown(&s->deviations[i]), 0);
        e->error_shown_of = timed_error_independent(&bench->problem, bands_elements(&bench->problem));
        bool old = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(e->record->verification, "cached"));
        if (e->alive && !e->record->invalid && !old)
            verified_remember(bench, e, &s->deviations[i]);
        settle_cache(bench, e);
    }
}

int verify_entrants(struct bench *bench, struct race_result *races, struct error *err)
{
    struct stage *s = calloc(1, sizeof *s);
    if (s == NULL)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for verification");
    s->bench = bench;
    s->races = races;
    begin(s);
    int code = any(s->wanted, bench->n_entrants) ? probe_calibrate(bench, &s->calibration, err) : 0;
    for (uint64_t pass = 0; any(s->wanted, bench->n_entrants) && code == 0; pass++)
        code = run_pass(s, pass, err);
    if (code == 0)
        finish(s);
    free(s);
    return code;
}

int verify_list_variants(struct bench *bench, struct entrant *entrant, struct race_result *out, struct error *err)
{
    char why[CUDAL2_WHY] = "no variant for this problem";
    const struct contender *c = entrant->contender;
    struct cudal2_setup setup = bench_setup(bench, entrant, NULL);
    *out = (struct race_result){.ranked = calloc(RACE_MAX_VARIANTS, sizeof *out->ranked)};
    if (out->ranked == NULL)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for variants");
    bench_stage(bench, entrant, "setup", bench->config->limits.setup_seconds);
    int n = c->ops->list_variants(c, &setup, out->ranked, RACE_MAX_VARIANTS, why);
    if (n <= 0) {
        entrant_fail(bench, entrant, variants_refused(n), "setup", why);
        return 0;
    }
    out->n = (size_t)n < RACE_MAX_VARIANTS ? (size_t)n : RACE_MAX_VARIANTS;
    if (entrant->record->tuning == NULL)
        entrant->record->tuning = cJSON_CreateObject();
    json_put_number(entrant->record->tuning, "variants", (double)out->n);
    return 0;
}

uint64_t verify_bytes(const struct cudal2_problem *problem)
{
    uint64_t elements = (uint64_t)problem->m * (uint64_t)problem->n;
    uint64_t references = elements * sizeof(float) + bands_bytes(problem) + cpu_reference_scratch(problem);
    uint64_t probe = probe_bytes(problem);
    return references > probe ? references : probe;
}
