/*
 * Launches that depend on each other: C of launch i is A of launch i + 1. Back to back in a graph, where a kernel that
 * was launched early sets itself up while the one ahead still runs, they must leave the bits that they leave when each
 * is waited for. Nine problems, either layout and accumulator, with what the kernel set would race there (26 of its 88
 * entries), and with one configuration of each way in which CTAs share, sum, store and come by their tiles, where it
 * takes the problem.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "contender/module.h"
#include "gpu_fixture.h"
#include "setting_fixture.h"

#define LAUNCHES 12
#define REPEATS 20
#define MOST_VARIANTS 64

static const char *const ways[] = {
    "persistent:BM=64,BN=64,STAGES=8,CONSUMERS=1,SPLIT_K=4,REDUCE=2,EARLY=1",
    "persistent:BM=64,BN=64,STAGES=4,CONSUMERS=1,SPLIT_K=8,REDUCE=2,EARLY=1",
    "persistent:BM=64,BN=64,STAGES=4,CONSUMERS=1,SPLIT_K=4,REDUCE=1,MIN_BLOCKS=2,EARLY=1",
    "persistent:BM=64,BN=32,STAGES=8,CONSUMERS=1,SPLIT_K=8,REDUCE=1,EARLY=1",
    "persistent:BM=64,BN=64,STAGES=8,CONSUMERS=1,SPLIT_K=3,REDUCE=1,EARLY=1",
    "persistent:BM=64,BN=64,STAGES=8,CONSUMERS=1,SPLIT_K=3,REDUCE=1,ABREAST=2,EARLY=1",
    "persistent:BM=64,BN=32,STAGES=6,CONSUMERS=1,SPLIT_K=4,REDUCE=1,ABREAST=2,MIN_BLOCKS=2,EARLY=1",
    "persistent:BM=64,BN=64,STAGES=5,CONSUMERS=1,SPLIT_K=2,REDUCE=1,PARTS=2,ABREAST=2,EARLY=1",
    "persistent:BM=64,BN=64,STAGES=5,CONSUMERS=1,SPLIT_K=2,REDUCE=0,EARLY=1",
    "persistent:BM=64,BN=64,STAGES=5,CONSUMERS=1,SPLIT_K=2,REDUCE=1,PARTS=2,EARLY=1",
    "persistent:BM=128,BN=64,STAGES=3,CONSUMERS=2,MIN_BLOCKS=2,EPILOGUE=2,EARLY=1",
    "persistent:BM=64,BN=64,STAGES=4,CONSUMERS=1,MIN_BLOCKS=2,EPILOGUE=2,CLUSTER_M=2,EARLY=1",
    "persistent:BM=64,BN=64,STAGES=8,CONSUMERS=1,SPLIT_K=2,REDUCE=2,CLUSTER_M=2,EARLY=1",
    "persistent:BM=64,BN=128,STAGES=6,CONSUMERS=1,CLUSTER_N=2,EPILOGUE=2,EARLY=1",
    "persistent:BM=128,BN=64,STAGES=4,CONSUMERS=2,CLUSTER_M=2,CLUSTER_N=2,EARLY=1",
    "persistent:BM=128,BN=128,STAGES=6,CONSUMERS=2,PINGPONG=1,EARLY=1",
    "persistent:BM=128,BN=128,STAGES=6,CONSUMERS=2,QUEUE=1,EARLY=1",
    "persistent:BM=128,BN=128,STAGES=6,CONSUMERS=2,PINGPONG=1,CLUSTER_M=2,QUEUE=1,EARLY=1",
    "persistent:BM=64,BN=64,STAGES=4,CONSUMERS=1,MIN_BLOCKS=2,EPILOGUE=2,QUEUE=1,EARLY=1",
    "persistent:BM=64,BN=64,STAGES=8,CONSUMERS=2,PINGPONG=1,CLUSTER_M=2,QUEUE=1,EARLY=1",
    "persistent:BM=64,BN=64,STAGES=8,CONSUMERS=1,CLUSTER_N=2,QUEUE=1,EARLY=1",
    "persistent:BM=64,BN=16,STAGES=8,CONSUMERS=1,SPLIT_K=8,REDUCE=1,EARLY=1",
    "persistent:BM=64,BN=32,STAGES=8,CONSUMERS=1,EPILOGUE=2,PEEK=2,EARLY=1",
    "persistent:BM=64,BN=64,STAGES=3,CONSUMERS=1,EPILOGUE=2,MIN_BLOCKS=2,PEEK=1,EARLY=1",
    "persistent:BM=64,BN=64,STAGES=8,CONSUMERS=1,SPLIT_K=4,REDUCE=1,PEEK=2,EARLY=1",
    "persistent:BM=64,BN=64,STAGES=8,CONSUMERS=1,SPLIT_K=4,REDUCE=2,PEEK=1,EARLY=1",
    "persistent:BM=64,BN=64,STAGES=4,CONSUMERS=1,CLUSTER_M=2,PEEK=2,EARLY=1",
    "persistent:BM=128,BN=128,STAGES=6,CONSUMERS=2,PINGPONG=1,PEEK=1,EARLY=1",
    "persistent:BM=128,BN=64,STAGES=4,CONSUMERS=2,CLUSTER_M=2,QUEUE=1,PEEK=2,EARLY=1",
    "persistent:BM=128,BN=128,STAGES=5,CONSUMERS=2,PINGPONG=1,CLUSTER_N=2,QUEUE=1,PEEK=2,EARLY=1",
    "persistent:BM=64,BN=64,STAGES=3,CONSUMERS=1,CLUSTER_M=2,CLUSTER_N=2,PEEK=1,EARLY=1",
    "persistent:BM=64,BN=64,STAGES=5,CONSUMERS=1,SPLIT_K=2,REDUCE=1,PARTS=2,PEEK=2,EARLY=1",
    "persistent:BM=128,BN=128,STAGES=6,CONSUMERS=2,TAIL=4,EARLY=1",
    "persistent:BM=128,BN=64,STAGES=8,CONSUMERS=2,SPLIT_K=4,REDUCE=2,TAIL=5,EARLY=1",
    "persistent:BM=64,BN=64,STAGES=4,CONSUMERS=1,EPILOGUE=2,KEEP=2,EARLY=1",
    "persistent:BM=64,BN=64,STAGES=4,CONSUMERS=2,PINGPONG=1,CLUSTER_M=2,KEEP=2,EARLY=1",
    "persistent:BM=64,BN=32,STAGES=4,CONSUMERS=1,EPILOGUE=2,RASTER=16,KEEP=2,HOLD=8,EARLY=1",
    "persistent:BM=64,BN=64,STAGES=6,CONSUMERS=2,PINGPONG=1,KEEP=2,HOLD=2,EARLY=1",
    "persistent:BM=64,BN=32,STAGES=6,CONSUMERS=2,PINGPONG=1,DOWN=1,RASTER=64,KEEP=1,HOLD=2,EARLY=1",
    "persistent:BM=128,BN=64,STAGES=2,CONSUMERS=2,EPILOGUE=2,EARLY=1",
    "persistent:BM=128,BN=64,STAGES=3,CONSUMERS=2,SPLIT_K=8,REDUCE=1,EARLY=1",
    "persistent:BM=128,BN=128,STAGES=6,CONSUMERS=2,STREAM_K=2,EARLY=1",
    "persistent:BM=128,BN=128,STAGES=6,CONSUMERS=2,PINGPONG=1,STREAM_K=2,EARLY=1",
    "persistent:BM=64,BN=160,STAGES=6,CONSUMERS=1,STREAM_K=1,EARLY=1",
    "persistent:BM=64,BN=64,STAGES=8,CONSUMERS=1,CLUSTER_M=2,EPILOGUE=2,STREAM_K=2,EARLY=1",
    "persistent:BM=64,BN=64,STAGES=8,CONSUMERS=2,PINGPONG=1,CLUSTER_N=2,PEEK=2,STREAM_K=2,EARLY=1",
    "persistent:BM=112,BN=128,ACROSS=1,STAGES=5,CONSUMERS=2,PINGPONG=1,EARLY=1",
    "multistage:BM=64,BN=64,BK=64,STAGES=4,WARPS_M=2,WARPS_N=2,SPLIT_K=4,REDUCE=0,EARLY=1",
    "multistage:BM=64,BN=64,BK=64,STAGES=4,WARPS_M=2,WARPS_N=2,SPLIT_K=4,REDUCE=1,EARLY=1",
    "decode:BM=16,BN=64,STAGES=8,SPLIT_K=4,MIN_BLOCKS=2,EARLY=1",
    "decode:BM=64,BN=128,STAGES=4,SPLIT_K=8,EARLY=1",
    "decode:BM=64,BN=128,STAGES=2,ALIGN=1,EARLY=1",
    "tiny:BM=16,BN=32,WARPS=4,CLUSTER_K=8,DEPTH=1,ALIGNED=0,EARLY=1",
    "tiny:BM=16,BN=16,WARPS=8,CLUSTER_K=8,DEPTH=1,EARLY=1"};

static struct module_set *kernels;

/* X and Y, m x k, in turn the operand A and the result C of a product with B, k x k. */
struct chain {
    struct cudal2_problem problem;
    struct cudal2_operands sets[2];
    void *workspace;
    size_t bytes; /* of X */
};

