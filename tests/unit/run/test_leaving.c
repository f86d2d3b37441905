/* run/crew and run/leaving: a device that is through gets the next task's worker at once, while its last one leaves and
 * others work. Scripted workers wait for each other's files, so the order is proved, not timed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/json.h"
#include "feed_fixture.h"
#include "record/journal.h"

static struct crew_task later; /* the task behind f.task */
static int offered_again, audits_at_end;

static bool is_there(const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", t.directory, name);
    return access(path, F_OK) == 0;
}

static long audits(void)
{
    char path[128];
    struct stat st;
    snprintf(path, sizeof path, "%s/audits", t.directory);
    return stat(path, &st) == 0 ? (long)st.st_size : 0;
}

static void later_tell(void *context, struct start_request *out)
{
    feed_tell(context, out);
    out->audit = true;
}

/* Nothing, once its worker is up. */
static enum crew_offer later_take(void *context, struct slot *slot)
{
    (void)context;
    return slot->up ? CREW_NONE : CREW_LATER;
}

/* What one device gives back another one does. */
static enum crew_offer take_again(void *context, struct slot *slot)
{
    if (offered_again == f.given_back)
        return feed_take(context, slot);
    offered_again++;
    slot->work = f.taken - 1;
    slot->request =
        (struct cell_request){.problem = {32 * f.taken, 32, 32, CUDAL2_F32, CUDAL2_ACC_F32}, .mode = MODE_OFFLINE};
    return CREW_WORK;
}

static int count_audits(void *context, struct slot *slot, struct slot_event *event, struct error *err)
{
    audits_at_end = (int)audits();
    return feed_done(context, slot, event, err);
}

/* Two devices, with cores of their own where that is said. */
static int set_up_two(void **state)
{
    if (set_up_feed(state))
        return -1;
    crew_close(&f.crew);
    t.spec.devices = (struct devices){.count = 2, .spec = {"cpu", "cpu"}};
    const struct crew_setup setup = {.spec = &t.spec, .stop = &t.stop};
    crew_init(&f.crew, &setup);
    if (crew_open(&f.crew, &t.err))
        return -1;
    later = f.task;
    later.tell = later_tell;
    later.take = later_take;
    f.task.next = &later;
    f.task.take = take_again;
    f.task.done = count_audits;
    offered_again = audits_at_end = 0;
    return 0;
}

static void give_cores(void)
{
    for (int i = 0; i < f.crew.n; i++) {
        f.crew.slots[i].has_cores = true;
        assert_int_equal(sched_getaffinity(0, sizeof f.crew.slots[i].cores, &f.crew.slots[i].cores), 0);
    }
}

/* The last cell ends when the other device's next worker is there. */
static void test_while_another_device_works(void **state)
{
    (void)state;
    give_cores();
    assert_int_equal(feed(3, "harness@96=hold"), 0);
    assert_string_equal(f.order, "32 64 96 ");
    assert_int_equal(audits_at_end, 1);
    assert_true(f.crew.slots[0].ahead && f.crew.slots[1].ahead);
    assert_int_equal(crew_run(&f.crew, &later, &t.err), 0);
    assert_int_equal(audits(), 2); /* those, and no others */
    assert_int_equal(starts(), 2);
    assert_false(f.crew.slots[0].ahead || f.crew.slots[1].ahead);
}

/* Nothing starts on processors that may be those of the cell that is measured. */
static void test_not_on_shared_cores(void **state)
{
    (void)state;
    assert_int_equal(feed(3, ""), 0);
    assert_string_equal(f.order, "32 64 96 ");
    assert_int_equal(audits_at_end, 0);
    assert_int_equal(crew_run(&f.crew, &later, &t.err), 0);
    assert_int_equal(audits(), 2);
}

/* A device that is through is needed once more: what it got ahead is ended. Which device is up first is the system's
 * choice; where it is not the one that falls off, nobody is called back, and the run is made again. */
static void test_called_back(void **state)
{
    give_cores();
    assert_int_equal(feed(1, "gpu=gone,harness@32=hold"), 0);
    for (int again = 0; again < 100 && f.given_back == 0; again++) {
        assert_int_equal(tear_down_feed(state), 0);
        assert_int_equal(set_up_two(state), 0);
        give_cores();
        assert_int_equal(feed(1, "gpu=gone,harness@32=hold"), 0);
    }
    assert_int_equal(f.given_back, 1);
    assert_int_equal(f.retired, 1);
    assert_string_equal(f.order, "32 ");
    assert_int_equal(audits_at_end, 1);
    assert_int_equal(crew_run(&f.crew, &later, &t.err), 0);
    assert_int_equal(audits(), 2);
}

