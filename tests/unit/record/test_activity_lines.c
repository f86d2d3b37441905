/* record/activity: the journal's lines about what was watched, strict both ways, and what follows for records, results
 * and tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "report/rounds.h"
#include "record/activity.h"
#include "result/result.h"
#include "result_fixture.h"
#include "screen_fixture.h"

static int check(const char *line, struct error *err)
{
    cJSON *tree = cJSON_Parse(line);
    assert_non_null(tree);
    int code = activity_check(json_root(tree, "line"), err);
    cJSON_Delete(tree);
    return code;
}

static void test_good_lines(void **state)
{
    static const char *const good[] = {
        "{\"recorder\":{\"cupti\":130001,\"path\":\"/usr/lib/libcupti.so.13\"},\"seconds\":9.5}",
        "{\"unavailable\":\"no CUPTI\"}",
        "{\"cell\":\"offline/f16-f32-64x64x64\",\"contenders\":[],\"seconds\":0.1}",
        "{\"cell\":\"c\",\"contenders\":[{\"name\":\"a-nn\",\"launch\":[{\"kernel\":\"k\",\"grid\":[1,2,3],\"block\":["
        "32,1,"
        "1],\"stream\":13,\"n\":1,\"ns\":2000},{\"memset\":64,\"stream\":13,\"n\":1,\"ns\":900}],\"busy_ns\":2900,"
        "\"graph\":[],\"graph_busy_ns\":0,\"ratio\":0.9,\"waits\":true,\"status\":\"late_work\",\"reason\":\"r\","
        "\"invalid\":true}]}",
        "{\"cell\":\"c\",\"contenders\":[{\"name\":\"a-nn\",\"unavailable\":\"crash: signal 11\"}]}",
    };
    struct error err = {0};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (check(good[i], &err) != 0)
            fail_msg("%s: %s", good[i], err.text);
}

static void test_bad_lines(void **state)
{
    static const struct {
        const char *line, *part;
    } bad[] = {
        {"{}", "cell"},
        {"{\"cell\":\"c\"}", "contenders"},
        {"{\"cell\":\"c\",\"contenders\":{}}", "contenders"},
        {"{\"cell\":\"c\",\"contenders\":[{}]}", "name"},
        {"{\"cell\":\"c\",\"contenders\":[{\"name\":\"a\",\"kernels\":1}]}", "unknown key"},
        {"{\"cell\":\"c\",\"contenders\":[{\"name\":\"a\",\"status\":\"crash\"}]}", "no verdict of a watcher"},
        {"{\"cell\":\"c\",\"contenders\":[{\"name\":\"a\",\"status\":\"ok\"}]}", "no verdict of a watcher"},
        {"{\"cell\":\"c\",\"contenders\":[{\"name\":\"a\",\"busy_ns\":-1}]}", "busy_ns"},
        {"{\"cell\":\"c\",\"contenders\":[{\"name\":\"a\",\"ratio\":\"0.9\"}]}", "ratio"},
        {"{\"cell\":\"c\",\"contenders\":[{\"name\":\"a\",\"launch\":[{\"grid\":[1,2]}]}]}", "grid"},
        {"{\"cell\":\"c\",\"contenders\":[{\"name\":\"a\",\"launch\":[{\"grid\":[1,2,3,4]}]}]}", "three sizes"},
        {"{\"cell\":\"c\",\"contenders\":[{\"name\":\"a\",\"launch\":[1]}]}", "launch"},
        {"{\"recorder\":{\"cupti\":\"13\"}}", "cupti"},
        {"{\"recorder\":{\"cupti\":1},\"seconds\":-1}", "seconds"},
        {"{\"unavailable\":\"\"}", "unavailable"},
    };
    struct error err = {0};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(check(bad[i].line, &err), EXIT_CODE_DATA);
        if (!strstr(err.text, bad[i].part))
            fail_msg("%s: \"%s\" does not name %s", bad[i].line, err.text, bad[i].part);
    }
}

/* ---- what follows ---- */

