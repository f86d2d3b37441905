/* serve/visitors: who does not say what he wants is shown out in time, and sooner when others need the place; who has
 * asked may wait for the answer. */
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
#define NO_SOCKET (-1)
#define MOST (VISITORS_PLACES + VISITORS_IDLE + 2)

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
    visitors_next(v, who[1], 2000 * SECOND); /* its connection is kept for the next request */
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

/* ---- a crowd ---- */

static struct visitors *hall;
static struct visitor *crowd[MOST];
static int n_crowd;

static int open_hall(void **state)
{
    struct error err;
    (void)state;
    n_crowd = 0;
    return visitors_open(&hall, &err);
}

static int close_hall(void **state)
{
    (void)state;
    for (int i = 0; i < n_crowd; i++)
        visitors_leave(hall, crowd[i]);
    visitors_close(hall);
    return 0;
}

static struct visitor *come(int socket)
{
    struct visitor *who = visitors_come(hall, socket, (1000 + (uint64_t)n_crowd) * SECOND);
    assert_non_null(who);
    return crowd[n_crowd++] = who;
}

/* The oldest goes for the newest, and nobody who waits for an answer. */
static void oldest_first(void **state)
{
    int pair[4][2];
    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair[i]), 0);
    for (int i = 0; i < 3; i++)
        come(pair[i][0]);
    visitors_asked(hall, crowd[1]);
    while (n_crowd < VISITORS_PLACES)
        come(NO_SOCKET);
    is_over(pair[0][1], false);
    come(NO_SOCKET);
    is_over(pair[0][1], true);
    is_over(pair[2][1], false);
    come(pair[3][0]);
    is_over(pair[2][1], true);
    visitors_next(hall, crowd[1], 3000 * SECOND); /* answered: the youngest of the idle ones */
    come(NO_SOCKET);
    is_over(pair[1][1], false);
    is_over(pair[3][1], false);
    for (int i = 0; i < 8; i++)
        close(pair[i / 2][i % 2]);
}

/* Where the places are taken by who waits for an answer, a newcomer has time to ask. */
static void many_wait(void **state)
{
    int pair[2];
    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    while (n_crowd < VISITORS_PLACES)
        visitors_asked(hall, come(NO_SOCKET));
    come(pair[0]);
    for (int i = 1; i < VISITORS_IDLE; i++)
        come(NO_SOCKET);
    is_over(pair[1], false);
    come(NO_SOCKET);
    is_over(pair[1], true);
    close(pair[0]);
    close(pair[1]);
}

#define IN_HALL(name) cmocka_unit_test_setup_teardown(name, open_hall, close_hall)

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(slow_ones), IN_HALL(oldest_first), IN_HALL(many_wait)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
