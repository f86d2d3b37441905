/* worker/stage_page: who is to blame, told without a message. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "worker/stage_page.h"

static struct stage_page *page;
static int page_fd;

static int set_up(void **state)
{
    (void)state;
    struct error err;
    return stage_page_create(&page, &page_fd, &err);
}

static int tear_down(void **state)
{
    (void)state;
    stage_page_unmap(page);
    return close(page_fd);
}

static void a_fresh_page_blames_nobody(void **state)
{
    (void)state;
    struct stage_note note = {.contender = "x", .stage = "y", .deadline_ns = 1};
    assert_true(stage_page_read(page, &note));
    assert_string_equal(note.contender, "");
    assert_string_equal(note.stage, "");
}

static void the_latest_note_holds(void **state)
{
    (void)state;
    struct stage_note note;
    uint64_t before = clock_now_ns();
    stage_page_write(page, "cublaslt-autotuning-nn", "measure", 2.5);
    assert_true(stage_page_read(page, &note));
    assert_string_equal(note.contender, "cublaslt-autotuning-nn");
    assert_string_equal(note.stage, "measure");
    assert_in_range(note.deadline_ns, before + 2500000000u, clock_now_ns() + 2500000000u);
    assert_in_range(note.written_ns, before, note.counted_ns);
    assert_in_range(note.counted_ns, note.written_ns, clock_now_ns());
    stage_page_write(page, "a", "setup", 0); /* nothing of the longer name stays */
    stage_page_write(page, "", "verify", 1);
    assert_true(stage_page_read(page, &note));
    assert_string_equal(note.contender, "");
    assert_string_equal(note.stage, "verify");
    stage_page_write(page, "b", "tune", 1);
    assert_true(stage_page_read(page, &note));
    assert_string_equal(note.contender, "b");
}

static void long_names_are_cut(void **state)
{
    (void)state;
    char name[200];
    struct stage_note note;
    memset(name, 'n', sizeof name);
    name[199] = '\0';
    stage_page_write(page, name, name, 1);
    assert_true(stage_page_read(page, &note));
    assert_int_equal(strlen(note.contender), sizeof note.contender - 1);
    assert_int_equal(strlen(note.stage), sizeof note.stage - 1);
}

static void what_is_scribbled_reads_as_text(void **state)
{
    (void)state;
    struct stage_note note;
    stage_page_write(page, "a", "b", 1);
    memset((char *)(void *)page + sizeof(uint64_t), 0x9b, 2 * sizeof note);
    assert_true(stage_page_read(page, &note));
    assert_int_equal(strlen(note.contender), sizeof note.contender - 1);
    assert_int_equal(strspn(note.contender, "?"), sizeof note.contender - 1);
}

/* The child is killed while it writes; what it wrote last is there, whole. */
static void notes_outlive_their_writer_and_are_never_mixed(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
        struct stage_page *child_page;
        struct error err;
        pid_t pid = fork();
        if (pid == 0) {
            if (stage_page_map(page_fd, &child_page, &err))
                _exit(1);
            for (unsigned i = 0;; i++) {
                char text[16];
                snprintf(text, sizeof text, "%015u", i);
                stage_page_write(child_page, text, text, 1e3);
            }
        }
        struct stage_note note = {0};
        unsigned long last = 0;
        for (int i = 0; i < 2000; i++)
            if (stage_page_read(page, &note) && note.contender[0]) {
                assert_string_equal(note.contender, note.stage);
                unsigned long now = strtoul(note.contender, NULL, 10);
                assert_true(now >= last);
                last = now;
            }
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        assert_true(stage_page_read(page, &note));
        assert_string_equal(note.contender, note.stage);
        stage_page_write(page, "", "", 1);
    }
}

static void other_descriptors_are_refused(void **state)
{
    (void)state;
    struct stage_page *out;
    struct error err;
    int null_fd = open("/dev/null", O_RDWR);
    assert_int_equal(stage_page_map(null_fd, &out, &err), EXIT_CODE_USAGE);
    assert_int_equal(stage_page_map(-1, &out, &err), EXIT_CODE_USAGE);
    close(null_fd);
    int small = memfd_create("small", 0);
    assert_int_equal(stage_page_map(small, &out, &err), EXIT_CODE_USAGE);
    close(small);
}

/* Before every segment: it must cost next to nothing (a message cost 5 us and woke the supervisor). */
static void writing_is_cheap(void **state)
{
    (void)state;
    uint64_t start = clock_now_ns();
    for (int i = 0; i < 100000; i++)
        stage_page_write(page, "cublaslt-autotuning-nn", "measure", 10);
    double each = (double)(clock_now_ns() - start) / 100000;
    print_message("one note: %.0f ns\n", each);
    assert_true(each < 5000); /* a sanitized build on a busy machine included */
}

/* Its reader would die of SIGBUS. */
static void it_cannot_be_cut(void **state)
{
    struct stage_note note;
    (void)state;
    assert_int_not_equal(ftruncate(page_fd, 0), 0);
    assert_int_not_equal(ftruncate(page_fd, 1 << 20), 0);
    assert_true(stage_page_read(page, &note));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_fresh_page_blames_nobody),
        TEST(the_latest_note_holds),
        TEST(long_names_are_cut),
        TEST(what_is_scribbled_reads_as_text),
        TEST(notes_outlive_their_writer_and_are_never_mixed),
        TEST(other_descriptors_are_refused),
        TEST(it_cannot_be_cut),
        TEST(writing_is_cheap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
