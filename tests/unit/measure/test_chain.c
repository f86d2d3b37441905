/* Mode chain on the scripted clock: what a product adds, as one graph and as a stream, and who is caught in it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/half.h"
#include "bench_fixture.h"
#include "measure/cell_loop.h"
#include "measure/chain.h"
#include "measure/timed.h"
#include "stats/interval.h"

#define LAYERS 5
#define PLAIN_NS 700.0 /* of the fixture's plain kernel */
#define LAUNCH_NS 3000.0

static struct fixture f;

/* Two contenders of 10 and 20 us with sets of their own. */
static void open_chain(void)
{
    fixture_open(&f, 2);
    f.actors[0].duration_ns = 10e3;
    f.actors[1].duration_ns = 20e3;
    f.bench.mode = f.bench.record->mode = MODE_CHAIN;
    f.config.cache[MODE_CHAIN] = CACHE_ROTATE;
    f.config.stop.delta[MODE_CHAIN] = 0.01;
    f.config.honesty = true;
    f.config.chain_layers = LAYERS;
    f.bench.sets_each = LAYERS + CHAIN_PRIMERS;
    f.bench.n_sets = 2 * f.bench.sets_each;
    for (size_t i = 0; i < 2; i++) {
        f.bench.entrants[i].n_sets = f.bench.sets_each;
        f.bench.entrants[i].first_set = i * f.bench.sets_each;
    }
}

static void start(void)
{
    struct error err;
    fixture_start(&f);
    if (timed_open(&f.bench, &err) != 0 || chain_open(&f.bench, &err) != 0 || chain_verify(&f.bench, &err) != 0)
        fail_msg("%s", err.text);
    f.bench.judging = true;
}

static void run(void)
{
    struct error err;
    start();
    if (cell_loop_run(&f.bench, &err) != 0)
        fail_msg("%s", err.text);
}

static void close_chain(void)
{
    for (size_t i = 0; i < 2; i++)
        entrant_teardown(&f.bench, &f.bench.entrants[i]);
    timed_close(&f.bench);
    chain_close(&f.bench);
    fixture_close(&f);
}

static const struct series *times(size_t who, enum timing timing)
{
    return &f.bench.record->contenders[who].timings[timing];
}

static void is_near(const struct series *s, double wanted)
{
    assert_true(s->n > 0);
    double ns = stats_median(s->ns, s->n);
    if (!(ns > 0.999 * wanted && ns < 1.001 * wanted))
        fail_msg("%g ns, not %g", ns, wanted);
}

/* As a graph the product alone; as a stream its launch as well, which costs the host. */
static void it_says_what_a_product_adds(void **state)
{
    (void)state;
    open_chain();
    run();
    is_near(times(0, TIMING_DEVICE), 10e3);
    is_near(times(1, TIMING_DEVICE), 20e3);
    is_near(times(0, TIMING_EVENT), 10e3);
    is_near(times(1, TIMING_EVENT), 20e3);
    is_near(times(1, TIMING_WALL), 20e3);
    assert_int_equal(times(0, TIMING_EVENT)->n, times(0, TIMING_DEVICE)->n); /* both in every block */
    assert_true(times(0, TIMING_WALL)->n < times(0, TIMING_DEVICE)->n);
    assert_string_equal(record_verdict(&f.bench.record->contenders[0]), "ok");
    assert_true(f.bench.record->converged);
    close_chain();
}

static double number_at(const cJSON *object, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    assert_non_null(item);
    return item->valuedouble;
}

static void the_record_says_what_a_chain_is(void **state)
{
    (void)state;
    open_chain();
    run();
    cJSON *chain = chain_of(&f.bench);
    assert_true(number_at(chain, "layers") == LAYERS && number_at(chain, "primers") == CHAIN_PRIMERS);
    const cJSON *without = cJSON_GetObjectItemCaseSensitive(chain, "without_ns");
    assert_true(fabs(number_at(without, "device") - PLAIN_NS) < 1);
    assert_true(fabs(number_at(without, "event") - PLAIN_NS - LAUNCH_NS) < 1);
    assert_true(cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(chain, "emptied")));
    cJSON_Delete(chain);
    assert_true(fake_counts(f.device).flushes > 0);
    close_chain();
}

/* Every layer of every set is right there, and A of each is what the plain kernel made of the C before it. */
static void layers_hang_together(void **state)
{
    (void)state;
    open_chain();
    f.config.timed = TIMED_ALL;
    run();
    const struct timed_counts *counts = &f.bench.entrants[0].timed;
    assert_true(counts->judged > 0 && counts->launches - counts->judged < LAYERS); /* first looks are no chains */
    assert_true(counts->products >= counts->judged);
    const struct cudal2_operands *sets = operands_sets(f.bench.operands, CUDAL2_NN);
    float a = element_load(sets[1].a, CUDAL2_F16, 3), b = element_load(sets[2].a, CUDAL2_F16, 3);
    assert_true(a != b && fabsf(a) <= 1.67f && fabsf(b) <= 1.67f);
    close_chain();
}

