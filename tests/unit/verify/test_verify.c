/* verify/ and the race on the scripted device: what is wrong never counts, and the fastest right variant wins. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "bench_fixture.h"
#include "scratch_fixture.h"
#include "measure/race.h"
#include "verify/exact.h"
#include "verify/stage.h"

static struct fixture f;
static struct race_result races[RECORD_MAX_CONTENDERS];

static void race_all(void)
{
    struct error err;
    for (size_t i = 0; i < f.bench.n_entrants; i++) {
        struct entrant *e = &f.bench.entrants[i];
        if (!e->has_variants)
            continue;
        assert_int_equal(race_run(&f.bench, e, &races[i], &err), 0);
        if (races[i].n > 0) {
            snprintf(e->variant, sizeof e->variant, "%s", races[i].ranked[races[i].next++].key);
            entrant_setup(&f.bench, e);
        }
    }
}

static void finish(void)
{
    for (size_t i = 0; i < f.bench.n_entrants; i++)
        free(races[i].ranked);
    memset(races, 0, sizeof races);
    fixture_close(&f);
}

static double density_of(enum cudal2_dtype dtype, int64_t k)
{
    return exact_density(&(struct cudal2_problem){.k = k, .dtype = dtype});
}

static void density_keeps_sums_exact(void **state)
{
    (void)state;
    assert_true(density_of(CUDAL2_F16, 64) == 0.5);
    for (int64_t k = 64; k <= 16384; k *= 2) {
        double p = density_of(CUDAL2_F16, k);
        double mean = (double)k * p * p;
        assert_true(mean <= 1024.001 && mean >= 1);
        p = density_of(CUDAL2_BF16, k);
        assert_true((double)k * p * p <= 128.001);
    }
}

/* In parts of the least unit, below what the dtype holds exactly. */
static void limit_of_scaled_problems(void **state)
{
    static const struct {
        enum cudal2_dtype dtype;
        double alpha, beta, limit;
    } cases[] = {
        {CUDAL2_F16, 0, 0, 2048},       {CUDAL2_F16, 0.5, 0, 1024},   {CUDAL2_F16, -3, 1, 2046},
        {CUDAL2_F16, 4, 0.125, 255.75}, {CUDAL2_BF16, 3.875, -4, 24}, {CUDAL2_F32, 0.25, 2, 4194300},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct cudal2_problem p = {
            .k = 512, .dtype = cases[i].dtype, .alpha = cases[i].alpha, .beta = cases[i].beta};
        double density = exact_density(&p);
        assert_true(exact_limit_of(&p) == cases[i].limit);
        assert_true(fabs(problem_alpha(&p)) * 512 * density * density <= cases[i].limit / 2 + 1e-6);
    }
}

static void right_passes_and_wrong_fails(void **state)
{
    struct error err;
    (void)state;
    fixture_open(&f, 3);
    f.actors[1].wrong = true;
    fixture_start(&f);
    assert_int_equal(verify_entrants(&f.bench, races, &err), 0);
    const struct cell_record *r = f.bench.record;
    assert_string_equal(record_verdict(&r->contenders[0]), "ok");
    assert_string_equal(record_verdict(&r->contenders[1]), "wrong_result");
    assert_non_null(strstr(r->contenders[1].reason, "row 7 column 7"));
    assert_string_equal(record_verdict(&r->contenders[2]), "ok");
    assert_true(cJSON_GetObjectItem(r->contenders[0].verification, "seeds")->valuedouble == 2);
    assert_true(cJSON_GetObjectItem(r->contenders[0].verification, "coverage")->valuedouble > 0.8);
    finish();
}

static void copy_is_checked_on_its_own_inputs(void **state)
{
    struct error err;
    (void)state;
    fixture_open(&f, 2);
    f.bench.n_sets = 2;
    f.bench.entrants[1].first_set = 1;
    fixture_start(&f);
    assert_int_equal(verify_entrants(&f.bench, races, &err), 0);
    assert_string_equal(record_verdict(&f.bench.record->contenders[0]), "ok");
    assert_string_equal(record_verdict(&f.bench.record->contenders[1]), "ok");
    finish();
}

