/* Manifests: what is read, what is refused and where the message points, plans with exact numbers, variant keys. */
#include "contender/manifest.h"
#include "base/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scratch_fixture.h"
#include "edited.h"

static char path[128];

static const char whole[] =
    "{\"schema\":\"cudal2-bench/"
    "kernel\",\"schema_version\":1,\"name\":\"demo\",\"source\":\"demo.cu\",\"entry\":\"gemm\","
    "\"arch_min\":80,\"arch_max\":90,\"dtypes\":[\"f16\",\"bf16\"],\"accumulate\":[\"f32\"],\"layouts\":[\"tn\"],"
    "\"parameters\":{\"BM\":{\"values\":[16,32,64],\"default\":32},\"BN\":{\"values\":[16,32,64],\"default\":64},"
    "\"SPLIT\":{\"values\":[1,2,4],\"default\":1}},"
    "\"constraints\":[{\"rule\":\"BM*BN <= 2048\",\"why\":\"registers\"}],"
    "\"problem_constraints\":[{\"rule\":\"K % 8 == 0\",\"why\":\"16-byte rows\"}],"
    "\"defines\":{\"TILE\":\"BM*BN\",\"TWICE\":\"TILE*2\"},"
    "\"grid\":[\"ceildiv(M,BM)*SPLIT\",\"ceildiv(N,BN)\",1],\"block\":[\"128\",\"1\",\"1\"],"
    "\"cluster\":[\"SPLIT\",\"1\",\"1\"],\"shared_bytes\":\"TWICE*2\","
    "\"workspace_bytes\":\"M*N*SPLIT*4\",\"memset_workspace_bytes\":\"16\",\"early\":\"SPLIT > 1\","
    "\"arguments\":[\"a\",\"b\",\"c\",\"m\",\"n\",\"k\",\"workspace\",{\"int32\":\"TILE\"},"
    "{\"tensor_map\":\"b\",\"box\":[\"64\",\"BN\"],\"swizzle\":\"128\",\"fetch\":\"SPLIT*64\"}]}";

static int load_text(const char *text, struct manifest **out, struct error *err)
{
    assert_int_equal(file_write_atomic(path, text, strlen(text), err), 0);
    return manifest_load(path, out, err);
}

static void assert_refused(const char *from, const char *to, const char *says)
{
    char *text = edited(whole, from, to);
    struct manifest *m = NULL;
    struct error err = {0};
    if (load_text(text, &m, &err) != EXIT_CODE_DATA)
        fail_msg("accepted %s -> %s (code %d %s)", from, to, err.code, err.text);
    assert_null(m);
    if (!strstr(err.text, says) || !strstr(err.text, "demo.json"))
        fail_msg("%s -> %s: \"%s\" does not say \"%s\"", from, to, err.text, says);
    free(text);
}

static const struct manifest_conditions here = {
    .problem = {.m = 1000, .n = 130, .k = 64, .dtype = CUDAL2_F16, .accumulate = CUDAL2_ACC_F32},
    .layout = CUDAL2_TN,
    .cc = 90,
    .sm_count = 132,
    .l2_bytes = 1 << 20};

static void reads_everything(void **state)
{
    (void)state;
    struct manifest *m;
    struct error err;
    if (load_text(whole, &m, &err) != 0)
        fail_msg("%s", err.text);
    assert_string_equal(m->name, "demo");
    assert_string_equal(m->entry, "gemm");
    assert_non_null(strstr(m->source_path, "/demo.cu"));
    assert_int_equal(m->arch_min, 80);
    assert_int_equal(m->arch_max, 90);
    assert_int_equal(m->dtypes, CUDAL2_BIT(CUDAL2_F16) | CUDAL2_BIT(CUDAL2_BF16));
    assert_int_equal(m->accumulates, CUDAL2_BIT(CUDAL2_ACC_F32));
    assert_int_equal(m->layouts, CUDAL2_BIT(CUDAL2_TN));
    assert_int_equal(m->n_parameters, 3);
    assert_int_equal(m->n_arguments, 9);
    assert_int_equal(m->arguments[4].kind, ARGUMENT_SIZE);
    assert_int_equal(m->arguments[4].which, 1);
    assert_int_equal(m->arguments[6].kind, ARGUMENT_WORKSPACE);
    assert_int_equal(m->arguments[7].kind, ARGUMENT_INTEGER);
    assert_int_equal(m->arguments[8].kind, ARGUMENT_TENSOR_MAP);
    assert_int_equal(m->arguments[8].which, 1);
    assert_string_equal(expr_text(m->arguments[8].map->e[MAP_SWIZZLE]), "128");
    assert_string_equal(expr_text(m->arguments[8].map->e[MAP_FETCH]), "SPLIT*64");
    assert_false(m->parameters[2].launch);
    manifest_free(m);
}

