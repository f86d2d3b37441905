/* Joules a launch by a counter of the test's own, on the scripted clock: what is told, and when nothing is. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "bench_fixture.h"
#include "measure/cell_loop.h"
#include "measure/energy.h"

#define STEP_NS 100e6
#define WATTS 500.0

static struct fixture f;
static struct device_ops ops;
static double idle_ns;        /* the host takes over each reading */
static double stands_from_ns; /* no step from then on */
static double falls_from_ns;  /* it starts anew then */
static double gone_from_ns;   /* it cannot be read any more */

static bool read_counter(struct device *d, uint64_t *millijoules)
{
    double now = (double)d->ops->now(d);
    (void)d->ops->wait_until(d, (uint64_t)(now + idle_ns));
    double at = fmin(now, stands_from_ns);
    at = at >= falls_from_ns ? at - falls_from_ns : at;
    *millijoules = (uint64_t)(floor(at / STEP_NS) * STEP_NS * 1e-6 * WATTS);
    return now < gone_from_ns;
}

static int set_up(void **state)
{
    (void)state;
    struct error err;
    idle_ns = 0;
    stands_from_ns = falls_from_ns = gone_from_ns = INFINITY;
    fixture_open(&f, 2);
    f.actors[0].duration_ns = 1e6;
    f.actors[1].duration_ns = 2e6;
    f.config.timings = timing_defaults();
    fixture_start(&f);
    ops = *f.device->ops;
    ops.energy = read_counter;
    f.device->ops = &ops;
    return cell_loop_run(&f.bench, &err);
}

static int tear_down(void **state)
{
    (void)state;
    fixture_close(&f);
    return 0;
}

static const cJSON *told(size_t who, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(f.bench.record->contenders[who].energy, key);
}

static double now_ns(void)
{
    return (double)f.device->ops->now(f.device);
}

static void measure(void)
{
    struct error err;
    if (energy_measure(&f.bench, &err) != 0)
        fail_msg("%s", err.text);
}

static void expect_not_measured(const char *why)
{
    measure();
    for (size_t i = 0; i < 2; i++) {
        assert_non_null(told(i, "not_measured"));
        assert_non_null(strstr(told(i, "not_measured")->valuestring, why));
        assert_null(told(i, "joules"));
    }
}

static void a_launch_takes_its_share_of_a_second(void **state)
{
    (void)state;
    measure();
    for (size_t i = 0; i < 2; i++) {
        double joules = WATTS * 1e-9 * f.actors[i].duration_ns, flop = problem_flops(&f.bench.problem);
        assert_null(told(i, "not_measured"));
        assert_true(fabs(told(i, "joules")->valuedouble / joules - 1) < 0.03); /* a look in a step, at both ends */
        assert_true(fabs(told(i, "gflop_per_joule")->valuedouble / (1e-9 * flop / joules) - 1) < 0.03);
        assert_true(told(i, "seconds")->valuedouble >= 1);
        assert_true(told(i, "steps")->valuedouble >= ENERGY_STEPS);
        assert_true(told(i, "busy")->valuedouble > 0.95);
    }
}

static void a_device_without_a_counter_says_so(void **state)
{
    (void)state;
    ops.energy = NULL;
    expect_not_measured("no energy counter");
}

static void a_counter_that_stands_still_tells_nothing(void **state)
{
    (void)state;
    stands_from_ns = now_ns() + 5 * STEP_NS;
    expect_not_measured("stands still");
}

/* A wrap looks like a fall, and so does a driver that was loaded again. */
static void a_counter_that_falls_tells_nothing(void **state)
{
    struct error err;
    (void)state;
    falls_from_ns = now_ns() + 5 * STEP_NS;
    assert_int_equal(energy_measure(&f.bench, &err), 0);
    assert_non_null(strstr(told(0, "not_measured")->valuestring, "fell"));
    assert_non_null(told(1, "joules")); /* the next one has a whole stretch */
}

static void a_counter_that_goes_tells_nothing(void **state)
{
    struct error err;
    (void)state;
    gone_from_ns = now_ns() + 5 * STEP_NS;
    assert_int_equal(energy_measure(&f.bench, &err), 0);
    assert_non_null(strstr(told(0, "not_measured")->valuestring, "cannot be read any more"));
    assert_non_null(strstr(told(1, "not_measured")->valuestring, "no energy counter"));
}

static void idling_is_not_told_as_a_launch(void **state)
{
    (void)state;
    idle_ns = 3e6;
    expect_not_measured("launches ran in");
}

#define ON_CELL(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_CELL(a_launch_takes_its_share_of_a_second),      ON_CELL(a_device_without_a_counter_says_so),
        ON_CELL(a_counter_that_stands_still_tells_nothing), ON_CELL(a_counter_that_falls_tells_nothing),
        ON_CELL(a_counter_that_goes_tells_nothing),         ON_CELL(idling_is_not_told_as_a_launch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
