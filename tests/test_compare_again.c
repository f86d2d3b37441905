/* compare/provenance: a second look at the suspects counts when it was taken with what NEW was measured with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "compare/compare.h"
#include "compare_fixture.h"

#define OFFLINE "\"h200-f16\":{\"hash\":\"1\"}"
#define SERVER "\"h200-f16-server\":{\"hash\":\"2\"}"

static char directory[64], base_path[96], fresh_path[96], again_path[96];

static int set_up(void **state)
{
    (void)state;
    strcpy(directory, "/tmp/cudal2-again-XXXXXX");
    if (!mkdtemp(directory))
        return -1;
    snprintf(base_path, sizeof base_path, "%s/base.journal.jsonl", directory);
    snprintf(fresh_path, sizeof fresh_path, "%s/new.journal.jsonl", directory);
    snprintf(again_path, sizeof again_path, "%s/again.journal.jsonl", directory);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(base_path);
    unlink(fresh_path);
    unlink(again_path);
    return rmdir(directory);
}

/* The status of a second look taken with these tables and this cuBLAS, at a run that had both tables. */
static int look_again(const char *tables, const char *cublas, struct error *err)
{
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
    assert_int_equal(look_again("{\"h200-f16\":{\"hash\":\"3\"}}", NULL, &err), EXIT_CODE_INCOMPARABLE);
    assert_non_null(strstr(err.text, "plugins and libraries (h200-f16): "));
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
        cmocka_unit_test_setup_teardown(tables_of_other_modes_may_be_missing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(another_table_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(another_library_is_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
