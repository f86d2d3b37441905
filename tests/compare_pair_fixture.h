/* Two scripted runs as journals in a directory of their own. Used by test_compare.c and test_compare_skipped.c. */
#ifndef CUDAL2_TESTS_COMPARE_PAIR_FIXTURE_H
#define CUDAL2_TESTS_COMPARE_PAIR_FIXTURE_H

#include <unistd.h>

#include "compare_fixture.h"

static char directory[64], base_path[96], fresh_path[96], again_path[96], result_path[96];

static int set_up(void **state)
{
    (void)state;
    strcpy(directory, "/tmp/cudal2-compare-XXXXXX");
    if (!mkdtemp(directory))
        return -1;
    snprintf(base_path, sizeof base_path, "%s/base.journal.jsonl", directory);
    snprintf(fresh_path, sizeof fresh_path, "%s/new.journal.jsonl", directory);
    snprintf(again_path, sizeof again_path, "%s/new.confirm.journal.jsonl", directory);
    snprintf(result_path, sizeof result_path, "%s/new.json", directory);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(base_path);
    unlink(fresh_path);
    unlink(again_path);
    unlink(result_path);
    return rmdir(directory);
}

static struct compare_request request(void)
{
    return (struct compare_request){.base = base_path, .fresh = fresh_path};
}

static void open_pair(const struct script *base, const struct script *fresh, struct compare_runs *out)
{
    struct error err = {0};
    struct compare_request r = request();
    fixture_write(base_path, base);
    fixture_write(fresh_path, fresh);
    if (compare_open(&r, out, &err))
        fail_msg("%s", err.text);
}

#endif