static void plan_has_exact_numbers(void **state)
{
    (void)state;
    struct manifest *m;
    struct error err;
    struct manifest_plan plan;
    char why[CUDAL2_WHY];
    int64_t values[MANIFEST_MAX_PARAMETERS] = {16, 64, 4};
    assert_int_equal(load_text(whole, &m, &err), 0);
    assert_int_equal(manifest_plan(m, &here, values, &plan, why), CUDAL2_OK);
    assert_int_equal(plan.grid[0], 63 * 4);
    assert_int_equal(plan.grid[1], 3);
    assert_int_equal(plan.grid[2], 1);
    assert_int_equal(plan.block[0], 128);
    assert_int_equal(plan.cluster[0], 4);
    assert_int_equal(plan.shared_bytes, 16 * 64 * 2 * 2);
    assert_int_equal(plan.workspace_bytes, 1000 * 130 * 4 * 4);
    assert_int_equal(plan.memset_bytes, 16);
    assert_true(plan.early);
    values[2] = 1;
    assert_int_equal(manifest_plan(m, &here, values, &plan, why), CUDAL2_OK);
    assert_false(plan.early);
    assert_int_equal(plan.n_names, MANIFEST_FIXED_NAMES + 3 + 2);
    manifest_free(m);
}

static void assert_unsupported(const struct manifest *m, struct manifest_conditions conditions, const int64_t *values,
                               const char *says)
{
    struct manifest_plan plan;
    char why[CUDAL2_WHY] = "";
    assert_int_equal(manifest_plan(m, &conditions, values, &plan, why), CUDAL2_UNSUPPORTED);
    if (!strstr(why, says) || !strstr(why, "demo"))
        fail_msg("\"%s\" does not say \"%s\"", why, says);
}

static void impossible_pairings_give_the_reason(void **state)
{
    (void)state;
    struct manifest *m;
    struct error err;
    struct manifest_conditions other = here;
    const int64_t values[MANIFEST_MAX_PARAMETERS] = {16, 64, 1}, large[MANIFEST_MAX_PARAMETERS] = {64, 64, 1};
    assert_int_equal(load_text(whole, &m, &err), 0);
    assert_unsupported(m, here, large, "registers (BM*BN <= 2048)");
    other.problem.k = 63;
    assert_unsupported(m, other, values, "16-byte rows");
    other = here;
    other.cc = 75;
    assert_unsupported(m, other, values, "not sm_75");
    other.cc = 100;
    assert_unsupported(m, other, values, "not sm_100");
    other = here;
    other.layout = CUDAL2_NN;
    assert_unsupported(m, other, values, "layout nn");
    other = here;
    other.problem.accumulate = CUDAL2_ACC_F16;
    assert_unsupported(m, other, values, "f16 accumulate");
    other = here;
    other.problem.m = (int64_t)1 << 31;
    assert_unsupported(m, other, values, "2^31");
    manifest_free(m);
}

static void assert_broken_plan(const char *from, const char *to, const char *says)
{
    struct manifest *m;
    struct error err;
    struct manifest_plan plan;
    char why[CUDAL2_WHY] = "";
    char *text = edited(whole, from, to);
    const int64_t values[MANIFEST_MAX_PARAMETERS] = {16, 64, 2};
    if (load_text(text, &m, &err) != 0)
        fail_msg("%s", err.text);
    assert_int_equal(manifest_plan(m, &here, values, &plan, why), CUDAL2_LIBRARY_ERROR);
    if (!strstr(why, says))
        fail_msg("%s: \"%s\" does not say \"%s\"", to, why, says);
    manifest_free(m);
    free(text);
}

