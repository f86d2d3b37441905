/* A row's times in a result: a column of its own where it was taken, and nothing where it was not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "result_fixture.h"

static cJSON *result_with(unsigned rows)
{
    static const double ns[] = {1000, 800}, row[] = {1000, 500};
    struct cell_record *r = fixture_record(64, MODE_OFFLINE);
    fixture_contender(r, "cublas-nn", false);
    fixture_contender(r, "cudal2", true);
    fill(r, 8, ns, ns);
    for (size_t i = 0; i < 2; i++)
        for (unsigned b = 0; b < 4 * rows; b += 4)
            series_add(&r->contenders[i].timings[TIMING_DEVICE_ROW], b, row[i]);
    return result_of(r);
}

static const cJSON *timings_of(const cJSON *cell)
{
    return tree_member(tree_member(tree_member(cell, "contenders"), "cudal2"), "timings");
}

static void taken(void **state)
{
    (void)state;
    cJSON *tree = result_with(2);
    const cJSON *cell = tree_member(tree, "cells")->child;
    assert_true(tree_number(tree_member(timings_of(cell), "device-row"), "median_ns") == 500);
    assert_true(fabs(tree_number(speedup(cell, "cudal2", "cublas-nn", "device-row"), "geomean") - 1) < 1e-4);
    assert_true(fabs(tree_number(speedup(cell, "cudal2", "cublas-nn", "device"), "geomean") - 0.25) < 1e-4);
    cJSON_Delete(tree);
}

/* Then results are as they were before there was such a timing. */
static void not_taken(void **state)
{
    (void)state;
    cJSON *tree = result_with(0);
    const cJSON *cell = tree_member(tree, "cells")->child;
    assert_null(tree_member(timings_of(cell), "device-row"));
    assert_true(cJSON_IsNull(tree_member(timings_of(cell), "wall")));
    assert_null(speedup(cell, "cudal2", "cublas-nn", "device-row"));
    cJSON_Delete(tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(taken), TEST(not_taken)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
