/* verify/honesty.c on the scripted device: each way to cheat after verification has its verdict, and honest work none.
 */
#include <setjmp.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/half.h"
#include "cheat_fixture.h"
#include "device/probe.h"
#include "verify/honesty.h"

static void honest_work_passes_twice(void **state)
{
    (void)state;
    open_cell();
    run_cell();
    for (size_t i = 0; i < 2; i++) {
        const struct contender_record *r = &f.bench.record->contenders[i];
        assert_string_equal(record_verdict(r), "ok");
        const cJSON *checks = cJSON_GetObjectItemCaseSensitive(r->verification, "timed_checks");
        assert_true(checks != NULL && checks->valuedouble == 2);
    }
    const double *parts = f.bench.record->part_seconds;
    double trials = parts[PART_FRESH] + parts[PART_RESTORE] + parts[PART_BETWEEN] + parts[PART_REPLAY];
    assert_true(parts[PART_FRESH] > 0 && parts[PART_BETWEEN] > 0 && parts[PART_REPLAY] > 0);
    assert_true(trials <= f.bench.record->phase_seconds[PHASE_OTHER] + 1e-9);
    fixture_close(&f);
}

static double checks_of(size_t i)
{
    const cJSON *v = f.bench.record->contenders[i].verification;
    return cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(v, "timed_checks"));
}

static double checks_of_cell(uint64_t seed, bool candidates, double of[2])
{
    open_cell();
    f.bench.seed = seed;
    for (size_t i = 0; i < 2; i++)
        f.bench.record->contenders[i].candidate = candidates;
    run_cell();
    of[0] = checks_of(0);
    of[1] = checks_of(1);
    fixture_close(&f);
    return of[0] + of[1];
}

/* Two candidates have every check of a cell; of two baselines both have the first, and one, drawn, each other. */
static void a_baseline_is_checked_again_where_it_is_drawn(void **state)
{
    bool drawn[2] = {false, false};
    (void)state;
    for (uint64_t seed = 0; seed < 40 && !(drawn[0] && drawn[1]); seed++) {
        double of[2], occasions = checks_of_cell(seed, true, of) / 2;
        assert_true(occasions >= 2);
        assert_true(checks_of_cell(seed, false, of) == occasions + 1);
        for (size_t i = 0; i < 2; i++)
            drawn[i] |= of[i] > 1;
    }
    assert_true(drawn[0] && drawn[1]);
}

static void off_means_off(void **state)
{
    (void)state;
    open_cell();
    f.config.honesty = false;
    run_cell();
    assert_null(cJSON_GetObjectItemCaseSensitive(f.bench.record->contenders[0].verification, "timed_checks"));
    assert_true(f.bench.record->phase_seconds[PHASE_OTHER] == 0);
    fixture_close(&f);
}

/* Times of checks are no samples: as many as without them. */
static void checks_are_not_samples(void **state)
{
    size_t samples[2];
    (void)state;
    for (int on = 0; on < 2; on++) {
        open_cell();
        f.config.honesty = on;
        run_cell();
        samples[on] = f.bench.record->contenders[0].timings[TIMING_DEVICE].n;
        fixture_close(&f);
    }
    assert_int_equal(samples[0], samples[1]);
    assert_true(samples[0] > 0);
}

/* ---- cheats ---- */

static void nothing(const struct contender *c, void *state, size_t set, char *why)
{
    (void)c, (void)state, (void)set, (void)why;
    fake_enqueue(f.device, 0);
}

static void every_other(const struct contender *c, void *state, size_t set, char *why)
{
    if (cheat.launches % 2 == 0)
        cheat.honest->launch(c, state, set, why);
}

static void one_too_many(const struct cudal2_operands *o)
{
    element_store(o->c, CUDAL2_F16, 3, element_load(o->c, CUDAL2_F16, 3) + 1);
}

