/* Launches that are timed are checks (measure/timed.c): in cells on the scripted device. */
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
#include "device/cpu_math.h"
#include "measure/segment.h"
#include "measure/timed.h"
#include "measure/timed_early.h"
#include "measure/timed_state.h"

/* A cell whose launches are timed one by one. */
static void open_timed_cell(void)
{
    struct error err;
    open_cell();
    f.bench.headline = f.bench.record->headline = TIMING_WALL;
    f.bench.judging = true;
    f.config.timed = TIMED_ALL;
    assert_int_equal(timed_open(&f.bench, &err), 0);
    assert_non_null(f.bench.timed);
}

static void close_timed_cell(void)
{
    timed_close(&f.bench);
    fixture_close(&f);
}

static uint64_t counted(size_t contender, const char *what)
{
    const cJSON *timed = cJSON_GetObjectItemCaseSensitive(f.bench.record->contenders[contender].verification, "timed");
    return (uint64_t)cJSON_GetObjectItemCaseSensitive(timed, what)->valuedouble;
}

static void every_timed_launch_is_judged(void **state)
{
    (void)state;
    open_timed_cell();
    run_cell();
    timed_note(&f.bench);
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(record_verdict(&f.bench.record->contenders[i]), "ok");
        assert_true(counted(i, "launches") > f.bench.record->contenders[i].timings[TIMING_WALL].n);
        assert_int_equal(counted(i, "launches"), counted(i, "judged"));
        /* of so small a problem, and of each row */
        assert_int_equal(counted(i, "launches") + counted(i, "rows"), counted(i, "projections"));
        assert_true(counted(i, "bands") > 0);
    }
    close_timed_cell();
}

/* What is written into matrices for checks comes from the very pool that inputs of timed launches are copied from;
 * but for its large elements. */
static void checks_and_timed_launches_share_a_pool(void **state)
{
    static struct operands_request request;
    static float line[FILL_STRETCH];
    unsigned same = 0;
    (void)state;
    open_timed_cell();
    bench_operands_request(&f.bench, 1, &request);
    const enum cudal2_dtype dtype = f.bench.problem.dtype;
    const struct fill fill = {FILL_SPREAD_A, dtype, 9, 0, FILL_STRETCH, 1, false, 0, request.pool};
    int exponent = fill_exponent(fill_spread_key(9), 0, FILL_SPREAD_16);
    uint64_t bits = fill_bits(fill_key(9), 0);
    cpu_fill(1, line, &fill);
    for (uint64_t i = 0; i < FILL_STRETCH; i++) {
        float of_pool = fabsf(element_load(f.bench.timed->pool, dtype, (size_t)fill_pool_place(bits, i)));
        float usual = ldexpf(fabsf(element_load(line, dtype, (size_t)i)), -exponent);
        assert_true(usual == of_pool || usual * FILL_LARGE_F16 == of_pool);
        same += usual == of_pool;
    }
    assert_true(same > FILL_STRETCH * 9 / 10);
    close_timed_cell();
}

static unsigned skipped_at;

static void skip_one(const struct contender *c, void *state, size_t set, char *why)
{
    if (cheat.launches != skipped_at)
        cheat.honest->launch(c, state, set, why);
}

/* A single launch left out, any of them that is timed, is enough. (Those before are of trials.) */
static void a_single_launch_is_found(void **state)
{
    unsigned found = 0;
    (void)state;
    for (skipped_at = 232; skipped_at < 244; skipped_at++) {
        open_timed_cell();
        cheat.instead = skip_one;
        run_cell();
        found += f.bench.record->contenders[0].verdict == VERDICT_WRONG_RESULT;
        assert_string_equal(record_verdict(&f.bench.record->contenders[1]), "ok");
        close_timed_cell();
    }
    assert_in_range(found, 3, 7); /* the others are untimed ones, or come no more */
}

