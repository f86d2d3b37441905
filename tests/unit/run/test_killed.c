/* run/crew: workers that a signal from outside ends, as the kernel's when memory is short. The worker is
 * fake_worker.h's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "fake_worker.h"
#include "run_fixture.h"

/* It may have met anybody, and costs nobody the cell. */
static void test_one_kill_is_forgiven(void **state)
{
    (void)state;
    assert_int_equal(go("beta@32=killonce"), 0);
    struct journal_view v = complete_view();
    for (int i = 0; i < N_CELLS; i++)
        assert_string_equal(record_verdict(&v.records[i]->contenders[1]), "ok");
    assert_int_equal(v.envs, 2);
    free_view(&v);
}

static void test_two_kills_are_not(void **state)
{
    (void)state;
    assert_int_equal(go("beta@32=kill"), 0);
    struct journal_view v = complete_view();
    for (int i = 0; i < N_CELLS; i++) {
        assert_string_equal(record_verdict(&v.records[i]->contenders[1]), i % 3 == 0 ? "killed" : "ok");
        assert_string_equal(record_verdict(&v.records[i]->contenders[2]), "ok");
    }
    free_view(&v);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "worker") == 0)
        return fake_worker();
    const struct CMUnitTest tests[] = {
        TEST(test_one_kill_is_forgiven),
        TEST(test_two_kills_are_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
