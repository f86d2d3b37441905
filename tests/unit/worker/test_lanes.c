/* worker/lanes: a scripted compiler, slow, failing, crashing or hanging, in real processes. */
#include "worker/lanes.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"

#define PATIENCE 60.0

/* Shared with the lanes. */
static struct script {
    atomic_bool open; /* lanes begin */
    atomic_int n;
    int order[64]; /* cc of what was compiled, as it was begun */
    int descriptor;
    int milliseconds;
} * script;

static void sleep_ms(long ms)
{
    const struct timespec pause = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&pause, NULL);
}

static void begin(void *context)
{
    (void)context;
    while (!atomic_load(&script->open))
        sleep_ms(1);
}

static bool compile(void *context, const struct compile_request *r)
{
    assert_ptr_equal(context, script);
    script->order[atomic_fetch_add(&script->n, 1)] = r->cc;
    if (strcmp(r->path, "crash") == 0)
        abort();
    while (strcmp(r->path, "hang") == 0)
        pause();
    sleep_ms(script->milliseconds);
    return strcmp(r->path, "bad") != 0;
}

static struct lanes *open_lanes(unsigned count)
{
    const struct lanes_request request = {
        .count = count, .job_seconds = 0.3, .begin = begin, .compile = compile, .context = script};
    struct lanes *l = lanes_open(&request);
    assert_non_null(l);
    return l;
}

static struct compile_request request_of(const char *path, int cc)
{
    return (struct compile_request){.path = path, .kernel_directory = "kernels", .cc = cc};
}

static size_t add(struct lanes *l, const char *path, int cc)
{
    const struct compile_request r = request_of(path, cc);
    return lanes_add(l, &r);
}

static void assert_order(const int *expected, int n)
{
    assert_int_equal(script->n, n);
    assert_memory_equal(script->order, expected, (size_t)n * sizeof *expected);
}

static int start(void **state)
{
    (void)state;
    memset(script, 0, sizeof *script);
    atomic_store(&script->open, true);
    return 0;
}

static void the_list_in_its_order(void **state)
{
    const int expected[] = {1, 2, 3, 4};
    struct lanes *l = open_lanes(1);
    (void)state;
    for (int i = 1; i <= 4; i++)
        assert_int_equal(add(l, i == 2 ? "bad" : "good", i), i - 1);
    lanes_seal(l);
    assert_int_equal(lanes_wait_all(l, PATIENCE), 3);
    assert_true(lanes_are_done(l));
    assert_order(expected, 4);
    lanes_close(l);
}

static void what_is_waited_for_goes_ahead(void **state)
{
    const int expected[] = {3, 4, 1, 2};
    const size_t places[] = {3, 2};
    struct lanes *l = open_lanes(1);
    (void)state;
    atomic_store(&script->open, false);
    for (int i = 1; i <= 4; i++)
        add(l, "good", i);
    lanes_seal(l);
    assert_int_equal(lanes_wait(l, places, 2, 0), 0); /* there is nobody yet, and no time */
    atomic_store(&script->open, true);
    assert_int_equal(lanes_wait(l, places, 2, PATIENCE), 2);
    assert_int_equal(lanes_wait_all(l, PATIENCE), 4);
    assert_order(expected, 4);
    lanes_close(l);
}

/* A slow compiler: whoever needs the first kernel alone has it long before the last. */
static void a_wait_is_for_ones_own(void **state)
{
    const size_t first = 0;
    struct lanes *l = open_lanes(2);
    (void)state;
    script->milliseconds = 50;
    for (int i = 1; i <= 20; i++)
        add(l, "good", i);
    lanes_seal(l);
    assert_int_equal(lanes_wait(l, &first, 1, PATIENCE), 1);
    assert_false(lanes_are_done(l));
    assert_int_equal(lanes_wait_all(l, PATIENCE), 20);
    assert_true(lanes_are_done(l));
    lanes_close(l);
}

static void a_crash_costs_one_kernel(void **state)
{
    struct lanes *l = open_lanes(2);
    (void)state;
    size_t crash = add(l, "crash", 1);
    for (int i = 2; i <= 5; i++)
        add(l, "good", i);
    lanes_seal(l);
    assert_int_equal(lanes_wait(l, &crash, 1, PATIENCE), 0);
    assert_int_equal(lanes_wait_all(l, PATIENCE), 4);
    assert_true(lanes_are_done(l));
    lanes_close(l);
}

static void a_hang_is_ended(void **state)
{
    struct lanes *l = open_lanes(2);
    (void)state;
    size_t hang = add(l, "hang", 1);
    add(l, "good", 2);
    lanes_seal(l);
    assert_int_equal(lanes_wait(l, &hang, 1, PATIENCE), 0);
    assert_int_equal(lanes_wait_all(l, PATIENCE), 1);
    lanes_close(l);
}