/* Segments of a device: every C of each is spoiled, and one is projected; with "sample" of a share of them, drawn. */
static void segments_are_judged(void **state)
{
    uint64_t judged[2];
    (void)state;
    for (int all = 0; all < 2; all++) {
        open_timed_cell();
        f.bench.headline = f.bench.record->headline = TIMING_DEVICE;
        f.config.timed = all ? TIMED_ALL : TIMED_SAMPLE;
        run_cell();
        timed_note(&f.bench);
        assert_string_equal(record_verdict(&f.bench.record->contenders[0]), "ok");
        judged[all] = counted(0, "judged");
        assert_true(judged[all] > 0 && judged[all] + counted(0, "rows") == counted(0, "projections"));
        assert_true(all == 0 || counted(0, "rows") > 0);
        assert_int_equal(judged[all] < counted(0, "launches"), 1); /* a first estimate is none */
        close_timed_cell();
    }
    assert_true(judged[0] <= judged[1]);
}

static unsigned disturbances, sparse;
static const struct probe_ops *scripted;

/* Takes long, so that few segments are checked where a share is drawn. */
static int count_disturbance(struct device *d, const struct probe_renewal *r, size_t n, struct error *err)
{
    disturbances++;
    sparse += r->sparse;
    assert_true(!r->sparse || (r->spoil != SPOIL_NONE && r->spoil != SPOIL_NAN && r->spoil != SPOIL_LIKELY &&
                               r->spoil != SPOIL_ZERO)); /* those that leave most of C */
    (void)d->ops->wait_until(d, d->ops->now(d) + 50000000);
    return scripted->disturb(d, r, n, err);
}

/* Where one launch is timed behind a primer, inputs that stayed would be told in its time: each finds others, whether
 * it is judged or not. In a row of many the first ones bear it. A C that is large beside the L2 stays there as the
 * primer left it, but for a few elements. */
static void launches_of_a_server_all_find_other_inputs(void **state)
{
    static struct probe_ops counting;
    (void)state;
    for (int turn = 0; turn < 3; turn++) {
        bool server = turn > 0, large = turn > 1;
        open_timed_cell();
        f.device->info.l2_bytes = large ? 64 : 1 << 30;
        f.bench.headline = f.bench.record->headline = TIMING_DEVICE;
        f.bench.mode = f.bench.record->mode = server ? MODE_SERVER : MODE_OFFLINE;
        f.bench.between_blocks = NULL;
        f.config.cache[MODE_SERVER] = CACHE_WARM;
        f.config.timed = TIMED_SAMPLE;
        scripted = f.device->probes;
        counting = *scripted;
        counting.disturb = count_disturbance;
        counting.renew = NULL; /* as on a GPU */
        f.device->probes = &counting;
        disturbances = sparse = 0;
        fixture_start(&f);
        struct error err;
        assert_int_equal(cell_loop_run(&f.bench, &err), 0);
        timed_note(&f.bench);
        uint64_t launches = counted(0, "launches") + counted(1, "launches"),
                 judged = counted(0, "judged") + counted(1, "judged");
        uint64_t rows = counted(0, "rows") + counted(1, "rows"), estimates = 2 * 3;
        assert_true(judged < launches / 2);
        if (server)
            assert_int_equal(disturbances, launches - estimates + rows);
        else
            assert_int_equal(disturbances, judged + rows);
        assert_int_equal(sparse, large ? launches - estimates : 0);
        close_timed_cell();
    }
}

static unsigned watched, watched_with_inputs;

static void count_watch(const struct contender *c, const struct contender_range ranges[CONTENDER_WATCHED])
{
    const struct cudal2_problem *p = &f.bench.problem;
    const struct entrant *e = &f.bench.entrants[0];
    const struct cudal2_operands *set = operands_sets(f.bench.operands, c->is.layout) + e->first_set;
    const uint64_t width = dtype_bytes(p->dtype);
    assert_ptr_equal(ranges[0].from, set->c);
    assert_int_equal(ranges[0].bytes, (uint64_t)(p->m * p->n) * width);
    watched++;
    watched_with_inputs += ranges[1].bytes == (uint64_t)(p->m * p->k) * width && ranges[1].from == set->a &&
                           ranges[2].bytes == (uint64_t)(p->k * p->n) * width && ranges[2].from == set->b;
    assert_true(ranges[1].bytes > 0 || ranges[2].bytes == 0);
}

