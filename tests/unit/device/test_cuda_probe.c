/*
 * The probes of the CUDA device on a driver of the test's own: what is enqueued where, what a held stream tells, and
 * which changes of the process-wide state are a contender's. What the kernels compute is tests/gpu/gpu_probe.c's.
 */
#include "device/cuda_device.h"
#include "device/probe.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mock_cuda.h"
#include "mock_cuda_run.h"

static unsigned char c_matrix[64];

/* One kernel on the stream it was given; perhaps a write that does not wait for it. */
struct work {
    bool escapes, syncs, fails;
};

static int launch(void *context, size_t set, char *why)
{
    const struct work *w = context;
    struct cuda_launch l = {.function = (void *)1, .grid = {1, 1, 1}, .block = {32, 1, 1}, .cluster = {1, 1, 1}};
    (void)set;
    if (w->fails) {
        snprintf(why, CUDAL2_WHY, "launch refused on purpose");
        return CUDAL2_LIBRARY_ERROR;
    }
    if (w->escapes)
        c_matrix[3]++;
    if (w->syncs)
        (void)m_context_sync();
    return cuda_launch(d, &l, why);
}

static int try_escape(struct work *w, bool *escaped, struct error *err)
{
    const struct device_work work = {launch, w, 0};
    const struct probe_trial trial = {&work, 0, {c_matrix, sizeof c_matrix}, 1000};
    return d->probes->escape(d, &trial, escaped, err);
}

static void work_in_its_stream_waits(void **state)
{
    struct work honest = {0};
    struct error err;
    bool escaped = true;
    (void)state;
    assert_int_equal(try_escape(&honest, &escaped, &err), 0);
    assert_false(escaped);
    assert_int_equal(mock.blockers, 1);
    assert_int_equal(mock.n, 0); /* the stream was let go and waited for */
    assert_int_equal(((struct cuda_device *)d)->signals->timed_out, 0);
}

static void work_beside_its_stream_is_seen(void **state)
{
    struct work cheat = {.escapes = true};
    struct error err;
    bool escaped = false;
    (void)state;
    assert_int_equal(try_escape(&cheat, &escaped, &err), 0);
    assert_true(escaped);
}

/* Who waits for the stream inside launch is not accused: the blocker gave up, so C may be written. */
static void work_that_waits_tells_nothing(void **state)
{
    struct work waits = {.escapes = true, .syncs = true};
    struct error err;
    bool escaped = true;
    (void)state;
    assert_int_equal(try_escape(&waits, &escaped, &err), 0);
    assert_false(escaped);
}

static void a_failed_launch_lets_the_stream_go(void **state)
{
    struct work fails = {.fails = true};
    struct error err;
    bool escaped = true;
    (void)state;
    assert_int_equal(try_escape(&fails, &escaped, &err), EXIT_CODE_VERIFICATION);
    assert_non_null(strstr(err.text, "on purpose"));
    assert_false(escaped);
    assert_int_equal(mock.n, 0);
}

/* Both can be captured: nothing but kernels reaches the stream. */
static void sprinkle_and_count_can_be_captured(void **state)
{
    static uint16_t c[1000];
    const struct cudal2_operands operands = {c, c, c};
    const struct probe_veil veil = {
        {.m = 20, .n = 50, .k = 20, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F32}, &operands, 3};
    char why[CUDAL2_WHY];
    uint64_t nans = 9;
    struct error err;
    cu_graph graph;
    (void)state;
    assert_int_equal(d->probes->sprinkle(d, c, CUDAL2_F16, 1000, 1, why), CUDAL2_OK);
    assert_int_equal(d->probes->count(d, c, CUDAL2_F16, 1000, why), CUDAL2_OK);
    assert_int_equal(d->probes->read_count(d, &nans, &err), 0);
    assert_int_equal(nans, 0);
    assert_int_equal(d->probes->veil(d, &veil, why), CUDAL2_OK); /* once outside a capture */
    assert_int_equal(m_capture_begin(NULL, CU_CAPTURE_THREAD), CU_OK);
    assert_int_equal(d->probes->sprinkle(d, c, CUDAL2_F16, 1000, 2, why), CUDAL2_OK);
    assert_int_equal(d->probes->count(d, c, CUDAL2_F16, 1000, why), CUDAL2_OK);
    assert_int_equal(d->probes->veil(d, &veil, why), CUDAL2_OK);
    assert_int_equal(m_capture_end(NULL, &graph), CU_OK);
    assert_int_equal(graph->n, 4);
    for (size_t i = 0; i < graph->n; i++)
        assert_int_equal(graph->ops[i].node_type, CU_NODE_KERNEL);
    m_graph_destroy(graph);
}

