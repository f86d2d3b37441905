/* tune/family: what is raced for a problem, and which kernels the compiler's own words strike off. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compile/nvrtc.h"
#include "h200_fixture.h"
#include "scratch_fixture.h"

static struct family family_on_h200(size_t breadth)
{
    return (struct family){.described = h200,
                           .layouts = 3,
                           .dtype = CUDAL2_F16,
                           .accumulate = CUDAL2_ACC_F16,
                           .workspace_bytes = 64 << 20,
                           .breadth = breadth};
}

static void objections_name_the_fault(void **state)
{
    static const char good[] = "ptxas info    : Compiling entry function 'gemm' for 'sm_90a'\n"
                               "ptxas info    : Function properties for gemm\n"
                               "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
                               "ptxas info    : Used 168 registers\n";
    static const char spills[] = "ptxas info    : Compiling entry function 'gemm' for 'sm_90a'\n"
                                 "ptxas info    : Function properties for gemm\n"
                                 "    16 bytes stack frame, 8 bytes spill stores, 4 bytes spill loads\n";
    static const char serial[] = "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are "
                                 "serialized due to non wgmma instructions\n";
    char why[CUDAL2_WHY];
    (void)state;
    assert_null(family_objection(good, "gemm", why));
    assert_null(family_objection("", "gemm", why));
    assert_string_equal(family_objection(spills, "gemm", why), "spills 12 bytes, stack of 16");
    assert_null(family_objection(spills, "other", why));
    assert_string_equal(family_objection(serial, "gemm", why), "wgmma serialised (C7510)");
}

static bool has(const cJSON *list, const char *key)
{
    const cJSON *node;
    cJSON_ArrayForEach(node, list)
    {
        if (strcmp(node->valuestring, key) == 0)
            return true;
    }
    return false;
}

/* How a key of persistent ends. */
#define OTHERWISE(raster, down, fetch, early)                                                                          \
    "RASTER=" raster ",DOWN=" down ",EPILOGUE=1,EVICT=0,STREAM=0,FETCH=" fetch ",ONE_TILE=0,MIN_BLOCKS=1,EARLY=" early

/* A quarter of what is explored is no choice of the model's, and the same each time. */
static void some_are_drawn_at_random(void **state)
{
    struct family f = family_on_h200(24);
    const struct cudal2_problem p = {
        .m = 1000, .n = 2056, .k = 3000, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F16};
    struct error err;
    bool has_space = false;
    int news = 0;
    (void)state;
    if (family_open(&f, "cudal2", "kernels", &has_space, &err))
        fail_msg("%s", err.text);
    cJSON *modelled = family_choose(&f, CUDAL2_TN, &p);
    f.at_random = 6;
    cJSON *explored = family_choose(&f, CUDAL2_TN, &p), *again = family_choose(&f, CUDAL2_TN, &p);
    assert_int_equal(cJSON_GetArraySize(modelled), 24);
    assert_int_equal(cJSON_GetArraySize(explored), 24);
    assert_true(cJSON_Compare(explored, again, true));
    for (int i = 0; i < 24; i++) {
        const char *key = cJSON_GetArrayItem(explored, i)->valuestring;
        assert_true(i >= 18 || has(modelled, key));
        news += !has(modelled, key);
    }
    assert_in_range(news, 4, 6);
    cJSON_Delete(modelled);
    cJSON_Delete(explored);
    cJSON_Delete(again);
    family_close(&f);
}

/* A search races what the trees expect, and the model's own first choices beside it. */
static void trees_have_a_say_in_a_search(void **state)
{
    struct family f = family_on_h200(24);
    const struct cudal2_problem p = {
        .m = 1000, .n = 2056, .k = 3000, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F16};
    struct error err;
    bool has_space = false;
    int same = 0;
    (void)state;
    if (family_open(&f, "cudal2", "kernels", &has_space, &err))
        fail_msg("%s", err.text);
    assert_non_null(f.trees);
    cJSON *both = family_choose(&f, CUDAL2_TN, &p);
    trees_free(f.trees);
    f.trees = NULL;
    cJSON *modelled = family_choose(&f, CUDAL2_TN, &p);
    assert_int_equal(cJSON_GetArraySize(both), 24);
    for (int i = 0; i < 24; i++)
        same += has(modelled, cJSON_GetArrayItem(both, i)->valuestring);
    assert_in_range(same, 24 / PRUNE_MODEL_EVERY, 23);
    cJSON_Delete(both);
    cJSON_Delete(modelled);
    family_close(&f);
}