/* Three cells; in the second a copy of the candidate is raced too. */
static struct journal *begin_run(void)
{
    struct journal *j = begin();
    put_cell(j, simple_cell(64));
    struct cell_record *r = simple_cell(128);
    struct contender_record *copy = fixture_contender(r, "cudal2-nn+copy", true);
    snprintf(copy->copy_of, sizeof copy->copy_of, "cudal2-nn");
    for (unsigned b = 0; b < r->blocks; b++)
        series_add(&copy->timings[TIMING_DEVICE], b, 1000);
    put_cell(j, r);
    put_cell(j, simple_cell(256));
    return j;
}

#define RECORDER "{\"recorder\":{\"cupti\":130001,\"path\":\"/lib/libcupti.so.13\"},\"seconds\":4}"
#define SEEN                                                                                                           \
    "\"launch\":[{\"kernel\":\"k\",\"grid\":[1,1,1],\"block\":[32,1,1],\"stream\":13,\"n\":1,\"ns\":900}],\"busy_"     \
    "ns\":900"

static const cJSON *cell_of(const cJSON *tree, int index)
{
    return cJSON_GetArrayItem(tree_member(tree, "cells"), index);
}

static const cJSON *contender_of(const cJSON *tree, int cell, const char *name)
{
    return tree_member(tree_member(cell_of(tree, cell), "contenders"), name);
}

static void test_nothing_watched_changes_nothing(void **state)
{
    (void)state;
    journal_close(begin_run());
    cJSON *tree = result();
    assert_null(tree_member(tree_member(tree, "run"), "activity"));
    assert_null(tree_member(tree_member(tree, "summary"), "activity"));
    assert_null(tree_member(contender_of(tree, 0, "cudal2-nn"), "activity"));
    cJSON_Delete(tree);
}

static void test_what_was_seen(void **state)
{
    (void)state;
    struct journal *j = begin_run();
    put_text(j, "activity", RECORDER);
    put_text(j, "activity",
             "{\"cell\":\"offline/f16-f32-64x64x64\",\"contenders\":[{\"name\":\"torch.matmul\"," SEEN
             ",\"ratio\":0.8},{\"name\":\"cudal2-nn\"," SEEN ",\"ratio\":0.9}],\"seconds\":0.25}");
    put_text(
        j, "activity",
        "{\"cell\":\"offline/f16-f32-256x64x64\",\"contenders\":[{\"name\":\"cudal2-nn\",\"unavailable\":\"hang\"}],"
        "\"seconds\":0.5}");
    journal_close(j);
    cJSON *tree = result();
    const cJSON *run = tree_member(tree_member(tree, "run"), "activity");
    assert_float_equal(tree_number(tree_member(run, "recorder"), "cupti"), 130001, 0);
    assert_float_equal(tree_number(run, "cells"), 2, 0);
    assert_float_equal(tree_number(run, "seconds"), 4.75, 1e-9);
    const cJSON *seen = tree_member(contender_of(tree, 0, "cudal2-nn"), "activity");
    assert_float_equal(tree_number(seen, "busy_ns"), 900, 0);
    assert_null(tree_member(seen, "name"));
    assert_null(tree_member(contender_of(tree, 1, "cudal2-nn"), "activity"));
    assert_string_equal(tree_text(contender_of(tree, 2, "cudal2-nn"), "status"), "ok");
    const cJSON *summary = tree_member(tree_member(tree, "summary"), "activity");
    assert_float_equal(tree_number(summary, "launches"), 2, 0);
    assert_float_equal(tree_number(summary, "unavailable"), 1, 0);
    assert_float_equal(tree_number(summary, "refuted"), 0, 0);
    assert_float_equal(tree_number(tree_member(summary, "ratio"), "median"), 0.85, 1e-9);
    assert_float_equal(tree_number(tree_member(summary, "ratio"), "max"), 0.9, 1e-9);
    cJSON_Delete(tree);
}