/* Right where the inputs are a test's, stretched where they are not. */
static void stretched(const struct cudal2_operands *o)
{
    for (size_t i = 0; i < 16; i++) {
        float value = element_load(o->a, CUDAL2_F16, i);
        if (value == 0 || value == 1)
            return;
    }
    for (size_t i = 0; i < 64; i++)
        element_store(o->c, CUDAL2_F16, i, 2 * element_load(o->c, CUDAL2_F16, i));
}

static void past_the_end(const struct cudal2_operands *o)
{
    ((unsigned char *)o->c)[64 * 2] = 0x11;
}

static void before_the_start(const struct cudal2_operands *o)
{
    ((unsigned char *)o->c)[-1] = 0x11;
}

static void inputs_touched(const struct cudal2_operands *o)
{
    ((unsigned char *)(uintptr_t)o->b)[7] = (unsigned char)(cheat.launches * 31);
}

/* A list, so that the test can free what its contender lost. */
static struct lost {
    struct lost *before;
    char bytes[48 << 10];
} * lost;

static void memory_lost(const struct cudal2_operands *o)
{
    struct lost *more = malloc(sizeof *more);
    (void)o;
    if (more == NULL)
        return;
    memset(more, 1, sizeof *more);
    more->before = lost;
    lost = more;
}

static void cheats_have_their_verdicts(void **state)
{
    static const struct {
        void (*afterwards)(const struct cudal2_operands *);
        const char *verdict;
    } rows[] = {{one_too_many, "wrong_result"},
                {stretched, "wrong_result"},
                {past_the_end, "oob_write"},
                {before_the_start, "oob_write"},
                {inputs_touched, "input_mutated"}};
    (void)state;
    for (size_t i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
        open_cell();
        cheat.ops.device_only = i % 2 == 1;
        cheat.afterwards = rows[i / 2].afterwards;
        expect_verdict(rows[i / 2].verdict);
    }
}

static void skipped_work_is_found(void **state)
{
    (void)state;
    for (int device_only = 0; device_only < 2; device_only++) {
        open_cell();
        cheat.ops.device_only = device_only;
        cheat.instead = nothing;
        expect_verdict("wrong_result");
        open_cell();
        cheat.ops.device_only = device_only;
        cheat.instead = every_other;
        expect_verdict("wrong_result");
    }
}

static unsigned held_asked;

static uint64_t held(struct device *d)
{
    (void)d;
    held_asked++;
    return 1u << 30;
}

/* Who has no code on the host leaves nothing behind that has been waited for, and takes no memory: nobody waits for it,
 * and nobody asks. */
static void nothing_lingers_of_kernels_alone(void **state)
{
    struct probe_ops probes;
    unsigned asked[2];
    double fresh[2];
    (void)state;
    for (int device_only = 0; device_only < 2; device_only++) {
        open_cell();
        probes = *f.device->probes;
        probes.held = held;
        f.device->probes = &probes;
        cheat.ops.device_only = device_only;
        held_asked = 0;
        run_cell();
        asked[device_only] = held_asked;
        fresh[device_only] = f.bench.record->part_seconds[PART_FRESH];
        assert_true(checks_of(0) >= 2);
        fixture_close(&f);
    }
    assert_true(asked[0] >= 2 * 2 * 2);
    assert_int_equal(asked[1], 0);
    assert_true(fresh[0] > fresh[1]);
}

static void memory_that_is_lost_each_time_is_found(void **state)
{
    (void)state;
    open_cell();
    f.config.stop.max_blocks = 16;
    cheat.afterwards = memory_lost;
    expect_verdict("leak");
    while (lost != NULL) {
        struct lost *before = lost->before;
        free(lost);
        lost = before;
    }
}

/* ---- clocks ---- */

static double raw_rate; /* of a second clock, by the device's */

static uint64_t raw_now(void)
{
    return (uint64_t)(raw_rate * (double)f.device->ops->now(f.device));
}

