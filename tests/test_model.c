/* tune/model: bounds and directions that hold for any constants, and how far from measured races it is allowed to be.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "h200_fixture.h"

static const struct model_tile plain = {.m = 128,
                                        .n = 128,
                                        .step_k = 64,
                                        .stages = 6,
                                        .split = 1,
                                        .cluster = 1,
                                        .per_sm = 1,
                                        .warps = 8,
                                        .a_readers = 1,
                                        .b_readers = 1,
                                        .slices = 1,
                                        .wgmma = true,
                                        .overlaps = 1};

static double seconds(int64_t m, int64_t n, int64_t k, const struct model_tile *t)
{
    const struct model_machine machine = prune_machine(&h200.info);
    const struct cudal2_problem p = {m, n, k, CUDAL2_F16, CUDAL2_ACC_F16};
    return model_seconds(&machine, &p, CUDAL2_TN, t);
}

static double waves(int64_t m, int64_t n, int64_t k, const struct model_tile *t)
{
    const struct model_machine machine = prune_machine(&h200.info);
    const struct cudal2_problem p = {m, n, k, CUDAL2_F16, CUDAL2_ACC_F16};
    return model_waves(&machine, &p, t);
}

static void nothing_is_under_the_floor(void **state)
{
    (void)state;
    for (int64_t size = 64; size <= 16384; size *= 2) {
        double flops = 2.0 * (double)size * (double)size * (double)size;
        assert_true(seconds(size, size, size, &plain) >= flops / (0.74 * h200.info.peak_flops));
        assert_true(seconds(size, size, 64, &plain) >= 2.0 * (double)size * (double)size / h200.info.peak_bytes_per_s);
    }
}

static void waves_are_counted(void **state)
{
    struct model_tile t = plain;
    (void)state;
    assert_true(waves(128 * 132, 128, 64, &t) == 1);
    assert_true(waves(128 * 132, 256, 64, &t) == 2);
    assert_true(waves(1, 1, 64, &t) == 1.0 / 132); /* a tile in part is a whole CTA */
    t.per_sm = 2;
    assert_true(waves(128 * 132, 256, 64, &t) == 1);
    t.per_sm = 1;
    t.split = t.cluster = 4;
    assert_true(waves(128 * 33, 128, 4096, &t) == 1);
    t.split = t.cluster = 3; /* a GPC of 16 holds five clusters of three */
    assert_true(waves(128 * 44, 128, 4096, &t) > 1);
    t.split = t.cluster = 16; /* places for so many at once are few */
    assert_true(waves(128 * 8, 128, 4096, &t) > 1.5);
}

/* One row of tiles more than fills the machine costs about a wave more. */
static void a_last_wave_costs(void **state)
{
    (void)state;
    double full = seconds(12 * 128, 11 * 128, 4096, &plain), over = seconds(12 * 128 + 1, 11 * 128, 4096, &plain);
    assert_true(over > 1.6 * full);
    assert_true(seconds(24 * 128, 11 * 128, 4096, &plain) < 1.05 * over);
}

static void each_term_has_its_direction(void **state)
{
    struct model_tile t = plain;
    (void)state;
    double before = seconds(4096, 4096, 4096, &plain);
    t.stages = 2;
    assert_true(seconds(4096, 4096, 4096, &t) > before); /* latency shows */
    t = plain;
    t.m = t.n = 64;
    assert_true(seconds(4096, 4096, 4096, &t) > 1.05 * before); /* more bytes through the L2 */
    t.a_readers = t.b_readers = 2;
    t.cluster = 4;
    double shared = seconds(4096, 4096, 4096, &t);
    t.a_readers = t.b_readers = t.cluster = 1;
    assert_true(shared < seconds(4096, 4096, 4096, &t));
    t = plain;
    t.wgmma = false;
    assert_true(seconds(4096, 4096, 4096, &t) > before);
    t = plain;
    t.overlaps = 0;
    double bare = seconds(16384, 1024, 256, &t);
    t.overlaps = 2;
    assert_true(seconds(16384, 1024, 256, &t) < bare); /* short K: the epilogue is what there is to hide */
    t = plain;
    t.split = t.cluster = 8;
    assert_true(seconds(128, 128, 16384, &t) < 0.5 * seconds(128, 128, 16384, &plain)); /* one tile, long K */
    assert_true(seconds(128, 128, 64, &t) > seconds(128, 128, 64, &plain));             /* short K: only the exchange */
    t = plain;
    t.slices = 8;
    assert_true(seconds(64, 64, 64, &t) > seconds(64, 64, 64, &plain));
}

