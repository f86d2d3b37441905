/* Configs: what is read, every refusal with its JSON path, defaults, and writing back. */
#include "config/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <stdio.h>

#define HEAD "\"schema\":\"cudal2-bench/config\",\"schema_version\":1,\"name\":\"t\""
#define NO_SHAPES "c.json: $: needs \"shapes\" or \"grid\" (the smallest config is {\"shapes\": [\"4096x4096x4096\"]})"
#define SHAPE "\"shapes\":[{\"m\":1,\"n\":2,\"k\":3}]"

static int parse(const char *text, struct config *c, struct error *err)
{
    err->text[0] = '\0';
    return config_parse(text, strlen(text), "c.json", c, err);
}

static void accept(const char *text, struct config *c)
{
    struct error err;
    if (parse(text, c, &err))
        fail_msg("%s", err.text);
}

static void assert_refused(const char *text, const char *message)
{
    static const struct config zero;
    struct config c;
    struct error err;
    assert_int_equal(parse(text, &c, &err), EXIT_CODE_DATA);
    assert_string_equal(err.text, message);
    assert_memory_equal(&c, &zero, sizeof c); /* nothing is left to free */
}

/* The text of a config with `rest` after the required keys. */
static void refuse_with(const char *rest, const char *message)
{
    char text[2000];
    snprintf(text, sizeof text, "{" HEAD "," SHAPE ",%s}", rest);
    assert_refused(text, message);
}

static void accept_with(const char *rest, struct config *c)
{
    char text[2000];
    snprintf(text, sizeof text, "{" HEAD "," SHAPE ",%s}", rest);
    accept(text, c);
}

static void test_defaults(void **state)
{
    static const char *const baselines[] = {"torch.matmul", "cublas", "cublaslt-heuristic", "cublaslt-autotuning"};
    struct config c;
    (void)state;
    accept("{" HEAD "," SHAPE "}", &c);
    assert_string_equal(c.name, "t");
    assert_int_equal(c.n_shapes, 1);
    assert_true(c.shapes[0].m == 1 && c.shapes[0].n == 2 && c.shapes[0].k == 3);
    assert_string_equal(c.shapes[0].label, "");
    assert_true(c.dtype_native);
    assert_int_equal(c.dtype, CUDAL2_F16);
    assert_int_equal(c.accumulates, CUDAL2_BIT(CUDAL2_ACC_F16));
    assert_int_equal(c.layouts, 3);
    assert_int_equal(c.modes, 3);
    for (int i = 0; i < 4; i++)
        assert_string_equal(c.baselines[i], baselines[i]);
    assert_null(c.baselines[4]);
    assert_null(c.candidates[0]);
    assert_int_equal(c.gap.kind, GAP_POISSON);
    assert_true(c.gap.mean_ns == 2e6);
    assert_int_equal(c.cache[MODE_OFFLINE], CACHE_WARM);
    assert_int_equal(c.cache[MODE_SERVER], CACHE_WARM);
    assert_int_equal(c.workspace_bytes, 536870912);
    assert_int_equal(c.stop.min_blocks, 32);
    assert_int_equal(c.stop.look_every, 8);
    assert_int_equal(c.stop.max_blocks, 256);
    assert_int_equal(c.stop.group_blocks, 2);
    assert_true(c.stop.delta[MODE_OFFLINE] == 0.005 && c.stop.delta[MODE_SERVER] == 0.02);
    assert_true(stop_cell_seconds(&c.stop, MODE_OFFLINE) == 20 && stop_cell_seconds(&c.stop, MODE_SERVER) == 20);
    assert_int_equal(c.stop.least_blocks, 0);
    assert_true(c.stop.hopeless_share == 0 && c.stop.near_baselines == 0);
    assert_true(c.stop.long_delta == 0 && c.stop.lead_delta == 0);
    assert_true(c.limits.setup_seconds == 60 && c.limits.verify_seconds == 60);
    assert_true(c.limits.launch_seconds == 30 && c.limits.tune_seconds == 120);
    assert_int_equal(c.limits.memory_bytes, 0);
    assert_true(c.paper.warmup_seconds == 10 && c.paper.pair_seconds == 30);
    assert_int_equal(c.paper.tune_warmup_rounds, 50);
    assert_int_equal(c.paper.tune_rounds, 100);
    assert_int_equal(c.protocol, PROTOCOL_ADAPTIVE);
    assert_false(c.headline_given);
    assert_int_equal(c.headline, TIMING_DEVICE);
    assert_false(c.aa);
    assert_true(c.verify);
    assert_int_equal(c.verify_seeds, 2);
    assert_int_equal(c.activity, ACTIVITY_SAMPLE);
    assert_false(c.seed_given);
    assert_true(c.tune_rounds == 12 && c.race_seconds == 0);
    assert_int_equal(c.other_timings_every, 4);
    config_free(&c);
}

