/* device/cupti and device/cuda_watch on a recorder and a driver of the test's own: which calls and records are read,
 * and how a launch is bracketed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "device/cuda_watch.h"
#include "mock_cuda.h"
#include "mock_cuda_run.h"
#include "mock_cupti.h"

static struct cupti *open_recorder(void)
{
    struct cupti *c = NULL;
    struct error err;
    memset(&cupti_mock, 0, sizeof cupti_mock);
    cupti_mock.version = 130001;
    assert_int_equal(cupti_open_with(cupti_mock_resolve, NULL, &c, &err), 0);
    assert_int_equal(cupti_mock.enabled, 1 << 10 | 1 << 1 | 1 << 2);
    return c;
}

/* ---- the library ---- */

static void expect_unavailable(const char *text)
{
    struct cupti *c = NULL;
    struct error err = {0};
    assert_int_equal(cupti_open_with(cupti_mock_resolve, NULL, &c, &err), EXIT_CODE_UNAVAILABLE);
    assert_null(c);
    assert_string_equal(err.text, text);
}

static void test_bad_libraries(void **state)
{
    (void)state;
    memset(&cupti_mock, 0, sizeof cupti_mock);
    cupti_mock.version = 130001;
    cupti_mock.withheld = "cuptiActivityGetNextRecord";
    expect_unavailable("libcupti has no cuptiActivityGetNextRecord");
    cupti_mock.withheld = NULL;
    cupti_mock.version = 18;
    expect_unavailable("CUPTI 18 is older than 19 (CUDA 12.0)");
    cupti_mock.version = 19;
    cupti_mock.refuse_enable = 7;
    expect_unavailable("cuptiActivityEnable: CUPTI_ERROR_NOT_COMPATIBLE (7)");
    cupti_mock.refuse_enable = 999;
    expect_unavailable("cuptiActivityEnable: unknown CUPTI status (999)");
}

static void test_files_that_are_none(void **state)
{
    struct cupti *c = NULL;
    struct error err = {0};
    unsigned version;
    char path[512];
    (void)state;
    setenv(CUPTI_VARIABLE, "/nowhere/libcupti.so.13", 1);
    assert_int_equal(cupti_open(&c, &err), EXIT_CODE_UNAVAILABLE);
    assert_memory_equal(err.text, "no CUPTI: /nowhere/libcupti.so.13: ", 34);
    assert_int_equal(cupti_look(&version, path, &err), EXIT_CODE_UNAVAILABLE);
    setenv(CUPTI_VARIABLE, "libm.so.6", 1); /* a library of something else */
    assert_int_equal(cupti_open(&c, &err), EXIT_CODE_UNAVAILABLE);
    assert_string_equal(err.text, "libcupti has no cuptiGetVersion");
    unsetenv(CUPTI_VARIABLE);
}

/* ---- records ---- */

static struct activity_log log_of;

static void test_records(void **state)
{
    struct cupti *c = open_recorder();
    struct error err;
    (void)state;
    record_kernel(&(struct mock_kernel){"before", OWN_STREAM, 1, 32, 10, 20, 0});
    assert_int_equal(cupti_start(c, &err), 0);
    record_kernel(&(struct mock_kernel){"second", OWN_STREAM, 8, 128, 2000, 3000, 77});
    record_kernel(&(struct mock_kernel){"first", OTHER_STREAM, 4, 64, 1000, 1500, 0});
    record_transfer(1, 4096, 4000, 78);
    record_transfer(2, 64, 5000, 0);
    memset(cupti_mock.records[cupti_mock.n++], 99, RECORD_BYTES); /* a kind that nobody asked for */
    assert_int_equal(cupti_take(c, &log_of, &err), 0);
    assert_int_equal(log_of.n, 4);
    assert_int_equal(log_of.lost, 0);
    const struct activity *a = log_of.list;
    assert_string_equal(a[0].name, "first");
    assert_true(a[0].kind == ACTIVITY_KERNEL && !a[0].in_graph && a[0].stream == OTHER_STREAM);
    assert_true(a[0].grid[0] == 4 && a[0].grid[2] == 1 && a[0].block[0] == 64 && a[0].block[1] == 1);
    assert_true(a[0].start_ns == 1000 && a[0].end_ns == 1500);
    assert_true(a[1].in_graph && a[1].stream == OWN_STREAM);
    assert_true(a[2].kind == ACTIVITY_COPY && a[2].bytes == 4096 && a[2].in_graph && a[2].end_ns == 4500);
    assert_true(a[3].kind == ACTIVITY_MEMSET && a[3].bytes == 64 && !a[3].in_graph && a[3].stream == OTHER_STREAM);
    cupti_close(c);
    assert_int_equal(cupti_mock.enabled, 0);
}

