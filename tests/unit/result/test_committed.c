/*
 * What this program makes of journals of every age, byte for byte: each fixture is a journal, cut by
 * scripts/journal-cut.py from a run of an H200, with the result that it must give. Relies on gzip and cmp.
 * A result that changes on purpose is made again with `report JOURNAL --format result`.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "result/make.h"

#define MOST_PARTS 8

static bool unpack(const char *archive, const char *path)
{
    char command[1024];
    snprintf(command, sizeof command, "gzip -dc '%s' > '%s'", archive, path);
    return system(command) == 0;
}

/* Says on stderr what is wrong. */
static bool follows(const char *directory, const char *result_archive)
{
    char journal_archive[512], journal[96], result[96], made[96], command[256];
    struct error err = {0};
    int cut = (int)(strrchr(result_archive, '/') - result_archive);
    snprintf(journal_archive, sizeof journal_archive, "%.*s/journal.jsonl.gz", cut, result_archive);
    snprintf(journal, sizeof journal, "%s/journal.jsonl", directory);
    snprintf(result, sizeof result, "%s/result.json", directory);
    snprintf(made, sizeof made, "%s/made.json", directory);
    bool ok = unpack(journal_archive, journal) && unpack(result_archive, result);
    if (!ok)
        fprintf(stderr, "cannot unpack %s and its journal\n", result_archive);
    if (ok && result_write(journal, made, &err) != 0) {
        fprintf(stderr, "%s: %s\n", journal_archive, err.text);
        ok = false;
    }
    snprintf(command, sizeof command, "cmp '%s' '%s'", made, result);
    if (ok && system(command) != 0) {
        fprintf(stderr, "%s is not what its journal gives\n", result_archive);
        ok = false;
    }
    unlink(journal);
    unlink(result);
    unlink(made);
    return ok;
}

/* Every `parts`-th from `first` on. */
static bool all_follow(const glob_t *found, size_t first, size_t parts)
{
    char directory[] = "/tmp/cudal2-committed-XXXXXX";
    bool ok = mkdtemp(directory) != NULL;
    for (size_t i = first; ok && i < found->gl_pathc; i += parts)
        ok = follows(directory, found->gl_pathv[i]);
    rmdir(directory);
    return ok;
}

/* In as many processes as there are processors. */
static void results_follow_from_their_journals(void **state)
{
    glob_t found;
    pid_t children[MOST_PARTS];
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t parts = processors < 1 ? 1 : processors > MOST_PARTS ? MOST_PARTS : (size_t)processors;
    int failed = 0;
    (void)state;
    assert_int_equal(glob("tests/fixtures/data/journals/*/result.json.gz", 0, NULL, &found), 0);
    assert_true(found.gl_pathc >= 13);
    for (size_t part = 0; part < parts; part++) {
        children[part] = fork();
        if (children[part] == 0)
            _exit(all_follow(&found, part, parts) ? 0 : 1);
        assert_true(children[part] > 0);
    }
    for (size_t part = 0; part < parts; part++) {
        int status = 0;
        assert_int_equal(waitpid(children[part], &status, 0), children[part]);
        failed += status != 0;
    }
    globfree(&found);
    assert_int_equal(failed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(results_follow_from_their_journals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
