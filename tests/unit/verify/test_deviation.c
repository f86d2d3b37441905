/* verify/ on N(0,1) inputs, on the scripted device: bounds, accumulator classes, cached verdicts, invalid times. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/half.h"
#include "gaussian.h"
#include "half_cell.h"
#include "scratch_fixture.h"
#include "verify/deviation.h"
#include "verify/exact.h"
#include "verify/probe.h"

static const char *class_of(size_t i)
{
    const cJSON *node = cJSON_GetObjectItem(f.bench.record->contenders[i].verification, "class");
    return cJSON_IsString(node) ? node->valuestring : "";
}

static bool flag_of(size_t i, const char *key)
{
    return cJSON_IsTrue(cJSON_GetObjectItem(f.bench.record->contenders[i].verification, key));
}

/* ---- the model ---- */

/* RMS error, over sqrt(K), of dot products whose sum is rounded to fp16 after every `step` products (0: once). */
static double simulate(int k, int step)
{
    struct random r;
    double squares = 0;
    random_seed(&r, (uint64_t)(k * 100 + step));
    for (int trial = 0; trial < 4000; trial++) {
        double sum = 0, part = 0;
        float rounded = 0;
        for (int i = 1; i <= k; i++) {
            double product = gaussian(&r) * gaussian(&r);
            sum += product;
            part += product;
            if (i == k || (step > 0 && i % step == 0)) {
                rounded = half_to_float(half_from_float((float)((double)rounded + part)));
                part = 0;
            }
        }
        squares += (sum - (double)rounded) * (sum - (double)rounded);
    }
    return sqrt(squares / 4000 / k);
}

static void model_is_what_rounding_does(void **state)
{
    static const int sizes[] = {64, 200, 1024};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        double k = sizes[i];
        struct cudal2_problem p = {.m = 64, .n = 64, .k = sizes[i], .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F16};
        assert_true(fabs(simulate(sizes[i], 0) / model_wide(CUDAL2_F16, k) - 1) < 0.1);
        assert_true(fabs(simulate(sizes[i], 16) / model_narrow(CUDAL2_F16, k) - 1) < 0.1);
        assert_true(fabs(simulate(sizes[i], 8) / model_honest(&p) - 1) < 0.1);
        /* rounding after every product is honest half accumulation too, and inside the margin */
        assert_true(simulate(sizes[i], 1) < MODEL_RMS_MARGIN * model_honest(&p));
    }
}

static void threshold_parts_the_classes(void **state)
{
    const struct model_calibration none = {0, 0};
    (void)state;
    for (double k = 1024; k <= 16384; k *= 2) {
        double at = model_class_threshold(CUDAL2_F16, k, &none, 0);
        assert_true(at >= 3 * model_wide(CUDAL2_F16, k) && at < model_narrow(CUDAL2_F16, k) / 1.4);
        at = model_class_threshold(CUDAL2_BF16, k, &none, 0);
        assert_true(at >= 3 * model_wide(CUDAL2_BF16, k) && at < model_narrow(CUDAL2_BF16, k) / 1.4);
    }
    assert_true(model_class_threshold(CUDAL2_F16, 512, &none, 0) == 0);
    assert_true(model_class_threshold(CUDAL2_F16, 64, &none, 0) == 0);
    /* a float baseline with an error of its own moves it up, until nothing can be told */
    double usual = model_class_threshold(CUDAL2_F16, 4096, &none, 0), c = model_wide(CUDAL2_F16, 4096);
    assert_true(model_class_threshold(CUDAL2_F16, 4096, &none, 4 * c) > usual);
    assert_true(model_class_threshold(CUDAL2_F16, 4096, &none, 8 * c) == 0);
    /* calibration: a machine on which half shows twice as much is judged by that; one that shows nothing is not */
    const struct model_calibration coarse = {c, 2 * model_narrow(CUDAL2_F16, 4096)}, useless = {c, 2 * c};
    assert_true(model_class_threshold(CUDAL2_F16, 4096, &coarse, 0) > 1.3 * usual);
    assert_true(model_class_threshold(CUDAL2_F16, 4096, &useless, 0) == usual);
}

/* ---- density ---- */

static void nine_sums_in_ten_are_covered(void **state)
{
    static const int64_t sizes[] = {1,   2,   3,   5,    8,    10,   11,   16,   32,    64,   100,
                                    128, 256, 512, 1024, 2048, 3072, 4096, 8192, 12288, 16384};
    (void)state;
    for (int dtype = CUDAL2_F16; dtype <= CUDAL2_BF16; dtype++) {
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            struct random r;
            int64_t k = sizes[i];
            double density = exact_density(&(struct cudal2_problem){.k = k, .dtype = (enum cudal2_dtype)dtype});
            double limit = exact_limit((enum cudal2_dtype)dtype);
            int covered = 0;
            random_seed(&r, (uint64_t)k);
            for (int trial = 0; trial < 1000; trial++) {
                int64_t sum = 0;
                for (int64_t j = 0; j < k; j++)
                    sum += random_unit(&r) < density * density;
                covered += sum > 0 && (double)sum < limit;
            }
            if (covered < 900)
                fail_msg("K %lld: %d of 1000 sums in (0, %.0f)", (long long)k, covered, limit);
            assert_true(density > 0 && density < 1);
        }
    }
}

