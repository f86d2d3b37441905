/*
 * probe.c - error profiles on a longer problem of its own, and the calibration of what half and float look like on
 * this machine, kept on disk. Relies on bands.c and room.c. Called by stage.c for short K.
 */
#include "verify/probe.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/file.h"
#include "device/cpu_math.h"
#include "measure/room.h"
#include "verify/bands.h"

#define CALIBRATION_SIZE 2048 /* of M and N: enough tiles that no library splits K */
#define CALIBRATION_KIND "calibration"
#define PROBE_SEED 20210611u /* of the matrices; any will do */

/* An error profile needs thousands of sums, not millions: a problem is cut to a slab of its output until it takes no
 * more than this. */
#define SLAB_BYTES (256ull << 20)
#define SLAB_LEAST 256 /* of M and N, which a cut leaves above it */

/* What a probe of this problem allocates: matrices in one layout, and the fp64 sums. */
static uint64_t bytes_of(const struct cudal2_problem *p)
{
    struct operands_request request = {.problem = *p, .n_sets = 1, .period = 1, .tight = true};
    request.layouts[0] = CUDAL2_BIT(CUDAL2_NN);
    return operands_bytes(&request) + bands_bytes(p) + cpu_reference_scratch(p);
}

/* About half, and a multiple of whatever power of two up to 128 the size was one of. */
static int64_t half_of(int64_t size)
{
    int64_t multiple = 128;
    while (size % multiple != 0)
        multiple /= 2;
    return (size / 2 + multiple - 1) / multiple * multiple;
}

static void cut(struct cudal2_problem *p, uint64_t most)
{
    while (bytes_of(p) > most && (p->m >= 2 * SLAB_LEAST || p->n >= 2 * SLAB_LEAST)) {
        int64_t *larger = p->m > p->n ? &p->m : &p->n;
        *larger = half_of(*larger);
    }
}

static struct cudal2_problem longer_than(const struct cudal2_problem *cell)
{
    struct cudal2_problem p = problem_plain(cell);
    p.k = (MODEL_PROBE_K + cell->k - 1) / cell->k * cell->k;
    return p;
}

struct cudal2_problem probe_problem(const struct bench *bench)
{
    struct cudal2_problem p = longer_than(&bench->problem);
    uint64_t room = bench_room(bench);
    cut(&p, room < SLAB_BYTES ? room : SLAB_BYTES);
    return p;
}

uint64_t probe_bytes(const struct cudal2_problem *cell)
{
    struct cudal2_problem p = longer_than(cell);
    cut(&p, 0);
    return bytes_of(&p);
}

/* One contender on one problem of its own. */
struct probe {
    struct bench *bench;
    const struct entrant *entrant;
    struct cudal2_problem problem;
    struct operands *operands;
    struct bands bands;
    void *state;
    bool set_up;
};

static bool fits(const struct probe *probe, char *why)
{
    if (bytes_of(&probe->problem) <= bench_room(probe->bench))
        return true;
    snprintf(why, CUDAL2_WHY, "no memory for a problem of K %lld", (long long)probe->problem.k);
    return false;
}

/* *ready is false, with the reason, when there is no memory. */
static int take_operands(struct probe *probe, bool *ready, char *why, struct error *err)
{
    struct device *d = probe->bench->device;
    enum cudal2_layout layout = probe->entrant->contender->is.layout;
    struct operands_request *request = calloc(1, sizeof *request);
    if (request == NULL)
        return error_set(err, EXIT_CODE_INTERNAL, "out of memory for a probe");
    *request = (struct operands_request){.problem = probe->problem,
                                         .n_sets = 1,
                                         .period = 1,
                                         .tight = true,
                                         .seed = PROBE_SEED,
                                         .pool = bench_pool(probe->bench)};
    request->layouts[0] = (uint8_t)CUDAL2_BIT(layout);
    *ready = fits(probe, why);
    int code = *ready ? operands_alloc(d, request, &probe->operands, err) : 0;
    if (*ready && code == 0)
        code = operands_fill(d, probe->operands, FILL_SPREAD, PROBE_SEED, 0, err);
    if (*ready && code == 0) {
        const struct bands_request bands = {.problem = probe->problem,
                                            .layout = layout,
                                            .operands = operands_sets(probe->operands, layout),
                                            .seed = PROBE_SEED};
        code = bands_make(d, &bands, &probe->bands, err);
    }
    free(request);
    return code;
}

static int set_up(struct probe *probe, char *why)
{
    const struct contender *c = probe->entrant->contender;
    const char *variant = probe->entrant->variant;
    struct cudal2_setup setup = bench_setup(probe->bench, probe->entrant, variant[0] == '\0' ? NULL : variant);
    setup.problem = probe->problem;
    setup.sets = operands_sets(probe->operands, c->is.layout);
    setup.n_sets = 1;
    bench_stage(probe->bench, probe->entrant, "verify", probe->bench->config->limits.setup_seconds);
    int status = c->ops->setup(c, &setup, &probe->state, why);
    probe->set_up = status == CUDAL2_OK;
    return status;
}

