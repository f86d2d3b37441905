/* result/left_out: a mean over shapes tells how many it does not count, and what it is with those. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "result_fixture.h"

/* Of three shapes two have a speedup: the third is counted, and stands in a mean of its own as 1. */
static void what_a_mean_leaves_out_is_counted(void **state)
{
    (void)state;
    struct journal *j = begin();
    put_cell(j, simple_cell(64));
    put_cell(j, declined_cell(128));
    put_cell(j, simple_cell(256));
    journal_close(j);
    cJSON *tree = result();
    const cJSON *summary = tree_member(tree, "summary"), *row;
    cJSON_ArrayForEach(row, tree_member(summary, "speedups"))
    {
        assert_true(tree_number(row, "n") == 2 && tree_number(row, "left_out") == 1);
        double all = pow(1 + tree_number(row, "geomean"), 2.0 / 3) - 1;
        is_within(tree_number(row, "geomean_of_all"), all, 2e-5);
    }
    assert_true(cJSON_GetArraySize(tree_member(summary, "speedups")) > 0);
    cJSON_ArrayForEach(row, tree_member(summary, "rates"))
        assert_true((tree_number(row, "left_out") == 1) == (strcmp(tree_text(row, "contender"), "cudal2-nn") == 0));
    cJSON_Delete(tree);
}

/* Where nobody else has a time there was nothing to gain by staying away. */
static void a_cell_without_its_reference_is_not_left_out(void **state)
{
    (void)state;
    static const double ns[] = {0, 1000};
    struct journal *j = begin();
    struct cell_record *r = fixture_record(128, MODE_OFFLINE);
    fixture_fail(fixture_contender(r, "torch.matmul", false), "crash", "x");
    fixture_contender(r, "cudal2-nn", true);
    fill(r, 8, ns, ns);
    put_cell(j, simple_cell(64));
    put_cell(j, r);
    journal_close(j);
    cJSON *tree = result();
    const cJSON *row = tree_member(tree_member(tree, "summary"), "speedups")->child;
    assert_true(tree_number(row, "n") == 1 && !tree_member(row, "left_out") && !tree_member(row, "geomean_of_all"));
    cJSON_Delete(tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_a_mean_leaves_out_is_counted),
        TEST(a_cell_without_its_reference_is_not_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