#define WORKSPACE_BYTES ((size_t)64 << 20)

static struct chain open_chain(int64_t m, int64_t k, enum cudal2_accumulate accumulate)
{
    struct chain c = {.problem = {.m = m, .n = k, .k = k, .dtype = CUDAL2_F16, .accumulate = accumulate},
                      .bytes = (size_t)(m * k) * 2};
    void *x = take(c.bytes), *y = take(c.bytes), *b = take((size_t)(k * k) * 2);
    c.sets[0] = (struct cudal2_operands){x, b, y};
    c.sets[1] = (struct cudal2_operands){y, b, x};
    c.workspace = take(WORKSPACE_BYTES);
    return c;
}

static void close_chain(struct chain *c)
{
    gpu->ops->release(gpu, c->sets[0].c);
    gpu->ops->release(gpu, c->sets[1].c);
    gpu->ops->release(gpu, (void *)(uintptr_t)c->sets[0].b);
    gpu->ops->release(gpu, c->workspace);
}

/* X is N(0,1); a column of B has two ones on average, so that a product is about as large as its factor. */
static void fill(const struct chain *c)
{
    struct error err;
    int64_t m = c->problem.m, k = c->problem.k;
    const struct fill x = {.kind = FILL_NORMAL, .dtype = CUDAL2_F16, .seed = 5, .rows = m, .cols = k};
    const struct fill y = {.kind = FILL_POISON, .dtype = CUDAL2_F16, .rows = m, .cols = k};
    const struct fill b = {
        .kind = FILL_BINARY, .dtype = CUDAL2_F16, .seed = 6, .rows = k, .cols = k, .density = 2.0 / (double)k};
    check(gpu->ops->fill(gpu, c->sets[1].c, &x, &err), &err);
    check(gpu->ops->fill(gpu, c->sets[0].c, &y, &err), &err);
    check(gpu->ops->fill(gpu, (void *)(uintptr_t)c->sets[0].b, &b, &err), &err);
    check(gpu->ops->sync(gpu, &err), &err);
}

