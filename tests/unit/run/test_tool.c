/* run/tool: a program is run within limits, what it prints is kept, and nothing of it is left behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/file.h"
#include "run/tool.h"
#include "scratch_fixture.h"

#define MOST_BYTES 4096u

/* sh runs `script`; what it prints goes to the files out and told. */
static struct tool shell(const char *script, const char *words[4])
{
    words[0] = "sh";
    words[1] = "-c";
    words[2] = script;
    words[3] = NULL;
    return (struct tool){.program = "/bin/sh",
                         .arguments = words,
                         .out = scratch_path("out"),
                         .told = scratch_path("told"),
                         .seconds = 20};
}

static void holds(const char *leaf, const char *wanted)
{
    char *text = NULL;
    size_t length;
    struct error err = {0};
    if (file_read(scratch_path(leaf), MOST_BYTES, &text, &length, &err))
        fail_msg("%s", err.text);
    assert_string_equal(text, wanted);
    free(text);
}

static long number_in(const char *leaf)
{
    char *text = NULL;
    size_t length;
    struct error err = {0};
    if (file_read(scratch_path(leaf), MOST_BYTES, &text, &length, &err))
        fail_msg("%s", err.text);
    long number = strtol(text, NULL, 10);
    free(text);
    assert_true(number > 1);
    return number;
}

/* Whether it is no more, within seconds: who has no parent is reaped by another process. */
static bool is_gone(pid_t pid)
{
    char path[64], line[256];
    for (int i = 0; i < 500; i++) {
        snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
        FILE *file = fopen(path, "re");
        bool runs = file && fgets(line, sizeof line, file) && !strstr(line, ") Z");
        if (file)
            fclose(file);
        if (!runs)
            return true;
        usleep(10000);
    }
    return false;
}

static void both_outputs_and_the_status_are_kept(void **state)
{
    const char *words[4];
    struct tool c = shell("echo one; echo two >&2; exit 5", words);
    int status;
    (void)state;
    assert_int_equal(tool_run(&c, &status), TOOL_ENDED);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 5);
    holds("out", "one\n");
    holds("told", "two\n");
}

static void one_file_takes_both_outputs_in_order(void **state)
{
    const char *words[4];
    struct tool c = shell("echo one; echo two >&2; echo three", words);
    int status;
    (void)state;
    c.told = c.out;
    assert_int_equal(tool_run(&c, &status), TOOL_ENDED);
    holds("out", "one\ntwo\nthree\n");
}

static void the_environment_is_the_one_given(void **state)
{
    char first[] = "ONLY=this", *const environment[] = {first, NULL};
    const char *words[4];
    struct tool c = shell("echo $ONLY$HOME", words);
    int status;
    (void)state;
    c.environment = environment;
    assert_int_equal(tool_run(&c, &status), TOOL_ENDED);
    holds("out", "this\n");
}

static void it_has_three_descriptors(void **state)
{
    const char *words[4];
    struct tool c = shell("[ -e /proc/$$/fd/7 ] && echo open; read line; echo read $?", words);
    int status, ours = open("/dev/null", O_RDONLY), seventh = dup2(ours, 7);
    (void)state;
    assert_int_equal(seventh, 7);
    assert_int_equal(tool_run(&c, &status), TOOL_ENDED);
    close(seventh);
    close(ours);
    holds("out", "read 1\n");
}

static void who_takes_too_long_is_killed_with_its_children(void **state)
{
    const char *words[4];
    struct tool c = shell("sleep 60 & echo $!; wait", words);
    int status;
    uint64_t since = clock_now_ns();
    (void)state;
    c.seconds = 0.3;
    assert_int_equal(tool_run(&c, &status), TOOL_LATE);
    assert_true(clock_now_ns() - since < 20000000000u);
    assert_true(is_gone((pid_t)number_in("out")));
}

static void who_is_stopped_is_killed(void **state)
{
    const char *words[4];
    struct tool c = shell("sleep 60", words);
    volatile int stop = 1;
    int status;
    (void)state;
    c.stop = &stop;
    assert_int_equal(tool_run(&c, &status), TOOL_STOPPED);
    assert_true(WIFSIGNALED(status));
}

static void what_it_leaves_behind_is_ended(void **state)
{
    const char *words[4];
    struct tool c = shell("sleep 60 >/dev/null 2>&1 & echo $!", words);
    int status;
    (void)state;
    assert_int_equal(tool_run(&c, &status), TOOL_ENDED);
    assert_true(is_gone((pid_t)number_in("out")));
}

static void a_program_that_is_not_there_ends_with_127(void **state)
{
    const char *words[4];
    struct tool c = shell("true", words);
    int status;
    (void)state;
    c.program = scratch_path("nothing");
    assert_int_equal(tool_run(&c, &status), TOOL_ENDED);
    assert_int_equal(WEXITSTATUS(status), 127);
}

static void a_file_grows_no_larger_than_allowed(void **state)
{
    const char *words[4];
    struct tool c = shell("while :; do echo 0123456789; done", words);
    int status;
    (void)state;
    c.file_bytes = 1000;
    assert_int_equal(tool_run(&c, &status), TOOL_ENDED);
    assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) != 0);
    char *text = NULL;
    size_t length;
    struct error err = {0};
    assert_int_equal(file_read(scratch_path("out"), MOST_BYTES, &text, &length, &err), 0);
    assert_int_equal(length, 1000);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_outputs_and_the_status_are_kept),
        cmocka_unit_test(one_file_takes_both_outputs_in_order),
        cmocka_unit_test(the_environment_is_the_one_given),
        cmocka_unit_test(it_has_three_descriptors),
        cmocka_unit_test(who_takes_too_long_is_killed_with_its_children),
        cmocka_unit_test(who_is_stopped_is_killed),
        cmocka_unit_test(what_it_leaves_behind_is_ended),
        cmocka_unit_test(a_program_that_is_not_there_ends_with_127),
        cmocka_unit_test(a_file_grows_no_larger_than_allowed),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