static const char everything[] =
    "{\"$schema\":\"x\"," HEAD ",\"description\":[\"a\",\"b\"],\"grid\":{\"m\":[1,2],\"n\":[3],\"k\":[4,5]},"
    "\"dtype\":\"native\",\"accumulate\":[\"f32\",\"f16\"],\"layouts\":[\"tn\"],\"modes\":[\"server\"],"
    "\"baselines\":[\"openblas\"],\"candidates\":[\"cudal2\",\"dir/my kernel.so\",\"./x.json\"],"
    "\"server\":{\"gap\":\"uniform\",\"mean_gap_ms\":0.333,\"cache\":\"rotate\"},\"offline\":{\"cache\":\"flush\"},"
    "\"workspace_bytes\":0,\"stop\":{\"min_blocks\":6,\"look_every\":3,\"max_blocks\":7,\"group_blocks\":3,"
    "\"offline_half_width\":0.1,\"server_half_width\":0.2,\"least_blocks\":5,\"max_cell_seconds\":1.5,\"server_max_"
    "cell_seconds\":2.5,\"hopeless_share\":0.25,\"hopeless_within\":5,\"server_hopeless_within\":3,\"near_baselines\":"
    "1.5,\"offline_long_half_width\":0.4,\"offline_lead_half_width\":0.3},"
    "\"limits\":{\"setup_seconds\":1,\"verify_seconds\":2,\"launch_seconds\":3,\"tune_seconds\":4,\"memory_bytes\":5},"
    "\"protocol\":\"paper\",\"paper\":{\"warmup_seconds\":0,\"pair_seconds\":0.5,\"tune_warmup_rounds\":1,"
    "\"tune_rounds\":2},\"timing\":\"event\",\"aa\":\"cublas-nn\",\"verify\":{\"enabled\":false,\"seeds\":9,"
    "\"activity\":\"all\"},"
    "\"seed\":\"18446744073709551615\",\"tune\":{\"rounds\":7,\"seconds\":2.5},\"other_timings_every\":1}";

static void check_everything(const struct config *c)
{
    assert_int_equal(c->n_shapes, 4);
    assert_true(c->shapes[1].m == 1 && c->shapes[1].n == 3 && c->shapes[1].k == 5); /* k runs fastest */
    assert_true(c->shapes[2].m == 2 && c->shapes[2].k == 4);
    assert_true(c->dtype_native);
    assert_int_equal(c->accumulates, 3);
    assert_int_equal(c->layouts, CUDAL2_BIT(CUDAL2_TN));
    assert_int_equal(c->modes, 1u << MODE_SERVER);
    assert_string_equal(c->baselines[0], "openblas");
    assert_null(c->baselines[1]);
    assert_string_equal(c->candidates[1], "dir/my kernel.so");
    assert_string_equal(c->candidates[2], "./x.json");
    assert_int_equal(c->gap.kind, GAP_UNIFORM);
    assert_true(c->gap.mean_ns == 333000);
    assert_int_equal(c->cache[MODE_OFFLINE], CACHE_FLUSH);
    assert_int_equal(c->cache[MODE_SERVER], CACHE_ROTATE);
    assert_int_equal(c->workspace_bytes, 0);
    assert_int_equal(c->stop.max_blocks, 7);
    assert_int_equal(c->stop.least_blocks, 5);
    assert_true(c->stop.hopeless_share == 0.25);
    assert_true(c->stop.near_baselines == 1.5);
    assert_true(c->stop.long_delta == 0.4 && c->stop.lead_delta == 0.3);
    assert_true(c->stop.hopeless_within[MODE_SERVER] == 3 && c->stop.hopeless_within[MODE_OFFLINE] == 5);
    assert_true(stop_cell_seconds(&c->stop, MODE_OFFLINE) == 1.5 && stop_cell_seconds(&c->stop, MODE_SERVER) == 2.5);
    assert_true(c->stop.delta[MODE_SERVER] == 0.2);
    assert_int_equal(c->limits.memory_bytes, 5);
    assert_int_equal(c->protocol, PROTOCOL_PAPER);
    assert_true(c->paper.pair_seconds == 0.5);
    assert_true(c->headline_given);
    assert_int_equal(c->headline, TIMING_EVENT);
    assert_true(c->aa);
    assert_string_equal(c->aa_contender, "cublas-nn");
    assert_false(c->verify);
    assert_int_equal(c->verify_seeds, 9);
    assert_int_equal(c->activity, ACTIVITY_ALL);
    assert_true(c->seed_given && c->seed == UINT64_MAX);
    assert_true(c->tune_rounds == 7 && c->race_seconds == 2.5);
    assert_int_equal(c->other_timings_every, 1);
}

