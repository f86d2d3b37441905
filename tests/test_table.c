/* tune/table: from a journal to a table. Who wins on the even groups is timed on the odd ones; what failed or spills
 * never wins; the order of the cells does not matter; what comes out is a table that contender/tuned reads. */
#include "tune/table.h"
#include "base/file.h"
#include "contender/tuned.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "journal_fixture.h"
#include "scratch_fixture.h"

static char journal_path[128], table_path[128];

/* Six groups of two blocks; a contender's time is even_ns in even groups and odd_ns in odd ones. */
struct lane {
    const char *name, *variant;
    double even_ns, odd_ns;
    bool first; /* the one that was searched */
};

static void add_lane(struct cell_record *r, const struct lane *lane)
{
    bool candidate = strncmp(lane->name, "lt", 2) != 0;
    char plain[32];
    snprintf(plain, sizeof plain, "%.*s", (int)strcspn(lane->name, "+"), lane->name);
    struct contender_record *c = fixture_contender(r, plain, candidate);
    snprintf(c->name, sizeof c->name, "%s", lane->name);
    if (lane->variant) {
        c->tuning = cJSON_CreateObject();
        if (lane->first)
            cJSON_AddStringToObject(c->tuning, "source", "search");
        cJSON_AddStringToObject(c->tuning, "variant", lane->variant);
    }
    for (unsigned block = 0; block < r->blocks; block++) {
        double ns = r->group_of[block] % 2 == 0 ? lane->even_ns : lane->odd_ns;
        assert_int_equal(series_add(&c->timings[TIMING_DEVICE], block, ns), 0);
    }
}

static struct cell_record *new_cell(int64_t m)
{
    struct cell_record *r = fixture_record(m, MODE_OFFLINE);
    for (int i = 0; i < 12; i++)
        fixture_block(r, 2);
    return r;
}

static struct cell_record *cell_with(int64_t m, const struct lane *lanes, size_t n)
{
    struct cell_record *r = new_cell(m);
    for (size_t i = 0; i < n; i++)
        add_lane(r, &lanes[i]);
    return r;
}

/* Takes the records over. */
static void write_journal(struct cell_record **records, size_t n)
{
    unlink(journal_path);
    struct journal *j = new_journal(journal_path);
    put_text(j, "run", "{\"build\":{\"commit\":\"abc123\"}}");
    put_text(j, "env",
             "{\"device\":{\"name\":\"NVIDIA H200\",\"driver\":\"580.1\"},\"libraries\":{\"cudal2\":{\"set\":"
             "\"x\"},\"lt\":{\"lt\":\"13\"}}}");
    put_text(j, "env", "{\"device\":{\"name\":\"another\",\"driver\":\"1\"}}");
    for (size_t i = 0; i < n; i++)
        put_cell(j, records[i]);
    journal_close(j);
}

static struct tuned_table *table_of(struct cell_record **records, size_t n, struct table_summary *summary, char **text)
{
    struct table *table;
    struct tuned_table *t;
    struct error err;
    write_journal(records, n);
    if (table_open(journal_path, &table, &err) || table_text(table, text, &err) ||
        file_write_atomic(table_path, *text, strlen(*text), &err) || tuned_load(table_path, &t, &err))
        fail_msg("%s", err.text);
    *summary = *table_summary(table);
    table_close(table);
    return t;
}

static const struct lane usual[] = {
    {"lt-nn", NULL, 2000, 2000, false},          {"lt-tn", NULL, 1900, 1900, false},
    {"cudal2-nn", "k:A=1", 1000, 1100, true},    {"cudal2-nn+2", "k:A=2", 990, 1200, false},
    {"cudal2-nn+3", "k:A=3", 1500, 900, false},  {"cudal2-tn", "k:A=2", 800, 810, true},
    {"cudal2-tn+2", "k:A=1", 1700, 1700, false},
};

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
    write_journal(&r, 1);
    assert_int_equal(table_open(journal_path, &table, &err), EXIT_CODE_DATA);
    assert_non_null(strstr(err.text, journal_path));
    table_close(table);
}

static int make_paths(void **state)
{
    if (scratch_make(state))
        return -1;
    snprintf(journal_path, sizeof journal_path, "%s", scratch_path("t.journal.jsonl"));
    snprintf(table_path, sizeof table_path, "%s", scratch_path("t.json"));
    return 0;
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
    };
    return cmocka_run_group_tests(tests, make_paths, scratch_remove);
}
