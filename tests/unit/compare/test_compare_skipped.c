/* compare/: a cell that a run skipped is missing where one did, and told where both did. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <unistd.h>

#include "compare/compare.h"
#include "compare/forms.h"
#include "compare_pair_fixture.h"

#define FIRST "offline/f16-f32-64x64x64"
static const struct script plain = {.seed = 1};

static void outcome_is(const struct compare_runs *c, int code, const char *words)
{
    struct error err = {0};
    assert_int_equal(compare_outcome(c, &err), code);
    if (!strstr(err.text, words))
        fail_msg("\"%s\" is not in \"%s\"", words, err.text);
}

/* ---- cells that a run skipped ---- */

static void skip_first(struct cell_record *r, int cell)
{
    if (cell != 0)
        return;
    r->outcome = CELL_SKIPPED;
    strcpy(r->reason, "needs 123 bytes of device memory, 45 are available");
    for (size_t i = 0; i < r->n_contenders; i++) {
        struct contender_record *c = &r->contenders[i];
        for (int t = 0; t < TIMING_COUNT; t++)
            series_free(&c->timings[t]);
        fixture_fail(c, "skipped", r->reason);
    }
}

/* As runs wrote it before there was a status for it: none at all. */
static void skip_first_without_status(struct cell_record *r, int cell)
{
    skip_first(r, cell);
    for (size_t i = 0; i < r->n_contenders && cell == 0; i++) {
        record_set_verdict(&r->contenders[i], "");
        r->contenders[i].reason[0] = '\0';
    }
}

static void a_cell_skipped_on_one_side_is_missing(void **state)
{
    static void (*const ways[])(struct cell_record *, int) = {skip_first, skip_first_without_status};
    (void)state;
    for (size_t way = 0; way < 4; way++) {
        struct compare_runs c;
        const struct script skipped = {.seed = 2, .change = ways[way % 2]};
        bool in_base = way >= 2;
        open_pair(in_base ? &skipped : &plain, in_base ? &plain : &skipped, &c);
        const struct compare_row *row = fixture_row(&c, FIRST);
        assert_int_equal(row->verdict, JUDGED_MISSING);
        assert_non_null(strstr(row->reason, in_base ? "BASE skipped" : "NEW skipped"));
        assert_non_null(strstr(row->reason, "needs 123 bytes of device memory, 45 are available"));
        assert_int_equal(c.counts[JUDGED_MISSING], 1);
        assert_int_equal(c.counts[JUDGED_SAME], 3);
        assert_int_equal(c.without_base, 0);
        outcome_is(&c, EXIT_CODE_INCOMPARABLE, "1 missing");
        compare_free(&c);
    }
}

static void a_cell_skipped_on_both_sides_is_not_compared(void **state)
{
    struct compare_runs c;
    struct text notes = {0};
    (void)state;
    open_pair(&(struct script){.seed = 1, .change = skip_first_without_status},
              &(struct script){.seed = 2, .change = skip_first}, &c);
    assert_int_equal(c.n_rows, 3);
    assert_int_equal(c.skipped_in_both, 1);
    outcome_is(&c, EXIT_CODE_OK, "");
    compare_describe_notes(&notes, &c, "note: ");
    assert_non_null(strstr(notes.bytes, "1 cell skipped in both runs, and not compared: " FIRST " needs 123 bytes"));
    text_free(&notes);
    compare_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cell_skipped_on_one_side_is_missing),
        cmocka_unit_test(a_cell_skipped_on_both_sides_is_not_compared),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
