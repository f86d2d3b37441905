/* verify/join_trial.c and measure/join.c on the scripted device: who is joined, who is not, and that nobody is
 * convicted for it. */
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
#include "measure/join.h"
#include "measure/timed.h"
#include "verify/join_trial.h"

static struct {
    const struct device_ops *ops; /* the scripted device's own */
    bool joined;                  /* what runs now is a joined segment */
    const struct cudal2_operands *hidden;
    float element;           /* of A, while it is hidden */
    bool hides, waits[2];    /* whether veils do; whether contenders do */
    unsigned early_from;     /* from this block on the first contender does not wait any more; 0: never */
    bool breaks;             /* the first contender's joined rows are wrong */
    unsigned veils, rows[2]; /* launches in joined rows */
    unsigned tagged;         /* stages that say so */
} world;

static void show(void)
{
    if (world.hidden != NULL)
        element_store((void *)(uintptr_t)world.hidden->a, CUDAL2_F16, 0, world.element);
    world.hidden = NULL;
}

static int veil(struct device *d, const struct probe_veil *v, char *why)
{
    show();
    world.veils++;
    if (!world.hides)
        return CUDAL2_OK;
    world.hidden = v->operands;
    world.element = element_load(v->operands->a, CUDAL2_F16, 0);
    element_store((void *)(uintptr_t)v->operands->a, CUDAL2_F16, 0, NAN);
    return d->probes->sprinkle(d, v->operands->c, v->problem.dtype, (uint64_t)(v->problem.m * v->problem.n), v->seed,
                               why);
}

static int prepare(struct device *d, const struct device_work *work, const struct device_shape *shape,
                   enum device_rung lowest, struct device_segment **out, struct error *err)
{
    world.joined = device_shape_joins(shape);
    int code = world.ops->prepare(d, work, shape, lowest, out, err);
    world.joined = false;
    return code;
}

static int measure(struct device *d, struct device_segment *segment, double *ns, struct error *err)
{
    world.joined = world.ops->joined(segment);
    int code = world.ops->measure(d, segment, ns, err);
    world.joined = false;
    return code;
}

/* Who is let begin early and does not wait finds A as it is hidden. */
static int launch(const struct contender *c, void *state, size_t set, char *why)
{
    size_t who = (size_t)(c - f.contenders);
    bool late = who == 0 && world.early_from > 0 && f.bench.record->blocks >= world.early_from;
    bool row = world.joined && world.hidden == NULL, early = world.joined && (!world.waits[who] || late);
    world.rows[who] += row;
    if (!early)
        show();
    int status = cheat.honest->launch(c, state, set, why);
    show();
    if (row && world.breaks && who == 0) {
        void *output = operands_sets(f.bench.operands, CUDAL2_NN)[f.bench.entrants[0].first_set + set].c;
        element_store(output, CUDAL2_F16, 3, element_load(output, CUDAL2_F16, 3) + 64);
    }
    return status;
}

static void note_stage(void *context, const char *contender, const char *stage, double deadline_seconds)
{
    (void)context, (void)deadline_seconds;
    world.tagged += strcmp(contender, "a-nn") == 0 && strcmp(stage, "measure:" JOIN_TAG) == 0;
}

/* The first contender waits, the second does not. */
static void open_joined_cell(enum timing headline)
{
    static struct probe_ops probes;
    static struct device_ops ops;
    struct error err;
    open_cell();
    memset(&world, 0, sizeof world);
    world.hides = world.waits[0] = true;
    world.ops = f.device->ops;
    ops = *world.ops;
    ops.prepare = prepare;
    ops.measure = measure;
    f.device->ops = &ops;
    probes = *f.device->probes;
    probes.veil = veil;
    f.device->probes = &probes;
    cheat.ops.launch = launch;
    f.bench.headline = f.bench.record->headline = headline;
    f.config.timings |= CUDAL2_BIT(TIMING_DEVICE_ROW);
    f.config.join_rows = true;
    f.config.timed = TIMED_ALL;
    f.bench.judging = true;
    f.bench.try_joins = join_trial_all;
    f.bench.report = note_stage;
    assert_int_equal(timed_open(&f.bench, &err), 0);
}

static void close_joined_cell(void)
{
    timed_close(&f.bench);
    fixture_close(&f);
}

