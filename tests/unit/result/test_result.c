/* result/: result.json from a journal, with every estimate computed by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "base/file.h"
#include "result_fixture.h"
#include "analysis/aggregate.h"
#include "result/summary.h"

/* ---- tests ---- */

static void one_cell_by_hand(void **state)
{
    (void)state;
    cJSON *tree = result_of(simple_cell(64));
    const cJSON *cell = tree_member(tree, "cells")->child;
    const cJSON *s = speedup(cell, "cudal2-nn", "torch.matmul", "device");
    double mean = (log(1.2) + log(1.1)) / 2;
    double half = 12.706204736 * sqrt(2) * fabs(log(1.2) - log(1.1)) / 2 / sqrt(2);
    is_within(tree_number(s, "geomean"), expm1(mean), 6e-6);
    is_within(tree_member(s, "ci95")->child->valuedouble, expm1(mean - half), 6e-6);
    is_within(tree_member(s, "ci95")->child->next->valuedouble, expm1(mean + half), 6e-6);
    is_within(tree_number(s, "mean_of_ratios"), 0.15, 1e-9);
    is_within(tree_number(s, "ratio_of_means"), 0.15, 1e-9);
    assert_true(tree_number(s, "n") == 8 && tree_number(s, "groups") == 2);
    const cJSON *c = tree_member(tree_member(cell, "contenders"), "torch.matmul");
    const cJSON *t = tree_member(tree_member(c, "timings"), "device");
    is_within(tree_number(t, "median_ns"), 1150, 0);
    is_within(tree_number(t, "mean_ns"), 1150, 0);
    is_within(tree_number(t, "p95_ns"), 1200, 0);
    is_within(tree_number(t, "min_ns"), 1100, 0);
    assert_true(cJSON_IsNull(tree_member(tree_member(c, "timings"), "event")));
    assert_string_equal(tree_text(c, "role"), "baseline");
    const cJSON *ours = tree_member(tree_member(cell, "contenders"), "cudal2-nn");
    is_within(tree_number(ours, "tflops"), 2.0 * 64 * 64 * 64 / 1000e-9 / 1e12, 1e-4);
    /* the floor: 3 * 64 * 64 * 2 bytes at 1e11 B/s = 245.8 ns, arithmetic only 524 ns at 1e12 */
    is_within(tree_number(cell, "floor_ns"), 524.3, 0);
    is_within(tree_number(ours, "percent_of_roofline"), 52.429, 0);
    assert_string_equal(tree_text(tree_member(tree, "run"), "seed"), "18446744073709551615");
    assert_null(tree_member(tree_member(tree, "run"), "plan"));
    cJSON_Delete(tree);
}

/* torch against itself is never listed, a pair with a failed contender neither. */
static void failed_contenders_keep_their_reason(void **state)
{
    (void)state;
    static const double ns[] = {1200, 1000, 0};
    struct cell_record *r = fixture_record(64, MODE_OFFLINE);
    fixture_contender(r, "torch.matmul", false);
    fixture_contender(r, "cudal2-nn", true);
    fixture_fail(fixture_contender(r, "openblas-nn", false), "unavailable", "runs on the cpu only");
    r->outcome = CELL_PARTIAL;
    fill(r, 8, ns, ns);
    cJSON *tree = result_of(r);
    const cJSON *cell = tree_member(tree, "cells")->child;
    const cJSON *s;
    cJSON_ArrayForEach(s, tree_member(cell, "speedups")) assert_string_equal(tree_text(s, "reference"), "torch.matmul");
    const cJSON *left_out = tree_member(tree_member(tree, "summary"), "left_out");
    assert_int_equal(cJSON_GetArraySize(left_out), 1);
    assert_string_equal(tree_text(left_out->child, "contender"), "openblas-nn");
    assert_string_equal(tree_text(left_out->child, "reason"), "runs on the cpu only");
    cJSON_Delete(tree);
}