/* Two configs are the same when they say the same in full. */
static char *text_of(const struct config *c)
{
    cJSON *tree = config_to_json(c);
    char *text = json_print(tree, false);
    cJSON_Delete(tree);
    assert_non_null(text);
    return text;
}

static void assert_round_trip(const struct config *c)
{
    struct config back;
    char *first = text_of(c);
    accept(first, &back);
    char *second = text_of(&back);
    assert_string_equal(first, second);
    assert_int_equal(back.n_shapes, c->n_shapes);
    assert_memory_equal(back.shapes, c->shapes, c->n_shapes * sizeof *c->shapes);
    /* What is neither a pointer nor a list of them lies in one piece before the lists. */
    assert_memory_equal(&back.dtype, &c->dtype, offsetof(struct config, baselines) - offsetof(struct config, dtype));
    assert_int_equal(back.dtype_native, c->dtype_native);
    assert_memory_equal(&back.gap, &c->gap, sizeof c->gap);
    assert_memory_equal(&back.cache, &c->cache, sizeof c->cache);
    assert_memory_equal(&back.stop, &c->stop, sizeof c->stop);
    assert_memory_equal(&back.limits, &c->limits, sizeof c->limits);
    assert_memory_equal(&back.paper, &c->paper, sizeof c->paper);
    assert_string_equal(back.aa_contender, c->aa_contender);
    assert_true(back.seed == c->seed && back.seed_given == c->seed_given);
    free(first);
    free(second);
    config_free(&back);
}

static void test_reads_every_key(void **state)
{
    struct config c;
    (void)state;
    accept(everything, &c);
    check_everything(&c);
    assert_round_trip(&c);
    config_free(&c);
}

static void test_round_trips(void **state)
{
    static const char *const rests[] = {
        "\"aa\":true", "\"server\":{\"mean_gap_ms\":0.0011}", "\"server\":{\"mean_gap_ms\":33.3333333333}",
        "\"stop\":{\"offline_half_width\":0.0033333333333333335}", "\"dtype\":\"bf16\",\"seed\":5,\"candidates\":[]"};
    struct config c;
    (void)state;
    for (size_t i = 0; i < sizeof rests / sizeof rests[0]; i++) {
        accept_with(rests[i], &c);
        assert_round_trip(&c);
        config_free(&c);
    }
    accept("{" HEAD ",\"shapes\":[{\"m\":1,\"n\":1,\"k\":1,\"label\":\"l\xc3\xa9\"},{\"m\":1048576,\"n\":1,\"k\":1}]}",
           &c);
    assert_round_trip(&c);
    config_free(&c);
}

static void test_default_accumulate_follows_dtype(void **state)
{
    struct config c;
    (void)state;
    accept_with("\"dtype\":\"f32\"", &c);
    assert_int_equal(c.accumulates, CUDAL2_BIT(CUDAL2_ACC_F32));
    config_free(&c);
    accept_with("\"dtype\":\"native\"", &c);
    assert_int_equal(c.accumulates, CUDAL2_BIT(CUDAL2_ACC_F16));
    config_free(&c);
}

