/* report/journal_freshness: a result beside a journal that has gone on, is of another run, is damaged or says the same.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "base/file.h"
#include "report/load.h"
#include "report/rounds.h"
#include "result_fixture.h"

static int set_up_run(void **state)
{
    struct error err = {0};
    if (set_up(state))
        return -1;
    struct journal *j = begin();
    put_cell(j, simple_cell(64));
    journal_close(j);
    return result_write(journal_path, result_path, &err);
}

static struct journal *go_on(void)
{
    struct journal *j = NULL;
    struct error err = {0};
    if (journal_resume(journal_path, NULL, NULL, &j, &err))
        fail_msg("%s", err.text);
    return j;
}

/* Reads the result by its name: so many cells come, and this is said beside ("": nothing). */
static void reads(int cells, const char *said)
{
    const char *const paths[] = {result_path};
    struct error err = {0};
    struct result *result = NULL;
    char *notes = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&notes, &length);
    assert_non_null(stream);
    const struct load_request request = {paths, 1, false, stream, false};
    if (load_results(&request, &result, &err))
        fail_msg("%s", err.text);
    fclose(stream);
    assert_int_equal(result->n_cells, cells);
    if (said[0] ? !strstr(notes, said) || strchr(notes, '\n') != notes + length - 1 : length > 0)
        fail_msg("expected \"%s\" in: %s", said, notes);
    result_free(result);
    free(notes);
}

static int count_round(void *context, const struct round *round, struct error *err)
{
    (void)round;
    (void)err;
    ++*(int *)context;
    return 0;
}

static void a_result_that_says_the_same_is_shown(void **state)
{
    (void)state;
    reads(1, "");
    struct journal *j = go_on();
    put_text(j, "sitting", "{\"time\":\"2026-01-02T00:00:00Z\"}");
    journal_close(j);
    reads(1, ""); /* somebody started it again and nothing came of it */
    assert_int_equal(unlink(journal_path), 0);
    reads(1, "");
}

static void a_journal_that_went_on_is_shown(void **state)
{
    (void)state;
    struct journal *j = go_on();
    put_cell(j, simple_cell(128));
    journal_close(j);
    reads(2, "r.journal.jsonl (cells: 2); the result ");
    reads(2, "r.json is older (1)");
}

static void an_end_and_a_look_count_too(void **state)
{
    struct error err = {0};
    (void)state;
    struct journal *j = go_on();
    put_text(j, "activity", "{\"cell\":\"offline/f16-f32-64x64x64\",\"contenders\":[],\"seconds\":1}");
    journal_close(j);
    reads(1, "is older");
    j = go_on();
    put_text(j, "activity", "{\"recorder\":{\"cupti\":1,\"path\":\"x\"},\"seconds\":1}");
    journal_close(j);
    assert_int_equal(result_write(journal_path, result_path, &err), 0);
    reads(1, "");
    j = go_on();
    put_text(j, "end", "{\"cells\":1}");
    journal_close(j);
    reads(1, "is older");
}

static void a_journal_of_another_run_is_left_alone(void **state)
{
    int rounds = 0;
    struct error err = {0};
    (void)state;
    assert_int_equal(unlink(journal_path), 0);
    struct journal *j = new_journal(journal_path);
    put_text(j, "run", "{\"seed\":\"5\",\"plan\":[]}");
    put_cell(j, simple_cell(128));
    put_cell(j, simple_cell(256));
    journal_close(j);
    reads(1, "r.json; the journal beside it, ");
    reads(1, "r.journal.jsonl, is of another run");
    assert_int_equal(rounds_visit(result_path, -1, count_round, &rounds, &err), EXIT_CODE_DATA);
    assert_non_null(strstr(err.text, "is of another run"));
    assert_int_equal(rounds, 0);
    assert_int_equal(rounds_visit(journal_path, -1, count_round, &rounds, &err), 0);
    assert_true(rounds > 0);
}

static void a_damaged_journal_does_no_harm(void **state)
{
    struct error err = {0};
    (void)state;
    assert_int_equal(file_write_atomic(journal_path, "not\na\njournal\n", 14, &err), 0);
    reads(1, "r.json; the journal beside it cannot be read: ");
}

#define RUN_TEST(f) cmocka_unit_test_setup_teardown(f, set_up_run, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {RUN_TEST(a_result_that_says_the_same_is_shown),
                                       RUN_TEST(a_journal_that_went_on_is_shown), RUN_TEST(an_end_and_a_look_count_too),
                                       RUN_TEST(a_journal_of_another_run_is_left_alone),
                                       RUN_TEST(a_damaged_journal_does_no_harm)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