static int count_rounds(void *context, const struct round *round, struct error *err)
{
    (void)err;
    *(int *)context += round->contender->candidate;
    return 0;
}

#define VERDICT                                                                                                        \
    "{\"cell\":\"offline/f16-f32-128x64x64\",\"contenders\":[{\"name\":\"cudal2-nn\"," SEEN                            \
    ",\"status\":\"late_work\",\"reason\":\"kernel k began late\"}]}"

/* No speedup is left in that cell, nor a comparison with the copy, nor a time for other programs. */
static void test_a_verdict(void **state)
{
    struct error err = {0};
    int rounds = 0;
    (void)state;
    struct journal *j = begin_run();
    put_text(j, "activity", VERDICT);
    journal_close(j);
    cJSON *tree = result();
    const cJSON *c = contender_of(tree, 1, "cudal2-nn");
    assert_string_equal(tree_text(c, "status"), "late_work");
    assert_string_equal(tree_text(c, "stage"), "activity");
    assert_string_equal(tree_text(c, "reason"), "kernel k began late");
    assert_string_equal(tree_text(contender_of(tree, 1, "cudal2-nn+copy"), "status"), "late_work");
    assert_string_equal(tree_text(cell_of(tree, 1), "status"), "partial");
    assert_null(speedup(cell_of(tree, 1), "cudal2-nn", "torch.matmul", "device"));
    assert_int_equal(cJSON_GetArraySize(tree_member(cell_of(tree, 1), "aa")), 0);
    assert_non_null(speedup(cell_of(tree, 0), "cudal2-nn", "torch.matmul", "device"));
    assert_non_null(speedup(cell_of(tree, 2), "cudal2-nn", "torch.matmul", "device"));
    cJSON_Delete(tree);
    assert_int_equal(rounds_visit(journal_path, -1, count_rounds, &rounds, &err), 0);
    assert_int_equal(rounds, 4); /* two groups in each of the other cells */
}

/* Under verify.time_anyway the times stay, marked. */
static void test_an_invalid_time(void **state)
{
    (void)state;
    struct journal *j = begin_run();
    put_text(j, "activity",
             "{\"cell\":\"offline/f16-f32-64x64x64\",\"contenders\":[{\"name\":\"cudal2-nn\",\"status\":\"late_work\","
             "\"reason\":\"r\",\"invalid\":true}]}");
    journal_close(j);
    cJSON *tree = result();
    const cJSON *c = contender_of(tree, 0, "cudal2-nn");
    assert_true(tree_true(c, "invalid"));
    assert_true(tree_number(tree_member(tree_member(c, "timings"), "device"), "median_ns") > 0);
    assert_null(tree_member(c, "tflops"));
    cJSON_Delete(tree);
}

static void expect_refused(const char *line, const char *part)
{
    struct error err = {0};
    struct result *tree = NULL;
    struct journal *j = begin_run();
    put_text(j, "activity", VERDICT);
    put_text(j, "activity", line);
    journal_close(j);
    assert_int_equal(result_from_journal(journal_path, &tree, &err), EXIT_CODE_DATA);
    if (!strstr(err.text, part))
        fail_msg("\"%s\" does not name %s", err.text, part);
    unlink(journal_path);
}

static void test_bad_journals(void **state)
{
    (void)state;
    expect_refused(VERDICT, "a second look at cell offline/f16-f32-128x64x64");
    expect_refused("{\"cell\":1}", "cell");
}

/* Nobody could watch in the first sitting, and somebody could in the next. */
static void test_sittings(void **state)
{
    struct activity_book book;
    struct error err = {0};
    (void)state;
    struct journal *j = begin_run();
    put_text(j, "activity", "{\"unavailable\":\"no CUPTI\"}");
    journal_close(j);
    assert_int_equal(activity_book_read(journal_path, &book, &err), 0);
    assert_non_null(book.unavailable);
    activity_book_free(&book);
    assert_int_equal(journal_resume(journal_path, NULL, NULL, &j, &err), 0);
    put_text(j, "activity", RECORDER);
    journal_close(j);
    assert_int_equal(activity_book_read(journal_path, &book, &err), 0);
    assert_null(book.unavailable);
    assert_non_null(book.recorder);
    activity_book_free(&book);
}

