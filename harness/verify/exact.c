/*
 * exact.c - the exact match on {0,1} inputs: density, reference, the first wrong elements in words. Relies on the
 * device's reference, which it checks against sums of its own. Called by stage.c for each seed.
 */
#include "verify/exact.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "device/fill.h"
#include "verify/picture.h"

double exact_limit(enum cudal2_dtype dtype)
{
    static const double limits[] = {[CUDAL2_F16] = 2048, [CUDAL2_BF16] = 256, [CUDAL2_F32] = 16777216};
    return limits[dtype];
}

/* Every value on the way is a multiple of the unit, and of |alpha| sum + |beta| C the least that a result may hide is
 * what beta C took off and may have put on. */
double exact_limit_of(const struct cudal2_problem *p)
{
    double unit = 1;
    while (fmod(problem_alpha(p), unit) != 0 || fmod(p->beta, unit) != 0)
        unit /= 2;
    return exact_limit(p->dtype) * unit - 2 * fabs(p->beta);
}

/* P(sum = 0) = (1 - p^2)^K; half of the tenth that may lie outside. */
#define ZERO_SHARE 0.05

double exact_density(const struct cudal2_problem *p)
{
    double k = (double)p->k, mean_at_half_limit = sqrt(0.5 * exact_limit_of(p) / fabs(problem_alpha(p)) / k);
    double few_zeros = sqrt(1 - pow(ZERO_SHARE, 1 / k));
    return fmin(mean_at_half_limit, fmax(0.5, few_zeros));
}

/* ---- the reference, seen from the CPU ---- */

#define WITNESSES 8

static double binary_at(uint64_t seed, double density, uint64_t index)
{
    return (double)fill_unit(fill_bits(fill_key(seed), index)) < density ? 1 : 0;
}

static double true_sum(const struct cudal2_problem *p, const struct exact_case *exact, uint64_t row, uint64_t column)
{
    double sum = 0;
    for (uint64_t i = 0; i < (uint64_t)p->k; i++)
        sum += binary_at(exact->seed, exact->density, row * (uint64_t)p->k + i) *
               binary_at(exact->seed + 1, exact->density, i * (uint64_t)p->n + column);
    double c = binary_at(exact->seed | OPERANDS_SEED_C, exact->density, row * (uint64_t)p->n + column);
    return problem_alpha(p) * sum + p->beta * c;
}

/* Inputs are a function of seed and place (device/fill.h), so the host can tell some sums without asking the device. */
static int check_reference(struct bench *bench, const struct exact_case *exact, uint64_t seed, struct error *err)
{
    struct random random;
    struct device *d = bench->device;
    const struct cudal2_problem *p = &bench->problem;
    random_seed(&random, seed);
    for (int i = 0; i < WITNESSES; i++) {
        float found = 0;
        uint64_t row = random_below(&random, (uint64_t)p->m), column = random_below(&random, (uint64_t)p->n);
        double expected = true_sum(p, exact, row, column);
        int code = d->ops->download(d, &found, exact->reference + row * (uint64_t)p->n + column, sizeof found, err);
        if (code != 0)
            return code;
        if ((double)found != expected)
            return error_set(err, EXIT_CODE_INTERNAL,
                             "the device's reference has %g at row %" PRIu64 " column %" PRIu64 ", the CPU %g",
                             (double)found, row, column, expected);
    }
    return 0;
}

/* ---- one seed ---- */

/* Beyond this the sums are no integers of fp32. */
#define BINARY_K_MAX (1 << 24)

static int make_reference(struct bench *bench, const struct exact_case *exact, struct error *err)
{
    struct device *d = bench->device;
    const struct cudal2_problem *p = &bench->problem;
    const struct entrant *any = &bench->entrants[0];
    enum cudal2_layout layout = any->contender->is.layout;
    const struct cudal2_operands set = operands_before(bench->operands, layout, any->first_set + exact->set);
    bool binary = d->ops->reference_binary != NULL && p->k <= BINARY_K_MAX;
    return binary ? d->ops->reference_binary(d, p, layout, &set, exact->reference, err)
                  : d->ops->reference(d, p, layout, &set, exact->reference, err);
}