/* Nobody is convicted, and all have times of a row. */
static void expect(bool joined, const char *reason, const char *of_second)
{
    run_cell();
    for (size_t i = 0; i < 2; i++) {
        const struct contender_record *r = &f.bench.record->contenders[i];
        assert_string_equal(record_verdict(r), "ok");
        assert_true(r->timings[TIMING_DEVICE_ROW].n > 0);
        assert_int_equal(r->joined, joined && i == 0);
        assert_int_equal(f.bench.entrants[i].joins, r->joined);
        if (strstr(r->join_reason, i == 0 ? reason : of_second) == NULL)
            fail_msg("%s: \"%s\"", r->name, r->join_reason);
        assert_int_equal(r->join_reason[0] == '\0', r->joined);
    }
    assert_int_equal(world.rows[1], 0);
}

#define NO_WAIT "does not wait"

static void who_waits_is_joined_and_nobody_else(void **state)
{
    static const enum timing headlines[] = {TIMING_DEVICE, TIMING_DEVICE_ROW, TIMING_EVENT};
    (void)state;
    for (size_t i = 0; i < sizeof headlines / sizeof *headlines; i++) {
        open_joined_cell(headlines[i]);
        expect(true, "", NO_WAIT);
        assert_true(world.rows[0] > 0 && world.tagged > 0);
        close_joined_cell();
    }
}

static void a_joined_row_that_is_wrong_is_parted(void **state)
{
    (void)state;
    for (int row = 0; row < 2; row++) {
        open_joined_cell(row ? TIMING_DEVICE_ROW : TIMING_DEVICE);
        world.breaks = true;
        expect(false, "wrong_result", NO_WAIT);
        assert_true(world.rows[0] > 0);
        close_joined_cell();
    }
}

static void who_ceases_to_wait_is_parted(void **state)
{
    (void)state;
    open_joined_cell(TIMING_DEVICE);
    world.early_from = 2;
    expect(false, "did not wait", NO_WAIT);
    close_joined_cell();
}

static void what_is_wrong_apart_is_convicted(void **state)
{
    (void)state;
    open_joined_cell(TIMING_DEVICE);
    f.actors[0].wrong = true;
    run_cell();
    assert_string_equal(record_verdict(&f.bench.record->contenders[0]), "wrong_result");
    close_joined_cell();
}

static void a_trap_that_shows_nothing_joins_nobody(void **state)
{
    (void)state;
    open_joined_cell(TIMING_DEVICE);
    world.hides = false;
    expect(false, "would tell nothing", "would tell nothing");
    assert_int_equal(world.rows[0], 0);
    close_joined_cell();
}

static void who_cost_a_worker_is_not_joined_again(void **state)
{
    const struct skipped_variant lost = {"a-nn", JOIN_TAG, "hang in stage measure"};
    (void)state;
    open_joined_cell(TIMING_DEVICE);
    f.bench.skipped = &lost;
    f.bench.n_skipped = 1;
    expect(false, "hang", NO_WAIT);
    assert_int_equal(world.rows[0], 0);
    close_joined_cell();
}

/* By default, and where no row is timed. */
static void nothing_is_joined_unasked(void **state)
{
    (void)state;
    for (int asked = 0; asked < 2; asked++) {
        open_joined_cell(TIMING_DEVICE);
        f.bench.between_blocks = NULL;
        f.config.honesty = false; /* whose trials have veils of their own */
        f.config.join_rows = asked;
        if (asked)
            f.config.timings &= ~CUDAL2_BIT(TIMING_DEVICE_ROW);
        run_cell();
        for (size_t i = 0; i < 2; i++) {
            const struct contender_record *r = &f.bench.record->contenders[i];
            assert_true(!r->joined && r->join_reason[0] == '\0');
        }
        assert_int_equal(world.veils + world.tagged + world.rows[0] + world.rows[1], 0);
        close_joined_cell();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_waits_is_joined_and_nobody_else),
        cmocka_unit_test(a_joined_row_that_is_wrong_is_parted),
        cmocka_unit_test(who_ceases_to_wait_is_parted),
        cmocka_unit_test(what_is_wrong_apart_is_convicted),
        cmocka_unit_test(a_trap_that_shows_nothing_joins_nobody),
        cmocka_unit_test(who_cost_a_worker_is_not_joined_again),
        cmocka_unit_test(nothing_is_joined_unasked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