/* How a headline value came about: through the journal into the result, and not a word where it was one of each. */
static void visits_and_passes_are_told(void **state)
{
    (void)state;
    struct journal *j = begin();
    struct cell_record *r = simple_cell(64), *read = NULL;
    struct error err = {0};
    r->visits = 8;
    r->passes = 2;
    r->held = true;
    cJSON *data = record_to_json(r);
    assert_int_equal(record_from_json(json_root(data, "cell"), &read, &err), 0);
    assert_int_equal(read->visits, 8);
    assert_int_equal(read->passes, 2);
    assert_true(read->held);
    record_free(read);
    cJSON_Delete(data);
    put_cell(j, r);
    r = simple_cell(128);
    data = record_to_json(r);
    assert_null(tree_member(data, "visits"));
    assert_null(tree_member(data, "passes"));
    assert_null(tree_member(data, "held"));
    cJSON_Delete(data);
    put_cell(j, r);
    journal_close(j);
    cJSON *tree = result();
    const cJSON *cell = tree_member(tree, "cells")->child;
    assert_true(tree_number(cell, "visits") == 8);
    assert_true(tree_number(cell, "passes") == 2);
    assert_true(cJSON_IsTrue(tree_member(cell, "held")));
    assert_null(tree_member(cell->next, "visits"));
    assert_null(tree_member(cell->next, "passes"));
    assert_null(tree_member(cell->next, "held"));
    cJSON_Delete(tree);
}

/* What cannot be a number of places. */
static void bad_visits_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"-1", "1.5", "\"8\"", "1e300"};
    struct cell_record *r = simple_cell(64), *read = NULL;
    struct error err = {0};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        for (int key = 0; key < 2; key++) {
            cJSON *data = record_to_json(r);
            cJSON_AddItemToObject(data, key ? "visits" : "passes", cJSON_Parse(bad[i]));
            assert_int_equal(record_from_json(json_root(data, "cell"), &read, &err), EXIT_CODE_DATA);
            assert_non_null(strstr(err.text, key ? "visits" : "passes"));
            cJSON_Delete(data);
        }
    record_free(r);
}

/* nn wins by 10% in even groups, tn by 20% in odd ones. Chosen and scored on the same blocks, max would be 1000 in
 * even and 900 in odd groups; honestly chosen on the other half it is 1100 and 1080. */
static void max_is_chosen_on_the_other_half(void **state)
{
    (void)state;
    static const double even[] = {1000, 1100, 800};
    static const double odd[] = {1080, 900, 800};
    struct cell_record *r = fixture_record(64, MODE_OFFLINE);
    fixture_contender(r, "cublas-nn", false);
    fixture_contender(r, "cublas-tn", false);
    fixture_contender(r, "cudal2-nn", true);
    fill(r, 16, even, odd);
    cJSON *tree = result_of(r);
    const cJSON *cell = tree_member(tree, "cells")->child;
    const cJSON *s = speedup(cell, "cudal2-nn", "cublas-max", "device");
    is_within(tree_number(s, "mean_of_ratios"), (1100 / 800.0 + 1080 / 800.0) / 2 - 1, 6e-6);
    /* the paper's form: the smaller of 1040/800 and 1000/800 */
    is_within(tree_number(s, "paper_max"), 0.25, 6e-6);
    assert_non_null(speedup(cell, "cudal2-max", "cublas-nn", "device"));
    s = speedup(cell, "cudal2-max", "cublas-max", "device");
    is_within(tree_number(s, "mean_of_ratios"), (1100 / 800.0 + 1080 / 800.0) / 2 - 1, 6e-6);
    assert_null(tree_member(speedup(cell, "cudal2-nn", "cublas-nn", "device"), "paper_max"));
    cJSON_Delete(tree);
}

/* Wall times in every fourth block of groups of two: only even groups have any. The same choice as above is to be made
 * between those: nn wins by 10% in one half, tn by 20% in the other. */
