/* A table on disk, and scripted searches that go into it. Include after cmocka. */
#ifndef CUDAL2_TESTS_MERGE_FIXTURE_H
#define CUDAL2_TESTS_MERGE_FIXTURE_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "contender/tuned.h"
#include "scratch_fixture.h"
#include "table_fixture.h"
#include "tune/table.h"

static struct error err;
/* By which the searches' variants are told apart; NULL: by their texts. */
static struct key_sets *keys;

__attribute__((unused)) static char *read_table(void)
{
    char *text = NULL;
    size_t length;
    if (file_read(table_path, 16u << 20, &text, &length, &err))
        fail_msg("%s", err.text);
    return text;
}

__attribute__((unused)) static void write_table(const char *text)
{
    if (file_write_atomic(table_path, text, strlen(text), &err))
        fail_msg("%s", err.text);
}

/* What a tuner does after a sitting. Takes the records over. */
__attribute__((unused)) static struct merge_counts update(const char *commit, struct cell_record **records, size_t n)
{
    struct table *table;
    char *text;
    write_search(journal_path, commit, records, n);
    if (table_open(journal_path, &table, &err) || table_merge(table, table_path, keys, &err) ||
        table_text(table, &text, &err))
        fail_msg("%s", err.text);
    write_table(text);
    struct merge_counts counts = table_summary(table)->counts;
    assert_true(table_summary(table)->merged);
    free(text);
    table_close(table);
    return counts;
}

__attribute__((unused)) static struct merge_counts update_one(const char *commit, int64_t m, const struct lane *lanes,
                                                              size_t n)
{
    struct cell_record *r = cell_with(m, lanes, n);
    return update(commit, &r, 1);
}

/* A table by "first" of 64 and 128, two layouts each. */
__attribute__((unused)) static void begin(void)
{
    struct cell_record *records[] = {cell_with(64, usual, 7), cell_with(128, usual, 7)};
    unlink(table_path);
    update("first", records, 2);
}

__attribute__((unused)) static struct tuned_table *load(void)
{
    struct tuned_table *t;
    if (tuned_load(table_path, &t, &err))
        fail_msg("%s", err.text);
    return t;
}

__attribute__((unused)) static const struct tuned_entry *entry_of(const struct tuned_table *t, const char *family,
                                                                  int64_t m, enum cudal2_layout layout)
{
    const struct tuned_query q = {family, layout, {m, 64, 64, CUDAL2_F16, CUDAL2_ACC_F32}};
    const struct tuned_entry *e = tuned_exact(t, &q);
    assert_non_null(e);
    return e;
}

__attribute__((unused)) static void assert_entry(const struct tuned_table *t, const struct tuned_entry *e,
                                                 const char *variant, double ns, const char *commit)
{
    assert_string_equal(t->variants[e->variant].key, variant);
    assert_true(e->time_ns == ns);
    assert_string_equal(e->commit, commit);
}

#endif
