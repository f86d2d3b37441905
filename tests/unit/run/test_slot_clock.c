/* run/slot: the worker's clock against the supervisor's, between two looks; and the directory that a worker is given.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "run/slot.h"
#include "run/worker_directory.h"

/* The page's layout (stage_page.c), to write what no sound worker writes. */
struct page {
    uint64_t count;
    struct stage_note notes[2];
};

static struct slot slot;
static int page_fd, worker_end;

static int open_slot(void **state)
{
    int pair[2];
    struct error err;
    (void)state;
    slot = (struct slot){.state = SLOT_BUSY};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0 ||
        stage_page_create(&slot.process.page, &page_fd, &err))
        return -1;
    slot.process.pid = fork();
    if (slot.process.pid == 0) {
        pause();
        _exit(0);
    }
    slot.process.fd = pair[0];
    slot.reader = (struct line_reader){.fd = pair[0]};
    worker_end = pair[1];
    slot.looked_ns = clock_now_ns();
    return slot.process.pid > 0 ? 0 : -1;
}

static int close_slot(void **state)
{
    (void)state;
    slot_kill(&slot);
    close(worker_end);
    return close(page_fd);
}

/* A note as the worker writes it, `seconds` off our clock. */
static void write_note(const char *contender, double seconds)
{
    stage_page_write(slot.process.page, contender, "measure", 60);
    struct page *page = (struct page *)(void *)slot.process.page;
    page->notes[page->count % 2].written_ns += (uint64_t)(int64_t)(seconds * 1e9);
}

static void look(struct slot_event *event)
{
    slot_look(&slot, event);
    slot_event_free(event);
}

static void honest_notes_pass(void **state)
{
    struct slot_event event;
    (void)state;
    for (int i = 0; i < 100; i++) {
        write_note(i % 2 ? "a-nn" : "b-nn", i % 3 ? 0 : -0.5); /* a writer that was interrupted comes late */
        look(&event);
        assert_int_not_equal(event.kind, SLOT_LOST);
    }
}

static void expect_lost(double seconds, unsigned notes, const char *words, const char *culprit)
{
    struct slot_event event;
    struct exclusion out;
    write_note("a-nn", 0);
    look(&event);
    for (unsigned i = 0; i < notes; i++)
        write_note("", seconds);
    slot_look(&slot, &event);
    assert_int_equal(event.kind, SLOT_LOST);
    assert_string_equal(event.verdict, "tamper_suspected");
    assert_non_null(strstr(event.reason, words));
    assert_int_equal(slot_culprit(&slot, &event, &out), culprit != NULL);
    if (culprit)
        assert_string_equal(out.name, culprit);
    slot_event_free(&event);
}

/* In both directions; who ran meanwhile is named where nobody else can have. */
static void a_slow_clock_is_seen(void **state)
{
    (void)state;
    expect_lost(-3, 1, "3000 ms behind", "a-nn");
}

static void a_fast_clock_is_seen(void **state)
{
    (void)state;
    expect_lost(0.2, 1, "ahead of", "a-nn");
}

static void nobody_is_named_where_several_ran(void **state)
{
    (void)state;
    expect_lost(-3, 2, "behind", NULL);
}

/* Whatever the worker left there, links included, is gone, and nothing that a link leads to. */
static void directories_go_with_their_workers(void **state)
{
    char deep[300], outside[] = "/tmp/cudal2-test-slot-XXXXXX";
    struct stat st;
    (void)state;
    assert_true(mkdtemp(outside) != NULL);
    setenv("TMPDIR", outside, 1);
    struct worker_directory made = worker_directory_make();
    const char *path = made.path;
    assert_non_null(path);
    assert_true(stat(path, &st) == 0 && (st.st_mode & 0777) == 0700);
    snprintf(deep, sizeof deep, "%s/a", path);
    assert_int_equal(mkdir(deep, 0700), 0);
    snprintf(deep, sizeof deep, "%s/a/link", path);
    assert_int_equal(symlink("/tmp", deep), 0);
    snprintf(deep, sizeof deep, "%s/closed", path);
    assert_int_equal(mkdir(deep, 0), 0);
    worker_directory_remove(&made);
    assert_null(made.path);
    assert_int_equal(rmdir(outside), 0);
    assert_int_equal(stat("/tmp", &st), 0);
    setenv("CUDAL2_ISOLATION", "off", 1);
    assert_null(worker_directory_make().path);
    unsetenv("CUDAL2_ISOLATION");
    setenv("TMPDIR", "/nowhere", 1);
    assert_null(worker_directory_make().path); /* the worker has everybody's then, and its record says so */
    unsetenv("TMPDIR");
}

/* What a maker that was killed has left goes when the next one comes; what is in use stays. */
static void abandoned_directories_are_removed(void **state)
{
    char base[] = "/tmp/cudal2-test-slot-XXXXXX", left[128];
    struct stat st;
    (void)state;
    assert_true(mkdtemp(base) != NULL);
    setenv("TMPDIR", base, 1);
    struct worker_directory first = worker_directory_make();
    snprintf(left, sizeof left, "%s/cudal2-worker-left", base);
    assert_int_equal(mkdir(left, 0700), 0);
    struct worker_directory second = worker_directory_make();
    assert_true(first.path && second.path && strcmp(first.path, second.path) != 0);
    assert_int_equal(stat(first.path, &st), 0);
    assert_int_equal(stat(second.path, &st), 0);
    assert_int_not_equal(stat(left, &st), 0);
    worker_directory_remove(&first);
    worker_directory_remove(&second);
    assert_int_equal(rmdir(base), 0);
    unsetenv("TMPDIR");
}

#define ON_SLOT(test) cmocka_unit_test_setup_teardown(test, open_slot, close_slot)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_SLOT(honest_notes_pass),
        ON_SLOT(a_slow_clock_is_seen),
        ON_SLOT(a_fast_clock_is_seen),
        ON_SLOT(nobody_is_named_where_several_ran),
        cmocka_unit_test(directories_go_with_their_workers),
        cmocka_unit_test(abandoned_directories_are_removed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
