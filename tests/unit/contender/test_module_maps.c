/*
 * What a manifest says of a tensor map reaches the driver, and a parameter of the launch alone stays out of the code: a
 * kernel module on the CUDA device over a driver of the test's own. Needs NVRTC and no GPU.
 */
#include "compile/cubins.h"
#include "contender/module_set.h"
#include "device/cuda_device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "mock_cuda.h"
#include "mock_cuda_run.h"
#include "scratch_fixture.h"

/* A kernel that does not compile where LINE is defined; its map of A has these members. */
static void write_map(const char *map)
{
    char manifest[1200];
    snprintf(manifest, sizeof manifest,
             "{\"schema\":\"cudal2-bench/kernel\",\"schema_version\":1,\"name\":\"maps\",\"source\":\"maps.cu\","
             "\"entry\":\"gemm\",\"dtypes\":[\"f16\"],\"accumulate\":[\"f16\"],\"layouts\":[\"nn\"],"
             "\"parameters\":{\"BM\":{\"values\":[16,32],\"default\":16},"
             "\"LINE\":{\"values\":[0,64,96,128,256],\"default\":128,\"launch\":true}},"
             "\"grid\":[\"1\",\"1\",\"1\"],\"block\":[\"32\",\"1\",\"1\"],"
             "\"arguments\":[{\"tensor_map\":\"a\",%s}]}",
             map);
    scratch_write("maps.json", manifest);
    scratch_write("maps.cu", "#ifdef LINE\n#error LINE\n#endif\n"
                             "extern \"C\" __global__ void gemm(const __grid_constant__ tensor_map map)\n"
                             "{ if (BM == 0) ((volatile u32 *)0)[0] = (u32)map.opaque[0]; }\n");
}

/* The map is of the matrix as it lies. */
static void write_kernel(const char *more)
{
    char map[200];
    snprintf(map, sizeof map, "\"box\":[\"16\",\"BM\"]%s", more);
    write_map(map);
}

static char described[1000]; /* by the latest setup */

/* The status of a setup with this variant. */
static int set_up(const char *variant, char *why)
{
    struct cudal2_operands operands = {(void *)0x10000, (void *)0x20000, (void *)0x30000};
    struct cudal2_setup setup = {
        .problem = {.m = 64, .n = 64, .k = 64, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F16},
        .layout = CUDAL2_NN,
        .sets = &operands,
        .n_sets = 1,
        .variant = variant,
        .threads = 1};
    struct module_set *set;
    struct contender c;
    struct error err;
    void *state = NULL;
    if (module_set_open(scratch_path("maps.json"), getenv("CUDAL2_KERNELS"), d, &set, &err) != 0)
        fail_msg("%s", err.text);
    module_set_contender(set, CUDAL2_NN, &c);
    int status = c.ops->setup(&c, &setup, &state, why);
    if (status == CUDAL2_OK)
        assert_int_equal(c.ops->describe(&c, state, described, sizeof described), CUDAL2_OK);
    if (status == CUDAL2_OK)
        c.ops->teardown(&c, state);
    module_set_close(set);
    return status;
}

static void expect_promotion(const char *variant, int promotion)
{
    char why[CUDAL2_WHY] = "";
    mock.promotion = -1;
    if (set_up(variant, why) != CUDAL2_OK)
        fail_msg("%s: %s", variant, why);
    assert_int_equal(mock.promotion, promotion);
}

static void fetch_reaches_the_tensor_map(void **state)
{
    char why[CUDAL2_WHY] = "";
    (void)state;
    write_kernel(",\"fetch\":\"LINE\"");
    expect_promotion("maps:BM=16,LINE=0", CU_TENSOR_L2_NONE);
    expect_promotion("maps:BM=16,LINE=64", CU_TENSOR_L2_64);
    expect_promotion("maps:BM=16,LINE=128", CU_TENSOR_L2_128);
    expect_promotion("maps:BM=16,LINE=256", CU_TENSOR_L2_256);
    assert_int_equal(set_up("maps:BM=16,LINE=96", why), CUDAL2_UNSUPPORTED);
    assert_non_null(strstr(why, "256 bytes, not 96"));
}

