/*
 * The CUDA device on a driver of the test's own: the ladder of device timing, capture and its refusals, blocker and its
 * timeout, errors and what is undone. It proves the calls and their order, not the GPU; that is what scripts on a GPU
 * machine are for.
 */
#include "device/cuda_device.h"
#include "device/fill.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mock_cuda.h"
#include "mock_cuda_run.h"

/* ---- contenders ---- */

struct work {
    unsigned kernels; /* on our stream */
    int node_type;    /* and one node of this type, -1 for none */
    bool syncs;
    int fail_at; /* launch number that fails, 0 for none */
    bool fail_under_capture;
    unsigned launches;
    size_t sets[64];
};

static int launch(void *context, size_t set, char *why)
{
    struct work *w = context;
    char ignored[CUDAL2_WHY];
    w->sets[w->launches % 64] = set;
    w->launches++;
    if ((int)w->launches == w->fail_at || (w->fail_under_capture && mock.capture)) {
        snprintf(why, CUDAL2_WHY, "cublasGemmEx: NOT_SUPPORTED");
        return CUDAL2_LIBRARY_ERROR;
    }
    for (unsigned i = 0; i < w->kernels; i++) {
        struct cuda_launch l = {.function = (void *)1, .grid = {1, 1, 1}, .block = {32, 1, 1}, .cluster = {1, 1, 1}};
        if (cuda_launch(d, &l, ignored) != CUDAL2_OK)
            return CUDAL2_LIBRARY_ERROR;
    }
    if (w->node_type >= 0)
        append(&(struct op){.kind = OP_NODE, .node_type = w->node_type, .ns = 10});
    if (w->syncs)
        (void)m_context_sync();
    return CUDAL2_OK;
}

static const struct device_shape four = {.launches = 4, .primers = 1, .first_set = 0, .n_sets = 2};

static struct device_segment *prepare(struct work *w, uint32_t flags, enum device_rung lowest)
{
    struct device_work work = {launch, w, flags};
    struct device_segment *s;
    struct error err;
    if (d->ops->prepare(d, &work, &four, lowest, &s, &err) != 0)
        fail_msg("%s", err.text);
    return s;
}

static double measure(struct device_segment *s)
{
    struct error err;
    double ns = -1;
    if (d->ops->measure(d, s, &ns, &err) != 0)
        fail_msg("%s", err.text);
    return ns;
}

static void assert_near(double got, double expected)
{
    if (got < expected - 0.01 || got > expected + 0.01)
        fail_msg("got %g ns, expected %g", got, expected);
}

/* ---- tests ---- */

static void info_and_floors(void **state)
{
    (void)state;
    assert_string_equal(d->info.kind, "cuda");
    assert_string_equal(d->info.name, "Mock H200");
    assert_string_equal(d->info.uuid, "GPU-00112233-4455-6677-8899-aabbccddeeff");
    assert_int_equal(d->info.cc, 90);
    assert_true(d->info.peak_flops > 1.03e15 && d->info.peak_flops < 1.08e15);
    assert_true(d->info.peak_bytes_per_s > 4.9e12 && d->info.peak_bytes_per_s < 4.93e12);
    assert_true(d->stream == (void *)&mock.queue);
}

static void a_graph_is_captured_uploaded_replayed(void **state)
{
    (void)state;
    struct work w = {.kernels = 2, .node_type = -1};
    struct device_segment *s = prepare(&w, 0, RUNG_GRAPH);
    assert_int_equal(d->ops->rung(s), RUNG_GRAPH);
    assert_string_equal(d->ops->rung_reason(s), "");
    assert_int_equal(mock.uploads, 1);
    assert_int_equal(mock.graph_launches, 1);
    assert_int_equal(w.launches, 2 + 5); /* each set once to warm, then primer and four launches captured */
    assert_int_equal(w.sets[0], 0);
    assert_int_equal(w.sets[1], 1);
    assert_int_equal(w.sets[2], 0);
    assert_int_equal(w.sets[3], 1);
    assert_near(measure(s), 2000);
    assert_int_equal(w.launches, 7);
    assert_int_equal(mock.graph_launches, 2);
    d->ops->release_segment(d, s);
    assert_int_equal(mock.live_graphs, 0);
    assert_int_equal(mock.live_execs, 0);
    assert_int_equal(mock.live_events, 2); /* the device's own */
}

static void the_null_graph(void **state)
{
    (void)state;
    struct device_segment *s;
    struct error err;
    assert_int_equal(d->ops->prepare(d, NULL, &four, RUNG_GRAPH, &s, &err), 0);
    assert_int_equal(d->ops->rung(s), RUNG_GRAPH);
    assert_near(measure(s), 100);
    d->ops->release_segment(d, s);
}

