/* tune/merge: a search goes into the table that is there. What it measured is replaced or added, all else is kept under
 * its commit; twice is as good as once; a table of another kind, or none, is refused. */
#include "tune/table.h"
#include "base/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "merge_fixture.h"
#include "edited.h"

/* The same problem searched again: another winner. */
static const struct lane again[] = {
    {"lt-nn", NULL, 2000, 2000, false},
    {"cudal2-nn", "k:A=7", 700, 700, true},
    {"cudal2-tn", "k:A=8", 600, 600, true},
};
#define NN_ONLY 2

static void a_missing_table_is_an_empty_one(void **state)
{
    struct cell_record *records[] = {cell_with(64, usual, 7), cell_with(128, usual, 7)};
    struct table *table;
    char *alone;
    (void)state;
    unlink(table_path);
    struct merge_counts counts = update("first", records, 2);
    assert_int_equal(counts.added, 4);
    assert_int_equal(counts.replaced + counts.kept, 0);
    assert_int_equal(table_open(journal_path, &table, &err), 0);
    assert_int_equal(table_text(table, &alone, &err), 0);
    char *written = read_table();
    assert_string_equal(written, alone);
    assert_false(table_summary(table)->merged);
    table_close(table);
    free(written);
    free(alone);
}

static void what_was_searched_is_replaced_and_the_rest_kept(void **state)
{
    struct cell_record *records[] = {cell_with(256, usual, 7), cell_with(128, again, 3)};
    (void)state;
    begin();
    struct merge_counts counts = update("second", records, 2);
    assert_int_equal(counts.replaced, 2);
    assert_int_equal(counts.added, 2);
    assert_int_equal(counts.kept, 2);
    struct tuned_table *t = load();
    assert_string_equal(t->commit, "second");
    assert_int_equal(t->n_entries, 6);
    const struct tuned_entry *kept = entry_of(t, "cudal2", 64, CUDAL2_NN);
    assert_entry(t, kept, "k:A=2", 1200, "first");
    assert_string_equal(t->variants[kept->runner_up].key, "k:A=1");
    assert_true(kept->runner_up_ns == 1100 && kept->reference_ns == 1900 && kept->low_ns <= 1200);
    assert_string_equal(kept->reference, "lt-tn");
    assert_entry(t, entry_of(t, "cudal2", 64, CUDAL2_TN), "k:A=2", 810, "first");
    const struct tuned_entry *searched = entry_of(t, "cudal2", 128, CUDAL2_NN);
    assert_entry(t, searched, "k:A=7", 700, "");
    assert_int_equal(searched->runner_up, -1); /* nothing of the old entry shows through */
    assert_string_equal(searched->reference, "lt-nn");
    assert_entry(t, entry_of(t, "cudal2", 128, CUDAL2_TN), "k:A=8", 600, "");
    assert_entry(t, entry_of(t, "cudal2", 256, CUDAL2_NN), "k:A=2", 1200, "");
    tuned_free(t);
}

static void the_order_is_that_of_a_table(void **state)
{
    static const struct lane other[] = {{"a-nn", "k:A=9", 500, 500, true}, {"z-nn", "k:A=9", 500, 500, true}};
    struct cell_record *records[] = {cell_with(96, again, 3), cell_with(32, other, 2)};
    const int64_t m[] = {32, 64, 64, 96, 96, 128, 128, 32};
    (void)state;
    begin();
    update("second", records, 2);
    struct tuned_table *t = load();
    assert_int_equal(t->n_entries, 8);
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(t->entries[i].m, m[i]);
    for (size_t i = 1; i < 7; i++)
        assert_int_equal(t->entries[i].layout, i % 2 == 1 ? CUDAL2_NN : CUDAL2_TN);
    assert_string_equal(t->families[0], "a");
    assert_string_equal(t->families[1], "cudal2");
    assert_string_equal(t->families[2], "z");
    tuned_free(t);
}