static void open_cell_with_clock(struct probe_ops *probes, double rate)
{
    open_cell();
    *probes = *f.device->probes;
    probes->raw_now = raw_now;
    f.device->probes = probes;
    raw_rate = rate;
}

static unsigned threads_now;

static unsigned threads_counted(void)
{
    return threads_now;
}

static void starts_a_thread(const struct cudal2_operands *o)
{
    (void)o;
    threads_now++;
}

/* No fault, but it is told. */
static void threads_of_a_contender_are_told(void **state)
{
    struct probe_ops probes;
    (void)state;
    open_cell_with_clock(&probes, 1);
    probes.threads = threads_counted;
    threads_now = 7;
    cheat.afterwards = starts_a_thread;
    run_cell();
    const struct contender_record *r = f.bench.record->contenders;
    assert_string_equal(record_verdict(&r[0]), "ok");
    assert_string_equal(record_verdict(&r[1]), "ok");
    const cJSON *threads = cJSON_GetObjectItemCaseSensitive(r[0].verification, "threads");
    assert_true(threads != NULL && threads->valuedouble >= 1);
    assert_null(cJSON_GetObjectItemCaseSensitive(r[1].verification, "threads"));
    fixture_close(&f);
}

/* One of them runs ten times slower: nobody can say at whose wish, but it is not let pass. */
static void clocks_must_agree(void **state)
{
    struct probe_ops probes;
    (void)state;
    open_cell_with_clock(&probes, 1);
    run_cell();
    assert_string_equal(record_verdict(&f.bench.record->contenders[0]), "ok");
    fixture_close(&f);
    open_cell_with_clock(&probes, 10);
    run_cell();
    assert_string_equal(record_verdict(&f.bench.record->contenders[0]), "tamper_suspected");
    fixture_close(&f);
}

static void host_waits_longer(const struct cudal2_operands *o)
{
    (void)o;
    f.device->ops->wait_until(f.device, f.device->ops->now(f.device) + 5000000);
}

/* The device counts a launch of 0.25 ms, the host waits for more than 5 ms. */
static void the_host_knows_of_work_elsewhere(void **state)
{
    struct probe_ops probes;
    (void)state;
    open_cell_with_clock(&probes, 1);
    f.actors[0].duration_ns = f.actors[1].duration_ns = 250e3;
    cheat.afterwards = host_waits_longer;
    expect_verdict("stream_escape");
}

/* ---- work that begins early ---- */

/* A's first element while it is set aside, and whose A it is. */
static struct {
    const struct cudal2_operands *operands;
    float element;
    unsigned times;
    unsigned early_from; /* from this block on the first contender does not wait; 0: it always does */
} veiled;

static void unveil(void)
{
    if (veiled.operands != NULL)
        element_store((void *)(uintptr_t)veiled.operands->a, CUDAL2_F16, 0, veiled.element);
    veiled.operands = NULL;
}

static int veil(struct device *d, const struct probe_veil *v, char *why)
{
    unveil();
    veiled.times++;
    veiled.operands = v->operands;
    veiled.element = element_load(v->operands->a, CUDAL2_F16, 0);
    element_store((void *)(uintptr_t)v->operands->a, CUDAL2_F16, 0, NAN);
    return d->probes->sprinkle(d, v->operands->c, v->problem.dtype, (uint64_t)(v->problem.m * v->problem.n), v->seed,
                               why);
}

/* Who waits for what is ahead of it finds A as it was. */
static int launch_behind_veil(const struct contender *c, void *state, size_t set, char *why)
{
    bool waits = c != &f.contenders[0] || veiled.early_from == 0 || f.bench.record->blocks < veiled.early_from;
    if (waits)
        unveil();
    int status = cheat.honest->launch(c, state, set, why);
    unveil();
    return status;
}

static void open_veiled_cell(struct probe_ops *probes, unsigned early_from)
{
    static struct contender_ops ops;
    open_cell();
    *probes = *f.device->probes;
    probes->veil = veil;
    f.device->probes = probes;
    ops = *cheat.honest;
    ops.launch = launch_behind_veil;
    f.contenders[0].ops = f.contenders[1].ops = &ops;
    memset(&veiled, 0, sizeof veiled);
    veiled.early_from = early_from;
}

