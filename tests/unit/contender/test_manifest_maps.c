/*
 * Tensor maps of manifests: what is refused when one is read, with the JSON path, and what depends on the problem. No
 * device is needed; what reaches a driver is in test_module_maps.c.
 */
#include "contender/manifest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

static int load_map(const char *map, struct manifest **out, struct error *err)
{
    char text[1200];
    int length =
        snprintf(text, sizeof text,
                 "{\"schema\":\"cudal2-bench/kernel\",\"schema_version\":1,\"name\":\"demo\",\"source\":\"demo.cu\","
                 "\"entry\":\"gemm\",\"dtypes\":[\"f16\",\"bf16\"],\"accumulate\":[\"f32\"],\"layouts\":[\"tn\"],"
                 "\"parameters\":{\"BN\":{\"values\":[16,32,64],\"default\":64}},"
                 "\"grid\":[1,1,1],\"block\":[128,1,1],\"arguments\":[{\"tensor_map\":\"b\",%s}]}",
                 map);
    assert_in_range(length, 1, sizeof text - 1);
    return manifest_parse("demo.json", text, (size_t)length, out, err);
}

static const struct manifest_conditions here = {
    .problem = {.m = 1000, .n = 130, .k = 64, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F32},
    .layout = CUDAL2_TN,
    .cc = 90,
    .sm_count = 132};

static void assert_refused(const char *map, const char *says)
{
    struct manifest *m = NULL;
    struct error err = {0};
    if (load_map(map, &m, &err) != EXIT_CODE_DATA)
        fail_msg("accepted %s (code %d %s)", map, err.code, err.text);
    assert_null(m);
    if (!strstr(err.text, says) || strncmp(err.text, "demo.json: $.", 13) != 0)
        fail_msg("%s: \"%s\" does not say \"%s\"", map, err.text, says);
}

