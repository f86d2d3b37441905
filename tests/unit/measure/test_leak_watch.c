/*
 * test_leak_watch.c - memory over setups and teardowns: who leaks is told as if everything were asked each time, and
 * a row of contenders is asked for once. Relies on measure/leak_watch.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/random.h"
#include "measure/leak_watch.h"

#define MIB ((uint64_t)1 << 20)
#define MOST 5u

static struct {
    uint64_t now;
    unsigned asked;
} held;

static uint64_t ask_held(struct device *d)
{
    (void)d;
    held.asked++;
    return held.now;
}

static const struct probe_ops probes = {.held = ask_held};

/* The rule itself, everything asked anew each time. */
struct rule {
    uint64_t before[MOST];
    int64_t own[MOST];
    bool grew[MOST];
    unsigned cycles, runs[MOST];
};

/* Of one contender in a cycle: what its setup takes, and its teardown gives. */
struct change {
    int64_t setup, teardown;
};

struct race {
    struct device device;
    struct leak_watch watches[MOST];
    struct leak_meter meter;
    struct rule rule;
    size_t n;
};

static void expect_rule(struct race *r, size_t i)
{
    struct rule *rule = &r->rule;
    bool process_grew = rule->cycles > 0 && held.now >= rule->before[i] + LEAK_WATCH_LEAST;
    if (rule->cycles < LEAK_WATCH_CYCLES)
        rule->runs[i] = rule->cycles > 1 && rule->grew[i] && process_grew ? rule->runs[i] + 1 : 0;
    rule->before[i] = held.now;
}

static void set_up(struct race *r, const struct change *changes)
{
    leak_meter_begin_row(&r->meter);
    for (size_t i = 0; i < r->n; i++) {
        expect_rule(r, i);
        leak_watch_setup(&r->watches[i], &r->meter, &r->device, true);
        assert_int_equal(leak_watch_leaks(&r->watches[i]), r->rule.runs[i] >= 2);
        held.now = (uint64_t)((int64_t)held.now + changes[i].setup);
        leak_watch_setup(&r->watches[i], &r->meter, &r->device, false);
        r->rule.own[i] = changes[i].setup - changes[i].teardown;
    }
    leak_meter_end_row(&r->meter);
}

static void tear_down(struct race *r, const struct change *changes)
{
    leak_meter_begin_row(&r->meter);
    for (size_t i = 0; i < r->n; i++) {
        leak_watch_teardown(&r->watches[i], &r->meter, &r->device, true);
        held.now = (uint64_t)((int64_t)held.now - changes[i].teardown);
        leak_watch_teardown(&r->watches[i], &r->meter, &r->device, false);
        r->rule.grew[i] = r->rule.own[i] >= (int64_t)LEAK_WATCH_LEAST;
    }
    r->rule.cycles++;
    leak_meter_end_row(&r->meter);
}

static struct race open_race(size_t n)
{
    held.now = 1u << 30;
    held.asked = 0;
    return (struct race){.device = {.probes = &probes}, .n = n};
}

static int64_t draw_bytes(struct random *random)
{
    static const int64_t kibs[] = {0, 512, 1023, 1024, 2048, 65536};
    return kibs[random_below(random, sizeof kibs / sizeof *kibs)] * 1024;
}

static void the_verdict_is_that_of_asking_each_time(void **state)
{
    struct random random;
    unsigned told = 0;
    (void)state;
    random_seed(&random, 11);
    for (unsigned cell = 0; cell < 20000; cell++) {
        struct race r = open_race(1 + (size_t)random_below(&random, MOST));
        struct change changes[MOST];
        for (unsigned cycle = 0; cycle < 6; cycle++) {
            for (size_t i = 0; i < r.n; i++)
                changes[i] = (struct change){draw_bytes(&random), draw_bytes(&random)};
            set_up(&r, changes);
            held.now = (uint64_t)((int64_t)held.now + draw_bytes(&random)); /* what is timed in between */
            tear_down(&r, changes);
        }
        for (size_t i = 0; i < r.n; i++)
            told += leak_watch_leaks(&r.watches[i]);
    }
    assert_in_range(told, 1000, 40000);
}

static unsigned asked_of(const struct change changes[MOST])
{
    struct race r = open_race(MOST);
    for (unsigned cycle = 0; cycle < 8; cycle++) {
        set_up(&r, changes);
        tear_down(&r, changes);
    }
    return held.asked;
}

/* Four questions about each contender in each of four cycles would be 16; those behind the first cycle and in the last
 * one have no answer that counts, neighbours in a row share theirs, and who gives everything back in the second cycle
 * is not asked about again. */
static void a_row_is_asked_once_between_two(void **state)
{
    const struct change honest[MOST] = {{64 << 20, 64 << 20}};
    struct change leaks[MOST];
    (void)state;
    for (size_t i = 0; i < MOST; i++)
        leaks[i] = (struct change){64 << 20, 0};
    assert_int_equal(asked_of(honest), 2 * (MOST + 1));
    assert_int_equal(asked_of(leaks), 4 * (MOST + 1) + MOST);
}

/* Whether a contender leaks before the setup behind so many cycles in which its setup takes `took` and its teardown
 * gives `gave` back, and somebody else takes `others`. */
static bool leaks_after(unsigned cycles, uint64_t took, uint64_t gave, uint64_t others)
{
    struct device device = {.probes = &probes};
    struct leak_meter meter = {0};
    struct leak_watch h = {0};
    held.now = 1u << 30;
    for (unsigned i = 0; i < cycles; i++) {
        leak_watch_setup(&h, &meter, &device, true);
        held.now += took;
        leak_watch_setup(&h, &meter, &device, false);
        held.now += others;
        leak_watch_teardown(&h, &meter, &device, true);
        held.now -= gave;
        leak_watch_teardown(&h, &meter, &device, false);
    }
    leak_watch_setup(&h, &meter, &device, true);
    return leak_watch_leaks(&h);
}

static void only_what_grows_each_time_leaks(void **state)
{
    (void)state;
    assert_true(leaks_after(3, 64 * MIB, 0, 0));
    assert_true(leaks_after(3, 64 * MIB, 63 * MIB, 0));
    assert_false(leaks_after(3, 64 * MIB, 64 * MIB, 0));
    assert_false(leaks_after(3, 64 * MIB, 64 * MIB, 8 * MIB)); /* somebody else's */
    assert_false(leaks_after(3, MIB / 2, 0, 0));
    assert_false(leaks_after(2, 64 * MIB, 0, 0)); /* the first is forgiven, and one more proves nothing */
    assert_false(leaks_after(1, 64 * MIB, 0, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_verdict_is_that_of_asking_each_time),
        cmocka_unit_test(a_row_is_asked_once_between_two),
        cmocka_unit_test(only_what_grows_each_time_leaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