static void impossible_launches_are_errors(void **state)
{
    (void)state;
    assert_broken_plan("ceildiv(M,BM)*SPLIT", "M - 1000", "demo: grid[0]: \"M - 1000\" is 0, expected 1 to 2147483647");
    assert_broken_plan("ceildiv(M,BM)*SPLIT", "3", "not a multiple of the cluster");
    assert_broken_plan("\"ceildiv(N,BN)\"", "\"M*N\"", "grid[1]: \"M*N\" is 130000, expected 1 to 65535");
    assert_broken_plan("\"128\",\"1\",\"1\"", "\"1024\",\"2\",\"1\"", "1024 threads");
    assert_broken_plan("\"TWICE*2\"", "\"M - 10000\"",
                       "shared_bytes: \"M - 10000\" is -9000, expected 0 to 2147483647");
    assert_broken_plan("\"16\",", "\"M*N*100\",", "clears more");
    assert_broken_plan("M*N*SPLIT*4", "M*N*4000000000000000000", "64 bits");
    assert_broken_plan("BM*BN <= 2048", "BM/(SPLIT-2) == 1", "division by zero");
    assert_broken_plan("\"TILE*2\"", "\"TILE/(SPLIT-2)\"", "division by zero");
}

static void bad_manifests_name_the_place(void **state)
{
    (void)state;
    assert_refused("\"schema_version\":1", "\"schema_version\":2", "$.schema_version");
    assert_refused("cudal2-bench/kernel\"", "cudal2-bench/kernels\"", "$.schema");
    assert_refused("\"entry\":\"gemm\"", "\"entri\":\"gemm\"", "entri");
    assert_refused("\"entry\":\"gemm\",", "", "$.entry");
    assert_refused("\"demo\"", "\"a b\"", "$.name");
    assert_refused("\"demo.cu\"", "\"../demo.cu\"", "$.source");
    assert_refused("\"f16\",\"bf16\"", "\"f16\",\"fp8\"", "$.dtypes[1]");
    assert_refused("[\"tn\"]", "[]", "$.layouts");
    assert_refused("\"default\":32", "\"default\":33", "33 is not among the values");
    assert_refused("[16,32,64],\"default\":32", "[16,32,32],\"default\":32", "twice");
    assert_refused("\"BM\":{", "\"2BM\":{", "not a name");
    assert_refused("\"SPLIT\":{", "\"M\":{", "M stands for two things");
    assert_refused("\"TWICE\":", "\"BM\":", "BM stands for two things");
    assert_refused("\"TILE\":\"BM*BN\"", "\"TILE\":\"TWICE\"", "unknown name TWICE");
    assert_refused("BM*BN <= 2048", "BM*XX <= 2048", "$.constraints");
    assert_refused("BM*BN <= 2048", "BM**2", "expected a value");
    assert_refused("{\"rule\":\"BM*BN <= 2048\",\"why\":\"registers\"}", "\"BM*BN <= 2048\"",
                   "$.constraints[0]: expected {\"rule\": EXPRESSION, \"why\": TEXT}, found \"BM*BN <= 2048\"");
    assert_refused("[\"tn\"]", "\"tn\"", "$.layouts: expected an array, found \"tn\" (write [\"tn\"])");
    assert_refused("\"why\":\"registers\"", "\"reason\":\"x\"", "reason");
    assert_refused("\"ceildiv(N,BN)\",1]", "\"1\"]", "$.grid");
    assert_refused("\"box\":[\"64\",\"BN\"]", "\"box\":[\"64\"]",
                   "$.arguments[8].box: expected 2 (elements of a row, rows: \"dims\" makes other ranks), found 1");
    assert_refused("\"swizzle\":\"128\"", "\"swizzle\":\"WIDE\"", "WIDE");
    assert_refused("\"SPLIT*64\"", "\"SPLITS*64\"", "unknown name SPLITS");
    assert_refused("\"default\":1}", "\"default\":1,\"launch\":1}", "launch");
    assert_refused("\"tensor_map\":\"b\"", "\"tensor_map\":\"d\"", "tensor_map");
    assert_refused("\"workspace\",{", "\"scratch\",{", "$.arguments[6]");
    assert_refused("{\"int32\":\"TILE\"}", "{\"int32\":\"TILES\"}", "unknown name TILES");
    assert_refused("\"arch_min\":80", "\"arch_min\":\"80\"", "$.arch_min");
    assert_refused("]}", "]", "demo.json");
}

/* By what its arguments hand over a kernel minds leading dimensions, alpha and beta; else it is not for such problems.
 */