/* ---- the stage ---- */

static void honest_floats_pass_with_numbers(void **state)
{
    (void)state;
    open_cell(1024, CUDAL2_ACC_F32);
    verify();
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(status_of(i), "ok");
        assert_string_equal(class_of(i), "f32");
        assert_true(shown(i, 0) > 0.01 && shown(i, 0) < 0.3);
        assert_true(shown(i, 1) > 1.5e-4 && shown(i, 1) < 2.5e-4);
        assert_int_equal(cJSON_GetArraySize(f.bench.record->contenders[i].deviation),
                         2); /* the profile says the same */
        assert_true(cJSON_GetObjectItem(f.bench.record->contenders[i].verification, "seeds")->valuedouble == 2);
    }
    const cJSON *cell = f.bench.record->verification;
    double bound = cJSON_GetArrayItem(cJSON_GetObjectItem(cell, "bound"), 1)->valuedouble;
    double baselines = cJSON_GetArrayItem(cJSON_GetObjectItem(cell, "baselines"), 1)->valuedouble;
    assert_true(baselines == shown(1, 1) && bound >= 2.9 * baselines);
    fixture_close(&f);
}

static void half_billed_as_float_is_told(void **state)
{
    (void)state;
    open_cell(1024, CUDAL2_ACC_F32);
    f.actors[0].half_step = 16;
    verify();
    assert_string_equal(status_of(0), "precision_class");
    assert_non_null(strstr(f.bench.record->contenders[0].reason, "billed f32"));
    assert_string_equal(class_of(0), "f16");
    assert_string_equal(status_of(1), "ok");
    assert_false(f.bench.entrants[0].alive);
    fixture_close(&f);
}

/* Two half-precision halves of a split K: allowed to a float kernel. */
static void few_half_partial_sums_are_float(void **state)
{
    (void)state;
    open_cell(1024, CUDAL2_ACC_F32);
    f.actors[0].half_step = 512;
    verify();
    assert_string_equal(status_of(0), "ok");
    assert_string_equal(class_of(0), "f32");
    fixture_close(&f);
}

static void every_honest_half_passes(void **state)
{
    static const int steps[] = {1, 4, 8, 16, 128};
    (void)state;
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        open_cell(1024, CUDAL2_ACC_F16);
        f.actors[0].half_step = steps[i];
        f.actors[1].half_step = f.actors[2].half_step = 16;
        verify();
        assert_string_equal(status_of(0), "ok");
        assert_true(flag_of(0, "wider") == (steps[i] == 128)); /* near enough to float to be called that */
        fixture_close(&f);
    }
}

/* A float baseline must not set the bound of a half cell, and a float candidate is written down as wider. */
static void wider_is_recorded_unless_declared(void **state)
{
    (void)state;
    open_cell(1024, CUDAL2_ACC_F16);
    f.contenders[1].is.flags = CUDAL2_ACC_WIDER;
    f.actors[2].half_step = 16;
    verify();
    assert_string_equal(status_of(0), "ok");
    assert_string_equal(class_of(0), "f32");
    assert_true(flag_of(0, "wider"));
    assert_false(flag_of(1, "wider"));
    assert_string_equal(class_of(2), "f16");
    const cJSON *baselines = cJSON_GetObjectItem(f.bench.record->verification, "baselines");
    assert_true(cJSON_GetArrayItem(baselines, 1)->valuedouble == shown(2, 1));
    fixture_close(&f);
}

static void systematic_error_breaks_the_rms_bound(void **state)
{
    (void)state;
    open_cell(256, CUDAL2_ACC_F32);
    f.actors[0].stretch = 0.002;
    verify();
    assert_string_equal(status_of(0), "wrong_result");
    assert_non_null(strstr(f.bench.record->contenders[0].reason, "RMS deviation"));
    fixture_close(&f);
}

/* The binary inputs cannot tell; N(0,1) can. */
static void baselines_answer_for_gross_errors_only(void **state)
{
    (void)state;
    open_cell(256, CUDAL2_ACC_F32);
    f.actors[1].stretch = 0.01;
    f.actors[2].stretch = 0.5;
    verify();
    assert_string_equal(status_of(0), "ok");
    assert_string_equal(status_of(1), "ok");
    assert_string_equal(status_of(2), "wrong_result");
    fixture_close(&f);
}

