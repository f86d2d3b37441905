/* operands/arenas.h: how many allocations a cell keeps, which one comes next, and what happens where memory is short.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "device/fake.h"
#include "operands/arenas.h"

#define BYTES 4096u

static struct device *device;
static struct arenas arenas;

static int open_device(void **state)
{
    struct error err;
    struct fake_script script = {.memory_bytes = 64 * BYTES};
    (void)state;
    arenas = (struct arenas){.most = ARENAS_MOST};
    return fake_open(&script, &device, &err);
}

/* Whatever a test did, nothing is left. */
static int close_device(void **state)
{
    (void)state;
    arenas_free(&arenas, device);
    size_t left = fake_bytes_in_use(device);
    device->ops->close(device);
    return left == 0 ? 0 : -1;
}

/* Asks with all the memory that is free, but when a test says how much. */
static void *move_within(uint64_t bytes, uint64_t room, uint64_t seed)
{
    struct error err;
    void *memory = NULL;
    const struct arenas_move move = {.bytes = bytes, .room = room, .seed = seed};
    if (arenas_move(&arenas, device, &move, &memory, &err) != 0)
        fail_msg("%s", err.text);
    assert_ptr_equal(memory, arenas.kept[arenas.at].memory);
    return memory;
}

static void *move(uint64_t seed)
{
    uint64_t room;
    struct error err;
    assert_int_equal(device->ops->memory_free(device, &room, &err), 0);
    return move_within(BYTES, room, seed);
}

/* Two hundred groups take memory four times. */
static void a_cell_takes_memory_a_few_times(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < ARENAS_MOST; i++) {
        assert_false(arenas_full(&arenas, BYTES));
        (void)move(i);
        assert_int_equal(fake_bytes_in_use(device), (i + 1) * BYTES);
        assert_int_equal(arenas_spare(&arenas), i * BYTES);
    }
    for (uint64_t i = ARENAS_MOST; i < 200; i++) {
        assert_true(arenas_full(&arenas, BYTES));
        (void)move_within(BYTES, 0, i); /* nobody needs to ask how much is free */
    }
    assert_int_equal(fake_counts(device).allocs, ARENAS_MOST);
}

/* From any allocation each of the others comes next equally often, and the same one never. */
static void the_next_one_is_another(void **state)
{
    unsigned counts[ARENAS_MOST][ARENAS_MOST] = {{0}};
    (void)state;
    for (uint64_t i = 0; i < ARENAS_MOST; i++)
        (void)move(i);
    for (uint64_t i = 0; i < 12000; i++) {
        unsigned before = arenas.at;
        (void)move(i);
        counts[before][arenas.at]++;
    }
    for (unsigned from = 0; from < ARENAS_MOST; from++) {
        assert_int_equal(counts[from][from], 0);
        for (unsigned to = 0; to < ARENAS_MOST; to++)
            assert_true(from == to || (counts[from][to] > 880 && counts[from][to] < 1120)); /* 1000 +- 4 sigma */
    }
}

/* The seed decides, so that a cell can be measured again. */
static void the_seed_draws(void **state)
{
    unsigned first[50];
    (void)state;
    for (int round = 0; round < 2; round++) {
        arenas_free(&arenas, device);
        for (uint64_t i = 0; i < 50; i++) {
            (void)move(i);
            if (round == 0)
                first[i] = arenas.at;
            assert_int_equal(arenas.at, first[i]);
        }
    }
}

/* On a device where memory is cheap: a new allocation each time, and the old one is there until then. */
static void one_alone_is_replaced(void **state)
{
    void *before = NULL;
    (void)state;
    arenas.most = 1;
    for (uint64_t i = 0; i < 10; i++) {
        void *now = move(i);
        assert_ptr_not_equal(now, before);
        assert_int_equal(fake_bytes_in_use(device), BYTES);
        assert_false(arenas_full(&arenas, BYTES));
        assert_int_equal(arenas_spare(&arenas), 0);
        before = now;
    }
    assert_int_equal(fake_counts(device).allocs, 10);
}

/* Kept are so many that the checks' own memory is never short. */
static void memory_that_is_short_keeps_none(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 5; i++) {
        (void)move_within(BYTES, ARENAS_ROOM * BYTES - 1, i);
        assert_int_equal(fake_bytes_in_use(device), BYTES);
    }
    (void)move_within(BYTES, ARENAS_ROOM * BYTES, 5);
    assert_int_equal(fake_bytes_in_use(device), 2 * BYTES);
    (void)move_within(BYTES, 0, 6); /* what is kept stays in use */
    assert_int_equal(fake_bytes_in_use(device), 2 * BYTES);
    assert_int_equal(arenas.n, 2);
}

/* With no room beside it the old one goes first; with none at all nothing is held, and it says so. */
static void a_full_device_gives_the_old_one_back(void **state)
{
    struct error err;
    void *memory = &err;
    (void)state;
    (void)move_within(40 * BYTES, 64 * BYTES, 0);
    (void)move_within(50 * BYTES, 24 * BYTES, 1);
    assert_int_equal(fake_bytes_in_use(device), 50 * BYTES);
    const struct arenas_move much = {.bytes = 65 * BYTES, .room = 14 * BYTES};
    assert_int_not_equal(arenas_move(&arenas, device, &much, &memory, &err), 0);
    assert_null(memory);
    assert_int_equal(arenas.n, 0);
    assert_int_equal(fake_bytes_in_use(device), 0);
}

/* A driver that has less than it says: what is there serves. */
static void a_refused_allocation_is_done_without(void **state)
{
    (void)state;
    (void)move_within(20 * BYTES, 64 * BYTES, 0);
    (void)move_within(20 * BYTES, 1000 * BYTES, 1);
    (void)move_within(20 * BYTES, 1000 * BYTES, 2);
    unsigned before = arenas.at;
    (void)move_within(20 * BYTES, 1000 * BYTES, 3); /* there is room for four of the twenty */
    assert_int_equal(arenas.n, 3);
    assert_int_not_equal(arenas.at, before);
}

/* Nothing asks for more in the middle of a cell; who does gets it. */
static void more_than_they_hold_replaces_all(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < ARENAS_MOST; i++)
        (void)move(i);
    assert_false(arenas_full(&arenas, BYTES + 1));
    (void)move_within(BYTES + 1, 64 * BYTES, 9);
    assert_int_equal(arenas.n, 1);
    assert_int_equal(fake_bytes_in_use(device), BYTES + 1);
    assert_true(arenas.kept[0].bytes > BYTES);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_device, close_device)
    const struct CMUnitTest tests[] = {
        TEST(a_cell_takes_memory_a_few_times),
        TEST(the_next_one_is_another),
        TEST(the_seed_draws),
        TEST(one_alone_is_replaced),
        TEST(memory_that_is_short_keeps_none),
        TEST(a_full_device_gives_the_old_one_back),
        TEST(a_refused_allocation_is_done_without),
        TEST(more_than_they_hold_replaces_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
