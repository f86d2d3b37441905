/* run/crew with a task that is neither measuring nor auditing: cells that come one by one for as long as somebody has
 * some, as a server has. Workers are scripted (fake_worker.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "fake_worker.h"
#include "run_fixture.h"
#include "run/crew.h"
#include "run/starting.h"

/* Problems of this many sizes, each handed in when the one before is answered. */
struct feed {
    struct crew crew;
    struct crew_task task;
    cJSON *config;
    int wanted, waiting, taken, answered, failed, given_back, retired, blamed, stages, turns;
    int end_after; /* answers; 0: never */
    int stop_after;
    bool up, refuses;
    char order[64], reason[RECORD_REASON_MAX + 64];
};
static struct feed f;

static void feed_tell(void *context, struct start_request *out)
{
    (void)context;
    starting_request(&t.spec, f.config, false, out);
}

/* Nothing yet, until a worker is up and the last answer is there. */
static enum crew_offer feed_take(void *context, struct slot *slot)
{
    (void)context;
    if (f.taken == f.wanted)
        return CREW_NONE;
    if (!f.up || f.taken > f.answered + f.failed) {
        f.waiting++;
        return CREW_LATER;
    }
    slot->work = f.taken++;
    slot->request =
        (struct cell_request){.problem = {32 * f.taken, 32, 32, CUDAL2_F32, CUDAL2_ACC_F32}, .mode = MODE_OFFLINE};
    return CREW_WORK;
}

static void feed_give_back(void *context, const struct slot *slot)
{
    (void)context;
    assert_in_range(slot->work, 0, f.taken - 1);
    f.given_back++;
}

static int feed_ready(void *context, struct slot *slot, const cJSON *env, struct error *err)
{
    (void)context;
    assert_non_null(env);
    assert_true(slot->up);
    f.up = true;
    return f.refuses ? error_set(err, EXIT_CODE_DATA, "not this one") : 0;
}

static int feed_done(void *context, struct slot *slot, struct slot_event *event, struct error *err)
{
    (void)context;
    (void)err;
    assert_int_equal(event->record->problem.m, slot->request.problem.m);
    snprintf(f.order + strlen(f.order), sizeof f.order - strlen(f.order), "%d ", (int)event->record->problem.m);
    f.answered++;
    if (f.end_after && f.answered == f.end_after)
        crew_end(&f.crew);
    if (f.stop_after && f.answered == f.stop_after)
        t.stop = t.stop_value;
    return 0;
}

static bool feed_blame(void *context, struct slot *slot, const struct exclusion *blamed)
{
    (void)context;
    f.blamed++;
    slot->request.exclusions[slot->request.n_exclusions++] = *blamed;
    return true;
}

static int feed_fail(void *context, struct slot *slot, const char *reason, struct error *err)
{
    (void)context;
    (void)slot;
    (void)err;
    f.failed++;
    snprintf(f.reason, sizeof f.reason, "%s", reason);
    return 0;
}

static int feed_retired(void *context, struct slot *slot, const struct slot_event *event, struct error *err)
{
    (void)context;
    (void)err;
    assert_int_equal(slot->state, SLOT_RETIRED);
    assert_non_null(event->verdict);
    f.retired++;
    return 0;
}

static void feed_stage(void *context, const struct slot *slot)
{
    (void)context;
    assert_true(slot->now.stage[0] != '\0');
    f.stages++;
}

static int feed_turn(void *context, struct error *err)
{
    (void)context;
    (void)err;
    f.turns++;
    return 0;
}

static int set_up_feed(void **state)
{
    if (set_up(state))
        return -1;
    memset(&f, 0, sizeof f);
    f.config = config_to_json(&t.config);
    f.task = (struct crew_task){.tell = feed_tell,
                                .take = feed_take,
                                .give_back = feed_give_back,
                                .ready = feed_ready,
                                .done = feed_done,
                                .blame = feed_blame,
                                .fail = feed_fail,
                                .retired = feed_retired,
                                .stage = feed_stage,
                                .turn = feed_turn,
                                .start_tries = 2};
    const struct crew_setup setup = {.spec = &t.spec, .stop = &t.stop};
    crew_init(&f.crew, &setup);
    return crew_open(&f.crew, &t.err);
}

static int tear_down_feed(void **state)
{
    crew_close(&f.crew);
    cJSON_Delete(f.config);
    return tear_down(state);
}

static int feed(int wanted, const char *script)
{
    setenv("CUDAL2_FAKE", script, 1);
    f.wanted = wanted;
    return crew_run(&f.crew, &f.task, &t.err);
}