/* One line each, with the JSON path, before any device is there. */
static void a_wrong_tensor_map_names_the_place(void **state)
{
    static const char cube[] = "\"dims\":[\"K\",8,\"N/8\"],\"strides\":[\"LDB\",\"8*LDB\"],\"box\":[64,8,1]";
    static const struct {
        const char *map, *says;
    } cases[] = {
        {"\"dims\":[],\"box\":[64]", "$.arguments[0].dims: expected 1 to 5 dimensions, found 0"},
        {"\"dims\":[8,8,8,8,8,8],\"box\":[64]", "$.arguments[0].dims: expected 1 to 5 dimensions, found 6"},
        {"\"strides\":[\"LDB\"],\"box\":[64,8]", "$.arguments[0].strides: expected \"dims\" beside it"},
        {"\"dims\":[\"K\",\"N\"],\"box\":[64,8]", "$.arguments[0].strides: is missing"},
        {"\"dims\":[\"K\",\"N\"],\"strides\":[1,\"LDB\"],\"box\":[64,8]",
         "$.arguments[0].strides: expected 1 (one for each of \"dims\" but the first), found 2"},
        {"\"dims\":[\"K\",\"N\"],\"strides\":[\"LDB\"],\"box\":[64,8,1]",
         "$.arguments[0].box: expected 2 (one for each of \"dims\"), found 3"},
        {"\"box\":[64,8],\"element_strides\":[1]", "$.arguments[0].element_strides: expected 2"},
        {"\"box\":[64,257]", "$.arguments[0].box[1]: 257 elements: expected 1 to 256"},
        {"\"box\":[64,\"128*4\"]", "$.arguments[0].box[1]: 512 elements: expected 1 to 256"},
        {"\"box\":[64,0]", "$.arguments[0].box[1]: 0 elements: expected 1 to 256"},
        {"\"box\":[20,8]", "$.arguments[0].box[0]: 20 elements are 40 bytes: expected a multiple of 16 bytes"},
        {"\"box\":[128,8],\"swizzle\":128",
         "$.arguments[0].box[0]: 128 elements are 256 bytes: expected at most the 128 that are swizzled as one"},
        {"\"box\":[64,8],\"swizzle\":48",
         "$.arguments[0].swizzle: a tensor map swizzles 0, 32, 64 or 128 bytes, not 48"},
        {"\"box\":[64,8],\"fetch\":32", "$.arguments[0].fetch: a tensor map fetches 0, 64, 128 or 256 bytes, not 32"},
        {"\"box\":[64,8],\"element_strides\":[1,9]", "$.arguments[0].element_strides[1]: 9: expected 1 to 8"},
        {"\"box\":[64,8],\"interleave\":\"16B\"", "$.arguments[0].interleave: expected none, found \"16B\""},
        {"\"box\":[64,8],\"fill\":\"one\"", "$.arguments[0].fill: expected one of zero, nan, found \"one\""},
        {"\"box\":[64,8],\"stride\":[8]", "unknown key \"stride\" (did you mean strides?)"},
        {"\"dims\":[64,\"N\"],\"strides\":[100],\"box\":[64,8]",
         "$.arguments[0].strides[0]: 100 elements are 200 bytes: expected a multiple of 16 bytes"},
        {"\"dims\":[64,\"N\"],\"strides\":[\"LDD\"],\"box\":[64,8]",
         "$.arguments[0]: column 1 of \"LDD\": unknown name LDD"},
        {"\"dims\":[64,0],\"strides\":[8],\"box\":[64,8]", "$.arguments[0].dims[1]: 0 elements: expected 1 to 2^32"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_refused(cases[i].map, cases[i].says);
    struct manifest *m;
    struct error err = {0};
    if (load_map(cube, &m, &err) != 0)
        fail_msg("%s", err.text);
    assert_int_equal(m->arguments[0].map->rank, 3);
    manifest_free(m);
}

/* What depends on the problem is told for that problem, as a reason or as a fault. */
static void a_map_is_checked_on_its_problem(void **state)
{
    static const struct {
        const char *map;
        int status;
        const char *says;
    } cases[] = {
        {"\"box\":[64,\"BN\"]", CUDAL2_OK, ""},
        {"\"dims\":[\"K\",\"N\"],\"strides\":[\"LDB\"],\"box\":[64,\"BN\"]", CUDAL2_OK, ""},
        {"\"dims\":[\"N*K\"],\"box\":[64]", CUDAL2_OK, ""},
        {"\"dims\":[\"N*K+1\"],\"box\":[64]", CUDAL2_LIBRARY_ERROR,
         "demo: arguments[0].dims: the map reaches behind its matrix of 130 x 64"},
        {"\"dims\":[\"K\",\"N\"],\"strides\":[\"LDB+8\"],\"box\":[64,8]", CUDAL2_LIBRARY_ERROR, "behind its matrix"},
        {"\"dims\":[\"4294967296\",\"4294967296\"],\"strides\":[\"K*4294967\"],\"box\":[64,8]", CUDAL2_LIBRARY_ERROR,
         ""},
        {"\"dims\":[8,\"N\"],\"strides\":[\"K-1\"],\"box\":[8,8]", CUDAL2_UNSUPPORTED,
         "demo: arguments[0].strides[0]: 63 elements are 126 bytes: expected a multiple of 16 bytes"},
        {"\"box\":[\"K*2\",8],\"swizzle\":128", CUDAL2_LIBRARY_ERROR,
         "demo: arguments[0].box[0]: 128 elements are 256 bytes: expected at most the 128"},
        {"\"box\":[64,\"BN/0\"]", CUDAL2_LIBRARY_ERROR, "demo: arguments[0]: "},
    };
    const int64_t values[MANIFEST_MAX_PARAMETERS] = {64};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct manifest *m;
        struct error err = {0};
        struct manifest_plan plan;
        char why[CUDAL2_WHY] = "";
        if (load_map(cases[i].map, &m, &err) != 0)
            fail_msg("%s: %s", cases[i].map, err.text);
        assert_int_equal(manifest_plan(m, &here, values, &plan, why), CUDAL2_OK);
        int status = manifest_check_maps(m, &here, &plan, why);
        if (status != cases[i].status || !strstr(why, cases[i].says))
            fail_msg("%s: %d, \"%s\" in place of \"%s\"", cases[i].map, status, why, cases[i].says);
        manifest_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wrong_tensor_map_names_the_place),
        cmocka_unit_test(a_map_is_checked_on_its_problem),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
