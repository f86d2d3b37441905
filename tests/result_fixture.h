/* A journal of scripted cells in a directory of its own, for the tests of result/. */
#ifndef CUDAL2_TESTS_RESULT_FIXTURE_H
#define CUDAL2_TESTS_RESULT_FIXTURE_H

#include <unistd.h>

#include "journal_fixture.h"
#include "result/result.h"
#include "result/tree.h"

static char directory[64], journal_path[96], result_path[96];

__attribute__((unused)) static int set_up(void **state)
{
    (void)state;
    strcpy(directory, "/tmp/cudal2-result-XXXXXX");
    if (!mkdtemp(directory))
        return -1;
    snprintf(journal_path, sizeof journal_path, "%s/r.journal.jsonl", directory);
    snprintf(result_path, sizeof result_path, "%s/r.json", directory);
    return 0;
}

__attribute__((unused)) static int tear_down(void **state)
{
    (void)state;
    unlink(journal_path);
    unlink(result_path);
    return rmdir(directory);
}

__attribute__((unused)) static struct journal *begin(void)
{
    struct journal *j = new_journal(journal_path);
    put_text(j, "run",
             "{\"schema\":\"cudal2-bench/journal\",\"seed\":\"18446744073709551615\",\"plan\":["
             "\"offline/f16-f32-64x64x64\",\"offline/f16-f32-128x64x64\",\"offline/f16-f32-256x64x64\"]}");
    put_text(j, "sitting", "{\"time\":\"2026-01-01T00:00:00Z\"}");
    put_text(j, "env", "{\"worker\":0,\"device\":{\"name\":\"G\",\"peak_flops\":1e12,\"peak_bytes_per_s\":1e11}}");
    return j;
}

__attribute__((unused)) static cJSON *result(void)
{
    cJSON *tree = NULL;
    struct error err = {0};
    if (result_from_journal(journal_path, &tree, &err))
        fail_msg("%s", err.text);
    return tree;
}

/* Of a run with this one cell, which is taken over. */
__attribute__((unused)) static cJSON *result_of(struct cell_record *r)
{
    struct journal *j = begin();
    put_cell(j, r);
    journal_close(j);
    return result();
}

/* Blocks with a time for each contender: base[i] in even groups, base2[i] in odd ones. */
__attribute__((unused)) static void fill(struct cell_record *r, unsigned blocks, const double *even, const double *odd)
{
    for (unsigned b = 0; b < blocks; b++) {
        unsigned block = fixture_block(r, 4);
        const double *ns = r->group_of[block] % 2 ? odd : even;
        for (size_t i = 0; i < r->n_contenders; i++)
            if (strcmp(r->contenders[i].status, "ok") == 0)
                series_add(&r->contenders[i].timings[TIMING_DEVICE], block, ns[i]);
    }
}

__attribute__((unused)) static const cJSON *speedup(const cJSON *cell, const char *candidate, const char *reference,
                                                    const char *timing)
{
    const cJSON *s;
    cJSON_ArrayForEach(s, tree_member(cell, "speedups"))
    {
        if (strcmp(tree_text(s, "candidate"), candidate) == 0 && strcmp(tree_text(s, "reference"), reference) == 0 &&
            strcmp(tree_text(s, "timing"), timing) == 0)
            return s;
    }
    return NULL;
}

__attribute__((unused)) static struct cell_record *simple_cell_in(enum mode mode, int64_t m)
{
    static const double even[] = {1200, 1000};
    static const double odd[] = {1100, 1000};
    struct cell_record *r = fixture_record(m, mode);
    fixture_contender(r, "torch.matmul", false);
    fixture_contender(r, "cudal2-nn", true);
    fill(r, 8, even, odd);
    r->converged = true;
    return r;
}

__attribute__((unused)) static struct cell_record *simple_cell(int64_t m)
{
    return simple_cell_in(MODE_OFFLINE, m);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

#endif