static void abilities_follow_from_the_arguments(void **state)
{
    static const struct {
        const char *arguments;
        uint32_t flags;
    } cases[] = {
        {"{\"int32\":\"TILE\"}", 0},
        {"{\"int32\":\"LDA\"},{\"int64\":\"LDC*2\"}", 0}, /* B is a pointer too */
        {"{\"int32\":\"LDA\"},{\"int32\":\"LDB\"},{\"int64\":\"LDC*2\"}", CUDAL2_STRIDES},
        {"{\"struct\":[{\"int64\":\"LDA\"},{\"int64\":\"LDB\"},{\"int64\":\"LDC\"}]}", CUDAL2_STRIDES},
        {"{\"float32\":\"alpha\"}", 0},
        {"{\"float32\":\"alpha\"},{\"float64\":\"beta\"}", CUDAL2_SCALES},
        {"{\"struct\":[{\"float32\":\"beta\"},{\"float32\":\"alpha\"}]}", CUDAL2_SCALES},
        {"{\"float32\":1},{\"float32\":0}", 0},
        {"{\"int32\":\"LDA\"},{\"int32\":\"LDB\"},{\"int64\":\"LDC\"},"
         "{\"tensor_map\":\"a\",\"dims\":[\"K\",\"M\"],\"strides\":[\"K\"],\"box\":[64,8]}",
         0}, /* the map has a stride of its own */
        {"{\"int32\":\"LDA\"},{\"int32\":\"LDB\"},{\"int64\":\"LDC\"},"
         "{\"tensor_map\":\"a\",\"dims\":[\"K\",\"M\"],\"strides\":[\"LDA\"],\"box\":[64,8]}",
         CUDAL2_STRIDES},
    };
    const int64_t values[MANIFEST_MAX_PARAMETERS] = {16, 64, 1};
    struct manifest_conditions strided = here, scaled = here;
    struct manifest *m;
    struct error err = {0};
    (void)state;
    strided.problem.ldc = 136;
    scaled.problem.beta = 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct manifest_plan plan;
        char why[CUDAL2_WHY] = "";
        char *text = edited(whole, "{\"int32\":\"TILE\"}", cases[i].arguments);
        if (load_text(text, &m, &err) != 0)
            fail_msg("%s: %s", cases[i].arguments, err.text);
        assert_int_equal(m->flags, cases[i].flags);
        assert_int_equal(manifest_plan(m, &strided, values, &plan, why),
                         m->flags & CUDAL2_STRIDES ? CUDAL2_OK : CUDAL2_UNSUPPORTED);
        assert_int_equal(manifest_plan(m, &scaled, values, &plan, why),
                         m->flags & CUDAL2_SCALES ? CUDAL2_OK : CUDAL2_UNSUPPORTED);
        assert_int_equal(manifest_plan(m, &here, values, &plan, why), CUDAL2_OK);
        manifest_free(m);
        free(text);
    }
}

static void leading_dimensions_have_names(void **state)
{
    struct expr_variable names[MANIFEST_FIXED_NAMES];
    struct manifest_conditions strided = here;
    (void)state;
    strided.problem.ldc = 136;
    assert_int_equal(manifest_fixed_names(&strided, names), MANIFEST_FIXED_NAMES);
    assert_string_equal(names[MANIFEST_FIRST_STRIDE].name, "LDA");
    assert_int_equal(names[MANIFEST_FIRST_STRIDE].value, 64);
    assert_int_equal(names[MANIFEST_FIRST_STRIDE + 1].value, 64); /* layout TN */
    assert_int_equal(names[MANIFEST_FIRST_STRIDE + 2].value, 136);
    assert_string_equal(names[MANIFEST_FIXED_NAMES - 1].name, "ARCH");
    assert_int_equal(names[MANIFEST_FIXED_NAMES - 1].value, strided.cc);
}

