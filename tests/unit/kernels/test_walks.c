/* persistent.json tells the kernel in seven arguments how the tiles are walked. Whatever RASTER and DOWN say, the
 * arguments must say the same walk; and two walks that are the same for a problem must be one launch, or a search races
 * both. And the clusters that hold two tiles, where consumers may end one after the other, and where a CTA may keep an
 * operand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "h200_fixture.h"

#define MAX_TILES 140000
#define TILE 64

/* Rows and columns of tiles. */
static const struct {
    int rows, cols;
} grids[] = {{1, 1}, {1, 12}, {12, 1}, {2, 2}, {3, 5}, {8, 16}, {16, 8}, {7, 32}, {24, 24}, {255, 511}};

/* The order of tiles as persistent.cu tells it: bands so wide, along the rows or, `down`, along the columns. */
static void walk(int wide, bool down, int rows, int cols, int order[MAX_TILES])
{
    int along = down ? cols : rows, across = down ? rows : cols, n = 0;
    for (int first = 0; first < across; first += wide)
        for (int step = 0; step < along; step++)
            for (int lane = first; lane < first + wide && lane < across; lane++)
                order[n++] = down ? lane * cols + step : step * cols + lane;
}

/* The first arguments: struct walk of walk.cuh. */
enum { WALK, BAND, LANES, INVERSE_BAND, INVERSE_WIDE, INVERSE_LAST, TILES, N_ARGUMENTS };

struct launch {
    struct manifest_plan plan;
    int64_t arguments[N_ARGUMENTS];
    int order[MAX_TILES]; /* by RASTER and DOWN */
};

/* Status and `why` of the launch of `key`. */
static int plan_problem(const struct manifest *m, const char *key, const struct cudal2_problem *p,
                        struct manifest_plan *plan, char *why)
{
    const struct manifest_conditions on = manifest_conditions_on(&h200.info, p, CUDAL2_TN);
    int64_t values[MANIFEST_MAX_PARAMETERS];
    assert_true(manifest_parse_key(m, key, values));
    return manifest_plan(m, &on, values, plan, why);
}

/* The same on so many tiles of TILE x TILE. */
static int plan_tiles(const struct manifest *m, const char *key, const int tiles[2], struct manifest_plan *plan,
                      char *why)
{
    const struct cudal2_problem p = {
        .m = tiles[0] * TILE, .n = tiles[1] * TILE, .k = 512, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F32};
    return plan_problem(m, key, &p, plan, why);
}

static void plan_walk(const struct manifest *m, int grid, int64_t raster, bool down, struct launch *out)
{
    char key[128], why[CUDAL2_WHY] = "";
    struct error err;
    snprintf(key, sizeof key, "persistent:BM=%d,BN=%d,CONSUMERS=1,RASTER=%d,DOWN=%d", TILE, TILE, (int)raster, down);
    if (plan_tiles(m, key, (int[]){grids[grid].rows, grids[grid].cols}, &out->plan, why) != CUDAL2_OK)
        fail_msg("%s", why);
    const struct expr_scope scope = {out->plan.names, out->plan.n_names};
    for (int a = 0; a < N_ARGUMENTS; a++) {
        assert_int_equal(m->arguments[a].kind, ARGUMENT_INTEGER);
        assert_int_equal(expr_eval(m->arguments[a].value, &scope, &out->arguments[a], &err), 0);
    }
    walk((int)raster, down, grids[grid].rows, grids[grid].cols, out->order);
}

/* As divide() of walk.cuh. */
static int divide(int64_t index, int64_t by, int64_t inverse, int64_t *left)
{
    int64_t quotient = index * 4 * inverse >> 32;
    *left = index - quotient * by;
    if (*left < 0) {
        *left += by;
        --quotient;
    }
    return (int)quotient;
}

/* Where the arguments lead, as follow() of walk.cuh; by row and column in one number. */
static int follow(const int64_t *a, int index, int cols)
{
    const bool down = a[WALK] < 0;
    const int64_t wide = down ? -a[WALK] : a[WALK];
    int64_t first = 0, within = index, width = wide, inverse = a[INVERSE_WIDE], lane;
    if (index >= a[BAND]) {
        first = divide(index, a[BAND], a[INVERSE_BAND], &within) * wide;
        if (a[LANES] - first < wide) {
            width = a[LANES] - first;
            inverse = a[INVERSE_LAST];
        }
    }
    int64_t step = divide(within, width, inverse, &lane);
    lane += first;
    return (int)(down ? lane * cols + step : step * cols + lane);
}

static size_t order_bytes(int grid)
{
    return (size_t)(grids[grid].rows * grids[grid].cols) * sizeof(int);
}