static void max_of_a_sparse_timing_is_chosen_on_the_other_half(void **state)
{
    (void)state;
    static const double half[2][3] = {{1000, 1100, 1000}, {1080, 900, 1000}};
    struct cell_record *r = fixture_record(64, MODE_OFFLINE);
    fixture_contender(r, "cublas-nn", false);
    fixture_contender(r, "cublas-tn", false);
    fixture_contender(r, "tiny", true);
    for (unsigned b = 0; b < 32; b++) {
        unsigned block = fixture_block(r, 2);
        for (size_t i = 0; i < 3 && block % 4 == 0; i++)
            series_add(&r->contenders[i].timings[TIMING_WALL], block, half[block / 4 % 2][i]);
    }
    cJSON *tree = result_of(r);
    const cJSON *cell = cJSON_GetArrayItem(tree_member(tree, "cells"), 0);
    const cJSON *s = speedup(cell, "tiny", "cublas-max", "wall");
    is_within(tree_number(s, "ratio_of_means"), (1100 + 1080) / 2.0 / 1000 - 1, 6e-6);
    cJSON_Delete(tree);
}

/* The same choice between groups that saw no slowdown, where every second one did: a half of nothing else chooses
 * nothing, and the other one would be chosen and scored on the same blocks. */
static void dropped_groups_are_no_half(void **state)
{
    (void)state;
    static const double half[2][3] = {{1000, 1100, 800}, {1080, 900, 800}};
    struct cell_record *r = fixture_record(64, MODE_OFFLINE);
    fixture_contender(r, "cublas-nn", false);
    fixture_contender(r, "cublas-tn", false);
    fixture_contender(r, "tiny", true);
    for (unsigned b = 0; b < 16; b++) {
        unsigned block = fixture_block(r, 2);
        for (size_t i = 0; i < 3; i++)
            series_add(&r->contenders[i].timings[TIMING_DEVICE], block, half[block / 4 % 2][i]);
    }
    for (unsigned block = 2; block < 16; block += 4)
        fixture_slowdown(r, block);
    cJSON *tree = result_of(r);
    const cJSON *cell = cJSON_GetArrayItem(tree_member(tree, "cells"), 0);
    const cJSON *s = speedup(cell, "tiny", "cublas-max", "device");
    is_within(tree_number(s, "mean_of_ratios"), (1100 / 800.0 + 1080 / 800.0) / 2 - 1, 6e-6);
    cJSON_Delete(tree);
}

/* A clear winner stays the winner: max equals it. */
static void max_of_a_clear_winner_is_the_winner(void **state)
{
    (void)state;
    static const double ns[] = {1000, 1300, 500};
    struct cell_record *r = fixture_record(64, MODE_OFFLINE);
    fixture_contender(r, "cublas-nn", false);
    fixture_contender(r, "cublas-tn", false);
    fixture_contender(r, "tiny", true);
    fill(r, 4, ns, ns); /* one group: halves are even and odd blocks */
    cJSON *tree = result_of(r);
    const cJSON *cell = tree_member(tree, "cells")->child;
    const cJSON *s = speedup(cell, "tiny", "cublas-max", "device");
    is_within(tree_number(s, "geomean"), 1, 1e-9);
    assert_true(cJSON_IsNull(tree_member(s, "ci95")));
    assert_null(speedup(cell, "tiny-max", "cublas-max", "device"));
    cJSON_Delete(tree);
}

static void baselines_alone_compare_with_the_first_family(void **state)
{
    (void)state;
    static const double ns[] = {1000, 1300, 500};
    struct cell_record *r = fixture_record(64, MODE_OFFLINE);
    fixture_contender(r, "cublas-nn", false);
    fixture_contender(r, "cublas-tn", false);
    fixture_contender(r, "torch.matmul", false);
    fill(r, 8, ns, ns);
    cJSON *tree = result_of(r);
    const cJSON *cell = tree_member(tree, "cells")->child;
    is_within(tree_number(speedup(cell, "cublas-max", "torch.matmul", "device"), "geomean"), -0.5, 1e-9);
    assert_int_equal(cJSON_GetArraySize(tree_member(cell, "speedups")), 3);
    cJSON_Delete(tree);
}