static int renew_nothing(struct device *d, const struct probe_renewal *r, struct error *err)
{
    (void)d, (void)r, (void)err;
    return 0;
}

/* One launch that is timed by itself; returns how many there were. */
static unsigned launches_of_one(enum cache_state cache, bool has_process)
{
    static struct probe_ops renewing;
    static struct contender_ops ops;
    double gap_ns = -1, ns;
    struct error err;
    open_timed_cell();
    renewing = *f.device->probes;
    renewing.renew = renew_nothing;
    f.device->probes = &renewing;
    ops = *f.contenders[0].ops;
    ops.watch = has_process ? count_watch : NULL;
    f.contenders[0].ops = &ops;
    f.config.cache[MODE_OFFLINE] = cache;
    f.bench.judging = false;
    fixture_start(&f);
    struct entrant *e = &f.bench.entrants[0];
    unsigned before = cheat.launches;
    watched = watched_with_inputs = 0;
    assert_int_equal(segment_time(&f.bench, e, TIMING_WALL, &gap_ns, &ns, &err), 0);
    unsigned launches = cheat.launches - before;
    close_timed_cell();
    return launches;
}

/* Who is awake before the clock is read has its own code and C in its caches whatever the cell asks for; inputs are
 * what is cold. */
static void a_process_has_what_it_could_keep(void **state)
{
    (void)state;
    assert_int_equal(launches_of_one(CACHE_FLUSH, true), 2);
    assert_int_equal(watched, 1);
    assert_int_equal(watched_with_inputs, 0);
    assert_int_equal(launches_of_one(CACHE_WARM, true), 2);
    assert_int_equal(watched, 1);
    assert_int_equal(watched_with_inputs, 1);
    assert_int_equal(launches_of_one(CACHE_FLUSH, false), 1);
    assert_int_equal(watched, 0);
}

/* However few segments the price allows to be judged, a candidate's rows are cut at some that are drawn. */
static void a_candidate_has_its_rows(void **state)
{
    uint64_t rows[2] = {0, 0};
    (void)state;
    for (uint64_t seed = 0; seed < 10; seed++) {
        open_timed_cell();
        f.bench.headline = f.bench.record->headline = TIMING_DEVICE;
        f.config.timed = TIMED_SAMPLE;
        f.bench.seed = 500 + seed;
        run_cell();
        timed_note(&f.bench);
        for (size_t i = 0; i < 2; i++)
            rows[i] += counted(i, "rows");
        assert_in_range(counted(0, "rows"), 2, counted(0, "launches"));
        close_timed_cell();
    }
    assert_true(rows[0] > 2 * rows[1]);
}

static void all_but_a_row(const struct cudal2_operands *o)
{
    for (size_t i = 0; i < 8; i++)
        element_store(o->c, CUDAL2_F16, i, 1);
}

/* What is wrong from some launch on, and only where no trial looks. */
static bool trial_runs(void)
{
    return f.bench.renewed != NULL;
}

static void wrong_outside_trials(const struct cudal2_operands *o)
{
    if (!trial_runs())
        all_but_a_row(o);
}

static void a_wrong_segment_is_found(void **state)
{
    (void)state;
    open_timed_cell();
    f.bench.headline = f.bench.record->headline = TIMING_DEVICE;
    cheat.afterwards = wrong_outside_trials;
    run_cell();
    assert_string_equal(record_verdict(&f.bench.record->contenders[0]), "wrong_result");
    assert_non_null(strstr(f.bench.record->contenders[0].reason, "a timed launch: "));
    assert_string_equal(record_verdict(&f.bench.record->contenders[1]), "ok");
    close_timed_cell();
}

