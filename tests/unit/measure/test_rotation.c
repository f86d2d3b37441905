/* measure/rotation: whatever the sizes, no operand of a launch timed with `--cache rotate` is still in the cache. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/tree.h"
#include "bench_fixture.h"
#include "measure/rotation.h"
#include "measure/segment.h"

#define SET_BYTES 640u /* of the fixture's problem */
#define MANY 72u       /* sets: for 64 launches and their primers */

static struct fixture f;

/* Sets of the launches so far, as the contender's host code is told them. */
static struct {
    const struct contender_ops *ops;
    uint32_t flags; /* of the next cell's contender */
    size_t sets[512];
    unsigned n;
} told;

static int launch_told(const struct contender *c, void *state, size_t set, char *why)
{
    if (told.n < sizeof told.sets / sizeof *told.sets)
        told.sets[told.n++] = set;
    return told.ops->launch(c, state, set, why);
}

static void open_rotating(enum mode mode, size_t sets, uint64_t cache_bytes, double duration_ns)
{
    static struct contender_ops ops;
    struct error err;
    fixture_open(&f, 1);
    told.ops = f.contenders[0].ops;
    ops = *told.ops;
    ops.launch = launch_told;
    f.contenders[0].ops = &ops;
    f.contenders[0].is.flags |= told.flags;
    f.device->info.l2_bytes = cache_bytes;
    f.bench.mode = f.bench.record->mode = mode;
    f.config.cache[mode] = CACHE_ROTATE;
    f.bench.sets_each = f.bench.n_sets = f.bench.entrants[0].n_sets = sets;
    f.actors[0].duration_ns = duration_ns;
    fixture_start(&f);
    assert_true(problem_bytes(&f.bench.problem) == SET_BYTES);
    struct entrant *e = &f.bench.entrants[0];
    assert_int_equal(segment_estimate(&f.bench, e, &err), 0);
    assert_int_equal(segment_prepare(&f.bench, e, SEGMENT_TARGET_NS, e->estimate_ns, &err), 0);
}

/* Times once; how often the cache was emptied and the contender launched. */
static void assert_timed(enum timing timing, uint64_t flushes, unsigned launches)
{
    struct error err;
    double gap_ns = f.bench.mode == MODE_SERVER ? 1e6 : -1, ns = 0;
    uint64_t before = fake_counts(f.device).flushes;
    unsigned launched = f.actors[0].launches;
    assert_int_equal(segment_time(&f.bench, &f.bench.entrants[0], timing, &gap_ns, &ns, &err), 0);
    assert_int_equal(fake_counts(f.device).flushes - before, flushes);
    assert_int_equal(f.actors[0].launches - launched, launches);
}

static void assert_said(const char *rotation, const char *by)
{
    cJSON *said = rotation_of(&f.bench);
    assert_non_null(said);
    assert_string_equal(tree_text(said, "rotation"), rotation);
    assert_string_equal(tree_text(said, "by"), by);
    assert_true(tree_number(said, "bytes") == (double)(f.bench.sets_each * SET_BYTES));
    assert_int_equal(tree_text(said, "reason")[0] != '\0', strcmp(rotation, "full") != 0);
    cJSON_Delete(said);
    fixture_close(&f);
}

static void small_sets_come_after_an_emptied_cache(void **state)
{
    (void)state;
    open_rotating(MODE_OFFLINE, MANY, 1 << 20, 1000);
    assert_int_equal(f.bench.entrants[0].row.shape.launches, 64);
    assert_true(device_shape_untimed(&f.bench.entrants[0].row.shape) <= MANY - 64); /* nobody comes round */
    assert_timed(TIMING_DEVICE, 1, 64 + device_shape_untimed(&f.bench.entrants[0].row.shape));
    assert_timed(TIMING_EVENT, 1, 1); /* with the others ahead of it the next set would be known */
    assert_said("full", "flush");
    open_rotating(MODE_SERVER, MANY, 1 << 20, 1000);
    assert_timed(TIMING_DEVICE, 1, 1);
    assert_said("full", "flush");
}

static void few_sets_get_few_launches(void **state)
{
    (void)state;
    open_rotating(MODE_OFFLINE, 20, 1 << 20, 1000);
    assert_int_equal(f.bench.entrants[0].row.shape.launches, 18);
    assert_int_equal(device_shape_untimed(&f.bench.entrants[0].row.shape), 2);
    assert_said("full", "flush");
    open_rotating(MODE_OFFLINE, 1, 1 << 20, 1000);
    assert_int_equal(f.bench.entrants[0].row.shape.launches, 1);
    assert_int_equal(device_shape_untimed(&f.bench.entrants[0].row.shape), 0);
    assert_timed(TIMING_DEVICE, 1, 1);
    assert_said("full", "flush");
}

