/* report/load: several results as one, and when that is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/text.h"
#include "report/load.h"
#include "result_fixture.h"

static char first_path[96], second_path[96];

static int set_up_paths(void **state)
{
    if (set_up(state))
        return -1;
    snprintf(first_path, sizeof first_path, "%s/a.json", directory);
    snprintf(second_path, sizeof second_path, "%s/b.json", directory);
    return 0;
}

static int tear_down_paths(void **state)
{
    unlink(first_path);
    unlink(second_path);
    return tear_down(state);
}

struct run {
    const char *device, *driver;
    int64_t m;
    enum mode mode;
    double ns; /* of the reference; the candidate's is 1000 */
};

/* A result file with one cell that was timed by device and events; events add 1000 ns to both. */
static void write_result(const char *path, const struct run *run)
{
    char env[200];
    struct journal *j = new_journal(journal_path);
    struct error err = {0};
    snprintf(env, sizeof env, "{\"device\":{\"name\":\"%s\",\"driver\":\"%s\"}}", run->device, run->driver);
    put_text(j, "run", "{\"plan\":[]}");
    put_text(j, "env", env);
    struct cell_record *r = fixture_record(run->m, run->mode);
    fixture_contender(r, "torch.matmul", false);
    fixture_contender(r, "cudal2-nn", true);
    for (int b = 0; b < 8; b++) {
        unsigned block = fixture_block(r, 4);
        for (size_t i = 0; i < 2; i++) {
            double ns = i == 0 ? run->ns : 1000;
            series_add(&r->contenders[i].timings[TIMING_DEVICE], block, ns);
            series_add(&r->contenders[i].timings[TIMING_EVENT], block, ns + 1000);
        }
    }
    put_cell(j, r);
    journal_close(j);
    assert_int_equal(result_write(journal_path, path, &err), 0);
    unlink(journal_path);
}

static int load(bool mixed, struct result **out, struct error *err)
{
    const char *const paths[] = {first_path, second_path};
    const struct load_request request = {paths, 2, mixed, NULL, false};
    return load_results(&request, out, err);
}

/* The mean of this row of the summary; NaN when it is not there. */
static double mean_of(const struct result *all, const char *mode, enum timing timing)
{
    for (size_t i = 0; i < all->summary.n_speedups; i++) {
        const struct result_speedup_row *row = &all->summary.speedups[i];
        if (strcmp(row->group.mode, mode) == 0 && row->timing == timing && strcmp(row->candidate, "cudal2-max") == 0)
            return row->mean;
    }
    return NAN;
}

static void close_to(double value, double wanted)
{
    if (!(fabs(value - wanted) < 1e-4))
        fail_msg("%g instead of %g", value, wanted);
}

/* A result file has no event speedups by cell; the summary of both modes has them all the same. */
static void modes_keep_all_their_timings(void **state)
{
    static const struct run offline = {"G", "1", 64, MODE_OFFLINE, 1200};
    static const struct run server = {"G", "1", 64, MODE_SERVER, 1500};
    struct error err = {0};
    struct result *all = NULL;
    (void)state;
    write_result(first_path, &offline);
    write_result(second_path, &server);
    assert_int_equal(load(false, &all, &err), 0);
    close_to(mean_of(all, "offline", TIMING_DEVICE), 0.2);
    close_to(mean_of(all, "server", TIMING_DEVICE), 0.5);
    close_to(mean_of(all, "offline", TIMING_EVENT), 0.1);
    close_to(mean_of(all, "server", TIMING_EVENT), 0.25);
    assert_int_equal(all->n_runs, 2);
    assert_int_equal(all->n_env, 2);
    assert_int_equal(all->cells[1].env, 1);
    assert_true(all->summary.counts.cells == 2);
    result_free(all);
}

static void shards_are_averaged_anew(void **state)
{
    static const struct run first = {"G", "1", 64, MODE_OFFLINE, 1200};
    static const struct run second = {"G", "1", 128, MODE_OFFLINE, 1600};
    struct error err = {0};
    struct result *all = NULL;
    (void)state;
    write_result(first_path, &first);
    write_result(second_path, &second);
    assert_int_equal(load(false, &all, &err), 0);
    close_to(mean_of(all, "offline", TIMING_DEVICE), 0.4);
    assert_true(isnan(mean_of(all, "offline", TIMING_EVENT))); /* half of it would be wrong */
    result_free(all);
}

static void other_machines_need_mixed(void **state)
{
    static const struct run first = {"G", "1", 64, MODE_OFFLINE, 1200};
    static const struct run others[] = {{"G", "2", 128, MODE_OFFLINE, 1600}, {"H", "1", 128, MODE_OFFLINE, 1600}};
    (void)state;
    write_result(first_path, &first);
    for (int i = 0; i < 2; i++) {
        struct error err = {0};
        struct result *all = NULL;
        write_result(second_path, &others[i]);
        assert_int_equal(load(false, &all, &err), EXIT_CODE_DATA);
        assert_null(all);
        assert_non_null(strstr(err.text, second_path));
        assert_non_null(strstr(err.text, i == 0 ? "driver \"2\"" : "name \"H\""));
        assert_non_null(strstr(err.text, "--mixed"));
        assert_int_equal(load(true, &all, &err), 0);
        assert_int_equal(all->n_cells, 2);
        result_free(all);
    }
}

static void write_by_hand(const char *path, const char *key)
{
    struct error err = {0};
    struct text json = {0};
    text_add(&json,
             "{\"schema\":\"cudal2-bench/result\",\"schema_version\":1,\"summary\":{},"
             "\"cells\":[{\"key\":\"%s\",\"m\":64,\"n\":64,\"k\":64,\"status\":\"ok\"}]}",
             key);
    assert_int_equal(file_write_atomic(path, json.bytes, json.length, &err), 0);
    text_free(&json);
}

/* Then a sum is not known, and that is no reason to refuse what there is. */
static void cells_by_hand_may_lack_what_is_summed(void **state)
{
    struct error err = {0};
    struct result *all = NULL;
    (void)state;
    write_by_hand(first_path, "a");
    write_by_hand(second_path, "b");
    assert_int_equal(load(false, &all, &err), 0);
    assert_true(all->summary.counts.ok == 2 && isnan(all->summary.counts.dropped_blocks));
    assert_string_equal(load_file_of(all, &all->cells[1]), second_path);
    result_free(all);
}

static void a_cell_twice_is_refused_even_mixed(void **state)
{
    static const struct run first = {"G", "1", 64, MODE_OFFLINE, 1200};
    struct error err = {0};
    struct result *all = NULL;
    (void)state;
    write_result(first_path, &first);
    write_result(second_path, &first);
    assert_int_equal(load(true, &all, &err), EXIT_CODE_DATA);
    assert_non_null(strstr(err.text, "cell offline/f16-f32-64x64x64 is in"));
}

#define LOAD_TEST(f) cmocka_unit_test_setup_teardown(f, set_up_paths, tear_down_paths)

int main(void)
{
    const struct CMUnitTest tests[] = {LOAD_TEST(modes_keep_all_their_timings), LOAD_TEST(shards_are_averaged_anew),
                                       LOAD_TEST(other_machines_need_mixed),
                                       LOAD_TEST(cells_by_hand_may_lack_what_is_summed),
                                       LOAD_TEST(a_cell_twice_is_refused_even_mixed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
