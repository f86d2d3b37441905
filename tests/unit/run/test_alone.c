/* run/alone through the supervisor, with scripted workers: baselines are timed without the plugins that raced and
 * beside them, twice each, and who slows one is named. */
#include <math.h>
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
#include "base/random.h"
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
        assert_non_null(
            strstr(cJSON_GetObjectItem(entry, "reason")->valuestring, "beta takes 100% to 100% longer beside"));
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

/* Whoever lies above the margin with the whole of its interval. */
static void times_are_judged(void **state)
{
    static const struct {
        double ns[ALONE_PHASES];
        bool disturbed;
    } rows[] = {
        {{100, 130, 100, 130, 100, 130}, true},  /* no two alike differ */
        {{100, 110, 101, 111, 100, 110}, true},  /* 10%, and workers agree within 1% */
        {{100, 103, 100, 103, 100, 103}, false}, /* below the margin */
        {{100, 140, 120, 160, 110, 130}, false}, /* 30%, and workers differ by 20% */
        {{100, 130, 100, 100, 100, 130}, false}, /* not each time */
        {{130, 100, 130, 100, 130, 100}, false}, /* faster */
        {{100, 100, 100, 100, 100, 100}, false},
    };
    struct alone_interval i;
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        assert_true(alone_interval(rows[r].ns, 1, &i));
        assert_int_equal(i.from > ALONE_MARGIN, rows[r].disturbed);
        assert_true(i.from <= i.to);
    }
    assert_false(alone_interval((double[ALONE_PHASES]){100, 130, 0, 130, 100, 130}, 1, &i));
}

static double normal(struct random *r)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += random_unit(r);
    return sum;
}

/* Workers that differ by 1% to 30%, now and then one by far: at most ALONE_ERROR of the honest cells lie above. */
static void honest_pairs_are_left_alone(void **state)
{
    struct random random;
    struct alone_interval interval;
    unsigned accused = 0, caught = 0, tried = 20000;
    (void)state;
    random_seed(&random, 35);
    for (unsigned i = 0; i < tried; i++) {
        double ns[ALONE_PHASES], slow[ALONE_PHASES], spread = 0.01 + 0.29 * random_unit(&random);
        for (unsigned p = 0; p < ALONE_PHASES; p++) {
            ns[p] = 1000 * exp(spread * normal(&random)) * (random_unit(&random) < 0.05 ? 2 : 1);
            slow[p] = 1000 * (p % 2 ? 1.25 : 1) * exp(0.01 * normal(&random));
        }
        assert_true(alone_interval(ns, 1, &interval));
        accused += interval.from > ALONE_MARGIN;
        assert_true(alone_interval(slow, 9, &interval));
        caught += interval.from > ALONE_MARGIN;
    }
    assert_true(accused <= ALONE_ERROR * tried);
    assert_true(caught > 0.95 * tried);
}

#define ALONE(test) cmocka_unit_test_setup_teardown(test, set_up_alone, tear_down_alone)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        ALONE(who_slows_a_baseline_is_named),
        ALONE(honest_plugins_are_left_alone),
        ALONE(one_of_several_is_not_named),
        ALONE(only_where_it_is_asked_for),
        ALONE(only_plugins_are_left_out),
        cmocka_unit_test(times_are_judged),
        cmocka_unit_test(honest_pairs_are_left_alone),
    };
    if (argc > 1 && strcmp(argv[1], "worker") == 0)
        return fake_worker();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
