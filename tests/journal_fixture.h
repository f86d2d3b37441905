/* Lines of a scripted journal. What cannot be written fails the test. */
#ifndef CUDAL2_TESTS_JOURNAL_FIXTURE_H
#define CUDAL2_TESTS_JOURNAL_FIXTURE_H

#include "record_fixture.h"
#include "result/journal.h"

/* An empty journal where there is no file yet; to be closed by journal_close. */
__attribute__((unused)) static struct journal *new_journal(const char *path)
{
    struct journal *j = NULL;
    struct error err = {0};
    if (journal_create(path, &j, &err))
        fail_msg("%s", err.text);
    return j;
}

/* Takes the data over. */
__attribute__((unused)) static void put_tree(struct journal *j, const char *kind, cJSON *data)
{
    struct error err = {0};
    assert_non_null(data);
    if (journal_append(j, kind, data, &err))
        fail_msg("%s", err.text);
    cJSON_Delete(data);
}

__attribute__((unused)) static void put_text(struct journal *j, const char *kind, const char *text)
{
    put_tree(j, kind, cJSON_Parse(text));
}

/* Takes the record over. */
__attribute__((unused)) static void put_cell(struct journal *j, struct cell_record *r)
{
    put_tree(j, "cell", record_to_json(r));
    record_free(r);
}

#endif
