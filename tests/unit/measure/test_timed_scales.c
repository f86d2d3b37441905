/* C as an input of launches that are timed: each finds one that is known and another than before, checked or not, and
 * who takes an old one, leaves it out or adds twice is found. Cells on the scripted device. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <math.h>
#include <string.h>
#include <cmocka.h>

#include "base/half.h"
#include "cheat_fixture.h"
#include "measure/timed.h"

#define ELEMENTS (8 * 8) /* of the fixture's C */

/* Launches one by one, by the host's clock alone, as on the CPU device. */
static void open_scaled_cell(double alpha, double beta, bool checked)
{
    struct error err;
    open_cell();
    f.bench.problem.alpha = alpha;
    f.bench.problem.beta = beta;
    f.bench.headline = f.bench.record->headline = TIMING_WALL;
    f.config.timings = f.device->info.timings = CUDAL2_BIT(TIMING_WALL);
    f.config.honesty = checked;
    f.config.timed = TIMED_ALL;
    f.bench.judging = true;
    assert_int_equal(timed_open(&f.bench, &err), 0);
    assert_int_equal(f.bench.timed != NULL, checked);
}

static void close_scaled_cell(void)
{
    timed_close(&f.bench);
    fixture_close(&f);
}

static void honest_launches_are_right(void **state)
{
    static const double scales[][2] = {{1, 1}, {-0.5, 0.75}, {0.125, 4}, {4, -0.125}, {-2, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        open_scaled_cell(scales[i][0], scales[i][1], true);
        run_cell();
        for (size_t c = 0; c < 2; c++)
            if (f.bench.record->contenders[c].verdict != VERDICT_OK)
                fail_msg("%g %g: %s", scales[i][0], scales[i][1], f.bench.record->contenders[c].reason);
        close_scaled_cell();
    }
}

/* ---- what a launch finds ---- */

static struct {
    uint16_t latest[ELEMENTS];
    unsigned launches, known, repeated;
    double largest;
} seen;

static void look(const struct contender *c, void *state, size_t set, char *why)
{
    const uint16_t *found = f.bench.operands->nn[set].c;
    seen.launches++;
    seen.known += memcmp(found, f.bench.operands->input[set], sizeof seen.latest) == 0;
    seen.repeated += memcmp(found, seen.latest, sizeof seen.latest) == 0;
    memcpy(seen.latest, found, sizeof seen.latest);
    for (size_t i = 0; i < ELEMENTS; i++)
        seen.largest = fmax(seen.largest, fabs((double)half_to_float(found[i])));
    cheat.honest->launch(c, state, set, why);
}

/* With checks most launches find another C than the one before; without any, the one that is kept. */
static void c_is_renewed(void **state)
{
    (void)state;
    for (int checked = 0; checked < 2; checked++) {
        memset(&seen, 0, sizeof seen);
        open_scaled_cell(1, 4, checked);
        cheat.instead = look;
        run_cell();
        assert_string_equal(record_verdict(&f.bench.record->contenders[0]), "ok");
        assert_true(seen.launches > 10 && 2 * seen.known >= seen.launches);
        assert_true(seen.largest < 1000); /* 4 to the power of the launches would be none of fp16 */
        if (checked)
            assert_true(2 * seen.repeated < seen.launches);
        close_scaled_cell();
    }
}

/* ---- who cheats once it is timed ---- */

static void beta_is_left_out(const struct contender *c, void *state, size_t set, char *why)
{
    memset(f.bench.operands->nn[set].c, 0, ELEMENTS * sizeof(uint16_t));
    cheat.honest->launch(c, state, set, why);
}

static void an_old_c_is_taken(const struct contender *c, void *state, size_t set, char *why)
{
    uint16_t now[ELEMENTS];
    memcpy(now, f.bench.operands->nn[set].c, sizeof now);
    memcpy(f.bench.operands->nn[set].c, seen.latest, sizeof now);
    memcpy(seen.latest, now, sizeof now);
    cheat.honest->launch(c, state, set, why);
}

static void it_is_added_twice(const struct contender *c, void *state, size_t set, char *why)
{
    cheat.honest->launch(c, state, set, why);
    cheat.honest->launch(c, state, set, why);
}

static void nothing_is_done(const struct contender *c, void *state, size_t set, char *why)
{
    (void)c, (void)state, (void)set, (void)why;
}

static void cheats_are_wrong(void **state)
{
    void (*const cheats[])(const struct contender *, void *, size_t, char *) = {beta_is_left_out, an_old_c_is_taken,
                                                                                it_is_added_twice, nothing_is_done};
    (void)state;
    for (size_t i = 0; i < sizeof cheats / sizeof *cheats; i++) {
        memset(&seen, 0, sizeof seen);
        open_scaled_cell(0.5, 1, true);
        cheat.instead = cheats[i];
        run_cell();
        assert_string_equal(record_verdict(&f.bench.record->contenders[0]), "wrong_result");
        assert_string_equal(record_verdict(&f.bench.record->contenders[1]), "ok");
        close_scaled_cell();
    }
}

/* What is kept of C is no contender's, as A and B are not. */
static void write_kept(const struct cudal2_operands *operands)
{
    (void)operands;
    ((uint16_t *)f.bench.operands->input[0])[3] ^= 1;
}

static void what_is_kept_may_not_be_written(void **state)
{
    (void)state;
    open_scaled_cell(0.5, 1, true);
    cheat.afterwards = write_kept;
    run_cell();
    assert_string_not_equal(record_verdict(&f.bench.record->contenders[0]), "ok");
    close_scaled_cell();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(honest_launches_are_right),
        cmocka_unit_test(c_is_renewed),
        cmocka_unit_test(cheats_are_wrong),
        cmocka_unit_test(what_is_kept_may_not_be_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