/* What other compilers emit beside pointers and ints. */
static void arguments_of_every_kind(void **state)
{
    static const struct {
        const char *text;
        enum argument_kind kind;
        size_t bytes;
    } kinds[] = {{"{\"int8\":\"M\"}", ARGUMENT_INTEGER, 1},
                 {"{\"int16\":1}", ARGUMENT_INTEGER, 2},
                 {"{\"int64\":\"K\"}", ARGUMENT_INTEGER, 8},
                 {"{\"float16\":-65504}", ARGUMENT_FLOAT, 2},
                 {"{\"float32\":0.5}", ARGUMENT_FLOAT, 4},
                 {"{\"float16\":\"beta\"}", ARGUMENT_FLOAT, 2},
                 {"{\"float64\":1e300}", ARGUMENT_FLOAT, 8},
                 {"{\"workspace\":64}", ARGUMENT_WORKSPACE, 8},
                 {"{\"struct\":[{\"int8\":1},\"a\",{\"int16\":2}]}", ARGUMENT_STRUCT, 24},
                 {"{\"struct\":[{\"int16\":1},{\"int8\":2}]}", ARGUMENT_STRUCT, 4},
                 {"\"null\"", ARGUMENT_NULL, 8}};
    struct manifest *m;
    struct error err = {0};
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char *text = edited(whole, "{\"int32\":\"TILE\"}", kinds[i].text);
        if (load_text(text, &m, &err) != 0)
            fail_msg("%s: %s", kinds[i].text, err.text);
        assert_int_equal(m->arguments[7].kind, kinds[i].kind);
        assert_int_equal(m->arguments[7].bytes, kinds[i].bytes);
        manifest_free(m);
        free(text);
    }
    assert_refused("{\"int32\":\"TILE\"}", "{\"int64\":\"TILES\"}", "unknown name TILES");
    assert_refused("{\"int32\":\"TILE\"}", "{\"float16\":65505}", "$.arguments[7].float16");
    assert_refused("{\"int32\":\"TILE\"}", "{\"float32\":\"1\"}", "$.arguments[7].float32");
    assert_refused("{\"int32\":\"TILE\"}", "{\"int32\":1,\"int64\":1}", "int64");
    assert_refused("{\"int32\":\"TILE\"}", "{\"int128\":1}", "int128");
    assert_refused("{\"int32\":\"TILE\"}", "{\"struct\":[]}", "$.arguments[7].struct");
    assert_refused("{\"int32\":\"TILE\"}", "{\"struct\":[{\"struct\":[1]}]}", "$.arguments[7].struct[0]");
    assert_refused("{\"int32\":\"TILE\"}", "{\"struct\":[{\"int32\":\"TILES\"}]}", "unknown name TILES");
}

/* It is compiled already: what would be a -D has nothing to be told to. */
static void a_binary_has_parameters_of_the_launch_alone(void **state)
{
    (void)state;
    struct manifest *m;
    struct error err = {0};
    char *binary = edited(whole, "demo.cu", "demo.cubin");
    char *no_define = edited(binary, "\"defines\":{", "\"terms\":{");
    assert_int_equal(load_text(binary, &m, &err), EXIT_CODE_DATA);
    assert_non_null(strstr(err.text, "$.defines: a binary is compiled already: expected \"terms\""));
    assert_int_equal(load_text(no_define, &m, &err), EXIT_CODE_DATA);
    assert_non_null(strstr(err.text, "$.parameters.BM: a binary is compiled already: expected \"launch\": true"));
    char *one = edited(no_define, "\"default\":32}", "\"default\":32,\"launch\":true}");
    char *two = edited(one, "\"default\":64}", "\"default\":64,\"launch\":true}");
    char *all = edited(two, "\"default\":1}", "\"default\":1,\"launch\":true}");
    if (load_text(all, &m, &err) != 0)
        fail_msg("%s", err.text);
    assert_true(m->is_binary);
    manifest_free(m);
    free(binary), free(no_define), free(one), free(two), free(all);
}

/* Of the launch alone: everything but a define, which would make it part of the code, may use it. */
static void a_launch_parameter_is_no_define(void **state)
{
    (void)state;
    char *launch = edited(whole, "\"default\":1}", "\"default\":1,\"launch\":true}");
    char *define = edited(launch, "\"TILE*2\"", "\"TILE*SPLIT\"");
    struct manifest *m;
    struct error err = {0};
    assert_int_equal(load_text(launch, &m, &err), 0);
    assert_true(m->parameters[2].launch && !m->parameters[1].launch);
    manifest_free(m);
    assert_int_equal(load_text(define, &m, &err), EXIT_CODE_DATA);
    assert_non_null(strstr(err.text, "unknown name SPLIT"));
    free(launch);
    free(define);
}