static void is_out(const char *status, const char *stage)
{
    const struct contender_record *r = &f.bench.record->contenders[1];
    if (strcmp(record_verdict(r), status) != 0 || strcmp(r->stage, stage) != 0)
        fail_msg("%s at %s: %s", record_verdict(r), r->stage, r->reason);
    assert_non_null(strstr(r->reason, "of a chain"));
    assert_string_equal(record_verdict(&f.bench.record->contenders[0]), "ok");
}

static void a_wrong_layer_is_told_before_the_blocks(void **state)
{
    (void)state;
    open_chain();
    f.actors[1].wrong = true; /* its last element stays NaN */
    start();
    is_out("wrong_result", "verify");
    close_chain();
}

static void a_wrong_layer_is_told_in_the_blocks(void **state)
{
    struct error err;
    (void)state;
    open_chain();
    f.config.timed = TIMED_ALL;
    start();
    f.actors[1].stray = 50;
    assert_int_equal(cell_loop_run(&f.bench, &err), 0);
    is_out("wrong_result", "measure");
    close_chain();
}

/* ---- a contender that leaves its C for later ---- */

static struct late {
    int (*launch)(const struct contender *c, void *state, size_t set, char *why);
    struct contender_ops ops;
    size_t owed; /* 1 + the set whose product is still to be made */
} late;

/* Makes the product of the launch before this one; at the last set its own as well. */
static int launch_late(const struct contender *c, void *state, size_t set, char *why)
{
    int status = late.owed > 0 ? late.launch(c, state, late.owed - 1, why) : CUDAL2_OK;
    late.owed = set + 1;
    if (status == CUDAL2_OK && set + 1 == f.bench.sets_each) {
        status = late.launch(c, state, set, why);
        late.owed = 0;
    }
    return status;
}

/* In the end every C is the product of its A and B; only the kernel behind each has read another. */
static void a_late_product_is_told_by_who_read_it(void **state)
{
    (void)state;
    open_chain();
    fixture_start(&f);
    late.ops = *f.contenders[1].ops;
    late.launch = late.ops.launch;
    late.owed = 0;
    late.ops.launch = launch_late;
    f.contenders[1].ops = &late.ops;
    struct error err;
    assert_int_equal(timed_open(&f.bench, &err), 0);
    assert_int_equal(chain_open(&f.bench, &err), 0);
    assert_int_equal(chain_verify(&f.bench, &err), 0);
    const struct contender_record *r = &f.bench.record->contenders[1];
    assert_true(r->verdict == VERDICT_LATE_WORK || r->verdict == VERDICT_WRONG_RESULT);
    assert_string_equal(record_verdict(&f.bench.record->contenders[0]), "ok");
    close_chain();
}

static void layers_follow_the_cache_and_the_peak(void **state)
{
    const struct config config = {0}, asked = {.chain_layers = 7};
    struct device_info info = {.l2_bytes = 50u << 20, .peak_flops = 1e15};
    struct cudal2_problem p = {.m = 64, .n = 64, .k = 64, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F32};
    (void)state;
    assert_int_equal(chain_layers(&config, &info, &p), CHAIN_MOST_LAYERS);
    p = (struct cudal2_problem){.m = 64,
                                .n = 2048,
                                .k = 2048,
                                .dtype = CUDAL2_F16,
                                .accumulate = CUDAL2_ACC_F32}; /* 8 MiB of weights: 12.5 of them */
    assert_int_equal(chain_layers(&config, &info, &p), 13);
    p = (struct cudal2_problem){.m = 16384, .n = 2048, .k = 2048, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F32};
    assert_int_equal(chain_layers(&config, &info, &p), 13);
    info.peak_flops = 1e14; /* 1.4 ms a product */
    assert_int_equal(chain_layers(&config, &info, &p), 13);
    p.m = 65536; /* 5.5 ms */
    assert_int_equal(chain_layers(&config, &info, &p), CHAIN_LEAST_LAYERS);
    p = (struct cudal2_problem){.m = 64, .n = 8192, .k = 8192, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F32};
    assert_int_equal(chain_layers(&config, &info, &p), CHAIN_LEAST_LAYERS);
    assert_int_equal(chain_layers(&asked, &info, &p), 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_says_what_a_product_adds),
        cmocka_unit_test(the_record_says_what_a_chain_is),
        cmocka_unit_test(layers_hang_together),
        cmocka_unit_test(a_wrong_layer_is_told_before_the_blocks),
        cmocka_unit_test(a_wrong_layer_is_told_in_the_blocks),
        cmocka_unit_test(a_late_product_is_told_by_who_read_it),
        cmocka_unit_test(layers_follow_the_cache_and_the_peak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