/* A search that goes into a table lets what that has race again: first, and under the name of today. */
static void known_winners_compete(void **state)
{
    static const char table[] =
        "{\"schema\":\"cudal2-bench/tuned\",\"schema_version\":1,\"device\":\"NVIDIA H200\",\"driver\":\"1\","
        "\"dtype\":\"f16\",\"accumulate\":\"f16\",\"mode\":\"offline\",\"timing\":\"device\",\"cache\":\"warm\","
        "\"commit\":\"c\",\"families\":[\"cudal2\"],\"variants\":[\"persistent:BM=64,BN=32,STAGES=2,CONSUMERS=1\","
        "\"persistent:BM=64,BN=32,STAGES=3,CONSUMERS=1\",\"gone:A=1\"],\"entries\":["
        "{\"m\":1024,\"n\":1024,\"k\":1024,\"family\":0,\"layout\":\"tn\",\"variant\":0,\"time_ns\":100,"
        "\"runner_up\":1,\"runner_up_ns\":101},"
        "{\"m\":1024,\"n\":1024,\"k\":2048,\"family\":0,\"layout\":\"tn\",\"variant\":2,\"time_ns\":100}]}";
    static const char winner[] = "persistent:BM=64,BN=32,ACROSS=0,STAGES=2,CONSUMERS=1,",
                      second[] = "persistent:BM=64,BN=32,ACROSS=0,STAGES=3,";
    /* 16 x 32 tiles: bands 32 and 64 wide are the same walk, so are those 16 wide and down and those 1 wide */
    static const char *const otherwise[] = {
        OTHERWISE("1", "0", "256", "0"),  OTHERWISE("2", "0", "256", "0"),  OTHERWISE("4", "0", "256", "0"),
        OTHERWISE("16", "0", "256", "0"), OTHERWISE("32", "0", "256", "0"), OTHERWISE("8", "1", "256", "0"),
        OTHERWISE("8", "0", "0", "0"),    OTHERWISE("8", "0", "128", "0"),  OTHERWISE("8", "0", "256", "1"),
        OTHERWISE("2", "1", "256", "0"),  OTHERWISE("4", "1", "256", "0")};
    const size_t n_otherwise = sizeof otherwise / sizeof *otherwise;
    struct family f = family_on_h200(46);
    struct cudal2_problem p = {.m = 1024, .n = 1024, .k = 1024, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F16};
    struct tuned_table *known;
    struct error err;
    bool has_space = false;
    (void)state;
    scratch_write("known.json", table);
    if (tuned_load(scratch_path("known.json"), &known, &err) || family_open(&f, "cudal2", "kernels", &has_space, &err))
        fail_msg("%s", err.text);
    for (int i = 0; i < FAMILY_TABLES; i++) { /* from either of the tables, and from both once */
        f.known[i] = known;
        cJSON *list = family_choose(&f, CUDAL2_TN, &p);
        assert_int_equal(cJSON_GetArraySize(list), 46);
        assert_memory_equal(cJSON_GetArrayItem(list, 0)->valuestring, winner, sizeof winner - 1);
        assert_non_null(strstr(cJSON_GetArrayItem(list, 0)->valuestring, ",FETCH=256,")); /* all parameters are named */
        assert_memory_equal(cJSON_GetArrayItem(list, 1)->valuestring, second, sizeof second - 1);
        for (size_t s = 0; s < 2 * n_otherwise; s++) { /* their machine code, launched otherwise */
            const char *key = cJSON_GetArrayItem(list, (int)(2 + s))->valuestring;
            bool first = s < n_otherwise;
            assert_memory_equal(key, first ? winner : second, (first ? sizeof winner : sizeof second) - 1);
            assert_string_equal(strstr(key, "RASTER="), otherwise[s % n_otherwise]);
        }
        assert_memory_not_equal(cJSON_GetArrayItem(list, 24)->valuestring, winner, sizeof winner - 1);
        cJSON_Delete(list);
    }
    f.alone = true; /* EARLY is then no other launch, and its place is for what is */
    cJSON *apart = family_choose(&f, CUDAL2_TN, &p);
    assert_int_equal(cJSON_GetArraySize(apart), 46);
    for (int i = 0; i < 2 + 2 * ((int)n_otherwise - 1); i++)
        assert_null(strstr(cJSON_GetArrayItem(apart, i)->valuestring, "EARLY=1"));
    cJSON_Delete(apart);
    f.alone = false;
    f.breadth = 10; /* launched otherwise in half of what is left */
    cJSON *list = family_choose(&f, CUDAL2_TN, &p);
    for (int i = 2; i < 10; i++)
        assert_int_equal(strncmp(cJSON_GetArrayItem(list, i)->valuestring, winner, sizeof winner - 1) == 0, i < 6);
    cJSON_Delete(list);
    f.breadth = 46;
    f.known[0] = NULL;
    p.k = 2048; /* a kernel that is no more does not race */
    list = family_choose(&f, CUDAL2_TN, &p);
    assert_int_equal(cJSON_GetArraySize(list), 46);
    assert_false(has(list, "gone:A=1"));
    cJSON_Delete(list);
    family_close(&f);
    tuned_free(known);
}

