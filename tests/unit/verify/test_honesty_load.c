/* verify/honesty.c on the scripted device: what a machine with more work than it has processors and memory for does to
 * clocks and counts is no contender's fault. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cheat_fixture.h"
#include "device/probe.h"

static void open_cell_with(struct probe_ops *probes)
{
    open_cell();
    *probes = *f.device->probes;
    f.device->probes = probes;
}

/* A machine with more work than processors: behind a reading of the clock this thread may wait for up to 3 ms. */
static struct random load;

static uint64_t raw_now_then_wait(void)
{
    uint64_t now = f.device->ops->now(f.device);
    if (random_below(&load, 3) != 0)
        f.device->ops->wait_until(f.device, now + random_below(&load, 3000000));
    return now;
}

static void a_busy_machine_is_no_fault(void **state)
{
    struct probe_ops probes;
    (void)state;
    random_seed(&load, 1);
    for (unsigned i = 0; i < 60; i++) {
        open_cell_with(&probes);
        f.bench.seed = 100 + i;
        probes.raw_now = raw_now_then_wait;
        f.actors[0].duration_ns = f.actors[1].duration_ns = 250e3;
        expect_verdict("ok");
    }
}

/* Compilers on every processor: this thread waits for its turn each time, for longer than a short row takes. */
static uint64_t raw_now_then_always_wait(void)
{
    uint64_t now = f.device->ops->now(f.device);
    f.device->ops->wait_until(f.device, now + 700000 + random_below(&load, 3000000));
    return now;
}

/* A sanitizer keeps what is freed, and would look like a leak. */
static uint64_t nothing_held(struct device *d)
{
    (void)d;
    return 0;
}

static void a_machine_that_is_always_busy_is_no_fault(void **state)
{
    struct probe_ops probes;
    (void)state;
    random_seed(&load, 2);
    for (unsigned i = 0; i < 30; i++) {
        open_cell_with(&probes);
        f.bench.seed = 200 + i;
        probes.raw_now = raw_now_then_always_wait;
        probes.held = nothing_held;
        f.actors[0].duration_ns = f.actors[1].duration_ns = 2e3;
        expect_verdict("ok");
    }
}

static void work_elsewhere(const struct cudal2_operands *o)
{
    (void)o;
    f.device->ops->wait_until(f.device, f.device->ops->now(f.device) + 30000000);
}

/* And hides nobody whose work the host waits for much longer than for nothing. */
static void work_elsewhere_is_found_on_a_busy_machine(void **state)
{
    struct probe_ops probes;
    (void)state;
    random_seed(&load, 3);
    open_cell_with(&probes);
    probes.raw_now = raw_now_then_always_wait;
    probes.held = nothing_held;
    f.actors[0].duration_ns = f.actors[1].duration_ns = 250e3;
    cheat.afterwards = work_elsewhere;
    expect_verdict("stream_escape");
}

/* ---- memory ---- */

static struct {
    bool launched;
    unsigned times; /* that a launch will be followed by more memory */
    uint64_t bytes;
} memory;

static uint64_t memory_now(struct device *d)
{
    (void)d;
    if (memory.launched && memory.times > 0) {
        memory.times--;
        memory.bytes += 2u << 20;
    }
    memory.launched = false;
    return memory.bytes;
}

static void has_launched(const struct cudal2_operands *o)
{
    (void)o;
    memory.launched = true;
}

/* What grows at two checks one after the other, and then no more: pools, and pages that come back. */
static void memory_that_stops_growing_is_no_leak(void **state)
{
    struct probe_ops probes;
    (void)state;
    for (unsigned times = 2; times < 8; times++) {
        open_cell_with(&probes);
        probes.held = memory_now;
        memset(&memory, 0, sizeof memory);
        memory.times = times;
        cheat.afterwards = has_launched;
        expect_verdict("ok");
        assert_int_equal(memory.times, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_busy_machine_is_no_fault),
        cmocka_unit_test(a_machine_that_is_always_busy_is_no_fault),
        cmocka_unit_test(work_elsewhere_is_found_on_a_busy_machine),
        cmocka_unit_test(memory_that_stops_growing_is_no_leak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
