/* measure/paper on the scripted clock: the paper's protocol, pair by pair. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "bench_fixture.h"
#include "measure/paper.h"

static struct fixture f;

static void paper_protocol_scores_mean_of_ratios(void **state)
{
    struct error err;
    (void)state;
    fixture_open(&f, 2);
    f.bench.headline = TIMING_DEVICE;
    fixture_start(&f);
    assert_int_equal(paper_run(&f.bench, &err), 0);
    const cJSON *pair = cJSON_GetArrayItem(f.bench.record->paper_pairs, 0);
    assert_string_equal(cJSON_GetObjectItem(pair, "candidate")->valuestring, "a-nn");
    assert_true(fabs(cJSON_GetObjectItem(pair, "mean_of_ratios")->valuedouble - 1.0) < 1e-9);
    assert_true(cJSON_GetObjectItem(pair, "iterations")->valuedouble > 100);
    fixture_close(&f);
}

static const cJSON *paper_pair(int index, const char *candidate, const char *reference)
{
    const cJSON *pair = cJSON_GetArrayItem(f.bench.record->paper_pairs, index);
    assert_non_null(pair);
    assert_string_equal(cJSON_GetObjectItem(pair, "candidate")->valuestring, candidate);
    assert_string_equal(cJSON_GetObjectItem(pair, "reference")->valuestring, reference);
    return pair;
}

static double number_in(const cJSON *object, const char *key)
{
    const cJSON *number = cJSON_GetObjectItem(object, key);
    assert_true(cJSON_IsNumber(number));
    return number->valuedouble;
}

/* Without a candidate the first baseline's family stands against the others; its own layouts do not meet. */
static void paper_protocol_pairs_baselines(void **state)
{
    struct error err;
    (void)state;
    fixture_open(&f, 4);
    f.bench.headline = TIMING_EVENT;
    f.contenders[0].role = ROLE_BASELINE;
    f.bench.record->contenders[0].candidate = false;
    snprintf(f.contenders[1].family, sizeof f.contenders[1].family, "%s", f.contenders[0].family);
    fixture_start(&f);
    assert_int_equal(paper_run(&f.bench, &err), 0);
    assert_int_equal(cJSON_GetArraySize(f.bench.record->paper_pairs), 4);
    paper_pair(0, "a-nn", "c-nn");
    paper_pair(1, "a-nn", "d-nn");
    paper_pair(2, "b-nn", "c-nn");
    paper_pair(3, "b-nn", "d-nn");
    assert_true(f.bench.record->converged);
    fixture_close(&f);
}

static void paper_protocol_without_pairs_did_not_converge(void **state)
{
    struct error err;
    (void)state;
    fixture_open(&f, 1);
    f.bench.headline = TIMING_EVENT;
    fixture_start(&f);
    assert_int_equal(paper_run(&f.bench, &err), 0);
    assert_int_equal(cJSON_GetArraySize(f.bench.record->paper_pairs), 0);
    assert_false(f.bench.record->converged);
    fixture_close(&f);
}

/* A copy is a candidate's second self: it meets its original and nobody else. */
static void paper_protocol_lets_a_copy_meet_its_original(void **state)
{
    struct error err;
    (void)state;
    fixture_open(&f, 3);
    f.bench.headline = TIMING_EVENT;
    snprintf(f.bench.record->contenders[2].copy_of, sizeof f.bench.record->contenders[2].copy_of, "a-nn");
    f.bench.record->contenders[2].candidate = true;
    fixture_start(&f);
    assert_int_equal(paper_run(&f.bench, &err), 0);
    assert_int_equal(cJSON_GetArraySize(f.bench.record->paper_pairs), 2);
    paper_pair(0, "a-nn", "b-nn");
    paper_pair(1, "c-nn", "a-nn");
    fixture_close(&f);
}