static void check_pairs(const struct manifest *m, int grid, const struct launch *all, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            assert_int_equal(manifest_same_launch(m, &all[i].plan, &all[j].plan),
                             memcmp(all[i].order, all[j].order, order_bytes(grid)) == 0);
}

static void one_walk_is_one_launch(void **state)
{
    static struct launch all[2 * MANIFEST_MAX_VALUES];
    struct module_set *set = open_cudal2();
    (void)state;
    const struct manifest *m = module_set_manifest(set, "persistent");
    const struct manifest_parameter *raster = &m->parameters[manifest_find_parameter(m, "RASTER", strlen("RASTER"))];
    for (int grid = 0; grid < (int)(sizeof grids / sizeof *grids); grid++) {
        size_t n = 0;
        for (size_t v = 0; v < raster->n_values; v++)
            for (int down = 0; down < 2; down++) {
                struct launch *l = &all[n++];
                plan_walk(m, grid, raster->values[v], down, l);
                assert_int_equal(l->arguments[TILES], grids[grid].rows * grids[grid].cols);
                for (int i = 0; i < l->arguments[TILES]; i++)
                    assert_int_equal(follow(l->arguments, i, grids[grid].cols), l->order[i]);
            }
        check_pairs(m, grid, all, n);
    }
    module_set_close(set);
}

/* With ABREAST 2 the CTAs of two tiles, and no others, are a cluster; what they do there tests/gpu/gpu_ways.sh sees. */
static void clusters_hold_tiles_abreast(void **state)
{
    static const char key[] = "persistent:BM=64,BN=64,CONSUMERS=1,SPLIT_K=3,REDUCE=1,ABREAST=2";
    struct module_set *set = open_cudal2();
    const struct manifest *m = module_set_manifest(set, "persistent");
    struct manifest_plan plan;
    char why[CUDAL2_WHY] = "";
    (void)state;
    assert_int_equal(plan_tiles(m, key, (int[]){4, 8}, &plan, why), CUDAL2_OK);
    assert_int_equal(plan.cluster[0], 2);
    assert_int_equal(plan.cluster[1], 1);
    assert_int_equal(plan.cluster[2], 3);
    assert_int_equal(plan.grid[0], 32);
    assert_int_equal(plan.grid[2], 3);
    assert_int_equal(plan_tiles(m, key, (int[]){3, 5}, &plan, why), CUDAL2_UNSUPPORTED);
    assert_non_null(strstr(why, "every cluster has ABREAST tiles"));
    module_set_close(set);
}

/* Whether a kernel may have a problem: `refused` is in what it says when it may not. Returns its CTAs. */
static int64_t check_plan(const char *key, const struct cudal2_problem *p, const char *refused)
{
    struct module_set *set = open_cudal2();
    struct manifest_plan plan = {0};
    char why[CUDAL2_WHY] = "";
    int status = plan_problem(module_set_manifest(set, "persistent"), key, p, &plan, why);
    assert_int_equal(status, refused == NULL ? CUDAL2_OK : CUDAL2_UNSUPPORTED);
    assert_true(refused == NULL || strstr(why, refused));
    module_set_close(set);
    return plan.grid[0];
}

/* Whether TAIL may be on a problem; what it does there tests/gpu/gpu_ways.sh sees. A consumer counts at the other's
 * barrier when it ends a tile, and may not do so twice while that one waits: the ring of stages sees to it if a tile
 * has as many, or every CTA has one tile. */
static void check_tail(const char *more, int64_t m, int64_t n, int64_t k, bool legal)
{
    char key[128];
    snprintf(key, sizeof key, "persistent:BM=128,BN=128,CONSUMERS=2,STAGES=6,TAIL=3%s", more);
    check_plan(key, &(struct cudal2_problem){.m = m, .n = n, .k = k, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F32},
               legal ? NULL : "a consumer that has the next tile's last stage");
}

static void a_tail_needs_a_ring_or_one_wave(void **state)
{
    (void)state;
    check_tail("", 4096, 4096, 6 * 64, true);
    check_tail("", 4096, 4096, 5 * 64, false);
    check_tail("", 11 * 128, 12 * 128, 64, true); /* 132 tiles */
    check_tail("", 7 * 128, 19 * 128, 64, false);
    check_tail(",CLUSTER_M=2", 12 * 128, 11 * 128, 64, true); /* 66 pairs */
    check_tail(",CLUSTER_M=2", 12 * 128, 12 * 128, 64, false);
    check_tail(",SPLIT_K=2,REDUCE=2", 8 * 128, 8 * 128, 2 * 64, true);
    check_tail(",KEEP=2", 10 * 128, 13 * 128, 64, false); /* 130 tiles for 128 CTAs */
}