static void test_long_names_and_too_many(void **state)
{
    struct cupti *c = open_recorder();
    struct error err;
    char name[1000];
    (void)state;
    memset(name, 'k', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_int_equal(cupti_start(c, &err), 0);
    for (size_t i = 0; i < ACTIVITY_LOG_MAX + 3; i++)
        record_kernel(&(struct mock_kernel){i == 0 ? name : NULL, OWN_STREAM, 1, 32, 10 + i, 20 + i, 0});
    cupti_mock.dropped = 2;
    assert_int_equal(cupti_take(c, &log_of, &err), 0);
    assert_int_equal(log_of.n, ACTIVITY_LOG_MAX);
    assert_int_equal(log_of.lost, 5);
    assert_int_equal(strlen(log_of.list[0].name), ACTIVITY_NAME_MAX - 1);
    assert_string_equal(log_of.list[1].name, "?");
    cupti_close(c);
}

/* ---- watching ---- */

static struct watcher *watcher;
static struct cupti *recorder;
static struct watched seen;

/* What the driver of the test runs, its recorder records. */
static void on_run(const struct op *op, double start)
{
    static const char *const names[] = {"gemm", "gemm", "blocker", "null_kernel", "digest"};
    record_kernel(&(struct mock_kernel){.name = names[op->function < 5 ? op->function : 0],
                                        .stream = op->second ? OTHER_STREAM : OWN_STREAM,
                                        .grid = (int)op->grid,
                                        .block = (int)op->block,
                                        .start = 1000000 + (uint64_t)start,
                                        .end = 1000000 + (uint64_t)(start + op->ns),
                                        .node = op->in_graph});
}

enum deed { ONE_KERNEL, TWO_KERNELS, SIDE_STREAM, NOTHING, FAILS, WAITS, DISTURBS };
static enum deed deed;

static void run_kernel(cu_stream stream)
{
    const struct cu_launch_config config = {.grid = {6, 1, 1}, .block = {96, 1, 1}, .stream = stream};
    assert_int_equal(m_launch(&config, (cu_function)1, NULL, NULL), CU_OK);
}

static int launch(void *context, size_t set, char *why)
{
    (void)context;
    (void)set;
    if (deed == FAILS) {
        snprintf(why, CUDAL2_WHY, "no");
        return CUDAL2_LIBRARY_ERROR;
    }
    if (deed == WAITS)
        (void)m_context_sync();
    if (deed == DISTURBS)
        cupti_mock.dropped = 1;
    if (deed != NOTHING)
        run_kernel(deed == SIDE_STREAM ? (cu_stream)&mock.streams : (cu_stream)&mock.queue);
    if (deed == TWO_KERNELS)
        run_kernel((cu_stream)&mock.queue);
    return CUDAL2_OK;
}

static const struct device_work work = {launch, NULL, 0};

static int set_up(void **state)
{
    struct error err;
    (void)state;
    memset(&mock, 0, sizeof mock);
    recorder = open_recorder();
    if (cuda_watcher_over(recorder, &watcher, &err) != 0 || cuda_open_with(resolve, 0, &d, &err) != 0)
        return -1;
    mock.ran = on_run;
    mock.blocker_ns = 300000;
    cupti_mock.now = 9000000;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    mock.ran = NULL;
    d->ops->close(d);
    cupti_close(recorder);
    free(watcher);
    return 0;
}

static int watch_deed(enum deed which, bool hold, struct error *err)
{
    const struct watch_request request = {.work = &work, .hold = hold, .late_ns = 1000, .seed = 42};
    deed = which;
    cupti_mock.flushes = 0;
    return watcher->watch(watcher, d, &request, &seen, err);
}

static void test_launch_between_brackets(void **state)
{
    struct error err;
    (void)state;
    assert_int_equal(watch_deed(TWO_KERNELS, true, &err), 0);
    assert_true(seen.complete && seen.held);
    assert_int_equal(seen.log.n, 2); /* neither the brackets nor what held the stream */
    assert_int_equal(seen.stream, OWN_STREAM);
    assert_string_equal(seen.log.list[0].name, "gemm");
    assert_int_equal(seen.log.list[0].grid[0], 6);
    assert_true(seen.opened_ns <= seen.log.list[0].start_ns && seen.log.list[1].end_ns <= seen.closed_ns);
    assert_int_equal(seen.closed_ns - seen.opened_ns, 2000);
    assert_int_equal(mock.blockers, 2); /* one warmed the device up */
}

static void test_side_stream(void **state)
{
    struct error err;
    (void)state;
    assert_int_equal(watch_deed(SIDE_STREAM, true, &err), 0);
    assert_true(seen.complete && seen.held);
    assert_int_equal(seen.log.n, 1);
    assert_true(seen.log.list[0].start_ns + 100000 < seen.opened_ns);
    assert_int_equal(seen.log.list[0].stream, OTHER_STREAM);
}

static void test_without_holding(void **state)
{
    struct error err;
    (void)state;
    assert_int_equal(watch_deed(ONE_KERNEL, false, &err), 0);
    assert_true(seen.complete && !seen.held);
    assert_int_equal(seen.log.n, 1);
    assert_int_equal(mock.blockers, 1);
}

static void test_launch_of_nothing(void **state)
{
    struct error err;
    (void)state;
    assert_int_equal(watch_deed(NOTHING, true, &err), 0);
    assert_true(seen.complete);
    assert_int_equal(seen.log.n, 0);
}

/* A launch that waits for the stream lets the hold run out, and nothing follows from when its work began. */
static void test_launch_that_waits(void **state)
{
    struct error err;
    (void)state;
    assert_int_equal(watch_deed(WAITS, true, &err), 0);
    assert_true(seen.complete && !seen.held);
}

static void test_launch_that_fails(void **state)
{
    struct error err;
    (void)state;
    assert_int_equal(watch_deed(FAILS, true, &err), EXIT_CODE_VERIFICATION);
    assert_non_null(strstr(err.text, ": no"));
    assert_int_equal(mock.n, 0); /* all is quiet */
}

static void test_late_work(void **state)
{
    struct error err;
    (void)state;
    cupti_mock.late_start = 9500000;
    assert_int_equal(watch_deed(ONE_KERNEL, true, &err), 0);
    assert_int_equal(seen.log.n, 2);
    assert_string_equal(seen.log.list[1].name, "late");
    assert_true(seen.log.list[1].start_ns > seen.returned_ns && seen.returned_ns == 9000000);
}

static void test_lost_records(void **state)
{
    struct error err;
    (void)state;
    assert_int_equal(watch_deed(DISTURBS, true, &err), 0);
    assert_false(seen.complete);
    mock.ran = NULL; /* the recorder sees nothing any more, not even the brackets */
    cupti_mock.dropped = 0;
    assert_int_equal(watch_deed(ONE_KERNEL, true, &err), 0);
    assert_false(seen.complete);
}

static void test_a_graph(void **state)
{
    struct error err;
    struct device_segment *segment = NULL;
    const struct device_shape one = {.launches = 1, .n_sets = 1};
    (void)state;
    deed = TWO_KERNELS;
    assert_int_equal(d->ops->prepare(d, &work, &one, RUNG_GRAPH, &segment, &err), 0);
    const struct watch_request request = {.work = &work, .segment = segment, .hold = true, .seed = 7};
    cupti_mock.flushes = 0;
    assert_int_equal(watcher->watch(watcher, d, &request, &seen, &err), 0);
    assert_true(seen.complete && !seen.held);
    assert_int_equal(seen.log.n, 2);
    assert_true(seen.log.list[0].in_graph && seen.log.list[1].in_graph);
    assert_true(seen.opened_ns <= seen.log.list[0].start_ns && seen.log.list[1].end_ns <= seen.closed_ns);
    d->ops->release_segment(d, segment);
}

static void test_lost_device(void **state)
{
    struct error err;
    (void)state;
    mock.lost = true;
    assert_int_equal(watch_deed(ONE_KERNEL, true, &err), EXIT_CODE_UNAVAILABLE);
    mock.lost = false;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    char cache[] = "/tmp/cudal2-test-cupti-XXXXXX";
    const struct CMUnitTest library[] = {
        cmocka_unit_test(test_bad_libraries),
        cmocka_unit_test(test_files_that_are_none),
        cmocka_unit_test(test_records),
        cmocka_unit_test(test_long_names_and_too_many),
    };
    const struct CMUnitTest watching[] = {
        TEST(test_launch_between_brackets),
        TEST(test_side_stream),
        TEST(test_without_holding),
        TEST(test_launch_of_nothing),
        TEST(test_launch_that_waits),
        TEST(test_launch_that_fails),
        TEST(test_late_work),
        TEST(test_lost_records),
        TEST(test_a_graph),
        TEST(test_lost_device),
    };
    int failed = cmocka_run_group_tests(library, NULL, NULL);
    if (!mock_environment(cache))
        return failed ? 1 : 0;
    failed += cmocka_run_group_tests(watching, NULL, NULL);
    return mock_leave(cache, failed ? 1 : 0);
}
