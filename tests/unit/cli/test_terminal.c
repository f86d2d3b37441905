/* cli/terminal: colour and cursor control on a real terminal, by TERM and NO_COLOR; never on anything else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/terminal.h"

static int main_end = -1, terminal = -1;

static int open_terminal(void **state)
{
    (void)state;
    main_end = posix_openpt(O_RDWR | O_NOCTTY);
    if (main_end < 0 || grantpt(main_end) || unlockpt(main_end))
        return 0; /* a machine may have none: the tests skip */
    const char *name = ptsname(main_end);
    terminal = name ? open(name, O_RDWR | O_NOCTTY) : -1;
    return 0;
}

static void expect(const char *term, const char *no_color, bool live, bool colour)
{
    if (terminal < 0)
        skip();
    setenv("TERM", term, 1);
    if (no_color)
        setenv("NO_COLOR", no_color, 1);
    else
        unsetenv("NO_COLOR");
    assert_int_equal(terminal_is_live(terminal), live);
    assert_int_equal(terminal_has_colour(terminal), colour);
}

static void a_terminal_has_colour(void **state)
{
    (void)state;
    expect("xterm", NULL, true, true);
}

static void a_dumb_one_has_not(void **state)
{
    (void)state;
    expect("dumb", NULL, false, false);
}

/* no-color.org: "when present and not an empty string". */
static void no_color_counts_unless_empty(void **state)
{
    (void)state;
    expect("xterm", "1", true, false);
    expect("xterm", "", true, true);
}

static void a_file_has_none(void **state)
{
    (void)state;
    int file = open("/dev/null", O_WRONLY);
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
    assert_false(terminal_is_live(file));
    assert_false(terminal_has_colour(file));
    close(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_terminal_has_colour),
        cmocka_unit_test(a_dumb_one_has_not),
        cmocka_unit_test(no_color_counts_unless_empty),
        cmocka_unit_test(a_file_has_none),
    };
    return cmocka_run_group_tests(tests, open_terminal, NULL);
}