/* Of 8192 x 8192, in 64 x 64 tiles; K in steps of 64. */
static int64_t check_keep(const char *more, int64_t steps, const char *refused)
{
    char key[160];
    snprintf(key, sizeof key, "persistent:BM=128,BN=128,CONSUMERS=2,PINGPONG=1,STAGES=4,%s", more);
    return check_plan(key,
                      &(struct cudal2_problem){
                          .m = 8192, .n = 8192, .k = steps * 64 - 8, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F32},
                      refused);
}

static void what_is_kept_is_for_the_same_k(void **state)
{
    static const char whole[] = "hold whole tiles", own[] = "more or fewer than stages";
    (void)state;
    check_keep("RASTER=64,KEEP=2", 1, NULL);
    check_keep("RASTER=64,KEEP=2", 2, NULL);
    check_keep("RASTER=64,KEEP=2", 4, NULL);
    check_keep("RASTER=64,KEEP=2", 3, whole);
    check_keep("RASTER=64,KEEP=2", 8, whole);
    check_keep("RASTER=64,KEEP=2,HOLD=8", 8, NULL);
    check_keep("RASTER=64,KEEP=2,HOLD=8", 7, whole);
    check_keep("RASTER=64,KEEP=2,HOLD=2", 2, NULL);
    check_keep("RASTER=64,KEEP=2,HOLD=2", 4, whole);
    check_keep("RASTER=64,KEEP=2,HOLD=4", 4, own);
    check_keep("RASTER=64,HOLD=8", 8, own);
    check_keep("RASTER=64,KEEP=2,QUEUE=1", 2, "of which the walk says where it is");
}

static void what_is_kept_is_of_the_walks_lane(void **state)
{
    static const char lane[] = "more tiles of a lane in a row", along[] = "a walk along rows keeps A";
    (void)state;
    assert_int_equal(check_keep("KEEP=2", 2, NULL), 128);
    assert_int_equal(check_keep("KEEP=2,HOLD=2,RASTER=4", 2, NULL), 132);
    assert_int_equal(check_keep("KEEP=1,DOWN=1,RASTER=32", 2, NULL), 128);
    assert_int_equal(check_keep("KEEP=1,RASTER=1", 2, NULL), 128); /* as DOWN=1,RASTER=64 is */
    assert_int_equal(check_keep("KEEP=2,CLUSTER_N=2", 2, NULL), 128);
    check_keep("KEEP=1", 2, along);
    check_keep("KEEP=2,DOWN=1", 2, along);
    check_keep("KEEP=2", 1, lane);                 /* four tiles, four stages */
    check_keep("KEEP=2,RASTER=4", 2, lane);        /* two of two steps */
    check_keep("KEEP=2,HOLD=2,RASTER=2", 2, lane); /* 132 CTAs, bands of 128 tiles */
    check_plan(
        "persistent:BM=128,BN=64,CONSUMERS=2,STAGES=4,CLUSTER_M=4,RASTER=64,KEEP=2", /* 33 clusters */
        &(struct cudal2_problem){.m = 4096, .n = 4096, .k = 128, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F32},
        lane);
}

/* Of the tiles that follow another in their CTA, all have its rows (columns) as long as a band goes on. */
static void a_cta_stays_in_its_lane(void **state)
{
    static int order[MAX_TILES];
    static const int rasters[] = {4, 8, 16, 32, 64};
    (void)state;
    for (size_t i = 0; i < sizeof rasters / sizeof *rasters; i++)
        for (int down = 0; down < 2; down++) {
            char more[64];
            snprintf(more, sizeof more, "KEEP=%d,HOLD=2,DOWN=%d,RASTER=%d", down ? 1 : 2, down, rasters[i]);
            const int64_t ctas = check_keep(more, 2, NULL);
            walk(rasters[i], down, 64, 64, order);
            for (int t = 0; t + ctas < 64 * 64; t++) {
                const int next = order[t + ctas], band = rasters[i] * 64;
                const bool same = down ? order[t] / 64 == next / 64 : order[t] % 64 == next % 64;
                assert_true(same || t / band != (t + ctas) / band);
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_walk_is_one_launch),
                                       cmocka_unit_test(clusters_hold_tiles_abreast),
                                       cmocka_unit_test(a_tail_needs_a_ring_or_one_wave),
                                       cmocka_unit_test(what_is_kept_is_for_the_same_k),
                                       cmocka_unit_test(what_is_kept_is_of_the_walks_lane),
                                       cmocka_unit_test(a_cta_stays_in_its_lane)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