static void nonsense_is_infinite(void **state)
{
    struct model_tile t = plain;
    (void)state;
    assert_true(isinf(seconds(0, 64, 64, &plain)) && isinf(seconds(64, 64, -1, &plain)));
    t.per_sm = 0;
    assert_true(isinf(seconds(64, 64, 64, &t)));
    t = plain;
    t.overlaps = 3;
    assert_true(isinf(seconds(64, 64, 64, &t)));
    t = plain;
    t.stages = 0; /* multistage with one stage */
    assert_true(isinf(seconds(64, 64, 64, &t)) && isinf(waves(64, 64, 64, &t)));
}

/* Medians of races on an H200 (results/h200/2026-11-21-offline-f16), three for each kind of configuration: a short, a
 * middling and a long one. */
static const struct {
    const char *key;
    int64_t m, n, k;
    enum cudal2_layout layout;
    double ns;
} measured[] = {
    {"tiny:BM=16,BN=16,WARPS=4,CLUSTER_K=1,DEPTH=2,ALIGNED=1", 128, 128, 128, CUDAL2_TN, 1627},
    {"tiny:BM=16,BN=16,WARPS=4,CLUSTER_K=1,DEPTH=2,ALIGNED=1", 64, 256, 256, CUDAL2_NN, 2198},
    {"tiny:BM=16,BN=16,WARPS=4,CLUSTER_K=1,DEPTH=2,ALIGNED=1", 1024, 64, 64, CUDAL2_NN, 3031},
    {"tiny:BM=16,BN=32,WARPS=8,CLUSTER_K=8,DEPTH=2,ALIGNED=1", 64, 64, 2048, CUDAL2_NN, 3136},
    {"tiny:BM=16,BN=32,WARPS=8,CLUSTER_K=8,DEPTH=2,ALIGNED=1", 64, 64, 8192, CUDAL2_NN, 4663},
    {"tiny:BM=16,BN=32,WARPS=8,CLUSTER_K=8,DEPTH=2,ALIGNED=1", 128, 64, 12288, CUDAL2_NN, 7995},
    {"tiny:BM=32,BN=64,WARPS=4,CLUSTER_K=4,DEPTH=1,ALIGNED=1", 64, 512, 1024, CUDAL2_NN, 3945},
    {"tiny:BM=32,BN=64,WARPS=4,CLUSTER_K=4,DEPTH=1,ALIGNED=1", 64, 512, 2048, CUDAL2_NN, 5851},
    {"tiny:BM=32,BN=64,WARPS=4,CLUSTER_K=4,DEPTH=1,ALIGNED=1", 512, 64, 4096, CUDAL2_NN, 9509},
    {"multistage:BM=32,BN=64,BK=64,STAGES=4,WARPS_M=2,WARPS_N=2,SPLIT_K=1,REDUCE=1,REGISTERS=2,PREFETCH=0,STAGGER=0,"
     "SWIZZLE=1,PAD=8,EPILOGUE=2,RASTER=8,MIN_BLOCKS=1",
     64, 4096, 64, CUDAL2_NN, 2181},
    {"multistage:BM=32,BN=64,BK=64,STAGES=4,WARPS_M=2,WARPS_N=2,SPLIT_K=1,REDUCE=1,REGISTERS=2,PREFETCH=0,STAGGER=0,"
     "SWIZZLE=1,PAD=8,EPILOGUE=2,RASTER=8,MIN_BLOCKS=1",
     1024, 128, 256, CUDAL2_TN, 2776},
    {"multistage:BM=32,BN=64,BK=64,STAGES=4,WARPS_M=2,WARPS_N=2,SPLIT_K=1,REDUCE=1,REGISTERS=2,PREFETCH=0,STAGGER=0,"
     "SWIZZLE=1,PAD=8,EPILOGUE=2,RASTER=8,MIN_BLOCKS=1",
     8192, 64, 256, CUDAL2_NN, 3972},
    {"multistage:BM=64,BN=64,BK=64,STAGES=4,WARPS_M=2,WARPS_N=2,SPLIT_K=8,REDUCE=1,REGISTERS=2,PREFETCH=0,STAGGER=0,"
     "SWIZZLE=1,PAD=8,EPILOGUE=2,RASTER=8,MIN_BLOCKS=1",
     64, 256, 2048, CUDAL2_TN, 4736},
    {"multistage:BM=64,BN=64,BK=64,STAGES=4,WARPS_M=2,WARPS_N=2,SPLIT_K=8,REDUCE=1,REGISTERS=2,PREFETCH=0,STAGGER=0,"
     "SWIZZLE=1,PAD=8,EPILOGUE=2,RASTER=8,MIN_BLOCKS=1",
     128, 256, 8192, CUDAL2_TN, 8173},
    {"multistage:BM=64,BN=64,BK=64,STAGES=4,WARPS_M=2,WARPS_N=2,SPLIT_K=8,REDUCE=1,REGISTERS=2,PREFETCH=0,STAGGER=0,"
     "SWIZZLE=1,PAD=8,EPILOGUE=2,RASTER=8,MIN_BLOCKS=1",
     256, 256, 12288, CUDAL2_NN, 13771},
    {"persistent:BM=64,BN=64,STAGES=8,CONSUMERS=1,PINGPONG=0,CLUSTER_M=1,CLUSTER_N=1,SPLIT_K=1,REDUCE=0,PARTS=1,RASTER="
     "8,DOWN=0,EPILOGUE=1,EVICT=0,MIN_BLOCKS=1",
     512, 512, 256, CUDAL2_NN, 2891},
    {"persistent:BM=64,BN=64,STAGES=8,CONSUMERS=1,PINGPONG=0,CLUSTER_M=1,CLUSTER_N=1,SPLIT_K=1,REDUCE=0,PARTS=1,RASTER="
     "8,DOWN=0,EPILOGUE=1,EVICT=0,MIN_BLOCKS=1",
     1024, 512, 2048, CUDAL2_NN, 6750},
    {"persistent:BM=64,BN=64,STAGES=8,CONSUMERS=1,PINGPONG=0,CLUSTER_M=1,CLUSTER_N=1,SPLIT_K=1,REDUCE=0,PARTS=1,RASTER="
     "8,DOWN=0,EPILOGUE=1,EVICT=0,MIN_BLOCKS=1",
     1024, 512, 16384, CUDAL2_TN, 39693},
    {"persistent:BM=64,BN=64,STAGES=4,CONSUMERS=1,PINGPONG=0,CLUSTER_M=1,CLUSTER_N=1,SPLIT_K=1,REDUCE=0,PARTS=1,RASTER="
     "8,DOWN=0,EPILOGUE=1,EVICT=0,MIN_BLOCKS=2",
     8192, 128, 64, CUDAL2_NN, 2907},
    {"persistent:BM=64,BN=64,STAGES=4,CONSUMERS=1,PINGPONG=0,CLUSTER_M=1,CLUSTER_N=1,SPLIT_K=1,REDUCE=0,PARTS=1,RASTER="
     "8,DOWN=0,EPILOGUE=1,EVICT=0,MIN_BLOCKS=2",
     16384, 64, 1024, CUDAL2_TN, 8640},
    {"persistent:BM=64,BN=64,STAGES=4,CONSUMERS=1,PINGPONG=0,CLUSTER_M=1,CLUSTER_N=1,SPLIT_K=1,REDUCE=0,PARTS=1,RASTER="
     "8,DOWN=0,EPILOGUE=1,EVICT=0,MIN_BLOCKS=2",
     8192, 64, 16384, CUDAL2_TN, 84704},
    {"persistent:BM=64,BN=64,STAGES=8,CONSUMERS=1,PINGPONG=0,CLUSTER_M=1,CLUSTER_N=1,SPLIT_K=4,REDUCE=0,PARTS=1,RASTER="
     "8,DOWN=0,EPILOGUE=1,EVICT=0,MIN_BLOCKS=1",
     512, 256, 1024, CUDAL2_TN, 7435},
    {"persistent:BM=64,BN=64,STAGES=8,CONSUMERS=1,PINGPONG=0,CLUSTER_M=1,CLUSTER_N=1,SPLIT_K=4,REDUCE=0,PARTS=1,RASTER="
     "8,DOWN=0,EPILOGUE=1,EVICT=0,MIN_BLOCKS=1",
     2048, 64, 8192, CUDAL2_NN, 14717},
    {"persistent:BM=64,BN=64,STAGES=8,CONSUMERS=1,PINGPONG=0,CLUSTER_M=1,CLUSTER_N=1,SPLIT_K=4,REDUCE=0,PARTS=1,RASTER="
     "8,DOWN=0,EPILOGUE=1,EVICT=0,MIN_BLOCKS=1",
     128, 1024, 16384, CUDAL2_TN, 25431},
    {"persistent:BM=128,BN=128,STAGES=6,CONSUMERS=2,PINGPONG=1,CLUSTER_M=1,CLUSTER_N=1,SPLIT_K=1,REDUCE=0,PARTS=1,"
     "RASTER=8,DOWN=0,EPILOGUE=1,EVICT=0,MIN_BLOCKS=1",
     512, 4096, 256, CUDAL2_TN, 4484},
    {"persistent:BM=128,BN=128,STAGES=6,CONSUMERS=2,PINGPONG=1,CLUSTER_M=1,CLUSTER_N=1,SPLIT_K=1,REDUCE=0,PARTS=1,"
     "RASTER=8,DOWN=0,EPILOGUE=1,EVICT=0,MIN_BLOCKS=1",
     8192, 1024, 128, CUDAL2_NN, 8695},
    {"persistent:BM=128,BN=128,STAGES=6,CONSUMERS=2,PINGPONG=1,CLUSTER_M=1,CLUSTER_N=1,SPLIT_K=1,REDUCE=0,PARTS=1,"
     "RASTER=8,DOWN=0,EPILOGUE=1,EVICT=0,MIN_BLOCKS=1",
     12288, 1024, 1024, CUDAL2_NN, 38646},
    {"persistent:BM=128,BN=256,STAGES=4,CONSUMERS=2,PINGPONG=0,CLUSTER_M=1,CLUSTER_N=1,SPLIT_K=4,REDUCE=0,PARTS=1,"
     "RASTER=8,DOWN=0,EPILOGUE=1,EVICT=0,MIN_BLOCKS=1",
     4096, 256, 4096, CUDAL2_NN, 34315},
    {"persistent:BM=128,BN=256,STAGES=4,CONSUMERS=2,PINGPONG=0,CLUSTER_M=1,CLUSTER_N=1,SPLIT_K=4,REDUCE=0,PARTS=1,"
     "RASTER=8,DOWN=0,EPILOGUE=1,EVICT=0,MIN_BLOCKS=1",
     512, 2048, 12288, CUDAL2_NN, 77568},
    {"persistent:BM=128,BN=256,STAGES=4,CONSUMERS=2,PINGPONG=0,CLUSTER_M=1,CLUSTER_N=1,SPLIT_K=4,REDUCE=0,PARTS=1,"
     "RASTER=8,DOWN=0,EPILOGUE=1,EVICT=0,MIN_BLOCKS=1",
     4096, 256, 16384, CUDAL2_NN, 108800},
    {"persistent:BM=128,BN=256,STAGES=4,CONSUMERS=2,PINGPONG=0,CLUSTER_M=2,CLUSTER_N=1,SPLIT_K=1,REDUCE=0,PARTS=1,"
     "RASTER=8,DOWN=0,EPILOGUE=1,EVICT=0,MIN_BLOCKS=1",
     512, 12288, 1024, CUDAL2_NN, 26565},
    {"persistent:BM=128,BN=256,STAGES=4,CONSUMERS=2,PINGPONG=0,CLUSTER_M=2,CLUSTER_N=1,SPLIT_K=1,REDUCE=0,PARTS=1,"
     "RASTER=8,DOWN=0,EPILOGUE=1,EVICT=0,MIN_BLOCKS=1",
     1024, 16384, 4096, CUDAL2_TN, 228288},
    {"persistent:BM=128,BN=256,STAGES=4,CONSUMERS=2,PINGPONG=0,CLUSTER_M=2,CLUSTER_N=1,SPLIT_K=1,REDUCE=0,PARTS=1,"
     "RASTER=8,DOWN=0,EPILOGUE=1,EVICT=0,MIN_BLOCKS=1",
     12288, 4096, 16384, CUDAL2_NN, 2535760},
    {"persistent:BM=256,BN=256,STAGES=3,CONSUMERS=2,PINGPONG=0,CLUSTER_M=1,CLUSTER_N=1,SPLIT_K=1,REDUCE=0,PARTS=1,"
     "RASTER=8,DOWN=0,EPILOGUE=1,EVICT=0,MIN_BLOCKS=1",
     1024, 12288, 512, CUDAL2_TN, 29195},
    {"persistent:BM=256,BN=256,STAGES=3,CONSUMERS=2,PINGPONG=0,CLUSTER_M=1,CLUSTER_N=1,SPLIT_K=1,REDUCE=0,PARTS=1,"
     "RASTER=8,DOWN=0,EPILOGUE=1,EVICT=0,MIN_BLOCKS=1",
     2048, 12288, 4096, CUDAL2_NN, 314656},
    {"persistent:BM=256,BN=256,STAGES=3,CONSUMERS=2,PINGPONG=0,CLUSTER_M=1,CLUSTER_N=1,SPLIT_K=1,REDUCE=0,PARTS=1,"
     "RASTER=8,DOWN=0,EPILOGUE=1,EVICT=0,MIN_BLOCKS=1",
     8192, 8192, 16384, CUDAL2_TN, 3228016},
};

