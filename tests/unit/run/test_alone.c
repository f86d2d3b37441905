/* run/alone through the supervisor, with scripted workers: baselines are timed without the plugins that raced and
 * beside them, twice each, and who slows one is named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "fake_worker.h"
#include "run_fixture.h"
#include "record/activity.h"
#include "run/alone.h"

static struct activity_book book;

static void replace_candidates(const char *first, const char *second)
{
    for (size_t i = 0; t.config.candidates[i]; i++) {
        free(t.config.candidates[i]);
        t.config.candidates[i] = NULL;
    }
    t.config.candidates[0] = strdup(first);
    t.config.candidates[1] = second ? strdup(second) : NULL;
}

static int set_up_alone(void **state)
{
    int code = set_up(state);
    if (code == 0) {
        replace_candidates("somewhere/alpha.so", NULL);
        t.config.rivals = 2;
    }
    return code;
}

static int tear_down_alone(void **state)
{
    activity_book_free(&book);
    return tear_down(state);
}

static int lines(void)
{
    activity_book_free(&book);
    assert_int_equal(activity_book_read(t.journal, &book, &t.err), 0);
    return cJSON_GetArraySize(book.cells);
}

static void who_slows_a_baseline_is_named(void **state)
{
    const cJSON *cell;
    (void)state;
    go("beside=slow");
    struct journal_view v = complete_view();
    free_view(&v);
    assert_int_equal(starts(), 1 + ALONE_PHASES);
    assert_int_equal(lines(), 2);
    cJSON_ArrayForEach(cell, book.cells)
    {
        const cJSON *entry = cell->child;
        assert_string_equal(cJSON_GetObjectItem(entry, "name")->valuestring, "alpha");
        assert_string_equal(cJSON_GetObjectItem(entry, "status")->valuestring, "rival_disturbed");
        assert_non_null(strstr(cJSON_GetObjectItem(entry, "reason")->valuestring, "beta takes 2 and 2 us beside"));
        assert_null(entry->next); /* and nobody else */
    }
    assert_non_null(strstr(t.last_note, "baselines are slower beside alpha, in 2 of 2 cells"));
}

/* All take the same time: nobody is named, and the run is as it was. */
static void honest_plugins_are_left_alone(void **state)
{
    (void)state;
    go("beside=alike"); /* says that nothing called alpha.so was measured: the workers know no files */
    assert_int_equal(lines(), 0);
    assert_int_equal(starts(), 1 + ALONE_PHASES);
    assert_non_null(strstr(t.last_note, "baselines take the same time without"));
}

static void one_of_several_is_not_named(void **state)
{
    (void)state;
    replace_candidates("somewhere/alpha.so", "omega.so");
    go("beside=slow");
    assert_int_equal(lines(), 0);
    assert_non_null(strstr(t.last_note, "one of the plugins that raced"));
}

static void only_where_it_is_asked_for(void **state)
{
    (void)state;
    t.config.rivals = 0;
    go("beside=slow");
    assert_int_equal(starts(), 1);
    assert_int_equal(lines(), 0);
}

/* A kernel set has no host code. */
static void only_plugins_are_left_out(void **state)
{
    (void)state;
    replace_candidates("alpha", NULL);
    go("beside=slow");
    assert_int_equal(starts(), 1);
    assert_int_equal(lines(), 0);
}

static void times_are_judged(void **state)
{
    static const struct {
        double ns[ALONE_PHASES];
        bool disturbed;
    } rows[] = {
        {{100, 130, 100, 130}, true},  {{100, 135, 105, 140}, true},  {{100, 120, 100, 130}, false},
        {{100, 130, 120, 160}, false}, {{100, 130, 100, 100}, false}, {{130, 100, 130, 100}, false},
        {{0, 130, 100, 130}, false},   {{100, 0, 100, 130}, false},   {{100, 100, 100, 100}, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(alone_is_disturbed(rows[i].ns), rows[i].disturbed);
}

#define ALONE(test) cmocka_unit_test_setup_teardown(test, set_up_alone, tear_down_alone)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        ALONE(who_slows_a_baseline_is_named), ALONE(honest_plugins_are_left_alone), ALONE(one_of_several_is_not_named),
        ALONE(only_where_it_is_asked_for),    ALONE(only_plugins_are_left_out),     cmocka_unit_test(times_are_judged),
    };
    if (argc > 1 && strcmp(argv[1], "worker") == 0)
        return fake_worker();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
