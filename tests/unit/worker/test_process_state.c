/* worker/process_state.c: what is compared when a stage is left, and what only when the contender is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fenv.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "worker/process_state.h"
#include "worker/protocol.h"

static struct process_state process;
static int ends[2];

static int begin(void **state)
{
    (void)state;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return -1;
    process_state_begin(&process, ends[0]);
    return 0;
}

static int end(void **state)
{
    (void)state;
    close(ends[0]);
    close(ends[1]);
    return 0;
}

static void expect(int when_left, int when_going_on)
{
    assert_int_equal(process_state_leave(&process, "setup", false), when_left);
    assert_int_equal(process_state_leave(&process, "tune", false), when_left);
    assert_int_equal(process_state_leave(&process, "tune", true), when_going_on);
    assert_int_equal(process_state_leave(&process, "measure", false), when_going_on);
}

static void nothing_has_changed(void **state)
{
    (void)state;
    expect(0, 0);
}

/* Whoever changes a variable in its race is told when the race is over. */
static void variables_are_compared_when_a_contender_is_left(void **state)
{
    (void)state;
    setenv("OMP_OF_A_TEST", "1", 1);
    expect(PROTOCOL_VARIABLES, 0);
    unsetenv("OMP_OF_A_TEST");
    expect(0, 0);
}

static void threads_are_counted_when_a_contender_is_left(void **state)
{
    (void)state;
    assert_true(process.most_threads > 1000);
    process.most_threads = 0;
    expect(PROTOCOL_THREADS, 0);
}

static void unread_messages_are_found_at_once(void **state)
{
    (void)state;
    assert_int_equal(write(ends[0], "x", 1), 1);
    expect(PROTOCOL_TAMPERED, PROTOCOL_TAMPERED);
}

static void rounding_is_found_at_once_but_put_back_after_loading(void **state)
{
    (void)state;
    fesetround(FE_UPWARD);
    expect(PROTOCOL_ARITHMETIC, PROTOCOL_ARITHMETIC);
    assert_int_equal(process_state_leave(&process, "load", false), 0);
    assert_int_equal(fegetround(), FE_TONEAREST);
}

#define ON_PROCESS(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_PROCESS(nothing_has_changed),
        ON_PROCESS(variables_are_compared_when_a_contender_is_left),
        ON_PROCESS(threads_are_counted_when_a_contender_is_left),
        ON_PROCESS(unread_messages_are_found_at_once),
        ON_PROCESS(rounding_is_found_at_once_but_put_back_after_loading),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
