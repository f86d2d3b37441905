/* Every committed result is what this program makes of its committed journal, byte for byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "result/result.h"

static void unpack(const char *archive, const char *path)
{
    char command[1024];
    snprintf(command, sizeof command, "gzip -dc '%s' > '%s'", archive, path);
    if (system(command) != 0)
        fail_msg("cannot unpack %s", archive);
}

static void compare(const char *directory, const char *result_archive)
{
    char journal_archive[512];
    char journal[96];
    char result[96];
    char made[96];
    char command[256];
    struct error err = {0};
    int cut = (int)(strrchr(result_archive, '/') - result_archive);
    snprintf(journal_archive, sizeof journal_archive, "%.*s/journal.jsonl.gz", cut, result_archive);
    snprintf(journal, sizeof journal, "%s/journal.jsonl", directory);
    snprintf(result, sizeof result, "%s/result.json", directory);
    snprintf(made, sizeof made, "%s/made.json", directory);
    unpack(journal_archive, journal);
    unpack(result_archive, result);
    if (result_write(journal, made, &err))
        fail_msg("%s: %s", journal_archive, err.text);
    snprintf(command, sizeof command, "cmp '%s' '%s'", made, result);
    if (system(command) != 0)
        fail_msg("%s is not what its journal gives", result_archive);
    unlink(journal);
    unlink(result);
    unlink(made);
}

static void results_follow_from_their_journals(void **state)
{
    char directory[] = "/tmp/cudal2-committed-XXXXXX";
    glob_t found;
    (void)state;
    if (glob("results/*/*/result.json.gz", 0, NULL, &found) != 0)
        skip();
    assert_non_null(mkdtemp(directory));
    for (size_t i = 0; i < found.gl_pathc; i++)
        compare(directory, found.gl_pathv[i]);
    globfree(&found);
    rmdir(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(results_follow_from_their_journals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