static void short_problems_are_probed(void **state)
{
    (void)state;
    for (int half = 0; half < 2; half++) {
        open_cell(64, CUDAL2_ACC_F32);
        f.actors[0].half_step = half ? 16 : 0;
        verify();
        assert_string_equal(status_of(0), half ? "precision_class" : "ok");
        assert_string_equal(class_of(0), half ? "f16" : "f32");
        assert_string_equal(class_of(1), ""); /* baselines are not probed */
        fixture_close(&f);
    }
}

static void what_cannot_be_probed_is_untested(void **state)
{
    (void)state;
    open_cell(64, CUDAL2_ACC_F32);
    f.contenders[0].is.k_multiple = 0;
    f.contenders[0].is.m_multiple = 7; /* refuses every problem that it is asked about from here on */
    verify();
    assert_string_equal(status_of(0), "ok");
    assert_string_equal(class_of(0), "untested");
    assert_non_null(cJSON_GetObjectItem(f.bench.record->contenders[0].verification, "class_reason"));
    fixture_close(&f);
}

static void instructions_decide_what_numbers_cannot(void **state)
{
    (void)state;
    for (int half = 0; half < 2; half++) {
        open_cell(64, CUDAL2_ACC_F32);
        f.contenders[0].is.m_multiple = 7;
        snprintf(f.actors[0].instructions, sizeof f.actors[0].instructions, "%s",
                 half ? "wgmma.f16.f16.f16" : "wgmma.f32.f16.f16");
        verify();
        assert_string_equal(status_of(0), half ? "precision_class" : "ok");
        fixture_close(&f);
    }
    open_cell(1024, CUDAL2_ACC_F32); /* sums kept in fp32 between short half-precision products: the profile says so */
    snprintf(f.actors[0].instructions, sizeof f.actors[0].instructions, "mma.f16.f16.f16.f16");
    verify();
    assert_string_equal(status_of(0), "ok");
    fixture_close(&f);
}

static void wrong_class_of_a_variant_falls_back(void **state)
{
    (void)state;
    open_cell(1024, CUDAL2_ACC_F32);
    f.actors[0].n_variants = 2;
    f.actors[0].variant_half_step[0] = 16;
    fixture_start(&f);
    struct race_result *race = &races[0];
    race->n = 2;
    race->ranked = calloc(2, sizeof *race->ranked);
    snprintf(race->ranked[0].key, sizeof race->ranked[0].key, "v0");
    snprintf(race->ranked[1].key, sizeof race->ranked[1].key, "v1");
    race->next = 1;
    snprintf(f.bench.entrants[0].variant, sizeof f.bench.entrants[0].variant, "v0");
    entrant_setup(&f.bench, &f.bench.entrants[0]);
    struct error err;
    assert_int_equal(verify_entrants(&f.bench, races, &err), 0);
    assert_string_equal(status_of(0), "ok");
    assert_string_equal(f.bench.entrants[0].variant, "v1");
    assert_string_equal(class_of(0), "f32");
    assert_true(cJSON_GetObjectItem(f.bench.record->contenders[0].verification, "seeds")->valuedouble == 2);
    free(race->ranked);
    memset(race, 0, sizeof *race);
    fixture_close(&f);
}

/* ---- time_anyway ---- */

static void failing_contender_can_be_timed_as_invalid(void **state)
{
    (void)state;
    open_cell(1024, CUDAL2_ACC_F32);
    f.config.time_anyway = true;
    f.actors[0].half_step = 16;
    verify();
    assert_string_equal(status_of(0), "precision_class");
    assert_true(f.bench.entrants[0].alive && f.bench.record->contenders[0].invalid);
    assert_false(f.bench.record->contenders[1].invalid);
    fixture_close(&f);
    open_cell(64, CUDAL2_ACC_F32); /* one that cannot be launched cannot be timed */
    f.config.time_anyway = true;
    f.actors[0].fail_launches_from = 1;
    verify();
    assert_string_equal(status_of(0), "launch_error");
    assert_false(f.bench.entrants[0].alive || f.bench.record->contenders[0].invalid);
    fixture_close(&f);
}

/* ---- cached verdicts ---- */

static unsigned launches_of_a_run(bool cache, bool host_code)
{
    open_cell(1024, CUDAL2_ACC_F32);
    f.config.verify_cache = cache;
    static int (*const somewhere)(void *, size_t, char *) = (int (*)(void *, size_t, char *))(uintptr_t)1;
    if (host_code)
        f.contenders[0].is.launch = somewhere; /* what makes a candidate a plugin's; never called */
    verify();
    unsigned launches = f.actors[0].launches;
    assert_string_equal(status_of(0), "ok");
    assert_true(flag_of(0, "cached") == (launches == 0));
    assert_string_equal(class_of(0), "f32");
    assert_true(shown(0, 1) > 1.5e-4);
    fixture_close(&f);
    return launches;
}