/* Each launch is within what it is allowed, and all so far are not: said behind the next segment that is judged. */
static void segments_add_up(void **state)
{
    (void)state;
    for (int much = 0; much < 2; much++) {
        struct error err;
        open_timed_cell();
        f.bench.headline = f.bench.record->headline = TIMING_DEVICE;
        fixture_start(&f);
        struct entrant *e = &f.bench.entrants[0];
        e->error_allowed = 1;
        e->error_bound = 0.5;
        e->error_shown = 0.2;
        e->error_shown_of = 1e4;
        e->timed = (struct timed_counts){.judged = 100, .errors = 1e6, .error_sq = (much ? 0.25 : 0.15) * 1e6};
        assert_int_equal(cell_loop_run(&f.bench, &err), 0);
        assert_string_equal(record_verdict(&f.bench.record->contenders[0]), much ? "wrong_result" : "ok");
        if (much)
            assert_non_null(strstr(f.bench.record->contenders[0].reason, "over all that were judged"));
        close_timed_cell();
    }
}

/* A launch in the middle of a row that changes nothing, except right behind the start of the row and in trials: what
 * the first launches wrote is right until somebody changes inputs or C in the middle. */
static unsigned in_row;

static void first_of_a_row(const struct contender *c, void *state, size_t set, char *why)
{
    static uint64_t before;
    struct fake_counts counts = fake_counts(f.device);
    uint64_t timed = counts.measures + counts.events + counts.walls;
    in_row = timed == before ? in_row + 1 : 0;
    before = timed;
    if (trial_runs() || in_row <= f.bench.entrants[0].n_sets)
        cheat.honest->launch(c, state, set, why);
    else
        fake_enqueue(f.device, 0);
}

static void rows_are_broken_where_nobody_foresees(void **state)
{
    struct error err;
    (void)state;
    open_timed_cell();
    f.bench.headline = f.bench.record->headline = TIMING_DEVICE;
    f.bench.between_blocks = NULL; /* no trials */
    cheat.instead = first_of_a_row;
    fixture_start(&f);
    for (size_t i = 0; i < f.bench.n_entrants; i++)
        f.bench.entrants[i].error_allowed = MODEL_RMS_MARGIN * model_wide(CUDAL2_F16, (double)f.bench.problem.k);
    assert_int_equal(cell_loop_run(&f.bench, &err), 0);
    assert_string_equal(record_verdict(&f.bench.record->contenders[0]), "wrong_result");
    assert_string_equal(record_verdict(&f.bench.record->contenders[1]), "ok");
    close_timed_cell();
}

/* Leaves C alone where it holds no NaN and two elements of it, drawn, are right: within a row on the same inputs it
 * multiplies once. */
static bool looks_settled(const struct cudal2_operands *o)
{
    static uint32_t drawn = 1;
    for (size_t i = 0; i < 64; i++)
        if (isnan(element_load(o->c, CUDAL2_F16, i)))
            return false;
    for (int look = 0; look < 2; look++) {
        float sum = 0;
        drawn = drawn * 1664525u + 1013904223u;
        size_t row = drawn >> 24 & 7, column = drawn >> 16 & 7;
        for (size_t p = 0; p < 16; p++)
            sum += element_load(o->a, CUDAL2_F16, row * 16 + p) * element_load(o->b, CUDAL2_F16, p * 8 + column);
        if (fabsf(sum - element_load(o->c, CUDAL2_F16, row * 8 + column)) > 0.02f)
            return false;
    }
    return true;
}

static unsigned settled_times;

static void unless_settled(const struct contender *c, void *state, size_t set, char *why)
{
    const struct entrant *e = &f.bench.entrants[0];
    if (looks_settled(operands_sets(f.bench.operands, CUDAL2_NN) + e->first_set + set)) {
        settled_times++;
        fake_enqueue(f.device, 0);
    } else {
        cheat.honest->launch(c, state, set, why);
    }
}

/* By the trials alone: no timed launch is judged here. */
static void what_a_row_left_is_found(void **state)
{
    (void)state;
    open_cell();
    settled_times = 0;
    cheat.instead = unless_settled;
    expect_verdict("wrong_result");
    assert_true(settled_times > 0);
}

/* Elements that are drawn ahead of a launch are read as they are when its clock has stopped, whatever comes later, and
 * serve once. */