/* In the timings beside the headline only whole families are compared, on the blocks both were taken in. */
static void other_timings(void **state)
{
    (void)state;
    static const double ns[] = {1000, 800};
    struct cell_record *r = fixture_record(64, MODE_OFFLINE);
    fixture_contender(r, "cublas-nn", false);
    fixture_contender(r, "cudal2-nn", true);
    fill(r, 16, ns, ns);
    for (unsigned b = 0; b < 16; b += 4) {
        series_add(&r->contenders[0].timings[TIMING_WALL], b, 9000);
        if (b != 4)
            series_add(&r->contenders[1].timings[TIMING_WALL], b, 6000);
    }
    cJSON *tree = result_of(r);
    const cJSON *cell = tree_member(tree, "cells")->child;
    const cJSON *s = speedup(cell, "cudal2-max", "cublas-nn", "wall");
    is_within(tree_number(s, "geomean"), 0.5, 1e-9);
    assert_true(tree_number(s, "n") == 3);
    assert_null(speedup(cell, "cudal2-nn", "cublas-nn", "wall"));
    cJSON_Delete(tree);
}

/* Event: 9000 against 6000 is a lead of half; launched as a graph the baseline takes 6600, so a tenth is GPU work. */
static void equal_launch_path(void **state)
{
    (void)state;
    static const double ns[] = {1000, 800};
    struct cell_record *r = fixture_record(64, MODE_OFFLINE);
    fixture_contender(r, "cublaslt-autotuning-nn", false);
    fixture_contender(r, "cudal2-nn", true);
    fill(r, 16, ns, ns);
    for (unsigned b = 0; b < 16; b += 4) {
        series_add(&r->contenders[0].timings[TIMING_EVENT], b, 9000);
        series_add(&r->contenders[0].equal_path[TIMING_EVENT], b, 6600);
        series_add(&r->contenders[1].timings[TIMING_EVENT], b, 6000);
        series_add(&r->contenders[1].equal_path[TIMING_EVENT], b, 5500);
    }
    cJSON *tree = result_of(r);
    const cJSON *cell = tree_member(tree, "cells")->child;
    const cJSON *equal = tree_member(cell, "equal_path")->child;
    is_within(tree_number(speedup(cell, "cudal2-max", "cublaslt-autotuning-nn", "event"), "geomean"), 0.5, 1e-9);
    assert_string_equal(tree_text(equal, "candidate"), "cudal2-nn");
    is_within(tree_number(equal, "geomean"), 0.2, 6e-6); /* graph against graph: 6600 / 5500 */
    assert_null(equal->next);
    const cJSON *row = tree_member(tree_member(tree, "summary"), "equal_path")->child;
    is_within(tree_number(row, "mean"), 0.2, 6e-6);
    const cJSON *c = tree_member(tree_member(cell, "contenders"), "cublaslt-autotuning-nn");
    is_within(tree_number(tree_member(tree_member(c, "equal_path"), "event"), "median_ns"), 6600, 0);
    cJSON_Delete(tree);
}

static void rungs_are_not_mixed(void **state)
{
    (void)state;
    static const double ns[] = {1000, 800, 700};
    struct cell_record *r = fixture_record(64, MODE_OFFLINE);
    fixture_contender(r, "cublas-nn", false);
    strcpy(fixture_contender(r, "cublas-tn", false)->rung, "events");
    fixture_contender(r, "cudal2-nn", true);
    fill(r, 8, ns, ns);
    cJSON *tree = result_of(r);
    const cJSON *cell = tree_member(tree, "cells")->child;
    assert_non_null(speedup(cell, "cudal2-nn", "cublas-nn", "device"));
    assert_null(speedup(cell, "cudal2-nn", "cublas-tn", "device"));
    assert_null(speedup(cell, "cudal2-nn", "cublas-max", "device"));
    assert_int_equal(cJSON_GetArraySize(tree_member(cell, "incomparable")), 4); /* nn, max x tn, max */
    cJSON_Delete(tree);
}