/* What lies between two launches is a kernel of its own, and so is its count. */
static void an_upset_can_be_captured(void **state)
{
    static uint16_t c[1000];
    const struct cudal2_operands operands = {c, c, c};
    struct probe_upset upset = {{.m = 20, .n = 50, .k = 20, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F32},
                                CUDAL2_NN,
                                &operands,
                                SPOIL_NUDGED,
                                4,
                                3,
                                NULL};
    char why[CUDAL2_WHY];
    uint64_t kept = 9;
    struct error err;
    cu_graph graph;
    (void)state;
    assert_int_equal(d->probes->read_kept(d, &kept, &err), 0); /* before there is any */
    assert_int_equal(kept, 0);
    assert_int_equal(d->probes->upset(d, &upset, why), CUDAL2_OK); /* once outside a capture */
    assert_int_equal(d->probes->count_kept(d, &upset, why), CUDAL2_OK);
    assert_int_equal(m_capture_begin(NULL, CU_CAPTURE_THREAD), CU_OK);
    assert_int_equal(d->probes->upset(d, &upset, why), CUDAL2_OK);
    assert_int_equal(mock.last_config.grid[0], 1);
    assert_int_equal(d->probes->count_kept(d, &upset, why), CUDAL2_OK);
    upset.spoil = SPOIL_NONE;
    assert_int_equal(d->probes->count_kept(d, &upset, why), CUDAL2_OK); /* there is nothing to count */
    assert_int_equal(m_capture_end(NULL, &graph), CU_OK);
    assert_int_equal(graph->n, 2);
    m_graph_destroy(graph);
    assert_int_equal(d->probes->read_kept(d, &kept, &err), 0);
}

/* A segment whose third launch has something ahead of it: a node more. */
static int count_breaks(void *context, size_t set, char *why)
{
    const struct cudal2_operands operands = {c_matrix, c_matrix, c_matrix};
    const struct probe_upset upset = {{.m = 2, .n = 4, .k = 4, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F32},
                                      CUDAL2_NN,
                                      &operands,
                                      SPOIL_NUDGED,
                                      0,
                                      3,
                                      NULL};
    assert_int_equal(set, 0);
    ++*(unsigned *)context;
    return d->probes->upset(d, &upset, why);
}

static void a_row_can_be_broken(void **state)
{
    struct work honest = {0};
    const struct device_work work = {launch, &honest, 0};
    unsigned breaks = 0;
    const struct device_break broken = {count_breaks, &breaks, 0, 2};
    struct device_shape shape = {.launches = 4, .primers = 1, .n_sets = 1, .loaded = true};
    struct device_segment *segment;
    struct error err;
    double ns;
    char why[CUDAL2_WHY];
    int kernels[2];
    (void)state;
    assert_int_equal(count_breaks(&breaks, 0, why), CUDAL2_OK); /* once outside a capture */
    for (int i = 0; i < 2; i++) {
        shape.broken = i ? &broken : NULL;
        kernels[i] = mock.kernels;
        assert_int_equal(d->ops->prepare(d, &work, &shape, RUNG_GRAPH, &segment, &err), 0);
        assert_int_equal(d->ops->rung(segment), RUNG_GRAPH);
        assert_int_equal(d->ops->measure(d, segment, &ns, &err), 0);
        kernels[i] = mock.kernels - kernels[i];
        d->ops->release_segment(d, segment);
    }
    assert_int_equal(breaks, 2);
    assert_int_equal(kernels[1], kernels[0] + 1);
}

static void regions_are_digested_in_one_call(void **state)
{
    struct error err;
    unsigned char bytes[300];
    struct probe_region regions[300];
    uint64_t digests[300];
    (void)state;
    for (size_t i = 0; i < 300; i++) {
        bytes[i] = (unsigned char)i;
        regions[i] = (struct probe_region){bytes + i, 1};
    }
    for (size_t n = 1; n <= 300; n += 23) {
        assert_int_equal(d->probes->digest(d, regions, n, digests, &err), 0);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(digests[i], bytes[i]);
    }
    assert_int_equal(d->probes->digest(d, regions, PROBE_MAX_REGIONS + 1, digests, &err), EXIT_CODE_INTERNAL);
}

