/* verify/honesty.c in server mode, on a scripted device that is like a GPU: what a trial's launch finds behind the
 * contender's own primer, how long it waits, and how often memory is read for it. */
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

static struct {
    unsigned launches, digests, disturbances; /* in trials on new inputs */
    unsigned unwritten;                       /* timed ones that found a C of NaN alone */
    uint64_t last_a;                          /* digest of A at the launch before */
    unsigned on_new;                          /* timed ones that found another A than the primer */
    double waited_ns;
} seen;

static const struct probe_ops *scripted;
static const struct device_ops *plain;

static bool trial_runs(void)
{
    return f.bench.renewed != NULL;
}

static int count_digests(struct device *d, const struct probe_region *regions, size_t n, uint64_t *out,
                         struct error *err)
{
    seen.digests += trial_runs();
    return scripted->digest(d, regions, n, out, err);
}

static int count_disturbances(struct device *d, const struct probe_renewal *r, size_t n, struct error *err)
{
    seen.disturbances += trial_runs();
    return scripted->disturb(d, r, n, err);
}

static uint64_t count_waits(struct device *d, uint64_t deadline)
{
    uint64_t now = d->ops->now(d);
    seen.waited_ns += trial_runs() && deadline > now ? (double)(deadline - now) : 0;
    return plain->wait_until(d, deadline);
}

static const struct cudal2_operands *operands_now(size_t set)
{
    return operands_sets(f.bench.operands, CUDAL2_NN) + f.bench.entrants[0].first_set + set;
}

static bool is_unwritten(const void *c)
{
    for (size_t i = 0; i < 64; i++)
        if (!isnan(element_load(c, CUDAL2_F16, i)))
            return false;
    return true;
}

/* Honest: looks at what it finds. */
static void looks(const struct contender *c, void *state, size_t set, char *why)
{
    struct error err;
    const struct cudal2_operands *o = operands_now(set);
    const struct probe_region a = {(void *)(uintptr_t)o->a, sizeof(uint16_t) * 8 * 16};
    uint64_t digest = 0;
    assert_int_equal(scripted->digest(f.device, &a, 1, &digest, &err), 0);
    if (trial_runs()) {
        seen.launches++;
        bool timed = seen.launches % 2 == 0; /* behind the primer */
        seen.unwritten += timed && is_unwritten(o->c);
        seen.on_new += timed && digest != seen.last_a;
    }
    seen.last_a = digest;
    cheat.honest->launch(c, state, set, why);
}

static void run_server_cell(uint64_t seed, bool candidates)
{
    static struct probe_ops counting;
    static struct device_ops waiting;
    struct error err;
    open_cell();
    cheat.launches = 20;
    cheat.instead = looks;
    f.bench.seed = seed;
    f.bench.mode = f.bench.record->mode = MODE_SERVER;
    f.config.gap = (struct gap_config){.kind = GAP_POISSON, .mean_ns = 2e6};
    f.config.timed = TIMED_SAMPLE;
    f.bench.judging = true;
    f.bench.record->contenders[0].candidate = f.bench.record->contenders[1].candidate = candidates;
    assert_int_equal(timed_open(&f.bench, &err), 0);
    scripted = f.device->probes;
    counting = *scripted;
    counting.digest = count_digests;
    counting.disturb = count_disturbances;
    counting.renew = NULL;
    f.device->probes = &counting;
    plain = f.device->ops;
    waiting = *plain;
    waiting.wait_until = count_waits;
    f.device->ops = &waiting;
    run_cell();
    assert_string_equal(record_verdict(&f.bench.record->contenders[0]), "ok");
    assert_string_equal(record_verdict(&f.bench.record->contenders[1]), "ok");
    timed_close(&f.bench);
    f.device->ops = plain;
    fixture_close(&f);
}

/* The primer has not seen the trial's inputs and has not written its C; the launch finds both as they were put. */
static void a_trial_is_put_behind_the_primer(void **state)
{
    (void)state;
    memset(&seen, 0, sizeof seen);
    run_server_cell(1, true);
    assert_true(seen.launches >= 4);
    assert_int_equal(seen.launches % 2, 0);
    assert_int_equal(seen.unwritten, seen.launches / 2);
    assert_int_equal(seen.on_new, seen.launches / 2);
}

/* Of both contenders: before, behind the launch, and of C twice. And nothing is disturbed that is new already. */
static void memory_is_read_once_before_a_trial(void **state)
{
    (void)state;
    memset(&seen, 0, sizeof seen);
    run_server_cell(1, true);
    unsigned trials = seen.launches / 2 * 2; /* of both contenders */
    assert_int_equal(seen.digests, trials);
    assert_int_equal(seen.disturbances, 0);
}

static double waited(bool candidates)
{
    memset(&seen, 0, sizeof seen);
    for (uint64_t seed = 1; seed <= 20; seed++)
        run_server_cell(seed, candidates);
    return seen.waited_ns / seen.launches;
}

static void a_baseline_is_tried_behind_short_gaps(void **state)
{
    (void)state;
    double candidate = waited(true), baseline = waited(false);
    assert_true(baseline > 0);
    assert_true(baseline < candidate / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trial_is_put_behind_the_primer),
        cmocka_unit_test(memory_is_read_once_before_a_trial),
        cmocka_unit_test(a_baseline_is_tried_behind_short_gaps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