/* The set's own entries come first, the model fills up, nothing is there twice. */
static void own_entries_compete(void **state)
{
    struct family f = family_on_h200(16);
    const struct cudal2_problem p = {
        .m = 1024, .n = 1024, .k = 1024, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F16};
    struct cudal2_setup setup = {.problem = p, .layout = CUDAL2_TN, .workspace_bytes = 64 << 20};
    struct cudal2_variant own[64];
    struct contender c;
    char why[CUDAL2_WHY];
    struct error err;
    bool has_space = false;
    (void)state;
    assert_int_equal(family_open(&f, "cudal2", "kernels", &has_space, &err), 0);
    assert_true(has_space);
    module_set_contender(f.set, CUDAL2_TN, &c);
    int n = c.ops->list_variants(&c, &setup, own, 64, why);
    assert_in_range(n, 2, 15);
    cJSON *list = family_choose(&f, CUDAL2_TN, &p);
    assert_int_equal(cJSON_GetArraySize(list), 16);
    for (int i = 0; i < n; i++)
        assert_string_equal(cJSON_GetArrayItem(list, i)->valuestring, own[i].key);
    for (int i = 0; i < 16; i++) {
        cJSON *node = cJSON_DetachItemFromArray(list, 0);
        assert_false(has(list, node->valuestring));
        cJSON_Delete(node);
    }
    cJSON_Delete(list);
    family_close(&f);
}

static void a_candidate_without_a_space_is_left_to_itself(void **state)
{
    struct family f = family_on_h200(16);
    struct error err;
    bool has_space = true;
    (void)state;
    assert_int_equal(family_open(&f, "./x.so", "kernels", &has_space, &err), 0);
    assert_false(has_space);
    assert_int_equal(family_open(&f, "kernels/skeleton.json", "kernels", &has_space, &err), 0);
    assert_false(has_space);
    assert_int_equal(family_open(&f, "nothing", "kernels", &has_space, &err), 0);
    assert_false(has_space);
}

/* KIND 0 is sound, 1 spills, 2 touches the accumulators of a wgmma in flight, 3 does not compile, 4 is not in the
 * space. */
static const char source[] =
    "extern \"C\" __global__ void __launch_bounds__(1024) gemm(const u16 *a, const u16 *b, u16 *c, int m)\n{\n"
    "#if KIND == 1\n  volatile float x[64]; for (int i = 0; i < 64; i++) x[i] = a[i]; float s = 0;\n"
    "  for (int i = 0; i < m; i++) s += x[(i * 7) & 63]; c[threadIdx.x] = (u16)s;\n"
    "#elif KIND == 2\n  float d[4] = {0, 0, 0, 0}; unsigned long long w = (unsigned long long)a;\n"
    "  asm volatile(\"wgmma.fence.sync.aligned;\" ::: \"memory\");\n"
    "  for (int i = 0; i < 4; i++) {\n    asm volatile(\"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 "
    "{%0,%1,%2,%3}, %4, %5, 1, 1, 1, 0, 0;\" : \"+f\"(d[0]), \"+f\"(d[1]), \"+f\"(d[2]), \"+f\"(d[3]) : \"l\"(w + i), "
    "\"l\"(w));\n    d[0] += 1.0f;\n  }\n"
    "  asm volatile(\"wgmma.commit_group.sync.aligned;\\nwgmma.wait_group.sync.aligned 0;\" ::: \"memory\");\n"
    "  c[threadIdx.x] = (u16)(d[0] + d[1] + d[2] + d[3]);\n"
    "#elif KIND == 3\n  not C\n#else\n  c[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x] + KIND;\n#endif\n}\n";