/* Sizes alone do not make an entry: the other layout and the other family of a problem stay. */
static void only_the_layout_and_family_searched_are_replaced(void **state)
{
    static const struct lane other[] = {{"other-nn", "k:A=9", 500, 500, true}};
    (void)state;
    begin();
    struct merge_counts counts = update_one("second", 64, again, NN_ONLY);
    assert_int_equal(counts.replaced, 1);
    assert_int_equal(counts.kept, 3);
    counts = update_one("third", 64, other, 1);
    assert_int_equal(counts.added, 1);
    assert_int_equal(counts.kept, 4);
    counts = update_one("fourth", 128, again, NN_ONLY);
    assert_int_equal(counts.kept, 4);
    struct tuned_table *t = load();
    const struct tuned_entry *alone = entry_of(t, "other", 64, CUDAL2_NN);
    assert_entry(t, alone, "k:A=9", 500, "third");
    assert_string_equal(alone->reference, ""); /* a search without baselines: what an entry lacks it lacks later too */
    assert_true(alone->runner_up < 0 && isnan(alone->reference_ns));
    assert_entry(t, entry_of(t, "cudal2", 64, CUDAL2_NN), "k:A=7", 700, "second");
    assert_entry(t, entry_of(t, "cudal2", 64, CUDAL2_TN), "k:A=2", 810, "first");
    tuned_free(t);
}

/* The table says for all what most have; an entry says only what differs. */
static void each_entry_keeps_its_commit(void **state)
{
    (void)state;
    begin();
    update_one("second", 128, again, 3);
    update_one("third", 256, usual, 7);
    struct tuned_table *t = load();
    assert_string_equal(entry_of(t, "cudal2", 64, CUDAL2_NN)->commit, "first");
    assert_string_equal(entry_of(t, "cudal2", 128, CUDAL2_NN)->commit, "second");
    assert_string_equal(entry_of(t, "cudal2", 256, CUDAL2_NN)->commit, "");
    tuned_free(t);
    update_one("first", 256, again, 3);
    t = load();
    assert_string_equal(t->commit, "first");
    assert_string_equal(entry_of(t, "cudal2", 64, CUDAL2_NN)->commit, "");
    assert_string_equal(entry_of(t, "cudal2", 128, CUDAL2_NN)->commit, "second");
    tuned_free(t);
}

/* A table that was written after a first sitting comes out of the second as if there had been one. */
static void twice_is_as_good_as_once(void **state)
{
    (void)state;
    begin();
    struct cell_record *whole[] = {cell_with(128, again, 3), cell_with(256, usual, 7)};
    update("second", whole, 2);
    char *once = read_table();
    struct cell_record *same[] = {cell_with(128, again, 3), cell_with(256, usual, 7)};
    struct merge_counts counts = update("second", same, 2);
    assert_int_equal(counts.replaced, 4);
    assert_int_equal(counts.kept, 2);
    char *twice = read_table();
    assert_string_equal(once, twice);
    begin();
    update_one("second", 128, again, 3);
    struct cell_record *resumed[] = {cell_with(128, again, 3), cell_with(256, usual, 7)};
    update("second", resumed, 2);
    char *by_sittings = read_table();
    assert_string_equal(once, by_sittings);
    free(once);
    free(twice);
    free(by_sittings);
}

static void a_search_that_found_nothing_takes_nothing_away(void **state)
{
    (void)state;
    begin();
    struct cell_record *r = cell_with(64, again, 3);
    fixture_fail(&r->contenders[1], "wrong_result", "mismatch");
    struct merge_counts counts = update("second", &r, 1);
    assert_int_equal(counts.replaced, 1);
    assert_int_equal(counts.kept, 3);
    struct tuned_table *t = load();
    assert_entry(t, entry_of(t, "cudal2", 64, CUDAL2_NN), "k:A=2", 1200, "first");
    assert_entry(t, entry_of(t, "cudal2", 64, CUDAL2_TN), "k:A=8", 600, "");
    tuned_free(t);
}

static void assert_same_texts(const struct tuned_table *t, const struct tuned_entry *e, const struct tuned_table *u,
                              const struct tuned_entry *f)
{
    assert_string_equal(t->variants[e->variant].key, u->variants[f->variant].key);
    assert_int_equal(e->runner_up >= 0, f->runner_up >= 0);
    if (e->runner_up >= 0)
        assert_string_equal(t->variants[e->runner_up].key, u->variants[f->runner_up].key);
    assert_string_equal(e->reference, f->reference);
    assert_string_equal(f->commit, e->commit[0] ? e->commit : t->commit);
}

