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

static char directory[64], base_path[96], fresh_path[96];
static struct agreement a;

static int set_up(void **state)
{
    (void)state;
    strcpy(directory, "/tmp/cudal2-agree-XXXXXX");
    if (!mkdtemp(directory))
        return -1;
    snprintf(base_path, sizeof base_path, "%s/base.jsonl", directory);
    snprintf(fresh_path, sizeof fresh_path, "%s/fresh.jsonl", directory);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    agree_free(&a);
    unlink(base_path);
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

static int compare(bool force, struct error *err)
{
    struct agree_request request = {base_path, fresh_path, force};
    return agree_open(&request, &a, err);
}

static void differences_by_hand(void **state)
{
    static const double base[] = {1.1, 1.2, 1.3, 1.4, 0.9}, fresh[] = {1.1, 1.201, 1.304, 1.39, 0.95};
    struct error err = {0};
    (void)state;
    struct journal *j = begin(base_path, "G");
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
    assert_true(fabs(g->most - 0.05) < 3e-4);
    /* the interval of four groups at +-0.2% is about +-0.37% */
    assert_true(g->with_interval == 5 && g->inside == 3);
    assert_string_equal(a.rows[0].key, "offline/f16-f32-1024x64x64");
    assert_false(agree_is_inside(&a.rows[0]));
    assert_true(a.seconds[0] == 10 && a.seconds[1] == 10);
}

static void another_kernel_is_said(void **state)
{
    struct error err = {0};
    (void)state;
    write_run(base_path, "G", cell(64, 1.1));
    struct cell_record *r = cell(64, 1.2);
    cJSON_ReplaceItemInObject(r->contenders[1].attributes, "kernel", cJSON_CreateString("k2"));
    write_run(fresh_path, "G", r);
    assert_int_equal(compare(false, &err), 0);
    assert_true(a.rows[0].other_variant);
}

static void the_host_in_one_of_them_is_said(void **state)
{
    struct error err = {0};
    struct cell_record *r = cell(64, 1.2);
    (void)state;
    r->held = true;
    write_run(base_path, "G", cell(64, 1.1));
    write_run(fresh_path, "G", r);
    assert_int_equal(compare(false, &err), 0);
    assert_true(a.rows[0].other_start);
    assert_int_equal(a.n_other_starts, a.n_rows);
    agree_free(&a);
    unlink(base_path);
    r = cell(64, 1.1);
    r->held = true;
    write_run(base_path, "G", r);
    assert_int_equal(compare(false, &err), 0);
    assert_false(a.rows[0].other_start);
    assert_int_equal(a.n_other_starts, 0);
}

/* The paper's score is the mean of ratios, whatever the geometric mean is. */
static void a_paper_run_is_held_against_intervals(void **state)
{
    struct error err = {0};
    (void)state;
    struct journal *j = begin(base_path, "G");
    put_cell(j, cell(64, 1.1));
    journal_close(j);
    j = begin(fresh_path, "G");
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
    assert_int_equal(compare(false, &err), 0);
    assert_true(a.rows[0].fresh == 0.101 && agree_is_inside(&a.rows[0]));
    assert_true(a.seconds[1] / a.seconds[0] == 20);
    struct sheet sheet = {.n_columns = 0};
    agree_rows_sheet(&a, &sheet);
    assert_string_equal(sheet_at(&sheet, 0, 6)->text, "+10.10%");
    assert_string_equal(sheet_at(&sheet, 0, 8)->text, "inside");
    sheet_free(&sheet);
}

static void what_cannot_be_compared(void **state)
{
    struct error err = {0};
    (void)state;
    write_run(base_path, "G", cell(64, 1.1));
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

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(differences_by_hand),
        TEST(another_kernel_is_said),
        TEST(the_host_in_one_of_them_is_said),
        TEST(a_paper_run_is_held_against_intervals),
        TEST(what_cannot_be_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
