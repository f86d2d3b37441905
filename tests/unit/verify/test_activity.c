/* verify/activity: the whole look on the scripted device. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/digest.h"
#include "base/half.h"
#include "bench_fixture.h"
#include "record/activity.h"
#include "verify/activity.h"

#include "activity_fixture.h"

/* ---- the whole look ---- */

static struct fixture f;

/* What the watcher says it saw: pieces of work in a row of 2 us each, and deviations from that. */
static struct {
    struct watcher base;
    size_t pieces, graph_pieces;
    int escapes;   /* tries in which something ran early */
    int deaf_from; /* from this look on nothing is recorded; 0: never */
    bool skips;    /* the launch does not run at all */
    int looks, graphs, rows;
    uint64_t overlap_ns; /* of a row's launches */
    bool held;
} script;

/* How long the GPU is busy with a launch of an L2-resident problem, by what that launch finds. */
enum behaviour {
    STEADY,         /* as the pieces say */
    CACHED,         /* 7.8 us, or 17.4 when the contender has not run since the inputs were written */
    CACHED_IN_VAIN, /* the same, and writing any input makes it cold again */
    REMEMBERS,      /* 20 us on inputs that it did not have last time, else 1 */
    SKIPS_CLEAN,    /* 20 us where C is poisoned, else 1 */
    STOPS,          /* 20 us: it works when it is watched */
};

static enum behaviour behaviour;
static struct fake_counts before;
static uint32_t inputs_before;

static uint32_t inputs_now(void)
{
    const struct cudal2_problem *p = &f.bench.problem;
    const struct cudal2_operands *o = &f.bench.operands->nn[0];
    size_t bytes = dtype_bytes(p->dtype);
    return digest_crc32(o->a, (size_t)(p->m * p->k) * bytes) ^ digest_crc32(o->b, (size_t)(p->k * p->n) * bytes);
}

static bool c_is_poisoned(void)
{
    return isnan(element_load(f.bench.operands->nn[0].c, f.bench.problem.dtype, 0));
}

/* Before the launch itself. */
static uint64_t behave(void)
{
    struct fake_counts now = fake_counts(f.device);
    uint32_t inputs = inputs_now();
    bool primed = now.measures > before.measures, written = now.fills > before.fills, news = inputs != inputs_before;
    uint64_t ns = behaviour == STOPS ? 20000 : 2000;
    if (behaviour == CACHED || behaviour == CACHED_IN_VAIN)
        ns = !primed || (behaviour == CACHED_IN_VAIN && written) ? 17400 : 7800;
    if (behaviour == REMEMBERS)
        ns = news ? 20000 : 1000;
    if (behaviour == SKIPS_CLEAN)
        ns = c_is_poisoned() ? 20000 : 1000;
    inputs_before = inputs;
    return ns;
}

/* Four launches of 2 us. */
static int watch_row(struct device *d, const struct watch_request *request, struct watched *out, struct error *err)
{
    double ns;
    *out = bracketed();
    script.rows++;
    for (size_t i = 0; i < 4 * script.graph_pieces; i++) {
        uint64_t start = 110000 + (2000 - script.overlap_ns) * i;
        add(out, OWN, start, start + 2000);
    }
    return d->ops->measure(d, request->segment, &ns, err);
}

static int scripted_watch(struct watcher *watcher, struct device *d, const struct watch_request *request,
                          struct watched *out, struct error *err)
{
    char why[CUDAL2_WHY];
    double ns;
    int code = 0;
    (void)watcher;
    bool graph = request->segment != NULL;
    if (graph && request->late_ns == 0)
        return watch_row(d, request, out, err);
    uint64_t busy_ns = behave();
    script.looks++;
    script.graphs += graph;
    script.held = request->hold;
    if (graph)
        code = d->ops->measure(d, request->segment, &ns, err);
    else if (!script.skips && request->work->launch(request->work->context, request->set, why) != CUDAL2_OK)
        code = error_set(err, EXIT_CODE_VERIFICATION, "launch failed: %s", why);
    *out = bracketed();
    out->held = request->hold;
    out->complete = script.deaf_from == 0 || script.looks < script.deaf_from;
    if (!graph && script.escapes-- > 0)
        add(out, OTHER, 50000, 60000);
    size_t pieces = graph ? script.graph_pieces : script.pieces;
    for (size_t i = 0; i < pieces; i++) {
        add(out, OWN, 110000 + 3000 * i, 110000 + 3000 * i + busy_ns);
        out->log.list[out->log.n - 1].in_graph = graph;
    }
    before = fake_counts(d);
    return code;
}

static void open_look(void)
{
    memset(&script, 0, sizeof script);
    behaviour = STEADY;
    before = (struct fake_counts){0};
    script.base.watch = scripted_watch;
    script.pieces = script.graph_pieces = 1;
    fixture_open(&f, 1);
    f.bench.headline = TIMING_DEVICE;
    fixture_start(&f);
}