/* By their bytes, and together no more than fill the GPU twice. */
static void regions_share_blocks_by_their_size(void **state)
{
    enum { LARGE = 64 << 20, SMALL = 40000 };
    static unsigned char bytes[LARGE];
    const struct probe_region regions[] = {
        {bytes, SMALL}, {bytes, LARGE}, {bytes, 0}, {bytes + 1, LARGE - 1}, {bytes, SMALL}};
    uint64_t digests[5];
    struct error err;
    (void)state;
    bytes[5] = 1;
    bytes[LARGE - 1] = 3;
    assert_int_equal(d->probes->digest(d, regions, 5, digests, &err), 0);
    const uint64_t expected[] = {1, 4, 0, 4, 1};
    assert_memory_equal(digests, expected, sizeof digests);
    unsigned most = (unsigned)cuda_of(d)->base.info.sm_count * 16;
    assert_in_range(mock.last_config.grid[0], most, most + 5);
}

static void a_product_takes_three_kernels(void **state)
{
    struct cudal2_operands o = {c_matrix, c_matrix, c_matrix};
    struct probe_product p = {
        {.m = 2, .n = 3, .k = 4, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F32}, CUDAL2_NN, &o, 1, 0, NULL, NULL};
    struct probe_difference difference;
    struct error err;
    (void)state;
    for (int layout = CUDAL2_NN; layout <= CUDAL2_TN; layout++) {
        mock.kernels = 0;
        p.layout = (enum cudal2_layout)layout;
        assert_int_equal(d->probes->product(d, &p, &difference, &err), 0);
        assert_int_equal(mock.kernels, 3);
        assert_int_equal(mock.last_config.grid[0], 2); /* a block for each row of C */
        assert_true(difference.first_row == UINT64_MAX);
    }
    p.problem.m = 5001; /* a warp each */
    assert_int_equal(d->probes->product(d, &p, &difference, &err), 0);
    assert_int_equal(mock.last_config.grid[0], 626);
}

/* Problems come in any order: no larger one has the probes give memory back and take more. */
static void larger_problems_find_room(void **state)
{
    const struct cudal2_operands o = {c_matrix, c_matrix, c_matrix};
    struct probe_upset upset = {.operands = &o, .spoil = SPOIL_NUDGED, .lines = 4, .seed = 3};
    struct probe_product p = {.layout = CUDAL2_NN, .operands = &o, .seed = 1};
    struct probe_difference difference;
    char why[CUDAL2_WHY];
    struct error err;
    unsigned taken = 0;
    (void)state;
    for (int64_t size = 64; size <= 16384; size *= 4) {
        p.problem = upset.problem =
            (struct cudal2_problem){.m = size, .n = size, .k = size, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F32};
        assert_int_equal(d->probes->product(d, &p, &difference, &err), 0);
        assert_int_equal(d->probes->upset(d, &upset, why), CUDAL2_OK);
        taken = size == 64 ? mock.allocations : taken;
    }
    assert_int_equal(mock.allocations, taken);
}

/* Their addresses go there once, and each set is a row of the grid: as many blocks whatever the kind of the spoil. */
static void a_disturbance_is_one_kernel_for_all_sets(void **state)
{
    static struct cudal2_operands sets[CUDA_DISTURB_SETS + 1];
    struct probe_renewal r = {
        .problem = {.m = 20, .n = 200, .k = 40, .dtype = CUDAL2_BF16, .accumulate = CUDAL2_ACC_F32}, .operands = sets};
    struct error err;
    (void)state;
    for (int spoil = SPOIL_NONE; spoil < SPOIL_KINDS; spoil++) {
        mock.kernels = 0;
        r.spoil = (enum probe_spoil)spoil;
        assert_int_equal(d->probes->disturb(d, &r, 7, &err), 0);
        assert_int_equal(mock.kernels, 1);
        assert_int_equal(mock.last_config.grid[0], 2); /* of 256 threads, for 500 times 16 bytes of C and some */
        assert_int_equal(mock.last_config.grid[1], 7);
    }
    r.sparse = true; /* 4000 elements are 16 stretches */
    assert_int_equal(d->probes->disturb(d, &r, 7, &err), 0);
    assert_int_equal(mock.last_config.grid[0], 1);
    r.sparse = false;
    assert_int_equal(d->probes->disturb(d, &r, CUDA_DISTURB_SETS + 1, &err), EXIT_CODE_INTERNAL);
    assert_non_null(strstr(err.text, "4097 operand sets"));
}