/* By a parameter of the launch or of the code, likewise; without one there is none. */
static void swizzle_reaches_the_tensor_map(void **state)
{
    static const struct {
        const char *text;
        int swizzle;
    } cases[] = {{"", CU_TENSOR_PLAIN},
                 {",\"swizzle\":\"0\"", CU_TENSOR_PLAIN},
                 {",\"swizzle\":\"BM*2\"", CU_TENSOR_SWIZZLE_32},
                 {",\"swizzle\":\"LINE == 128 ? 64 : 0\"", CU_TENSOR_SWIZZLE_64},
                 {",\"swizzle\":\"LINE\"", CU_TENSOR_SWIZZLE_128}};
    char why[CUDAL2_WHY] = "";
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_kernel(cases[i].text);
        mock.swizzle = -1;
        if (set_up("maps:BM=16,LINE=128", why) != CUDAL2_OK)
            fail_msg("%s: %s", cases[i].text, why);
        assert_int_equal(mock.swizzle, cases[i].swizzle);
    }
    write_kernel(",\"swizzle\":\"LINE*2\"");
    assert_int_equal(set_up("maps:BM=16,LINE=128", why), CUDAL2_UNSUPPORTED);
    assert_non_null(strstr(why, "128 bytes, not 256"));
}

/* A is 64 rows of 64 elements. */
static void maps_of_every_rank_reach_the_driver(void **state)
{
    static const struct {
        const char *map;
        struct mock_map expected;
    } cases[] = {
        {"\"dims\":[\"M*K\"],\"box\":[256]", {.rank = 1, .dims = {4096}, .box = {256}, .element_strides = {1}}},
        {"\"dims\":[\"K\",\"M\"],\"strides\":[\"LDA\"],\"box\":[64,\"BM\"],\"swizzle\":128",
         {.rank = 2, .dims = {64, 64}, .strides = {128}, .box = {64, 16}, .element_strides = {1, 1}}},
        {"\"dims\":[8,\"M\",\"K/8\"],\"strides\":[\"LDA\",8],\"box\":[8,\"BM\",4],\"fill\":\"nan\"",
         {.rank = 3,
          .fill = 1,
          .dims = {8, 64, 8},
          .strides = {128, 16},
          .box = {8, 16, 4},
          .element_strides = {1, 1, 1}}},
        {"\"dims\":[16,4,\"M/2\",2],\"strides\":[16,\"LDA\",\"M/2*LDA\"],\"box\":[16,4,8,1],"
         "\"element_strides\":[1,2,\"BM/8\",1],\"interleave\":\"none\"",
         {.rank = 4,
          .dims = {16, 4, 32, 2},
          .strides = {32, 128, 4096},
          .box = {16, 4, 8, 1},
          .element_strides = {1, 2, 2, 1}}},
        {"\"dims\":[8,2,4,\"M\",1],\"strides\":[8,16,\"LDA\",\"M*LDA\"],\"box\":[8,2,4,8,1]",
         {.rank = 5,
          .dims = {8, 2, 4, 64, 1},
          .strides = {16, 32, 128, 8192},
          .box = {8, 2, 4, 8, 1},
          .element_strides = {1, 1, 1, 1, 1}}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mock_map expected = cases[i].expected;
        char why[CUDAL2_WHY] = "";
        expected.type = CU_TENSOR_F16;
        mock.map = (struct mock_map){0};
        write_map(cases[i].map);
        if (set_up("maps:BM=16,LINE=128", why) != CUDAL2_OK)
            fail_msg("%s: %s", cases[i].map, why);
        assert_memory_equal(&mock.map, &expected, sizeof expected);
    }
}

/* The manifests of before say the same to the driver, in other words too. */
static void the_whole_matrix_is_a_map_of_rank_2(void **state)
{
    static const char *const same[] = {"\"box\":[16,\"BM\"]",
                                       "\"dims\":[\"K\",\"M\"],\"strides\":[\"LDA\"],\"box\":[16,\"BM\"]",
                                       "\"box\":[16,\"BM\"],\"element_strides\":[1,1],\"interleave\":\"none\",\"fill\":"
                                       "\"zero\",\"fetch\":256,\"swizzle\":0"};
    const struct mock_map expected = {.type = CU_TENSOR_F16,
                                      .rank = 2,
                                      .dims = {64, 64},
                                      .strides = {128},
                                      .box = {16, 16},
                                      .element_strides = {1, 1}};
    char why[CUDAL2_WHY] = "";
    (void)state;
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        mock.map = (struct mock_map){0};
        write_map(same[i]);
        if (set_up("maps:BM=16,LINE=128", why) != CUDAL2_OK)
            fail_msg("%s: %s", same[i], why);
        assert_memory_equal(&mock.map, &expected, sizeof expected);
        assert_true(mock.promotion == CU_TENSOR_L2_256 && mock.swizzle == CU_TENSOR_PLAIN);
    }
}

