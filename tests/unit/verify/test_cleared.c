/*
 * test_cleared.c - a fresh trial whose segment is one launch says what replay_check.h would ask: who is cleared by it
 * is timed on no other new inputs, and the next launch that is timed is judged instead. Relies on cheat_fixture.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cheat_fixture.h"
#include "device/probe.h"
#include "measure/timed.h"

#define FAST_NS 300e3 /* one launch fills a segment */
#define SLOW_NS 3e6

static struct {
    unsigned owed, judged;     /* entrants ahead of a block, and those of them that it judged */
    uint64_t judged_before[2]; /* that were owed; else UINT64_MAX */
} seen;

/* Around the checks between two blocks. */
static int count_owed(struct bench *bench, struct error *err)
{
    for (size_t i = 0; i < 2; i++) {
        seen.owed += seen.judged_before[i] != UINT64_MAX;
        seen.judged += seen.judged_before[i] < bench->entrants[i].timed.judged;
    }
    int code = honesty_after_block(bench, err);
    for (size_t i = 0; i < 2; i++)
        seen.judged_before[i] = bench->entrants[i].timed.owed ? bench->entrants[i].timed.judged : UINT64_MAX;
    return code;
}

static const struct probe_ops *scripted;

/* So dear that few segments are judged by chance. */
static int project_slowly(struct device *d, const struct probe_product *product, struct probe_difference *out,
                          struct error *err)
{
    d->ops->wait_until(d, d->ops->now(d) + 50000000);
    return scripted->product(d, product, out, err);
}

struct setting {
    enum mode mode;
    bool device_only;
    uint64_t seed;
    bool baselines; /* both; else the first is a candidate */
    bool led;       /* by a launch of its own behind a flush, which the inputs come ahead of */
};

/* A cell on a device that disturbs inputs as a GPU does; the seconds of trials on known and new inputs. */
static double run_cell_of(struct setting setting)
{
    static struct probe_ops like_gpu;
    struct error err;
    memset(&seen, 0, sizeof seen);
    seen.judged_before[0] = seen.judged_before[1] = UINT64_MAX;
    f.actors[0].duration_ns = f.actors[1].duration_ns = setting.led ? FAST_NS / 3 : FAST_NS;
    f.bench.shared_sets = setting.led;
    cheat.ops.device_only = setting.device_only;
    f.bench.seed = setting.seed;
    f.bench.mode = f.bench.record->mode = setting.mode;
    f.config.timed = TIMED_SAMPLE;
    f.bench.judging = true;
    f.bench.between_blocks = count_owed;
    f.bench.record->contenders[0].candidate = !setting.baselines;
    f.bench.record->contenders[1].candidate = false;
    assert_int_equal(timed_open(&f.bench, &err), 0);
    scripted = f.device->probes;
    like_gpu = *scripted;
    like_gpu.renew = NULL;
    like_gpu.product = project_slowly;
    f.device->probes = &like_gpu;
    run_cell();
    timed_close(&f.bench);
    return f.bench.record->part_seconds[PART_REPLAY];
}

static double replays(struct setting setting)
{
    open_cell();
    double seconds = run_cell_of(setting);
    assert_string_equal(record_verdict(&f.bench.record->contenders[0]), "ok");
    assert_string_equal(record_verdict(&f.bench.record->contenders[1]), "ok");
    fixture_close(&f);
    return seconds;
}

/* Whoever is owed a judgement has it with the next block. */
static void who_is_cleared_is_judged_when_timed_next(void **state)
{
    unsigned owed = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        replays((struct setting){MODE_OFFLINE, false, seed, false, false});
        owed += seen.owed;
        assert_int_equal(seen.judged, seen.owed);
    }
    assert_true(owed >= 20);
}

static double checks_of(size_t i)
{
    const cJSON *v = f.bench.record->contenders[i].verification;
    return cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(v, "timed_checks"));
}

/* Of two baselines one, drawn, is tried when the cell is over; both are if nothing was timed behind the block that they
 * were cleared after. */
static void a_cell_that_ends_owes_nobody(void **state)
{
    unsigned ended = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 1000 && ended < 3; seed++) {
        open_cell();
        f.config.stop.max_blocks = f.config.stop.min_blocks;
        run_cell_of((struct setting){MODE_OFFLINE, false, seed, true, false});
        bool both = seen.judged_before[0] != UINT64_MAX && seen.judged_before[1] != UINT64_MAX;
        assert_true(!both || checks_of(0) + checks_of(1) == 4);
        ended += both;
        fixture_close(&f);
    }
    assert_int_equal(ended, 3);
}

/* In the gap ahead of a launch of server mode code on the host could compute: only of kernels alone does the fresh
 * trial say enough. */
static void a_gap_clears_kernels_alone(void **state)
{
    (void)state;
    double alone = 0, hosted = 0;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        hosted += replays((struct setting){MODE_SERVER, false, seed, false, false});
        assert_int_equal(seen.owed, 0);
        alone += replays((struct setting){MODE_SERVER, true, seed, false, false});
        assert_true(seen.owed > 0);
    }
    assert_true(alone < hosted);
}

/* A launch ahead of the timed one has met its inputs. */
static void who_was_led_is_not_cleared(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        double seconds = replays((struct setting){MODE_SERVER, true, seed, false, true});
        assert_int_equal(seen.owed, 0);
        assert_true(seconds > 0);
    }
}

/* Faster whenever A holds what it held at the launch before; the output is always right. */
static void remembered(const struct contender *c, void *state, size_t set, char *why)
{
    static uint64_t last;
    struct error err;
    uint64_t now = 0;
    const struct cudal2_operands *o = operands_sets(f.bench.operands, CUDAL2_NN) + f.bench.entrants[0].first_set + set;
    const struct probe_region a = {(void *)(uintptr_t)o->a, 8 * 16 * 2};
    assert_int_equal(f.device->probes->digest(f.device, &a, 1, &now, &err), 0);
    f.actors[0].duration_ns = now == last ? FAST_NS : SLOW_NS;
    last = now;
    cheat.honest->launch(c, state, set, why);
}

static void remembered_outputs_clear_nobody(void **state)
{
    (void)state;
    for (int device_only = 0; device_only < 2; device_only++) {
        open_cell();
        cheat.instead = remembered;
        run_cell_of((struct setting){MODE_OFFLINE, device_only, 3, false, false});
        assert_string_equal(record_verdict(&f.bench.record->contenders[0]), "implausible_speed");
        assert_string_equal(record_verdict(&f.bench.record->contenders[1]), "ok");
        fixture_close(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_is_cleared_is_judged_when_timed_next),
        cmocka_unit_test(a_cell_that_ends_owes_nobody),
        cmocka_unit_test(a_gap_clears_kernels_alone),
        cmocka_unit_test(who_was_led_is_not_cleared),
        cmocka_unit_test(remembered_outputs_clear_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