static void nobody_left_is_nobody_to_wait_for(void **state)
{
    uint64_t begun = clock_now_ns();
    struct lanes *l = open_lanes(1);
    (void)state;
    add(l, "crash", 1);
    add(l, "good", 2);
    lanes_seal(l);
    assert_int_equal(lanes_wait_all(l, PATIENCE), 0);
    assert_true((double)(clock_now_ns() - begun) < 0.5e9 * PATIENCE);
    assert_true(lanes_are_done(l));
    lanes_close(l);
}

static void lanes_end_with_the_list(void **state)
{
    struct lanes *l = open_lanes(3);
    int ended = 0;
    (void)state;
    add(l, "good", 1);
    lanes_seal(l);
    assert_int_equal(lanes_wait_all(l, PATIENCE), 1);
    while (waitpid(-1, NULL, 0) > 0)
        ended++;
    assert_int_equal(errno, ECHILD);
    assert_true(ended >= 3); /* one of the test ahead may be among them */
    lanes_close(l);
}

static void lanes_end_when_closed(void **state)
{
    (void)state;
    lanes_close(open_lanes(3)); /* not sealed */
    while (waitpid(-1, NULL, 0) > 0) {
    }
    assert_int_equal(errno, ECHILD);
    lanes_close(NULL);
}

static void once_and_while_there_is_room(void **state)
{
    char path[8192];
    struct lanes *l = open_lanes(1);
    const struct compile_request late = request_of("late", 1);
    (void)state;
    memset(path, 'p', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    assert_int_equal(add(l, "good", 1), 0);
    assert_int_equal(add(l, "good", 2), 1);
    assert_int_equal(add(l, "good", 1), 0);
    assert_int_equal(lanes_count(l), 2);
    assert_int_equal(add(l, path, 1), LANES_NONE);
    assert_int_equal(add(l, "two\nlines", 1), LANES_NONE);
    lanes_seal(l);
    assert_int_equal(lanes_add(l, &late), LANES_NONE);
    assert_int_equal(lanes_find(l, &late), LANES_NONE);
    assert_int_equal(lanes_wait_all(l, PATIENCE), 2);
    lanes_close(l);
}

/* Good when all came over, on the processors that it was given, and nothing of the parent's is open. */
static bool compare(void *context, const struct compile_request *r)
{
    cpu_set_t own;
    bool same = strcmp(r->path, "a b.cu") == 0 && strcmp(r->kernel_directory, "/k") == 0 && r->cc == 90 &&
                r->n_defines == 2 && strcmp(r->defines[0].name, "BM") == 0 && r->defines[0].value == 128 &&
                strcmp(r->defines[1].name, "LEAST") == 0 && r->defines[1].value == INT64_MIN;
    return same && fcntl(script->descriptor, F_GETFD) < 0 && sched_getaffinity(0, sizeof own, &own) == 0 &&
           CPU_EQUAL(&own, (const cpu_set_t *)context);
}

static void a_lane_gets_the_request_and_nothing_else(void **state)
{
    const struct compile_define defines[] = {{"BM", 128}, {"LEAST", INT64_MIN}};
    const struct compile_request r = {"a b.cu", "/k", 90, defines, 2};
    cpu_set_t cores, usable;
    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof usable, &usable), 0);
    CPU_ZERO(&cores);
    for (size_t cpu = CPU_SETSIZE; cpu-- > 0 && CPU_COUNT(&cores) == 0;)
        if (CPU_ISSET(cpu, &usable))
            CPU_SET(cpu, &cores);
    const struct lanes_request request = {
        .count = 1, .cores = &cores, .nice = 1, .job_seconds = 10, .compile = compare, .context = &cores};
    script->descriptor = dup(0);
    struct lanes *l = lanes_open(&request);
    assert_non_null(l);
    size_t at = lanes_add(l, &r);
    assert_int_equal(lanes_find(l, &r), at);
    lanes_seal(l);
    assert_int_equal(lanes_wait_all(l, PATIENCE), 1);
    lanes_close(l);
    close(script->descriptor);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_list_in_its_order, start),
        cmocka_unit_test_setup(what_is_waited_for_goes_ahead, start),
        cmocka_unit_test_setup(a_wait_is_for_ones_own, start),
        cmocka_unit_test_setup(a_crash_costs_one_kernel, start),
        cmocka_unit_test_setup(a_hang_is_ended, start),
        cmocka_unit_test_setup(nobody_left_is_nobody_to_wait_for, start),
        cmocka_unit_test_setup(lanes_end_with_the_list, start),
        cmocka_unit_test_setup(lanes_end_when_closed, start),
        cmocka_unit_test_setup(once_and_while_there_is_room, start),
        cmocka_unit_test_setup(a_lane_gets_the_request_and_nothing_else, start),
    };
    script = mmap(NULL, sizeof *script, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return script == MAP_FAILED ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
