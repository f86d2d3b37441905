/* verify/replay_check.c on the scripted device: who is faster on inputs it has seen before is found, and nobody else.
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
#include "verify/known_note.h"

#define SLOW_NS 1e6
#define FAST_NS 1e4

static uint64_t digest_of_a(size_t set)
{
    struct error err;
    uint64_t digest = 0;
    const struct cudal2_operands *o = operands_sets(f.bench.operands, CUDAL2_NN) + f.bench.entrants[0].first_set + set;
    const struct probe_region a = {(void *)(uintptr_t)o->a, 8 * 16 * 2};
    assert_int_equal(f.device->probes->digest(f.device, &a, 1, &digest, &err), 0);
    return digest;
}

/* Faster whenever A holds what it held at the launch before; the output is always right. */
static void remembered(const struct contender *c, void *state, size_t set, char *why)
{
    static uint64_t last;
    uint64_t now = digest_of_a(set);
    f.actors[0].duration_ns = now == last ? FAST_NS : SLOW_NS;
    last = now;
    cheat.honest->launch(c, state, set, why);
}

/* Faster once A has held the same for so many launches. */
static unsigned patience;

static void patient(const struct contender *c, void *state, size_t set, char *why)
{
    static uint64_t last;
    static unsigned hits;
    uint64_t now = digest_of_a(set);
    hits = now == last ? hits + 1 : 0;
    f.actors[0].duration_ns = hits >= patience ? FAST_NS : SLOW_NS;
    last = now;
    cheat.honest->launch(c, state, set, why);
}

/* Slower at the first launch after any fill, which stands for a pause. */
static void drowsy(const struct contender *c, void *state, size_t set, char *why)
{
    static uint64_t fills;
    uint64_t now = fake_counts(f.device).fills;
    f.actors[0].duration_ns = now == fills ? FAST_NS : SLOW_NS;
    fills = now;
    cheat.honest->launch(c, state, set, why);
}

/* Slow at every second launch, whatever the inputs. */
static void restless(const struct contender *c, void *state, size_t set, char *why)
{
    f.actors[0].duration_ns = cheat.launches % 2 == 0 ? FAST_NS : SLOW_NS;
    cheat.honest->launch(c, state, set, why);
}

static void open_cell_timed(enum timing headline, void (*instead)(const struct contender *, void *, size_t, char *))
{
    open_cell();
    f.bench.headline = headline;
    f.bench.record->headline = headline;
    cheat.instead = instead;
}

static void remembered_outputs_are_found(void **state)
{
    (void)state;
    for (int headline = 0; headline < TIMING_COUNT; headline++) {
        open_cell_timed((enum timing)headline, remembered);
        run_cell();
        const struct contender_record *r = &f.bench.record->contenders[0];
        assert_string_equal(record_verdict(r), "implausible_speed");
        assert_non_null(strstr(r->reason, "new to it"));
        assert_string_equal(record_verdict(&f.bench.record->contenders[1]), "ok");
        fixture_close(&f);
    }
}

/* As a GPU's device is: inputs are disturbed, and never renewed launch by launch. */
static void a_device_may_not_renew(void **state)
{
    static struct probe_ops lacking;
    const enum timing headlines[] = {TIMING_EVENT, TIMING_WALL};
    struct error err;
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        open_cell_timed(headlines[i], remembered);
        lacking = *f.device->probes;
        lacking.renew = NULL;
        f.device->probes = &lacking;
        assert_int_equal(timed_open(&f.bench, &err), 0);
        assert_false(timed_renews(&f.bench));
        run_cell();
        assert_string_equal(record_verdict(&f.bench.record->contenders[0]), "implausible_speed");
        assert_string_equal(record_verdict(&f.bench.record->contenders[1]), "ok");
        timed_close(&f.bench);
        fixture_close(&f);
    }
}

static size_t fast_samples(void)
{
    const struct series *s = &f.bench.record->contenders[0].timings[TIMING_WALL];
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++)
        n += s->ns[i] < SLOW_NS / 2;
    return n;
}

/* From the first launches of a group on, or only in its last block: then most samples are honest, and still it is
 * found. Whoever waits longer than a group lasts has gained nothing. */