static void slowdowns_are_left_out_and_shown(void **state)
{
    (void)state;
    static const double even[] = {1200, 1000};
    static const double odd[] = {2400, 1000};
    struct cell_record *r = fixture_record(64, MODE_OFFLINE);
    fixture_contender(r, "torch.matmul", false);
    fixture_contender(r, "cudal2-nn", true);
    fill(r, 12, even, odd);
    fixture_slowdown(r, 6); /* the only odd group */
    cJSON *tree = result_of(r);
    const cJSON *s = speedup(tree_member(tree, "cells")->child, "cudal2-nn", "torch.matmul", "device");
    is_within(tree_number(s, "geomean"), 0.2, 6e-6);
    assert_true(tree_number(s, "n") == 8);
    is_within(tree_number(s, "geomean_all_blocks"), cbrt(1.2 * 1.2 * 2.4) - 1, 6e-6);
    const cJSON *counts = tree_member(tree_member(tree, "summary"), "counts");
    assert_true(tree_number(counts, "cells_with_slowdown") == 1);
    cJSON_Delete(tree);
}

static void copies_go_to_aa(void **state)
{
    (void)state;
    static const double even[] = {1200, 1000, 1003};
    static const double odd[] = {1200, 1000, 1004};
    struct cell_record *r = fixture_record(64, MODE_OFFLINE);
    fixture_contender(r, "torch.matmul", false);
    fixture_contender(r, "cudal2-nn", true);
    strcpy(fixture_contender(r, "cudal2-nn#2", true)->copy_of, "cudal2-nn");
    fill(r, 32, even, odd);
    cJSON *tree = result_of(r);
    const cJSON *cell = tree_member(tree, "cells")->child;
    const cJSON *s;
    cJSON_ArrayForEach(s, tree_member(cell, "speedups")) assert_null(strstr(tree_text(s, "candidate"), "#2"));
    const cJSON *aa = tree_member(cell, "aa")->child;
    assert_string_equal(tree_text(aa, "contender"), "cudal2-nn");
    is_within(tree_number(aa, "geomean"), exp(-(log(1.003) + log(1.004)) / 2) - 1, 6e-6);
    assert_true(tree_true(aa, "excludes_one"));
    const cJSON *total = tree_member(tree_member(tree, "summary"), "aa")->child;
    assert_true(tree_number(total, "excludes_one") == 1 && tree_number(total, "n") == 1);
    assert_string_equal(tree_text(tree_member(tree_member(cell, "contenders"), "cudal2-nn#2"), "role"), "copy");
    cJSON_Delete(tree);
}

static void cells_come_in_plan_order(void **state)
{
    (void)state;
    struct journal *j = begin();
    put_cell(j, simple_cell(256));
    put_cell(j, simple_cell(64));
    journal_close(j);
    cJSON *tree = result();
    const cJSON *cells = tree_member(tree, "cells");
    assert_true(tree_number(cells->child, "m") == 64);
    assert_true(tree_number(cells->child->next, "m") == 256);
    const cJSON *run = tree_member(tree, "run");
    assert_string_equal(tree_member(run, "missing")->child->valuestring, "offline/f16-f32-128x64x64");
    assert_false(tree_true(run, "complete"));
    assert_true(tree_number(run, "n_cells") == 3);
    cJSON_Delete(tree);
}

static void the_order_of_measuring_changes_nothing(void **state)
{
    static const int64_t orders[2][3] = {{64, 128, 256}, {256, 64, 128}};
    char *texts[2];
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct journal *j = begin();
        struct error err = {0};
        size_t length;
        for (int c = 0; c < 3; c++)
            put_cell(j, simple_cell(orders[i][c]));
        put_text(j, "end", "{\"time\":\"2026-01-01T00:01:00Z\"}");
        journal_close(j);
        assert_int_equal(result_write(journal_path, result_path, &err), 0);
        assert_int_equal(file_read(result_path, 1u << 24, &texts[i], &length, &err), 0);
        unlink(journal_path);
    }
    assert_string_equal(texts[0], texts[1]);
    assert_non_null(strstr(texts[0], "\"complete\":true"));
    free(texts[0]);
    free(texts[1]);
}