static void every_set_is_checked_in_turn(void **state)
{
    struct error err;
    (void)state;
    fixture_open(&f, 2);
    f.bench.sets_each = 2;
    f.bench.n_sets = 4;
    f.bench.entrants[0].n_sets = f.bench.entrants[1].n_sets = 2;
    f.bench.entrants[1].first_set = 2;
    fixture_start(&f);
    for (uint64_t seed = 0; seed < 4; seed++) {
        struct exact_case exact;
        enum verdict verdict = VERDICT_COUNT;
        char why[CUDAL2_WHY] = "";
        assert_int_equal(exact_prepare(&f.bench, seed, &exact, &err), 0);
        assert_int_equal(exact.set, seed % 2);
        for (size_t e = 0; e < 2; e++) {
            assert_int_equal(exact_check(&f.bench, &f.bench.entrants[e], &exact, &verdict, why, &err), 0);
            assert_int_equal(verdict, VERDICT_OK);
        }
        exact_release(&f.bench, &exact);
    }
    finish();
}

static void set_variants(struct actor *actor, const double *ns, size_t n)
{
    actor->n_variants = n;
    memcpy(actor->variant_ns, ns, n * sizeof *ns);
}

static void fastest_variant_wins(void **state)
{
    const double ns[] = {5000, 3000, 9000, 3200};
    (void)state;
    fixture_open(&f, 1);
    set_variants(&f.actors[0], ns, 4);
    fixture_start(&f);
    race_all();
    assert_string_equal(f.bench.entrants[0].variant, "v1");
    assert_int_equal(races[0].n, 4);
    assert_string_equal(races[0].ranked[3].key, "v2"); /* over twice the fastest: it never raced and ranks last */
    assert_string_equal(races[0].ranked[1].key, "v3");
    finish();
}

static void wrong_variant_never_wins(void **state)
{
    const double ns[] = {5000, 3000, 3200};
    struct error err;
    (void)state;
    fixture_open(&f, 1);
    set_variants(&f.actors[0], ns, 3);
    f.actors[0].variant_wrong[1] = true;
    fixture_start(&f);
    race_all();
    assert_int_equal(verify_entrants(&f.bench, races, &err), 0);
    assert_string_equal(f.bench.entrants[0].variant, "v2");
    assert_string_equal(record_verdict(&f.bench.record->contenders[0]), "ok");
    const cJSON *rejected = cJSON_GetObjectItem(f.bench.record->contenders[0].tuning, "rejected");
    assert_int_equal(cJSON_GetArraySize(rejected), 1);
    assert_string_equal(cJSON_GetObjectItem(cJSON_GetArrayItem(rejected, 0), "key")->valuestring, "v1");
    finish();
}

/* The copy of a contender whose winner is wrong takes the variant its original fell back to. */
static void copy_falls_back_with_its_original(void **state)
{
    const double ns[] = {5000, 3000, 3200};
    struct error err;
    (void)state;
    fixture_open(&f, 2);
    set_variants(&f.actors[0], ns, 3);
    f.actors[0].variant_wrong[1] = true;
    fixture_start(&f);
    race_all();
    struct entrant *copy = &f.bench.entrants[1];
    entrant_teardown(&f.bench, copy);
    copy->contender = f.bench.entrants[0].contender;
    copy->has_variants = true;
    snprintf(copy->record->copy_of, sizeof copy->record->copy_of, "%s", f.bench.entrants[0].record->name);
    snprintf(copy->variant, sizeof copy->variant, "%s", f.bench.entrants[0].variant);
    assert_true(entrant_setup(&f.bench, copy));
    assert_int_equal(verify_entrants(&f.bench, races, &err), 0);
    assert_string_equal(record_verdict(&f.bench.record->contenders[0]), "ok");
    assert_string_equal(record_verdict(&f.bench.record->contenders[1]), "ok");
    assert_string_equal(copy->variant, "v2");
    finish();
}

static void wrong_fast_variant_leaves_the_slow_right_one(void **state)
{
    const double ns[] = {9000, 1000};
    struct error err;
    (void)state;
    fixture_open(&f, 1);
    set_variants(&f.actors[0], ns, 2);
    f.actors[0].variant_wrong[1] = true;
    fixture_start(&f);
    race_all();
    assert_int_equal(verify_entrants(&f.bench, races, &err), 0);
    assert_string_equal(f.bench.entrants[0].variant, "v0");
    assert_string_equal(record_verdict(&f.bench.record->contenders[0]), "ok");
    finish();
}