static void patience_is_no_way_round(void **state)
{
    const unsigned launches[] = {3, 40, 80, 86};
    (void)state;
    for (size_t i = 0; i < sizeof launches / sizeof *launches; i++) {
        patience = launches[i];
        open_cell_timed(TIMING_WALL, patient);
        run_cell();
        assert_string_equal(record_verdict(&f.bench.record->contenders[0]), "implausible_speed");
        assert_string_equal(record_verdict(&f.bench.record->contenders[1]), "ok");
        assert_true(i + 1 < sizeof launches / sizeof *launches || fast_samples() < 6);
        fixture_close(&f);
    }
    patience = 1000;
    open_cell_timed(TIMING_WALL, patient);
    run_cell();
    assert_string_equal(record_verdict(&f.bench.record->contenders[0]), "ok");
    assert_int_equal(fast_samples(), 0);
    fixture_close(&f);
}

/* Where the host is in the time, being slow after a pause is no fault; a device has no reason to be. */
static void a_pause_is_told_from_new_inputs(void **state)
{
    (void)state;
    open_cell_timed(TIMING_WALL, drowsy);
    expect_verdict("ok");
    open_cell_timed(TIMING_EVENT, drowsy);
    expect_verdict("ok");
    open_cell_timed(TIMING_DEVICE, drowsy);
    run_cell();
    assert_string_equal(record_verdict(&f.bench.record->contenders[0]), "implausible_speed");
    assert_non_null(strstr(f.bench.record->contenders[0].reason, "in a row"));
    fixture_close(&f);
}

/* Asleep 20 us after a launch. */
static void sleepy(const struct contender *c, void *state, size_t set, char *why)
{
    static uint64_t returned;
    uint64_t now = f.device->ops->now(f.device);
    f.actors[0].duration_ns = now > returned + 20000 ? SLOW_NS : FAST_NS;
    cheat.honest->launch(c, state, set, why);
    returned = f.device->ops->now(f.device) + (uint64_t)f.actors[0].duration_ns;
}

static const struct probe_ops *scripted;

static int judge_slowly(struct device *d, const struct probe_product *product, struct probe_difference *out,
                        struct error *err)
{
    (void)d->ops->wait_until(d, d->ops->now(d) + 50000);
    return scripted->product(d, product, out, err);
}

/* A launch on new inputs comes behind a judgement, one on known inputs does not: its pause is as long. */
static void both_arms_have_the_same_pause(void **state)
{
    static struct probe_ops slow;
    (void)state;
    open_cell_timed(TIMING_WALL, sleepy);
    scripted = f.device->probes;
    slow = *scripted;
    slow.product = judge_slowly;
    f.device->probes = &slow;
    expect_verdict("ok");
}

/* Of two launches one is timed, so that a period of two decides what is usual: with either no fault is found. */
static void a_period_of_its_own_is_no_fault(void **state)
{
    (void)state;
    for (int headline = 0; headline < TIMING_COUNT; headline++)
        for (unsigned first = 0; first < 40; first++) {
            open_cell_timed((enum timing)headline, restless);
            f.bench.seed = 100 + first;
            cheat.launches = first % 2;
            expect_verdict("ok");
        }
}

/* A launch of 0.1 s takes up to four times as long one time in two, whatever the inputs, as it does for lack of a
 * processor. */
static struct random load;

static void crowded(const struct contender *c, void *state, size_t set, char *why)
{
    f.actors[0].duration_ns = 1e8 * (random_below(&load, 2) == 0 ? 1 : 2 + 2 * random_unit(&load));
    cheat.honest->launch(c, state, set, why);
}

static void a_busy_machine_is_no_fault(void **state)
{
    (void)state;
    random_seed(&load, 1);
    for (unsigned i = 0; i < 300; i++) {
        open_cell_timed(TIMING_WALL, crowded);
        f.bench.seed = 100 + i;
        expect_verdict("ok");
    }
}

/* How many fills a check in the middle of a cell takes whose groups have so many blocks; *same: the inputs are as
 * before.
 */