/* ---- work that comes ---- */

static void test_one_worker_for_all_that_comes(void **state)
{
    (void)state;
    assert_int_equal(feed(5, ""), 0);
    assert_string_equal(f.order, "32 64 96 128 160 ");
    assert_true(f.waiting > 0); /* it was up before there was anything to do */
    assert_true(f.turns > 0);
    assert_int_equal(starts(), 1);
    assert_int_equal(f.crew.slots[0].state, SLOT_EMPTY); /* it has been told to go, and is gone */
}

static void test_a_task_ends_it(void **state)
{
    (void)state;
    f.end_after = 2;
    assert_int_equal(feed(1000000, ""), 0);
    assert_string_equal(f.order, "32 64 ");
    assert_int_equal(crew_stop_signal(&f.crew), 0);
}

static void test_a_second_task_has_fresh_workers(void **state)
{
    (void)state;
    assert_int_equal(feed(1, ""), 0);
    f.taken = f.answered = 0;
    f.up = false;
    assert_int_equal(feed(2, ""), 0);
    assert_string_equal(f.order, "32 32 64 ");
    assert_int_equal(starts(), 2);
}

/* One that sleeps for its workers' sake is woken by whoever has work. */
static void test_woken(void **state)
{
    uint64_t one = 1, began = clock_now_ns();
    int fd = eventfd(0, EFD_CLOEXEC);
    (void)state;
    assert_int_equal(write(fd, &one, sizeof one), sizeof one);
    slots_wait(f.crew.slots, f.crew.n, fd, 60000);
    assert_true(clock_now_ns() - began < 30000000000u);
    close(fd);
}

/* ---- workers that are lost ---- */

static void test_who_is_to_blame_is_left_out(void **state)
{
    (void)state;
    assert_int_equal(feed(3, "beta@64=crash"), 0);
    assert_string_equal(f.order, "32 64 96 ");
    assert_int_equal(f.blamed, 1);
    assert_int_equal(f.failed, 0);
    assert_int_equal(starts(), 2);
}

/* It stands still in a stage, which the task is told of, until its deadline. */
static void test_who_hangs_is_left_out(void **state)
{
    (void)state;
    assert_int_equal(feed(1, "beta@32=hang"), 0);
    assert_string_equal(f.order, "32 ");
    assert_int_equal(f.blamed, 1);
    assert_true(f.stages > 0);
}

static void test_nobody_is_to_blame(void **state)
{
    (void)state;
    assert_int_equal(feed(3, "harness@64=crash"), 0);
    assert_string_equal(f.order, "32 96 ");
    assert_int_equal(f.failed, 1);
    assert_non_null(strstr(f.reason, "worker lost 2 times, last in stage "));
    assert_int_equal(starts(), 3);
}

static void test_a_device_without_workers(void **state)
{
    (void)state;
    f.up = true; /* so that work is taken before a worker is there */
    assert_int_equal(feed(3, "start:9=exit"), 0);
    assert_int_equal(starts(), 2);
    assert_int_equal(f.retired, 1);
    assert_int_equal(f.given_back, 1);
    assert_false(crew_is_alive(&f.crew));
    assert_int_equal(f.crew.last.code, EXIT_CODE_UNAVAILABLE);
    assert_non_null(strstr(f.crew.last.text, "cpu: worker did not start: early_exit"));
}

/* Namespaces may be in the way of a GPU's driver: before a start counts as failed they are tried with it. */
static void test_a_gpu_that_does_not_open_is_tried_first(void **state)
{
    const char *arguments[STARTING_ARGUMENTS];
    const struct start_request start = {0};
    (void)state;
    f.crew.slots[0].device = "cuda:0";
    assert_int_equal(feed(2, "start:1=exit"), 0);
    assert_string_equal(f.order, "32 64 ");
    assert_int_equal(starts(), 2);
    assert_true(f.crew.slots[0].wary);
    starting_arguments(&start, "cuda:0", true, arguments);
    assert_string_equal(arguments[0], "wary");
    starting_arguments(&start, "cuda:0", false, arguments);
    assert_string_equal(arguments[0], "at");
}

static void test_a_trial_is_the_last_resort(void **state)
{
    (void)state;
    f.crew.slots[0].device = "cuda:0";
    assert_int_equal(feed(3, "start:9=exit"), 0);
    assert_int_equal(starts(), 3); /* two count */
    assert_int_equal(f.retired, 1);
}

