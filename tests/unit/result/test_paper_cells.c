/* result/paper: a cell of the paper's protocol has speedups, times and an A/A comparison like any other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "report/screen.h"
#include "result_fixture.h"

static void add_pair(struct cell_record *r, const char *candidate, const char *reference, double mean)
{
    char text[512];
    if (!r->paper_pairs)
        r->paper_pairs = cJSON_CreateArray();
    snprintf(text, sizeof text,
             "{\"candidate\":\"%s\",\"reference\":\"%s\",\"iterations\":100,\"batches\":20,\"mean_of_ratios\":%g,"
             "\"ci95\":[%g,%g],\"geomean\":%g,\"candidate_mean_ns\":1000,\"reference_mean_ns\":%g}",
             candidate, reference, mean, mean - 0.01, mean + 0.01, mean - 0.001, 1000 * (1 + mean));
    cJSON *pair = cJSON_Parse(text);
    assert_non_null(pair);
    cJSON_AddItemToArray(r->paper_pairs, pair);
}

/* Two layouts of candidate and baseline, torch, and a copy of the candidate. */
static struct cell_record *paper_cell(void)
{
    struct cell_record *r = fixture_record(64, MODE_OFFLINE);
    r->headline = TIMING_EVENT;
    fixture_contender(r, "torch.matmul", false);
    fixture_contender(r, "cublas-nn", false);
    fixture_contender(r, "cublas-tn", false);
    fixture_contender(r, "cudal2-nn", true);
    fixture_contender(r, "cudal2-tn", true);
    strcpy(fixture_contender(r, "cudal2-nn+copy", true)->copy_of, "cudal2-nn");
    add_pair(r, "cudal2-nn", "torch.matmul", 0.5);
    add_pair(r, "cudal2-nn", "cublas-nn", 0.3);
    add_pair(r, "cudal2-nn", "cublas-tn", 0.1);
    add_pair(r, "cudal2-tn", "torch.matmul", 0.4);
    add_pair(r, "cudal2-tn", "cublas-nn", 0.4);
    add_pair(r, "cudal2-tn", "cublas-tn", 0.2);
    add_pair(r, "cudal2-nn+copy", "cudal2-nn", 0.02);
    r->converged = true;
    return r;
}

static double mean_of(const cJSON *cell, const char *candidate, const char *reference)
{
    const cJSON *s = speedup(cell, candidate, reference, "event");
    assert_non_null(s);
    return tree_number(s, "mean_of_ratios");
}

static void pairs_are_speedups(void **state)
{
    (void)state;
    cJSON *tree = result_of(paper_cell());
    const cJSON *cell = tree_member(tree, "cells")->child;
    const cJSON *s = speedup(cell, "cudal2-nn", "cublas-tn", "event");
    assert_true(tree_number(s, "mean_of_ratios") == 0.1 && tree_number(s, "geomean") == 0.099);
    assert_true(tree_number(s, "n") == 100 && tree_number(s, "groups") == 20);
    assert_true(tree_number(s, "ratio_of_means") == 0.1);
    assert_true(tree_member(s, "ci95")->child->valuedouble == 0.09);
    /* the paper's max: the candidate's best layout, each against the reference's best */
    assert_true(mean_of(cell, "cudal2-max", "cublas-max") == 0.2);
    assert_true(mean_of(cell, "cudal2-max", "torch.matmul") == 0.5);
    assert_int_equal(cJSON_GetArraySize(tree_member(cell, "speedups")), 6 + 2);
    const cJSON *aa = tree_member(cell, "aa")->child;
    assert_string_equal(tree_text(aa, "contender"), "cudal2-nn");
    assert_true(tree_true(aa, "excludes_one") && !aa->next);
    const cJSON *row = tree_member(tree_member(tree, "summary"), "speedups")->child;
    assert_true(tree_number(row, "n") == 1);
    cJSON_Delete(tree);
}

static void contenders_have_their_mean(void **state)
{
    (void)state;
    cJSON *tree = result_of(paper_cell());
    const cJSON *contenders = tree_member(tree_member(tree, "cells")->child, "contenders");
    const cJSON *torch = tree_member(contenders, "torch.matmul");
    const cJSON *event = tree_member(tree_member(torch, "timings"), "event");
    assert_true(tree_number(event, "mean_ns") == 1450 && tree_number(event, "n") == 200);
    assert_true(cJSON_IsNull(tree_member(event, "median_ns")));
    assert_true(cJSON_IsNull(tree_member(tree_member(torch, "timings"), "device")));
    assert_true(fabs(tree_number(torch, "tflops") - 2.0 * 64 * 64 * 64 / 1450e-9 / 1e12) < 1e-4);
    cJSON_Delete(tree);
}

/* The file keeps the pairs of single layouts too, because no journal's blocks could make them again. */
static void the_file_and_the_screen_show_them(void **state)
{
    struct error err = {0};
    struct screen_options options = {.columns = 140};
    cJSON *tree = NULL;
    char *text = NULL;
    (void)state;
    struct journal *j = begin();
    put_cell(j, paper_cell());
    journal_close(j);
    assert_int_equal(result_write(journal_path, result_path, &err), 0);
    assert_int_equal(json_read_file(result_path, 1 << 20, &tree, &err), 0);
    const cJSON *cell = tree_member(tree, "cells")->child;
    assert_true(mean_of(cell, "cudal2-nn", "cublas-tn") == 0.1);
    cJSON_Delete(tree);
    struct result *shown = NULL;
    assert_int_equal(result_from_journal(journal_path, &shown, &err), 0);
    assert_int_equal(screen_report(shown, &options, &text, &err), 0);
    assert_non_null(strstr(text, "cudal2-max"));
    assert_non_null(strstr(text, "+19.9% ±1.0"));
    assert_non_null(strstr(text, "1 cell: 1 ok, 0 partial, 0 skipped, 0 failed, 2 not measured yet\n"));
    free(text);
    result_free(shown);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(pairs_are_speedups),
        TEST(contenders_have_their_mean),
        TEST(the_file_and_the_screen_show_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