/* ---- on the screen ---- */

/* What the screen says of the run on disk once `change` has been at its result. */
static char *screen_after(void (*change)(cJSON *tree))
{
    cJSON *tree = result();
    if (change)
        change(tree);
    char *text = screen_text(tree);
    cJSON_Delete(tree);
    return text;
}

static void expect_line(void (*change)(cJSON *tree), const char *line)
{
    char *text = screen_after(change);
    if (!strstr(text, line))
        fail_msg("no \"%s\" in:\n%s", line, text);
    free(text);
}

static cJSON *member_of(cJSON *tree, const char *key)
{
    cJSON *found = cJSON_GetObjectItemCaseSensitive(tree, key);
    assert_non_null(found);
    return found;
}

static cJSON *first_cell(cJSON *tree)
{
    return cJSON_GetArrayItem(member_of(tree, "cells"), 0);
}

static void from_idle(cJSON *tree)
{
    cJSON_ReplaceItemInObjectCaseSensitive(first_cell(tree), "mode", cJSON_CreateString("server"));
}

static void of_200_us(cJSON *tree)
{
    cJSON *contender = member_of(member_of(first_cell(tree), "contenders"), "torch.matmul");
    cJSON *device = member_of(member_of(contender, "timings"), "device");
    cJSON_ReplaceItemInObjectCaseSensitive(device, "median_ns", cJSON_CreateNumber(2e5));
}

/* As when several results are shown as one. */
static void of_runs_that_say_no_cells(cJSON *tree)
{
    cJSON_DeleteItemFromObjectCaseSensitive(member_of(member_of(tree, "run"), "activity"), "cells");
}

static void test_screen(void **state)
{
    (void)state;
    struct journal *j = begin_run();
    put_text(j, "activity", RECORDER);
    put_text(j, "activity",
             "{\"cell\":\"offline/f16-f32-64x64x64\",\"contenders\":[{\"name\":\"torch.matmul\"," SEEN
             ",\"ratio\":0.8},{\"name\":\"cudal2-nn\",\"unavailable\":\"crash\"}]}");
    journal_close(j);
    expect_line(
        NULL, "\nGPU activity: 1 launch watched in 1 cell, 0 refuted, 1 could not be watched; one-kernel launches take "
              "0.80 of their device time by CUPTI (0.80 to 0.80), those of up to 0.1 ms 0.80\n"
              "  Over 2% apart: device times hold more, or less, than the kernels (docs/method.md)\n");
    expect_line(from_idle, "0.80 of their device time by CUPTI (0.80 to 0.80), which holds the start of a graph\n");
    expect_line(of_200_us, "0.80 of their device time by CUPTI (0.80 to 0.80)\n");
    expect_line(of_runs_that_say_no_cells, "\nGPU activity: 1 launch watched in 1 cell, 0 refuted");
    char *text = screen_after(of_200_us);
    assert_null(strstr(text, "apart"));
    free(text);
    unlink(journal_path);
    j = begin_run();
    put_text(j, "activity", "{\"unavailable\":\"no CUPTI: nowhere\"}");
    journal_close(j);
    expect_line(NULL, "\nGPU activity was not watched: no CUPTI: nowhere\n");
    unlink(journal_path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good_lines),
        cmocka_unit_test(test_bad_lines),
        TEST(test_nothing_watched_changes_nothing),
        TEST(test_what_was_seen),
        TEST(test_a_verdict),
        TEST(test_an_invalid_time),
        TEST(test_bad_journals),
        TEST(test_sittings),
        TEST(test_screen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