int exact_prepare(struct bench *bench, uint64_t seed, struct exact_case *out, struct error *err)
{
    struct device *d = bench->device;
    const struct cudal2_problem *p = &bench->problem;
    *out = (struct exact_case){.density = exact_density(p), .limit = exact_limit_of(p)};
    out->set = (size_t)(seed % bench->sets_each);
    out->seed = seed + 2 * out->set;
    void *memory = NULL;
    bench_stage(bench, NULL, "verify", bench->config->limits.verify_seconds);
    const struct operands_values values = {FILL_BINARY, seed, out->density};
    int code = operands_fill_alike(d, bench->operands, &values, out->set, err);
    if (code == 0)
        code = device_alloc_own(d, (size_t)(p->m * p->n) * sizeof(float), &memory, err);
    out->reference = memory;
    if (code == 0)
        code = make_reference(bench, out, err);
    if (code == 0)
        code = check_reference(bench, out, seed, err);
    if (code != 0)
        exact_release(bench, out);
    return code == 0 ? 0 : error_wrap(err, "exact-match reference");
}

void exact_release(struct bench *bench, struct exact_case *exact)
{
    if (exact->reference != NULL)
        bench->device->ops->release(bench->device, exact->reference);
    exact->reference = NULL;
}

/* Counts the seeds passed through and keeps the worst coverage; the seeds themselves follow from the cell's. */
static void note(struct entrant *entrant, const struct bench *bench, const struct comparison *cmp)
{
    cJSON **v = &entrant->record->verification;
    if (*v == NULL) {
        *v = cJSON_CreateObject();
        json_put_number(*v, "coverage", 1.0);
        json_put_number(*v, "seeds", 0);
    }
    double total = (double)bench->problem.m * (double)bench->problem.n;
    double coverage = round((double)cmp->covered / total * 1e4) / 1e4;
    cJSON *worst = cJSON_GetObjectItemCaseSensitive(*v, "coverage");
    cJSON *seeds = cJSON_GetObjectItemCaseSensitive(*v, "seeds");
    if (coverage < worst->valuedouble)
        cJSON_SetNumberValue(worst, coverage);
    cJSON_SetNumberValue(seeds, seeds->valuedouble + 1);
}

static void explain(const struct bench *bench, const struct comparison *cmp, char *why)
{
    uint64_t n = (uint64_t)bench->problem.n;
    snprintf(why, CUDAL2_WHY,
             "%" PRIu64 " of %" PRIu64 " elements wrong, %" PRIu64 " NaN; the first at row %" PRIu64 " column %" PRIu64,
             cmp->mismatched, cmp->checked, cmp->nan_count, cmp->first_index / n, cmp->first_index % n);
}

/* Where, and what was expected there: to the reason and to the record. What cannot be read back is no picture. */
static void show(struct bench *bench, struct entrant *entrant, const struct picture_request *request, char *why)
{
    struct picture picture;
    struct error ignored;
    cJSON *v = entrant->record->verification;
    size_t used = strlen(why);
    if (picture_take(bench->device, request, &picture, &ignored) != 0 || picture.n_first == 0)
        return;
    snprintf(why + used, CUDAL2_WHY - used, ": expected %g, got %g", picture.first[0].expected, picture.first[0].got);
    cJSON_DeleteItemFromObjectCaseSensitive(v, "wrong");
    cJSON_AddItemToObject(v, "wrong", picture_to_json(&picture));
}

int exact_check(struct bench *bench, struct entrant *entrant, const struct exact_case *exact, enum verdict *verdict,
                char *why, struct error *err)
{
    struct device *d = bench->device;
    size_t own = entrant->first_set + exact->set;
    const struct cudal2_operands *set = operands_sets(bench->operands, entrant->contender->is.layout) + own;
    const struct expectation expected = {.reference = exact->reference, .limit = exact->limit};
    struct comparison cmp = {0};
    *verdict = VERDICT_LAUNCH_ERROR;
    bench_stage(bench, entrant, "verify", bench->config->limits.launch_seconds);
    int code = operands_poison(d, bench->operands, own, err);
    if (code == 0)
        code = d->ops->sync(d, err);
    if (code != 0)
        return code;
    int status = entrant->work.launch(entrant->work.context, exact->set, why);
    if (status != CUDAL2_OK)
        return 0;
    code = d->ops->sync(d, err);
    if (code == 0)
        code = d->ops->compare(d, &bench->problem, set->c, &expected, &cmp, err);
    if (code != 0)
        return code;
    note(entrant, bench, &cmp);
    bool passed = cmp.mismatched == 0 && cmp.nan_count == 0 && cmp.checked > 0;
    *verdict = passed ? VERDICT_OK : VERDICT_WRONG_RESULT;
    if (passed)
        return 0;
    explain(bench, &cmp, why);
    const struct picture_request request = {bench->problem, set->c, exact->reference, exact->limit, cmp.first_index};
    show(bench, entrant, &request, why);
    return 0;
}
