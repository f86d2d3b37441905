/* compare/agree: by how much two runs differ, with every figure computed by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <unistd.h>

#include "compare/agree.h"
#include "journal_fixture.h"

#define BASES 3

static char directory[64], base_path[BASES][96], fresh_path[96];
static struct agreement a;

static int set_up(void **state)
{
    (void)state;
    strcpy(directory, "/tmp/cudal2-agree-XXXXXX");
    if (!mkdtemp(directory))
        return -1;
    for (int i = 0; i < BASES; i++)
        snprintf(base_path[i], sizeof base_path[i], "%s/base-%d.jsonl", directory, i + 1);
    snprintf(fresh_path, sizeof fresh_path, "%s/fresh.jsonl", directory);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    agree_free(&a);
    for (int i = 0; i < BASES; i++)
        unlink(base_path[i]);
    unlink(fresh_path);
    return rmdir(directory);
}

static struct journal *begin(const char *path, const char *device)
{
    struct journal *j = new_journal(path);
    char env[128];
    put_text(j, "run", "{\"plan\":[]}");
    snprintf(env, sizeof env, "{\"device\":{\"name\":\"%s\",\"driver\":\"1\"}}", device);
    put_text(j, "env", env);
    return j;
}

/* torch takes 1000 ns and the candidate 1000 / ratio, but for a scatter of +-0.2% that alternates by group. */
static struct cell_record *cell(int64_t m, double ratio)
{
    struct cell_record *r = fixture_record(m, MODE_OFFLINE);
    fixture_contender(r, "torch.matmul", false);
    fixture_contender(r, "mine", true)->attributes = cJSON_Parse("{\"kernel\":\"k1\"}");
    r->phase_seconds[PHASE_MEASURE] = 2;
    for (int b = 0; b < 8; b++) {
        unsigned block = fixture_block(r, 2);
        series_add(&r->contenders[0].timings[TIMING_DEVICE], block, 100000);
        double scatter = (b / 2) % 2 ? 1.002 : 1 / 1.002;
        series_add(&r->contenders[1].timings[TIMING_DEVICE], block, 100000 / (ratio * scatter));
    }
    return r;
}

/* A run of this one cell, which is taken over. */
static void write_run(const char *path, const char *device, struct cell_record *r)
{
    struct journal *j = begin(path, device);
    put_cell(j, r);
    journal_close(j);
}

static int compare_several(size_t n, bool force, struct error *err)
{
    const char *const bases[BASES] = {base_path[0], base_path[1], base_path[2]};
    struct agree_request request = {bases, n, fresh_path, force};
    agree_free(&a);
    return agree_open(&request, &a, err);
}

static int compare(bool force, struct error *err)
{
    return compare_several(1, force, err);
}

static void differences_by_hand(void **state)
{
    static const double base[] = {1.1, 1.2, 1.3, 1.4, 0.9}, fresh[] = {1.1, 1.201, 1.304, 1.39, 0.95};
    struct error err = {0};
    (void)state;
    struct journal *j = begin(base_path[0], "G");
    for (int i = 0; i < 5; i++)
        put_cell(j, cell(64 << i, base[i]));
    put_cell(j, cell(8192, 2)); /* BASE alone has it */
    journal_close(j);
    j = begin(fresh_path, "G");
    for (int i = 4; i >= 0; i--) /* in another order */
        put_cell(j, cell(64 << i, fresh[i]));
    journal_close(j);
    assert_int_equal(compare(false, &err), 0);
    assert_int_equal(a.n_cells, 5);
    assert_int_equal(a.n_rows, 5);
    assert_int_equal(a.n_groups, 1);
    const struct agree_group *g = &a.groups[0];
    assert_true(g->mode == MODE_OFFLINE && g->timing == TIMING_DEVICE && g->n == 5);
    /* a journal keeps times to 0.01% */
    assert_true(fabs(g->median - 0.004) < 3e-4);
    assert_true(fabs(g->p90 - (0.01 + 0.6 * 0.04)) < 3e-4); /* between the fourth and the fifth of five */
    assert_true(fabs(g->p95 - (0.01 + 0.8 * 0.04)) < 3e-4);
    assert_true(fabs(g->most - 0.05) < 3e-4);
    /* the interval of four groups at +-0.2% is about +-0.37% */
    assert_true(g->with_interval == 5 && g->inside == 3);
    assert_string_equal(a.rows[0].key, "offline/f16-f32-1024x64x64");
    assert_false(agree_is_inside(&a.rows[0]));
    assert_true(a.seconds[0] == 10 && a.seconds[1] == 10);
}