static void test_refuses_heads(void **state)
{
    (void)state;
    assert_refused("", "c.json: empty");
    assert_refused("[]", "c.json: $: expected an object, found an array");
    assert_refused("{}", NO_SHAPES);
    assert_refused("{\"schema\":\"x\"}", "c.json: $.schema: expected cudal2-bench/config, found \"x\"");
    assert_refused("{\"schema\":\"cudal2-bench/config\",\"schema_version\":2}",
                   "c.json: $.schema_version: expected 1, found 2");
    refuse_with("\"description\":5", "c.json: $.description: expected a string or an array of strings");
    refuse_with("\"description\":[\"a\",1]", "c.json: $.description[1]: expected a string");
    refuse_with("\"$schema\":1", "c.json: $[\"$schema\"]: expected a non-empty string, found 1");
    assert_refused("{\"schema\":\"cudal2-bench/config\",\"schema_version\":1,\"name\":\"a\\u001b[31m\"," SHAPE "}",
                   "c.json: $.name: has a control character");
}

static void test_refuses_unknown_keys(void **state)
{
    struct config c;
    struct error err;
    (void)state;
    assert_int_equal(parse("{" HEAD "," SHAPE ",\"bogus\":1}", &c, &err), EXIT_CODE_DATA);
    assert_memory_equal(err.text, "c.json: $: unknown key \"bogus\" (expected $schema, schema, ", 57);
    refuse_with("\"server\":{\"rate\":1}", "c.json: $.server: unknown key \"rate\" (expected gap, mean_gap_ms, cache)");
    refuse_with("\"tune\":{\"round\":1}", "c.json: $.tune: unknown key \"round\" (did you mean rounds?)");
    refuse_with("\"tune\":3", "c.json: $.tune: expected an object, found 3");
    refuse_with("\"Stop\":{}", "c.json: $: unknown key \"Stop\" (did you mean stop?)");
    refuse_with("\"xyzzy\":{}", "c.json: $: unknown key \"xyzzy\" (expected $schema, schema, schema_version, name, "
                                "description, grid, shapes, dtype, accumulate, layouts, modes, baselines, candidates, "
                                "optional, timing, aa, seed, server, offline, chain, stop, limits, paper, verify, "
                                "tune, workspace_bytes, protocol, overlap, other_timings_every, energy, join_rows)");
    assert_refused("{" HEAD ",\"grid\":{\"m\":[1],\"n\":[1],\"k\":[1],\"K\":[1]}}",
                   "c.json: $.grid: keys \"k\" and \"K\" differ only in case");
    assert_refused("{" HEAD ",\"shapes\":[{\"m\":1,\"n\":1,\"k\":1,\"batch\":1}]}",
                   "c.json: $.shapes[0]: unknown key \"batch\" (expected m, n, k, lda, ldb, ldc, alpha, beta, label)");
}

static void test_optional(void **state)
{
    struct config c;
    struct error err;
    (void)state;
    assert_int_equal(parse("{" HEAD "," SHAPE ",\"candidates\":[\"mine\",\"other\"]}", &c, &err), 0);
    assert_true(config_is_optional(&c, "cublas")); /* nobody named it */
    assert_false(config_is_optional(&c, "mine"));
    config_free(&c);
    assert_int_equal(parse("{" HEAD "," SHAPE ",\"baselines\":[\"cublas\",\"openblas\"],\"candidates\":[\"mine\"],"
                           "\"optional\":[\"openblas\",\"mine\"]}",
                           &c, &err),
                     0);
    assert_false(config_is_optional(&c, "cublas") || config_is_optional(&c, "nobody"));
    assert_true(config_is_optional(&c, "openblas") && config_is_optional(&c, "mine"));
    config_free(&c);
    refuse_with("\"optional\":[\"nobody\"]",
                "c.json: $.optional[0]: \"nobody\" is neither a baseline nor a candidate of this config");
    refuse_with("\"optional\":true", "c.json: $.optional: expected an array, found true");
}