/* Of a table with thousands of entries nothing but the searched one changes. */
static void the_committed_table_is_kept_whole(void **state)
{
    struct tuned_table *before;
    char *text;
    size_t length;
    (void)state;
    if (tuned_load("kernels/tuned/nvidia-h200-f32.json", &before, &err) ||
        file_read("kernels/tuned/nvidia-h200-f32.json", 16u << 20, &text, &length, &err))
        fail_msg("%s", err.text);
    write_table(text);
    free(text);
    struct merge_counts counts = update_one("later", 7, again, NN_ONLY);
    assert_int_equal(counts.kept, before->n_entries);
    struct tuned_table *after = load();
    assert_int_equal(after->n_entries, before->n_entries + 1);
    assert_int_equal(after->entries[0].m, 7);
    for (size_t i = 0; i < before->n_entries; i++) {
        const struct tuned_entry *e = &before->entries[i], *f = &after->entries[i + 1];
        const double was[] = {e->time_ns, e->low_ns, e->high_ns, e->runner_up_ns, e->reference_ns},
                     is[] = {f->time_ns, f->low_ns, f->high_ns, f->runner_up_ns, f->reference_ns};
        assert_true(e->m == f->m && e->n == f->n && e->k == f->k && e->layout == f->layout);
        for (int j = 0; j < 5; j++)
            assert_true(was[j] == is[j] || (isnan(was[j]) && isnan(is[j])));
        assert_same_texts(before, e, after, f);
    }
    tuned_free(before);
    tuned_free(after);
}

/* The table with the first `from` replaced by `to` is refused for `why`. */
static void refuse(const char *from, const char *to, const char *why)
{
    struct table *table;
    begin();
    char *good = read_table(), *text = edited(good, from, to);
    write_table(text);
    assert_int_equal(table_open(journal_path, &table, &err), 0);
    if (table_merge(table, table_path, NULL, &err) != EXIT_CODE_DATA)
        fail_msg("accepted %s", to);
    if (strncmp(err.text, "--update: ", 10) != 0 || !strstr(err.text, table_path) || !strstr(err.text, why))
        fail_msg("\"%s\" does not tell %s", err.text, why);
    assert_false(table_summary(table)->merged);
    table_close(table);
    char *after = read_table();
    assert_string_equal(after, text);
    free(after);
    free(text);
    free(good);
}

static void a_table_of_another_kind_is_refused(void **state)
{
    (void)state;
    refuse("NVIDIA H200", "NVIDIA H100", "device \"NVIDIA H100\", this search is of \"NVIDIA H200\"");
    refuse("\"dtype\": \"f16\"", "\"dtype\": \"bf16\"", "dtype \"bf16\"");
    refuse("\"accumulate\": \"f32\"", "\"accumulate\": \"f16\"", "accumulate \"f16\"");
    refuse("\"mode\": \"offline\"", "\"mode\": \"server\"", "mode \"server\"");
    refuse("\"timing\": \"device\"", "\"timing\": \"event\"", "timing \"event\"");
    refuse("\"cache\": \"warm\"", "\"cache\": \"flush\"", "cache \"flush\"");
}

static void a_file_that_is_no_table_is_refused(void **state)
{
    struct table *table;
    char below[160];
    (void)state;
    refuse("\"variant\":0", "\"variant\":99", "$.entries[0].variant");
    refuse("]\n}", "", "");
    begin();
    assert_int_equal(unlink(table_path), 0);
    assert_int_equal(file_make_directories(table_path, &err), 0);
    assert_int_equal(table_open(journal_path, &table, &err), 0);
    assert_int_equal(table_merge(table, table_path, NULL, &err), EXIT_CODE_DATA);
    assert_non_null(strstr(err.text, "not a regular file"));
    table_close(table);
    assert_int_equal(rmdir(table_path), 0);
    begin();
    snprintf(below, sizeof below, "%s/t.json", table_path); /* not there either, but no place for a table */
    assert_int_equal(table_open(journal_path, &table, &err), 0);
    assert_int_equal(table_merge(table, below, NULL, &err), EXIT_CODE_DATA);
    assert_non_null(strstr(err.text, "Not a directory"));
    table_close(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_missing_table_is_an_empty_one),
        cmocka_unit_test(what_was_searched_is_replaced_and_the_rest_kept),
        cmocka_unit_test(the_order_is_that_of_a_table),
        cmocka_unit_test(only_the_layout_and_family_searched_are_replaced),
        cmocka_unit_test(each_entry_keeps_its_commit),
        cmocka_unit_test(twice_is_as_good_as_once),
        cmocka_unit_test(a_search_that_found_nothing_takes_nothing_away),
        cmocka_unit_test(the_committed_table_is_kept_whole),
        cmocka_unit_test(a_table_of_another_kind_is_refused),
        cmocka_unit_test(a_file_that_is_no_table_is_refused),
    };
    return cmocka_run_group_tests(tests, make_table_paths, scratch_remove);
}