static void write_toy(void)
{
    scratch_write("toy.json",
                  "{\"schema\":\"cudal2-bench/kernel\",\"schema_version\":1,\"name\":\"toy\",\"source\":\"toy.cu\","
                  "\"entry\":\"gemm\",\"dtypes\":[\"f16\"],\"accumulate\":[\"f16\"],\"layouts\":[\"nn\"],"
                  "\"parameters\":{\"KIND\":{\"values\":[0,1,2,3,4],\"default\":0}},\"grid\":[\"1\",\"1\",\"1\"],"
                  "\"block\":[\"32\",\"1\",\"1\"],\"arguments\":[\"a\",\"b\",\"c\",\"m\"]}");
    scratch_write("toy.cu", source);
    scratch_write("spaces/toy.json",
                  "{\"schema\":\"cudal2-bench/kernel-space\",\"schema_version\":1,\"name\":\"toy\","
                  "\"kernels\":[{\"kernel\":\"toy\",\"model\":{\"m\":\"64\",\"n\":\"64\",\"step_k\":\"16+KIND\"},"
                  "\"grids\":[{\"KIND\":[0,1,2,3]}]}]}");
}

static void bad_kernels_make_room(void **state)
{
    struct family f = family_on_h200(4);
    const struct cudal2_problem p = {.m = 64, .n = 64, .k = 64, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F16};
    const struct family_problems problems = {&p, 1};
    const struct pool_request pool = {.workers = 2, .seconds = 60};
    struct family_compiled compiled;
    struct error err;
    bool has_space = false;
    (void)state;
    if (!nvrtc_supports(90))
        skip();
    write_toy();
    f.layouts = CUDAL2_BIT(CUDAL2_NN);
    setenv("CUDAL2_KERNELS", scratch, 1);
    int code = family_open(&f, scratch_path("toy.json"), NULL, &has_space, &err);
    unsetenv("CUDAL2_KERNELS");
    if (code)
        fail_msg("%s", err.text);
    assert_true(has_space);
    cJSON *before = family_choose(&f, CUDAL2_NN, &p);
    assert_int_equal(cJSON_GetArraySize(before), 2); /* one tile: half of the places */
    if (family_compile(&f, &problems, &pool, &compiled, &err))
        fail_msg("%s", err.text);
    assert_int_equal(compiled.compiled, 1);
    assert_int_equal(compiled.spilled, 1);
    assert_int_equal(compiled.serialised, 1);
    assert_int_equal(compiled.failed, 1); /* made room for by the others */
    assert_non_null(strstr(compiled.last_failure, "compile_error: toy.cu("));
    cJSON *after = family_choose(&f, CUDAL2_NN, &p);
    assert_int_equal(cJSON_GetArraySize(after), 1);
    assert_string_equal(cJSON_GetArrayItem(after, 0)->valuestring, "toy:KIND=0");
    cJSON_Delete(before);
    cJSON_Delete(after);
    family_close(&f);
}

static int make_kernels(void **state)
{
    char command[256];
    if (scratch_make_cache(state))
        return -1;
    snprintf(command, sizeof command, "cp -R kernels/harness '%s'/", scratch);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objections_name_the_fault),
        cmocka_unit_test(known_winners_compete),
        cmocka_unit_test(trees_have_a_say_in_a_search),
        cmocka_unit_test(own_entries_compete),
        cmocka_unit_test(a_candidate_without_a_space_is_left_to_itself),
        cmocka_unit_test(bad_kernels_make_room),
        cmocka_unit_test(some_are_drawn_at_random),
    };
    return cmocka_run_group_tests(tests, make_kernels, scratch_remove);
}