static void what_begins_early_is_found(void **state)
{
    struct probe_ops probes;
    (void)state;
    open_veiled_cell(&probes, 1);
    expect_verdict("wrong_result");
    open_veiled_cell(&probes, 0);
    run_cell();
    assert_string_equal(record_verdict(&f.bench.record->contenders[0]), "ok");
    assert_string_equal(record_verdict(&f.bench.record->contenders[1]), "ok");
    assert_in_range(veiled.times, 4, 120); /* each is tried once, and then at least once ahead of a launch */
    fixture_close(&f);
}

/* Who waits in the first check and not after it; that check comes within the least number of blocks. */
static void open_cell_that_ceases_to_wait(struct probe_ops *probes, bool seen_early)
{
    open_veiled_cell(probes, 0);
    veiled.early_from = f.config.stop.min_blocks + 1;
    f.config.stop.max_blocks = 2 * f.config.stop.min_blocks;
    f.config.stop.delta[MODE_OFFLINE] = -1; /* nothing is so narrow */
    f.bench.record->contenders[0].early = seen_early;
}

static void what_ceases_to_wait_is_found_at_the_end(void **state)
{
    struct probe_ops probes;
    (void)state;
    open_cell_that_ceases_to_wait(&probes, true);
    expect_verdict("wrong_result");
}

/* Checks go on to the end of a cell, at blocks that are drawn and grow rarer: a cell of four times the blocks has more
 * of them, and each once. */
static void a_long_cell_is_checked_again(void **state)
{
    double checks[2];
    (void)state;
    for (int long_one = 0; long_one < 2; long_one++) {
        open_cell();
        f.config.stop.max_blocks = (long_one ? 16 : 1) * f.config.stop.min_blocks;
        f.config.stop.delta[MODE_OFFLINE] = -1;
        run_cell();
        checks[long_one] =
            cJSON_GetObjectItemCaseSensitive(f.bench.record->contenders[0].verification, "timed_checks")->valuedouble;
        fixture_close(&f);
    }
    assert_true(checks[0] >= 2);
    assert_true(checks[1] >= checks[0] + 2 && checks[1] <= checks[0] + 5);
}

/* A cell may end before the next setup would have been refused. */
static void a_leak_of_setups_is_told_at_the_end(void **state)
{
    struct error err;
    (void)state;
    open_cell();
    fixture_start(&f);
    assert_int_equal(cell_loop_run(&f.bench, &err), 0);
    f.bench.entrants[1].leaks.runs = 2;
    assert_int_equal(honesty_finish(&f.bench, &err), 0);
    assert_string_equal(record_verdict(&f.bench.record->contenders[1]), "leak");
    assert_string_equal(record_verdict(&f.bench.record->contenders[0]), "ok");
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(honest_work_passes_twice),
        cmocka_unit_test(a_baseline_is_checked_again_where_it_is_drawn),
        cmocka_unit_test(off_means_off),
        cmocka_unit_test(checks_are_not_samples),
        cmocka_unit_test(cheats_have_their_verdicts),
        cmocka_unit_test(skipped_work_is_found),
        cmocka_unit_test(nothing_lingers_of_kernels_alone),
        cmocka_unit_test(memory_that_is_lost_each_time_is_found),
        cmocka_unit_test(threads_of_a_contender_are_told),
        cmocka_unit_test(clocks_must_agree),
        cmocka_unit_test(the_host_knows_of_work_elsewhere),
        cmocka_unit_test(what_begins_early_is_found),
        cmocka_unit_test(what_ceases_to_wait_is_found_at_the_end),
        cmocka_unit_test(a_long_cell_is_checked_again),
        cmocka_unit_test(a_leak_of_setups_is_told_at_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
