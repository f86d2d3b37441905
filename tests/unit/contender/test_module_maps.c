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

/* A kernel that does not compile where LINE is defined. */
static void write_kernel(const char *map)
{
    char manifest[1000];
    snprintf(manifest, sizeof manifest,
             "{\"schema\":\"cudal2-bench/kernel\",\"schema_version\":1,\"name\":\"maps\",\"source\":\"maps.cu\","
             "\"entry\":\"gemm\",\"dtypes\":[\"f16\"],\"accumulate\":[\"f16\"],\"layouts\":[\"nn\"],"
             "\"parameters\":{\"BM\":{\"values\":[16,32],\"default\":16},"
             "\"LINE\":{\"values\":[0,64,96,128,256],\"default\":128,\"launch\":true}},"
             "\"grid\":[\"1\",\"1\",\"1\"],\"block\":[\"32\",\"1\",\"1\"],"
             "\"arguments\":[{\"tensor_map\":\"a\",\"box\":[\"64\",\"BM\"]%s}]}",
             map);
    scratch_write("maps.json", manifest);
    scratch_write("maps.cu", "#ifdef LINE\n#error LINE\n#endif\n"
                             "extern \"C\" __global__ void gemm(const __grid_constant__ tensor_map map)\n"
                             "{ if (BM == 0) ((volatile u32 *)0)[0] = (u32)map.opaque[0]; }\n");
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
    write_kernel(",\"swizzle\":\"256\"");
    assert_int_equal(set_up("maps:BM=16,LINE=128", why), CUDAL2_UNSUPPORTED);
    assert_non_null(strstr(why, "128 bytes, not 256"));
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
        cmocka_unit_test_setup_teardown(without_it_the_map_fetches_256, open_kernels, close_kernels),
        cmocka_unit_test_setup_teardown(such_values_share_a_module, open_kernels, close_kernels),
        cmocka_unit_test_setup_teardown(it_is_said_where_a_cubin_came_from, open_kernels, close_kernels)};
    if (!mock_environment(cache))
        return 77;
    return mock_leave(cache, cmocka_run_group_tests(tests, NULL, NULL));
}