static void test_refuses_shapes(void **state)
{
    static const char *const cases[][2] = {
        {"{" HEAD "}", NO_SHAPES},
        {"{" HEAD "," SHAPE ",\"grid\":{\"m\":[1],\"n\":[1],\"k\":[1]}}", "c.json: $.shapes: cannot go with $.grid"},
        {"{" HEAD ",\"shapes\":[]}", "c.json: $.shapes: expected an array of at least 1, found 0"},
        {"{" HEAD ",\"shapes\":{}}", "c.json: $.shapes: expected an array, found an object"},
        {"{" HEAD ",\"shapes\":[5]}", "c.json: $.shapes[0]: expected \"MxNxK\" or an object, found 5"},
        {"{" HEAD ",\"shapes\":[{\"m\":1,\"n\":1}]}",
         "c.json: $.shapes[0].k: is missing: expected an integer from 1 to 1048576"},
        {"{" HEAD ",\"shapes\":[{\"m\":0,\"n\":1,\"k\":1}]}",
         "c.json: $.shapes[0].m: expected an integer from 1 to 1048576, found 0"},
        {"{" HEAD ",\"shapes\":[{\"m\":1,\"n\":1,\"k\":1},{\"m\":2,\"n\":1,\"k\":1},{\"m\":1,\"n\":1,\"k\":1}]}",
         "c.json: $.shapes[2]: repeats $.shapes[0] (1x1x1)"},
        {"{" HEAD ",\"shapes\":[{\"m\":1,\"n\":1,\"k\":1,\"label\":\"\"}]}",
         "c.json: $.shapes[0].label: expected a non-empty string, found \"\""},
        {"{" HEAD ",\"shapes\":[{\"m\":1,\"n\":1,\"k\":1,"
         "\"label\":\"0123456789012345678901234567890123456789012345678901234567890123\"}]}",
         "c.json: $.shapes[0].label: longer than 63 bytes"},
        {"{" HEAD ",\"grid\":{\"m\":[],\"n\":[1],\"k\":[1]}}",
         "c.json: $.grid.m: expected an array of at least 1, found 0"},
        {"{" HEAD ",\"grid\":{\"m\":[1],\"n\":[1]}}", "c.json: $.grid.k: is missing: expected an array"},
        {"{" HEAD ",\"grid\":{\"m\":[1],\"n\":[64,-4],\"k\":[1]}}",
         "c.json: $.grid.n[1]: expected an integer from 1 to 1048576, found -4"},
        {"{" HEAD ",\"grid\":{\"m\":[1],\"n\":[1],\"k\":[64.5]}}",
         "c.json: $.grid.k[0]: expected an integer from 1 to 1048576, found 64.5"},
        {"{" HEAD ",\"grid\":{\"m\":[1048577],\"n\":[1],\"k\":[1]}}",
         "c.json: $.grid.m[0]: expected an integer from 1 to 1048576, found 1048577"},
        {"{" HEAD ",\"grid\":{\"m\":[\"64\"],\"n\":[1],\"k\":[1]}}",
         "c.json: $.grid.m[0]: expected an integer from 1 to 1048576, found \"64\""},
        {"{" HEAD ",\"grid\":{\"m\":[8,64,8],\"n\":[1],\"k\":[1]}}", "c.json: $.grid.m[2]: repeats $.grid.m[0] (8)"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_refused(cases[i][0], cases[i][1]);
}

/* `count` distinct sizes as a JSON list. */
static size_t put_sizes(char *out, int count)
{
    size_t used = 0;
    for (int i = 0; i < count; i++)
        used += (size_t)sprintf(out + used, "%c%d", i ? ',' : '[', i + 1);
    return used + (size_t)sprintf(out + used, "]");
}

static void test_number_of_shapes(void **state)
{
    char *text = malloc(1 << 20);
    char list[400];
    struct config c;
    struct error err;
    (void)state;
    put_sizes(list, 46);
    sprintf(text, "{" HEAD ",\"grid\":{\"m\":%s,\"n\":%s,\"k\":%s}}", list, list, list);
    accept(text, &c);
    assert_int_equal(c.n_shapes, 46 * 46 * 46);
    char *whole = text_of(&c); /* the largest grids can still be written out and read back */
    struct config back;
    accept(whole, &back);
    assert_int_equal(back.n_shapes, c.n_shapes);
    free(whole);
    config_free(&back);
    config_free(&c);
    put_sizes(list, 47);
    sprintf(text, "{" HEAD ",\"grid\":{\"m\":%s,\"n\":%s,\"k\":%s}}", list, list, list);
    assert_int_equal(parse(text, &c, &err), EXIT_CODE_DATA);
    assert_string_equal(err.text, "c.json: $.grid: 103823 shapes, the limit is 100000");
    size_t used = (size_t)sprintf(text, "{" HEAD ",\"grid\":{\"n\":[1],\"k\":[1],\"m\":");
    used += put_sizes(text + used, 100001);
    sprintf(text + used, "}}");
    assert_int_equal(parse(text, &c, &err), EXIT_CODE_DATA);
    assert_string_equal(err.text, "c.json: $.grid.m: 100001 sizes, the limit is 100000");
    free(text);
}

static void test_refuses_lists(void **state)
{
    (void)state;
    refuse_with("\"dtype\":\"fp16\"", "c.json: $.dtype: expected one of f16, bf16, f32, native, found \"fp16\"");
    refuse_with("\"accumulate\":\"f16\"", "c.json: $.accumulate: expected an array, found \"f16\" (write [\"f16\"])");
    refuse_with("\"accumulate\":[]", "c.json: $.accumulate: expected an array of at least 1, found 0");
    refuse_with("\"layouts\":[\"nt\"]", "c.json: $.layouts[0]: expected one of nn, tn, found \"nt\"");
    refuse_with("\"layouts\":[\"nn\",\"nn\"]", "c.json: $.layouts[1]: \"nn\" is there twice");
    refuse_with("\"modes\":[]", "c.json: $.modes: expected an array of at least 1, found 0");
    refuse_with("\"modes\":[null]", "c.json: $.modes[0]: expected one of offline, server, chain, found null");
    refuse_with("\"baselines\":[]", "c.json: $.baselines: expected an array of at least 1, found 0");
    refuse_with("\"baselines\":[\"a\",\"b\",\"a\"]", "c.json: $.baselines[2]: \"a\" is there twice");
    refuse_with("\"candidates\":[\"\"]", "c.json: $.candidates[0]: expected a non-empty string, found \"\"");
    refuse_with("\"candidates\":[\"a b\"]",
                "c.json: $.candidates[0]: expected a family, a kernel set, or the path of a "
                "plugin (.so) or manifest (.json), found \"a b\"");
    refuse_with("\"candidates\":[\"x\\n.so\"]",
                "c.json: $.candidates[0]: expected a family, a kernel set, or the path of a "
                "plugin (.so) or manifest (.json), found \"(control characters)\"");
    refuse_with("\"candidates\":[\"openblas\",\"cublas\"]", "c.json: $.candidates[1]: \"cublas\" is also a baseline");
    refuse_with("\"dtype\":\"f32\",\"accumulate\":[\"f32\",\"f16\"]",
                "c.json: $.accumulate: f16 needs dtype f16 or native, this is f32");
    refuse_with("\"dtype\":\"bf16\",\"accumulate\":[\"f16\"]",
                "c.json: $.accumulate: f16 needs dtype f16 or native, this is bf16");
}

static void test_too_many_names(void **state)
{
    char rest[1000] = "\"candidates\":[";
    struct config c;
    (void)state;
    for (int i = 0; i < CONFIG_NAMES_MAX; i++)
        sprintf(rest + strlen(rest), "%s\"c%d\"", i ? "," : "", i);
    strcat(rest, "]");
    accept_with(rest, &c);
    assert_string_equal(c.candidates[CONFIG_NAMES_MAX - 1], "c31");
    assert_null(c.candidates[CONFIG_NAMES_MAX]);
    config_free(&c);
    strcpy(rest + strlen(rest) - 1, ",\"one-more\"]");
    refuse_with(rest, "c.json: $.candidates[32]: more than 32 names");
}

static void test_refuses_settings(void **state)
{
    (void)state;
    refuse_with("\"server\":{\"gap\":\"gauss\"}",
                "c.json: $.server.gap: expected one of poisson, uniform, fixed, found "
                "\"gauss\"");
    refuse_with("\"server\":{\"mean_gap_ms\":0}",
                "c.json: $.server.mean_gap_ms: expected a number from 0.001 to 60000, "
                "found 0");
    refuse_with("\"offline\":{\"cache\":\"cold\"}",
                "c.json: $.offline.cache: expected one of warm, rotate, flush, left, found "
                "\"cold\"");
    refuse_with("\"workspace_bytes\":-1",
                "c.json: $.workspace_bytes: expected an integer from 0 to 1099511627776, found "
                "-1");
    refuse_with("\"workspace_bytes\":1.5", "c.json: $.workspace_bytes: expected an integer from 0 to 1099511627776, "
                                           "found 1.5");
    refuse_with("\"stop\":{\"least_blocks\":257}", "c.json: $.stop.least_blocks: 257 is above max_blocks, 256");
    refuse_with("\"stop\":{\"max_blocks\":31}", "c.json: $.stop.max_blocks: 31 is below min_blocks, 32");
    refuse_with("\"stop\":{\"group_blocks\":3}",
                "c.json: $.stop.group_blocks: 3 does not divide min_blocks, 32, and look_every, 8");
    refuse_with("\"stop\":{\"group_blocks\":16}",
                "c.json: $.stop.group_blocks: 16 does not divide min_blocks, 32, and look_every, 8");
    refuse_with("\"stop\":{\"group_blocks\":8,\"min_blocks\":8}",
                "c.json: $.stop.min_blocks: 8 is one group of 8, an interval needs two");
    refuse_with("\"stop\":{\"group_blocks\":0}",
                "c.json: $.stop.group_blocks: expected an integer from 1 to 65536, found 0");
    refuse_with("\"limits\":{\"setup_seconds\":0}",
                "c.json: $.limits.setup_seconds: expected a number from 0.1 to 86400, found 0");
    refuse_with("\"verify\":{\"enabled\":1}", "c.json: $.verify.enabled: expected true or false, found 1");
    refuse_with("\"verify\":{\"activity\":\"on\"}",
                "c.json: $.verify.activity: expected one of sample, all, off, found \"on\"");
    refuse_with("\"timing\":\"gpu\"",
                "c.json: $.timing: expected one of device, device-row, event, wall, found \"gpu\"");
    refuse_with("\"protocol\":true", "c.json: $.protocol: expected one of adaptive, paper, found true");
    refuse_with("\"aa\":1", "c.json: $.aa: expected true, false or the name of a contender");
    refuse_with("\"aa\":\"\"", "c.json: $.aa: expected a non-empty string, found \"\"");
    refuse_with("\"seed\":-1",
                "c.json: $.seed: expected an integer from 0 to 2^53, or one below 2^64 as a decimal string, found -1");
    refuse_with("\"seed\":18446744073709551615",
                "c.json: line 1, column 121: an integer beyond 2^53 (write it as a string)");
    refuse_with("\"seed\":1,\"seed\":2", "c.json: $: duplicate key \"seed\"");
    refuse_with("\"verify\":null", "c.json: $.verify: expected an object, found null");
}

/* Every prefix of a config is refused, with nothing leaked (the sanitizer build checks) and nothing read beyond it. */
static void test_truncated_at_every_byte(void **state)
{
    struct config c;
    struct error err;
    (void)state;
    for (size_t length = 0; length < strlen(everything); length++) {
        char *copy = malloc(length + 1);
        memcpy(copy, everything, length);
        assert_int_equal(config_parse(copy, length, "c.json", &c, &err), EXIT_CODE_DATA);
        free(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_reads_every_key),
        cmocka_unit_test(test_round_trips),
        cmocka_unit_test(test_default_accumulate_follows_dtype),
        cmocka_unit_test(test_refuses_heads),
        cmocka_unit_test(test_refuses_unknown_keys),
        cmocka_unit_test(test_optional),
        cmocka_unit_test(test_refuses_shapes),
        cmocka_unit_test(test_number_of_shapes),
        cmocka_unit_test(test_refuses_lists),
        cmocka_unit_test(test_too_many_names),
        cmocka_unit_test(test_refuses_settings),
        cmocka_unit_test(test_truncated_at_every_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
