/*
 * deviation.c - the largest and the RMS deviation of each entrant on N(0,1) inputs, the bound that baselines set, and
 * the accumulator class. Relies on bands.c and model.c. Called by stage.c.
 */
#include "verify/deviation.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "measure/judge.h"

int normal_prepare(struct bench *bench, uint64_t seed, struct normal_case *out, struct error *err)
{
    struct device *d = bench->device;
    const struct cudal2_problem *p = &bench->problem;
    const struct entrant *any = &bench->entrants[0];
    enum cudal2_layout layout = any->contender->is.layout;
    void *memory = NULL;
    *out = (struct normal_case){.set = (size_t)(seed % bench->sets_each)};
    const struct cudal2_operands before = operands_before(bench->operands, layout, any->first_set + out->set);
    const struct bands_request bands = {.problem = *p, .layout = layout, .operands = &before, .seed = seed};
    bench_stage(bench, NULL, "verify", bench->config->limits.verify_seconds);
    const struct operands_values values = {FILL_SPREAD, seed, 0};
    int code = operands_fill_alike(d, bench->operands, &values, out->set, err);
    if (code == 0)
        code = device_alloc_own(d, (size_t)(p->m * p->n) * sizeof(float), &memory, err);
    out->reference = memory;
    if (code == 0)
        code = d->ops->reference(d, p, layout, bands.operands, out->reference, err);
    if (code == 0)
        code = bands_make(d, &bands, &out->bands, err);
    if (code != 0)
        normal_release(bench, out);
    return code == 0 ? 0 : error_wrap(err, "deviation's reference");
}

void normal_release(struct bench *bench, struct normal_case *normal)
{
    bands_free(bench->device, &normal->bands);
    if (normal->reference != NULL)
        bench->device->ops->release(bench->device, normal->reference);
    normal->reference = NULL;
}

double deviation_relative(const struct cudal2_problem *problem, const struct comparison *cmp, double elements)
{
    struct comparison least = *cmp;
    least.sum_sq_reference = fmax(cmp->sum_sq_reference, elements * pow(model_output(problem), 2));
    return comparison_relative_rms(&least);
}

static int compare(struct bench *bench, const void *c, const struct normal_case *normal, struct deviation *out,
                   struct error *err)
{
    struct comparison all = {0}, some = {0};
    const struct expectation expected = {.reference = normal->reference};
    const struct cudal2_problem *p = &bench->problem;
    double banded = (double)normal->bands.n * (double)normal->bands.rows * (double)p->n;
    int code = bench->device->ops->compare(bench->device, &bench->problem, c, &expected, &all, err);
    if (code == 0)
        code = bands_compare(bench->device, &normal->bands, c, &some, err);
    if (code != 0)
        return code;
    *out = (struct deviation){.measured = true,
                              .largest = all.nan_count > 0 ? INFINITY : all.max_abs_error,
                              .rms = deviation_relative(p, &all, (double)p->m * (double)p->n),
                              .profile = deviation_relative(p, &some, banded)};
    if (all.nan_count > 0)
        snprintf(out->why, sizeof out->why, "%" PRIu64 " NaN; the first at row %" PRIu64 " column %" PRIu64,
                 all.nan_count, all.first_index / (uint64_t)bench->problem.n,
                 all.first_index % (uint64_t)bench->problem.n);
    return 0;
}

int normal_measure(struct bench *bench, struct entrant *entrant, const struct normal_case *normal,
                   struct deviation *out, struct error *err)
{
    struct device *d = bench->device;
    size_t own = entrant->first_set + normal->set;
    *out = (struct deviation){.profile = NAN};
    bench_stage(bench, entrant, "verify", bench->config->limits.launch_seconds);
    int code = operands_poison(d, bench->operands, own, err);
    if (code == 0)
        code = d->ops->sync(d, err);
    if (code != 0)
        return code;
    if (entrant->work.launch(entrant->work.context, normal->set, out->why) != CUDAL2_OK)
        return 0;
    code = d->ops->sync(d, err);
    return code == 0 ? compare(bench, bench->operands->nn[own].c, normal, out, err) : code;
}

/* ---- judging ---- */

static bool sets_the_bound(const struct bench *bench, const struct entrant *e, const struct deviation *d)
{
    bool wider = (e->contender->is.flags & CUDAL2_ACC_WIDER) != 0 && bench->problem.accumulate == CUDAL2_ACC_F16;
    return e->alive && e->contender->role == ROLE_BASELINE && d->measured && !wider && d->rms <= MODEL_GROSS;
}