static void sets_that_hold_the_cache_suffice(void **state)
{
    (void)state;
    open_rotating(MODE_OFFLINE, 9, 8 * SET_BYTES, 1000);
    assert_int_equal(f.bench.entrants[0].row.shape.launches, 64);
    assert_timed(TIMING_DEVICE, 0, 72);
    assert_timed(TIMING_EVENT, 1, 1);
    assert_said("full", "sets");
    /* A segment that uses but 7 of them is one more round of the same ones. */
    open_rotating(MODE_OFFLINE, 9, 8 * SET_BYTES, 40e3);
    assert_int_equal(f.bench.entrants[0].row.shape.launches, 5);
    assert_timed(TIMING_DEVICE, 1, 7);
    assert_said("full", "flush");
}

static void long_launches_are_rotated_too(void **state)
{
    (void)state;
    open_rotating(MODE_OFFLINE, 9, 8 * SET_BYTES, 300e3);
    assert_timed(TIMING_DEVICE, 1, 1);
    assert_timed(TIMING_EVENT, 1, 1);
    assert_said("full", "flush");
    open_rotating(MODE_SERVER, 9, 8 * SET_BYTES, 300e3);
    assert_timed(TIMING_EVENT, 1, 1);
    assert_said("full", "flush");
}

static void what_exceeds_the_cache_needs_nothing(void **state)
{
    (void)state;
    open_rotating(MODE_OFFLINE, 2, SET_BYTES / 2, 1000);
    assert_timed(TIMING_DEVICE, 0, 72);
    assert_said("full", "size");
    open_rotating(MODE_OFFLINE, 2, SET_BYTES / 2, 300e3);
    assert_timed(TIMING_EVENT, 0, 1);
    assert_said("full", "size");
}

/* Who knew which set is next would fetch its operands ahead of the launch. */
static void a_rows_order_is_drawn(void **state)
{
    struct error err;
    uint64_t orders[2];
    (void)state;
    open_rotating(MODE_OFFLINE, 9, 8 * SET_BYTES, 1000);
    struct entrant *e = &f.bench.entrants[0];
    orders[0] = e->row.shape.order;
    assert_int_equal(segment_prepare(&f.bench, e, 10 * e->estimate_ns, e->estimate_ns, &err), 0);
    orders[1] = e->row.shape.order;
    assert_true(orders[0] != 0 && orders[1] != 0 && orders[0] != orders[1]);
    fixture_close(&f);
}

/* Launches that are not captured are made one by one at each timing, and their host code is told each set: it learns
 * nothing of the next row, and its row is as cold as one that is captured. */
static void an_order_that_is_told_is_drawn_for_each_timing(void **state)
{
    const uint32_t flags[] = {CUDAL2_NO_CAPTURE, CUDAL2_SYNCS, 0};
    (void)state;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        unsigned same = 0, twice = 0, timings = 20;
        size_t first[512];
        told.flags = flags[i];
        open_rotating(MODE_OFFLINE, 16, 8 * SET_BYTES, 1000);
        const struct device_shape *shape = &f.bench.entrants[0].row.shape;
        unsigned length = shape->launches + device_shape_untimed(shape);
        for (unsigned t = 0; t < timings; t++) {
            told.n = 0;
            assert_timed(TIMING_DEVICE, flags[i] != 0, length);
            for (unsigned j = 0; j < told.n; j++) {
                assert_int_equal(told.sets[j], device_shape_set(shape, 0, j)); /* what judges and records go by */
                for (unsigned k = 0; k < j; k++)
                    twice += told.sets[j] == told.sets[k];
            }
            same += t > 0 && memcmp(first, told.sets, length * sizeof *first) == 0;
            memcpy(first, told.sets, length * sizeof *first);
        }
        assert_int_equal(same, flags[i] == 0 ? timings - 1 : 0);
        assert_int_equal(twice != 0, flags[i] == 0);
        assert_said("full", flags[i] == 0 ? "sets" : "flush");
    }
    told.flags = 0;
}

static void a_cache_of_unknown_size_is_emptied(void **state)
{
    (void)state;
    open_rotating(MODE_OFFLINE, 1, 0, 1000);
    assert_timed(TIMING_EVENT, 1, 1);
    assert_said("unknown", "flush");
}

static void other_states_say_nothing(void **state)
{
    (void)state;
    open_rotating(MODE_OFFLINE, 2, 1 << 20, 1000);
    f.config.cache[MODE_OFFLINE] = CACHE_WARM;
    assert_null(rotation_of(&f.bench));
    assert_false(rotation_empties(&f.bench, &f.bench.entrants[0], TIMING_DEVICE));
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_sets_come_after_an_emptied_cache),
        cmocka_unit_test(few_sets_get_few_launches),
        cmocka_unit_test(sets_that_hold_the_cache_suffice),
        cmocka_unit_test(long_launches_are_rotated_too),
        cmocka_unit_test(what_exceeds_the_cache_needs_nothing),
        cmocka_unit_test(a_rows_order_is_drawn),
        cmocka_unit_test(an_order_that_is_told_is_drawn_for_each_timing),
        cmocka_unit_test(a_cache_of_unknown_size_is_emptied),
        cmocka_unit_test(other_states_say_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