static const struct configuration *find(const struct space *s, const char *key)
{
    struct cudal2_variant own;
    for (size_t i = 0; i < s->n_configurations; i++)
        if (space_key(s, &s->configurations[i], own.key, sizeof own.key) == 0 && strcmp(own.key, key) == 0)
            return &s->configurations[i];
    fail_msg("not in the space: %s", key);
    return NULL;
}

static void races_are_foretold(void **state)
{
    struct module_set *set = open_cudal2();
    struct space spaces[2];
    const struct model_machine machine = prune_machine(&h200.info);
    double squares = 0;
    size_t n = sizeof measured / sizeof *measured;
    (void)state;
    for (int layout = 0; layout < 2; layout++) {
        const struct space_conditions conditions = h200_conditions(CUDAL2_ACC_F16, (enum cudal2_layout)layout);
        open_space(set, &conditions, &spaces[layout]);
    }
    for (size_t i = 0; i < n; i++) {
        const struct cudal2_problem p = {measured[i].m, measured[i].n, measured[i].k, CUDAL2_F16, CUDAL2_ACC_F16};
        const struct configuration *c = find(&spaces[measured[i].layout], measured[i].key);
        double error = log(1e9 * model_seconds(&machine, &p, measured[i].layout, &c->tile) / measured[i].ns);
        if (fabs(error) > log(1.8))
            fail_msg("%s on %ldx%ldx%ld: off by exp(%.2f)", measured[i].key, (long)p.m, (long)p.n, (long)p.k, error);
        squares += error * error;
    }
    if (sqrt(squares / (double)n) > 0.25)
        fail_msg("off by exp(%.3f), root mean square", sqrt(squares / (double)n));
    for (int layout = 0; layout < 2; layout++)
        space_free(&spaces[layout]);
    module_set_close(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_under_the_floor), cmocka_unit_test(waves_are_counted),
        cmocka_unit_test(a_last_wave_costs),          cmocka_unit_test(each_term_has_its_direction),
        cmocka_unit_test(nonsense_is_infinite),       cmocka_unit_test(races_are_foretold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
