/* serve/visitors: who does not say what he wants is shown out in time; who has asked may wait for the answer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "serve/visitors.h"

#define SECOND 1000000000ull

static void is_over(int fd, bool over)
{
    char byte;
    ssize_t n = recv(fd, &byte, 1, MSG_DONTWAIT);
    assert_int_equal(n, over ? 0 : -1);
}

static void slow_ones(void **state)
{
    struct visitors *v;
    struct error err;
    int pair[2][2];
    uint64_t late = (uint64_t)VISITORS_SECONDS + 1;
    (void)state;
    assert_int_equal(visitors_open(&v, &err), 0);
    struct visitor *who[2];
    for (int i = 0; i < 2; i++) {
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair[i]), 0);
        who[i] = visitors_come(v, pair[i][0], 1000 * SECOND);
        assert_non_null(who[i]);
    }
    visitors_asked(v, who[1]);
    assert_int_equal(visitors_show_out(v, 1001 * SECOND), 0);
    assert_int_equal(visitors_show_out(v, (1000 + late) * SECOND), 1);
    is_over(pair[0][1], true);
    is_over(pair[1][1], false);
    visitors_leave(v, who[0]);
    visitors_answered(v, who[1], 2000 * SECOND); /* its connection is kept for the next request */
    assert_int_equal(visitors_show_out(v, 2001 * SECOND), 0);
    is_over(pair[1][1], false);
    assert_int_equal(visitors_show_out(v, (2000 + late) * SECOND), 1);
    is_over(pair[1][1], true);
    visitors_leave(v, who[1]);
    visitors_asked(v, NULL);
    visitors_leave(v, NULL);
    visitors_close(v);
    visitors_close(NULL);
    for (int i = 0; i < 4; i++)
        close(pair[i / 2][i % 2]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(slow_ones)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
