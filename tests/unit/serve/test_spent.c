/* serve/spent: seconds of several runs, and what none of them explains. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/tree.h"
#include "serve/spent.h"

static void is(const cJSON *tree, const char *key, double seconds)
{
    double told = tree_number(tree, key);
    if (told < seconds - 1e-9 || told > seconds + 1e-9)
        fail_msg("%s: %g, not %g", key, told, seconds);
}

static void add_run(struct spent *spent, const char *text)
{
    cJSON *run = cJSON_Parse(text);
    assert_non_null(run);
    spent_add_run(spent, run);
    cJSON_Delete(run);
}

static void sums(void **state)
{
    struct spent spent = {0};
    struct cell_record *record = record_new();
    (void)state;
    record->phase_seconds[PHASE_VERIFY] = 0.25;
    record->phase_seconds[PHASE_MEASURE] = 1;
    record->part_seconds[0] = 0.125;
    record->busy_seconds = 0.375;
    spent_add_cell(&spent, record, 1, 0);
    spent_add_cell(&spent, record, 2, 0);
    record_free(record);
    spent_add_run(&spent, NULL);
    add_run(&spent, "{\"seconds\":9,\"parts\":[{\"part\":\"measure\",\"seconds\":3,\"workers\":[{\"start\":0.5}]},"
                    "{\"part\":\"watch\",\"seconds\":2,\"workers\":[{\"start\":1}]}]}");
    cJSON *tree = spent_tree(&spent, 7, 0.75, 5.5);
    is(tree, "queue", 7);
    is(tree, "compile", 0.75);
    is(tree, "start", 0.5);
    is(tree, "verify", 0.5);
    is(tree, "measure", 2);
    is(tree, "tune", 0);
    is(tree, "watch", 2);
    is(tree, "rest", 0.5);
    is(tree, "busy", 0.75);
    is(tree_member(tree, "parts"), part_names[0], 0.25);
    cJSON_Delete(tree);
    spent_share(&spent, 2);
    tree = spent_tree(&spent, 7, 0.75, 2.75);
    is(tree, "start", 0.25);
    is(tree, "measure", 1);
    is(tree, "watch", 1);
    is(tree, "busy", 0.375);
    is(tree, "rest", 0.25);
    is(tree_member(tree, "parts"), part_names[0], 0.125);
    cJSON_Delete(tree);
    tree = spent_tree(&spent, 0, 0, 1); /* rounded up elsewhere: no less than nothing */
    is(tree, "rest", 0);
    cJSON_Delete(tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sums)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