static void what_comes_behind_the_clock_is_not_read(void **state)
{
    struct error err;
    (void)state;
    open_timed_cell();
    fixture_start(&f);
    struct entrant *e = &f.bench.entrants[0];
    const struct cudal2_problem *p = &f.bench.problem;
    unsigned char *c = operands_sets(f.bench.operands, CUDAL2_NN)[e->first_set].c;
    size_t bytes = (size_t)(p->m * p->n) * dtype_bytes(p->dtype);
    assert_int_equal(timed_renew(&f.bench, e, &err), 0);
    memset(c, 0, bytes);
    timed_early_read(&f.bench);
    for (int64_t i = 0; i < p->m * p->n; i++)
        element_store(c, p->dtype, (size_t)i, 1);
    assert_int_equal(timed_early_take(&f.bench), TIMED_SPOTS_EARLY);
    for (size_t i = 0; i < TIMED_SPOTS_EARLY; i++) {
        assert_true(f.bench.timed->spots[i].row < (uint64_t)p->m && f.bench.timed->spots[i].column < (uint64_t)p->n);
        assert_true(f.bench.timed->found[i] == 0);
    }
    assert_int_equal(timed_early_take(&f.bench), 0);
    close_timed_cell();
}

/* Who is timed under a verdict is not judged: its C may be gone by the next launch. */
static void nothing_is_read_of_who_is_not_judged(void **state)
{
    struct error err;
    (void)state;
    open_timed_cell();
    fixture_start(&f);
    struct entrant *e = &f.bench.entrants[0];
    assert_int_equal(timed_renew(&f.bench, e, &err), 0);
    assert_int_equal(f.bench.timed->early.n, TIMED_SPOTS_EARLY);
    for (size_t i = 0; i < TIMED_SPOTS_EARLY; i++)
        f.bench.timed->early.at[i] = NULL;
    e->record->invalid = true;
    assert_int_equal(timed_read(&f.bench, e, TIMING_WALL, 1000, &err), 0);
    e->record->invalid = false;
    assert_int_equal(timed_read(&f.bench, e, TIMING_DEVICE, 1000, &err), 0);
    close_timed_cell();
}

static void inputs_emptied(const struct cudal2_operands *o)
{
    memset((void *)(uintptr_t)o->a, 0, 8 * 16 * 2);
    memset(o->c, 0, 8 * 8 * 2);
}

static void verdicts_name_the_fault(void **state)
{
    (void)state;
    open_timed_cell();
    cheat.afterwards = inputs_emptied;
    run_cell();
    assert_string_equal(record_verdict(&f.bench.record->contenders[0]), "input_mutated");
    assert_string_equal(record_verdict(&f.bench.record->contenders[1]), "ok");
    close_timed_cell();
}

/* Before verification is over nobody is judged, and with the checks off nothing is renewed. */
static void nothing_is_judged_too_early(void **state)
{
    struct error err;
    (void)state;
    open_timed_cell();
    f.bench.judging = false;
    f.config.honesty = false;
    cheat.instead = skip_one;
    skipped_at = 25;
    run_cell();
    timed_note(&f.bench);
    assert_string_equal(record_verdict(&f.bench.record->contenders[0]), "ok");
    assert_null(cJSON_GetObjectItemCaseSensitive(f.bench.record->contenders[0].verification, "timed"));
    timed_close(&f.bench);
    assert_int_equal(timed_open(&f.bench, &err), 0);
    assert_null(f.bench.timed);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_timed_launch_is_judged),
        cmocka_unit_test(checks_and_timed_launches_share_a_pool),
        cmocka_unit_test(a_single_launch_is_found),
        cmocka_unit_test(segments_are_judged),
        cmocka_unit_test(a_process_has_what_it_could_keep),
        cmocka_unit_test(a_candidate_has_its_rows),
        cmocka_unit_test(launches_of_a_server_all_find_other_inputs),
        cmocka_unit_test(a_wrong_segment_is_found),
        cmocka_unit_test(segments_add_up),
        cmocka_unit_test(rows_are_broken_where_nobody_foresees),
        cmocka_unit_test(what_a_row_left_is_found),
        cmocka_unit_test(verdicts_name_the_fault),
        cmocka_unit_test(nothing_is_judged_too_early),
        cmocka_unit_test(what_comes_behind_the_clock_is_not_read),
        cmocka_unit_test(nothing_is_read_of_who_is_not_judged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