/* What the last two launches left, one after the other in `out`. */
static void read_back(const struct chain *c, unsigned char *out)
{
    struct error err;
    for (int i = 0; i < 2; i++)
        check(gpu->ops->download(gpu, out + (size_t)i * c->bytes, c->sets[i].c, c->bytes, &err), &err);
}

static void run_one_by_one(const struct chain *c, struct setting *s, unsigned char *out)
{
    struct error err;
    char why[CUDAL2_WHY];
    fill(c);
    for (size_t i = 0; i < LAUNCHES; i++) {
        assert_int_equal(setting_launch(s, i % 2, why), CUDAL2_OK);
        check(gpu->ops->sync(gpu, &err), &err);
    }
    read_back(c, out);
}

static void run_in_a_graph(const struct chain *c, struct setting *s, const unsigned char *expected, const char *key)
{
    const struct device_work work = {setting_launch, s, 0};
    const struct device_shape shape = {.launches = LAUNCHES, .n_sets = 2, .overlap = true};
    struct device_segment *segment = NULL;
    struct error err;
    double ns;
    unsigned char *found = malloc(2 * c->bytes);
    assert_non_null(found);
    check(gpu->ops->prepare(gpu, &work, &shape, RUNG_GRAPH, &segment, &err), &err);
    assert_int_equal(gpu->ops->rung(segment), RUNG_GRAPH);
    for (int i = 0; i < REPEATS; i++) {
        fill(c);
        check(gpu->ops->measure(gpu, segment, &ns, &err), &err);
        read_back(c, found);
        if (memcmp(expected, found, 2 * c->bytes) != 0)
            fail_msg("%s, %lldx%lld: launches in a row left other bits than one by one", key, (long long)c->problem.m,
                     (long long)c->problem.k);
    }
    gpu->ops->release_segment(gpu, segment);
    free(found);
}

