/* result/borrowed_rows: whose product it was, by records and by watched kernels, and who says so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "result_fixture.h"

static struct cell_record *borrowing_cell(int64_t m, const char *verification)
{
    struct cell_record *r = simple_cell(m);
    r->contenders[1].verification = cJSON_Parse(verification);
    return r;
}

#define KERNEL(name) "{\"kernel\":\"" name "\",\"grid\":[1,1,1],\"block\":[1,1,1],\"stream\":1,\"n\":1,\"ns\":1}"

/* By the record or, where that lists none, by the kernels that were watched; each library once. */
static void whose_product_it_was_is_told(void **state)
{
    (void)state;
    struct journal *j = begin();
    put_cell(j, borrowing_cell(64, "{\"borrowed\":[\"OpenBLAS: a.so\",\"OpenBLAS: b.so\",\"mine: c\",7]}"));
    put_cell(j, borrowing_cell(128, "{\"borrowed\":[\"OpenBLAS: b.so\"]}"));
    put_cell(j, simple_cell(256));
    put_text(
        j, "activity",
        "{\"cell\":\"offline/f16-f32-256x64x64\",\"contenders\":[{\"name\":\"torch.matmul\",\"launch\":[" KERNEL(
            "nvjet_b") "],\"busy_ns\":1},{\"name\":\"cudal2-nn\",\"launch\":[" KERNEL("mine") "," KERNEL("_ZN7cutlass1"
                                                                                                         "x") "," KERNEL("nvjet_a") "],\"busy_ns\":1}],\"seconds\":1}");
    journal_close(j);
    cJSON *tree = result();
    const cJSON *rows = tree_member(tree_member(tree, "summary"), "borrowed");
    assert_int_equal(cJSON_GetArraySize(rows), 2);
    const cJSON *first = rows->child, *second = first->next;
    assert_string_equal(tree_text(first, "library"), "OpenBLAS");
    assert_string_equal(tree_text(first, "seen"), "a.so");
    assert_true(tree_number(first, "cells") == 2 && !tree_true(first, "declared"));
    assert_string_equal(tree_text(second, "contender"), "cudal2-nn");
    assert_string_equal(tree_text(second, "library"), "cuBLAS");
    assert_string_equal(tree_text(second, "seen"), "nvjet_a");
    cJSON_Delete(tree);
}

/* Its name, what it describes and what its versions say. */
static void who_says_so_is_told_apart(void **state)
{
    static const char *const versions[] = {
        "{\"cudal2\":{\"openblas\":\"1\"}}",
        "{\"cudal2\":{\"uses\":\"OpenBLAS 0.3\"}}",
        "{\"x\":{\"openblas\":\"1\",\"plugin_name\":\"cudal2\"}}",
        "{\"other\":{\"openblas\":\"1\"}}",
        "{\"cudal2\":{\"cudal2\":\"1\",\"plugin_digest\":\"openblas\"}}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        char env[512];
        struct journal *j = begin();
        snprintf(
            env, sizeof env,
            "{\"worker\":1,\"device\":{\"name\":\"G\"},\"libraries\":%s,\"named\":{\"/a/cudal2.so\":[\"cudal2-nn\"]}}",
            versions[i]);
        put_text(j, "env", env);
        put_cell(j, borrowing_cell(64, "{\"borrowed\":[\"OpenBLAS: a.so\"]}"));
        journal_close(j);
        cJSON *tree = result();
        const cJSON *row = tree_member(tree_member(tree, "summary"), "borrowed")->child;
        assert_int_equal(tree_true(row, "declared"), i < 3);
        cJSON_Delete(tree);
        unlink(journal_path);
    }
}

static void nobody_borrows_for_nothing(void **state)
{
    (void)state;
    cJSON *tree = result_of(simple_cell(64));
    assert_null(tree_member(tree_member(tree, "summary"), "borrowed"));
    cJSON_Delete(tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(whose_product_it_was_is_told),
        TEST(nobody_borrows_for_nothing),
        TEST(who_says_so_is_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