/* 0.1, 0.4, 1, 5 and 0 points: the 95th percentile lies four fifths of the way from the fourth to the fifth. A second
 * timing of the mode is not told. */
static void another_run_in_words(void **state)
{
    char words[160], room[24];
    (void)state;
    const struct agreement said = {.groups = {{.mode = MODE_OFFLINE, .timing = TIMING_DEVICE, .n = 5, .p95 = 0.042},
                                              {.mode = MODE_OFFLINE, .timing = TIMING_WALL, .n = 5, .p95 = 1},
                                              {.mode = MODE_CHAIN, .timing = TIMING_EVENT, .n = 2, .p95 = 0.5}},
                                   .n_groups = 3};
    agree_between(&said, words, sizeof words);
    assert_string_equal(words, "between runs 95% of speedups differ by up to 4.20 points (offline, device time, 5 of "
                               "them), 50.00 points (chain, event time, 2 of them)");
    agree_between(&said, room, sizeof room);
    assert_int_equal(strlen(room), sizeof room - 1);
}

static void another_kernel_is_said(void **state)
{
    struct error err = {0};
    (void)state;
    write_run(base_path[0], "G", cell(64, 1.1));
    struct cell_record *r = cell(64, 1.2);
    cJSON_ReplaceItemInObject(r->contenders[1].attributes, "kernel", cJSON_CreateString("k2"));
    write_run(fresh_path, "G", r);
    assert_int_equal(compare(false, &err), 0);
    assert_true(a.rows[0].other_variant);
}

static void where_a_cubin_came_from_is_no_other_kernel(void **state)
{
    static const char *const from[] = {"compiled", "ahead"};
    struct error err = {0};
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct cell_record *r = cell(64, 1.1);
        cJSON_AddStringToObject(r->contenders[1].attributes, "cubin", from[i]);
        write_run(i == 0 ? base_path[0] : fresh_path, "G", r);
    }
    assert_int_equal(compare(false, &err), 0);
    assert_false(a.rows[0].other_variant);
}

/* A result.json with one cell, in which a family's NN layout runs such a tile. */
static void write_result(const char *path, int tile)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(
        file,
        "{\"schema\":\"cudal2-bench/result\",\"schema_version\":1,\"run\":{},\"env\":[{\"device\":{\"name\":\"G\","
        "\"driver\":\"1\"}}],\"summary\":{},\"cells\":[{\"key\":\"offline/"
        "f16-f16-64x64x64\",\"m\":64,\"n\":64,\"k\":64,"
        "\"accumulate\":\"f16\",\"mode\":\"offline\",\"status\":\"ok\",\"contenders\":{\"a-nn\":{\"attributes\":{}},"
        "\"b-nn\":{\"attributes\":{\"tile\":%d}},\"b-tn\":{\"attributes\":{\"tile\":3}}},\"speedups\":[{\"timing\":"
        "\"event\",\"candidate\":\"a-max\",\"reference\":\"b-max\",\"geomean\":0.1,\"ci95\":[0,0.2]}]}]}",
        tile);
    fclose(file);
}

/* A -max stands for its layouts. */
static void another_kernel_behind_a_max_is_said(void **state)
{
    char ours[96], theirs[96];
    const char *const bases[] = {ours};
    const struct agree_request request = {bases, 1, theirs, false};
    struct error err = {0};
    (void)state;
    snprintf(ours, sizeof ours, "%s/base.json", directory);
    snprintf(theirs, sizeof theirs, "%s/fresh.json", directory);
    for (int other = 0; other < 2; other++) {
        write_result(ours, 1);
        write_result(theirs, 1 + other);
        agree_free(&a);
        if (agree_open(&request, &a, &err) != 0)
            fail_msg("%s", err.text);
        assert_int_equal(a.n_rows, 1);
        assert_int_equal(a.rows[0].other_variant, other);
    }
    unlink(ours);
    unlink(theirs);
}

