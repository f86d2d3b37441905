/* compare/provenance: a second look at the suspects counts when it was taken with what NEW was measured with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "compare/compare.h"
#include "compare_fixture.h"
#include "scratch_fixture.h"

#define OFFLINE "\"nvidia-h200-f16\":{\"hash\":\"1\"}"
#define SERVER "\"nvidia-h200-f16-server\":{\"hash\":\"2\"}"

/* The status of a second look taken with these tables and this cuBLAS, at a run that had both tables. */
static int look_again(const char *tables, const char *cublas, struct error *err)
{
    const char *base_path = scratch_path("base.journal.jsonl"), *fresh_path = scratch_path("new.journal.jsonl"),
               *again_path = scratch_path("again.journal.jsonl");
    const struct compare_request request = {.base = base_path, .fresh = fresh_path};
    const struct script fresh = {.seed = 2, .slower = {0.08}, .tables = "{" OFFLINE "," SERVER "}"};
    const struct script again = {.seed = 2, .slower = {0.08}, .tables = tables, .cublas = cublas};
    struct compare_runs c;
    fixture_write(base_path, &(struct script){.seed = 2, .tables = fresh.tables});
    fixture_write(fresh_path, &fresh);
    fixture_write(again_path, &again);
    *err = (struct error){0};
    if (compare_open(&request, &c, err))
        fail_msg("%s", err->text);
    assert_true(compare_suspects(&c) > 0);
    int code = compare_confirm(&c, again_path, false, err);
    compare_free(&c);
    return code;
}

/* Suspects of one mode are measured in that mode, for which a worker opens fewer tables. */
static void tables_of_other_modes_may_be_missing(void **state)
{
    struct error err;
    (void)state;
    assert_int_equal(look_again("{" OFFLINE "," SERVER "}", NULL, &err), 0);
    assert_int_equal(look_again("{" OFFLINE "}", NULL, &err), 0);
    assert_int_equal(look_again(NULL, NULL, &err), 0);
}

static void another_table_is_refused(void **state)
{
    struct error err;
    (void)state;
    assert_int_equal(look_again("{\"nvidia-h200-f16\":{\"hash\":\"3\"}}", NULL, &err), EXIT_CODE_INCOMPARABLE);
    assert_non_null(strstr(err.text, "plugins and libraries (nvidia-h200-f16): "));
    assert_int_equal(look_again("{\"nvidia-h200-f16-server\":{\"hash\":\"3\"}}", NULL, &err), EXIT_CODE_INCOMPARABLE);
    assert_non_null(strstr(err.text, "plugins and libraries (nvidia-h200-f16-server): "));
    assert_int_equal(look_again("{" OFFLINE ",\"h200-f32\":{\"hash\":\"4\"}}", NULL, &err), EXIT_CODE_INCOMPARABLE);
    assert_non_null(strstr(err.text, "plugins and libraries (h200-f32): nothing in BASE"));
}

static void another_library_is_refused(void **state)
{
    struct error err;
    (void)state;
    assert_int_equal(look_again("{" OFFLINE "}", "13.1.0", &err), EXIT_CODE_INCOMPARABLE);
    assert_non_null(strstr(err.text, "plugins and libraries (cublas): "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(tables_of_other_modes_may_be_missing, scratch_make, scratch_remove),
        cmocka_unit_test_setup_teardown(another_table_is_refused, scratch_make, scratch_remove),
        cmocka_unit_test_setup_teardown(another_library_is_refused, scratch_make, scratch_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