static uint64_t check_amid(unsigned group_blocks, bool *same)
{
    struct error err;
    struct probe_region inputs[OPERANDS_INPUTS];
    uint64_t before[OPERANDS_INPUTS], after[OPERANDS_INPUTS], own;
    open_cell();
    f.config.stop.group_blocks = group_blocks;
    fixture_start(&f);
    f.bench.record->groups = 1;
    own = random_derive(f.bench.seed, "group", 0) >> 8;
    size_t n = operands_inputs(f.bench.operands, 0, inputs);
    assert_int_equal(operands_fill(f.device, f.bench.operands, FILL_SPREAD, own, 0, &err), 0);
    for (size_t i = 0; i < 2; i++) {
        struct entrant *e = &f.bench.entrants[i];
        e->row.shape = (struct device_shape){.launches = 2, .n_sets = 1};
        assert_int_equal(f.device->ops->prepare(f.device, &e->work, &e->row.shape, RUNG_GRAPH, &e->row.segment, &err),
                         0);
    }
    assert_int_equal(f.device->probes->digest(f.device, inputs, n, before, &err), 0);
    uint64_t fills = fake_counts(f.device).fills;
    for (f.bench.record->blocks = 1; f.bench.record->blocks <= f.config.stop.min_blocks; f.bench.record->blocks++)
        assert_int_equal(honesty_after_block(&f.bench, &err), 0);
    fills = fake_counts(f.device).fills - fills;
    assert_int_equal(f.device->probes->digest(f.device, inputs, n, after, &err), 0);
    *same = memcmp(before, after, n * sizeof *before) == 0;
    assert_string_equal(record_verdict(&f.bench.record->contenders[0]), "ok");
    fixture_close(&f);
    return fills;
}

/* The group's own inputs are back where it goes on. The next one brings its own, and nothing is filled for nobody. */
static void inputs_come_back(void **state)
{
    bool same;
    (void)state;
    uint64_t fills = check_amid(2, &same);
    assert_true(fills > 0 && same); /* it did happen before the least number of blocks was over */
    assert_true(check_amid(1, &same) < fills);
}

/* Faster by so much whenever A holds what it held at the launch before: too little for the other trial. */
static double part, part_of_ns;

static void remembers_a_part(const struct contender *c, void *state, size_t set, char *why)
{
    static uint64_t last;
    uint64_t now = digest_of_a(set);
    f.actors[0].duration_ns = now == last ? (1 - part) * part_of_ns : part_of_ns;
    last = now;
    cheat.honest->launch(c, state, set, why);
}

/* The same for so many changes of A; it stops then. */
static unsigned changes_left;

static void slow_for_a_while(const struct contender *c, void *state, size_t set, char *why)
{
    static uint64_t last;
    uint64_t now = digest_of_a(set);
    bool changed = now != last;
    changes_left -= changed && changes_left > 0;
    f.actors[0].duration_ns = changed && changes_left > 0 ? SLOW_NS : 0.75 * SLOW_NS;
    last = now;
    cheat.honest->launch(c, state, set, why);
}

static enum mode mode_of_known;

/* `known` of the first contender's record, asked for by that name, on a device that repeats inputs. NULL: none. */
static const cJSON *known_of(const char *asked, void (*instead)(const struct contender *, void *, size_t, char *))
{
    static struct probe_ops lacking;
    struct error err;
    open_cell_timed(TIMING_DEVICE, instead);
    f.bench.mode = mode_of_known;
    f.contenders[0].asked = asked;
    f.bench.record->contenders[0].candidate = true;
    lacking = *f.device->probes;
    lacking.renew = NULL;
    f.device->probes = &lacking;
    assert_int_equal(timed_open(&f.bench, &err), 0);
    run_cell();
    assert_string_equal(record_verdict(&f.bench.record->contenders[1]), "ok");
    assert_null(cJSON_GetObjectItem(f.bench.record->contenders[1].verification, "known"));
    return cJSON_GetObjectItem(f.bench.record->contenders[0].verification, "known");
}

static void close_cell(void)
{
    timed_close(&f.bench);
    fixture_close(&f);
}

static void verdict_is(const char *word)
{
    assert_string_equal(record_verdict(&f.bench.record->contenders[0]), word);
}

static void even(const struct contender *c, void *state, size_t set, char *why)
{
    f.actors[0].duration_ns = SLOW_NS;
    cheat.honest->launch(c, state, set, why);
}

static double number_at(const cJSON *list, int i)
{
    assert_int_equal(cJSON_GetArraySize(list), 3);
    return cJSON_GetArrayItem(list, i)->valuedouble;
}

