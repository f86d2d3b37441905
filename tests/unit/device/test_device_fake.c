/* The fake device keeps its script to the nanosecond; and CUDA_VISIBLE_DEVICES is read as the driver reads it. */
#include "device/fake.h"
#include "device/visible.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

/* Durations by id; idle time adds a tenth of itself. */
struct table {
    double ns[4];
    unsigned calls, timed;
    double last_idle;
    enum timing last_timing;
};

static double from_table(void *context, const struct fake_moment *m)
{
    struct table *t = context;
    t->calls++;
    t->timed += m->timed;
    t->last_idle = m->idle_ns;
    t->last_timing = m->timing;
    double ns = m->id == FAKE_NULL ? 700 : m->id == FAKE_UNKNOWN ? 900 : t->ns[m->id];
    return ns + m->idle_ns / 10;
}

static struct device *d;
static struct table table;

/* A contender of the test: `pieces` kernels of id `id` a launch. */
struct work {
    uint32_t id;
    unsigned pieces, launches;
    size_t last_set;
    int status;
};

static int launch(void *context, size_t set, char *why)
{
    struct work *w = context;
    w->launches++;
    w->last_set = set;
    strcpy(why, "told to");
    for (unsigned i = 0; i < w->pieces; i++)
        fake_enqueue(d, w->id);
    return w->status;
}

static int open_fake(void **state)
{
    (void)state;
    struct error err;
    struct fake_script script = {.duration_ns = from_table, .context = &table, .launch_ns = 2000, .sync_ns = 3000};
    table = (struct table){.ns = {1000, 2000, 3000, 4000}};
    return fake_open(&script, &d, &err);
}

static int close_fake(void **state)
{
    (void)state;
    d->ops->close(d);
    return 0;
}

static void graph_times_launches_without_host_cost(void **state)
{
    (void)state;
    struct work w = {.id = 1, .pieces = 2};
    struct device_work work = {launch, &w, 0};
    struct device_shape shape = {.launches = 8, .primers = 1, .first_set = 1, .n_sets = 3};
    struct device_segment *s;
    struct error err;
    double ns;
    assert_int_equal(d->ops->prepare(d, &work, &shape, RUNG_GRAPH, &s, &err), 0);
    assert_int_equal(d->ops->rung(s), RUNG_GRAPH);
    assert_string_equal(d->ops->rung_reason(s), "");
    assert_int_equal(w.launches, 9);
    assert_int_equal(table.timed, 0);
    assert_int_equal(d->ops->measure(d, s, &ns, &err), 0);
    assert_true(ns == 4000);
    assert_int_equal(w.launches, 18);
    assert_int_equal(table.timed, 16);
    assert_int_equal(w.last_set, (1 + 8) % 3);
    assert_int_equal(table.last_timing, TIMING_DEVICE);
    assert_int_equal(fake_counts(d).live_segments, 1);
    d->ops->release_segment(d, s);
    assert_int_equal(fake_counts(d).live_segments, 0);
}

static void rungs_follow_flags(void **state)
{
    (void)state;
    struct work w = {.id = 0, .pieces = 1};
    struct device_work syncs = {launch, &w, CUDAL2_SYNCS}, no_capture = {launch, &w, CUDAL2_NO_CAPTURE};
    struct device_shape shape = {.launches = 2, .n_sets = 1};
    struct device_segment *s;
    struct error err;
    double ns;
    assert_int_equal(d->ops->prepare(d, &no_capture, &shape, RUNG_GRAPH, &s, &err), 0);
    assert_int_equal(d->ops->rung(s), RUNG_BLOCKED);
    assert_true(strlen(d->ops->rung_reason(s)) > 0);
    d->ops->release_segment(d, s);
    assert_int_equal(d->ops->prepare(d, &syncs, &shape, RUNG_GRAPH, &s, &err), 0);
    assert_int_equal(d->ops->rung(s), RUNG_EVENTS);
    assert_int_equal(d->ops->measure(d, s, &ns, &err), 0);
    assert_true(ns > 1000); /* raw events contain the host's cost */
    d->ops->release_segment(d, s);
    assert_int_equal(d->ops->prepare(d, NULL, &shape, RUNG_BLOCKED, &s, &err), 0);
    assert_int_equal(d->ops->rung(s), RUNG_BLOCKED);
    assert_int_equal(d->ops->measure(d, s, &ns, &err), 0);
    assert_true(ns == 700);
    d->ops->release_segment(d, s);
}

static void event_and_wall_contain_the_host(void **state)
{
    (void)state;
    struct work w = {.id = 2, .pieces = 1}, quiet = {.pieces = 0};
    struct device_work work = {launch, &w, 0}, silent = {launch, &quiet, 0};
    struct error err;
    double ns;
    uint64_t start = d->ops->now(d);
    /* The device idles while the host launches: 2000 ns of idle cost 200 more. */
    assert_int_equal(d->ops->time_event(d, &work, 5, &ns, &err), 0);
    assert_true(ns == 2000 + 3000 + 200);
    assert_int_equal(w.last_set, 5);
    assert_int_equal(d->ops->now(d) - start, 5200);
    assert_int_equal(d->ops->time_wall(d, &work, 0, &ns, &err), 0);
    assert_true(ns == 2000 + 3000 + 200 + 3000);
    assert_int_equal(table.last_timing, TIMING_WALL);
    assert_int_equal(d->ops->time_wall(d, &silent, 0, &ns, &err), 0);
    assert_true(ns > 900 + 5000);
}

