/* What a group costs beside its blocks, on the scripted clock: where a record says that measuring's time went. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "bench_fixture.h"
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_add_up_to_the_measuring),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