static void changes_of_the_device_are_named(void **state)
{
    struct error err;
    char what[128];
    (void)state;
    d->probes->changes(d, what);
    assert_string_equal(what, "");
    mock.limits[CU_LIMIT_STACK] = 4096; /* the driver raises it for kernels that need more */
    d->probes->changes(d, what);
    assert_string_equal(what, "");
    mock.limits[CU_LIMIT_PERSISTING_L2] = 8 << 20;
    d->probes->changes(d, what);
    assert_non_null(strstr(what, "persisting L2 size was set from 1024 to 8388608"));
    assert_int_equal(d->ops->settle(d, &err), 0);
    d->probes->changes(d, what);
    assert_string_equal(what, "");
    mock.context_current = false;
    d->probes->changes(d, what);
    assert_non_null(strstr(what, "another context"));
    mock.context_current = true;
}

/* Whatever the size: aligned, wholly inside what is mapped, and at its very end or start. What is mapped serves again
 * until a larger one is wanted, and what is too large is not kept. */
static void fenced_memory_borders_on_nothing(void **state)
{
    const uint64_t sizes[] = {1, 255, 256, 4095, 4096, 4097, 100000, 256, 33u << 20, 256};
    uint64_t kept = 0, kept_start = 0;
    struct error err;
    struct probe_fence f;
    (void)state;
    int live = mock.live_memory;
    d->info.memory_bytes = 2048u << 20; /* a sixty-fourth may be kept */
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int at_end = 0; at_end < 2; at_end++) {
            assert_int_equal(d->probes->fence(d, sizes[i], at_end, &f, &err), 0);
            uint64_t at = (uint64_t)(uintptr_t)f.memory, end = f.start + f.mapped;
            assert_int_equal(at % PROBE_FENCE_ALIGNMENT, 0);
            assert_true(at >= f.start && at + sizes[i] <= end);
            assert_true(at_end ? end - (at + sizes[i]) < PROBE_FENCE_ALIGNMENT : at == f.start);
            assert_true(kept < sizes[i] || f.start == kept_start);
            assert_int_equal(mock.live_memory, live + 2); /* addresses and what is mapped there */
            kept = f.mapped;
            kept_start = f.start;
            d->probes->unfence(d, &f);
            assert_null(f.memory);
            if (sizes[i] > 32u << 20)
                kept = 0;
            assert_int_equal(mock.live_memory, kept ? live + 2 : live);
        }
    }
    mock.fences.refuse = true;
    assert_int_not_equal(d->probes->fence(d, 1u << 20, true, &f, &err), 0);
    assert_null(f.memory);
    assert_int_equal(mock.live_memory, live);
}

/* Everything that the probes took is given back. */
static int close_probes(void **state)
{
    (void)state;
    d->ops->close(d);
    return mock.live_memory == 0 && mock.streams == 0 && mock.live_graphs == 0 ? 0 : -1;
}

#define ON_PROBES(test) cmocka_unit_test_setup_teardown(test, open_mock, close_probes)

int main(void)
{
    char cache[] = "/tmp/cudal2-test-probe-XXXXXX";
    const struct CMUnitTest tests[] = {
        ON_PROBES(work_in_its_stream_waits),           ON_PROBES(work_beside_its_stream_is_seen),
        ON_PROBES(work_that_waits_tells_nothing),      ON_PROBES(a_failed_launch_lets_the_stream_go),
        ON_PROBES(sprinkle_and_count_can_be_captured), ON_PROBES(regions_are_digested_in_one_call),
        ON_PROBES(regions_share_blocks_by_their_size), ON_PROBES(larger_problems_find_room),
        ON_PROBES(a_product_takes_three_kernels),      ON_PROBES(a_disturbance_is_one_kernel_for_all_sets),
        ON_PROBES(an_upset_can_be_captured),           ON_PROBES(a_row_can_be_broken),
        ON_PROBES(changes_of_the_device_are_named),    ON_PROBES(fenced_memory_borders_on_nothing),
    };
    if (!mock_environment(cache))
        return 77;
    return mock_leave(cache, cmocka_run_group_tests(tests, NULL, NULL));
}