static void all_variants_wrong_is_wrong(void **state)
{
    const double ns[] = {5000, 3000};
    struct error err;
    (void)state;
    fixture_open(&f, 1);
    set_variants(&f.actors[0], ns, 2);
    f.actors[0].variant_wrong[0] = f.actors[0].variant_wrong[1] = true;
    fixture_start(&f);
    race_all();
    assert_int_equal(verify_entrants(&f.bench, races, &err), 0);
    assert_string_equal(record_verdict(&f.bench.record->contenders[0]), "wrong_result");
    assert_false(f.bench.entrants[0].alive);
    finish();
}

static void verified_winner_is_remembered(void **state)
{
    const double ns[] = {5000, 3000};
    struct error err;
    (void)state;
    for (int run = 0; run < 2; run++) {
        fixture_open(&f, 1);
        set_variants(&f.actors[0], ns, 2);
        fixture_start(&f);
        race_all();
        assert_int_equal(verify_entrants(&f.bench, races, &err), 0);
        assert_string_equal(f.bench.entrants[0].variant, "v1");
        const cJSON *tuning = f.bench.record->contenders[0].tuning;
        assert_int_equal(cJSON_IsTrue(cJSON_GetObjectItem(tuning, "cached")), run == 1);
        /* how many there were to choose from, whether they raced now or then */
        assert_int_equal(cJSON_GetObjectItem(tuning, "variants")->valueint, 2);
        finish();
    }
}

/* The copy has no race of its own, so it must not overwrite what is remembered of its original's. */
static void copy_leaves_the_memory_alone(void **state)
{
    const double ns[] = {5000, 3000};
    struct error err;
    (void)state;
    for (int run = 0; run < 2; run++) {
        fixture_open(&f, 2);
        set_variants(&f.actors[0], ns, 2);
        set_variants(&f.actors[1], ns, 2);
        struct contender_record *copy = &f.bench.record->contenders[1];
        snprintf(copy->copy_of, sizeof copy->copy_of, "a-nn");
        memcpy(f.contenders[1].name, "a-nn", 5);
        fixture_start(&f);
        assert_int_equal(race_run(&f.bench, &f.bench.entrants[0], &races[0], &err), 0);
        for (size_t i = 0; i < 2; i++) {
            snprintf(f.bench.entrants[i].variant, sizeof f.bench.entrants[i].variant, "v1");
            entrant_setup(&f.bench, &f.bench.entrants[i]);
        }
        races[0].next = 1;
        assert_int_equal(verify_entrants(&f.bench, races, &err), 0);
        const cJSON *tuning = f.bench.record->contenders[0].tuning;
        assert_int_equal(cJSON_GetObjectItem(tuning, "variants")->valueint, 2);
        assert_int_equal(cJSON_IsTrue(cJSON_GetObjectItem(tuning, "cached")), run == 1);
        finish();
    }
}

/* A remembered winner that turns out wrong fails its cell once; the next run races again and finds the right one. */
static void wrong_cached_winner_is_forgotten(void **state)
{
    const double ns[] = {5000, 3000};
    static const char *const expected[] = {"ok", "wrong_result", "ok"};
    struct error err;
    (void)state;
    for (int run = 0; run < 3; run++) {
        fixture_open(&f, 1);
        set_variants(&f.actors[0], ns, 2);
        f.actors[0].variant_wrong[1] = run > 0;
        fixture_start(&f);
        race_all();
        assert_int_equal(verify_entrants(&f.bench, races, &err), 0);
        assert_string_equal(record_verdict(&f.bench.record->contenders[0]), expected[run]);
        finish();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(density_keeps_sums_exact),
        cmocka_unit_test(limit_of_scaled_problems),
        cmocka_unit_test(right_passes_and_wrong_fails),
        cmocka_unit_test(copy_is_checked_on_its_own_inputs),
        cmocka_unit_test(every_set_is_checked_in_turn),
        cmocka_unit_test_setup(fastest_variant_wins, scratch_empty),
        cmocka_unit_test_setup(wrong_variant_never_wins, scratch_empty),
        cmocka_unit_test_setup(copy_falls_back_with_its_original, scratch_empty),
        cmocka_unit_test_setup(wrong_fast_variant_leaves_the_slow_right_one, scratch_empty),
        cmocka_unit_test_setup(all_variants_wrong_is_wrong, scratch_empty),
        cmocka_unit_test_setup(verified_winner_is_remembered, scratch_empty),
        cmocka_unit_test_setup(copy_leaves_the_memory_alone, scratch_empty),
        cmocka_unit_test_setup(wrong_cached_winner_is_forgotten, scratch_empty),
    };
    return cmocka_run_group_tests(tests, scratch_make_cache, scratch_remove);
}