static cJSON *look(const struct activity_claim *claim)
{
    struct error err;
    cJSON *seen = NULL, *list = cJSON_CreateArray();
    assert_int_equal(activity_watch(&f.bench, &f.bench.entrants[0], &script.base, claim, &seen, &err), 0);
    cJSON *entry = cJSON_Duplicate(seen, true);
    cJSON_AddStringToObject(entry, "name", "a-nn");
    cJSON_AddItemToArray(list, entry);
    assert_int_equal(activity_check_contenders(json_root(list, "look"), &err), 0); /* what the journal takes */
    cJSON_Delete(list);
    return seen;
}

static void expect_member(const cJSON *seen, const char *key, const char *text)
{
    const cJSON *node = cJSON_GetObjectItem(seen, key);
    char *printed = node == NULL ? NULL : json_print(node, false);
    if (text == NULL)
        assert_null(printed);
    else
        assert_string_equal(printed, text);
    free(printed);
}

static void test_an_honest_graph(void **state)
{
    (void)state;
    open_look();
    cJSON *seen = look(&(struct activity_claim){.timed_ns = 2500, .graph = true});
    expect_member(seen, "launch",
                  "[{\"kernel\":\"gemm\",\"grid\":[0,0,0],\"block\":[0,0,0],\"stream\":13,\"n\":1,\"ns\":2000}]");
    expect_member(seen, "graph", NULL); /* the same */
    expect_member(seen, "busy_ns", "2000");
    expect_member(seen, "graph_busy_ns", "2000");
    expect_member(seen, "ratio", "0.8");
    expect_member(seen, "overlap_ns", "0");
    expect_member(seen, "waits", NULL);
    expect_member(seen, "status", NULL);
    assert_int_equal(script.rows, 1);
    assert_int_equal(script.looks, 2);
    assert_int_equal(script.graphs, 1);
    assert_int_equal(fake_counts(f.device).live_segments, 0);
    cJSON_Delete(seen);
    fixture_close(&f);
}

/* Nobody is refuted for it: it is told. From idle there is no row. */
static void test_a_row_that_overlaps(void **state)
{
    (void)state;
    open_look();
    script.overlap_ns = 400;
    cJSON *seen = look(&(struct activity_claim){.timed_ns = 2500, .graph = true});
    expect_member(seen, "overlap_ns", "400");
    expect_member(seen, "status", NULL);
    cJSON_Delete(seen);
    f.bench.mode = MODE_SERVER;
    seen = look(&(struct activity_claim){.timed_ns = 2500, .graph = true});
    expect_member(seen, "overlap_ns", NULL);
    assert_int_equal(script.rows, 1);
    cJSON_Delete(seen);
    fixture_close(&f);
}

/* Split K: alike pieces are one entry, and several kernels have no ratio. */
static void test_two_kernels(void **state)
{
    (void)state;
    open_look();
    script.pieces = 2;
    script.graph_pieces = 3;
    cJSON *seen = look(&(struct activity_claim){.timed_ns = 5000, .graph = true});
    expect_member(seen, "launch",
                  "[{\"kernel\":\"gemm\",\"grid\":[0,0,0],\"block\":[0,0,0],\"stream\":13,\"n\":2,\"ns\":4000}]");
    expect_member(seen, "graph",
                  "[{\"kernel\":\"gemm\",\"grid\":[0,0,0],\"block\":[0,0,0],\"stream\":13,\"n\":3,\"ns\":6000}]");
    expect_member(seen, "ratio", NULL);
    expect_member(seen, "status", NULL);
    cJSON_Delete(seen);
    fixture_close(&f);
}

/* One try of three that looks bad is bad luck. */
static void test_three_tries(void **state)
{
    (void)state;
    open_look();
    script.escapes = 2;
    cJSON *seen = look(&no_claim);
    expect_member(seen, "status", NULL);
    assert_int_equal(script.looks, 3);
    cJSON_Delete(seen);
    script.escapes = 3;
    seen = look(&no_claim);
    expect_member(seen, "status", "\"stream_escape\"");
    cJSON_Delete(seen);
    fixture_close(&f);
}

/* A contender that skips while it is timed takes its time when it is watched. */
static void test_slower_than_timed(void **state)
{
    (void)state;
    open_look();
    script.graph_pieces = 20;
    cJSON *seen = look(&(struct activity_claim){.timed_ns = 2000, .graph = true});
    expect_member(seen, "status", "\"implausible_speed\"");
    cJSON_Delete(seen);
    fixture_close(&f);
}

/* Of a launch that was timed so, as a graph. */
static void expect_status(enum behaviour what, double timed_ns, enum cache_state cache, const char *status)
{
    open_look();
    behaviour = what;
    f.config.cache[MODE_OFFLINE] = cache;
    cJSON *seen = look(&(struct activity_claim){.timed_ns = timed_ns, .graph = true});
    expect_member(seen, "unavailable", NULL);
    expect_member(seen, "status", status);
    cJSON_Delete(seen);
    fixture_close(&f);
}

/* cuBLASLt at 16x4096x4096 on an H100: 7.8 us in a warm row, 17.4 us when B has to come from memory. */
static void test_an_honest_launch_from_the_cache(void **state)
{
    (void)state;
    expect_status(CACHED, 7800, CACHE_WARM, NULL);
    expect_status(CACHED, 17400, CACHE_ROTATE, NULL);
    expect_status(CACHED, 17400, CACHE_FLUSH, NULL);
    /* and where what we write ourselves takes it out of the cache */
    expect_status(CACHED_IN_VAIN, 7800, CACHE_WARM, NULL);
}