void yardstick_take(const struct bench *bench, const struct deviation *deviations,
                    const struct model_calibration *calibration, struct yardstick *out)
{
    const struct cudal2_problem *p = &bench->problem;
    double worst_profile = 0;
    *out = (struct yardstick){.calibration = *calibration};
    for (size_t i = 0; i < bench->n_entrants; i++) {
        const struct deviation *d = &deviations[i];
        if (!sets_the_bound(bench, &bench->entrants[i], d))
            continue;
        out->n_baselines++;
        out->baselines[0] = fmax(out->baselines[0], d->largest);
        out->baselines[1] = fmax(out->baselines[1], d->rms);
        if (p->accumulate == CUDAL2_ACC_F32 && !isnan(d->profile))
            worst_profile = fmax(worst_profile, d->profile);
    }
    out->honest[0] = model_largest(p);
    out->honest[1] = model_honest(p);
    out->bound[0] = MODEL_MAX_MARGIN * fmax(out->baselines[0], out->honest[0]);
    out->bound[1] = MODEL_RMS_MARGIN * fmax(out->baselines[1], out->honest[1]);
    out->threshold = model_class_threshold(p->dtype, (double)p->k, calibration, worst_profile);
}

void deviation_class(struct deviation *deviation, double profile, double k, double threshold)
{
    deviation->classed = threshold > 0 && !isnan(profile);
    deviation->wide = deviation->classed && profile < threshold;
    if (deviation->classed)
        snprintf(deviation->why, sizeof deviation->why, "error profile %.3g at K %.0f, 16-bit accumulation from %.3g",
                 profile, k, threshold);
}

/* Half accumulation explains an error up to the bound that it would have had if it had been billed so. */
static bool is_narrow(const struct cudal2_problem *p, const struct deviation *d)
{
    double most = MODEL_RMS_MARGIN * model_narrow(p->dtype, (double)p->k);
    return p->accumulate == CUDAL2_ACC_F32 && d->classed && !d->wide && d->rms <= most;
}

/* What a candidate is held against: largest, RMS. One with an RMS near its bound has larger single errors as well. */
static void bounds_of(const struct cudal2_problem *p, const struct deviation *d, const struct yardstick *y,
                      double bounds[2])
{
    bounds[0] = fmax(y->bound[0], model_tail(p) * model_output(p) * d->rms);
    bounds[1] = y->bound[1] * judge_scatter((double)p->m * (double)p->n);
}

bool deviation_is_doubtful(const struct cudal2_problem *problem, const struct deviation *deviation,
                           const struct yardstick *yardstick)
{
    double bounds[2];
    bounds_of(problem, deviation, yardstick, bounds);
    return deviation->largest <= MODEL_FAR * bounds[0] && deviation->rms <= MODEL_RMS_NEAR * bounds[1];
}

enum verdict deviation_judge(const struct cudal2_problem *problem, bool baseline, const struct deviation *deviation,
                             const struct yardstick *yardstick, char *why)
{
    if (isinf(deviation->rms)) {
        snprintf(why, CUDAL2_WHY, "%.250s", deviation->why);
        return VERDICT_WRONG_RESULT;
    }
    if (!baseline && is_narrow(problem, deviation)) {
        snprintf(why, CUDAL2_WHY, "billed f32, accumulates in 16 bits: %.180s", deviation->why);
        return VERDICT_PRECISION_CLASS;
    }
    double bounds[2] = {INFINITY, MODEL_GROSS};
    if (!baseline)
        bounds_of(problem, deviation, yardstick, bounds);
    if (deviation->rms > bounds[1]) {
        snprintf(why, CUDAL2_WHY, "RMS deviation %.3g of the output, the bound is %.3g", deviation->rms, bounds[1]);
        return VERDICT_WRONG_RESULT;
    }
    if (deviation->largest > bounds[0]) {
        snprintf(why, CUDAL2_WHY, "largest deviation %.4g, the bound is %.4g", deviation->largest, bounds[0]);
        return VERDICT_WRONG_RESULT;
    }
    return VERDICT_OK;
}

/* ---- the record ---- */

/* Three digits: more than a random input supports, and short. */
static cJSON *figure(double value)
{
    char text[32];
    if (!isfinite(value))
        return cJSON_CreateNull();
    snprintf(text, sizeof text, "%.3g", value);
    return json_number(strtod(text, NULL));
}

static cJSON *figures(const double *values, size_t n)
{
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; i < n; i++)
        cJSON_AddItemToArray(array, figure(values[i]));
    return array;
}

cJSON *deviation_to_json(const struct deviation *deviation)
{
    const double values[] = {deviation->largest, deviation->rms, deviation->profile};
    bool alike = fabs(deviation->profile - deviation->rms) <= DEVIATION_ALIKE * deviation->rms;
    return figures(values, alike || isnan(deviation->profile) ? 2 : 3);
}

cJSON *yardstick_to_json(const struct yardstick *yardstick)
{
    cJSON *object = cJSON_CreateObject();
    const double calibration[] = {yardstick->calibration.wide, yardstick->calibration.narrow};
    if (yardstick->n_baselines > 0)
        cJSON_AddItemToObject(object, "baselines", figures(yardstick->baselines, 2));
    cJSON_AddItemToObject(object, "honest", figures(yardstick->honest, 2));
    cJSON_AddItemToObject(object, "bound", figures(yardstick->bound, 2));
    if (yardstick->threshold > 0)
        cJSON_AddItemToObject(object, "narrow_from", figure(yardstick->threshold));
    if (calibration[0] > 0)
        cJSON_AddItemToObject(object, "calibration", figures(calibration, 2));
    return object;
}
