/* measure/bench: what a setup has put on the device is waited for under its contender's name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "bench_fixture.h"
#include "measure/cell_loop.h"

static struct fixture f;

/* The stage page: who stands there, and how often the device was waited for meanwhile. */
static struct page {
    char name[64], stage[32];
    uint64_t since;
    unsigned waits; /* in setups of "a-nn" */
} page;

static void note(void *context, const char *contender, const char *stage, double seconds)
{
    (void)context;
    (void)seconds;
    uint64_t syncs = fake_counts(f.device).syncs;
    if (strcmp(page.name, "a-nn") == 0 && strcmp(page.stage, "setup") == 0)
        page.waits += (unsigned)(syncs - page.since);
    page.since = syncs;
    snprintf(page.name, sizeof page.name, "%s", contender);
    snprintf(page.stage, sizeof page.stage, "%s", stage);
}

/* The first is a candidate. */
static void open_two(void)
{
    fixture_open(&f, 2);
    struct operands_request request;
    struct error err;
    bench_operands_request(&f.bench, 7, &request);
    assert_int_equal(operands_alloc(f.device, &request, &f.bench.operands, &err), 0);
    page = (struct page){.name = ""};
    f.bench.report = note;
}

static unsigned waits_for(size_t i)
{
    struct error err;
    assert_int_equal(entrant_begin(&f.bench, &f.bench.entrants[i], &err), 0);
    bench_stage(&f.bench, NULL, "verify", 60);
    return page.waits;
}

static void a_candidate_is_waited_for_under_its_name(void **state)
{
    (void)state;
    open_two();
    assert_int_equal(waits_for(0), 1);
    assert_true(f.bench.entrants[0].set_up);
    fixture_close(&f);
}

/* Nor its setup that says no: what it has begun by then may run for ever. */
static void so_is_one_that_says_no(void **state)
{
    (void)state;
    open_two();
    f.actors[0].refuse_setups_from = 1;
    assert_int_equal(waits_for(0), 1);
    assert_int_equal(f.bench.record->contenders[0].verdict, VERDICT_SETUP_ERROR);
    assert_string_equal(f.bench.record->contenders[0].reason, "setup refused on purpose");
    fixture_close(&f);
}

/* Whose setup launches nothing. */
static void kernels_that_the_harness_loads_are_not(void **state)
{
    (void)state;
    open_two();
    struct contender_ops ops = *f.contenders[0].ops;
    ops.device_only = true;
    f.contenders[0].ops = &ops;
    assert_int_equal(waits_for(0), 0);
    fixture_close(&f);
}

static void a_device_lost_by_a_setup_has_its_name(void **state)
{
    struct error err;
    (void)state;
    open_two();
    f.actors[0].break_setup = 1;
    assert_int_equal(entrant_begin(&f.bench, &f.bench.entrants[0], &err), EXIT_CODE_UNAVAILABLE);
    assert_non_null(strstr(err.text, "a-nn at setup"));
    assert_string_equal(page.name, "a-nn");
    assert_string_equal(page.stage, "setup");
    fixture_close(&f);
}

/* Amid a cell too, where the other one is prepared next. */
static void and_so_in_a_later_group(void **state)
{
    struct error err;
    (void)state;
    fixture_open(&f, 2);
    f.actors[0].break_setup = 2;
    fixture_start(&f);
    page = (struct page){.name = ""};
    f.bench.report = note;
    assert_int_equal(cell_loop_run(&f.bench, &err), EXIT_CODE_UNAVAILABLE);
    assert_string_equal(page.name, "a-nn");
    assert_string_equal(page.stage, "setup");
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_candidate_is_waited_for_under_its_name),
        cmocka_unit_test(so_is_one_that_says_no),
        cmocka_unit_test(kernels_that_the_harness_loads_are_not),
        cmocka_unit_test(a_device_lost_by_a_setup_has_its_name),
        cmocka_unit_test(and_so_in_a_later_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