static void idle_gaps_are_seen(void **state)
{
    (void)state;
    struct work w = {.id = 0, .pieces = 1};
    struct device_work work = {launch, &w, 0};
    struct device_shape shape = {.launches = 1, .n_sets = 1};
    struct device_segment *s;
    struct error err;
    double ns;
    assert_int_equal(d->ops->prepare(d, &work, &shape, RUNG_GRAPH, &s, &err), 0);
    uint64_t before = d->ops->now(d);
    assert_int_equal(d->ops->wait_until(d, before + 50000), before + 50000);
    assert_int_equal(d->ops->wait_until(d, before), before + 50000); /* the past is no wait */
    assert_int_equal(d->ops->measure(d, s, &ns, &err), 0);
    assert_true(table.last_idle == 50000);
    assert_true(ns == 1000 + 5000);
    assert_int_equal(d->ops->measure(d, s, &ns, &err), 0);
    assert_true(ns == 1000);
    d->ops->release_segment(d, s);
}

static void faults_have_owners(void **state)
{
    (void)state;
    struct work w = {.id = 0, .pieces = 1, .status = CUDAL2_LIBRARY_ERROR};
    struct device_work work = {launch, &w, 0};
    struct device_shape shape = {.launches = 1, .n_sets = 1};
    struct device_segment *s;
    struct error err;
    double ns;
    assert_int_equal(d->ops->prepare(d, &work, &shape, RUNG_GRAPH, &s, &err), EXIT_CODE_VERIFICATION);
    assert_non_null(strstr(err.text, "told to"));
    assert_null(s);
    assert_int_equal(fake_counts(d).live_segments, 0);
    assert_int_equal(d->ops->time_event(d, &work, 0, &ns, &err), EXIT_CODE_VERIFICATION);
    assert_int_equal(d->ops->settle(d, &err), 0);
    fake_break(d, "CUDA_ERROR_ILLEGAL_ADDRESS");
    assert_int_equal(d->ops->settle(d, &err), EXIT_CODE_UNAVAILABLE);
    assert_non_null(strstr(err.text, "ILLEGAL_ADDRESS"));
    assert_int_equal(d->ops->time_wall(d, &work, 0, &ns, &err), EXIT_CODE_UNAVAILABLE);
}

static void memory_is_counted_and_limited(void **state)
{
    (void)state;
    struct error err;
    void *a, *b;
    uint64_t before, after;
    assert_int_equal(d->ops->memory_free(d, &before, &err), 0);
    assert_int_equal(d->ops->alloc(d, 1000, &a, &err), 0);
    assert_int_equal((uintptr_t)a % 256, 0);
    assert_int_equal(fake_bytes_in_use(d), 1000);
    assert_int_equal(d->ops->memory_free(d, &after, &err), 0);
    assert_int_equal(before - after, 1000);
    assert_int_not_equal(d->ops->alloc(d, after + 1, &b, &err), 0);
    assert_null(b);
    d->ops->release(d, a);
    d->ops->release(d, NULL);
    assert_int_equal(fake_bytes_in_use(d), 0);
}

static void timings_can_be_withheld(void **state)
{
    (void)state;
    struct fake_script script = {.timings = CUDAL2_BIT(TIMING_WALL)};
    struct device *other;
    struct work w = {.pieces = 0};
    struct device_work work = {launch, &w, 0};
    struct device_shape shape = {.launches = 1, .n_sets = 1};
    struct device_segment *s;
    struct error err;
    double ns;
    assert_int_equal(fake_open(&script, &other, &err), 0);
    assert_int_equal(other->ops->prepare(other, &work, &shape, RUNG_GRAPH, &s, &err), EXIT_CODE_UNAVAILABLE);
    assert_int_equal(other->ops->time_event(other, &work, 0, &ns, &err), EXIT_CODE_UNAVAILABLE);
    assert_int_equal(other->ops->time_wall(other, &work, 0, &ns, &err), 0);
    assert_true(ns == 1000);
    other->ops->close(other);
}

static void visible_devices_as_the_driver(void **state)
{
    (void)state;
    static const char uuids[4][64] = {"GPU-aaaa", "GPU-aabb", "GPU-cccc", "GPU-dddd"};
    static const struct {
        const char *value;
        int n, order[4];
    } cases[] = {
        {NULL, 4, {0, 1, 2, 3}},  {"", 0, {0}},    {"2", 1, {2}},          {"3,0", 2, {3, 0}}, {" 3 , 0 ", 2, {3, 0}},
        {"1,9,0", 1, {1}},        {"-1", 0, {0}},  {"0,-1,1", 1, {0}},     {"GPU-c", 1, {2}},  {"GPU-aa", 0, {0}},
        {"GPU-aab,0", 2, {1, 0}}, {"0,0", 0, {0}}, {"1,GPU-d", 2, {1, 3}}, {"1x", 0, {0}},     {"NoDevFiles", 0, {0}},
        {"GPU-e,0", 0, {0}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int order[4] = {-1, -1, -1, -1};
        int n = visible_devices(cases[i].value, uuids, 4, order);
        if (n != cases[i].n || memcmp(order, cases[i].order, (size_t)n * sizeof *order) != 0)
            fail_msg("\"%s\": %d devices, first %d", cases[i].value ? cases[i].value : "(unset)", n, order[0]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(graph_times_launches_without_host_cost, open_fake, close_fake),
        cmocka_unit_test_setup_teardown(rungs_follow_flags, open_fake, close_fake),
        cmocka_unit_test_setup_teardown(event_and_wall_contain_the_host, open_fake, close_fake),
        cmocka_unit_test_setup_teardown(idle_gaps_are_seen, open_fake, close_fake),
        cmocka_unit_test_setup_teardown(faults_have_owners, open_fake, close_fake),
        cmocka_unit_test_setup_teardown(memory_is_counted_and_limited, open_fake, close_fake),
        cmocka_unit_test(timings_can_be_withheld),
        cmocka_unit_test(visible_devices_as_the_driver),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
