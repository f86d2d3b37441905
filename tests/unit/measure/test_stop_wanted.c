/* measure/stop: how narrow a cell's intervals must be, by its lead and by how long its launches take. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "measure/stop.h"
#include "record_fixture.h"

static const struct stop_config config = {.min_blocks = 8,
                                          .look_every = 2,
                                          .max_blocks = 32,
                                          .group_blocks = 1,
                                          .delta = {0.005, 0.02},
                                          .max_cell_seconds = {4, 16},
                                          .hopeless_share = 0.25};

/* cublas-nn and cudal2-nn, of times that lie so far apart; the lead is in log units, a launch takes so many us. */
static struct cell_record *pair_with(enum mode mode, double lead, double us, double scatter)
{
    struct cell_record *r = fixture_record(64, mode);
    fixture_contender(r, "cublas-nn", false);
    fixture_contender(r, "cudal2-nn", true);
    for (unsigned i = 0; i < 12; i++) {
        unsigned block = fixture_block(r, config.group_blocks);
        series_add(&r->contenders[0].timings[r->headline], block, 1e3 * us * exp(lead + scatter * (i * 5 % 12 - 5.5)));
        series_add(&r->contenders[1].timings[r->headline], block, 1e3 * us);
    }
    return r;
}

static double wanted_of(enum mode mode, double lead, double us, struct stop_config s)
{
    struct cell_record *r = pair_with(mode, lead, us, 0);
    double wanted = stop_wanted(&s, r);
    record_free(r);
    return wanted;
}

static void assert_near(double a, double b)
{
    assert_true(fabs(a - b) < 1e-9);
}

static void a_large_lead_needs_less(void **state)
{
    struct stop_config s = config;
    (void)state;
    assert_near(wanted_of(MODE_OFFLINE, 0.3, 1, s), 0.005);
    s.lead_delta = 0.01;
    assert_near(wanted_of(MODE_OFFLINE, 0, 1, s), 0.005);
    assert_near(wanted_of(MODE_OFFLINE, 0.04, 1, s), 0.005);
    assert_near(wanted_of(MODE_OFFLINE, 0.08, 1, s), 0.008);
    assert_near(wanted_of(MODE_OFFLINE, -0.08, 1, s), 0.008);
    assert_near(wanted_of(MODE_OFFLINE, 0.3, 1, s), 0.01);
    assert_near(wanted_of(MODE_SERVER, 0.9, 1, s), 0.02);
}

static void a_long_launch_needs_less(void **state)
{
    struct stop_config s = config;
    (void)state;
    assert_near(wanted_of(MODE_OFFLINE, 0, 1600, s), 0.005);
    s.long_delta = 0.015;
    assert_near(wanted_of(MODE_OFFLINE, 0, 1599, s), 0.005);
    assert_near(wanted_of(MODE_OFFLINE, 0, 1600, s), 0.015);
    assert_near(wanted_of(MODE_SERVER, 0, 1600, s), 0.02);
}

/* Where nothing was timed, or no pair can be compared, nobody leads. A copy does not lead for its original. */
static void without_a_pair_there_is_no_lead(void **state)
{
    struct stop_config s = config;
    struct cell_record *r = fixture_record(64, MODE_OFFLINE);
    (void)state;
    s.lead_delta = 0.01;
    assert_near(stop_wanted(&s, r), 0.005);
    record_free(r);
    r = pair_with(MODE_OFFLINE, 0.3, 1, 0);
    strcpy(r->contenders[0].rung, "events");
    assert_near(stop_wanted(&s, r), 0.005);
    strcpy(r->contenders[0].rung, "graph");
    assert_near(stop_wanted(&s, r), 0.01);
    strcpy(r->contenders[1].copy_of, "cublas-nn");
    assert_near(stop_wanted(&s, r), 0.005);
    record_free(r);
}

/* Intervals of about 1.3%: too wide, and without hope for 0.5%, not for 2%. */
static void what_is_wanted_decides(void **state)
{
    (void)state;
    for (int wide = 0; wide < 2; wide++) {
        struct stop_config s = config;
        struct cell_record *r = pair_with(MODE_OFFLINE, 0, 2000, 0.005);
        s.long_delta = wide ? 0.02 : 0;
        assert_int_equal(stop_decide(&s, r), wide ? STOP_CONVERGED : STOP_CONTINUE);
        assert_int_equal(r->converged, wide);
        assert_true(r->worst_half_width > 0.0125 && r->worst_half_width < 0.02);
        assert_int_equal(stop_is_hopeless(&s, r, 3.9), !wide);
        record_free(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_large_lead_needs_less),
        cmocka_unit_test(a_long_launch_needs_less),
        cmocka_unit_test(without_a_pair_there_is_no_lead),
        cmocka_unit_test(what_is_wanted_decides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