/* False where the configuration is not for this problem. */
static bool try_variant(const struct chain *c, const struct contender *contender, struct cudal2_setup setup,
                        const char *key)
{
    struct setting s = {.contender = contender};
    char why[CUDAL2_WHY] = "";
    unsigned char *expected = malloc(2 * c->bytes);
    assert_non_null(expected);
    setup.variant = key;
    int status = contender->ops->setup(contender, &setup, &s.state, why);
    if (status != CUDAL2_OK && status != CUDAL2_UNSUPPORTED)
        fail_msg("%s: %s", key, why);
    if (status != CUDAL2_OK) {
        free(expected);
        return false;
    }
    run_one_by_one(c, &s, expected);
    run_in_a_graph(c, &s, expected, key);
    contender->ops->teardown(contender, s.state);
    free(expected);
    return true;
}

/* Which of the ways some problem has taken. */
static bool taken[sizeof ways / sizeof *ways];

/* Returns how many variants were launched early. */
static int try_layout(const struct chain *c, enum cudal2_layout layout)
{
    static struct cudal2_variant variants[MOST_VARIANTS];
    const struct cudal2_setup setup = {.problem = c->problem,
                                       .layout = layout,
                                       .sets = c->sets,
                                       .n_sets = 2,
                                       .workspace = c->workspace,
                                       .workspace_bytes = WORKSPACE_BYTES,
                                       .stream = gpu->stream};
    struct contender contender;
    char why[CUDAL2_WHY];
    int early = 0;
    module_set_contender(kernels, layout, &contender);
    int n = contender.ops->list_variants(&contender, &setup, variants, MOST_VARIANTS, why);
    assert_true(n > 0);
    for (int i = 0; i < n; i++) {
        early += strstr(variants[i].key, "EARLY=1") != NULL;
        assert_true(try_variant(c, &contender, setup, variants[i].key));
    }
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        taken[i] |= try_variant(c, &contender, setup, ways[i]);
    print_message("%lldx%lldx%lld %s: %d variants\n", (long long)c->problem.m, (long long)c->problem.n,
                  (long long)c->problem.k, layout_names[layout], n);
    return early;
}

/* The last one has several tiles for each CTA and two steps of K: who hands them out is tiles ahead of who stores, and
 * what is kept of one tile is for the next. */
static void a_launch_finds_what_the_one_ahead_wrote(void **state)
{
    static const int64_t sizes[][2] = {{64, 64},   {64, 1024},  {128, 2048},  {256, 256},  {512, 1024},
                                       {64, 4096}, {1024, 512}, {2048, 2048}, {16384, 128}};
    int early = 0;
    (void)state;
    for (size_t i = 0; i < 2 * sizeof sizes / sizeof *sizes; i++) {
        struct chain c = open_chain(sizes[i / 2][0], sizes[i / 2][1], i % 2 ? CUDAL2_ACC_F16 : CUDAL2_ACC_F32);
        early += try_layout(&c, CUDAL2_NN) + try_layout(&c, CUDAL2_TN);
        close_chain(&c);
    }
    assert_true(early > 0);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (!taken[i])
            fail_msg("no problem has taken %s", ways[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_launch_finds_what_the_one_ahead_wrote)};
    struct error err;
    if (device_open_cuda(0, &gpu, &err) != 0 || module_set_open("cudal2", NULL, gpu, &kernels, &err) != 0) {
        fprintf(stderr, "%s\n", err.text);
        return 77;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    module_set_close(kernels);
    gpu->ops->close(gpu);
    return failed;
}