/* The one of that number is another worker's, or nobody's that was asked for. */
static void test_a_gpu_that_is_another_one(void **state)
{
    (void)state;
    assert_int_equal(feed(3, "gpu=gone"), 0);
    assert_string_equal(f.order, "");
    assert_int_equal(f.retired, 1);
    assert_int_equal(f.given_back, 1);
    assert_int_equal(f.crew.last.code, EXIT_CODE_UNAVAILABLE);
    assert_string_equal(f.crew.last.text, "cpu (GPU-first) has worked in this run and does not any more: its number is "
                                          "GPU-second's now (dmesg may name an Xid)");
}

/* ---- ends ---- */

static void test_an_error_ends_it(void **state)
{
    (void)state;
    f.refuses = true;
    assert_int_equal(feed(3, ""), EXIT_CODE_DATA);
    assert_string_equal(t.err.text, "not this one");
    assert_string_equal(f.order, "");
}

/* The cell in hand is finished, the next is not begun. */
static void test_a_signal(void **state)
{
    (void)state;
    f.stop_after = 2;
    t.stop_value = SIGTERM;
    assert_int_equal(feed(1000000, ""), 0);
    assert_string_equal(f.order, "32 64 ");
    assert_int_equal(crew_stop_signal(&f.crew), SIGTERM);
    assert_int_equal(f.crew.slots[0].state, SLOT_EMPTY);
}

/* Nothing is waited for: crew_close kills what is left. */
static void test_a_second_signal(void **state)
{
    (void)state;
    f.stop_after = 1;
    t.stop_value = -SIGTERM;
    assert_int_equal(feed(1000000, ""), 0);
    assert_string_equal(f.order, "32 ");
    assert_true(f.crew.slots[0].process.pid > 0);
}

static void test_a_budget(void **state)
{
    const struct crew_setup setup = {.spec = &t.spec};
    struct crew crew;
    (void)state;
    t.spec.budget_seconds = 1e-6;
    crew_init(&crew, &setup);
    while (clock_now_ns() <= crew.deadline_ns)
        continue;
    assert_int_equal(crew_stop_signal(&crew), SIGALRM);
}

struct notes {
    char last[300];
};

static void keep_note(void *context, const char *line)
{
    struct notes *notes = context;
    snprintf(notes->last, sizeof notes->last, "%s", line);
}

/* Two crews do not share a GPU: the second says for whom it waits, and who it was. */
static void test_a_lock(void **state)
{
    struct notes notes = {{""}};
    const struct crew_setup setup = {.spec = &t.spec, .note = keep_note, .note_context = &notes};
    struct crew first, second;
    char expected[300], node[64] = "";
    (void)state;
    setenv("CUDAL2_CACHE", t.directory, 1);
    snprintf(t.spec.devices.lock[0], sizeof t.spec.devices.lock[0], "GPU-1");
    t.spec.lock_seconds = 0.1;
    crew_init(&first, &setup);
    crew_init(&second, &setup);
    assert_int_equal(crew_open(&first, &t.err), 0);
    assert_string_equal(notes.last, "");
    assert_int_equal(crew_open(&second, &t.err), EXIT_CODE_TEMPORARY);
    assert_int_equal(gethostname(node, sizeof node - 1), 0);
    snprintf(expected, sizeof expected, "process %ld on %s measures on GPU-1: waiting for it, 0 s at most",
             (long)getpid(), node);
    assert_string_equal(notes.last, expected);
    snprintf(expected, sizeof expected, "process %ld on %s measures on GPU-1 (waited 0 s): give each task a GPU",
             (long)getpid(), node);
    assert_non_null(strstr(t.err.text, expected));
    crew_close(&second);
    crew_close(&first);
    notes.last[0] = '\0';
    assert_int_equal(crew_open(&second, &t.err), 0);
    assert_string_equal(notes.last, "");
    crew_close(&second);
    unsetenv("CUDAL2_CACHE");
}

/* ---- workers between runs ---- */

static const char key[DIGEST_HEX] = "0123456789abcdef0123456789abcdef", other[DIGEST_HEX] = "other";

/* A run of its own, of two cells, that may have `warm`'s worker. */
static void run_with(struct warm *warm, const char *whose, const char *script)
{
    const struct crew_setup setup = {.spec = &t.spec, .stop = &t.stop, .warm = warm};
    warm_begin(warm, whose);
    crew_close(&f.crew);
    f.task.warm = true;
    f.taken = f.answered = 0;
    f.up = false;
    f.order[0] = '\0';
    crew_init(&f.crew, &setup);
    assert_int_equal(crew_open(&f.crew, &t.err), 0);
    assert_int_equal(feed(2, script), 0);
    assert_string_equal(f.order, "32 64 ");
}