/* Work that nobody has promised: who was started for something else is ended, and who leaves is waited for. */
static void test_another_task(void **state)
{
    struct crew_task third;
    (void)state;
    give_cores();
    assert_int_equal(feed(1, "quit=audits"), 0);
    assert_true(f.crew.slots[0].ahead);
    third = f.task;
    third.next = NULL;
    f.wanted = 2;
    assert_int_equal(crew_run(&f.crew, &third, &t.err), 0);
    assert_true(is_there("left"));
    assert_string_equal(f.order, "32 64 ");
    assert_int_equal(f.crew.slots[0].state, SLOT_EMPTY);
    assert_int_equal(f.crew.slots[0].process.pid, 0);
}

/* Who does not end is killed in his time, and told of. */
static void test_who_does_not_leave(void **state)
{
    (void)state;
    assert_int_equal(feed(1, "quit=never"), 0);
    struct slot *left = f.crew.leaving.list;
    assert_true(leaving_still(&f.crew.leaving, 0));
    leaving_end(&f.crew.leaving, true);
    assert_false(leaving_still(&f.crew.leaving, 0));
    assert_int_equal(left->state, SLOT_EMPTY);
}

/* ---- a whole run ---- */

static int set_up_gpu(void **state)
{
    setenv("CUDAL2_FAKE_KIND", "cuda", 1);
    if (set_up(state))
        return -1;
    t.spec.devices.on_cuda = true;
    return 0;
}

static int tear_down_gpu(void **state)
{
    unsetenv("CUDAL2_FAKE_KIND");
    return tear_down(state);
}

static int find_end(void *context, const char *kind, struct json_at data, struct error *err)
{
    (void)err;
    if (strcmp(kind, "end") == 0)
        *(double *)context = json_member(json_member(data, "memory"), "worker_peak_bytes").node->valuedouble;
    return 0;
}

/* Whoever timed ends only when there is somebody to watch, who gets nothing to do before that. Nobody is left when the
 * result is made. */
static void test_a_run_goes_on_beside_an_end(void **state)
{
    double peak = 0;
    bool torn;
    (void)state;
    assert_int_equal(go("quit=audits,watcher=left,auditquit=left"), 0);
    struct journal_view v = complete_view();
    free_view(&v);
    assert_true(is_there("leftwatch"));
    assert_int_equal(audits(), 1);
    assert_int_equal(starts(), 1);
    assert_int_equal(journal_read(t.journal, find_end, &peak, &torn, &t.err), 0);
    assert_true(peak > 0); /* of a worker that had not ended yet */
}

/* A stop in the last cell: nobody comes to watch. */
static void test_a_stop_starts_nobody(void **state)
{
    (void)state;
    t.stop_after = N_CELLS;
    t.stop_value = 15;
    assert_int_equal(go(""), EXIT_CODE_TEMPORARY);
    assert_int_equal(audits(), 0);
    t.stop_after = 0;
    t.spec.resume = true;
    assert_int_equal(go(""), 0);
    assert_int_equal(audits(), 1);
}

/* An exit handler that somebody left behind is worth a line, although the next part has begun. */
static void test_an_end_that_is_not_well(void **state)
{
    (void)state;
    assert_int_equal(go(""), 0);
    int usual = t.n_notes;
    t.n_notes = 0;
    snprintf(t.output, sizeof t.output, "%s/second.json", t.directory);
    assert_int_equal(run_spec_name(&t.spec, t.output, &t.err), 0);
    assert_int_equal(go("quit=ill"), 0);
    assert_int_equal(t.n_notes, usual + 1);
}

#define TWO(name) cmocka_unit_test_setup_teardown(name, set_up_two, tear_down_feed)
#define RUN(name) cmocka_unit_test_setup_teardown(name, set_up_gpu, tear_down_gpu)

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "worker") == 0)
        return fake_worker();
    const struct CMUnitTest tests[] = {
        TWO(test_while_another_device_works),
        TWO(test_not_on_shared_cores),
        TWO(test_called_back),
        TWO(test_another_task),
        TWO(test_who_does_not_leave),
        RUN(test_a_run_goes_on_beside_an_end),
        RUN(test_a_stop_starts_nobody),
        RUN(test_an_end_that_is_not_well),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