static void the_host_in_one_of_them_is_said(void **state)
{
    struct error err = {0};
    struct cell_record *r = cell(64, 1.2);
    (void)state;
    r->held = true;
    write_run(base_path[0], "G", cell(64, 1.1));
    write_run(fresh_path, "G", r);
    assert_int_equal(compare(false, &err), 0);
    assert_true(a.rows[0].other_start);
    assert_int_equal(a.n_other_starts, a.n_rows);
    agree_free(&a);
    unlink(base_path[0]);
    r = cell(64, 1.1);
    r->held = true;
    write_run(base_path[0], "G", r);
    assert_int_equal(compare(false, &err), 0);
    assert_false(a.rows[0].other_start);
    assert_int_equal(a.n_other_starts, 0);
}

/* The paper's score is the mean of ratios, whatever the geometric mean is. */
/* A mean of ratios of 1.101 +- 0.001, from 40 s. */
static void write_paper_run(const char *path)
{
    struct journal *j = begin(path, "G");
    struct cell_record *r = fixture_record(64, MODE_OFFLINE);
    fixture_contender(r, "torch.matmul", false);
    fixture_contender(r, "mine", true);
    r->phase_seconds[PHASE_MEASURE] = 40;
    r->paper_pairs =
        cJSON_Parse("[{\"candidate\":\"mine\",\"reference\":\"torch.matmul\",\"iterations\":9,\"batches\":20,"
                    "\"mean_of_ratios\":0.101,\"ci95\":[0.1,0.102],\"geomean\":0.2,\"candidate_mean_ns\":1,"
                    "\"reference_mean_ns\":1}]");
    assert_non_null(r->paper_pairs);
    put_cell(j, r);
    journal_close(j);
}

static void a_paper_run_is_no_base_among_several(void **state)
{
    struct error err = {0};
    (void)state;
    write_run(base_path[0], "G", cell(64, 1.1));
    write_paper_run(base_path[1]);
    write_run(fresh_path, "G", cell(64, 1.1));
    assert_int_equal(compare_several(2, false, &err), EXIT_CODE_INCOMPARABLE);
    assert_non_null(strstr(err.text, "base-2.jsonl is by the paper's protocol"));
}

static void a_paper_run_is_held_against_intervals(void **state)
{
    struct error err = {0};
    (void)state;
    write_run(base_path[0], "G", cell(64, 1.1));
    write_paper_run(fresh_path);
    assert_int_equal(compare(false, &err), 0);
    assert_true(a.rows[0].fresh == 0.101 && agree_is_inside(&a.rows[0]));
    assert_true(a.seconds[1] / a.seconds[0] == 20);
    struct table table = {.n_columns = 0};
    agree_rows_table(&a, &table);
    assert_string_equal(table_at(&table, 0, 6)->text, "+10.10%");
    assert_string_equal(table_at(&table, 0, 8)->text, "inside");
    table_free(&table);
}

static void what_cannot_be_compared(void **state)
{
    struct error err = {0};
    (void)state;
    write_run(base_path[0], "G", cell(64, 1.1));
    write_run(fresh_path, "H", cell(64, 1.1));
    assert_int_equal(compare(false, &err), EXIT_CODE_INCOMPARABLE);
    assert_non_null(strstr(err.text, "the device's name is \"G\" in BASE and \"H\" in NEW"));
    assert_int_equal(compare(true, &err), 0);
    agree_free(&a);
    unlink(fresh_path);
    write_run(fresh_path, "G", cell(128, 1.1));
    assert_int_equal(compare(false, &err), EXIT_CODE_INCOMPARABLE);
    assert_non_null(strstr(err.text, "no pair of contenders in common"));
    unlink(fresh_path);
    assert_int_equal(compare(false, &err), EXIT_CODE_DATA);
}

typedef void make_table(const struct agreement *, struct table *);

static const char *text_at(make_table *make, size_t row, size_t column)
{
    static char text[64];
    struct table table = {.n_columns = 0};
    make(&a, &table);
    snprintf(text, sizeof text, "%s", table_at(&table, row, column)->text);
    table_free(&table);
    return text;
}

