/* What strangers' processes write: base/relay.h. Tried on pipes at both ends. */
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <unistd.h>

#include "base/relay.h"

static struct relay relay;
static int theirs, shown[2];

static int open_relay(void **state)
{
    (void)state;
    assert_int_equal(pipe2(shown, O_NONBLOCK), 0);
    assert_int_equal(fcntl(shown[1], F_SETPIPE_SZ, 1 << 20) >= 1 << 20, 1);
    theirs = relay_open(&relay, shown[1], "worker: ");
    assert_true(theirs > 2);
    return 0;
}

static int close_relay(void **state)
{
    (void)state;
    relay_close(&relay);
    close(shown[0]);
    close(shown[1]);
    return 0;
}

static void says(const char *bytes, size_t length)
{
    assert_int_equal(write(theirs, bytes, length), (ssize_t)length);
    relay_pass(&relay);
}

static const char *seen(void)
{
    static char text[(1 << 20) + 1];
    ssize_t got = read(shown[0], text, sizeof text - 1);
    text[got > 0 ? got : 0] = '\0';
    return text;
}

static void lines_come_whole_and_harmless(void **state)
{
    static const char evil[] = "a\tb\033[8m\302\2332J\342\200\256\0c\r\nrest";
    (void)state;
    says(evil, sizeof evil - 1);
    assert_string_equal(seen(), "worker: a b\\x1b[8m\\u009b2J\\u202e?c\\x0d\n");
    says(" of it", 6);
    assert_string_equal(seen(), "");
    close(theirs);
    relay_pass(&relay);
    assert_string_equal(seen(), "worker: rest of it\n");
    assert_int_equal(relay_wait_fd(&relay), -1);
}

static void a_line_without_end_is_cut(void **state)
{
    static char line[3 * RELAY_LINE];
    (void)state;
    memset(line, 'x', sizeof line);
    says(line, sizeof line);
    assert_int_equal(strlen(seen()), 3 * (RELAY_LINE + strlen("worker: \n")));
    close(theirs);
}

static void a_flood_is_left_out_and_read(void **state)
{
    static char line[1000];
    size_t length = 0, before = 0;
    const char *rest = NULL;
    (void)state;
    memset(line, 'x', sizeof line);
    line[sizeof line - 1] = '\n';
    for (int i = 0; i < 1000; i++) {
        says(line, sizeof line); /* none of these waits for ever */
        const char *text = seen();
        length += strlen(text);
        rest = strstr(text, "left out") ? text : rest;
        before = rest ? before : length;
    }
    assert_non_null(rest);
    assert_true(before > RELAY_MOST / 2 && length < 2 * RELAY_MOST);
    close(theirs);
}

/* The other end may stay open: a process that nothing ends. */
static void closing_does_not_wait(void **state)
{
    (void)state;
    assert_int_equal(write(theirs, "last", 4), 4);
    relay_close(&relay);
    assert_string_equal(seen(), "worker: last\n");
    assert_int_equal(relay_wait_fd(&relay), -1);
    relay_close(&relay);
    assert_string_equal(seen(), "");
    close(theirs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(lines_come_whole_and_harmless, open_relay, close_relay),
        cmocka_unit_test_setup_teardown(a_line_without_end_is_cut, open_relay, close_relay),
        cmocka_unit_test_setup_teardown(a_flood_is_left_out_and_read, open_relay, close_relay),
        cmocka_unit_test_setup_teardown(closing_does_not_wait, open_relay, close_relay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