/* A quarter is a verdict where a file was named; of the honest it is told that both are alike; of ours nothing. */
static void a_part_remembered_is_found(void **state)
{
    (void)state;
    part = 0.25;
    part_of_ns = SLOW_NS;
    const cJSON *known = known_of("part.so", remembers_a_part);
    assert_true(number_at(known, 1) > 1.05 && number_at(known, 0) > 1.2 && number_at(known, 2) < 1.4);
    verdict_is("implausible_speed");
    assert_non_null(strstr(f.bench.record->contenders[0].reason, "in a second series of pairs"));
    close_cell();
    known = known_of("even.json", even);
    assert_true(number_at(known, 0) > 0.99 && number_at(known, 1) < 1.05 && number_at(known, 2) < 1.01);
    verdict_is("ok");
    close_cell();
    assert_null(known_of("part", remembers_a_part));
    verdict_is("ok");
    close_cell();
}

/* Less than honest contenders might show one day, or too short to be told from what a launch scatters by. */
static void a_small_part_is_told(void **state)
{
    (void)state;
    part = 0.07;
    part_of_ns = SLOW_NS;
    assert_true(number_at(known_of("part.so", remembers_a_part), 1) > 1.05);
    verdict_is("ok");
    close_cell();
    part = 0.25;
    part_of_ns = 3e3;
    assert_true(number_at(known_of("part.so", remembers_a_part), 1) > 1.1);
    verdict_is("ok");
    close_cell();
}

/* One series says so by chance, or by a load that comes and goes: a second one does not. */
static void one_series_is_no_verdict(void **state)
{
    (void)state;
    bool told = false;
    for (changes_left = 4; !told && changes_left < 400;) {
        unsigned left = changes_left;
        told = number_at(known_of("busy.so", slow_for_a_while), 1) > 1.1;
        verdict_is("ok");
        close_cell();
        changes_left = left + 2;
    }
    assert_true(told);
}

/* From idle what is timed has inputs of its own. */
static void from_idle_it_is_told(void **state)
{
    (void)state;
    mode_of_known = MODE_SERVER;
    part = 0.25;
    part_of_ns = SLOW_NS;
    assert_true(number_at(known_of("part.so", remembers_a_part), 1) > 1.1);
    verdict_is("ok");
    close_cell();
    mode_of_known = MODE_OFFLINE;
}

/* Six pairs give an interval, by the least and the most; fewer none. */
static void few_pairs_tell_nothing(void **state)
{
    struct contender contender = {.asked = "./a.so"};
    struct contender_record record = {.candidate = true};
    struct entrant e = {.contender = &contender, .record = &record};
    struct known_times times = {.n = 0};
    (void)state;
    assert_true(known_note_wanted(&e));
    for (unsigned i = 0; i < 5; i++)
        known_add(&times, 1.2, 1);
    known_note(&e, &times);
    assert_true(cJSON_IsNull(cJSON_GetObjectItem(record.verification, "known")));
    assert_false(known_note_wanted(&e));
    cJSON_Delete(record.verification);
    record.verification = NULL;
    known_add(&times, 1.1, 1);
    known_note(&e, &times);
    const cJSON *known = cJSON_GetObjectItem(record.verification, "known");
    assert_float_equal(number_at(known, 0), 1.2, 1e-9);
    assert_float_equal(number_at(known, 1), 1.1, 1e-9);
    cJSON_Delete(record.verification);
    record.verification = NULL;
    record.candidate = false;
    assert_false(known_note_wanted(&e));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inputs_come_back),
        cmocka_unit_test(remembered_outputs_are_found),
        cmocka_unit_test(a_device_may_not_renew),
        cmocka_unit_test(patience_is_no_way_round),
        cmocka_unit_test(a_pause_is_told_from_new_inputs),
        cmocka_unit_test(a_period_of_its_own_is_no_fault),
        cmocka_unit_test(a_busy_machine_is_no_fault),
        cmocka_unit_test(both_arms_have_the_same_pause),
        cmocka_unit_test(a_part_remembered_is_found),
        cmocka_unit_test(a_small_part_is_told),
        cmocka_unit_test(one_series_is_no_verdict),
        cmocka_unit_test(from_idle_it_is_told),
        cmocka_unit_test(few_pairs_tell_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