static void test_a_worker_is_kept(void **state)
{
    struct warm warm = {0};
    (void)state;
    run_with(&warm, key, "");
    assert_true(warm.held && !warm.taken);
    pid_t kept = warm.slot.process.pid;
    run_with(&warm, key, "");
    assert_true(warm.held && warm.taken);
    assert_int_equal(warm.slot.process.pid, kept);
    assert_int_equal(warm.runs, 2);
    assert_int_equal(starts(), 1);
    warm_end(&warm);
    assert_false(warm.held);
    assert_int_equal(kill(kept, 0), -1);
}

static void test_a_worker_is_not_kept_for_others(void **state)
{
    struct warm warm = {0};
    (void)state;
    run_with(&warm, key, "");
    pid_t kept = warm.slot.process.pid;
    run_with(&warm, other, "");
    assert_true(warm.held && !warm.taken);
    assert_int_equal(kill(kept, 0), -1);
    assert_int_equal(starts(), 2);
    warm_end(&warm);
}

static void test_a_worker_is_not_kept_for_ever(void **state)
{
    struct warm warm = {0};
    (void)state;
    run_with(&warm, key, "");
    warm.runs = WARM_RUNS;
    run_with(&warm, key, "");
    assert_int_equal(starts(), 2);
    warm_end(&warm);
}

/* While nobody looked. */
static void test_a_kept_worker_that_died(void **state)
{
    struct warm warm = {0};
    (void)state;
    run_with(&warm, key, "");
    kill(warm.slot.process.pid, SIGKILL);
    while (!process_ended(&warm.slot.process))
        usleep(1000);
    run_with(&warm, key, "");
    assert_false(warm.taken);
    assert_int_equal(starts(), 2);
    warm_end(&warm);
}

/* The run goes on with a new process, as after any lost start. */
static void test_a_kept_worker_that_does_not_start_again(void **state)
{
    struct warm warm = {0};
    (void)state;
    run_with(&warm, key, "again=crash");
    run_with(&warm, key, "again=crash");
    assert_true(warm.taken);
    assert_int_equal(starts(), 2);
    warm_end(&warm);
}

/* A worker that waits holds its GPU, and so does nobody else. */
static void test_a_kept_worker_has_the_lock(void **state)
{
    const struct crew_setup setup = {.spec = &t.spec};
    struct warm warm = {0};
    struct crew stranger;
    (void)state;
    setenv("CUDAL2_CACHE", t.directory, 1);
    snprintf(t.spec.devices.lock[0], sizeof t.spec.devices.lock[0], "GPU-2");
    t.spec.lock_seconds = 0.1;
    run_with(&warm, key, "");
    run_with(&warm, key, "");
    assert_int_equal(starts(), 1);
    crew_close(&f.crew);
    crew_init(&stranger, &setup);
    assert_int_equal(crew_open(&stranger, &t.err), EXIT_CODE_TEMPORARY);
    crew_close(&stranger);
    warm_end(&warm);
    assert_int_equal(crew_open(&stranger, &t.err), 0);
    crew_close(&stranger);
    unsetenv("CUDAL2_CACHE");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up_feed, tear_down_feed)

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "worker") == 0)
        return fake_worker();
    const struct CMUnitTest tests[] = {
        TEST(test_one_worker_for_all_that_comes),
        TEST(test_a_task_ends_it),
        TEST(test_a_second_task_has_fresh_workers),
        TEST(test_woken),
        TEST(test_who_is_to_blame_is_left_out),
        TEST(test_who_hangs_is_left_out),
        TEST(test_nobody_is_to_blame),
        TEST(test_a_device_without_workers),
        TEST(test_a_gpu_that_does_not_open_is_tried_first),
        TEST(test_a_trial_is_the_last_resort),
        TEST(test_a_gpu_that_is_another_one),
        TEST(test_an_error_ends_it),
        TEST(test_a_signal),
        TEST(test_a_second_signal),
        TEST(test_a_budget),
        TEST(test_a_lock),
        TEST(test_a_worker_is_kept),
        TEST(test_a_worker_is_not_kept_for_others),
        TEST(test_a_worker_is_not_kept_for_ever),
        TEST(test_a_kept_worker_that_died),
        TEST(test_a_kept_worker_that_does_not_start_again),
        TEST(test_a_kept_worker_has_the_lock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