/* Terms may use what a launch is of, and one the other; what knows no launch may not use them. */
static void terms_are_of_the_launch(void **state)
{
    static const char with[] =
        "\"terms\":{\"ROWS\":\"ceildiv(M,BM)*SPLIT\",\"ALL\":\"ROWS*ceildiv(N,BN)\"},\"grid\":[\"ROWS\",";
    (void)state;
    char *text = edited(whole, "\"grid\":[\"ceildiv(M,BM)*SPLIT\",", with);
    char *told = edited(text, "{\"int32\":\"TILE\"}", "{\"int32\":\"ALL\"}");
    char *define = edited(text, "\"TILE*2\"", "\"TILE*ROWS\""),
         *constraint = edited(text, "BM*BN <= 2048", "ROWS <= 9");
    char *clash = edited(text, "\"ALL\":", "\"TILE\":"), *late = edited(text, "M,BM)*SPLIT", "ALL,BM)");
    const char *const refused[] = {define, constraint, clash, late};
    const char *const says[] = {"unknown name ROWS", "unknown name ROWS", "TILE stands for two things", "$.terms.ROWS"};
    const int64_t values[] = {32, 64, 2};
    struct manifest *m;
    struct manifest_plan plan;
    struct error err = {0};
    char why[CUDAL2_WHY];
    int64_t value;
    assert_int_equal(load_text(told, &m, &err), 0);
    assert_int_equal(manifest_plan(m, &here, values, &plan, why), CUDAL2_OK);
    assert_int_equal(plan.grid[0], 64);
    const struct expr_scope scope = {plan.names, plan.n_names};
    assert_int_equal(expr_eval(m->arguments[7].value, &scope, &value, &err), 0);
    assert_int_equal(value, 64 * 3);
    manifest_free(m);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(load_text(refused[i], &m, &err), EXIT_CODE_DATA);
        if (!strstr(err.text, says[i]))
            fail_msg("\"%s\" does not say \"%s\"", err.text, says[i]);
    }
    free(text), free(told), free(define), free(constraint), free(clash), free(late);
}

static void keys_go_there_and_back(void **state)
{
    (void)state;
    struct manifest *m;
    struct error err;
    char key[128], small[12];
    int64_t values[MANIFEST_MAX_PARAMETERS], back[MANIFEST_MAX_PARAMETERS];
    assert_int_equal(load_text(whole, &m, &err), 0);
    manifest_defaults(m, values);
    assert_int_equal(manifest_key(m, values, key, sizeof key), 0);
    assert_string_equal(key, "demo:BM=32,BN=64,SPLIT=1");
    assert_true(manifest_parse_key(m, key, back));
    assert_memory_equal(values, back, 3 * sizeof *values);
    assert_int_equal(manifest_key(m, values, small, sizeof small), -1);
    assert_true(manifest_parse_key(m, "demo:SPLIT=2,BN=16,BM=64", back));
    assert_int_equal(back[0], 64);
    assert_int_equal(back[2], 2);
    assert_true(manifest_parse_key(m, "demo:BM=64", back)); /* the rest as by default */
    assert_int_equal(back[0], 64);
    assert_int_equal(back[1], 64);
    assert_int_equal(back[2], 1);
    static const char *const bad[] = {"demo:",
                                      "demon:BM=32,BN=64,SPLIT=1",
                                      "other:BM=32,BN=64,SPLIT=1",
                                      "demo:BM=32,BN=64,SPLIT=3",
                                      "demo:BM=32,BM=32,BN=64",
                                      "demo:BM=32,BN=64,SPLIT=1,",
                                      "demo:BM=32,BN=64,SPLIT=1,X=2",
                                      "demo:BM=32 ,BN=64,SPLIT=1",
                                      "demo:BM= 32,BN=64,SPLIT=1",
                                      "demo:BM=,BN=64,SPLIT=1",
                                      ""};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (manifest_parse_key(m, bad[i], back))
            fail_msg("accepted \"%s\"", bad[i]);
    manifest_free(m);
}

static int make_path(void **state)
{
    if (scratch_make(state))
        return -1;
    snprintf(path, sizeof path, "%s", scratch_path("demo.json"));
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_everything),
        cmocka_unit_test(plan_has_exact_numbers),
        cmocka_unit_test(impossible_pairings_give_the_reason),
        cmocka_unit_test(impossible_launches_are_errors),
        cmocka_unit_test(bad_manifests_name_the_place),
        cmocka_unit_test(arguments_of_every_kind),
        cmocka_unit_test(abilities_follow_from_the_arguments),
        cmocka_unit_test(leading_dimensions_have_names),
        cmocka_unit_test(a_binary_has_parameters_of_the_launch_alone),
        cmocka_unit_test(a_launch_parameter_is_no_define),
        cmocka_unit_test(terms_are_of_the_launch),
        cmocka_unit_test(keys_go_there_and_back),
    };
    return cmocka_run_group_tests(tests, make_path, scratch_remove);
}