static void what_passed_is_not_verified_again(void **state)
{
    (void)state;
    assert_int_equal(launches_of_a_run(true, false), 3);
    assert_int_equal(launches_of_a_run(true, false), 0);
    assert_int_equal(launches_of_a_run(false, false), 3);
    assert_int_equal(launches_of_a_run(true, false), 0);
}

static void host_code_is_verified_every_time(void **state)
{
    (void)state;
    assert_int_equal(launches_of_a_run(true, true), 3);
    assert_int_equal(launches_of_a_run(true, true), 3);
}

static void every_part_of_the_key_counts(void **state)
{
    (void)state;
    for (int part = 0; part < 6; part++) {
        open_cell(part == 1 ? 2048 : 1024, part == 2 ? CUDAL2_ACC_F16 : CUDAL2_ACC_F32);
        f.config.verify_cache = true;
        if (part == 3)
            f.bench.identity = "another driver";
        if (part == 4)
            f.config.workspace_bytes *= 2;
        if (part == 5)
            f.config.verify_seeds = 3;
        verify();
        assert_true(f.actors[0].launches > 0);
        fixture_close(&f);
    }
}

/* A kernel set has no code on the host: what a library passed it has passed beside any. A candidate has not. */
static void a_library_is_known_beside_any_set(void **state)
{
    static int (*const somewhere)(void *, size_t, char *) = (int (*)(void *, size_t, char *))(uintptr_t)1;
    static const char *const sets[] = {"one set", "another set", "another set"};
    (void)state;
    for (int run = 0; run < 3; run++) {
        open_cell(1024, CUDAL2_ACC_F32);
        f.config.verify_cache = true;
        f.bench.identity = sets[run];
        f.bench.library_identity = run == 2 ? "other libraries" : "libraries";
        f.contenders[1].role = ROLE_BASELINE;
        f.contenders[1].is.launch = somewhere;
        verify();
        assert_string_equal(status_of(1), "ok");
        assert_int_equal(flag_of(0, "cached"), run == 2);
        assert_int_equal(flag_of(1, "cached"), run == 1);
        assert_int_equal(f.actors[1].launches == 0, run == 1);
        fixture_close(&f);
    }
}

static void failures_are_not_remembered(void **state)
{
    (void)state;
    for (int run = 0; run < 2; run++) {
        open_cell(1024, CUDAL2_ACC_F32);
        f.config.verify_cache = true;
        f.config.time_anyway = run == 1;
        f.actors[0].half_step = 16;
        verify();
        assert_string_equal(status_of(0), "precision_class");
        assert_false(flag_of(0, "cached"));
        fixture_close(&f);
    }
}

/* ---- calibration ---- */

static void no_candidate_calibrates(void **state)
{
    struct model_calibration found;
    struct error err;
    (void)state;
    open_cell(64, CUDAL2_ACC_F32);
    f.contenders[0].is.accumulates |= CUDAL2_BIT(CUDAL2_ACC_F16);
    fixture_start(&f);
    assert_int_equal(probe_calibrate(&f.bench, &found, &err), 0);
    assert_true(found.wide == 0 && found.narrow == 0);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(model_is_what_rounding_does),
        cmocka_unit_test(threshold_parts_the_classes),
        cmocka_unit_test(nine_sums_in_ten_are_covered),
        cmocka_unit_test(honest_floats_pass_with_numbers),
        cmocka_unit_test(half_billed_as_float_is_told),
        cmocka_unit_test(few_half_partial_sums_are_float),
        cmocka_unit_test(every_honest_half_passes),
        cmocka_unit_test(wider_is_recorded_unless_declared),
        cmocka_unit_test(systematic_error_breaks_the_rms_bound),
        cmocka_unit_test(baselines_answer_for_gross_errors_only),
        cmocka_unit_test(short_problems_are_probed),
        cmocka_unit_test(what_cannot_be_probed_is_untested),
        cmocka_unit_test(instructions_decide_what_numbers_cannot),
        cmocka_unit_test(wrong_class_of_a_variant_falls_back),
        cmocka_unit_test(failing_contender_can_be_timed_as_invalid),
        cmocka_unit_test_setup(what_passed_is_not_verified_again, scratch_empty),
        cmocka_unit_test_setup(a_library_is_known_beside_any_set, scratch_empty),
        cmocka_unit_test_setup(host_code_is_verified_every_time, scratch_empty),
        cmocka_unit_test_setup(every_part_of_the_key_counts, scratch_empty),
        cmocka_unit_test_setup(failures_are_not_remembered, scratch_empty),
        cmocka_unit_test(no_candidate_calibrates),
    };
    return cmocka_run_group_tests(tests, scratch_make_cache, scratch_remove);
}