static void assert_falls_to_blocked(struct work *w, const char *says)
{
    int before = mock.blockers;
    struct device_segment *s = prepare(w, 0, RUNG_GRAPH);
    assert_int_equal(d->ops->rung(s), RUNG_BLOCKED);
    if (!strstr(d->ops->rung_reason(s), says))
        fail_msg("\"%s\" does not say \"%s\"", d->ops->rung_reason(s), says);
    assert_int_equal(mock.live_graphs, 0);
    assert_null(mock.capture);
    (void)measure(s);
    assert_int_equal(mock.blockers, before + 2);
    d->ops->release_segment(d, s);
    assert_int_equal(mock.live_events, 2);
}

static void refused_graphs_fall_to_the_blocker(void **state)
{
    (void)state;
    struct work host = {.kernels = 1, .node_type = CU_NODE_HOST},
                alloc = {.kernels = 1, .node_type = CU_NODE_MEM_ALLOC};
    struct work copy = {.kernels = 1, .node_type = CU_NODE_MEMCPY}, plain = {.kernels = 1, .node_type = -1};
    struct work fails = {.kernels = 1, .node_type = -1, .fail_under_capture = true};
    assert_falls_to_blocked(&host, "host function");
    assert_falls_to_blocked(&alloc, "memory alloc");
    mock.copy_host = CU_MEMORY_HOST;
    assert_falls_to_blocked(&copy, "to or from the host");
    mock.copy_host = 2;
    struct device_segment *s = prepare(&copy, 0, RUNG_GRAPH);
    assert_int_equal(d->ops->rung(s), RUNG_GRAPH);
    d->ops->release_segment(d, s);
    assert_falls_to_blocked(&fails, "cublasGemmEx: NOT_SUPPORTED");
    mock.capture_result = 901;
    assert_falls_to_blocked(&plain, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED");
    mock.capture_result = CU_OK;
    mock.refuse_instantiate = 1;
    assert_falls_to_blocked(&plain, "cuGraphInstantiateWithFlags");
}

static void flags_choose_the_rung(void **state)
{
    (void)state;
    struct work w = {.kernels = 1, .node_type = -1};
    struct device_segment *s = prepare(&w, CUDAL2_NO_CAPTURE, RUNG_GRAPH);
    assert_int_equal(d->ops->rung(s), RUNG_BLOCKED);
    assert_near(measure(s), 1000);
    d->ops->release_segment(d, s);
    s = prepare(&w, CUDAL2_SYNCS, RUNG_GRAPH);
    assert_int_equal(d->ops->rung(s), RUNG_EVENTS);
    assert_non_null(strstr(d->ops->rung_reason(s), "host_sync"));
    assert_near(measure(s), 1000);
    d->ops->release_segment(d, s);
    s = prepare(&w, 0, RUNG_BLOCKED);
    assert_int_equal(d->ops->rung(s), RUNG_BLOCKED);
    assert_string_equal(d->ops->rung_reason(s), "");
    d->ops->release_segment(d, s);
    assert_int_equal(mock.graph_launches, 0);
}

static void a_launch_that_waits_is_found_by_the_blocker(void **state)
{
    (void)state;
    struct work w = {.kernels = 1, .node_type = -1, .syncs = true};
    struct device_segment *s = prepare(&w, 0, RUNG_BLOCKED);
    assert_int_equal(d->ops->rung(s), RUNG_EVENTS);
    assert_non_null(strstr(d->ops->rung_reason(s), "timed out"));
    assert_near(measure(s), 1000);
    d->ops->release_segment(d, s);
}

/* Honest at first, waiting later: the measurement falls by itself and what it returns is not the void one. */
static void a_late_wait_falls_during_measure(void **state)
{
    (void)state;
    struct work w = {.kernels = 1, .node_type = -1};
    struct device_segment *s = prepare(&w, 0, RUNG_BLOCKED);
    assert_int_equal(d->ops->rung(s), RUNG_BLOCKED);
    w.syncs = true;
    assert_near(measure(s), 1000);
    assert_int_equal(d->ops->rung(s), RUNG_EVENTS);
    d->ops->release_segment(d, s);
}

static void work_that_escapes_the_stream_is_an_error(void **state)
{
    (void)state;
    struct work w = {.kernels = 0, .node_type = -1};
    struct device_work work = {launch, &w, 0};
    struct device_segment *s;
    struct error err;
    assert_int_equal(d->ops->prepare(d, &work, &four, RUNG_GRAPH, &s, &err), EXIT_CODE_VERIFICATION);
    assert_non_null(strstr(err.text, "stream_escape"));
    assert_null(s);
    assert_int_equal(mock.live_graphs, 0);
    assert_int_equal(mock.live_events, 2);
}

static void launch_failures_carry_the_reason(void **state)
{
    (void)state;
    struct work first = {.kernels = 1, .node_type = -1, .fail_at = 1};
    struct device_work work = {launch, &first, 0};
    struct device_segment *s;
    struct error err;
    double ns;
    assert_int_equal(d->ops->prepare(d, &work, &four, RUNG_GRAPH, &s, &err), EXIT_CODE_VERIFICATION);
    assert_non_null(strstr(err.text, "NOT_SUPPORTED"));
    first = (struct work){.kernels = 1, .node_type = -1, .fail_at = 1};
    assert_int_equal(d->ops->time_event(d, &work, 0, &ns, &err), EXIT_CODE_VERIFICATION);
    assert_non_null(strstr(err.text, "NOT_SUPPORTED"));
    first.launches = 0;
    assert_int_equal(d->ops->time_wall(d, &work, 0, &ns, &err), EXIT_CODE_VERIFICATION);
    assert_non_null(strstr(err.text, "NOT_SUPPORTED"));
    /* in the middle of a blocked segment: the blocker is released, nothing stays queued */
    first = (struct work){.kernels = 1, .node_type = -1, .fail_at = 5};
    assert_int_equal(d->ops->prepare(d, &work, &four, RUNG_BLOCKED, &s, &err), EXIT_CODE_VERIFICATION);
    assert_int_equal(mock.n, 0);
    assert_int_equal(d->ops->settle(d, &err), 0);
}

static void single_launch_timings(void **state)
{
    (void)state;
    struct work w = {.kernels = 3, .node_type = -1};
    struct device_work work = {launch, &w, 0};
    struct error err;
    double ns;
    assert_int_equal(d->ops->time_event(d, &work, 1, &ns, &err), 0);
    assert_near(ns, 3000);
    assert_int_equal(w.sets[0], 1);
    assert_int_equal(d->ops->time_wall(d, &work, 0, &ns, &err), 0);
    assert_true(ns > 0 && ns < 1e9);
    assert_int_equal(mock.n, 0);
}

/* All of one launch and nothing else is between the profiler's start and its stop. */
static void profiled_launch(void **state)
{
    (void)state;
    struct work w = {.kernels = 3, .node_type = -1};
    struct device_work work = {launch, &w, 0};
    struct error err;
    assert_int_equal(d->ops->profiled(d, &work, 1, &err), 0);
    assert_int_equal(w.launches, 1);
    assert_int_equal(w.sets[0], 1);
    assert_int_equal(profiled.until - profiled.before, 3);
    assert_int_equal(profiled.left, 0);
    profiled.until = -1;
    w = (struct work){.kernels = 1, .node_type = -1, .fail_at = 1};
    assert_int_equal(d->ops->profiled(d, &work, 0, &err), EXIT_CODE_VERIFICATION);
    assert_non_null(strstr(err.text, "NOT_SUPPORTED"));
    assert_int_not_equal(profiled.until, -1); /* what was begun is ended */
}

static void a_lost_device_says_so(void **state)
{
    (void)state;
    struct work w = {.kernels = 1, .node_type = -1};
    struct device_work work = {launch, &w, 0};
    struct device_segment *s = prepare(&w, 0, RUNG_GRAPH), *other;
    struct error err;
    double ns;
    mock.lost = true;
    assert_int_equal(d->ops->measure(d, s, &ns, &err), EXIT_CODE_UNAVAILABLE);
    assert_non_null(strstr(err.text, "CUDA_ERROR_ILLEGAL_ADDRESS"));
    assert_non_null(strstr(err.text, "cuStreamWaitValue32")); /* the first call of a measurement */
    assert_int_equal(d->ops->settle(d, &err), EXIT_CODE_UNAVAILABLE);
    assert_int_equal(d->ops->time_event(d, &work, 0, &ns, &err), EXIT_CODE_UNAVAILABLE);
    assert_int_equal(d->ops->prepare(d, &work, &four, RUNG_GRAPH, &other, &err), EXIT_CODE_UNAVAILABLE);
    assert_null(other);
    mock.lost = false;
    d->ops->release_segment(d, s);
}

static void settle_undoes_what_was_changed(void **state)
{
    (void)state;
    struct error err;
    size_t before = mock.limits[CU_LIMIT_PERSISTING_L2];
    mock.limits[CU_LIMIT_PERSISTING_L2] = before + 4096;
    mock.context_current = false;
    assert_int_equal(d->ops->settle(d, &err), 0);
    assert_int_equal(mock.limits[CU_LIMIT_PERSISTING_L2], before);
    assert_int_equal(mock.limit_sets, 1);
    assert_int_equal(mock.persisting_resets, 1);
    assert_true(mock.context_current);
}

static void memory_errors_name_the_bytes(void **state)
{
    (void)state;
    struct error err;
    void *memory;
    char data[32] = "hello", back[32] = "";
    assert_int_equal(d->ops->alloc(d, (size_t)2 << 30, &memory, &err), EXIT_CODE_INTERNAL);
    assert_null(memory);
    assert_non_null(strstr(err.text, "cuMemAlloc(2147483648 bytes)"));
    assert_int_equal(d->ops->alloc(d, 32, &memory, &err), 0);
    assert_int_equal(d->ops->upload(d, memory, data, 32, &err), 0);
    assert_int_equal(d->ops->download(d, back, memory, 32, &err), 0);
    assert_string_equal(back, "hello");
    d->ops->release(d, memory);
    assert_int_equal(mock.live_memory, 0);
}

/* However many matrices, one launch; each has its share of blocks, by the largest. */
static void many_fills_are_one_launch(void **state)
{
    struct fill_item items[300];
    struct error err;
    (void)state;
    for (size_t i = 0; i < 300; i++)
        items[i] = (struct fill_item){NULL, {FILL_NORMAL, CUDAL2_F16, i, 0, 64, i == 7 ? 256 : 64, i % 2, 0, 0}};
    for (size_t n = 1; n <= 300; n += 13) {
        mock.kernels = 0;
        assert_int_equal(d->ops->fill_many(d, items, n, &err), 0);
        assert_int_equal(mock.kernels, 1);
        assert_int_equal(mock.last_config.grid[0], n * (n > 7 ? 9 : 3)); /* 8 elements a thread, 256 threads */
    }
    mock.kernels = 0;
    assert_int_equal(d->ops->fill_many(d, items, 0, &err), 0);
    assert_int_equal(mock.kernels, 0);
}

/* As the kernel reads it (kernels/harness/fill.cu). */
struct listed {
    uintptr_t addresses;
    uint64_t key, rows, cols;
    int32_t column_major, kind;
    uint32_t threshold, copies;
};

/* What several hold is listed once, with the addresses of all. */
static void equal_fills_are_made_once(void **state)
{
    enum { N = 7 };
    static char matrices[N];
    const uint64_t seeds[N] = {5, 6, 5, 5, 6, 5, 5};
    const int64_t rows[N] = {64, 64, 64, 64, 64, 32, 64};
    struct fill_item items[N];
    struct error err;
    size_t found = 0;
    (void)state;
    for (size_t i = 0; i < N; i++)
        items[i] = (struct fill_item){&matrices[i], {FILL_NORMAL, CUDAL2_F16, seeds[i], 0, rows[i], 64, i == 6, 0, 0}};
    assert_int_equal(d->ops->fill_many(d, items, N, &err), 0);
    assert_int_equal(mock.last_config.grid[0], 4 * 3);
    const struct listed *list = (const struct listed *)(uintptr_t)cuda_of(d)->fills.list;
    for (size_t i = 0; i < 4; i++) {
        void *const *to = (void *const *)list[i].addresses;
        for (uint32_t copy = 0; copy < list[i].copies; copy++, found++) {
            size_t which = (size_t)((char *)to[copy] - matrices);
            assert_int_equal(list[i].key, fill_key(seeds[which]));
            assert_int_equal(list[i].rows, rows[which]);
            assert_int_equal(list[i].column_major, which == 6);
            matrices[which]++;
        }
    }
    assert_int_equal(found, N);
    for (size_t i = 0; i < N; i++)
        assert_int_equal(matrices[i], 1);
}

static void modules_launch_with_clusters(void **state)
{
    (void)state;
    struct cuda_module *module;
    struct cuda_function f;
    struct error err;
    char why[CUDAL2_WHY];
    assert_int_equal(cuda_module_load(d, "\177ELF", &module, &err), 0);
    assert_int_equal(cuda_module_function(module, "gemm", 100000, &f, &err), 0);
    assert_int_equal(f.registers, 100 + CU_FUNCTION_REGISTERS);
    assert_int_not_equal(cuda_module_function(module, "gemm", 300000, &f, &err), 0);
    assert_non_null(strstr(err.text, "300000 bytes"));
    struct cuda_launch l = {
        .function = f.handle, .grid = {8, 2, 1}, .block = {128, 1, 1}, .cluster = {2, 1, 1}, .shared_bytes = 1000};
    assert_int_equal(cuda_launch(d, &l, why), CUDAL2_OK);
    assert_int_equal(mock.last_config.n_attributes, 1);
    assert_int_equal(mock.last_attribute.id, CU_LAUNCH_CLUSTER);
    assert_int_equal(mock.last_attribute.value.cluster.x, 2);
    assert_int_equal(mock.last_config.grid[0], 8);
    assert_int_equal(mock.last_config.shared_bytes, 1000);
    l = (struct cuda_launch){.function = f.handle, .grid = {8, 1, 1}, .block = {32, 1, 1}, .cluster = {1, 1, 1}};
    assert_int_equal(cuda_launch(d, &l, why), CUDAL2_OK);
    assert_int_equal(mock.last_config.n_attributes, 0);
    l.early = true;
    assert_int_equal(cuda_launch(d, &l, why), CUDAL2_OK);
    assert_int_equal(mock.last_config.n_attributes, 1);
    assert_int_equal(mock.last_attribute.id, CU_LAUNCH_EARLY);
    assert_int_equal(mock.last_attribute.value.early, 1);
    l.cluster[0] = 2;
    assert_int_equal(cuda_launch(d, &l, why), CUDAL2_OK);
    assert_int_equal(mock.last_config.n_attributes, 2);
    mock.lost = true;
    assert_int_equal(cuda_launch(d, &l, why), CUDAL2_LIBRARY_ERROR);
    mock.lost = false;
    assert_non_null(strstr(why, "cuLaunchKernelEx: CUDA_ERROR_ILLEGAL_ADDRESS"));
    cuda_module_unload(module);
}

static void a_graph_of_one_replays_the_launch(void **state)
{
    (void)state;
    struct work w = {.kernels = 2, .node_type = -1};
    struct device_work work = {launch, &w, 0}, graph;
    struct error err;
    double ns;
    assert_int_equal(d->ops->graph_work(d, &work, &graph, &err), 0);
    unsigned launches = w.launches;
    assert_int_equal(d->ops->time_event(d, &graph, 0, &ns, &err), 0);
    assert_near(ns, 2000);
    assert_int_equal(w.launches, launches);
    d->ops->release_graph_work(d, &graph);
    assert_int_equal(mock.live_graphs, 0);
    assert_int_equal(mock.live_execs, 0);
}

static void a_missing_call_is_named(void **state)
{
    (void)state;
    struct device *other;
    struct error err;
    withheld = "cuGraphUpload";
    assert_int_equal(cuda_open_with(resolve, 0, &other, &err), EXIT_CODE_UNAVAILABLE);
    withheld = NULL;
    assert_non_null(strstr(err.text, "cuGraphUpload"));
    assert_int_equal(cuda_open_with(resolve, 1, &other, &err), EXIT_CODE_UNAVAILABLE);
    assert_non_null(strstr(err.text, "there is no GPU 1"));
}

/* ---- set-up ---- */

int main(void)
{
    char cache[] = "/tmp/cudal2-test-cuda-XXXXXX";
    const struct CMUnitTest tests[] = {
        ON_MOCK(info_and_floors),
        ON_MOCK(a_graph_is_captured_uploaded_replayed),
        ON_MOCK(the_null_graph),
        ON_MOCK(refused_graphs_fall_to_the_blocker),
        ON_MOCK(flags_choose_the_rung),
        ON_MOCK(a_launch_that_waits_is_found_by_the_blocker),
        ON_MOCK(a_late_wait_falls_during_measure),
        ON_MOCK(work_that_escapes_the_stream_is_an_error),
        ON_MOCK(launch_failures_carry_the_reason),
        ON_MOCK(single_launch_timings),
        ON_MOCK(profiled_launch),
        ON_MOCK(a_lost_device_says_so),
        ON_MOCK(settle_undoes_what_was_changed),
        ON_MOCK(memory_errors_name_the_bytes),
        ON_MOCK(many_fills_are_one_launch),
        ON_MOCK(equal_fills_are_made_once),
        ON_MOCK(modules_launch_with_clusters),
        ON_MOCK(a_graph_of_one_replays_the_launch),
        ON_MOCK(a_missing_call_is_named),
    };
    if (!mock_environment(cache))
        return 77;
    return mock_leave(cache, cmocka_run_group_tests(tests, NULL, NULL));
}