/* Base ratios 1, 1.08 and 1.6: their geometric mean is 1.2, their median 1.08, their arithmetic mean 1.227. The logs of
 * ratio / 1.2 are -0.182322, -0.105361 and 0.287682, so s = 0.252094, and with t95(2) = 4.302653 the reach is
 * 4.302653 * 0.252094 * sqrt(4/3) = 1.252473: from 1.2 / 3.498987 to 1.2 * 3.498987. */
static void several_runs_predict_one_more(void **state)
{
    static const double wide[] = {1, 1.08, 1.6}, narrow[] = {1.1, 1.101, 1.102};
    struct error err = {0};
    (void)state;
    for (int i = 0; i < BASES; i++) {
        struct journal *j = begin(base_path[i], "G");
        put_cell(j, cell(64, wide[i]));
        put_cell(j, cell(128, narrow[i]));
        journal_close(j);
    }
    struct journal *j = begin(fresh_path, "G");
    put_cell(j, cell(128, 1.2));
    put_cell(j, cell(64, 4));
    journal_close(j);
    assert_int_equal(compare_several(BASES, false, &err), 0);
    assert_true(a.n_bases == BASES && a.n_rows == 2 && a.n_cells == 2);
    assert_string_equal(a.rows[0].key, "offline/f16-f32-64x64x64");
    assert_true(fabs(a.rows[0].base - 0.2) < 3e-4 && fabs(a.rows[0].fresh - 3) < 1e-3);
    assert_true(fabs(a.rows[0].low - (1.2 / 3.498987 - 1)) < 5e-4);
    assert_true(fabs(a.rows[0].high - (1.2 * 3.498987 - 1)) < 5e-3);
    assert_true(agree_is_inside(&a.rows[0]) && !agree_is_inside(&a.rows[1]));
    assert_true(a.groups[0].n == 2 && a.groups[0].with_interval == 2 && a.groups[0].inside == 1);
    assert_true(fabs(a.groups[0].most - 2.8) < 2e-3);
    assert_true(a.seconds[0] == 12 && a.seconds[1] == 4);
    assert_string_equal(text_at(agree_rows_table, 0, 4), "+20.00%");
    assert_string_equal(text_at(agree_rows_table, 1, 8), "outside");
    assert_string_equal(text_at(agree_groups_table, 0, 6), "1/2");
}

/* NEW is outside the first one's, and where one more run may lie. */
static void one_of_the_runs_alone_has_its_own_interval(void **state)
{
    static const double ratio[] = {1.1, 1.12, 1.11};
    struct error err = {0};
    (void)state;
    for (int i = 0; i < BASES; i++)
        write_run(base_path[i], "G", cell(64, ratio[i]));
    write_run(fresh_path, "G", cell(64, 1.13));
    assert_int_equal(compare(false, &err), 0);
    assert_false(agree_is_inside(&a.rows[0]));
    assert_int_equal(compare_several(BASES, false, &err), 0);
    assert_true(agree_is_inside(&a.rows[0]));
}

static struct cell_record *cell_with_two(int64_t m)
{
    struct cell_record *r = cell(m, 1.1);
    fixture_contender(r, "other", true);
    for (unsigned b = 0; b < r->blocks; b++)
        series_add(&r->contenders[2].timings[TIMING_DEVICE], b, 80000);
    return r;
}

/* `poor` (BASES: NEW) lacks the second candidate in the first cell, and the second cell. */
static void write_all_but(int poor)
{
    for (int i = 0; i <= BASES; i++) {
        const char *path = i < BASES ? base_path[i] : fresh_path;
        unlink(path);
        struct journal *j = begin(path, "G");
        put_cell(j, i == poor ? cell(64, 1.1) : cell_with_two(64));
        if (i != poor)
            put_cell(j, cell(128, 1.1));
        journal_close(j);
    }
}

static void a_pair_that_one_run_lacks_is_left_out(void **state)
{
    struct error err = {0};
    (void)state;
    write_all_but(-1);
    assert_int_equal(compare_several(BASES, false, &err), 0);
    assert_true(a.n_rows == 3 && a.n_cells == 2 && a.seconds[0] == 12);
    for (int poor = 0; poor <= BASES; poor++) {
        write_all_but(poor);
        assert_int_equal(compare_several(BASES, false, &err), 0);
        assert_true(a.n_rows == 1 && a.n_cells == 1);
        assert_string_equal(a.rows[0].candidate, "mine");
        assert_true(a.seconds[0] == 6 && a.seconds[1] == 2);
    }
}

