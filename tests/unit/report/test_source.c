/* report/source: which file is meant by a name, plain, compressed or a directory; and reading each of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "report/load.h"
#include "report/source.h"
#include "result_fixture.h"

static void shell(const char *format, const char *a)
{
    char command[512];
    snprintf(command, sizeof command, "cd '%s' && %s%s", directory, format, a);
    assert_int_equal(system(command), 0);
}

static int set_up_run(void **state)
{
    if (set_up(state))
        return -1;
    struct error err = {0};
    struct journal *j = begin();
    put_cell(j, simple_cell(64));
    journal_close(j);
    return result_write(journal_path, result_path, &err);
}

static int tear_down_run(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    return system(command);
}

static void finds(const char *name, const char *wanted, bool journal)
{
    char path[256];
    char full[256];
    struct source source;
    struct error err = {0};
    snprintf(path, sizeof path, "%s/%s", directory, name);
    snprintf(full, sizeof full, "%s/%s", directory, wanted);
    assert_int_equal(source_find(path, &source, &err), 0);
    assert_string_equal(source.path, full);
    assert_int_equal(source.journal, journal);
}

static void finds_journal(const char *name, const char *wanted)
{
    char path[256];
    char full[256];
    struct source source;
    struct error err = {0};
    snprintf(path, sizeof path, "%s/%s", directory, name);
    snprintf(full, sizeof full, "%s/%s", directory, wanted);
    int code = source_find_journal(path, &source, &err);
    assert_int_equal(code, wanted[0] ? 0 : EXIT_CODE_DATA);
    if (wanted[0])
        assert_string_equal(source.path, full);
    else
        assert_non_null(strstr(err.text, name));
}

static void names_say_what_a_file_is(void **state)
{
    (void)state;
    finds("r.json", "r.json", false);
    finds("r.journal.jsonl", "r.journal.jsonl", true);
    finds("x.jsonl.gz", "x.jsonl.gz", true);
    finds("x.json.gz", "x.json.gz", false);
    finds("nowhere", "nowhere", false); /* reading it says that it is not there */
}

static void a_directory_is_a_run(void **state)
{
    struct source source;
    struct error err = {0};
    char path[128];
    (void)state;
    snprintf(path, sizeof path, "%s/run", directory);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(source_find(path, &source, &err), EXIT_CODE_DATA);
    assert_non_null(strstr(err.text, "/run: no journal.jsonl or result.json"));
    shell("gzip -c r.json >", "run/result.json.gz");
    finds("run", "run/result.json.gz", false);
    finds_journal("run", "");
    shell("gzip -c r.journal.jsonl >", "run/journal.jsonl.gz");
    finds("run", "run/journal.jsonl.gz", true);
    finds_journal("run/result.json.gz", "run/journal.jsonl.gz");
    shell("cp r.journal.jsonl ", "run/journal.jsonl");
    finds("run//", "run/journal.jsonl", true);
    shell("cp r.json ", "run/other.json");
    finds_journal("run/other.json", ""); /* journal.jsonl belongs to result.json alone */
}

static void a_result_has_its_journal_beside_it(void **state)
{
    (void)state;
    finds_journal("r.json", "r.journal.jsonl");
    finds_journal("r.journal.jsonl", "r.journal.jsonl");
    shell("gzip ", "r.journal.jsonl");
    finds_journal("r.json", "r.journal.jsonl.gz");
    shell("gzip ", "r.json");
    finds_journal("r.json.gz", "r.journal.jsonl.gz");
    shell("rm ", "r.journal.jsonl.gz");
    finds_journal("r.json.gz", "");
}

static void reads(const char *name, int wanted)
{
    char path[256];
    const char *paths[] = {path};
    const struct load_request request = {paths, 1, false, NULL, false};
    struct error err = {0};
    struct result *result = NULL;
    snprintf(path, sizeof path, "%s/%s", directory, name);
    assert_int_equal(load_results(&request, &result, &err), wanted);
    if (wanted == 0)
        assert_int_equal(result->n_cells, 1);
    else
        assert_non_null(strstr(err.text, name));
    result_free(result);
}

static void compressed_files_read_like_plain_ones(void **state)
{
    (void)state;
    shell("gzip -k ", "r.journal.jsonl r.json");
    reads("r.json", 0);
    reads("r.json.gz", 0);
    reads("r.journal.jsonl", 0);
    reads("r.journal.jsonl.gz", 0);
    shell("head -c 200 r.json.gz >", "cut.json.gz");
    reads("cut.json.gz", EXIT_CODE_DATA);
    shell("head -c 200 r.journal.jsonl.gz >", "cut.jsonl.gz");
    reads("cut.jsonl.gz", EXIT_CODE_DATA);
}

#define RUN_TEST(f) cmocka_unit_test_setup_teardown(f, set_up_run, tear_down_run)

int main(void)
{
    const struct CMUnitTest tests[] = {RUN_TEST(names_say_what_a_file_is), RUN_TEST(a_directory_is_a_run),
                                       RUN_TEST(a_result_has_its_journal_beside_it),
                                       RUN_TEST(compressed_files_read_like_plain_ones)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