static void a_map_that_does_not_fit_is_refused(void **state)
{
    char why[CUDAL2_WHY] = "";
    (void)state;
    write_map("\"dims\":[\"K\",\"M+1\"],\"strides\":[\"LDA\"],\"box\":[16,8]");
    assert_int_equal(set_up("maps:BM=16,LINE=128", why), CUDAL2_LIBRARY_ERROR);
    assert_string_equal(why, "maps: arguments[0].dims: the map reaches behind its matrix of 64 x 64");
    write_map("\"box\":[\"BM*32\",8]");
    assert_int_equal(set_up("maps:BM=16,LINE=128", why), CUDAL2_LIBRARY_ERROR);
    assert_string_equal(why, "maps: arguments[0].box[0]: 512 elements: expected 1 to 256");
}

static void without_it_the_map_fetches_256(void **state)
{
    (void)state;
    write_kernel("");
    expect_promotion("maps:BM=16,LINE=128", CU_TENSOR_L2_256);
}

/* One module serves all values of a parameter of the launch. */
static void such_values_share_a_module(void **state)
{
    static const char *const keys[] = {"maps:BM=16,LINE=128", "maps:BM=16,LINE=256", "maps:BM=32,LINE=128"};
    struct module_identity identities[3] = {{0}};
    struct module_set *set;
    struct error err;
    char why[CUDAL2_WHY];
    (void)state;
    write_kernel("");
    if (module_set_open(scratch_path("maps.json"), getenv("CUDAL2_KERNELS"), d, &set, &err) != 0)
        fail_msg("%s", err.text);
    for (int i = 0; i < 3; i++)
        assert_int_equal(set_find_key(set, keys[i], &identities[i], why), CUDAL2_OK);
    assert_true(set_same_identity(set, &identities[0], &identities[1]));
    assert_false(set_same_identity(set, &identities[0], &identities[2]));
    module_set_close(set);
}

static void expect_from(const char *where)
{
    char why[CUDAL2_WHY] = "", member[80];
    snprintf(member, sizeof member, "\"cubin\":\"%s\"", where);
    if (set_up("maps:BM=32,LINE=128", why) != CUDAL2_OK)
        fail_msg("%s", why);
    if (!strstr(described, member))
        fail_msg("%s has no %s", described, member);
}

/* What a record says of it. */
static void it_is_said_where_a_cubin_came_from(void **state)
{
    struct module_set *set;
    struct compile_result made;
    struct error err;
    char why[CUDAL2_WHY], name[100];
    const struct module_compile_request request = {
        .key = "maps:BM=32", .type = {.dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F16}, .layout = CUDAL2_NN};
    (void)state;
    write_kernel("");
    setenv("CUDAL2_CACHE", scratch_path("cache"), 1);
    expect_from("compiled");
    expect_from("cached");
    assert_int_equal(module_set_open(scratch_path("maps.json"), getenv("CUDAL2_KERNELS"), d, &set, &err), 0);
    assert_int_equal(module_set_compile(set, &request, &made, why), CUDAL2_OK);
    assert_int_equal(cubins_put(scratch_path("cubins"), &made, &err), 0);
    snprintf(name, sizeof name, "cubins/cubin/%s", made.key);
    compile_result_free(&made);
    module_set_close(set);
    setenv(CUBINS_VARIABLE, scratch_path("cubins"), 1);
    expect_from("ahead");
    assert_int_equal(truncate(scratch_path(name), 500), 0);
    expect_from("cached, the one ahead is damaged");
    unsetenv(CUBINS_VARIABLE);
}

static int open_kernels(void **state)
{
    return mock_open(&d) == 0 ? scratch_make(state) : -1;
}

static int close_kernels(void **state)
{
    d->ops->close(d);
    return scratch_remove(state);
}

int main(void)
{
    char cache[] = "/tmp/cudal2-maps-XXXXXX";
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(fetch_reaches_the_tensor_map, open_kernels, close_kernels),
        cmocka_unit_test_setup_teardown(swizzle_reaches_the_tensor_map, open_kernels, close_kernels),
        cmocka_unit_test_setup_teardown(maps_of_every_rank_reach_the_driver, open_kernels, close_kernels),
        cmocka_unit_test_setup_teardown(the_whole_matrix_is_a_map_of_rank_2, open_kernels, close_kernels),
        cmocka_unit_test_setup_teardown(a_map_that_does_not_fit_is_refused, open_kernels, close_kernels),
        cmocka_unit_test_setup_teardown(without_it_the_map_fetches_256, open_kernels, close_kernels),
        cmocka_unit_test_setup_teardown(such_values_share_a_module, open_kernels, close_kernels),
        cmocka_unit_test_setup_teardown(it_is_said_where_a_cubin_came_from, open_kernels, close_kernels)};
    if (!mock_environment(cache))
        return 77;
    return mock_leave(cache, cmocka_run_group_tests(tests, NULL, NULL));
}
