/* serve/waits: each client's share of the connections, and all of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "serve/waits.h"

static void a_client_has_its_share(void **state)
{
    struct waits w = {.all = 0};
    (void)state;
    for (size_t i = 0; i < WAITS_OF_ONE; i++)
        assert_true(waits_begin(&w, "alice"));
    assert_false(waits_begin(&w, "alice"));
    assert_true(waits_begin(&w, "bob"));
    assert_int_equal(w.all, WAITS_OF_ONE + 1);
    waits_end(&w, "alice");
    assert_true(waits_begin(&w, "alice"));
    assert_false(waits_begin(&w, "alice"));
}

/* As many clients as there are waits fit, and who has left is forgotten. */
static void all_have_an_end(void **state)
{
    struct waits w = {.all = 0};
    char name[24];
    (void)state;
    for (int i = 0; i < (int)WAITS_OF_ALL; i++) {
        snprintf(name, sizeof name, "client-%d", i);
        assert_true(waits_begin(&w, name));
    }
    assert_false(waits_begin(&w, "client-0"));
    assert_false(waits_begin(&w, "another"));
    waits_end(&w, "nobody");
    assert_int_equal(w.all, WAITS_OF_ALL);
    waits_end(&w, "client-7");
    assert_int_equal(w.n_clients, WAITS_OF_ALL - 1);
    assert_true(waits_begin(&w, "another"));
    for (int i = 0; i < (int)WAITS_OF_ALL; i++) {
        snprintf(name, sizeof name, "client-%d", i);
        if (i != 7)
            waits_end(&w, name);
    }
    waits_end(&w, "another");
    assert_int_equal(w.all, 0);
    assert_int_equal(w.n_clients, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_client_has_its_share),
        cmocka_unit_test(all_have_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
