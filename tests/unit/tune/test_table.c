/* tune/table: from a journal to a table. Who wins on the even groups is timed on the odd ones; what failed or spills
 * never wins; the order of the cells does not matter; what comes out is a table that contender/tuned reads. */
#include "tune/table.h"
#include "base/file.h"
#include "contender/tuned.h"
#include "tune/lines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scratch_fixture.h"
#include "table_fixture.h"

static struct tuned_table *table_of(struct cell_record **records, size_t n, struct table_summary *summary, char **text)
{
    struct table *table;
    struct tuned_table *t;
    struct error err;
    write_search(journal_path, "abc123", records, n);
    if (table_open(journal_path, &table, &err) || table_text(table, text, &err) ||
        file_write_atomic(table_path, *text, strlen(*text), &err) || tuned_load(table_path, &t, &err))
        fail_msg("%s", err.text);
    *summary = *table_summary(table);
    table_close(table);
    return t;
}

static void the_choice_does_not_flatter_the_time(void **state)
{
    struct table_summary summary;
    char *text;
    (void)state;
    struct cell_record *records[] = {cell_with(64, usual, 7)};
    struct tuned_table *t = table_of(records, 1, &summary, &text);
    assert_int_equal(t->n_entries, 2);
    const struct tuned_entry *nn = &t->entries[0], *tn = &t->entries[1];
    assert_string_equal(t->variants[nn->variant].key, "k:A=2"); /* 990 beats 1000 where they are compared */
    assert_true(nn->time_ns == 1200);                           /* and 1200 is what it takes elsewhere */
    assert_true(nn->low_ns <= 1200 && nn->high_ns >= 1200);
    assert_string_equal(t->variants[nn->runner_up].key, "k:A=1");
    assert_true(nn->runner_up_ns == 1100);
    assert_string_equal(nn->reference, "lt-tn");
    assert_true(nn->reference_ns == 1900);
    assert_int_equal(tn->layout, CUDAL2_TN);
    assert_true(tn->time_ns == 810);
    assert_string_equal(t->device, "NVIDIA H200");
    assert_string_equal(t->driver, "580.1");
    assert_string_equal(t->commit, "abc123");
    assert_int_equal(t->accumulate, CUDAL2_ACC_F32);
    assert_string_equal(summary.name, "nvidia-h200-f32");
    assert_int_equal(summary.entries, 2);
    assert_int_equal(summary.ahead, 2);
    assert_true(fabs(summary.geomean - sqrt(1900.0 / 1200 * 1900 / 810)) < 1e-3);
    assert_non_null(strstr(text, "\"libraries\": {\"cudal2\":{\"set\":\"x\"}}"));
    tuned_free(t);
    free(text);
}

static void what_failed_or_spills_never_wins(void **state)
{
    struct table_summary summary;
    char *text;
    (void)state;
    struct cell_record *r = cell_with(64, usual, 7);
    fixture_fail(&r->contenders[3], "wrong_result", "mismatch");
    r->contenders[2].attributes = cJSON_CreateObject();
    cJSON_AddNumberToObject(r->contenders[2].attributes, "local_bytes", 8);
    r->contenders[5].attributes = cJSON_CreateObject();
    cJSON_AddNumberToObject(r->contenders[5].attributes, "spill_bytes", 4);
    fixture_fail(&r->contenders[6], "launch_error", "no");
    struct tuned_table *t = table_of(&r, 1, &summary, &text);
    assert_int_equal(t->n_entries, 1);
    assert_string_equal(t->variants[t->entries[0].variant].key, "k:A=3");
    assert_int_equal(t->entries[0].runner_up, -1);
    assert_int_equal(summary.without, 1);
    tuned_free(t);
    free(text);
}

static void the_order_of_cells_does_not_matter(void **state)
{
    struct table_summary summary;
    char *one, *other;
    (void)state;
    struct cell_record *up[] = {cell_with(64, usual, 7), cell_with(128, usual, 7), cell_with(4096, usual, 6)};
    struct cell_record *down[] = {cell_with(4096, usual, 6), cell_with(64, usual, 7), cell_with(128, usual, 7)};
    tuned_free(table_of(up, 3, &summary, &one));
    tuned_free(table_of(down, 3, &summary, &other));
    assert_string_equal(one, other);
    assert_int_equal(summary.cells, 3);
    free(one);
    free(other);
}

/* Blocks of a thermal slowdown do not count; one group alone chooses and times. */
static void few_blocks_are_enough(void **state)
{
    struct table_summary summary;
    char *text;
    (void)state;
    struct cell_record *r = fixture_record(64, MODE_OFFLINE);
    fixture_block(r, 2);
    fixture_block(r, 2);
    for (size_t i = 0; i < 7; i++)
        add_lane(r, &usual[i]);
    struct tuned_table *t = table_of(&r, 1, &summary, &text);
    assert_string_equal(t->variants[t->entries[0].variant].key, "k:A=2");
    assert_true(t->entries[0].time_ns == 990);
    assert_true(isnan(t->entries[0].low_ns));
    tuned_free(t);
    free(text);
}

static void rejections_are_counted(void **state)
{
    struct table_summary summary;
    char *text;
    (void)state;
    struct cell_record *r = cell_with(64, usual, 7);
    cJSON *list = cJSON_AddArrayToObject(r->contenders[2].tuning, "rejected");
    cJSON_AddItemToArray(list, cJSON_CreateObject());
    cJSON_AddItemToArray(list, cJSON_CreateObject());
    tuned_free(table_of(&r, 1, &summary, &text));
    assert_int_equal(summary.rejected, 2);
    free(text);
}

static void a_journal_without_a_search_is_none(void **state)
{
    struct table *table;
    struct error err;
    (void)state;
    struct cell_record *r = cell_with(64, usual, 2);
    write_search(journal_path, "abc123", &r, 1);
    assert_int_equal(table_open(journal_path, &table, &err), EXIT_CODE_DATA);
    assert_non_null(strstr(err.text, journal_path));
    table_close(table);
}

/* What nobody could read is not written. */
static void more_variants_than_a_reader_takes_are_refused(void **state)
{
    static char keys[TUNED_MAX_VARIANTS + 1][16];
    struct table_lines lines = {0};
    struct error err;
    char *text;
    (void)state;
    cJSON *head = cJSON_CreateObject();
    for (int i = 0; i <= TUNED_MAX_VARIANTS; i++) {
        snprintf(keys[i], sizeof keys[i], "k:%d", i);
        struct table_line line = {
            .problem = {.m = i + 1, .n = 64, .k = 64, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F32},
            .family = "x"};
        line.variant = keys[i];
        assert_int_equal(lines_add(&lines, &line, &err), 0);
    }
    assert_int_equal(lines_print(&lines, head, &text, &err), EXIT_CODE_DATA);
    assert_null(text);
    assert_non_null(strstr(err.text, "4097"));
    lines.n--;
    assert_int_equal(lines_print(&lines, head, &text, &err), 0);
    free(text);
    lines_free(&lines);
    cJSON_Delete(head);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_choice_does_not_flatter_the_time),
        cmocka_unit_test(what_failed_or_spills_never_wins),
        cmocka_unit_test(the_order_of_cells_does_not_matter),
        cmocka_unit_test(few_blocks_are_enough),
        cmocka_unit_test(rejections_are_counted),
        cmocka_unit_test(a_journal_without_a_search_is_none),
        cmocka_unit_test(more_variants_than_a_reader_takes_are_refused),
    };
    return cmocka_run_group_tests(tests, make_table_paths, scratch_remove);
}
