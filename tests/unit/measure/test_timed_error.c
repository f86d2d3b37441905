/* What all timed outputs of a contender add up to (measure/timed_error.c), in numbers alone; test_judge has sums. */
#include <setjmp.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "measure/timed_error.h"

/* So many elements with this RMS, of a contender that showed 1 and may have 3. */
static struct entrant with(double rms, double elements, uint64_t launches)
{
    return (struct entrant){.error_bound = 3,
                            .error_shown = 1,
                            .error_shown_of = 1e4,
                            .timed = {.judged = launches, .errors = elements, .error_sq = rms * rms * elements}};
}

static enum verdict judged(struct entrant e)
{
    char why[CUDAL2_WHY] = "";
    enum verdict verdict = timed_error_judge(&e, why);
    assert_int_equal(why[0] != 0, verdict != VERDICT_OK);
    return verdict;
}

/* The same, of one that showed so much. */
static struct entrant that_showed(double shown, struct entrant e)
{
    e.error_shown = shown;
    return e;
}

static void together_they_keep_to_the_bound(void **state)
{
    (void)state;
    for (double shown = 2; shown >= 0; shown -= 2) { /* 0: not known */
        assert_int_equal(judged(that_showed(shown, with(3.7, 1e6, 1000))), VERDICT_OK);
        assert_int_equal(judged(that_showed(shown, with(3.8, 1e6, 1000))), VERDICT_WRONG_RESULT);
    }
    assert_int_equal(judged(with(3.8, TIMED_ERROR_WRONG_LEAST, TIMED_ERROR_WRONG_LAUNCHES)), VERDICT_WRONG_RESULT);
}

/* Twice the error of verification; but never below half of the bound, which is what baselines err by, and half of it.
 */
static void together_they_are_what_was_verified(void **state)
{
    char why[CUDAL2_WHY];
    struct entrant e = with(2.3, 1e6, 1000);
    (void)state;
    assert_int_equal(timed_error_judge(&e, why), VERDICT_WRONG_RESULT);
    assert_string_equal(why, "RMS error 2.3 over all that were judged, allowed is 2.06: it was 1 when verified");
    assert_int_equal(judged(with(2, 1e6, 1000)), VERDICT_OK);
    assert_int_equal(judged(that_showed(0.2, with(1.45, 1e6, 1000))), VERDICT_OK);
    assert_int_equal(judged(that_showed(0.2, with(1.55, 1e6, 1000))), VERDICT_WRONG_RESULT);
    e.error_shown_of = 120; /* of few elements the figure of verification scatters */
    assert_int_equal(judged(e), VERDICT_OK);
}

/* Three times, far below the bound, where every launch was judged alone and there were many. */
static void launches_judged_alone_are_held_to_what_they_showed(void **state)
{
    char why[CUDAL2_WHY];
    struct entrant e = that_showed(0.1, with(0.32, 1e6, 1000));
    (void)state;
    assert_int_equal(judged(e), VERDICT_OK); /* segments */
    e.timed.alone = TIMED_ERROR_WRONG_LAUNCHES - 1;
    assert_int_equal(judged(e), VERDICT_OK);
    e.timed.alone = TIMED_ERROR_WRONG_LAUNCHES;
    assert_int_equal(timed_error_judge(&e, why), VERDICT_WRONG_RESULT);
    assert_string_equal(why, "RMS error 0.32 over all that were judged, allowed is 0.309: it was 0.1 when verified");
    e.timed.error_sq = 0.29 * 0.29 * e.timed.errors;
    assert_int_equal(judged(e), VERDICT_OK);
    e = that_showed(0, with(3.7, 1e6, 1000)); /* nothing shown: nothing to hold it to */
    e.timed.alone = 1000;
    assert_int_equal(judged(e), VERDICT_OK);
}

/* Launches in rows that were cut short count, and less than of single ones will do. */
static void launches_of_rows_count(void **state)
{
    struct entrant e = with(9, 1e6, TIMED_ERROR_WRONG_SEGMENTS - 3);
    (void)state;
    e.timed.rows = 2;
    assert_int_equal(judged(e), VERDICT_OK);
    e.timed.rows = 3;
    assert_int_equal(judged(e), VERDICT_WRONG_RESULT);
}

static void nothing_is_said_too_early(void **state)
{
    struct entrant e = with(9, 1e6, 1000);
    (void)state;
    assert_int_equal(judged(with(9, 999, 1000)), VERDICT_OK);
    assert_int_equal(judged(with(9, 1e6, TIMED_ERROR_WRONG_LAUNCHES - 1)), VERDICT_OK);
    assert_int_equal(judged(with(0, 0, 0)), VERDICT_OK);
    e.error_shown_of = 99; /* a problem of too few inputs */
    assert_int_equal(judged(e), VERDICT_OK);
    assert_false(timed_error_changes(&e));
    e = with(9, 1e6, 1000);
    e.error_bound = 0; /* a baseline */
    assert_int_equal(judged(e), VERDICT_OK);
    e.error_shown = 0; /* not verified */
    assert_true(isnan(timed_error_ratio(&e)));
    assert_false(timed_error_changes(&e));
}

static void a_change_is_told_either_way(void **state)
{
    const struct {
        double rms, elements;
        bool told;
    } rows[] = {{1, 1e6, false},   {1.45, 1e6, false}, {1.55, 1e6, true}, {0.7, 1e6, false},
                {0.64, 1e6, true}, {1.9, 100, false},  {2, 100, true},    {1000, 99, false}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct entrant e = with(rows[i].rms, rows[i].elements, 20);
        assert_int_equal(timed_error_changes(&e), rows[i].told);
        assert_true(fabs(timed_error_ratio(&e) - rows[i].rms) < 1e-9 * rows[i].rms);
    }
}

static void spots_add_up(void **state)
{
    const struct probe_spot spots[] = {{.expected = 2, .scale = 4}, {.expected = -1, .scale = 0.5}};
    const double found[] = {6, -2};
    struct timed_counts counts = {0};
    const struct probe_difference more = {.sum_sq_scaled = 10};
    (void)state;
    timed_error_add_spots(&counts, spots, found, 2);
    timed_error_add(&counts, &more, 7);
    assert_true(fabs(counts.errors - 9) < 1e-12 && fabs(counts.error_sq - (1 + 4 + 10)) < 1e-12);
}

static void short_rows_have_few_errors_of_their_own(void **state)
{
    const struct cudal2_problem few = {.m = 300, .n = 1, .k = 1}, many = {.m = 50, .n = 60, .k = 200};
    (void)state;
    assert_true(timed_error_independent(&few, 300) < 2);
    assert_true(timed_error_independent(&many, 3000) > 2999);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(together_they_keep_to_the_bound),
        cmocka_unit_test(together_they_are_what_was_verified),
        cmocka_unit_test(launches_judged_alone_are_held_to_what_they_showed),
        cmocka_unit_test(launches_of_rows_count),
        cmocka_unit_test(nothing_is_said_too_early),
        cmocka_unit_test(a_change_is_told_either_way),
        cmocka_unit_test(spots_add_up),
        cmocka_unit_test(short_rows_have_few_errors_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
