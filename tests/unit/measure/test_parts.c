/* What a group costs beside its blocks, on the scripted clock: where a record says that measuring's time went. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "bench_fixture.h"
#include "device/probe.h"
#include "measure/cell_loop.h"

static struct fixture f;

static void parts_add_up_to_the_measuring(void **state)
{
    double start, sum = 0;
    (void)state;
    fixture_open(&f, 3);
    fixture_start(&f);
    start = (double)f.device->ops->now(f.device);
    struct error err;
    assert_int_equal(cell_loop_run(&f.bench, &err), 0);
    for (int i = 0; i < PART_COUNT; i++) {
        assert_true(f.bench.record->part_seconds[i] >= 0);
        sum += f.bench.record->part_seconds[i];
    }
    assert_true(fabs(sum - 1e-9 * ((double)f.device->ops->now(f.device) - start)) < 1e-9);
    assert_true(f.bench.record->part_seconds[PART_HEADLINE] > 0);
    assert_true(f.bench.record->part_seconds[PART_OTHERS] > 0);
    assert_true(f.bench.record->part_seconds[PART_HEADLINE] < sum);
    fixture_close(&f);
}

static void run_loop(void)
{
    struct error err;
    fixture_start(&f);
    assert_int_equal(cell_loop_run(&f.bench, &err), 0);
}

/* ---- what setups leave changed ---- */

static unsigned looked;             /* for changes */
static const struct actor *culprit; /* its later setups change the process */
static unsigned told;               /* of its setups that were told of */

static void look_for_changes(struct device *d, char what[128])
{
    (void)d;
    looked++;
    what[0] = '\0';
    if (culprit != NULL && culprit->setups > 1 && culprit->setups != told) {
        told = culprit->setups;
        strcpy(what, "a signal handler");
    }
}

static struct probe_ops watch_setups(size_t n)
{
    fixture_open(&f, n);
    struct probe_ops probes = *f.device->probes;
    probes.changes = look_for_changes;
    f.config.honesty = true;
    f.config.stop.min_blocks = f.config.stop.max_blocks = 4;
    f.config.stop.group_blocks = 1;
    looked = told = 0;
    culprit = NULL;
    return probes;
}

/* Contenders of a group are set up in a row: before the first, and behind each. */
static void changes_are_looked_for_once_between_two_setups(void **state)
{
    (void)state;
    const struct probe_ops probes = watch_setups(3);
    f.device->probes = &probes;
    run_loop();
    unsigned groups = f.bench.record->groups;
    assert_true(groups > 1);
    assert_int_equal(looked, 2 * 3 + (groups - 1) * (3 + 1)); /* by themselves before the first group */
    fixture_close(&f);
}

static void who_changes_the_process_is_found_in_a_row(void **state)
{
    (void)state;
    const struct probe_ops probes = watch_setups(3);
    f.device->probes = &probes;
    culprit = &f.actors[1];
    run_loop();
    assert_string_equal(f.bench.record->contenders[0].status, "ok");
    assert_string_equal(f.bench.record->contenders[1].status, "device_state_changed");
    assert_string_equal(f.bench.record->contenders[2].status, "ok");
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_add_up_to_the_measuring),
        cmocka_unit_test(changes_are_looked_for_once_between_two_setups),
        cmocka_unit_test(who_changes_the_process_is_found_in_a_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