/* A cell of the paper's protocol says as much about its circumstances as any other. */
static void paper_protocol_keeps_the_circumstances(void **state)
{
    struct error err;
    struct device_health hot = {.known = true,
                                .sm_clock_mhz = 1500,
                                .power_mw = 650000,
                                .temperature_c = 80,
                                .throttle_reasons = 4,
                                .slowdown = true};
    (void)state;
    fixture_open(&f, 2);
    f.config.protocol = PROTOCOL_PAPER;
    f.config.paper.pair_seconds = 3;
    f.config.gap.mean_ns = 20e6;
    f.bench.mode = MODE_SERVER;
    f.bench.headline = TIMING_EVENT;
    fake_set_health(f.device, &hot);
    fixture_start(&f);
    assert_int_equal(paper_run(&f.bench, &err), 0);
    const cJSON *pair = paper_pair(0, "a-nn", "b-nn");
    const cJSON *gaps = cJSON_GetObjectItem(pair, "gaps");
    assert_true(number_in(gaps, "n") == 2 * number_in(pair, "iterations"));
    assert_true(number_in(gaps, "least_ns") >= 20e6 && number_in(gaps, "greatest_ns") < 21e6);
    const cJSON *health = cJSON_GetObjectItem(pair, "health");
    assert_true(number_in(health, "samples") >= 3 && number_in(health, "samples") <= 4); /* once a second */
    assert_true(number_in(health, "slowdowns") == number_in(health, "samples"));
    assert_true(number_in(health, "least_sm_clock_mhz") == 1500 && number_in(health, "throttle_reasons") == 4);
    assert_true(fabs(number_in(pair, "geomean") - number_in(pair, "mean_of_ratios")) < 1e-9);
    assert_string_equal(f.bench.record->worst_pair, "a-nn / b-nn");
    for (size_t i = 0; i < 2; i++)
        assert_non_null(cJSON_GetObjectItem(f.bench.record->contenders[i].attributes, "accumulates"));
    fixture_close(&f);
}

/* An iteration is two timed launches and nothing else. */
static void paper_protocol_has_no_untimed_launches(void **state)
{
    struct error err;
    (void)state;
    fixture_open(&f, 2);
    f.config.protocol = PROTOCOL_PAPER;
    f.bench.headline = TIMING_EVENT;
    fixture_start(&f);
    assert_int_equal(paper_run(&f.bench, &err), 0);
    assert_int_equal(f.actors[0].launches, f.actors[1].launches);
    assert_int_equal(f.actors[0].launches + f.actors[1].launches, fake_counts(f.device).events);
    fixture_close(&f);
}

/* The candidate fails in its second pair: its first one does not count either. */
static void paper_protocol_drops_all_pairs_of_a_failure(void **state)
{
    struct error err;
    (void)state;
    fixture_open(&f, 2);
    f.bench.headline = TIMING_EVENT;
    fixture_start(&f);
    assert_int_equal(paper_run(&f.bench, &err), 0);
    assert_int_equal(cJSON_GetArraySize(f.bench.record->paper_pairs), 1);
    unsigned of_one_pair = f.actors[0].launches;
    fixture_close(&f);
    fixture_open(&f, 3);
    f.bench.headline = TIMING_EVENT;
    f.actors[0].fail_launches_from = (int)(of_one_pair + of_one_pair / 4);
    fixture_start(&f);
    assert_int_equal(paper_run(&f.bench, &err), 0);
    assert_string_equal(record_verdict(&f.bench.record->contenders[0]), "launch_error");
    assert_true(f.actors[2].launches > 0);
    assert_int_equal(cJSON_GetArraySize(f.bench.record->paper_pairs), 0);
    fixture_close(&f);
}

static void paper_protocol_refuses_implausible_speed(void **state)
{
    struct error err;
    (void)state;
    fixture_open(&f, 2);
    f.device->info.peak_flops = 2.0 * 8 * 8 * 16 / 1500e-9; /* the floor is 1500 ns: contender a claims 1000 */
    f.bench.headline = TIMING_DEVICE;
    fixture_start(&f);
    assert_int_equal(paper_run(&f.bench, &err), 0);
    assert_string_equal(record_verdict(&f.bench.record->contenders[0]), "implausible_speed");
    assert_int_equal(cJSON_GetArraySize(f.bench.record->paper_pairs), 0);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paper_protocol_scores_mean_of_ratios),
        cmocka_unit_test(paper_protocol_pairs_baselines),
        cmocka_unit_test(paper_protocol_without_pairs_did_not_converge),
        cmocka_unit_test(paper_protocol_lets_a_copy_meet_its_original),
        cmocka_unit_test(paper_protocol_keeps_the_circumstances),
        cmocka_unit_test(paper_protocol_has_no_untimed_launches),
        cmocka_unit_test(paper_protocol_drops_all_pairs_of_a_failure),
        cmocka_unit_test(paper_protocol_refuses_implausible_speed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