/* The k-th of the runs (none: -1) has another kernel, and started otherwise. */
static void write_all_with_another(int k)
{
    for (int i = 0; i <= BASES; i++) {
        const char *path = i < BASES ? base_path[i] : fresh_path;
        struct cell_record *r = cell(64, 1.1);
        if (i == k)
            cJSON_ReplaceItemInObject(r->contenders[1].attributes, "kernel", cJSON_CreateString("k2"));
        r->held = i == k;
        unlink(path);
        write_run(path, "G", r);
    }
}

static void another_kernel_in_one_run_is_said(void **state)
{
    struct error err = {0};
    (void)state;
    for (int k = -1; k < BASES; k++) {
        write_all_with_another(k);
        assert_int_equal(compare_several(BASES, false, &err), 0);
        assert_true(a.rows[0].other_variant == (k >= 0) && a.rows[0].other_start == (k >= 0));
        assert_int_equal(a.n_other_starts, k >= 0 ? 1 : 0);
    }
    assert_non_null(strstr(text_at(agree_rows_table, 0, 8), ", another variant, held in some"));
}

static void another_device_in_one_run_is_refused(void **state)
{
    struct error err = {0};
    (void)state;
    for (int other = 0; other < BASES; other++) {
        for (int i = 0; i < BASES; i++) {
            unlink(base_path[i]);
            write_run(base_path[i], i == other ? "H" : "G", cell(64, 1.1));
        }
        unlink(fresh_path);
        write_run(fresh_path, "G", cell(64, 1.1));
        assert_int_equal(compare_several(BASES, false, &err), EXIT_CODE_INCOMPARABLE);
        assert_non_null(strstr(err.text, "the device's name is \"H\" in "));
        assert_non_null(strstr(err.text, base_path[other]));
        assert_int_equal(compare_several(BASES, true, &err), 0);
    }
}

static void write_seed(const char *path, const char *seed)
{
    char run[64];
    struct journal *j = new_journal(path);
    snprintf(run, sizeof run, "{\"plan\":[],\"seed\":\"%s\"}", seed);
    put_text(j, "run", run);
    put_text(j, "env", "{\"device\":{\"name\":\"G\",\"driver\":\"1\"}}");
    put_cell(j, cell(64, 1.1));
    journal_close(j);
}

static void one_run_twice_is_refused(void **state)
{
    static const char *const seeds[] = {"7", "8", "7"};
    struct error err = {0};
    (void)state;
    for (int i = 0; i < BASES; i++)
        write_seed(base_path[i], seeds[i]);
    write_seed(fresh_path, "8"); /* one of several it must not be, but a run may be held against itself */
    assert_int_equal(compare_several(2, false, &err), EXIT_CODE_INCOMPARABLE);
    assert_non_null(strstr(err.text, "fresh.jsonl have the same seed"));
    unlink(fresh_path);
    write_seed(fresh_path, "7");
    assert_int_equal(compare_several(1, false, &err), 0);
    agree_free(&a);
    unlink(fresh_path);
    write_seed(fresh_path, "9");
    assert_int_equal(compare_several(2, false, &err), 0);
    assert_int_equal(compare_several(BASES, false, &err), EXIT_CODE_INCOMPARABLE);
    assert_non_null(strstr(err.text, "base-1.jsonl and "));
    assert_non_null(strstr(err.text, "base-3.jsonl have the same seed"));
    assert_int_equal(compare_several(BASES, true, &err), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(differences_by_hand),
        cmocka_unit_test(another_run_in_words),
        TEST(another_kernel_is_said),
        TEST(where_a_cubin_came_from_is_no_other_kernel),
        TEST(another_kernel_behind_a_max_is_said),
        TEST(the_host_in_one_of_them_is_said),
        TEST(a_paper_run_is_held_against_intervals),
        TEST(a_paper_run_is_no_base_among_several),
        TEST(what_cannot_be_compared),
        TEST(several_runs_predict_one_more),
        TEST(one_of_the_runs_alone_has_its_own_interval),
        TEST(a_pair_that_one_run_lacks_is_left_out),
        TEST(another_kernel_in_one_run_is_said),
        TEST(another_device_in_one_run_is_refused),
        TEST(one_run_twice_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