static void test_cheats_in_the_same_cache_state(void **state)
{
    static const enum cache_state caches[] = {CACHE_WARM, CACHE_ROTATE, CACHE_FLUSH};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        expect_status(REMEMBERS, 1000, caches[i], "\"implausible_speed\"");
        expect_status(SKIPS_CLEAN, 1000, caches[i], "\"implausible_speed\"");
        expect_status(STOPS, 1000, caches[i], "\"implausible_speed\"");
        expect_status(STOPS, 10000, caches[i], NULL); /* 20 us are within 1.5 times and 5 us */
        expect_status(STOPS, 9990, caches[i], "\"implausible_speed\"");
    }
}

/* Caches are emptied where they were cold when it was timed, and only there. */
static void test_the_state_that_was_timed(void **state)
{
    (void)state;
    open_look();
    f.config.cache[MODE_OFFLINE] = CACHE_ROTATE;
    cJSON *seen = look(&(struct activity_claim){.timed_ns = 2500, .graph = true});
    assert_int_equal(fake_counts(f.device).flushes, 2); /* the launch and the graph */
    cJSON_Delete(seen);
    fixture_close(&f);
    open_look();
    f.config.cache[MODE_OFFLINE] = CACHE_WARM;
    seen = look(&(struct activity_claim){.timed_ns = 2500, .graph = true});
    assert_int_equal(fake_counts(f.device).flushes, 0);
    cJSON_Delete(seen);
    fixture_close(&f);
}

static void test_wrong_output(void **state)
{
    (void)state;
    open_look();
    f.actors[0].wrong = true;
    cJSON *seen = look(&no_claim);
    expect_member(seen, "status", "\"wrong_result\"");
    assert_non_null(strstr(cJSON_GetObjectItem(seen, "reason")->valuestring, "in a launch that was watched: "));
    assert_int_equal(script.looks, 1); /* no matter of luck */
    cJSON_Delete(seen);
    fixture_close(&f);
}

/* C is right and nothing ran: it was computed elsewhere. */
static void test_nothing_ran(void **state)
{
    (void)state;
    open_look();
    script.pieces = 0;
    cJSON *seen = look(&no_claim);
    expect_member(seen, "status", "\"stream_escape\"");
    expect_member(seen, "reason", "\"nothing ran on the GPU in the launch, and C was right\"");
    cJSON_Delete(seen);
    script.skips = true; /* and C is as it was: poisoned */
    seen = look(&no_claim);
    expect_member(seen, "status", "\"wrong_result\"");
    cJSON_Delete(seen);
    fixture_close(&f);
}

/* A recorder that goes deaf accuses nobody. */
static void test_recorder_stops(void **state)
{
    (void)state;
    open_look();
    script.deaf_from = 1;
    script.pieces = 0;
    script.escapes = 9;
    cJSON *seen = look(&(struct activity_claim){.graph = true});
    expect_member(seen, "status", NULL);
    expect_member(seen, "unavailable", "\"the recorder lost work, or stopped recording\"");
    assert_int_equal(script.looks, 1);
    cJSON_Delete(seen);
    fixture_close(&f);
}

static void test_launch_that_waits_is_not_held(void **state)
{
    (void)state;
    open_look();
    cJSON *seen = look(&(struct activity_claim){.waits = true});
    assert_false(script.held);
    expect_member(seen, "waits", "true");
    cJSON_Delete(seen);
    fixture_close(&f);
}

/* A launch that says no cannot be watched; a device that is lost ends the worker. */
static void test_launch_that_fails(void **state)
{
    struct error err;
    cJSON *seen = NULL;
    (void)state;
    open_look();
    f.actors[0].fail_launches_from = 1;
    seen = look(&no_claim);
    assert_non_null(strstr(cJSON_GetObjectItem(seen, "unavailable")->valuestring, "launch_error: "));
    cJSON_Delete(seen);
    fixture_close(&f);
    open_look();
    f.actors[0].break_from = 2;
    assert_int_equal(activity_watch(&f.bench, &f.bench.entrants[0], &script.base, &no_claim, &seen, &err),
                     EXIT_CODE_UNAVAILABLE);
    assert_null(seen);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_row_that_overlaps),
        cmocka_unit_test(test_an_honest_graph),
        cmocka_unit_test(test_two_kernels),
        cmocka_unit_test(test_three_tries),
        cmocka_unit_test(test_slower_than_timed),
        cmocka_unit_test(test_an_honest_launch_from_the_cache),
        cmocka_unit_test(test_cheats_in_the_same_cache_state),
        cmocka_unit_test(test_the_state_that_was_timed),
        cmocka_unit_test(test_wrong_output),
        cmocka_unit_test(test_nothing_ran),
        cmocka_unit_test(test_recorder_stops),
        cmocka_unit_test(test_launch_that_waits_is_not_held),
        cmocka_unit_test(test_launch_that_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
