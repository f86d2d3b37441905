/* device/host_apart: what is lent to a process is its own, at the same address, and no other sees any of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device/host_pages.h"

#define PAGE 4096

static struct host_pages *pages;
static struct host_apart *apart;
static int files[2];
static char *block; /* of four pages */

static int open_all(void **state)
{
    (void)state;
    assert_int_equal(host_pages_open(1u << 30, &pages), 0);
    assert_null(host_pages_apart(pages));
    assert_int_equal(host_pages_share(pages), 0);
    apart = host_pages_apart(pages);
    assert_non_null(apart);
    for (int i = 0; i < 2; i++)
        assert_true((files[i] = host_apart_file(apart)) >= 0);
    block = host_apart_take(apart, 4 * PAGE);
    assert_non_null(block);
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++)
        if (files[i] >= 0)
            host_apart_end(apart, files[i]);
    host_pages_close(pages);
    return 0;
}

static void lend(int who, size_t from, size_t to, bool keep)
{
    const struct host_loan loan = {files[who], keep, block + from, block + to};
    assert_true(host_apart_lend(apart, &loan));
}

/* What the first bytes of the four pages are to a process that has entered a file; it writes '!' behind each. */
static void seen_by(int who, char out[5])
{
    int ends[2];
    char seen[5] = "";
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        bool entered = host_apart_enter(apart, files[who]);
        for (size_t i = 0; i < 4; i++) {
            seen[i] = block[i * PAGE] ? block[i * PAGE] : '.';
            block[i * PAGE + 1] = '!';
        }
        _exit(entered && write(ends[1], seen, sizeof seen) == sizeof seen ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(read(ends[0], out, 5), 5);
    close(ends[0]);
    close(ends[1]);
}

static void each_sees_its_own(void **state)
{
    char seen[5];
    (void)state;
    lend(0, 0, PAGE, false);
    lend(1, 2 * PAGE, 3 * PAGE, false);
    for (size_t i = 0; i < 4; i++)
        block[i * PAGE] = (char)('a' + i);
    seen_by(0, seen);
    assert_string_equal(seen, "a...");
    seen_by(1, seen);
    assert_string_equal(seen, "..c.");
    assert_true(block[1] == '!' && block[2 * PAGE + 1] == '!');
    assert_true(block[PAGE + 1] == 0 && block[3 * PAGE + 1] == 0); /* what it wrote elsewhere is nobody's */
}

static void whole_pages_are_lent(void **state)
{
    char seen[5];
    (void)state;
    lend(0, 1, 3 * PAGE - 1, false);
    for (size_t i = 0; i < 4; i++)
        block[i * PAGE] = 'x';
    seen_by(0, seen);
    assert_string_equal(seen, ".x..");
    const struct host_loan nothing = {files[0], false, block + 1, block + PAGE},
                           beyond = {files[0], false, &pages, &pages + PAGE};
    assert_false(host_apart_lend(apart, &nothing));
    assert_false(host_apart_lend(apart, &beyond));
}

static void what_pages_held_may_stay(void **state)
{
    char seen[5];
    (void)state;
    block[0] = block[PAGE] = 'k';
    lend(0, 0, PAGE, true);
    lend(0, PAGE, 2 * PAGE, false);
    assert_true(block[0] == 'k' && block[PAGE] == 0);
    seen_by(0, seen);
    assert_string_equal(seen, "k...");
}

static void what_is_given_back_is_nobodys(void **state)
{
    char seen[5];
    (void)state;
    lend(0, 0, 4 * PAGE, false);
    block[0] = 'g';
    assert_true(host_apart_give(apart, block));
    assert_false(host_apart_give(apart, block));
    assert_ptr_equal(host_apart_take(apart, 4 * PAGE), block);
    assert_int_equal(block[0], 0);
    block[0] = 'h';
    seen_by(0, seen);
    assert_string_equal(seen, "....");
    assert_int_equal(block[1], 0);
}

static void what_was_lent_to_one_that_ended_is_not_lost(void **state)
{
    (void)state;
    lend(0, 0, PAGE, false);
    lend(1, PAGE, 2 * PAGE, false);
    host_apart_end(apart, files[0]);
    files[0] = -1;
    block[0] = 'e';
    block[PAGE] = 'f';
    assert_true(host_apart_give(apart, block));
}

static void blocks_do_not_overlap(void **state)
{
    (void)state;
    char *second = host_apart_take(apart, PAGE + 1), *third = host_apart_take(apart, 1);
    assert_ptr_equal(second, block + 4 * PAGE);
    assert_ptr_equal(third, second + 2 * PAGE);
    assert_true(host_apart_give(apart, second));
    assert_ptr_equal(host_apart_take(apart, 2 * PAGE), second);
    assert_null(host_apart_take(apart, 1ull << 60));
    struct host_span whole = host_pages_whole(pages);
    assert_true((uint64_t)(uintptr_t)block >= whole.from && (uint64_t)(uintptr_t)third < whole.to);
    assert_int_equal(whole.to % HOST_PAGES_ALIGNMENT, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_all, close_all)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_sees_its_own),
        TEST(whole_pages_are_lent),
        TEST(what_pages_held_may_stay),
        TEST(what_is_given_back_is_nobodys),
        TEST(what_was_lent_to_one_that_ended_is_not_lost),
        TEST(blocks_do_not_overlap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