static void summary_over_shapes(void **state)
{
    static const double scale[] = {1.0, 1.3, 0.9};
    static const int64_t m[] = {64, 128, 256};
    (void)state;
    struct journal *j = begin();
    for (int i = 0; i < 3; i++) {
        const double even[] = {1000 * scale[i], 1000}, odd[] = {1010 * scale[i], 1010};
        struct cell_record *r = fixture_record(m[i], MODE_OFFLINE);
        fixture_contender(r, "torch.matmul", false);
        fixture_contender(r, "cudal2-nn", true);
        fill(r, 8, even, odd);
        r->converged = i != 2;
        r->worst_half_width = 0.01;
        put_cell(j, r);
    }
    journal_close(j);
    cJSON *tree = result();
    const cJSON *summary = tree_member(tree, "summary");
    const cJSON *row = tree_member(summary, "speedups")->child;
    assert_true(tree_number(row, "n") == 3 && tree_number(row, "wins") == 1);
    is_within(tree_number(row, "mean"), 0.2 / 3, 6e-6);
    is_within(tree_number(row, "geomean"), cbrt(1.3 * 0.9) - 1, 6e-6);
    is_within(tree_number(row, "median"), 0, 6e-6);
    is_within(tree_number(row, "mean_of_max"), 0.1, 6e-6);
    assert_true(tree_number(row, "clear_wins") == 1 && tree_number(row, "clear_losses") == 1);
    double half = 4.302652729 * sqrt((pow(0.0 - 0.2 / 3, 2) + pow(0.3 - 0.2 / 3, 2) + pow(-0.1 - 0.2 / 3, 2)) / 2 / 3);
    is_within(tree_member(row, "ci95")->child->valuedouble, 0.2 / 3 - half, 6e-6);
    const cJSON *convergence = tree_member(summary, "convergence");
    is_within(tree_number(convergence, "share"), 0.66667, 0);
    assert_string_equal(tree_text(tree_member(convergence, "not_converged")->child, "cell"),
                        "offline/f16-f32-256x64x64");
    cJSON_Delete(tree);
}

/* A single contender has times and nothing to compare: that is not convergence, nor a lack of it. */
static void nothing_to_compare_is_counted_apart(void **state)
{
    (void)state;
    struct journal *j = begin();
    for (int i = 0; i < 2; i++) {
        const double ns[] = {1000, 900};
        struct cell_record *r = fixture_record(64 << i, MODE_OFFLINE);
        fixture_contender(r, "torch.matmul", false);
        if (i == 0)
            fixture_contender(r, "cudal2-nn", true);
        fill(r, 8, ns, ns);
        r->converged = i == 0;
        r->worst_half_width = i == 0 ? 0.001 : NAN;
        put_cell(j, r);
    }
    journal_close(j);
    cJSON *tree = result();
    const cJSON *convergence = tree_member(tree_member(tree, "summary"), "convergence");
    assert_true(tree_number(convergence, "measured") == 1 && tree_number(convergence, "converged") == 1);
    assert_true(tree_number(convergence, "incomparable") == 1 && tree_number(convergence, "share") == 1);
    assert_int_equal(cJSON_GetArraySize(tree_member(convergence, "not_converged")), 0);
    cJSON_Delete(tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nothing_to_compare_is_counted_apart),
        TEST(one_cell_by_hand),
        TEST(failed_contenders_keep_their_reason),
        TEST(visits_and_passes_are_told),
        TEST(bad_visits_are_refused),
        TEST(max_is_chosen_on_the_other_half),
        TEST(max_of_a_sparse_timing_is_chosen_on_the_other_half),
        TEST(dropped_groups_are_no_half),
        TEST(max_of_a_clear_winner_is_the_winner),
        TEST(baselines_alone_compare_with_the_first_family),
        TEST(other_timings),
        TEST(equal_launch_path),
        TEST(rungs_are_not_mixed),
        TEST(slowdowns_are_left_out_and_shown),
        TEST(copies_go_to_aa),
        TEST(cells_come_in_plan_order),
        TEST(the_order_of_measuring_changes_nothing),
        TEST(summary_over_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