static int run(struct probe *probe, double *profile, char *why, struct error *err)
{
    struct device *d = probe->bench->device;
    const struct contender *c = probe->entrant->contender;
    struct comparison cmp = {0};
    int code = operands_poison(d, probe->operands, 0, err);
    if (code == 0)
        code = d->ops->sync(d, err);
    if (code != 0)
        return code;
    double patience = bench_patience(probe->bench, 0, problem_flops(&probe->problem));
    bench_stage(probe->bench, probe->entrant, "verify", probe->bench->config->limits.launch_seconds + patience);
    if (c->ops->launch(c, probe->state, 0, why) != CUDAL2_OK)
        return 0;
    code = d->ops->sync(d, err);
    if (code == 0)
        code = bands_compare(d, &probe->bands, probe->operands->nn[0].c, &cmp, err);
    if (code == 0)
        *profile = comparison_relative_rms(&cmp);
    return code;
}

int probe_profile(struct bench *bench, const struct entrant *entrant, const struct cudal2_problem *problem,
                  double *profile, char *why, struct error *err)
{
    struct probe probe = {.bench = bench, .entrant = entrant, .problem = *problem};
    bool ready = false;
    *profile = NAN;
    why[0] = '\0';
    double patience = bench_patience(bench, (double)bytes_of(problem), 0);
    bench_stage(bench, NULL, "verify", bench->config->limits.verify_seconds + patience);
    int code = 0;
    if (contender_supports(entrant->contender, &bench->device->info, problem, why))
        code = take_operands(&probe, &ready, why, err);
    if (code == 0 && ready && set_up(&probe, why) == CUDAL2_OK)
        code = run(&probe, profile, why, err);
    if (probe.set_up)
        entrant->contender->ops->teardown(entrant->contender, probe.state);
    bands_free(bench->device, &probe.bands);
    operands_free(bench->device, probe.operands);
    return code;
}

/* ---- calibration ---- */

/* The first baseline that is billed either way. */
static const struct entrant *calibrator(const struct bench *bench)
{
    uint32_t both = CUDAL2_BIT(CUDAL2_ACC_F16) | CUDAL2_BIT(CUDAL2_ACC_F32);
    for (size_t i = 0; i < bench->n_entrants; i++) {
        const struct entrant *e = &bench->entrants[i];
        const struct cudal2_contender *is = &e->contender->is;
        bool usable = e->alive && !e->has_variants && e->contender->role == ROLE_BASELINE &&
                      (is->flags & CUDAL2_ACC_WIDER) == 0 && (is->accumulates & both) == both;
        if (usable)
            return e;
    }
    return NULL;
}

static void calibration_key(const struct bench *bench, const struct entrant *entrant, char hex[DIGEST_HEX])
{
    struct digest d;
    digest_start(&d);
    digest_add_string(&d, "profile 1");
    digest_add_string(&d, bench_identity(bench, entrant->contender));
    digest_add_string(&d, entrant->contender->name);
    digest_finish(&d, hex);
}

static bool recall(const char *key, struct model_calibration *out)
{
    char *bytes = NULL;
    size_t length = 0;
    bool found = false;
    struct error ignored;
    if (file_cache_get(CALIBRATION_KIND, key, &bytes, &length, &found, &ignored) != 0 || !found)
        return false;
    found = sscanf(bytes, "%lg %lg", &out->wide, &out->narrow) == 2 && out->wide > 0 && out->narrow > 0;
    free(bytes);
    return found;
}

static void remember(const char *key, const struct model_calibration *calibration)
{
    char text[64];
    struct error ignored;
    int length = snprintf(text, sizeof text, "%.6g %.6g", calibration->wide, calibration->narrow);
    file_cache_put(CALIBRATION_KIND, key, text, (size_t)length, &ignored);
}

/* A baseline that fails here says nothing: the model's own figures serve. */
static int profile_billed(struct bench *bench, const struct entrant *entrant, enum cudal2_accumulate accumulate,
                          double *profile, struct error *err)
{
    char why[CUDAL2_WHY];
    struct error lost;
    const struct cudal2_problem problem = {.m = CALIBRATION_SIZE,
                                           .n = CALIBRATION_SIZE,
                                           .k = MODEL_PROBE_K,
                                           .dtype = bench->problem.dtype,
                                           .accumulate = accumulate};
    if (probe_profile(bench, entrant, &problem, profile, why, err) == 0)
        return 0;
    *profile = NAN;
    if (bench->device->ops->settle(bench->device, &lost) == 0)
        return 0;
    error_wrap(err, "%s at verify", entrant->record->name);
    err->code = EXIT_CODE_UNAVAILABLE;
    return err->code;
}

int probe_calibrate(struct bench *bench, struct model_calibration *out, struct error *err)
{
    char key[DIGEST_HEX];
    struct model_calibration found = {0, 0};
    const struct entrant *entrant = bench->problem.dtype == CUDAL2_F16 ? calibrator(bench) : NULL;
    *out = found;
    if (entrant == NULL)
        return 0;
    calibration_key(bench, entrant, key);
    if (recall(key, out))
        return 0;
    int code = profile_billed(bench, entrant, CUDAL2_ACC_F32, &found.wide, err);
    if (code == 0)
        code = profile_billed(bench, entrant, CUDAL2_ACC_F16, &found.narrow, err);
    if (code != 0 || !isfinite(found.wide) || !isfinite(found.narrow) || found.wide <= 0 || found.narrow <= 0)
        return code;
    remember(key, &found);
    *out = found;
    return 0;
}
